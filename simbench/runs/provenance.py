"""Provenance of a run, so that it can be repeated; digests of everything that determines a result."""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from simbench.errors import StudyError
from simbench.resources import PACKAGE, resource_dir
from simbench.system.portable import KERNELS

if TYPE_CHECKING:
    from simbench.options import PolicySection
    from simbench.robot.robot_sources import RobotSource

_DIGITS = 32
_DATA = ("robots", "marker_maps", "samples")
# Reading what every distribution contains takes 0.2 s, and a study does it for every run.
_distributions_by_module = lru_cache(maxsize=1)(metadata.packages_distributions)


def collect_provenance(seed: int, command: Sequence[str], engine: str | None = None) -> dict[str, Any]:
    """Collect versions, machine, seed and command line of a run that starts now.

    `seed`: seed of the scenario; `command`: program and arguments, as in `sys.argv`; `engine`: one of
    `sim.engine.ENGINES`, if one is used. Returns ready for JSON: `simbench`, `git_commit` (None outside a
    checkout, ending in `-dirty` when files differ from it), `python`, `platform`, `processor`, `cores`,
    `kernels` (variables that choose those of libraries, which decide the last digits; empty if none),
    `packages` (name to version), `seed`, `command`, `date`, and of the engine its `name`, `library` (the
    distribution that is installed) and its `version`.
    """
    packages, processor = dict(_packages()), platform.processor()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        processor = next(names, processor)
    commit = None
    if (PACKAGE.parent / ".git").exists():
        git = ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
        with suppress(OSError, subprocess.CalledProcessError):
            described = subprocess.run(git, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
            commit = described.stdout.strip()
    used = {}
    if engine is not None:
        # Digests of a study need no engine, whose import takes a second.
        from simbench.sim.engine import ENGINES

        providers = _distributions_by_module().get(ENGINES[engine].library, [])
        library = providers[0] if providers else ENGINES[engine].library
        used = {"engine": {"name": engine, "library": library, "version": packages.get(library)}}
    return {
        "simbench": packages.get("simbench-robotics"),
        "git_commit": commit,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "processor": processor,
        "cores": os.cpu_count(),
        "kernels": {name: os.environ[name] for name in KERNELS if name in os.environ},
        "packages": packages,
        "seed": seed,
        # An argument that is a path need not be text.
        "command": [os.fsencode(part).decode("utf-8", "replace") for part in command],
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        **used,
    }


@lru_cache(maxsize=1)
def _packages() -> tuple[tuple[str, str], ...]:
    """Names and versions of the installed packages; what is imported already does not change with them."""
    # `name` and `version` of a distribution each read its file anew.
    described = (found.metadata for found in metadata.distributions())
    return tuple(sorted((each["Name"], each["Version"]) for each in described))


def describe_robot_files(source: RobotSource) -> dict[str, Any]:
    """Describe where a run's robot came from, so that it can be found again.

    Returns ready for JSON: `origin` (`own path`, `shipped`, `plug-in` or `wheel`), `guessed`: whether the
    robot.yaml was guessed from the URDF, `package` and `version` of a plug-in or wheel, `urdf_package` and
    `urdf_version` of the package that holds the URDF (None where there is none), and `files`: path to SHA-256
    digest of robot.yaml and URDF.
    """
    files = [path for path in (source.description, source.urdf) if path is not None]
    name, version = source.package or (None, None)
    urdf_name, urdf_version = source.urdf_package or (None, None)
    return {
        "origin": source.origin,
        "guessed": source.guessed,
        "package": name,
        "version": version,
        "urdf_package": urdf_name,
        "urdf_version": urdf_version,
        "files": {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }


def describe_policy(policy: PolicySection) -> dict[str, Any]:
    """Describe the files of a policy.

    `policy`: section `control.policy` of the scenario. Returns ready for JSON: path to SHA-256 digest of the
    contract and of the model, if there is one.
    """
    files = [file for file in (policy.contract, policy.model) if file is not None]
    return {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}


def describe_trajectory(path: Path, notes: Sequence[str], doubts: Sequence[str]) -> dict[str, Any]:
    """Describe the file of a robot's motion that a run follows, and what was said about it.

    `notes`: what was found out or changed, one line each; `doubts`: what may well be wrong, or what the robot
    cannot do, one line each. Returns ready for JSON: `file`, its SHA-256 digest `sha256`, `notes` and
    `doubts`.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"file": str(path), "sha256": digest, "notes": list(notes), "doubts": list(doubts)}


def fingerprint(value: Any) -> str:
    """Digest a value, so that equal values of the same types, and only they, have the same digest.

    `value`: none, bool, number, text, bytes, path, array, function of a module, or a tuple, list, mapping,
    dataclass or pydantic model of such values; a `pinocchio.SE3`. Returns 32 hexadecimal digits. Raises
    StudyError for an object of another kind.
    """
    return hashlib.sha256(_encoded(value)).hexdigest()[:_DIGITS]


def sources_fingerprint() -> str:
    """Digest the code of simbench and the robots, marker maps and samples that it reads.

    Returns 32 hexadecimal digits, the same for a checkout and for a wheel made from it.
    """
    digest = hashlib.sha256()
    named = [(PACKAGE.name, PACKAGE, "*.py"), *((kind, resource_dir(kind), "*") for kind in _DATA)]
    for name, folder, pattern in named:
        for path in sorted(each for each in folder.rglob(pattern) if each.is_file()):
            key = f"{name}/{path.relative_to(folder).as_posix()}"
            digest.update(_encoded((key, path.read_bytes())))
    return digest.hexdigest()[:_DIGITS]


def own_source_fingerprint(function: Callable[..., Any]) -> str:
    """Digest the source file of a user's function.

    `function`: function of a study. Returns digest; empty for a function of simbench, whose sources are
    digested as a whole, and for one without a file.
    """
    while isinstance(function, partial):
        function = function.func
    try:
        path = Path(inspect.getsourcefile(function) or "").resolve()
    except TypeError:
        return ""
    return "" if PACKAGE in path.parents or not path.is_file() else fingerprint(path.read_bytes())


def _encoded(value: Any) -> bytes:
    """Encode a value unambiguously as its kind, its length and its content."""
    if isinstance(value, np.generic):
        value = value.item()
    elif type(value).__name__ == "SE3":
        # By its name: whoever only digests a study need not import Pinocchio.
        value = ("SE3", value.homogeneous)
    kind, content = type(value).__qualname__, b""
    if value is None or isinstance(value, bool | int | float | str):
        content = repr(value).encode()
    elif isinstance(value, bytes):
        content = value
    elif isinstance(value, Path):
        kind, content = "path", str(value).encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        content = _encoded((value.dtype.str, value.shape, value.tobytes()))
    elif isinstance(value, tuple | list):
        content = b"".join(map(_encoded, value))
    elif isinstance(value, Mapping):
        # The order of keys does not matter.
        content = b"".join(sorted(_encoded(pair) for pair in value.items()))
    elif isinstance(value, BaseModel):
        content = _encoded({name: getattr(value, name) for name in type(value).model_fields})
    elif is_dataclass(value) and not isinstance(value, type):
        content = _encoded({field.name: getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, partial):
        content = _encoded((value.func, value.args, value.keywords))
    elif callable(value) and hasattr(value, "__module__") and "<" not in getattr(value, "__qualname__", "<"):
        kind, content = "function", f"{value.__module__}.{value.__qualname__}".encode()
    else:
        raise StudyError(
            f"{kind}: is no part of a study's work; allowed: plain values, paths, arrays, functions of a "
            "module, and tuples, lists, mappings and dataclasses of these"
        )
    return f"{kind}:{len(content)}:".encode() + content
