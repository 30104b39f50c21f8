"""The plan of a scenario: from the cache, or made and kept there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simbench.runs.fingerprint import fingerprint, sources_fingerprint
from simbench.runs.plans.cache import (
    cache_folder,
    claimed,
    discard,
    keep,
    machine_identity,
    read_cached,
    size_limit,
)
from simbench.runs.plans.plan import OnProgress, Plan, PlanInputs, make_plan
from simbench.runs.plans.plan_file import DamagedPlanError, decode_plan, encode_plan
from simbench.runs.scenario.files import robot_files

if TYPE_CHECKING:
    from simbench.robot.robot import Robot

PLAN_REUSED = "timing.plan_reused"
"""Metric of a run with a recording: whether its plan came from the cache."""


@dataclass(frozen=True)
class PlanRecord:
    """Where a run's plan came from, for its provenance."""

    key: str  # Digest of everything that the plan depends on.
    reused: bool  # Whether it came from the cache.
    kept: bool  # Whether it is in the cache now.


def find_plan(
    robot: Robot, inputs: PlanInputs, on_progress: OnProgress, *, cache: bool = True
) -> tuple[Plan, PlanRecord]:
    """Read a plan from the cache, or make it and keep it there.

    `robot`: the robot that `inputs.robot` names. `inputs`: everything else that the plan depends on.
    `on_progress`: called as planning proceeds. `cache`: whether the cache is used. The plan is the same, bit
    for bit. Returns `record`: its key, and whether it came from the cache. Raises SimbenchError if the robot
    cannot follow the recording.
    """
    key, folder, limit = plan_key(inputs), cache_folder(), size_limit()
    if not cache or folder is None or limit == 0:
        return decode_plan(encode_plan(make_plan(robot, inputs, on_progress))), PlanRecord(key, False, False)
    plan = _read(folder, key)
    if plan is None:
        with claimed(folder, key, lambda: on_progress("plan of another process", 0, 1)):
            # Another process may have made it meanwhile.
            plan = _read(folder, key)
            if plan is None:
                content = encode_plan(make_plan(robot, inputs, on_progress))
                return decode_plan(content), PlanRecord(key, False, keep(folder, key, content, limit))
    on_progress("plan from cache", 1, 1)
    return plan, PlanRecord(key, True, True)


def plan_key(inputs: PlanInputs) -> str:
    """Digest everything that a plan depends on.

    `inputs`: recording, sections and equipment. Returns digest of the inputs, the robot's files, the sources
    of simbench and the versions of the libraries.
    """
    robot = [hashlib.sha256(path.read_bytes()).hexdigest() for path in robot_files(inputs.robot.name)]
    return fingerprint((inputs, robot, sources_fingerprint(), machine_identity()))


def _read(folder: Path, key: str) -> Plan | None:
    """Read a plan from the cache; one that is damaged is removed."""
    content = read_cached(folder, key)
    if content is None:
        return None
    try:
        return decode_plan(content)
    except DamagedPlanError as error:
        discard(folder, key, str(error))
        return None
