"""Reader of Acclaim's format, in which CMU's database is: a skeleton (ASF), and angles of its bones (AMC).

The parser is written here because no maintained library reads the two. A bone rotates about axes C of its own
that are given in the world's axes of the rest pose: with the rotation M of a frame's angles, its axes are
those of the bone above times C M Cᵀ. Source: J. Lander, "Working with motion capture file formats", Game
Developer, January 1998.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.text import MAX_TEXT_BYTES, parse_finite_number, printable, require_regular_file
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, Slips, quote, read_lines
from simbench.motion.recordings import SkeletonRecording, compute_world_poses
from simbench.system.limits import RATES, require_at_most

# Rate of CMU's database, Hz, taken where neither file nor user says one.
CMU_RATE = 120.0
# Most bones of a skeleton; a person with fingers has a hundred. Most poses: an hour of 40 bones at 120 Hz.
MOST_BONES, MOST_POSES = 1000, 20_000_000
ROOT, ROTATIONS, PLACES = "root", ("rx", "ry", "rz"), ("tx", "ty", "tz")
Keys = dict[str, list[str]]  # The words behind each keyword; `where` is the place in the file.


class Skeleton(NamedTuple):
    """What an ASF file says: the root, then its B - 1 bones, parents before children."""

    names: list[str]
    parents: NDArray[np.int64]  # (B,): index of the bone above each, at whose end it begins; -1 for the root.
    # (B, 3): from start to end of each bone in the rest pose, and the position of the root there, in inches,
    # or in the unit that the user declares.
    vectors: Array
    axes: list[Rotation]  # C of each.
    # What a frame has of each, in its order: `rx`, `ry`, `rz`, of the root also `tx`, `ty`, `tz`.
    channels: list[list[str]]
    degrees: bool  # Whether angles are in degrees, unless the frames say it.
    scale: float  # Inches, or declared units of length, in the file's unit.


def read_asf(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Refuse an ASF file, which has no motion. `options`: what the user declares."""
    parse_skeleton(path, options, Slips(str(path), options.strict))
    raise MotionError(f"{path}: holds a skeleton and no motion; give the AMC file that moves it")


def read_amc(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read an AMC file and its skeleton.

    The skeleton is the ASF file beside it that has the same name or the subject's (`01.asf` for `01_02.amc`),
    or the only one. `options`: what the user declares. Returns one joint for each bone, where it begins, and
    an end site for each that no bone follows.
    """
    slips = Slips(str(path), options.strict)
    skeleton = parse_skeleton(find_skeleton(path, slips), options, slips)
    values, rate, degrees = parse_frames(path, skeleton, slips)
    if options.fps is not None:
        rate = options.fps
    elif rate is None:
        slips.doubt(
            "the file does not say its rate (--fps)", f"{CMU_RATE:g} Hz assumed, as in CMU's database"
        )
        rate = CMU_RATE
    ends = np.setdiff1d(np.arange(1, len(skeleton.names)), skeleton.parents)
    parents = np.concatenate([skeleton.parents, ends])
    # What follows the root begins there.
    offsets = np.where(parents[:, None] > 0, skeleton.vectors[parents], 0.0)
    offsets[0] = skeleton.vectors[0]
    positions = np.tile(offsets, (len(values), 1, 1))
    rotations = np.tile(np.eye(3), (len(values), len(parents), 1, 1))
    column = 0
    for k, (axes, channels) in enumerate(zip(skeleton.axes, skeleton.channels, strict=True)):
        turns = [at for at, channel in enumerate(channels, start=column) if channel in ROTATIONS]
        for at, channel in enumerate(channels, start=column):
            if channel in PLACES:
                positions[:, k, PLACES.index(channel)] += skeleton.scale * values[:, at]
        if turns:
            # The first of them is applied first, about an axis that the others do not turn.
            order = "".join(channel[1] for channel in channels if channel in ROTATIONS)
            angles = Rotation.from_euler(order, values[:, turns], degrees=degrees)
            rotations[:, k] = (axes * angles * axes.inv()).as_matrix()
        column += len(channels)
    positions, rotations = compute_world_poses(parents, positions, rotations)
    names = (*skeleton.names, *(f"{skeleton.names[k]}_end" for k in ends))
    time, unit = np.arange(len(values)) / rate, options.unit or "in"
    bodies = parents, offsets, positions, rotations
    notes, doubts = tuple(slips.notes), tuple(slips.doubts)
    return SkeletonRecording(time, names, *bodies, str(path), unit, options.up, notes=notes, doubts=doubts)


def find_skeleton(path: Path, slips: Slips) -> Path:
    """Find the ASF file beside an AMC file. `slips`: takes the doubt if only its place says so."""
    there = {each.stem.lower(): each for each in path.parent.glob("*") if each.suffix.lower() == ".asf"}
    stems = dict.fromkeys((path.stem, path.stem.partition("_")[0]))
    file = next((there[stem.lower()] for stem in stems if stem.lower() in there), None)
    if file is None and len(there) == 1:
        file = next(iter(there.values()))
        slips.doubt(f"no skeleton {path.stem}.asf", f"{printable(file.name)} taken, the only one beside it")
    if file is None:
        wanted = " or ".join(f"{stem}.asf" for stem in stems)
        raise MotionError(f"{path}: holds the angles of a skeleton that is not there; put {wanted} beside it")
    return file


def parse_skeleton(path: Path, options: ReadOptions, slips: Slips) -> Skeleton:
    """Read an ASF file. `options`: what the user declares; `slips`: takes what is doubtful."""
    units, found, above = _parse_sections(path)
    names = [ROOT]
    for name in names:
        names += [child for child, parent in above.items() if parent == name]
    lost = next((name for name in (*found, *above) if name not in names or name not in found), None)
    if lost is not None or len(names) == 1:
        what = "no bones" if lost is None else f"{quote(lost)} is not in both of :bonedata and :hierarchy"
        raise MotionError(f"{path}: {what}; the skeleton is truncated or no ASF file")
    (length,) = _read_numbers(units.get("length", ["1"]), 1, f"{path}, :units, length")
    if not 1.0 / LARGEST_NUMBER <= length <= LARGEST_NUMBER:
        raise MotionError(f"{path}, :units: length {length:g}; it must be a positive number")
    scale = 1.0 if options.unit else 1.0 / length
    degrees = not "".join(units.get("angle", [])).lower().startswith("rad")
    vectors, axes, channels = [], [], []
    for name in names:
        bone = found[name]
        (where,) = bone["where"]
        channels.append([word.lower() for word in bone.get("dof", [])])
        allowed = (*PLACES, *ROTATIONS) if name == ROOT else ROTATIONS
        if len({*channels[-1]} & {*allowed}) < len(channels[-1]):
            said = quote(" ".join(channels[-1]))
            raise MotionError(f"{where}: channels {said}; allowed: {', '.join(allowed)}, each once")
        *turn, order = bone.get("axis", []) or [""]
        if sorted(order.upper()) != [*"XYZ"]:
            raise MotionError(f"{where}: the order of its axis is {quote(order)}; allowed: XYZ and the like")
        angles = _read_numbers(turn, 3, f"{where}, axis")
        axes.append(Rotation.from_euler(order.lower(), angles, degrees=degrees))
        (length,) = _read_numbers(bone.get("length", []), 1, f"{where}, length")
        direction = _read_numbers(bone.get("direction", []), 3, f"{where}, direction")
        vectors.append(scale * length * np.array(direction))
    if axes[0].magnitude() > 0.0:
        slips.doubt("the root is turned in the rest pose", "taken as the axes of its rotations")
    parents = np.array([-1, *(names.index(above[name]) for name in names[1:])])
    return Skeleton(names, parents, np.array(vectors), axes, channels, degrees, scale)


def _parse_sections(path: Path) -> tuple[Keys, dict[str, Keys], dict[str, str]]:
    """Read the units, the keys of root and bones by name, and the name of the bone above each."""
    section = ""
    units: Keys = {}
    root: Keys = {}
    bones: list[Keys] = []
    above: dict[str, str] = {}
    require_regular_file(path, MotionError, MAX_TEXT_BYTES)
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        keyword, *rest = line.partition("#")[0].split() or [""]
        if keyword[:1] == ":":
            section = keyword[1:].lower()
        elif section == "units":
            units[keyword.lower()] = rest
        elif section == ROOT:
            root[keyword.lower()] = rest
        elif section == "bonedata" and keyword == "begin":
            bones.append({"where": [where]})
        elif section == "bonedata" and bones:
            bones[-1][keyword.lower()] = rest
        elif section == "hierarchy" and keyword not in ("", "begin", "end"):
            for name in rest:
                if name == ROOT or above.setdefault(name, keyword) != keyword:
                    raise MotionError(f"{where}: {quote(name)} follows two bones; allowed: one")
        require_at_most(max(len(bones), len(above)), MOST_BONES, f"{path}: bones", MotionError)
    zero = ["0"] * 3
    # The root is written as a bone that ends where the others begin.
    turned = [*root.get("orientation", zero), *root.get("axis", ["XYZ"])]
    place = {"direction": root.get("position", zero), "length": ["1"], "axis": turned}
    found = {ROOT: {"where": [f"{path}, :root"], "dof": root.get("order", []), **place}}
    for bone in bones:
        name, (where,) = " ".join(bone.get("name", [])), bone["where"]
        if not name or name in found:
            raise MotionError(f"{where}: a bone without a name, or a second {quote(name)}; names must differ")
        found[name] = bone
    return units, found, above


def _read_numbers(words: Sequence[str], count: int, where: str) -> list[float]:
    """Read so many finite numbers."""
    numbers = [number for number in map(parse_finite_number, words) if number is not None]
    if not len(numbers) == len(words) == count or max(map(abs, numbers)) > LARGEST_NUMBER:
        raise MotionError(f"{where}: {quote(' '.join(words))}; it must be {count} finite number(s)")
    return numbers


def parse_frames(path: Path, skeleton: Skeleton, slips: Slips) -> tuple[Array, float | None, bool]:
    """Read the frames of an AMC file.

    `slips`: takes what was left out. Returns numbers (T, C) of the channels of one bone after the other, zero
    where the file has none; the rate that the file says, Hz; and whether angles are in degrees.
    """
    rate, degrees = None, skeleton.degrees
    columns, width = {}, 0
    for name, channels in zip(skeleton.names, skeleton.channels, strict=True):
        columns[name] = slice(width, width + len(channels))
        width += len(channels)
    frames: list[Array] = []
    # The bones that each frame names.
    named: list[list[str]] = []
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        keyword, *rest = line.partition("#")[0].split() or [""]
        if keyword.lower() == ":samples-per-second":
            (rate,) = _read_numbers(rest, 1, where)
        elif keyword.lower() in (":degrees", ":radians"):
            degrees = keyword.lower() == ":degrees"
        elif keyword.isdigit() and not rest:
            frames.append(np.zeros(width))
            named.append([])
            require_at_most(len(frames) * len(columns), MOST_POSES, f"{path}: poses", MotionError)
        elif keyword and keyword[0] != ":":
            if not frames or keyword not in columns or keyword in named[-1]:
                why = "twice in a frame" if frames and keyword in columns else "no bone of the skeleton"
                why = why if frames else "before the first frame's number"
                raise MotionError(f"{where}: {quote(keyword)} is {why}")
            at = columns[keyword]
            frames[-1][at] = _read_numbers(rest, at.stop - at.start, f"{where}, {keyword}")
            named[-1].append(keyword)
    if len(frames) > 1 and len(named[-1]) < len(named[0]):
        slips.note("the last frame is truncated", "left out")
        frames, named = frames[:-1], named[:-1]
    other = next((k for k, bones in enumerate(named) if {*bones} != {*named[0]}), None)
    if other is not None:
        raise MotionError(f"{path}: frame {other + 1} has other bones than the first; all must have the same")
    if not frames or not named[0]:
        raise MotionError(f"{path}: no frames with angles; it is truncated or no AMC file")
    still = [name for name, at in columns.items() if at.stop > at.start and name not in named[0]]
    if still:
        slips.note(f"no angles of {', '.join(map(printable, still[:4]))}", "the skeleton's rest pose is kept")
    if rate is not None and not RATES[0] <= rate <= RATES[1]:
        raise MotionError(f"{path}: {rate:g} samples per second; allowed: {RATES[0]:g} to {RATES[1]:g}")
    return np.array(frames), rate, degrees
