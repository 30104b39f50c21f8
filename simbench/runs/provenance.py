"""Provenance of a run: versions, machine and command, so that it can be repeated."""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import simbench
from simbench.options import PolicySection
from simbench.resources import PACKAGE
from simbench.robot.sources import RobotSource
from simbench.sim.engine import ENGINES


def collect_provenance(seed: int, command: Sequence[str]) -> dict[str, Any]:
    """Collect versions, machine, seed and command line of a run that starts now.

    `seed`: seed of the scenario; `command`: program and arguments, as in `sys.argv`. Returns ready for JSON:
    `simbench`, `git_commit` (None outside a checkout, ending in `-dirty` when files differ from it),
    `python`, `platform`, `processor`, `cores`, `packages` (name to version), `seed`, `command`, `date`.
    """
    return {
        "simbench": simbench.__version__,
        "git_commit": _git_commit(),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": dict(_packages()),
        "seed": seed,
        # An argument that is a path need not be text.
        "command": [os.fsencode(part).decode("utf-8", "replace") for part in command],
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def describe_engine(name: str) -> dict[str, Any]:
    """Describe the physics engine of a run.

    `name`: one of `sim.engines.ENGINES`. Returns ready for JSON: `name`, `library` (the distribution that is
    installed) and its `version`.
    """
    providers = metadata.packages_distributions().get(ENGINES[name].library, [])
    library = providers[0] if providers else ENGINES[name].library
    return {"name": name, "library": library, "version": dict(_packages()).get(library)}


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


def _git_commit() -> str | None:
    checkout = PACKAGE.parent
    if not (checkout / ".git").exists():
        return None
    try:
        described = subprocess.run(
            ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
