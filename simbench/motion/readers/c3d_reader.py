"""Reader of C3D files, the binary format of motion-capture systems.

Layout and terms are those of the C3D user guide (c3d.org). The same counts stand in the header and in the
parameters, and programs that crop or merge files often change only one of them. Where they disagree, the
layout is taken that fills the file: what is announced last never decides against the data that are there.
Time and memory are proportional to the file's length.

The parser is written here because ezc3d 1.7.2, which the writer uses, refuses files whose ANALOG:OFFSET are
floats (BTS writes them) and those of MIPS machines, and crashes the interpreter or waits without end on
parameters with a wrong type or shape. Where it reads a file, its coordinates are these bit for bit.
"""

import re
from collections.abc import Iterable
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.read_options import AXES, ReadOptions
from simbench.motion.readers.marker_tables import (
    UNLABELLED,
    Slips,
    drop_shared_prefix,
    find_length_unit,
    keep_first_of_each_name,
)
from simbench.motion.recordings import MarkerRecording
from simbench.system.limits import RATES

INTEL, DEC, MIPS = 84, 85, 86
CHARACTERS, BYTES, INTEGERS, FLOATS = -1, 1, 2, 4
BLOCK, KEY = 512, 0x50
# Records in the parameter section: real files have a few hundred.
MAX_RECORDS = 20_000
# Parameters on which the layout depends, and their types.
SCALARS = {
    ("POINT", "USED"): (INTEGERS,),
    ("POINT", "SCALE"): (FLOATS,),
    ("POINT", "RATE"): (FLOATS,),
    ("POINT", "FRAMES"): (INTEGERS, FLOATS),
    ("POINT", "DATA_START"): (INTEGERS,),
    ("ANALOG", "USED"): (INTEGERS,),
    ("ANALOG", "RATE"): (FLOATS,),
}
Parameter = tuple[int, tuple[int, ...], NDArray[np.float64]]
# The counters have 16 bits; longer recordings say their frames elsewhere.
MAX_FRAMES, MAX_POINTS = 65535, 32767
# Parameters that list results of a model that are stored as points and are not positions, and the names of
# such results in files that do not list them.
MODEL_OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
OUTPUT_NAMES = re.compile(r".*[a-z](Angles?|Forces?|Moments?|Powers?|GRF)|CentreOf(Mass|Pressure).*")
# No recorded position exceeds this in any unit: such numbers are not data, and their squares overflow. More
# than this fraction of them means that the layout was misread.
LARGEST_NUMBER, MOST_ABSURD = 1e9, 0.01
# Frames that are decoded at a time.
CHUNK = 20_000


def read_c3d(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the labelled points of a C3D file.

    Unlabelled points, and a model's angles, forces, moments and powers are left out; the notes say how many.
    A residual below zero or a point at exactly 0, 0, 0 means that the marker was not seen. A prefix that all
    names share (`Subject:`) is dropped. The vertical axis is POINT:Y_SCREEN where the file has it. Where
    header, parameters and the length of the file disagree, the data that are there decide. `options`: unit,
    vertical axis, frame rate and strictness that the user declares. Returns the markers in metres; `events`
    from the EVENT group; `details` may hold `actor`, `height` (m), `mass` (kg), `age`, `sex`, `description`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    slips = Slips(str(path), options.strict)
    file = _File(content, slips)
    header = np.frombuffer(content[:BLOCK].ljust(BLOCK, b"\0"), f"{file.order}u2").tolist()
    rate = file.find_rate(options.fps)
    points, frames, start, frame_size, scale = file.find_layout(header, rate)
    # Columns of the markers, and their names.
    labels = (file.texts("POINT", "LABELS") + [""] * points)[:points]
    outputs = {label for group in MODEL_OUTPUTS for label in file.texts("POINT", group) if label}
    modelled = {
        column
        for column, label in enumerate(labels)
        if label in outputs or OUTPUT_NAMES.fullmatch(label.rpartition(":")[2])
    }
    unnamed = [UNLABELLED.fullmatch(label.rpartition(":")[2]) is not None for label in labels]
    unlabelled = set(np.flatnonzero(unnamed).tolist()) - modelled
    columns = [c for c in range(points) if c not in modelled | unlabelled]
    if not columns:
        raise MotionError(f"{path}: none of {points} points has a label; a marker needs a name")
    names, notes = drop_shared_prefix([labels[column] for column in columns])
    if unlabelled:
        notes.append(f"{len(unlabelled)} unlabelled points ignored")
    if modelled:
        notes.append(f"{len(modelled)} model outputs that are not positions ignored")
    width = 2 if scale else 4
    raw = np.frombuffer(content, np.uint8, frames * frame_size, start)
    raw = raw.reshape(frames, frame_size)[:, : points * 4 * width]
    positions = file.read_points(raw, scale, columns)
    seen = (~np.isnan(positions[:, :, 0])).sum(axis=0)
    kept = keep_first_of_each_name(
        names, seen.tolist(), slips, "points {} are all named {}; names must differ"
    )
    if len(kept) < len(names):
        positions, names = positions[:, kept], [names[k] for k in kept]
    written = "".join(file.texts("POINT", "UNITS")[:1])
    unit, metres = find_length_unit(written, options, "POINT:UNITS", slips)
    positions *= metres

    # Events as label and time, s, from the first stored frame on; the file's clock may begin before it.
    events: list[tuple[str, float]] = []
    used = file.values("EVENT", "USED")[:1]
    if used.size and 1 <= used[0] <= 65535:
        count, sides = int(used[0]), file.texts("EVENT", "CONTEXTS")
        event_labels, stored = file.texts("EVENT", "LABELS"), file.parameters.get(("EVENT", "TIMES"))
        # The rows are minutes and seconds; the first dimension varies fastest.
        times = np.zeros((0, 2))
        if stored is not None and len(stored[1]) == 2 and stored[1][0] == 2:
            times = file.values("EVENT", "TIMES").reshape(-1, 2)
        if min(len(event_labels), len(times)) < count or not np.isfinite(times).all():
            held = f"{len(event_labels)} labels and {len(times)} times"
            notes.append(f"{count} events ignored: the file holds {held}")
        else:
            seconds = times[:, 0] * 60.0 + times[:, 1] - (header[3] - 1) / rate
            named = [f"{side} " if side in ("Left", "Right") else "" for side in sides] + [""] * count
            events = [(named[k] + event_labels[k], float(seconds[k])) for k in range(count)]
            events.sort(key=lambda event: event[1])
    # Details of the actor as texts, from SUBJECTS, and from PROCESSING as Vicon writes it.
    details: dict[str, str] = {}
    for key, group, name in (
        ("actor", "SUBJECTS", "NAMES"),
        ("sex", "SUBJECTS", "SEX"),
        ("description", "TRIAL", "DESCRIPTION"),
    ):
        text = "".join(file.texts(group, name)[:1])
        details |= {key: text} if text else {}
    for key, name, factor in (("height", "HEIGHT", 0.001), ("mass", "BODYMASS", 1.0), ("age", "AGE", 1.0)):
        value = file.number("PROCESSING", name)
        if value is not None and value > 0:
            # A float of 32 bits has seven significant digits.
            details[key] = f"{value * factor:.7g}"
    up, screen = options.up, "".join(file.texts("POINT", "Y_SCREEN")[:1])
    if up is None and screen.removeprefix("+").lower() in AXES:
        up = screen.removeprefix("+").lower()
    elif up is None and screen:
        notes.append(f"vertical axis {screen!r} (POINT:Y_SCREEN) not understood")
    return MarkerRecording(
        time=np.arange(frames) / rate,
        names=tuple(names),
        positions=positions,
        source=str(path),
        up=up,
        unit=unit,
        events=tuple(events),
        details=details,
        notes=(*slips.notes, *notes),
        doubts=tuple(slips.doubts),
    )


class _File:
    """Bytes, number format and parameters of a C3D file, of which every record is checked.

    `parameters`: type, dimensions, of which the first one varies fastest, and numbers (N,), or codes of
    characters, by group and name, both in capitals. A record is: length of the name (negative when locked),
    number of the group (negative for the group itself, positive for its parameters), name, offset of the next
    record, contents, length of the description, description. What is malformed is left out.
    """

    def __init__(self, content: bytes, slips: Slips) -> None:
        self.content, self.slips, source = content, slips, slips.source
        if len(content) < 2 or content[1] != KEY or content[0] < 2:
            raise MotionError(
                f"{source}: not a C3D file, whose first bytes are 2 and 80 (found {[*content[:2]]})"
            )
        start = (content[0] - 1) * BLOCK
        if len(content) < start + 4:
            raise MotionError(
                f"{source}: truncated: the parameters begin at byte {start}, the file has {len(content)}"
            )
        self.processor = content[start + 3]
        # Qualisys leaves the first two bytes zero.
        if self.processor not in (INTEL, DEC, MIPS) or content[start : start + 2] not in (b"\1\x50", b"\0\0"):
            slips.doubt(
                f"the parameter section begins with {[*content[start : start + 4]]}; allowed are 1, 80 or 0, "
                f"0, then any, then {INTEL} (Intel), {DEC} (DEC) or {MIPS} (MIPS)",
                "read as usual",
            )
            self.processor = self.processor if self.processor in (INTEL, DEC, MIPS) else INTEL
        self.order = ">" if self.processor == MIPS else "<"
        self.groups: dict[int, str] = {}
        self.found: dict[tuple[int, str], Parameter] = {}
        at: int | None = start + 4
        for _ in range(MAX_RECORDS):
            if at is None or content[at : at + 1] in (b"", b"\0"):
                break
            if not self.is_record(at):
                slips.doubt(
                    f"byte {at}: {content[at + 2 : at + 22]!r} is no parameter; the section is damaged",
                    "the parameters behind it are ignored",
                )
                break
            at = self.read_record(at)
        if at is not None and at >= len(content):
            raise MotionError(
                f"{source}: truncated: the parameters are not complete at byte {len(content)}, the file's end"
            )
        self.parameters = {
            (self.groups[group], name): value
            for (group, name), value in self.found.items()
            if group in self.groups
        }
        for key, kinds in SCALARS.items():
            kind, _, values = self.parameters.get(key, (kinds[0], (), np.zeros(1)))
            if kind not in kinds or not len(values):
                slips.note(
                    f"{':'.join(key)} has type {kind} and {len(values)} values; it must be a number of type "
                    f"{' or '.join(map(str, kinds))}",
                    "its number is taken where it has one",
                )
                if kind == CHARACTERS or not len(values):
                    del self.parameters[key]

    def floats(self, data: bytes) -> NDArray[np.float64]:
        """Decode 32-bit floats.

        Those of DEC machines have swapped halves and an exponent bias greater by two, those of MIPS machines
        have the most significant byte first.
        """
        # Arbitrary bits may be a signalling NaN, whose conversion gives a warning.
        with np.errstate(invalid="ignore"):
            if self.processor == DEC:
                words = np.frombuffer(data, dtype="<u2").reshape(-1, 2)[:, ::-1]
                return np.frombuffer(words.tobytes(), dtype="<f4").astype(np.float64) / 4
            return np.frombuffer(data, f"{self.order}f4").astype(np.float64)

    def values(self, group: str, name: str) -> NDArray[np.float64]:
        """Return the numbers (N,) of a parameter; none if it is missing or a text."""
        found = self.parameters.get((group, name))
        return np.empty(0) if found is None or found[0] == CHARACTERS else found[2]

    def number(self, group: str, name: str) -> float | None:
        """Return the first number of a parameter, None if there is none that is finite."""
        values = self.values(group, name)[:1]
        return float(values[0]) if values.size and np.isfinite(values[0]) else None

    def texts(self, group: str, name: str) -> list[str]:
        """Return the texts of a parameter and of its continuations (`LABELS2`, ...), without padding.

        They are in UTF-8 or the code of Western Windows.
        """
        texts: list[str] = []
        number = 1
        while (found := self.parameters.get((group, name if number == 1 else f"{name}{number}"))) is not None:
            kind, shape, values = found
            if kind != CHARACTERS:
                break
            data = values.astype(np.uint8).tobytes()
            for k in range(0, len(data), shape[0] or 1):
                piece = data[k : k + shape[0]]
                try:
                    text = piece.decode("utf-8")
                except UnicodeDecodeError:
                    text = piece.decode("latin-1")
                texts.append(text.strip().strip("\0").strip())
            number += 1
        return texts

    def is_record(self, at: int) -> bool:
        """Tell whether a record can begin at a byte: the section's end, or a name of printable characters."""
        head = self.content[at : at + 2]
        if head[:1] == b"\0":
            return True
        if len(head) < 2 or head[1] == 0:
            return False
        length = abs(int.from_bytes(head[:1], "little", signed=True))
        name = self.content[at + 2 : at + 2 + length].decode("latin-1")
        return len(name) == length and name.isascii() and name.isprintable() and name == name.strip()

    def read_record(self, begin: int) -> int | None:
        """Read one record; return the next one's first byte, or None if it is the last."""
        content, slips = self.content, self.slips
        length = abs(int.from_bytes(content[begin : begin + 1], "little", signed=True))
        group = int.from_bytes(content[begin + 1 : begin + 2], "little", signed=True)
        counted = begin + 2 + length
        name = content[begin + 2 : counted].decode("latin-1").upper()
        if counted + 2 > len(content):
            return len(content)
        offset = int(np.frombuffer(content[counted : counted + 2], f"{self.order}u2")[0])
        at = counted + 2
        if group > 0:
            # A parameter: its type, number of dimensions, dimensions, values.
            twice = (group, name) in self.found
            kind = int.from_bytes(content[at : at + 1], "little", signed=True)
            count = content[at + 1] if at + 2 <= len(content) else 0
            shape = tuple(content[at + 2 : at + 2 + count])
            begins = end = at + 2 + count
            ends = begins + prod(shape) * abs(kind)
            # The other dimensions of an empty array may be anything.
            bad_shape = len(shape) < count or len(shape) > 7 or prod(max(n, 1) for n in shape) > 1 << 16
            kinds, problem = (CHARACTERS, BYTES, INTEGERS, FLOATS), ""
            if at + 2 > len(content):
                end, problem = len(content), "no type"
            elif kind not in kinds or bad_shape or (kind == CHARACTERS and not shape):
                problem = f"type {kind} and dimensions {shape}; allowed are types "
                problem += f"{', '.join(map(str, kinds))}, and at most 7 dimensions of 65536 values in all"
            elif ends > len(content):
                problem = f"{ends - begins} bytes of values beyond the end of the file; it is truncated"
                end = len(content)
            else:
                data, end = content[begins:ends], ends
                if kind == FLOATS:
                    values = self.floats(data)
                else:
                    coded = f"{self.order}u2" if kind == INTEGERS else np.uint8
                    values = np.frombuffer(data, coded).astype(np.float64)
                if not twice:
                    self.found[group, name] = kind, shape, values
            if problem:
                if end >= len(content) and counted + offset >= len(content):
                    return len(content)
                slips.doubt(f"parameter {name} has {problem}", "it is ignored")
        else:
            twice = -group in self.groups or name in self.groups.values()
            self.groups.setdefault(-group, name)
            end = at
        if twice:
            slips.doubt(f"byte {begin}: {name} is there twice; names must differ", "the first is taken")
        # Behind the contents is the description, and its length.
        end += 1 + (content[end] if end < len(content) else 0)
        if offset == 0:
            return None
        if counted + offset != end:
            what = f"byte {begin}: {name} should end at byte {counted + offset} and ends at {end}; the "
            what += "parameter section is damaged"
            if offset >= 2 and counted + offset < len(content) and self.is_record(counted + offset):
                end = counted + offset
                slips.note(what, "the next one was found where it is announced")
            else:
                slips.doubt(what, "read on behind its contents")
        return end

    def find_rate(self, fps: float | None) -> float:
        """Frame rate, Hz: the user's, the parameters', the header's."""
        in_header = float(self.floats(self.content[20:24].ljust(4, b"\0"))[0])
        in_parameters = self.values("POINT", "RATE")[:1]
        written = float(in_parameters[0]) if in_parameters.size else in_header
        low, high = RATES
        usable = [rate for rate in (written, in_header) if np.isfinite(rate) and low <= rate <= high]
        if not (np.isfinite(written) and written > 0 and abs(in_header - written) <= 0.01 * written):
            what = (
                f"the frame rate is {in_header:g} Hz by the header and {written:g} Hz by the parameters; "
                "they must be one positive number"
            )
            if fps is None and not usable:
                raise MotionError(f"{self.slips.source}: {what}; declare it (--fps)")
            if fps is None:
                (self.slips.doubt if len(usable) == 2 else self.slips.note)(what, f"{usable[0]:g} Hz taken")
        if fps is None and not usable:
            raise MotionError(f"{self.slips.source}: the frame rate is {written:g} Hz; declare it (--fps)")
        return usable[0] if fps is None else fps

    def read_announced(
        self, header: list[int], rate: float
    ) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
        """Read what header and parameters say, in the order in which it is believed.

        Returns first bytes of the data, numbers of points, of analog samples in a frame, bytes of a
        coordinate, and numbers of frames; disagreements are slips.
        """
        content = self.content
        used_points = self.number("POINT", "USED")
        told_frames = self.number("POINT", "FRAMES")
        for what, in_header, number in (
            ("points", header[1], used_points),
            ("frames", header[4] - header[3] + 1, told_frames),
            ("the first block of data", header[8], self.number("POINT", "DATA_START")),
        ):
            long = what == "frames" and MAX_FRAMES in (in_header, number)
            if number is not None and number != in_header and not long:
                self.slips.note(
                    f"{what}: {in_header} by the header, {number:g} by the parameters",
                    "the data in the file decide",
                )
            elif number is None and what == "points":
                self.slips.note("points: not in the parameters (POINT:USED)", "the header's count is taken")
        field = [self.values("TRIAL", f"ACTUAL_{end}_FIELD") for end in ("START", "END")]
        trial = None
        if all(len(value) >= 2 for value in field):
            # Low and high word of a number of 32 bits.
            first, last = (value[0] + 65536.0 * value[1] for value in field)
            trial = last - first + 1
        used = self.number("ANALOG", "USED")
        ratio = int((self.number("ANALOG", "RATE") or 0.0) / rate)
        samples = [header[2], None if used is None else used * max(header[9], 1), (used or 0) * ratio]
        if not used and ("ANALOG", "USED") in self.parameters:
            # Without channels nothing lies between the points, whatever the header says.
            samples = [0, header[2]]
        in_header_scale = float(self.floats(content[12:16].ljust(4, b"\0"))[0])
        scales = [*self.values("POINT", "SCALE")[:1].tolist(), in_header_scale]
        valid = [scale for scale in scales if np.isfinite(scale) and scale != 0.0]
        if len(valid) < len(scales) or (len(valid) == 2 and (valid[0] < 0) != (valid[1] < 0)):
            self.slips.note(
                f"the scales of points by the header and the parameters are {scales}; all must be negative "
                "(coordinates are floats) or positive (integers)",
                "the data in the file decide",
            )
        widths = list(dict.fromkeys([*(4 if scale < 0 else 2 for scale in valid), 4, 2]))
        counted = _counts((header[1], used_points), MAX_POINTS)
        if len(counted) == 2 or (not counted and used_points is None):
            counted = _counts((*counted, len(self.texts("POINT", "LABELS"))), MAX_POINTS)
        behind = (content[0] - 1 + content[(content[0] - 1) * BLOCK + 2]) * BLOCK
        blocks = _counts((header[8], self.number("POINT", "DATA_START")), 65535)
        starts = list(dict.fromkeys([*((block - 1) * BLOCK for block in blocks if block >= 2), behind]))
        announced = _counts(
            (
                trial if MAX_FRAMES in (header[4], told_frames) else None,
                self.number("POINT", "LONG_FRAMES"),
                header[4] - header[3] + 1,
                told_frames,
                trial,
            ),
            2**31,
        )
        sizes = list(dict.fromkeys(int(n) for n in (*samples, 0) if n is not None and n >= 0))
        if not announced or not counted:
            raise MotionError(
                f"{self.slips.source}: {max(counted, default=0)} points in {max(announced, default=0)} "
                f"frames; there must be 1 to {MAX_POINTS} points and at least 1 frame"
            )
        return starts, counted, sizes, widths, announced

    def find_layout(self, header: list[int], rate: float) -> tuple[int, int, int, int, float]:
        """Find where the points lie: the first of the layouts that are announced that fills the file.

        Returns the number of points in a frame; of whole frames in the file; the first byte of the first
        frame; the bytes of a frame, its points and then its analog samples; and the units of length per count
        of integer coordinates, 0 if coordinates are floats.
        """
        content = self.content
        orders = starts, counted, sizes, widths, announced = self.read_announced(header, rate)

        def rest(start: int, points: int, samples: int, width: int, frames: int) -> int:
            # A point is x, y, z, and as many bytes as one of them for the residual and the cameras.
            return len(content) - start - frames * (4 * points + samples) * width

        best = (starts[0], counted[0], sizes[0], widths[0], announced[0])
        agreed = len(starts) == len(counted) == len(announced) == 1
        if agreed and len({n for n in sizes if n}) <= 1:
            # Other data may lie behind the points, and a truncated file is no reason to doubt the counts.
            orders = (starts, counted, sizes[:1], widths[: 1 + (rest(*best) >= BLOCK)], announced)
        whole = (option for option in product(*orders) if 0 <= rest(*option) < BLOCK)
        as_told = product(starts, counted, sizes[:1], widths[:1], announced)
        inside = (option for option in as_told if rest(*option) >= 0)
        start, points, sample_count, width, frames = next(whole, next(inside, best))
        frame_size = (4 * points + sample_count) * width
        # The longest that is announced and there, unless all that it has more is padding.
        for more in sorted({f for f in announced if f > frames and len(content) >= start + f * frame_size}):
            frames = more if any(content[start + frames * frame_size : start + more * frame_size]) else frames
        if width != widths[0]:
            self.slips.doubt(
                f"the scale of points says {'integers' if width == 4 else 'floats'}",
                f"the file's length fits {'floats' if width == 4 else 'integers'}, which is taken",
            )
        held = max(len(content) - start, 0) // frame_size
        if held < frames:
            self.slips.doubt(
                f"truncated: {frames} frames of {points} points from block {start // BLOCK + 1} on end at "
                f"byte {start + frames * frame_size}, the file has {len(content)}",
                f"the {held} whole frames in it are read",
            )
        elif frames == MAX_FRAMES and held > frames:
            self.slips.note(
                f"more than {MAX_FRAMES} frames, the most this format counts", f"all {held} are read"
            )
            frames = held
        frames = min(held, frames)
        if frames < 1:
            raise MotionError(
                f"{self.slips.source}: truncated: the file has no whole frame of {points} points"
            )
        scale = self.number("POINT", "SCALE") or float(self.floats(content[12:16])[0]) if width == 2 else 0.0
        return points, frames, start, frame_size, abs(scale)

    def read_points(self, raw: NDArray[np.uint8], scale: float, columns: list[int]) -> NDArray[np.float64]:
        """Positions (T, M, 3) of some points in the file's unit, NaN where a point was not seen.

        `raw`: bytes (T, N) of the points; `scale`: units of length per count, 0 if coordinates are floats.
        """
        positions = np.empty((len(raw), len(columns), 3))
        residuals = np.empty((len(raw), len(columns)), dtype=np.float32)
        for begin in range(0, len(raw), CHUNK):
            part = raw[begin : begin + CHUNK]
            # Arbitrary bits may be a signalling NaN, whose conversion gives a warning.
            with np.errstate(invalid="ignore"):
                if scale:
                    words = part.view(f"{self.order}i2").reshape(len(part), -1, 4)[:, columns]
                    values = words * np.array([scale] * 3 + [1.0])
                elif self.processor == DEC:
                    values = self.floats(part.tobytes()).reshape(len(part), -1, 4)[:, columns]
                else:
                    floats = part.view(f"{self.order}f4").reshape(len(part), -1, 4)[:, columns]
                    values = np.asarray(floats, dtype=np.float64)
            positions[begin : begin + CHUNK] = values[..., :3]
            residuals[begin : begin + CHUNK] = values[..., 3]
        with np.errstate(invalid="ignore"):
            absurd = np.abs(positions) > LARGEST_NUMBER
            lost = (residuals < 0.0) | np.isnan(residuals)
        if absurd.any():
            frame, point, axis = np.argwhere(absurd)[0]
            what = (
                f"frame {frame + 1}, point {columns[point] + 1}: {AXES[axis]} is "
                f"{positions[frame, point, axis]:.3g}; this is no position"
            )
            if absurd.mean() > MOST_ABSURD:
                raise MotionError(f"{self.slips.source}: {what}")
            self.slips.doubt(what, f"{int(absurd.any(axis=2).sum())} such points are taken as not seen")
        unseen = absurd.any(axis=2) | np.isnan(positions).any(axis=2) | (positions == 0.0).all(axis=2)
        if lost.all() and not unseen.all():
            # Programs that know no residuals write the same number everywhere.
            self.slips.doubt("all residuals say that the point was not seen", "they are ignored")
        else:
            unseen |= lost
        positions[unseen] = np.nan
        return positions


def _counts(candidates: Iterable[float | None], largest: int) -> list[int]:
    """Those of the candidates that are whole numbers from 1 on, each once, in order."""
    whole = [int(c) for c in candidates if c is not None and 1 <= c <= largest and c == int(c)]
    return list(dict.fromkeys(whole))
