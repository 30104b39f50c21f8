"""Reader of MVNX, the XML format in which Xsens MVN exports the segments of a person.

A frame holds the orientation of every segment, w x y z, and the position of its origin, the proximal joint,
in m, z up; all orientations are the identity while the person stands in T-pose facing x. The file is parsed
as a stream: sensors, velocities and joint angles, most of its bytes, are passed over.
"""

from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number, require_regular_file
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.marker_tables import LARGEST_NUMBER, quote
from simbench.motion.recordings import SkeletonRecording, compute_world_poses, find_parent
from simbench.system.limits import RATES

# Segments by the one that carries them; each begins at the joint between the two.
PARENTS = {
    "L5": "Pelvis", "L3": "L5", "T12": "L3", "T8": "T12", "Neck": "T8", "Head": "Neck",
    **{f"{side}{segment}": parent.format(side) for side in ("Right", "Left") for segment, parent in (
        ("Shoulder", "T8"), ("UpperArm", "{}Shoulder"), ("ForeArm", "{}UpperArm"), ("Hand", "{}ForeArm"),
        ("UpperLeg", "Pelvis"), ("LowerLeg", "{}UpperLeg"), ("Foot", "{}LowerLeg"), ("Toe", "{}Foot"))},
}  # fmt: skip
ORDER = {name: k for k, name in enumerate(("Pelvis", *PARENTS))}
# A quaternion of another length than 1 by more than this is none; MVN writes six digits.
UNIT_LENGTH = 0.02
# Angle between a segment and the axes of the world in the T-pose of the file above which it is told, rad.
TPOSE_ANGLE = 0.35
# Largest file, bytes: an hour with everything that MVN exports. Read in parts of the second number.
LARGEST_FILE, PART = 20_000_000_000, 1 << 20
# Largest depth of nested elements (MVNX needs seven), most segments of a subject, and most poses that are
# read: an hour of 23 segments at 240 Hz, two gigabytes of poses.
DEEPEST, MOST_SEGMENTS, MOST_POSES = 30, 200, 20_000_000
# Longest text of one element, characters: 200 segments with 4 numbers of 20 digits.
LONGEST_TEXT = 50_000
WANTED_IN_FRAME = {"orientation": 4, "position": 3}


def read_mvnx(path: Path, options: ReadOptions) -> SkeletonRecording:
    """Read an MVNX file of version 3 or 4.

    `options`: what the user declares; the format itself says unit (m) and vertical axis (z), and the file its
    rate. Returns one joint for each segment, at its origin. Frames of the poses `identity`, `tpose`, `npose`
    are no motion: they are left out.
    """
    source = str(path)
    content = _Stream(path)
    if not content.segments or not content.values["orientation"]:
        missing = "orientations of segments in its frames" if content.segments else "segments"
        raise MotionError(f"{source}: no {missing}; export segment orientations and positions from MVN")
    if len(set(content.segments)) < len(content.segments):
        raise MotionError(f"{source}: two segments have the same name; names must differ")
    # Props and other additions are no part of the body.
    kept = [k for k, name in enumerate(content.segments) if name in ORDER] or [*range(len(content.segments))]
    kept.sort(key=lambda k: ORDER.get(content.segments[k], k))
    names = tuple(content.segments[k] for k in kept)
    parents = np.array([find_parent(name, names, PARENTS) for name in names])
    orientations = np.array(content.values["orientation"])
    quaternions = orientations.reshape(len(orientations), -1, 4)[:, kept]
    # Squares of larger numbers may overflow.
    length = np.linalg.norm(np.clip(quaternions, -LARGEST_NUMBER, LARGEST_NUMBER), axis=2)
    wrong = np.argwhere(np.abs(length - 1.0) > UNIT_LENGTH)
    if len(wrong):
        frame, segment = wrong[0]
        raise MotionError(
            f"{source}: {names[segment]} in frame {frame + 1}: a quaternion of length "
            f"{length[frame, segment]:.4g}; it must be 1 to {UNIT_LENGTH:g}"
        )
    matrices = Rotation.from_quat(quaternions[..., [1, 2, 3, 0]].reshape(-1, 4)).as_matrix()
    rotations = np.asarray(matrices.reshape(*quaternions.shape[:2], 3, 3))
    positions, offsets, doubts = content.find_positions(kept, parents, rotations, source)
    rate = options.fps or content.rate
    if rate is None:
        raise MotionError(f"{source}: the subject has no frameRate; declare it (--fps)")
    if not RATES[0] <= rate <= RATES[1]:
        allowed = f"{RATES[0]:g} to {RATES[1]:g} Hz, or declare it (--fps)"
        raise MotionError(f"{source}: frameRate is {rate:g}; allowed: {allowed}")
    # The numbers of the frames count where they increase.
    numbers = np.array(content.indices) - content.indices[0]
    lost = numbers[-1] - (len(numbers) - 1)
    if not (np.diff(numbers) > 0).all() or not 0 <= lost <= len(numbers):
        numbers = np.arange(len(numbers), dtype=np.float64)
    # Segments may be turned against the pelvis in the T-pose of the file.
    tpose = content.static.get("tpose", np.empty(0))
    if len(tpose) == 4 * len(content.segments):
        tpose = np.clip(tpose.reshape(-1, 4)[kept][:, [1, 2, 3, 0]], -2.0, 2.0)
        if (np.abs(np.linalg.norm(tpose, axis=1) - 1.0) < UNIT_LENGTH).all():
            turned = Rotation.from_quat(tpose)
            angles = (turned[0].inv() * turned).magnitude()
            worst = int(angles.argmax())
            if angles[worst] > TPOSE_ANGLE:
                degrees = np.rad2deg(angles[worst])
                doubts += (f"{names[worst]} is turned by {degrees:.0f} degrees in the file's own T-pose",)
    notes = [f"poses before the motion left out: {', '.join(content.static)}"] if content.static else []
    if content.subjects > 1:
        notes.append(f"the first of {content.subjects} persons is read")
    if len(content.segments) > len(kept):
        notes.append(f"{len(content.segments) - len(kept)} further segments ignored")
    time, unit, up = np.asarray(numbers / rate), options.unit or "m", options.up or "z"
    bodies = parents, offsets, positions, rotations
    return SkeletonRecording(time, names, *bodies, source, unit, up, notes=tuple(notes), doubts=doubts)


class _NotAllowedError(Exception):
    """Something that XML allows and these files do not need, or that cannot be a frame."""


class _Stream:
    """What an MVNX file says about the first person in it: what a skeleton needs of the J segments."""

    def __init__(self, path: Path) -> None:
        self.segments: list[str] = []
        # Points of the segments, `SEGMENT/POINT`, in the segment's axes (3,), m.
        self.points: dict[str, Array] = {}
        # Points that each joint connects: on the segment that carries, and on the one that is carried.
        self.joints: list[list[str]] = []
        self.rate: float | None = None
        self.subjects = 0
        # Numbers of the frames of motion, NaN where a frame has none.
        self.indices: list[float] = []
        # Quaternions w, x, y, z (4 J,) and positions (3 J,) of the segments, m, in these frames; and the
        # quaternions in the poses that precede the motion.
        self.values: dict[str, list[Array]] = {name: [] for name in WANTED_IN_FRAME}
        self.static: dict[str, Array] = {}
        self._is_mvnx = False
        self._open: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._label = self._point = self._frame_kind = ""
        self._frame: dict[str, Array] = {}
        self._index: float | None = None
        require_regular_file(path, MotionError, LARGEST_FILE)
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse_type
        try:
            with path.open("rb") as file:
                for part in iter(lambda: file.read(PART), b""):
                    parser.Parse(part, False)
                parser.Parse(b"", True)
        except OSError as error:
            raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
        except _NotAllowedError as error:
            raise MotionError(f"{path}, line {parser.CurrentLineNumber}: {error}") from None
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise MotionError(f"{path}: not XML: {error}") from None
        if not self._is_mvnx:
            raise MotionError(f"{path}: not MVNX, whose outermost element is mvnx")

    def refuse_type(self, *_declaration: object) -> None:
        """Refuse entities of the file's own, which could grow without bound."""
        raise _NotAllowedError("a document type declaration is not allowed")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        name = tag.rpartition(":")[2]
        above = self._open[-1] if self._open else ""
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise _NotAllowedError(f"<{name[:40]}> is nested more than {DEEPEST} elements deep")
        if len(self._open) == 1:
            self._is_mvnx = name == "mvnx"
        elif name == "subject":
            self.subjects += 1
            if self.subjects == 1:
                self.rate = parse_finite_number(attributes.get("frameRate", ""))
        elif self.subjects == 1:
            self.start_part(name, above, attributes)

    def start_part(self, name: str, above: str, attributes: dict[str, str]) -> None:
        """Enter a part of the first person."""
        if name == "segment" and above == "segments":
            self._label = attributes.get("label") or attributes.get("segmentLabel") or ""
            self.segments.append(self._label)
            if len(self.segments) > MOST_SEGMENTS:
                raise _NotAllowedError(f"more than {MOST_SEGMENTS} segments")
        elif name == "point":
            self._point = attributes.get("label", "")
        elif name == "joint" and above == "joints":
            self.joints.append([])
        elif name == "frame":
            self._frame_kind = attributes.get("type", "normal")
            self._frame = {}
            self._index = parse_finite_number(attributes.get("index", ""))
        elif (name in WANTED_IN_FRAME and above == "frame") or name in ("pos_b", "connector1", "connector2"):
            self._text, self._length = [], 0
            self._parser.CharacterDataHandler = self.collect

    def collect(self, text: str) -> None:
        """Keep the text of an element that is wanted."""
        self._text.append(text)
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            raise _NotAllowedError(f"<{self._open[-1][:40]}> has more than {LONGEST_TEXT} characters")

    def end(self, tag: str) -> None:
        """Leave an element, and keep what it holds."""
        del tag
        name = self._open.pop()
        if self.subjects > 1:
            return
        if self._parser.CharacterDataHandler is None:
            if name == "frame":
                self.end_frame()
            return
        self._parser.CharacterDataHandler = None
        text = "".join(self._text)
        if name in ("connector1", "connector2"):
            if self.joints:
                self.joints[-1].append(text.strip())
            return
        try:
            values = np.array(text.split(), dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if not np.isfinite(values).all():
            wrong = next((word for word in text.split() if parse_finite_number(word) is None), text)
            raise _NotAllowedError(f"<{name}> holds {quote(wrong)}; it must hold finite numbers")
        if name in WANTED_IN_FRAME:
            self._frame[name] = values
        elif len(values) == 3:
            self.points[f"{self._label}/{self._point}"] = values

    def end_frame(self) -> None:
        """Check and keep a frame."""
        if self._frame_kind != "normal":
            self.static[self._frame_kind[:20]] = self._frame.get("orientation", np.empty(0))
            return
        count = len(self.segments)
        self.indices.append(np.nan if self._index is None else self._index)
        for name, width in WANTED_IN_FRAME.items():
            values, others = self._frame.get(name), self.values[name]
            number = len(self.indices)
            if values is None:
                if others or name == "orientation":
                    raise _NotAllowedError(f"frame {number} has no <{name}>")
                continue
            if len(others) != number - 1:
                raise _NotAllowedError(f"frame {number} is the first that has <{name}>; all frames need it")
            if len(values) != width * count:
                raise _NotAllowedError(
                    f"frame {number}: <{name}> has {len(values)} numbers, not {width * count}"
                )
            others.append(values)
        if len(self.indices) * count > MOST_POSES:
            raise _NotAllowedError(f"more than {MOST_POSES} poses of segments")

    def find_positions(
        self, kept: list[int], parents: NDArray[np.int64], rotations: Array, source: str
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Positions (T, J, 3) of the segments' origins, offsets (J, 3) from their parents, m, and doubts."""
        names = [self.segments[k] for k in kept]
        offsets = np.zeros((len(kept), 3))
        if self.values["position"]:
            positions = np.array(self.values["position"])
            positions = positions.reshape(len(positions), -1, 3)[:, kept]
            if np.abs(positions).max() > LARGEST_NUMBER:
                raise MotionError(f"{source}: positions beyond {LARGEST_NUMBER:g} m; no person is there")
            for joint, parent in enumerate(parents):
                if parent < 0:
                    offsets[joint] = positions[0, joint]
                    continue
                away = positions[:, joint] - positions[:, parent]
                offsets[joint] = np.mean(np.einsum("tji,tj->ti", rotations[:, parent], away), axis=0)
            return positions, offsets, ()
        ends = {
            (pair[0].partition("/")[0], pair[1].partition("/")[0]): pair
            for pair in self.joints
            if len(pair) == 2
        }
        local = rotations.copy()
        for joint, parent in enumerate(parents):
            if parent < 0:
                continue
            one, other = ends.get((names[parent], names[joint]), ("", ""))
            if one not in self.points or other not in self.points:
                raise MotionError(
                    f"{source}: no positions of segments, and no points from which that of {names[joint]} "
                    "follows; export segment positions from MVN"
                )
            offsets[joint] = self.points[one] - self.points[other]
            local[:, joint] = rotations[:, parent].transpose(0, 2, 1) @ rotations[:, joint]
        positions, _ = compute_world_poses(parents, np.tile(offsets, (len(rotations), 1, 1)), local)
        doubt = "the file has no positions: they follow from the segments' lengths, the pelvis stays and "
        doubt += "feet slide"
        return positions, offsets, (doubt,)
