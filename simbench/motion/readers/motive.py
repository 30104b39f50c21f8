"""Reader of the CSV files that OptiTrack Motive exports: bones of a skeleton, or markers.

The first line holds names and values of properties (`Format Version,1.23,...,Length Units,Meters,...`),
five or six lines describe the columns (type, name, ID, perhaps parent, rotation or position, axis), and
every further line is a frame: its number, its time, and the numbers; a cell is empty where a marker was not
seen.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import interp1d
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.read_options import UNITS, ReadOptions, resolve_length_unit
from simbench.motion.readers.joint_names import name_joints
from simbench.motion.readers.marker_tables import find_times, quote, read_sparse_numbers, split_row
from simbench.motion.recordings import MarkerRecording, SkeletonRecording, compute_world_poses, find_parent
from simbench.robot.sides import SIDES

# Most lines between the first one and that of the axes.
LONGEST_HEADER = 15
# Markers as they were measured come first, then as the solver placed them, then bones without rotations.
MARKER_TYPES = ("Marker", "Bone Marker", "Rigid Body Marker", "Bone")
KNOWN_TYPES = {"Rigid Body", "Skeleton", *MARKER_TYPES}
ROTATION_TYPES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
# Bones of Motive's own convention by the bone that carries them, parents first.
PARENTS = {
    "Hip": "", "Ab": "Hip", "Chest": "Ab", "Neck": "Chest", "Head": "Neck",
    **{f"{side}{bone}": parent.format(side) for side in "LR" for bone, parent in (
        ("Shoulder", "Chest"), ("UArm", "{}Shoulder"), ("FArm", "{}UArm"), ("Hand", "{}FArm"),
        ("Thigh", "Hip"), ("Shin", "{}Thigh"), ("Foot", "{}Shin"), ("Toe", "{}Foot"))},
}  # fmt: skip
CONVENTIONS = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
NEEDED = ("Hip", "LUArm", "LFArm", "LHand", "RUArm", "RFArm", "RHand")
# A rest pose is a T-pose if legs, trunk and arms are within the angle of this cosine of their axes; its
# axes are those of the file's world if they are nearer to them than the second cosine.
TPOSE_COSINE, AXIS_COSINE = 0.8, 0.96
# Largest variation of a joint's place in the bone before it, m, of rotations that fit the positions.
LOOSE = 0.02
# A quaternion of another length than 1 by more than this is none.
UNIT_LENGTH = 0.02


class _Columns(NamedTuple):
    """Columns of one bone or marker: its type, its name, and its columns by component, as `position x`."""

    kind: str
    name: str
    column: dict[str, int]


def read_motive_csv(
    lines: list[str], source: str, options: ReadOptions
) -> MarkerRecording | SkeletonRecording:
    """Read a CSV file of Motive.

    `source`: name of the recording, for messages; `options`: what the user declares. Returns A skeleton if
    the file has rotations and positions of bones, else markers.
    """
    words = split_row(lines[0], ",")
    properties = {name.lower(): value for name, value in zip(words[::2], words[1::2], strict=False)}
    columns, first = _find_columns(lines, source)
    notes: list[str] = []
    rate = options.fps or parse_finite_number(
        properties.get("export frame rate") or properties.get("capture frame rate") or ""
    )
    unit = "m"
    doubts: tuple[str, ...] = ("unit m assumed: the header has no Length Units (--unit)",)
    written = properties.get("length units", "")
    if written or options.unit is not None:
        unit, doubts = resolve_length_unit(written, options, f"{source}, line 1")[0], ()
    elif options.strict:
        raise MotionError(f"{source}, line 1: no Length Units; declare the unit (--unit)")
    order = properties.get("rotation type", "").strip().upper()
    axes = "xyz" if order in ROTATION_TYPES else "xyzw"
    turned = {f"rotation {axis}" for axis in axes}
    bones = _one_subject(
        [each for each in columns if each.kind == "Bone" and turned <= {*each.column}], notes
    )
    chosen = bones
    if not bones:
        # Labelled markers, each once, as it was measured where the file says it.
        markers = sorted(
            (each for each in columns if each.kind in MARKER_TYPES), key=lambda c: MARKER_TYPES.index(c.kind)
        )
        named = [c for c in markers if not c.name.rpartition(":")[2].lower().startswith("unlabeled")]
        bodies = sorted({each.name for each in columns if each.kind == "Rigid Body"})
        if bodies and {each.kind for each in named} <= {"Rigid Body Marker"}:
            raise MotionError(
                f"{source}: holds rigid bodies ({', '.join(map(quote, bodies))[:100]}), no person's bones or "
                "markers; track a Skeleton in Motive and export its bones, or BVH"
            )
        if len(named) < len(markers):
            notes.append(f"{len(markers) - len(named)} unlabelled points ignored")
        found: dict[str, _Columns] = {}
        for each in named:
            found.setdefault(each.name, each)
        chosen = _one_subject(list(found.values()), notes)
    if not chosen:
        kinds = ", ".join(sorted({each.kind for each in columns})) or "nothing"
        raise MotionError(f"{source}: neither bones nor labelled markers of a person, but {kinds}")
    used = [0, 1, *sorted({k for each in chosen for k in each.column.values()})]
    table = read_sparse_numbers(lines, first, used, source)
    if not len(table):
        raise MotionError(f"{source}: no frames follow the header")
    # Where the column of times is empty, they follow from the numbers of the frames.
    raw = np.asarray(table[:, 1])
    if rate is not None and not np.isfinite(raw).all():
        raw = np.asarray(table[:, 0] / rate)
    time = find_times(raw, rate, source)
    place = {column: k for k, column in enumerate(used)}
    names = tuple(each.name.rpartition(":")[2] for each in chosen)

    def component(kind: str, axes: str) -> Array:
        return np.stack([table[:, [place[c.column[f"{kind} {a}"]] for a in axes]] for c in chosen], axis=1)

    positions = component("position", "xyz")
    if not bones:
        names, positions = name_joints(names) if chosen[0].kind == "Bone" else names, UNITS[unit] * positions
        return MarkerRecording(
            time, names, positions, source, options.up, unit, notes=tuple(notes), doubts=doubts
        )
    local = properties.get("coordinate space", "").strip().lower() == "local"
    tracks = _BoneTracks(
        time, names, positions, component("rotation", axes), order if axes == "xyz" else "", local
    )
    return tracks.build_skeleton(unit, tuple(notes), doubts, source, options)


def _find_columns(lines: list[str], source: str) -> tuple[list[_Columns], int]:
    """Find the columns of each bone and marker that has a position, and the index of the first frame."""
    axis_line = None
    for k, line in enumerate(lines[1:LONGEST_HEADER], start=1):
        words = [word.lower() for word in split_row(line, ",")[:2]]
        if len(words) == 2 and words[0] == "frame" and words[1].startswith("time"):
            axis_line = k
            break
    if axis_line is None:
        raise MotionError(f"{source}: no line that begins with Frame,Time (Seconds) in the header of Motive")
    rows = [row for row in (split_row(line, ",") for line in lines[1:axis_line]) if any(row)]
    types = next((row for row in rows if KNOWN_TYPES & set(row)), None)
    if types is None or rows.index(types) + 2 > len(rows) - 1:
        raise MotionError(
            f"{source}: the lines of types, names and components of Motive's header are not all there"
        )
    names, components = rows[rows.index(types) + 1], rows[-1]
    # Objects may share a name, unlabelled markers do; the line of IDs tells them apart.
    marks = rows[rows.index(types) + 2] if len(rows) - rows.index(types) > 3 else []
    found: dict[tuple[str, str, str], _Columns] = {}
    for k, axis in enumerate(split_row(lines[axis_line], ",")[2:], start=2):
        kind, name, component, mark = (
            row[k] if k < len(row) else "" for row in (types, names, components, marks)
        )
        if component.lower() not in ("position", "rotation") or axis.lower() not in (*"xyzw",) or not name:
            continue
        each = found.setdefault((kind, name, mark), _Columns(kind, name, {}))
        each.column[f"{component.lower()} {axis.lower()}"] = k
    placed = [each for each in found.values() if all(f"position {axis}" in each.column for axis in "xyz")]
    return placed, axis_line + 1


def _one_subject(columns: list[_Columns], notes: list[str]) -> list[_Columns]:
    """Keep the bones or markers of the subject that has most of them; note the others."""
    subjects: dict[str, list[_Columns]] = {}
    for each in columns:
        subjects.setdefault(each.name.rpartition(":")[0], []).append(each)
    if len(subjects) < 2:
        return columns
    best = max(subjects, key=lambda name: len(subjects[name]))
    others = ", ".join(repr(name[:40]) for name in list(subjects)[:6] if name != best)
    notes.append(f"subject {best[:40]!r} is read; left out: {others}")
    return subjects[best]


class _BoneTracks(NamedTuple):
    """Poses of bones as the file has them."""

    time: Array  # (T,): times of the frames, s.
    names: tuple[str, ...]  # Names of the J bones in the file.
    positions: Array  # (T, J, 3): positions of their origins, in the file's unit; NaN where there is none.
    # (T, J, 4) or (T, J, 3) array: quaternions x, y, z, w, or Euler angles about x, y and z in degrees.
    angles: Array
    order: str  # Order of the Euler angles, such as `XYZ`; empty for quaternions.
    local: bool  # Whether positions and rotations are in the axes of the bone before.

    def build_skeleton(
        self, unit: str, notes: tuple[str, ...], doubts: tuple[str, ...], source: str, options: ReadOptions
    ) -> MarkerRecording | SkeletonRecording:
        """Build the recording of a skeleton whose axes in its T-pose are x left, y up, z forward.

        `unit`: unit of length, a key of `UNITS`. Returns the bones by Motive's own names; as points without
        rotations if the bones' axes are not those of a T-pose.
        """
        names = self.motive_names()
        kept = [names.index(name) for name in PARENTS if name in names]
        names = tuple(names[k] for k in kept)
        missing = [name for name in NEEDED if name not in names]
        if any(name[0] == "L" for name in missing) and any(name[0] == "R" for name in missing):
            raise MotionError(f"{source}: no complete arm: the skeleton lacks {', '.join(missing)}")
        parents = np.array([find_parent(name, names, PARENTS) for name in names])
        whole, filled = self.whole_frames(kept, source, options.longest_gap)
        positions = self.positions[whole][:, kept]
        best = None
        # An order of Euler angles may mean turns about the turned axes, or about those at rest.
        for order in (self.order, self.order.lower()) if self.order else ("",):
            rotations = self.rotation_matrices(whole, kept, order, source)
            poses = (
                compute_world_poses(parents, positions, rotations) if self.local else (positions, rotations)
            )
            # Offsets of the bones from the ones before at rest, and their variation.
            offsets, looseness = np.zeros((len(parents), 3)), 0.0
            for joint, parent in enumerate(parents):
                if parent >= 0:
                    apart = poses[0][:, joint] - poses[0][:, parent]
                    away = np.einsum("tji,tj->ti", poses[1][:, parent], apart)
                    offsets[joint] = np.median(away, axis=0)
                    looseness = max(looseness, float(np.linalg.norm(away.std(axis=0))))
            if best is None or looseness < best[0]:
                best = looseness, offsets, poses
        assert best is not None
        looseness, offsets, (positions, rotations) = best
        time = self.time[whole[0] : whole[-1] + 1]
        if len(time) > len(whole):
            known = self.time[whole]
            positions = interp1d(known, positions, axis=0)(time)
            turns = (Slerp(known, Rotation.from_matrix(each))(time) for each in rotations.swapaxes(0, 1))
            rotations = np.stack([turn.as_matrix() for turn in turns], axis=1)
        time = time - time[0]
        further = len(self.names) - len(kept)
        notes += filled + ((f"{further} further bones ignored",) if further else ())
        axes = _rest_axes(names, offsets)
        if axes is None or looseness * UNITS[unit] > LOOSE:
            reason = (
                "the axes of its bones are not those of a T-pose"
                if axes is None
                else "its rotations do not fit"
            )
            doubts = (*doubts, f"only the positions of the skeleton are used: {reason}")
            points, positions = name_joints(tuple(self.names[k] for k in kept)), UNITS[unit] * positions
            return MarkerRecording(
                time, points, positions, source, options.up, unit, notes=notes, doubts=doubts
            )
        # The axis of the file that is up in the T-pose, if it is one.
        highest = int(np.abs(axes[:, 1]).argmax())
        up = options.up or ("xyz"[highest] if axes[highest, 1] > AXIS_COSINE else None)
        offsets, rotations = offsets @ axes, rotations @ axes
        return SkeletonRecording(
            time, names, parents, offsets, positions, rotations, source, unit, up, notes=notes, doubts=doubts
        )

    def whole_frames(
        self, kept: list[int], source: str, longest: float
    ) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Find the frames that show all bones, between which are only short gaps; and notes."""
        values = np.concatenate([self.positions[:, kept], self.angles[:, kept]], axis=2)
        seen = np.asarray(np.isfinite(values).all(axis=2))
        whole = np.flatnonzero(seen.all(axis=1))
        if len(whole) < 2:
            bone = self.names[kept[int(seen.sum(axis=0).argmin())]]
            raise MotionError(f"{source}: fewer than 2 frames show all bones; {bone[:40]} is seen least")
        time = self.time[whole]
        interval = (self.time[-1] - self.time[0]) / (len(self.time) - 1)
        gap = int(np.diff(time).argmax())
        lasts = time[gap + 1] - time[gap] - interval
        if lasts > longest * (1 + 1e-6):
            k = whole[gap] + 1
            bone = self.names[kept[int(np.argmin(seen[k]))]]
            raise MotionError(
                f"{source}: bone {bone[:40]} is not seen from frame {k} ({self.time[k]:.3f} s) on for "
                f"{lasts:.3g} s; gaps up to {longest:g} s are filled"
            )
        lost = int(whole[-1] - whole[0] + 1 - len(whole))
        cut = len(self.time) - lost - len(whole)
        notes = [f"{lost} frames in which a bone is not seen interpolated"] if lost else []
        if cut:
            notes.append(f"cut, because not every bone is seen there: {cut} frames at the ends")
        return whole, tuple(notes)

    def motive_names(self) -> tuple[str, ...]:
        """Write bones' names in Motive's own convention, where the file has another one."""
        best = self.names
        for convention in CONVENTIONS:
            known = {}
            for pair in convention.items():
                for side in SIDES:
                    name, bone = (
                        text.replace("{Side}", side.capitalize())
                        .replace("{S}", side[0].upper())
                        .replace("{s}", side[0])
                        for text in pair
                    )
                    known[name] = bone
            written = tuple(known.get(name, f"{name} ") for name in self.names)
            if len(set(written) & set(PARENTS)) > len(set(best) & set(PARENTS)):
                best = written
        return best

    def rotation_matrices(self, whole: NDArray[np.int64], kept: list[int], order: str, source: str) -> Array:
        """Compute rotations (T, J, 3, 3) of some bones in some frames, for an order of Euler angles."""
        angles = self.angles[whole][:, kept]
        flat = angles.reshape(-1, angles.shape[2])
        if order:
            flat = flat[:, ["XYZ".index(axis) for axis in order.upper()]]
            turns = Rotation.from_euler(order, flat, degrees=True)
        else:
            # Squares of larger numbers may overflow.
            length = np.linalg.norm(np.clip(flat, -1e6, 1e6), axis=1)
            wrong = np.flatnonzero(np.abs(length - 1.0) > UNIT_LENGTH)
            if wrong.size:
                raise MotionError(
                    f"{source}: a quaternion of length {length[wrong[0]]:.4g}; it must be 1 to "
                    f"{UNIT_LENGTH:g}"
                )
            turns = Rotation.from_quat(flat)
        return np.asarray(turns.as_matrix().reshape(*angles.shape[:2], 3, 3))


def _rest_axes(names: tuple[str, ...], offsets: Array) -> Array | None:
    """Axes left, up, forward (columns) of a T-pose at rest; None if the rest pose is none."""
    at = dict(zip(names, offsets, strict=True))
    legs = [at[bone] for bone in ("LShin", "LFoot", "RShin", "RFoot") if bone in at]
    trunk = [at[bone] for bone in ("Ab", "Chest", "Neck") if bone in at]
    if not legs and not trunk:
        return None
    up = normalise(sum(trunk, np.zeros(3)) - sum(legs, np.zeros(3)))
    arms = [
        (sign, at[f"{side}{bone}"])
        for side, sign in (("L", 1.0), ("R", -1.0))
        for bone in ("FArm", "Hand")
        if f"{side}{bone}" in at
    ]
    left = sum((sign * bone for sign, bone in arms), np.zeros(3))
    if np.linalg.norm(np.cross(left, up)) < 1e-6:
        return None
    left = normalise(left - up * (left @ up))
    upright = all(-normalise(leg) @ up > TPOSE_COSINE for leg in legs)
    spread = all(sign * normalise(bone) @ left > TPOSE_COSINE for sign, bone in arms)
    if not upright or not spread:
        return None
    axes = np.stack([left, up, np.cross(left, up)], axis=1)
    nearest = np.round(axes)
    # The axes of the world are exact, those of the limbs depend on the person's build.
    is_near = np.linalg.det(nearest) == 1.0 and (axes * nearest).sum(axis=0).min() > AXIS_COSINE
    return np.asarray(nearest if is_near else axes)
