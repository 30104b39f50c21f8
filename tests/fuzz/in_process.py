"""Thousands of damaged motions in a few processes: what the readers do with them, without the command line.

A process for each case, as in `sandbox`, costs more than the reading of a short file. Here one process reads
many: it treats warnings as errors, may take little more address space than it has, is interrupted when it
hangs, and notes each case before it begins, so that a process that dies names the case that killed it.
"""

import faulthandler
import io
import json
import os
import pickle
import random
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mutations import mutate_arrays, mutate_bytes, mutate_json, mutate_text, mutate_tree, mutate_xml
from sandbox import Case
from seeds import ReaderSeeds

from simbench import read_motion
from simbench.errors import SimbenchError
from simbench.motion.marker_maps.starter_map import read_recording_for_map, write_starter_map
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_recording
from simbench.motion.trajectory_files import read_robot_motion
from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions
from simbench.motion.trajectory_files.write import write_robot_motion
from simbench.robot.robot import load_robot

MEMORY_LIMIT = 2**30
"""Resident memory that a case may take, bytes."""
_ADDRESS_SPACE = 2**30
"""Address space that a case may take beyond what the process has, bytes."""
_HANG, _STUCK = 20, 120
"""Processor time, and time in compiled code, after which a case counts as hanging, s."""

Change = Callable[[bytes, random.Random], bytes]


class Reader(NamedTuple):
    """A reader, its valid files, and how they are damaged.

    Parameters
    ----------
    seeds : tuple of str
        Names of the files.
    changes : tuple of callable
        Ways to damage one.
    """

    seeds: tuple[str, ...]
    changes: tuple[Change, ...]


def _mutate_contents(data: bytes, rng: random.Random) -> bytes:
    """Damage what an archive, a pickle or an array holds: its numbers, shapes, types and names."""
    if data.startswith(b"PK"):
        with np.load(io.BytesIO(data), allow_pickle=True) as archive:
            content = {name: archive[name] for name in archive.files}
    elif data.startswith(b"\x93NUMPY"):
        content = np.load(io.BytesIO(data))
    else:
        content = pickle.loads(data)
    with np.errstate(all="ignore"):
        for _ in range(rng.choice((1, 1, 2))):
            content = _change_content(content, rng)
    stream = io.BytesIO()
    if data.startswith(b"PK") and isinstance(content, dict):
        named = {(str(name) or "x").replace("\x00", "")[:60]: each for name, each in content.items()}
        np.savez(stream, **{name: _as_array(each) for name, each in named.items()})
    elif data.startswith(b"\x93NUMPY"):
        np.save(stream, _as_array(content))
    else:
        pickle.dump(content, stream, rng.randrange(6))
    return stream.getvalue()


def _as_array(content: Any) -> Any:
    """Make an array of anything: of objects, if it is nothing else."""
    try:
        return np.asarray(content)
    except ValueError:
        holder = np.empty((), dtype=object)
        holder[()] = content
        return holder


def _change_content(content: Any, rng: random.Random) -> Any:
    """Change one array, or the mapping that holds it."""
    if isinstance(content, dict) and content:
        if rng.random() < 0.25:
            return mutate_tree(content, rng)
        name = rng.choice(list(content))
        return {**content, name: _change_content(content[name], rng)}
    if isinstance(content, list):
        return mutate_tree(content, rng)
    array = np.array(content)
    if array.dtype.kind not in "biuf" or not array.size:
        return rng.choice((None, 0, "", "text", [], {}, float("nan"), np.zeros(3), array))
    return rng.choice(_ARRAY_CHANGES)(array, rng)


def _spoil_numbers(array: Any, rng: random.Random) -> Any:
    """Replace some numbers, a row or a column by a number that is rare."""
    spoiled = np.array(array, dtype=float)
    value = rng.choice((np.nan, np.inf, -np.inf, 0.0, 1e30, -1e300, 1e-300, 5e-324, 1e6, -1.0))
    if spoiled.ndim and rng.random() < 0.7:
        axis = rng.randrange(spoiled.ndim)
        index = [slice(None)] * spoiled.ndim
        index[axis] = rng.randrange(spoiled.shape[axis])  # type: ignore[call-overload]
        spoiled[tuple(index)] = value
    else:
        flat = spoiled.reshape(-1)
        for _ in range(rng.choice((1, 1, 5, flat.size))):
            flat[rng.randrange(flat.size)] = value
    return spoiled


_ARRAY_CHANGES: tuple[Callable[[Any, random.Random], Any], ...] = (
    _spoil_numbers,
    _spoil_numbers,
    _spoil_numbers,
    lambda array, rng: array[: rng.randrange(4)] if array.ndim else array,
    lambda array, rng: array[..., : rng.randrange(array.shape[-1] + 1)] if array.ndim else array[None],
    lambda array, rng: array.T if rng.random() < 0.5 else array.reshape(-1),
    lambda array, rng: array[rng.choice((np.newaxis, ..., 0 if array.ndim else ...))],
    lambda array, rng: np.repeat(array, rng.choice((0, 2, 40)), axis=0) if array.ndim else array,
    lambda array, rng: array * rng.choice((0.0, 1e-3, -1.0, 100.0, 1e12)),
    lambda array, rng: array.astype(rng.choice(("f2", "i1", "U9", "c16", "?", ">f8", "O"))),
)


def _one_of(*changes: Change) -> tuple[Change, ...]:
    return changes


_ARRAYS = _one_of(mutate_bytes, mutate_arrays, _mutate_contents, _mutate_contents)
READERS: Mapping[str, Reader] = {
    "BVH": Reader(("short.bvh", "wave.bvh", "mixamo.bvh", "lafan1.bvh"), (mutate_text,)),
    "C3D": Reader(("short.c3d", "walk.c3d"), (mutate_bytes,)),
    "TRC": Reader(("short.trc",), (mutate_text,)),
    "SMPL": Reader(
        tuple(f"{name}.{suffix}" for name in ("smpl", "smplh", "smplx") for suffix in ("npz", "pkl")), _ARRAYS
    ),
    "body model": Reader(("model.npz", "model.pkl"), _ARRAYS),
    "joint array": Reader(("joints.npy", "joints.npz", "joints.pkl"), _ARRAYS),
    "Acclaim": Reader(("person.amc", "person.asf"), (mutate_text,)),
    "glTF": Reader(("person.gltf",), (mutate_json,)),
    "GLB": Reader(("person.glb",), (mutate_bytes,)),
    "columns": Reader(
        tuple(f"{name}.{suffix}" for name in ("features", "columns") for suffix in ("npz", "pkl")), _ARRAYS
    ),
    "poselib": Reader(("poselib.npy",), (mutate_bytes,)),
    "poselib pickle": Reader(("poselib.pkl",), _ARRAYS),
    "PyTorch": Reader(("gvhmr.pt",), (mutate_bytes,)),
    "MVNX": Reader(("take.mvnx",), (mutate_xml,)),
    "Motive": Reader(("bones.csv", "marks.csv"), (mutate_text,)),
    "named positions": Reader(("joints.csv",), (mutate_text,)),
    "Qualisys": Reader(("marks.tsv",), (mutate_text,)),
    "landmarks": Reader(("points.json",), (mutate_json,)),
    "robot table": Reader(("unitree.csv", "named.csv"), (mutate_text,)),
    "robot npz": Reader(("npz.npz", "qpos.npz", "table.npy"), _ARRAYS),
    "robot pickle": Reader(("gmr.pkl", "phc.pkl", "lists.pkl", "qpos.pkl"), _ARRAYS),
}
_ROBOT = ("robot table", "robot npz", "robot pickle")
_READ_FLAGS: tuple[tuple[str, ...], ...] = (
    *((),) * 5,
    ("--unit", "mm"),
    ("--up", "x"),
    ("--strict",),
    ("--estimate",),
    ("--height", "1.8"),
    ("--fps", "30"),
    ("--longest-gap", "0"),
)
_ROBOT_FLAGS: tuple[tuple[str, ...], ...] = (
    *((),) * 5,
    ("--fps", "30"),
    ("--fps", "10000"),
    ("--quaternion", "wxyz"),
)


def list_cases(count: int, only: list[str] | None) -> Iterator[tuple[str, str, int]]:
    """Yield reader, valid file and number of each case.

    Parameters
    ----------
    count : int
        Cases of each valid file.
    only : list of str or None
        Names of the readers; None takes all.

    Yields
    ------
    tuple of (str, str, int)
        Reader, file and number.
    """
    for name, reader in READERS.items():
        if only is None or name in only:
            for seed_file in reader.seeds:
                for number in range(count):
                    yield name, seed_file, number


def make_reader_case(seed: int, name: str, seed_file: str, number: int, seeds: ReaderSeeds) -> Case:
    """Make a damaged file and the command that reads it.

    Parameters
    ----------
    seed : int
        Seed of the study.
    name, seed_file : str
        Reader and valid file.
    number : int
        Number of the case.
    seeds : ReaderSeeds
        The valid files.

    Returns
    -------
    Case
        The file and the arguments of the command line.
    """
    rng = random.Random(f"{seed}:{name}:{seed_file}:{number}")
    change = rng.choice(READERS[name].changes)
    if name in _ROBOT:
        files = {seed_file: change(seeds.robot_motions[seed_file], rng)}
        return Case(files, ("convert", seed_file, "new.csv", "--robot", "romeo", *rng.choice(_ROBOT_FLAGS)))
    if name == "body model":
        files = {"smpl.npz": seeds.motions["smpl.npz"], seed_file: change(seeds.models[seed_file], rng)}
        return Case(files, ("motion", "inspect", "smpl.npz", "--body-model", seed_file))
    files = {seed_file: change(seeds.motions[seed_file], rng)}
    if name == "Acclaim":
        # Angles and their skeleton.
        files = {each: seeds.motions[each] for each in READERS[name].seeds} | files
        seed_file = "person.amc"
    command = "map" if rng.random() < 0.1 else "inspect"
    return Case(files, ("motion", command, seed_file, *rng.choice(_READ_FLAGS)))


def require_valid(seeds: ReaderSeeds) -> None:
    """Read every valid file, which also imports and compiles what the cases need.

    Parameters
    ----------
    seeds : ReaderSeeds
        The files, which are written into the current directory.

    Raises
    ------
    SimbenchError
        One of them is not read.
    """
    for name, content in {**seeds.robot_motions, **seeds.motions, **seeds.models}.items():
        Path(name).write_bytes(content)
    for name, reader in READERS.items():
        for seed_file in reader.seeds:
            if name in _ROBOT:
                _perform(Case({}, ("convert", seed_file, "new.csv", "--robot", "romeo")))
            elif name == "body model":
                _perform(Case({}, ("motion", "inspect", "smpl.npz", "--body-model", seed_file)))
            elif seed_file != "person.asf":
                _perform(Case({}, ("motion", "inspect", seed_file)))


def _perform(case: Case) -> None:
    """Do what the command of a case does, with the functions that it calls."""
    words = list(case.arguments)
    flags = {"unit": None, "up": None, "strict": False, "estimate": False, "height": None, "fps": None}
    flags |= {"longest-gap": 0.2, "body-model": None, "quaternion": None}
    place = next((k for k, word in enumerate(words) if word.startswith("--") and word != "--robot"), None)
    if place is not None:
        name = words[place][2:]
        if place + 1 == len(words):
            flags[name] = True
        else:
            number = name in ("height", "fps", "longest-gap")
            flags[name] = float(words[place + 1]) if number else words[place + 1]  # type: ignore[assignment]
    if words[0] == "convert":
        robot = load_robot("romeo")
        declared = TrajectoryOptions(quaternion=flags["quaternion"], fps=flags["fps"])  # type: ignore[arg-type]
        motion = read_robot_motion(Path(words[1]), robot, declared)
        write_robot_motion(motion.trajectory, robot, Path("new.csv"), "csv", {})
        return
    options = ReadOptions(
        unit=flags["unit"],  # type: ignore[arg-type]
        up=flags["up"],  # type: ignore[arg-type]
        strict=bool(flags["strict"]),
        estimate=bool(flags["estimate"]),
        stature=flags["height"],  # type: ignore[arg-type]
        fps=flags["fps"],  # type: ignore[arg-type]
        longest_gap=float(flags["longest-gap"] or 0.0),
        body_model=flags["body-model"],  # type: ignore[arg-type]
    )
    if words[1] == "map":
        recording = read_recording_for_map(read_recording(words[2], options), words[2])
        write_starter_map(recording, None)
    else:
        inspect_motion(read_motion(words[2], options))


class _Hang(BaseException):
    """A case that takes too long."""


def _interrupt(*_: object) -> None:
    raise _Hang


def examine(case: Case) -> dict[str, Any]:
    """Run a case in this process and this directory, and judge it.

    Parameters
    ----------
    case : Case
        The case.

    Returns
    -------
    dict
        `outcome`: `read`, `refused` or `failed`; `failure`: what failed and where; `cpu`: processor time, s;
        `memory`: greatest resident memory during the case, bytes.
    """
    for name, content in case.files.items():
        Path(name).write_bytes(content)
    _reset_peak()
    before = _cpu()
    outcome, failure = "read", ""
    signal.setitimer(signal.ITIMER_PROF, _HANG)
    faulthandler.dump_traceback_later(_STUCK, exit=True)
    try:
        with redirect_stdout(io.StringIO()):
            _perform(case)
    except SimbenchError as error:
        outcome = "refused"
        if len(str(error).splitlines()) != 1 or not str(error).strip():
            outcome, failure = (
                "failed",
                f"message of {len(str(error).splitlines())} lines: {str(error)[:100]!r}",
            )
    except BaseException as error:
        outcome, failure = "failed", _describe(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
    memory = _peak()
    if memory > MEMORY_LIMIT:
        outcome, failure = "failed", f"memory: {memory / 2**20:.0f} MB"
    for name in (*case.files, "new.csv"):
        Path(name).unlink(missing_ok=True)
    return {"outcome": outcome, "failure": failure, "cpu": _cpu() - before, "memory": memory}


def _describe(error: BaseException) -> str:
    """Say the class of an error, where in simbench it was raised, and its text."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "/simbench/" in each.filename]
    place = f"{frames[-1].filename.rpartition('/simbench/')[2]}:{frames[-1].lineno}" if frames else "outside"
    return f"{type(error).__name__} {place} {' '.join(str(error).split())[:100]}"


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _reset_peak() -> None:
    """Let Linux count the greatest resident memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    return _status("VmHWM")


def _status(key: str) -> int:
    """Read a size of this process from Linux, bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


def _prepare() -> None:
    """Set up a process that runs cases."""
    warnings.simplefilter("error")
    for unseen in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", unseen)
    signal.signal(signal.SIGPROF, _interrupt)
    limit = _status("VmSize") + _ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run_cases(
    seed: int, cases: list[tuple[str, str, int]], seeds: ReaderSeeds, folder: Path
) -> list[dict[str, Any]]:
    """Run cases in forked processes, one after another, a new one whenever one has died.

    Parameters
    ----------
    seed : int
        Seed of the study.
    cases : list of (str, str, int)
        Reader, valid file and number of each.
    seeds : ReaderSeeds
        The valid files.
    folder : Path
        New folder to work in.

    Returns
    -------
    list of dict
        What `examine` returns for each, with `reader`, `file` and `number`.
    """
    folder.mkdir()
    records: list[dict[str, Any]] = []
    while len(records) < len(cases):
        pid = os.fork()
        if pid == 0:
            _work(seed, cases, len(records), seeds, folder)
        _, status = os.waitpid(pid, 0)
        with (folder / "records").open() as lines:
            records = [json.loads(line) for line in lines]
        if len(records) < len(cases):
            name, seed_file, number = cases[len(records)]
            died = f"process ended with status {status}"
            records.append(
                _record(name, seed_file, number, outcome="failed", failure=died, cpu=0.0, memory=0)
            )
            with (folder / "records").open("a") as stream:
                stream.write(json.dumps(records[-1]) + "\n")
    return records


def _record(name: str, seed_file: str, number: int, **judged: Any) -> dict[str, Any]:
    return {"reader": name, "file": seed_file, "number": number, **judged}


def _work(seed: int, cases: list[tuple[str, str, int]], first: int, seeds: ReaderSeeds, folder: Path) -> None:
    """Run the cases from one on, write their records, and end this process."""
    status = 1
    try:
        os.chdir(folder)
        _prepare()
        with open("records", "a", buffering=1) as stream:
            for name, seed_file, number in cases[first:]:
                judged = examine(make_reader_case(seed, name, seed_file, number, seeds))
                stream.write(json.dumps(_record(name, seed_file, number, **judged)) + "\n")
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(status)
