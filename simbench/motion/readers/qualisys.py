"""Reader of the TSV files that Qualisys Track Manager (QTM) exports: labelled markers, in mm.

Lines of a key and its values (`NO_OF_MARKERS`, `FREQUENCY`, `MARKER_NAMES`, `EVENT`, ...) come first, perhaps
a line of the columns' names, then a row for each frame: its number and its time, both optional, and x, y and
z of every marker. Source: the manual of QTM, "Motion data (.tsv)".
"""

import re
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.motion.human_motion import HumanMotion
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.csv_reader import read_csv
from simbench.motion.readers.marker_tables import (
    UNLABELLED,
    USUAL_UNIT,
    Slips,
    drop_shared_prefix,
    find_length_unit,
    find_times,
    keep_first_of_each_name,
    quote,
    read_lines,
    read_sparse_numbers,
)
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.system.limits import RATES

LONGEST_HEADER = 10_000  # Every event is a line of it.
KEYS = {
    "NO_OF_FRAMES",
    "NO_OF_MARKERS",
    "FREQUENCY",
    "MARKER_NAMES",
    "DATA_INCLUDED",
    "NO_OF_CAMERAS",
    "TIME_STAMP",
}
QTM_NAME = re.compile(r"New \d+")  # Of trajectories that nobody has labelled.
WAY_ON = "in QTM's TSV export choose 3D data of the labelled trajectories, or export the skeleton as FBX"


def read_tsv(path: Path, options: ReadOptions) -> HumanMotion | MarkerRecording | SkeletonRecording:
    """Read the marker tracks of a TSV file of QTM; other tables separated by tabs are read as CSV files are.

    A marker at exactly 0, 0, 0, or without numbers, was not seen. `options`: unit, vertical axis, frame rate
    and strictness that the user declares. Returns the markers in metres.
    """
    lines = read_lines(path)
    header, events, first = _read_header(lines)
    if len(KEYS & {*header}) < 2:
        return read_csv(path, options)
    source, slips = str(path), Slips(str(path), options.strict)
    labels = header.get("MARKER_NAMES", [])
    while labels and not labels[-1]:
        labels.pop()
    included = " ".join(header.get("DATA_INCLUDED", ["3D"]))
    if included != "3D" or not labels:
        what = f"{quote(included)} data" if included != "3D" else "no MARKER_NAMES"
        raise MotionError(f"{source}: a file of Qualisys with {what}, not positions of markers; {WAY_ON}")
    titles = [word.strip() for word in lines[first].split("\t")]
    titled = not any(parse_finite_number(word) is not None for word in titles)
    first += titled
    row = titles if titled else lines[first].split("\t") if first < len(lines) else []
    cells = next((k for k in range(len(row), 0, -1) if row[k - 1].strip()), 0)
    lead = len({"Frame", "Time"} & {*titles[:2]}) if titled else cells - 3 * len(labels)
    if not 0 <= lead <= 2 or cells != lead + 3 * len(labels):
        raise MotionError(
            f"{source}, line {first + 1 - titled}: {cells} columns; {len(labels)} markers need three each, "
            "behind those of the frame and the time"
        )
    table = read_sparse_numbers(lines, first, range(lead + 3 * len(labels)), source, ("\t", False))
    if not len(table):
        raise MotionError(f"{source}: no rows of numbers follow the header")
    for key, found in (("NO_OF_MARKERS", len(labels)), ("NO_OF_FRAMES", len(table))):
        written = "".join(header.get(key, [str(found)]))
        if parse_finite_number(written) != found:
            slips.doubt(f"{key} is {quote(written)}, and there are {found}", "the data count")
    written = "".join(header.get("FREQUENCY", []))
    rate = options.fps or parse_finite_number(written)
    # Without a title, numbers of frames are told from times because they are whole.
    clock = table[:, max(lead - 1, 0)]
    timed = "Time" in titles[:2] if titled else lead > 0 and bool((clock % 1.0 != 0.0).any())
    if timed and options.fps is None:
        time, start = find_times(clock, rate, source), float(clock[0])
    elif rate is not None and RATES[0] <= rate <= RATES[1]:
        time, start = np.arange(len(table)) / rate, float(clock[0]) if timed else 0.0
    else:
        raise MotionError(
            f"{source}: FREQUENCY is {quote(written)} and there are no times; declare the rate (--fps)"
        )
    positions = table[:, lead:].reshape(len(table), len(labels), 3)
    positions[np.isnan(positions).any(axis=2) | (positions == 0.0).all(axis=2)] = np.nan
    bare = [label.rpartition(":")[2] for label in labels]
    named = [
        k for k, name in enumerate(bare) if not UNLABELLED.fullmatch(name) and not QTM_NAME.fullmatch(name)
    ]
    # Where nobody has labelled a marker, the user's map may know QTM's own names.
    named = named or [k for k, name in enumerate(bare) if QTM_NAME.fullmatch(name) and options.marker_map]
    if not named:
        raise MotionError(
            f"{source}: none of {len(labels)} markers has a name; label them in QTM, or declare a marker map "
            f"with the names that QTM gave, such as {quote(bare[0])} (--map)"
        )
    names, notes = drop_shared_prefix([labels[k] for k in named])
    kept = keep_first_of_each_name(
        names,
        (~np.isnan(positions[:, named, 0])).sum(axis=0).tolist(),
        slips,
        "MARKER_NAMES: two markers are named {1}; names must differ (markers {0})",
    )
    unit, scale = find_length_unit(USUAL_UNIT, options, "header", slips)
    if len(labels) > len(named):
        notes.append(f"{len(labels) - len(named)} unlabelled points ignored")
    moments = [(each[0], parse_finite_number(each[2])) for each in events if len(each) > 2]
    return MarkerRecording(
        time=time,
        names=tuple(names[k] for k in kept),
        positions=scale * positions[:, [named[k] for k in kept]],
        source=source,
        up=options.up,
        unit=unit,
        events=tuple((name, moment - start) for name, moment in moments if moment is not None),
        notes=(*slips.notes, *notes),
        doubts=tuple(slips.doubts),
    )


def _read_header(lines: list[str]) -> tuple[dict[str, list[str]], list[list[str]], int]:
    """Read values by key, those of the events, and the index of the first line behind them."""
    header: dict[str, list[str]] = {}
    events: list[list[str]] = []
    for k, line in enumerate(lines[:LONGEST_HEADER]):
        key, *values = (word.strip() for word in line.split("\t"))
        if key == "EVENT":
            events.append(values)
        elif key.isupper() and parse_finite_number(key) is None:
            header[key] = values
        elif line.strip():
            return header, events, k
    return header, events, len(lines) - 1
