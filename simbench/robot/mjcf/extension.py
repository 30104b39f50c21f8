"""What an MJCF says and a URDF has no words for, read back from the element `<mjcf>` of its conversion."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass


@dataclass(frozen=True)
class MjcfExtension:
    """Drives, friction, gains and postures of the joints of an MJCF, in the form of `robot.yaml`."""

    given: bool  # Whether the robot is from an MJCF; if not, nothing else is given.
    floating: bool  # Whether the root link has a free joint.
    motors: dict[str, dict[str, float]]  # Reflected inertia (armature) of every joint, kg·m².
    friction: dict[str, dict[str, float]]  # Damping and friction loss of the joints that have any.
    gains: dict[str, tuple[float, float]]  # Stiffness and damping of the joints with a position servo.
    postures: dict[str, dict[str, float]]  # Keyframes within the limits: positions by joint, rad or m.
    excluded: frozenset[frozenset[str]]  # Pairs of links without contacts.
    notes: tuple[str, ...]  # What was left out, a line each.


def read_extension(robot: ET.Element) -> MjcfExtension:
    """Read the extension of the element `<robot>`, which is empty for a robot that is no MJCF."""
    extension = robot.find("mjcf")
    given = extension is not None
    extension = ET.Element("mjcf") if extension is None else extension
    numbers = {
        joint.get("name", ""): {key: float(value) for key, value in joint.items() if key != "name"}
        for joint in extension.findall("joint")
    }
    friction = {}
    for name, values in numbers.items():
        # MuJoCo holds a joint at rest by as much as it brakes a moving one.
        loss = values["frictionloss"]
        entry = {"coulomb": loss, "viscous": values["damping"], "breakaway": loss}
        if any(entry.values()):
            friction[name] = {key: value for key, value in entry.items() if value}
    return MjcfExtension(
        given=given,
        floating=extension.get("floating") == "true",
        motors={name: {"reflected_inertia": values["armature"]} for name, values in numbers.items()},
        friction=friction,
        gains={name: (values["kp"], values["kv"]) for name, values in numbers.items() if "kp" in values},
        postures={
            posture.get("name", ""): {
                joint.get("name", ""): float(joint.get("position", "0")) for joint in posture
            }
            for posture in extension.findall("posture")
        },
        excluded=frozenset(
            frozenset((pair.get("link1", ""), pair.get("link2", ""))) for pair in extension.findall("exclude")
        ),
        notes=tuple(note.text or "" for note in extension.findall("note")),
    )
