"""Files of the person in closed form, as the programs that record people write them."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.readers.mvnx import PARENTS

HANGING = {
    "left": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    "right": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}
# Files' axes: each matrix takes our axes (forward, left, up) to the file's.
AXES = {
    "z": np.eye(3),
    "y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "-y": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "x": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
}


def spread(side):
    """Rotation from hanging to spread arms, which turns palms down."""
    return Rotation.from_euler("x", 90 if side == "left" else -90, degrees=True).as_matrix()


def named_points(person):
    """Tracks (T, 3) of every joint and keypoint that layouts name, m."""
    joints, turn = person.joints, person.rotations
    pelvis, trunk, chest = turn["pelvis"], turn["trunk"], joints["chest"]
    points = {
        name: joints[name] for name in joints if name.partition("_")[2] in
        ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "heel", "toe")
    }  # fmt: skip
    points["pelvis"] = points["mid_hip"] = joints["pelvis"]
    for name, height in (("spine1", 0.1), ("spine", 0.15), ("spine2", 0.2)):
        points[name] = joints["pelvis"] + pelvis @ [0.0, 0.0, height]
    points["spine3"] = points["thorax"] = points["chest"] = chest
    for name, place in {
        "neck": (0, 0, 0.2), "head": (0.03, 0, 0.3), "head_top": (0.03, 0, 0.42), "nose": (0.12, 0, 0.3),
        "jaw": (0.08, 0, 0.27), "mouth_left": (0.1, 0.02, 0.27), "mouth_right": (0.1, -0.02, 0.27),
    }.items():  # fmt: skip
        points[name] = chest + trunk @ np.array(place)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        thumb = -sign
        for name, place in {
            "ear": (0.02, 0.08, 0.3), "eye": (0.1, 0.03, 0.33), "eye_inner": (0.1, 0.02, 0.33),
            "eye_outer": (0.1, 0.04, 0.33), "collar": (0.0, 0.05, 0.12),
        }.items():  # fmt: skip
            points[f"{side}_{name}"] = chest + trunk @ (np.array(place) * [1, sign, 1])
        wrist, hand = joints[f"{side}_wrist"], turn[f"{side}_hand"]
        for k, finger in enumerate(("index", "middle", "ring", "pinky")):
            across = thumb * (0.03 - 0.02 * k)
            for number in ("", 1, 2, 3, 4):
                points[f"{side}_{finger}{number}"] = wrist + hand @ [0.08 + 0.02 * (number or 1), across, 0.0]
            points[f"{side}_{finger}_tip"] = wrist + hand @ [0.17, across, 0.0]
        # The middle finger is on the axis of the hand.
        for ending in ("", "1", "_tip"):
            points[f"{side}_middle{ending}"] = wrist + hand @ [0.12, 0.0, 0.0]
        for ending in ("", "1", "2", "3", "4", "_tip"):
            points[f"{side}_thumb{ending}"] = wrist + hand @ [0.04, 0.05 * thumb, 0.0]
        points[f"{side}_hand"] = wrist + hand @ [0.08, 0.0, 0.0]
        points[f"{side}_hand_root"], points[f"{side}_hand_tip"] = wrist, wrist + hand @ [0.17, 0.0, 0.0]
        for name in ("big_toe", "foot_index", "foot"):
            points[f"{side}_{name}"] = joints[f"{side}_toe"]
        points[f"{side}_small_toe"] = joints[f"{side}_toe"] + [0.0, 0.06 * sign, 0.0]
    return points


def joint_array(person, names, up="z", scale=1.0):
    """Array (T, J, 3) of the points with the given names; those without one lie at the nose."""
    points = named_points(person)
    return scale * np.stack([points[name or "nose"] for name in names], axis=1) @ AXES[up].T


def table(person, columns, *, up="z", scale=1.0, delimiter=",", time="time"):
    """Text of a table of the joints: `columns` makes the three names of a joint's columns."""
    tracks = {name: joint_array(person, [name], up, scale)[:, 0] for name in TABLE_JOINTS}
    header = delimiter.join([time, *(cell for name in tracks for cell in columns(name))])
    values = np.concatenate([person.time[:, None], *tracks.values()], axis=1)
    lines = [delimiter.join(f"{value:.9f}" for value in row) for row in values]
    return "\n".join([header, *lines]) + "\n"


TABLE_JOINTS = (
    "pelvis", "neck", "head", *(f"{side}_{joint}" for side in ("left", "right")
    for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")),
)  # fmt: skip


def bones(person):
    """Poses of the body's parts: position (T, 3), and rotation (T, 3, 3) from the T-pose that faces x."""
    joints, turn = person.joints, person.rotations
    pelvis, trunk, chest = turn["pelvis"], turn["trunk"], joints["chest"]
    still = np.tile(np.eye(3), (len(person.time), 1, 1))
    parts = {
        "pelvis": (joints["pelvis"], pelvis),
        "spine": (person.pelvis_place + pelvis @ [0.0, 0.0, 0.15], pelvis),
        "chest": (chest, trunk),
        "neck": (chest + trunk @ [0.0, 0.0, 0.2], trunk),
        "head": (chest + trunk @ [0.0, 0.0, 0.28], trunk),
    }
    for side, sign in (("left", 1.0), ("right", -1.0)):
        parts[f"{side}_collar"] = chest + trunk @ [0.0, 0.04 * sign, 0.12], trunk
        for joint, segment in (("shoulder", "upper_arm"), ("elbow", "forearm"), ("wrist", "hand")):
            rotation = turn[f"{side}_{segment}"] @ (spread(side) @ HANGING[side]).T
            parts[f"{side}_{joint}"] = joints[f"{side}_{joint}"], rotation
        for joint in ("hip", "knee", "ankle", "toe"):
            parts[f"{side}_{joint}"] = joints[f"{side}_{joint}"], still
    return parts


XSENS = {
    "Pelvis": "pelvis", "L5": "spine", "T8": "chest", "Neck": "neck", "Head": "head",
    **{f"{side.title()}{segment}": f"{side}_{joint}" for side in ("right", "left") for segment, joint in (
        ("Shoulder", "collar"), ("UpperArm", "shoulder"), ("ForeArm", "elbow"), ("Hand", "wrist"),
        ("UpperLeg", "hip"), ("LowerLeg", "knee"), ("Foot", "ankle"), ("Toe", "toe"))},
}  # fmt: skip


def xsens_segments(person):
    """Poses of the 23 segments of MVN, in its order."""
    parts = bones(person)
    found = {name: parts[part] for name, part in XSENS.items()}
    pelvis = person.rotations["pelvis"]
    for name, height in (("L3", 0.2), ("T12", 0.25)):
        found[name] = person.pelvis_place + pelvis @ [0.0, 0.0, height], pelvis
    order = ["Pelvis", "L5", "L3", "T12", *[name for name in XSENS if name not in ("Pelvis", "L5")]]
    return {name: found[name] for name in order}


def numbers(values):
    return " ".join(f"{value:.9f}" for value in np.ravel(values))


def mvnx(person, *, positions=True, poses=True, version=4, rate=100):
    """Text of an MVNX file; without positions, with the points from which they follow."""
    segments = xsens_segments(person)
    labels, joints = [], []
    for k, (name, (place, _)) in enumerate(segments.items(), start=1):
        points = ['<point label="origin"><pos_b>0 0 0</pos_b></point>']
        for child, above in PARENTS.items():
            if above == name:
                base, rotation = segments[name]
                offset = rotation[0].T @ (segments[child][0][0] - base[0])
                points.append(f'<point label="j{child}"><pos_b>{numbers(offset)}</pos_b></point>')
                joints.append(
                    f'<joint label="j{child}"><connector1>{name}/j{child}</connector1>'
                    f"<connector2>{child}/origin</connector2></joint>"
                )
        labels.append(f'<segment label="{name}" id="{k}"><points>{"".join(points)}</points></segment>')
        del place
    frames = []
    identity = "1 0 0 0 " * len(segments)
    standing = numbers([place[0] for place, _ in segments.values()])
    for kind in ("identity", "tpose", "tpose-isb") if poses else ():
        frames.append(
            f'<frame type="{kind}" index="" time="0"><orientation>{identity}</orientation>'
            f"<position>{standing}</position></frame>"
        )
    quaternions = np.stack(
        [Rotation.from_matrix(turn).as_quat()[:, [3, 0, 1, 2]] for _, turn in segments.values()], axis=1
    )
    places = np.stack([place for place, _ in segments.values()], axis=1)
    for t in range(len(person.time)):
        where = f"<position>{numbers(places[t])}</position>" if positions else ""
        frames.append(
            f'<frame type="normal" index="{t}" time="{round(1000 * person.time[t])}">'
            f"<orientation>{numbers(quaternions[t])}</orientation>{where}"
            f"<velocity>{numbers(places[t])}</velocity><jointAngle>{numbers(places[t])}</jointAngle>"
            "<ergonomicJointAngle>0 0 0</ergonomicJointAngle></frame>"
        )
    space = ' xmlns="http://www.xsens.com/mvn/mvnx"' if version == 3 else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<mvnx version="{version}"{space}><mvn version="2022"/>'
        f'<comment/><subject label="P" frameRate="{rate}" segmentCount="{len(segments)}">'
        f"<segments>{''.join(labels)}</segments><sensors><sensor label='Pelvis'/></sensors>"
        f"<joints>{''.join(joints)}</joints><frames segmentCount='{len(segments)}'>\n"
        + "\n".join(frames)
        + "</frames></subject><securityCode code='0'/></mvnx>\n"
    )


MOTIVE = {
    "Hip": "pelvis", "Ab": "spine", "Chest": "chest", "Neck": "neck", "Head": "head",
    **{f"{side[0].upper()}{bone}": f"{side}_{joint}" for side in ("left", "right") for bone, joint in (
        ("Shoulder", "collar"), ("UArm", "shoulder"), ("FArm", "elbow"), ("Hand", "wrist"),
        ("Thigh", "hip"), ("Shin", "knee"), ("Foot", "ankle"), ("Toe", "toe"))},
}  # fmt: skip
FBX = {
    "Hip": "Hips", "Ab": "Spine", "Chest": "Spine1",
    **{f"{side[0]}{old}": f"{side}{new}" for side in ("Left", "Right") for old, new in (
        ("Shoulder", "Shoulder"), ("UArm", "Arm"), ("FArm", "ForeArm"), ("Hand", "Hand"),
        ("Thigh", "UpLeg"), ("Shin", "Leg"), ("Foot", "Foot"), ("Toe", "ToeBase"))},
}  # fmt: skip


def motive(person, *, up="y", rotation="Quaternion", unit="Meters", names=None, parent_row=False):
    """Text of a CSV file of Motive with the bones of a skeleton, before the tracks of two markers."""
    parts, axes = bones(person), AXES[up]
    scale = {"Meters": 1.0, "Millimeters": 1000.0, "Centimeters": 100.0}[unit]
    rows = {"Type": [], "Name": [], "ID": [], "Parent": [], "": []}
    letters, blocks = [], []

    def add(kind, name, component, axis_letters, values):
        for letter in axis_letters:
            for row, cell in zip(rows.values(), (kind, name, f"id {name}", "Root", component), strict=True):
                row.append(cell)
            letters.append(letter)
        blocks.append(values)

    for bone, part in MOTIVE.items():
        place, turn = parts[part]
        turned = Rotation.from_matrix(axes @ turn @ axes.T)
        name = f"Skeleton 001:{(names or {}).get(bone, bone)}"
        if rotation == "Quaternion":
            add("Bone", name, "Rotation", "XYZW", turned.as_quat())
        else:
            angles = turned.as_euler(rotation, degrees=True)
            add("Bone", name, "Rotation", "XYZ", angles[:, [rotation.upper().index(axis) for axis in "XYZ"]])
        add("Bone", name, "Position", "XYZ", scale * place @ axes.T)
    add("Bone Marker", "Skeleton 001:LHandOut", "Position", "XYZ", scale * parts["left_wrist"][0] @ axes.T)
    if not parent_row:
        del rows["Parent"]
    header = (
        "Format Version,1.23,Take Name,walk,Capture Frame Rate,100.000000,Export Frame Rate,100.000000,"
        f"Rotation Type,{rotation.upper() if rotation != 'Quaternion' else rotation},Length Units,{unit},"
        "Coordinate Space,Global"
    )
    above = [",".join(("", label, *cells)) for label, cells in rows.items()]
    values = np.concatenate(blocks, axis=1)
    lines = [
        ",".join((str(t), f"{person.time[t]:.6f}", *(f"{value:.6f}" for value in row)))
        for t, row in enumerate(values)
    ]
    return "\n".join([header, "", *above, ",".join(("Frame", "Time (Seconds)", *letters)), *lines]) + "\n"


def motive_markers(markers, time, *, up="y", gap=None):
    """Text of a CSV file of Motive with markers alone, of which `gap` is not seen in frames 10 to 14."""
    axes = AXES[up]
    cells = {"": [], " ": [], "  ": [], "   ": []}
    blocks = []
    for name, track in markers.items():
        for row, cell in zip(cells.values(), ("Marker", f"Anna:{name}", "1", "Position"), strict=True):
            row += [cell] * 3
        blocks.append([[f"{value:.6f}" for value in row] for row in 1000.0 * track @ axes.T])
        if name == gap:
            blocks[-1][10:15] = [[""] * 3] * 5
    header = "Format Version,1.22,Take Name,t,Capture Frame Rate,100,Length Units,Millimeters"
    lines = [
        ",".join((str(t), f"{time[t]:.6f}", *(value for block in blocks for value in block[t])))
        for t in range(len(time))
    ]
    above = [",".join(("", "", *row)) for row in cells.values()]
    letters = ",".join(("Frame", "Time (Seconds)", *["X", "Y", "Z"] * len(markers)))
    return "\n".join([header, "", *above, letters, *lines]) + "\n"


def qualisys(markers, time):
    """Text of a TSV file of Qualisys Track Manager with markers."""
    header = [f"NO_OF_MARKERS\t{len(markers)}", "FREQUENCY\t100", "DATA_INCLUDED\t3D"]
    header.append("\t".join(["MARKER_NAMES", *markers]))
    values = np.concatenate([time[:, None], *(1000.0 * track for track in markers.values())], axis=1)
    rows = ["\t".join((str(k + 1), *(f"{value:.5f}" for value in row))) for k, row in enumerate(values)]
    return "\n".join([*header, *rows]) + "\n"
