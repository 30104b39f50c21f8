"""Reader of OpenSim's tables of coordinates (`.mot`, `.sto`), the joint angles of a model, with its `.osim`.

A file has a title, `key=value` lines up to `endheader`, a line of names and rows of numbers. The same tables
hold forces, speeds and activations, also under the names of coordinates: the title tells.
"""

import re
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.marker_tables import Slips, find_times, quote, read_lines, read_numbers
from simbench.motion.readers.opensim_model import read_model
from simbench.motion.recordings import SkeletonRecording
from simbench.system.limits import MOST_NUMBERS, require_at_most

LONGEST_HEADER = 200
# Titles of OpenSim's tables that are no coordinates, although some have the same columns.
OTHER_TITLES = re.compile(
    r"speeds|accelerations|velocities|positionerrors|actuator(forces|powers|speeds)|modelforces|"
    r"(.*_)?controls|static optimization|inverse dynamics.*|joint reaction loads",
    re.IGNORECASE,
)
# Columns of forces and of the states of muscles.
OTHER_COLUMN = re.compile(
    r".*(force|moment|torque|activation|fiber_length|excitation|reserve).*", re.IGNORECASE
)
MODEL_ADVICE = (
    "an OpenSim model holds no motion; read its coordinates (.mot, .sto) with --body-model MODEL.osim"
)
# Beyond the first number, rad, an angle is in degrees; below the second, all are in rad.
LARGEST_ANGLE, SMALLEST_ANGLE = 2 * np.pi, 3.2
# Angles beyond their ranges by more than this, rad; and part of the samples in which right ones may be.
BEYOND, FEW = 0.1, 0.1


def read_opensim_motion(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read the coordinates of an OpenSim model, and compute the poses of its bodies.

    `options`: `body_model` names the model's file; else it is the `.osim` beside the file with its stem, or
    the only one there. Returns one joint for each body, at its frame, m, y up; in the rest pose all
    coordinates are zero.
    """
    source, lines = str(path), read_lines(path)
    words = [line.strip().lower() for line in lines[:LONGEST_HEADER]]
    if "endheader" not in words:
        raise MotionError(f"{source}: not a table of OpenSim, whose header ends with endheader")
    start = next(
        (k for k in range(words.index("endheader") + 1, len(lines)) if lines[k].strip()), len(lines) - 1
    )
    columns, title = lines[start].split(), lines[0].strip()
    shown = ", ".join(each[:40] for each in columns[1:5])
    if not columns or columns[0].lower() != "time" or len({*columns}) < len(columns):
        raise MotionError(
            f"{source}, line {start + 1}: time and different names of coordinates must follow endheader"
        )
    # States are written as /jointset/hip_r/hip_flexion_r/value.
    names = [each.removesuffix("/value").rpartition("/")[2] for each in columns[1:]]
    if OTHER_TITLES.fullmatch(title) or all(OTHER_COLUMN.fullmatch(name) for name in names):
        raise MotionError(
            f"{source}: holds {quote(title)} ({shown}, ...), no joint angles; give the table of coordinates, "
            "as inverse kinematics writes it"
        )
    model_path = find_model(path, options, shown)
    model = read_model(model_path)
    known = [name in model.defaults for name in names]
    if not any(known):
        raise MotionError(
            f"{source}: none of its columns ({shown}, ...) is a coordinate of {model_path.name}: "
            f"{', '.join([*model.defaults][:4])}, ..."
        )
    table = read_numbers(lines, start + 1, len(columns), source)
    require_at_most(
        len(table) * len(model.names) * 16, MOST_NUMBERS, f"{source}: numbers of poses", MotionError
    )
    if not len(table):
        raise MotionError(f"{source}: no rows follow the line of names")
    coordinates = {name: table[:, k + 1] for k, name in enumerate(names) if known[k]}
    slips = Slips(source, options.strict)
    angles = [name for name in coordinates if name in model.list_angles()]
    said = next((each for line in words if (each := line.replace(" ", "")).startswith("indegrees=")), "")
    degrees = said.endswith("=yes")
    largest = max((float(np.abs(coordinates[name]).max()) for name in angles), default=0.0)
    if not said:
        degrees = largest > LARGEST_ANGLE
        slips.doubt("the header has no inDegrees", f"angles in {'degrees' if degrees else 'rad'} assumed")
    elif degrees and 0 < largest < SMALLEST_ANGLE:
        slips.doubt(f"all angles are below {largest:.2g} and inDegrees is yes", "taken as degrees")
    for name in angles:
        coordinates[name] = values = np.deg2rad(coordinates[name]) if degrees else coordinates[name]
        low, high = model.ranges.get(name, (-np.inf, np.inf))
        beyond, mirrored = (
            float(((sign * values < low - BEYOND) | (sign * values > high + BEYOND)).mean())
            for sign in (1, -1)
        )
        if beyond > 0.5:
            said = f"{name[:40]} is beyond its range in {model_path.name} ({np.rad2deg(low):.0f} to "
            said += f"{np.rad2deg(high):.0f} degrees) in {beyond:.0%} of the samples"
            if mirrored <= FEW:
                raise MotionError(
                    f"{source}: {said}, but not with the other sign: give the model of these angles"
                )
            slips.doubt(said, "read as it is; is this the model of these angles?")
    missing = [name for name in model.defaults if name not in coordinates and name not in model.coupled]
    if missing:
        slips.doubt(
            f"{len(missing)} coordinates of the model are not in the file: {', '.join(missing[:4])[:80]}",
            "the model's defaults are taken",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        positions, rotations = model.compute_poses(coordinates)
        rest, turned = model.compute_poses(dict.fromkeys({*model.defaults} - {*model.coupled}, np.zeros(1)))
    if not (np.isfinite(positions).all() and np.isfinite(rest).all()):
        raise MotionError(f"{source}: with {model_path.name}, some positions are not finite")
    offsets = rest[0].copy()
    offsets[model.parents >= 0] -= rest[0][model.parents[model.parents >= 0]]
    rotations = rotations @ turned[0].transpose(0, 2, 1)
    time = (
        find_times(table[:, 0], None, source) if options.fps is None else np.arange(len(table)) / options.fps
    )
    slips.notes.append(f"model {model_path.name}: {len(model.names)} bodies, {sum(known)} coordinates")
    if not all(known):
        slips.notes.append(f"{len(names) - sum(known)} further columns ignored")
    bodies, up = (model.parents, offsets, positions, rotations), options.up or "y"
    notes, doubts = tuple(slips.notes), tuple(slips.doubts)
    return SkeletonRecording(time, model.names, *bodies, source, "m", up, notes=notes, doubts=doubts)


def find_model(path: Path, options: ReadOptions, shown: str) -> Path:
    """Find the model of a table of coordinates. `shown`: some of its columns, for the message."""
    if options.body_model is not None:
        return Path(options.body_model)
    beside = sorted(path.parent.glob("*.osim"))
    fitting = [each for each in beside if each.stem == path.stem] or beside
    if len(fitting) == 1:
        return fitting[0]
    found = f"{len(beside)} models are beside it" if beside else "no model is beside it"
    raise MotionError(
        f"{path}: a table of OpenSim ({shown}, ...) needs the model whose coordinates it holds, and {found}; "
        f"put its .osim there as {path.stem}.osim, or name it (--body-model MODEL.osim)"
    )
