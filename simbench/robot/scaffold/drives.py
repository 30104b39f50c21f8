"""Reflected inertia of the motors: from a file beside the URDF, else estimated from the joint limits."""

from dataclasses import dataclass
from pathlib import Path

from simbench.errors import SimbenchError
from simbench.robot.scaffold.tree import RobotTree
from simbench.robot.urdf.elements import parse_numbers
from simbench.robot.urdf.joints import UNLIMITED_EFFORT, UNLIMITED_VELOCITY
from simbench.robot.xml_reader import read_xml

RUN_UP_TIME = 0.01
"""Time in which a drive's largest torque brings its own inertia to its largest speed, s.

J ω / τ of published drives, geometric means: 9 ms for 11 joints with gears of 36:1 to 201:1 (Tomić
2018), 28 ms for the 6 joints of an industrial arm (Armstrong, Khatib, Burdick 1986), 4 ms for quasi-direct
drives of 25 to 139 N·m (armatures in the configuration published with BeyondMimic, 2025). The mean of the
three is 10 ms, from which each differs by a factor of 2.7 at most. A power of the torque alone misses the
quasi-direct drives by a factor of 50.
"""


@dataclass(frozen=True)
class DriveGuess:
    """Inertia of a joint's drive."""

    # Inertia as the joint feels it, kg·m², or kg for a sliding joint; 0 where nothing is known.
    reflected_inertia: float
    reduction: float  # Ratio of the gear; 0 where it is not known.
    source: str  # `srdf`, `limits` or `unknown`.


def guess_drives(tree: RobotTree) -> dict[str, DriveGuess]:
    """Guess the inertia of all drives. Returns drives by joint."""
    rotors = _read_rotors(tree.path)
    drives = {}
    for joint in range(1, tree.model.njoints):
        name = tree.model.names[joint]
        effort = float(tree.model.effortLimit[joint - 1])
        speed = float(tree.model.velocityLimit[joint - 1])
        if name in rotors:
            reduction, rotor = rotors[name]
            drives[name] = DriveGuess(reduction**2 * rotor, reduction, "srdf")
        elif effort < UNLIMITED_EFFORT and speed < UNLIMITED_VELOCITY:
            drives[name] = DriveGuess(float(f"{RUN_UP_TIME * effort / speed:.3g}"), 0.0, "limits")
        else:
            drives[name] = DriveGuess(0.0, 0.0, "unknown")
    return drives


def _read_rotors(urdf: Path) -> dict[str, tuple[float, float]]:
    """Read gear ratio and rotor inertia, kg·m², by joint, from `<rotor_params>` of SRDF files near a URDF."""
    rotors: dict[str, tuple[float, float]] = {}
    folders = [urdf.parent, urdf.parent.parent / "srdf"]
    for path in [path for folder in folders for path in sorted(folder.glob("*.srdf"))]:
        try:
            root = read_xml(path)
        except SimbenchError:
            continue
        for joint in root.iterfind(".//rotor_params/joint"):
            ratio, inertia = (parse_numbers(joint.get(key, "")) for key in ("gear_ratio", "mass"))
            if len(ratio) == len(inertia) == 1 and ratio[0] > 0 and inertia[0] >= 0:
                rotors.setdefault(joint.get("name", ""), (ratio[0], inertia[0]))
    return rotors
