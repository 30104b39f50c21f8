"""What a file of results was computed from, and what of it has changed since.

A file of results has a key `computed_from`: `code`, a digest of all definitions that the script can reach
(code_closure.py); `files`, what is reached of each source file, which only serves to say where `code` has
changed; `data`, digests of the robots, scenarios, recordings and tables of the repository that were read;
`after`, digests of the results of other parts that it read; and `versions` of libraries. Results are stale if
anything but `files` and `versions` differs from what is there now. `renewed` is the date on which code had
changed and a reduced run gave the same numbers as before (renewal.py).

Files that are read are noted as they are opened, by this process and those that it starts. Of a robot all
files count, for URDF and meshes are read by libraries of which Python knows nothing. Files beside modules,
which may be read before anybody takes notes, count if code that is reached names them.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any

from code_closure import Sources, digest_code, digest_files, named_files, reached, shortened

ROOT = Path(__file__).parents[2]
SCRIPTS = Path("scripts", "reproduce")
KEY = "computed_from"
NO_DATA = frozenset({".py", ".pyc", ".nbi", ".nbc"})
DATA_FOLDERS = frozenset({"marker_maps", "robots", "samples", "scenarios", "scripts", "simbench"})
LIBRARIES = ("numpy", "scipy", "numba", "pin", "pybullet", "mujoco")
_DIGESTING = "sources_fingerprint"
_WRITING = os.O_WRONLY | os.O_RDWR
_BEGAN = time.time()
_watched: set[Path] = set()


def watch_opened(results: Path) -> None:
    """Note from now on in a file beside the results which data of the repository is opened for reading."""
    log, seen, prefix = opened_log(results), set[str](), f"{ROOT}{os.sep}"
    if log in _watched:
        return
    _watched.add(log)
    log.parent.mkdir(parents=True, exist_ok=True)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or log not in _watched:
            return
        path, mode, flags = arguments
        if not isinstance(path, str | bytes) or (flags or 0) & _WRITING or set(mode or "") & set("wxa+"):
            return
        with suppress(OSError, ValueError):
            name = os.path.abspath(os.fsdecode(path))
            unit = data_unit(Path(name[len(prefix) :])) if name.startswith(prefix) else ""
            if unit and unit not in seen and not _only_digested():
                seen.add(unit)
                # One write each: several processes append to the file.
                opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                os.write(opened, f"{unit}\n".encode())
                os.close(opened)

    sys.addaudithook(hook)


def _only_digested() -> bool:
    """Whether a file is opened for the key of the plan cache, which every robot and recording is part of."""
    frame: FrameType = sys._getframe(1)
    while frame.f_back and frame.f_code.co_name != _DIGESTING:
        frame = frame.f_back
    return frame.f_code.co_name == _DIGESTING


def watch_by_arguments(option: str) -> None:
    """Watch if this process, or the one that started it, was told to write results: they share arguments."""
    for place, each in enumerate(sys.argv):
        if each.partition("=")[0] == option:
            watch_opened(Path(each.partition("=")[2] or "".join(sys.argv[place + 1 : place + 2])))


def opened_log(results: Path) -> Path:
    return Path(os.path.abspath(results)).with_name(f".{results.name}.opened")


def opened_data(results: Path) -> list[str]:
    """Read what was noted so far; also what processes noted that were killed before they wrote results."""
    log = opened_log(results)
    return sorted(set(log.read_text(encoding="utf-8").splitlines())) if log.is_file() else []


def end_watch(results: Path) -> None:
    """Forget what was noted."""
    log = opened_log(results)
    _watched.discard(log)
    log.unlink(missing_ok=True)


def data_unit(path: Path) -> str:
    """Name what counts as one piece of data: a folder or a file; empty for what is no data.

    Parameters
    ----------
    path : Path
        Path in the repository.
    """
    if len(path.parts) < 2 or path.parts[0] not in DATA_FOLDERS or path.suffix in NO_DATA:
        return ""
    if any(part.startswith((".", "__")) for part in path.parts):
        return ""
    # Of a robot all files count; of maps those too that are not there yet: one that fits is looked for.
    depth = {"robots": 2, "marker_maps": 1}.get(path.parts[0])
    return Path(*path.parts[:depth]).as_posix()


def describe(
    script: str, opened: Iterable[str], after: Mapping[str, str], root: Path = ROOT
) -> dict[str, Any]:
    """Describe what results that are written now were computed from.

    Parameters
    ----------
    script : str
        Path of the script in the repository.
    opened : iterable of str
        Data that was read, as `data_unit` names it.
    after : mapping of str to str
        Digests of the results that it read.
    root : Path
        The repository.
    """
    code, files, named = current_code(root, script)
    # What has changed since this process began is not what it has computed with.
    changed = [name for name in files if (root / name).stat().st_mtime > _BEGAN]
    if changed:
        print(f"{', '.join(changed)}: changed while this ran; the results count as stale", file=sys.stderr)
        code = ""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "code": code,
        "files": files,
        "data": dict(pair for unit in sorted({*opened, *named}) for pair in digest_data(root, unit)),
        "after": dict(after),
        "versions": versions,
    }


@cache
def current_code(root: Path, script: str) -> tuple[str, dict[str, str], tuple[str, ...]]:
    """Digest the code that a script reaches now and what of each file, and list data that it names."""
    path = root / script
    sources = _sources(path.parent, path.parent.parent, root)
    found = reached(sources, path.stem)
    digests = digest_files(sources, found)
    files = {path.relative_to(root).as_posix(): digests[path] for path in sorted(digests)}
    units = {data_unit(path.relative_to(root)) for path in named_files(sources, found)}
    return digest_code(sources, found), files, tuple(sorted(units - {""}))


@cache
def _sources(*folders: Path) -> Sources:
    return Sources(folders)


def digest_data(root: Path, unit: str) -> Iterator[tuple[str, str]]:
    """Yield a file, or what a folder holds, and the digest of each; what is missing has none."""
    path = root / unit
    for each in sorted(path.iterdir()) if path.is_dir() else [path]:
        if not each.name.startswith((".", "__")):
            yield each.relative_to(root).as_posix(), _digest_path(each)


def data_state(root: Path) -> str:
    """Digest all robots, scenarios, maps and samples."""
    folders = [root / each for each in ("marker_maps", "robots", "samples", "scenarios")]
    return shortened(_digest_path(each) for each in folders if each.is_dir())


@cache
def _digest_path(path: Path) -> str:
    if path.is_dir():
        inner = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
        return shortened(f"{each.relative_to(path).as_posix()} {_digest_path(each)}" for each in inner)
    return shortened([path.read_bytes().hex()]) if path.is_file() else ""


def digest_of(results: Mapping[str, Any]) -> str:
    """Shorten what results were computed from to eight digits; empty if they do not say it."""
    found = results.get(KEY)
    if not found:
        return ""
    return shortened([json.dumps([found[name] for name in ("code", "data", "after")], sort_keys=True)])[:8]


def changes(
    results: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]], root: Path = ROOT
) -> list[str]:
    """List what results are older than: paths in the repository and names of other results; none if current.

    Parameters
    ----------
    results : mapping
        Content of a file of results.
    others : mapping
        Content of all files of results, by name without the suffix.
    root : Path
        The repository.
    """
    found = results.get(KEY)
    if not found:
        return ["records of what results are computed from"]
    if not (root / results["script"]).is_file():
        return [f"the end of {results['script']}"]
    code, files, _ = current_code(root, results["script"])
    changed = []
    if code != found["code"]:
        changed = sorted(
            name for name in {*files, *found["files"]} if files.get(name) != found["files"].get(name)
        )
        # Two definitions that have changed places make another program of the same pieces.
        changed = changed or [results["script"]]
    changed += changed_data(found["data"], root)
    for name, digest in found["after"].items():
        if name not in others or digest_of(others[name]) != digest or changes(others[name], others, root):
            changed.append(name)
    return changed


def changed_data(noted: Mapping[str, str], root: Path = ROOT) -> list[str]:
    """List the data that differs from what was noted, by path in the repository."""
    units = sorted({data_unit(Path(name)) for name in noted})
    data = dict(pair for unit in units for pair in digest_data(root, unit))
    return sorted(name for name in {*data, *noted} if data.get(name) != noted.get(name))


def say_changes(changed: list[str], named: int = 3) -> str:
    """Name a few of what has changed."""
    more = f" and {len(changed) - named} more" if len(changed) > named else ""
    return ", ".join(changed[:named]) + more


def read_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the files of results of a folder, by name without the suffix."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def stale_results(folder: Path, root: Path = ROOT) -> dict[str, list[str]]:
    """List what each file of results of a folder is older than; files that are current have an empty list."""
    every = read_all(folder)
    return {name: changes(each, every, root) for name, each in every.items()}
