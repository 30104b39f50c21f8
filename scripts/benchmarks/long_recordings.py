"""CPU and wall seconds and memory of long recordings: reading, inspecting, exporting, retargeting.

python scripts/benchmarks/long_recordings.py [--minutes N] [--hour] [--robot NAME] [--folder FOLDER]

The recordings are made here: a body that walks and waves at 120 Hz, as a BVH file with the 65 joints of
Mixamo's skeleton, and smooth random poses in an archive as AMASS publishes them (SMPL-H, 52 joints). With
`--minutes` (1 by default) they last that long, and the BVH file is also retargeted; with `--hour` two more of
an hour are made, which take a gigabyte of the temporary folder. Every measurement is a process of its own and
includes the interpreter's start; memory is the largest resident set.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

RATE = 120.0
_CHECKOUT = Path(__file__).resolve().parents[2]
_REPEATED = 60.0
"""The walk is written for so many seconds, and then again backward and forward, so that it never jumps."""


def write_bvh_file(path: Path, minutes: float) -> None:
    """Write a walk in the layout of Mixamo, 65 joints.

    Parameters
    ----------
    path : Path
        File to write.
    minutes : float
        Duration.
    """
    sys.path.insert(0, str(_CHECKOUT / "tests" / "helpers"))
    from skeleton_dialects import dialects, known_motion, write_bvh

    dialect = dialects()["mixamo"]
    joints = dict(dialect.joints)
    for name, (place, _) in dialect.joints.items():
        # The second phalanges carry two more, as far as this body is concerned at the same place.
        if place.endswith(("thumb2", "index2", "middle2", "ring2", "pinky2")):
            joints[f"{name[:-1]}3"] = (place, name)
            joints[f"{name[:-1]}4"] = (place, f"{name[:-1]}3")
    frames = round(60.0 * minutes * RATE)
    body = known_motion(frames=min(frames, round(_REPEATED * RATE)), rate=RATE)
    text = write_bvh(replace(dialect, joints=joints, rate=RATE), body)
    header, _, motion = text.partition("MOTION\n")
    rows = motion.splitlines()[2:]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{header}MOTION\nFrames: {frames}\nFrame Time: {1.0 / RATE:.10f}\n")
        written = 0
        while written < frames:
            part = rows[: frames - written]
            file.write("\n".join(part) + "\n")
            written += len(part)
            rows.reverse()


def write_smpl_file(path: Path, minutes: float) -> None:
    """Write smooth random poses of SMPL-H.

    Parameters
    ----------
    path : Path
        File to write.
    minutes : float
        Duration.
    """
    draw = np.random.default_rng(0)
    moments = np.arange(round(60.0 * minutes * RATE)) / RATE
    poses = np.empty((len(moments), 156), dtype=np.float32)
    for column, (rate, phase) in enumerate(draw.uniform((0.2, 0.0), (1.0, 6.0), (156, 2))):
        poses[:, column] = 0.2 * np.sin(2.0 * np.pi * rate * moments + phase)
    # The archives have z up, the model y.
    poses[:, 0] += np.pi / 2
    place = np.stack([0.3 * np.sin(moments), 0.3 * np.cos(moments), np.full(len(moments), 0.9)], axis=1)
    np.savez(
        path, poses=poses, trans=place, betas=np.zeros(16), mocap_framerate=RATE, gender=np.array("male")
    )


def measure(arguments: list[str]) -> dict[str, float]:
    """Run simbench in a process of its own.

    Parameters
    ----------
    arguments : list of str
        Arguments of the command; `read` and a file only read it.

    Returns
    -------
    dict of str to float
        `cpu` and `wall`, s, and `peak`, the largest resident set, MB.
    """
    begin = time.perf_counter()
    command = [sys.executable, __file__, "--measure", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip().splitlines()[-1]}")
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": wall}


def _measure_here(arguments: list[str]) -> None:
    """Read a file or run a command in this process, and print what it took."""
    if arguments[0] == "read":
        from simbench.motion.read_options import ReadOptions
        from simbench.motion.readers import read_recording

        read_recording(arguments[1], ReadOptions())
    else:
        from simbench.cli.main import app

        app(arguments, standalone_mode=False)
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Kilobytes on Linux, bytes on macOS.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    print()
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / unit}))


def measure_files(folder: Path, minutes: list[float], robot: str) -> Iterator[dict[str, Any]]:
    """Make recordings and measure what is done with them.

    Parameters
    ----------
    folder : Path
        Where the files go; each is deleted after it was measured.
    minutes : list of float
        Durations; the first is short enough to be retargeted.
    robot : str
        The robot that moves.

    Yields
    ------
    dict
        File, size in MB, job, and seconds and megabytes by `measure`.
    """
    for number, duration in enumerate(minutes):
        for name, write in (("walk.bvh", write_bvh_file), ("poses.npz", write_smpl_file)):
            path = folder / name
            write(path, duration)
            jobs = {"read": ["read", str(path)], "inspect": ["motion", "inspect", str(path)]}
            if name == "walk.bvh":
                jobs["export"] = ["motion", "export", str(path), str(folder / "out.nc")]
                if number == 0:
                    out = ["--out", str(folder / "out.csv")]
                    jobs["retarget"] = ["retarget", str(path), "--robot", robot, *out]
            size = path.stat().st_size / 1e6
            for job, arguments in jobs.items():
                yield {"file": f"{name}, {duration:g} min", "size": size, "job": job, **measure(arguments)}
            path.unlink()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="duration of the recordings")
    parser.add_argument("--hour", action="store_true", help="also recordings of an hour")
    parser.add_argument("--robot", default="mahru", metavar="NAME", help="robot of retarget")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where the temporary files go")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    known, rest = parser.parse_known_args()
    if known.measure:
        _measure_here([*known.measure, *rest])
        return
    given = parser.parse_args()
    table = Table("file", "MB", "job", "CPU s", "wall s", "peak MB", title=f"recordings at {RATE:g} Hz")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for row in measure_files(Path(name), [given.minutes, *([60.0] if given.hour else [])], given.robot):
            numbers = f"{row['cpu']:.1f}", f"{row['wall']:.1f}", f"{row['peak']:.0f}"
            table.add_row(row["file"], f"{row['size']:.0f}", row["job"], *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
