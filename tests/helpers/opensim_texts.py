"""A small person as an OpenSim model, as versions 4 and 3 write it, and tables of its coordinates."""

import numpy as np


def tag(element, text="", name=""):
    """An element of XML."""
    attribute = f' name="{name}"' if name else ""
    return f"<{element}{attribute}>{text}</{element}>"


def tags(**texts):
    return "".join(tag(element, text) for element, text in texts.items())


SPLINE = tag("SimmSpline", tags(x="-2.0 -1.2 -0.5 0.0 0.4", y="-0.003 0.001 0.004 0.005 0.002"), "function")
LINEAR = tag("LinearFunction", tags(coefficients="1 0"), "function")
POLYNOMIAL = tag("PolynomialFunction", tags(coefficients="0.1 -0.02 0"))
SCALED = tag("MultiplierFunction", tags(function=POLYNOMIAL, scale="1.5"), "function")
CONSTANT = tag("Constant", tags(value="0"), "function")


def custom(*axes):
    """The axes of a CustomJoint: coordinate, axis, function of three rotations, then three translations."""
    rows = [*axes, *[None] * (6 - len(axes))]
    texts = []
    for k, row in enumerate(rows):
        coordinate, axis, function = row or ("", ("1 0 0", "0 1 0", "0 0 1")[k % 3], CONSTANT)
        name = f"{'rotation' if k < 3 else 'translation'}{k % 3 + 1}"
        texts.append(tag("TransformAxis", tags(coordinates=coordinate, axis=axis) + function, name))
    return tag("SpatialTransform", "".join(texts))


FREE = custom(
    *(
        ("pelvis_tilt", "0 0 1", LINEAR),
        ("pelvis_list", "1 0 0", LINEAR),
        ("pelvis_rotation", "0 1 0", LINEAR),
    ),
    *(("pelvis_tx", "1 0 0", LINEAR), ("pelvis_ty", "0 1 0", LINEAR), ("pelvis_tz", "0 0 1", LINEAR)),
)
PELVIS = "pelvis_tilt pelvis_list pelvis_rotation pelvis_tx pelvis_ty pelvis_tz"
# By body: kind of joint, parent, places in the parent and in the body, coordinates, axes of a CustomJoint.
JOINTS = {
    "pelvis": ("CustomJoint", "ground", "0 0 0", "0 0 0", PELVIS, FREE),
    "torso": ("BallJoint", "pelvis", "-0.1 0.08 0", "0 0 0", "lumbar_x lumbar_y lumbar_z", ""),
}
for s, sign in (("r", 1), ("l", -1)):
    knee, flex, add, turn = f"knee_angle_{s}", f"arm_flex_{s}", f"arm_add_{s}", f"arm_rot_{s}"
    bend = custom((knee, "0 0.1 1", LINEAR), (knee, "1 0 0", SCALED), None, (knee, "1 0 0", SPLINE))
    lift = custom((flex, "0 0 1", LINEAR), (add, f"{sign} 0 0", LINEAR), (turn, f"0 {sign} 0", LINEAR))
    hip, wrist = f"hip_x_{s} hip_y_{s} hip_z_{s}", f"wrist_dev_{s} wrist_flex_{s}"
    JOINTS |= {
        f"femur_{s}": ("GimbalJoint", "pelvis", f"-0.06 -0.07 {0.08 * sign}", "0 0.01 0", hip, ""),
        f"tibia_{s}": ("CustomJoint", f"femur_{s}", "0 -0.4 0", "0 0 0", knee, bend),
        f"talus_{s}": ("PinJoint", f"tibia_{s}", "0 -0.42 0", "0 0 0", f"ankle_angle_{s}", ""),
        f"toes_{s}": ("WeldJoint", f"talus_{s}", "0.17 -0.05 0", "0 0 0", "", ""),
        f"humerus_{s}": (
            "CustomJoint",
            "torso",
            f"0 0.37 {0.17 * sign}",
            "0 0 0",
            f"{flex} {add} {turn}",
            lift,
        ),
        f"ulna_{s}": (
            "PinJoint",
            f"humerus_{s}",
            f"0.013 -0.29 {-0.01 * sign}",
            "0 0 0",
            f"elbow_flex_{s}",
            "",
        ),
        f"radius_{s}": (
            "PinJoint",
            f"ulna_{s}",
            f"-0.007 -0.013 {0.026 * sign}",
            "0 0 0",
            f"pro_sup_{s}",
            "",
        ),
        f"hand_{s}": ("UniversalJoint", f"radius_{s}", f"-0.009 -0.236 {0.014 * sign}", "0 0 0", wrist, ""),
    }
# Frames of the joints are turned in their bodies, so that pro_sup is about the forearm's axis.
TURNED = {"radius_r": "-1.57 0.05 0", "radius_l": "1.57 -0.05 0", "hand_r": "0.1 -0.2 0.3"}
REVERSED = ("hand_l", "toes_l")  # These joints are written from the child to the parent.
COORDINATES = [name for _, _, _, _, names, _ in JOINTS.values() for name in names.split()]


def write_coordinates(names):
    ranges = {name: "-2 0.2" if name.startswith("knee") else "-7 7" for name in names.split()}
    return "".join(
        tag("Coordinate", tags(default_value="0", range=limits), name) for name, limits in ranges.items()
    )


def model_4():
    """The model as version 4 writes it."""
    joints = []
    for body, (kind, parent, place, own, names, axes) in JOINTS.items():
        on = "/ground" if parent == "ground" else f"/bodyset/{parent}"
        turned = TURNED.get(body, "0 0 0")
        ends = {
            f"{parent}_offset": tags(socket_parent=on, translation=place, orientation=turned),
            f"{body}_offset": tags(socket_parent=f"/bodyset/{body}", translation=own, orientation=turned),
        }
        frames = "".join(tag("PhysicalOffsetFrame", text, name) for name, text in ends.items())
        first, second = [*ends][::-1] if body in REVERSED else ends
        sockets = tags(socket_parent_frame=first, socket_child_frame=second)
        content = sockets + tags(coordinates=write_coordinates(names), frames=frames) + axes
        joints.append(tag(kind, content, f"to_{body}"))
    bodies = "".join(tag("Body", tags(mass="1"), body) for body in JOINTS)
    content = tags(BodySet=tags(objects=bodies), JointSet=tags(objects="".join(joints)))
    return f'<OpenSimDocument Version="40000">{tag("Model", content, "person")}</OpenSimDocument>'


def model_3():
    """The model as version 3 writes it."""
    bodies = [tag("Body", tags(mass="0", Joint=""), "ground")]
    for body, (kind, parent, place, own, names, axes) in JOINTS.items():
        turned = TURNED.get(body, "0 0 0")
        written = axes.replace(' name="function"', "").replace("</axis><", "</axis><function><")
        ends = {
            "parent_body": parent,
            "location_in_parent": place,
            "orientation_in_parent": turned,
            "location": own,
            "orientation": turned,
            "CoordinateSet": tags(objects=write_coordinates(names)),
            "reverse": str(body in REVERSED).lower(),
        }
        joint = tags(**ends) + written.replace("</TransformAxis>", "</function></TransformAxis>")
        bodies.append(tag("Body", tags(mass="1", Joint=tag(kind, joint, f"to_{body}")), body))
    content = tags(BodySet=tags(objects="".join(bodies)))
    return f'<OpenSimDocument Version="30000">{tag("Model", content, "person")}</OpenSimDocument>'


def motion_table(columns, title="Coordinates", degrees="yes", rate=100.0):
    """Text of a table of coordinates: (T,) by name."""
    rows = zip(*columns.values(), strict=True)
    lines = ["\t".join(f"{value:.10f}" for value in (k / rate, *row)) for k, row in enumerate(rows)]
    header = [title, "version=1", f"nRows={len(lines)}", f"nColumns={len(columns) + 1}"]
    header += [f"inDegrees={degrees}"] if degrees else []
    return "\n".join([*header, "endheader", "\t".join(["time", *columns]), *lines]) + "\n"


def moved_coordinates(count=60):
    """Coordinates (T,) by name, degrees and m, of a person who bends everywhere."""
    phases = np.arange(count)[:, None] / 20.0 + np.arange(len(COORDINATES))
    values = dict(zip(COORDINATES, (20.0 * np.sin(phases)).T, strict=True))
    for side in "rl":
        values[f"knee_angle_{side}"] = values[f"knee_angle_{side}"] - 25.0
        values[f"elbow_flex_{side}"] = values[f"elbow_flex_{side}"] + 45.0
    return {
        name: value / (20.0 if name[-3:] in ("_tx", "_ty", "_tz") else 1.0) for name, value in values.items()
    }
