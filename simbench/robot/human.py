"""A person as a robot: ROMEO's skeleton at the person's size, with the inertia of the Hanavan body."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh

from simbench.robot.body_segments import (
    BodySolid,
    EllipticalSolid,
    HanavanBody,
    scale_to_body_mass,
    segment_inertia,
)
from simbench.robot.dh import BASE, DhRow, DhTable, JointLimits, link_name, table_frames
from simbench.robot.drives import Friction, Motors
from simbench.robot.human_skeleton import (
    ARM_JOINTS,
    CARRIERS,
    HEAD_JOINTS,
    UpperBodyLengths,
    basic_placements,
    upper_body_joints,
)
from simbench.robot.robot import Robot
from simbench.robot.urdf.source import read_urdf
from simbench.robot.urdf.urdf_writer import table_urdf, write_obj

NAME = "human"

# Ranges of the left side and the middle in degrees, after the American Academy of Orthopaedic Surgeons
# (1965), converted to ROMEO's joints, too wide rather than too narrow. 0 is the basic configuration; flexion
# of the shoulder lowers its pitch; its yaw swings the raised arm across the chest (-) or to the side and back
# (+); the humerus, which the elbow roll turns, is neutral at -90, where the elbow bends the hand upwards. The
# nodding of the neck is divided between two joints.
RANGES = {
    "TrunkYaw": (-45.0, 45.0),
    "NeckYaw": (-80.0, 80.0),
    "NeckPitch": (-45.0, 45.0),
    "HeadPitch": (-25.0, 25.0),
    "HeadRoll": (-45.0, 45.0),
    "ShoulderPitch": (-90.0, 150.0),
    "ShoulderYaw": (-45.0, 135.0),
    "ElbowRoll": (-180.0, 30.0),
    "ElbowYaw": (-150.0, 10.0),
    "WristRoll": (-90.0, 90.0),
    "WristYaw": (-25.0, 40.0),
    "WristPitch": (-80.0, 80.0),
}
# The model has no muscles: no task reaches these limits of speed (rad/s) and torque (N·m).
SPEED, TORQUE = 20.0, 200.0


def build_solid_mesh(solid: BodySolid, sides: int = 32) -> trimesh.Trimesh:
    """Build the closed mesh of a solid, in its axes.

    The vertices lie on the solid's surface, so the mesh is a little smaller: with 32 sides by less than 2 %
    of the volume, with 160 by less than 0.1 %. `sides`: number of vertices around z; there are half as many
    rows along z. Returns the mesh, m.
    """
    # Heights and semi-axes of sections along z, from end to end.
    if isinstance(solid, EllipticalSolid):
        fraction = np.linspace(0.0, 1.0, sides // 2 + 1)
        a = solid.a0 + fraction * (solid.a1 - solid.a0)
        z, b = fraction * solid.length, solid.b0 + fraction * (solid.b1 - solid.b0)
    else:
        latitude = np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1)
        z = solid.c * (np.sin(latitude) + 1.0)
        a, b = solid.a * np.cos(latitude), solid.b * np.cos(latitude)
    ends = np.array([[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]])
    ring = a > 1e-6 * a.max()  # a section at a pole is only that point
    z, a, b = z[ring], a[ring], b[ring]
    angle = np.arange(sides) * 2.0 * np.pi / sides
    rings = np.stack(
        [
            a[:, None] * np.cos(angle),
            b[:, None] * np.sin(angle),
            np.broadcast_to(z[:, None], (len(z), sides)),
        ],
        axis=-1,
    )
    index = np.arange(len(z) * sides).reshape(len(z), sides)
    following = np.roll(index, -1, axis=1)
    low, low_next, high, high_next = index[:-1], following[:-1], index[1:], following[1:]
    first, last = index.size, index.size + 1
    faces = np.concatenate(
        [
            np.stack([low, low_next, high_next], axis=-1).reshape(-1, 3),
            np.stack([low, high_next, high], axis=-1).reshape(-1, 3),
            np.stack([following[0], index[0], np.full(sides, first)], axis=-1),
            np.stack([index[-1], following[-1], np.full(sides, last)], axis=-1),
        ]
    )
    return trimesh.Trimesh(np.concatenate([rings.reshape(-1, 3), ends]), faces)


class Human:
    """A person as a robot, for computing dynamics and for drawing.

    Parameters
    ----------
    body : HanavanBody
        Body from `HanavanBody`; its segments are scaled to the body's mass (`scale_to_body_mass`).
    lengths : UpperBodyLengths
        Lengths of the skeleton, measured on the person (the scaled model of Tomić 2018, §3.3.2), or from
        `skeleton_lengths`.

    Attributes
    ----------
    body : HanavanBody
        The segments, whose masses add up to the body's mass.
    table : DhTable
        The skeleton on a root midway between the hips.
    robot : Robot
        Robot with floating base and without motors; legs in standing posture are part of the root.
        `robot.model` has nv = 25: the root, then ROMEO's joints of trunk, neck, head and arms.
        `robot.urdf_text` has no meshes and the file `robot.urdf` does not exist: `write_human` provides both.
    inertias : dict of str to pinocchio.Inertia
        Inertia of the link with a joint's frame, in that frame, by joint name.
    meshes : dict of str to trimesh.Trimesh
        Meshes of the same links, in the same frames, m, by joint name.
    """

    def __init__(self, body: HanavanBody, lengths: UpperBodyLengths) -> None:
        exact = scale_to_body_mass(body)
        table = DhTable(upper_body_joints(lengths, BASE, DhRow()))
        frames = table_frames(table, np.zeros(len(table.moving)))
        inertias: dict[str, pin.Inertia] = {}
        meshes: dict[str, trimesh.Trimesh] = {}
        for segment, placement in basic_placements(exact, lengths).items():
            carrier, part = CARRIERS[segment], exact.segments[segment]
            local = pin.SE3(frames[carrier]).actInv(placement)
            inertias[carrier] = inertias.get(carrier, pin.Inertia.Zero()) + local.act(segment_inertia(part))
            mesh = build_solid_mesh(part.solid).apply_transform(local.homogeneous)
            meshes[carrier] = meshes[carrier] + mesh if carrier in meshes else mesh
        text = table_urdf(table, NAME, _limits(table), inertias)
        model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        joints = tuple(name for name in model.names if name not in ("universe", "root_joint"))
        none = np.zeros(len(joints))
        # Arms hanging, palms at the thighs.
        hanging = {
            "LShoulderPitch": np.pi / 2,
            "LElbowRoll": -np.pi / 2,
            "RShoulderPitch": np.pi / 2,
            "RElbowRoll": np.pi / 2,
        }
        roles = {"pelvis": BASE, "trunk": link_name("TrunkYaw"), "head": link_name("HeadRoll")}
        for side, prefix in (("left", "L"), ("right", "R")):
            roles |= {
                f"{side}_shoulder": link_name(f"{prefix}ShoulderPitch"),
                f"{side}_elbow": link_name(f"{prefix}ElbowRoll"),
                f"{side}_wrist": link_name(f"{prefix}WristPitch"),
                f"{side}_hand": link_name(f"{prefix.lower()}_hand"),
            }
        robot = Robot(
            name=NAME,
            model=model,
            floating=True,
            joint_names=joints,
            groups={
                "trunk": ("TrunkYaw",),
                "head": HEAD_JOINTS,
                "left_arm": tuple("L" + name for name in ARM_JOINTS),
                "right_arm": tuple("R" + name for name in ARM_JOINTS),
            },
            frames=roles,
            motors=Motors(
                reflected_inertia=none,
                stiffness=none,
                damping=none,
                torque_limit=np.full(len(joints), TORQUE),
                reduction=none,
            ),
            friction=Friction(coulomb=none, viscous=none, breakaway=none),
            postures={"basic": none, "standing": np.array([hanging.get(name, 0.0) for name in joints])},
            soles={},
            urdf=Path("human.urdf"),
            urdf_text=text,
            urdf_notes=(),
            hands={},
            self_collision_pairs=(),
        )
        self.body, self.table, self.robot = exact, table, robot
        self.inertias, self.meshes = inertias, meshes


def write_human(human: Human, folder: Path) -> Robot:
    """Write a person as URDF and meshes, for drawing beside a robot.

    Parameters
    ----------
    human : Human
        The person.
    folder : Path
        Existing folder, to which `human.urdf` and `meshes/*.obj` are written.

    Returns
    -------
    Robot
        `human.robot` with its shapes.
    """
    (folder / "meshes").mkdir(exist_ok=True)
    files = {joint: f"meshes/{link_name(joint)}.obj" for joint in human.meshes}
    for joint, file in files.items():
        write_obj(human.meshes[joint], folder / file)
    path = folder / human.robot.urdf
    path.write_text(
        table_urdf(human.table, NAME, _limits(human.table), human.inertias, files), encoding="utf-8"
    )
    return replace(human.robot, urdf=path, urdf_text=read_urdf(path, floating=True)[0])


def _limits(table: DhTable) -> dict[str, JointLimits]:
    """Limits of all joints, those of the right side mirrored."""
    limits: dict[str, JointLimits] = {}
    for joint in table.moving:
        side = joint[0] if joint[1:] in ARM_JOINTS else ""
        lower, upper = np.radians(RANGES[joint.removeprefix(side)]).tolist()
        if side == "R" and not joint.endswith("Pitch"):
            lower, upper = -upper, -lower
        limits[joint] = {"lower": lower, "upper": upper, "velocity": SPEED, "effort": TORQUE}
    return limits
