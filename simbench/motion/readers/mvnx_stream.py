"""Parser of MVNX as a stream: what a skeleton needs is kept, the rest of each frame is passed over."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number, require_regular_file
from simbench.kinematics.arrays import Array
from simbench.motion.readers.text_table import quote

# Largest file, bytes: an hour with everything that MVN exports. Read in parts of the second number.
LARGEST_FILE, PART = 20_000_000_000, 1 << 20
# Largest depth of nested elements (MVNX needs seven), most segments of a subject, and most poses that are
# read: an hour of 23 segments at 240 Hz, two gigabytes of poses.
DEEPEST, MOST_SEGMENTS, MOST_POSES = 30, 200, 20_000_000
# Longest text of one element, characters: 200 segments with 4 numbers of 20 digits.
LONGEST_TEXT = 50_000
WANTED_IN_FRAME = {"orientation": 4, "position": 3}


class MvnxContent(NamedTuple):
    """What an MVNX file says about the first person in it."""

    segments: tuple[str, ...]  # Names of the J segments.
    # Dict of str to (3,) array: points of the segments, `SEGMENT/POINT`, in the segment's axes, m.
    points: dict[str, Array]
    # Points that each joint connects: on the segment that carries, and on the one that is carried.
    joints: tuple[tuple[str, str], ...]
    rate: float | None  # Sampling rate, Hz.
    indices: Array  # (T,): numbers of the frames of motion, NaN where a frame has none.
    orientations: Array  # (T, 4 J): quaternions w, x, y, z of the segments in these frames.
    positions: Array  # (T, 3 J): positions of their origins, m; (0, 3 J) if no frame has any.
    tpose: Array | None  # (4 J,) or None: orientations in the T-pose that precedes the motion.
    notes: tuple[str, ...]  # What was left out.


class _NotAllowedError(Exception):
    """Something that XML allows and these files do not need, or that cannot be a frame."""


def parse_mvnx(path: Path) -> MvnxContent:
    """Parse an MVNX file. Returns what it says about the first person."""
    require_regular_file(path, MotionError, LARGEST_FILE)
    handler = _Handler()
    try:
        with path.open("rb") as file:
            for part in iter(lambda: file.read(PART), b""):
                handler.parser.Parse(part, False)
            handler.parser.Parse(b"", True)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    except _NotAllowedError as error:
        raise MotionError(f"{path}, line {handler.parser.CurrentLineNumber}: {error}") from None
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise MotionError(f"{path}: not XML: {error}") from None
    if not handler.is_mvnx:
        raise MotionError(f"{path}: not MVNX, whose outermost element is mvnx")
    return handler.content()


class _Handler:
    """State of the parser: where in the file it is, and what it has found."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_type
        self.is_mvnx = False
        self._open: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._subjects = 0
        self._label = self._point = ""
        self._frame_kind = ""
        self._frame: dict[str, Array] = {}
        self._index: float | None = None
        self._segments: list[str] = []
        self._points: dict[str, Array] = {}
        self._joints: list[list[str]] = []
        self._rate: float | None = None
        self._indices: list[float] = []
        self._values: dict[str, list[Array]] = {name: [] for name in WANTED_IN_FRAME}
        self._static: dict[str, Array] = {}

    def content(self) -> MvnxContent:
        """Return what was found when the whole file has been parsed."""
        count = len(self._segments)
        stacked = {
            name: np.array(self._values[name]).reshape(len(self._values[name]), width * count)
            for name, width in WANTED_IN_FRAME.items()
        }
        notes = [f"poses before the motion left out: {', '.join(self._static)}"] if self._static else []
        if self._subjects > 1:
            notes.append(f"the first of {self._subjects} persons is read")
        joints = tuple((pair[0], pair[1]) for pair in self._joints if len(pair) == 2)
        return MvnxContent(
            tuple(self._segments),
            self._points,
            joints,
            self._rate,
            np.array(self._indices),
            stacked["orientation"],
            stacked["position"],
            self._static.get("tpose"),
            tuple(notes),
        )

    def _refuse_type(self, *_declaration: object) -> None:
        """Refuse entities of the file's own, which could grow without bound."""
        raise _NotAllowedError("a document type declaration is not allowed")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        name = tag.rpartition(":")[2]
        above = self._open[-1] if self._open else ""
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise _NotAllowedError(f"<{name[:40]}> is nested more than {DEEPEST} elements deep")
        if len(self._open) == 1:
            self.is_mvnx = name == "mvnx"
        elif name == "subject":
            self._subjects += 1
            if self._subjects == 1:
                self._rate = parse_finite_number(attributes.get("frameRate", ""))
        elif self._subjects == 1:
            self._start_part(name, above, attributes)

    def _start_part(self, name: str, above: str, attributes: dict[str, str]) -> None:
        """Enter a part of the first person."""
        if name == "segment" and above == "segments":
            self._label = attributes.get("label") or attributes.get("segmentLabel") or ""
            self._segments.append(self._label)
            if len(self._segments) > MOST_SEGMENTS:
                raise _NotAllowedError(f"more than {MOST_SEGMENTS} segments")
        elif name == "point":
            self._point = attributes.get("label", "")
        elif name == "joint" and above == "joints":
            self._joints.append([])
        elif name == "frame":
            self._frame_kind = attributes.get("type", "normal")
            self._frame = {}
            self._index = parse_finite_number(attributes.get("index", ""))
        elif (name in WANTED_IN_FRAME and above == "frame") or name in ("pos_b", "connector1", "connector2"):
            self._text, self._length = [], 0
            self.parser.CharacterDataHandler = self._collect

    def _collect(self, text: str) -> None:
        """Keep the text of an element that is wanted."""
        self._text.append(text)
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            raise _NotAllowedError(f"<{self._open[-1][:40]}> has more than {LONGEST_TEXT} characters")

    def _end(self, tag: str) -> None:
        """Leave an element."""
        del tag
        name = self._open.pop()
        if self._subjects > 1:
            return
        if self.parser.CharacterDataHandler is not None:
            self.parser.CharacterDataHandler = None
            self._keep(name, "".join(self._text))
        elif name == "frame":
            self._end_frame()

    def _keep(self, name: str, text: str) -> None:
        """Keep the content of an element."""
        if name in ("connector1", "connector2"):
            if self._joints:
                self._joints[-1].append(text.strip())
            return
        values = self._numbers(name, text)
        if name in WANTED_IN_FRAME:
            self._frame[name] = values
        elif len(values) == 3:
            self._points[f"{self._label}/{self._point}"] = values

    def _numbers(self, name: str, text: str) -> Array:
        """Read finite numbers between blanks."""
        try:
            values = np.array(text.split(), dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if not np.isfinite(values).all():
            wrong = next(_not_numbers(text), text)
            raise _NotAllowedError(f"<{name}> holds {quote(wrong)}; it must hold finite numbers")
        return values

    def _end_frame(self) -> None:
        """Check and keep a frame."""
        if self._frame_kind != "normal":
            self._static[self._frame_kind[:20]] = self._frame.get("orientation", np.empty(0))
            return
        count = len(self._segments)
        self._indices.append(np.nan if self._index is None else self._index)
        for name, width in WANTED_IN_FRAME.items():
            values, others = self._frame.get(name), self._values[name]
            number = len(self._indices)
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
        if len(self._indices) * count > MOST_POSES:
            raise _NotAllowedError(f"more than {MOST_POSES} poses of segments")


def _not_numbers(text: str) -> Iterator[str]:
    """Words that are no finite numbers."""
    return (word for word in text.split() if parse_finite_number(word) is None)
