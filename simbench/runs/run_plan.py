"""A robot's plan: made from everything that it depends on and from nothing else, or read from the cache."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import platform
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.balance.gait import Gait
from simbench.balance.whole_body import WholeBodyPlan
from simbench.errors import RunError, ScenarioError
from simbench.files.json_document import parse_json
from simbench.kinematics.arrays import Array
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.arm.on_equipment import plan_fixed_base
from simbench.retargeting.contact.hand_plan import Equipment, HandPlan, Resistance
from simbench.retargeting.reference.reference import FollowedSteps, Reference, Timeline
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.retargeting.steps.step_candidates import StepFollowingOptions
from simbench.retargeting.steps.step_following import plan_step_following
from simbench.runs.plan_cache import cache_place, claimed, discard, keep, read_cached
from simbench.runs.provenance import fingerprint, sources_fingerprint
from simbench.runs.retargeted_reference import build_arm_reference, build_whole_body_reference
from simbench.runs.scenario.loading import robot_files
from simbench.sim.equipment import (
    compute_joint_positions,
    compute_resistance,
    describe_handles,
    find_obstacles,
)
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.system.portable import KERNELS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from simbench.motion.human_motion import HumanMotion
    from simbench.robot.robot import Robot
    from simbench.runs.scenario.schema import Scenario

OnProgress = Callable[[str, int, int], None]
# Mean angle between a robot's arms and the person's, degrees, above which its size is worth a word.
_FAR_OFF = 20.0
_STRUCTURE = "structure"  # Name of the array that holds the JSON text of everything but arrays.
_DIGEST_SIZE = hashlib.sha256().digest_size
# Libraries whose version may change a plan.
_LIBRARIES = ("numpy", "scipy", "pin", "coal", "numba", "llvmlite", "trimesh", "shapely")


@dataclass(frozen=True)
class Plan:
    """The robot's planned motion, and the actor's motion of the equipment."""

    timeline: Timeline  # Planned motion at every physics step.
    metrics: Mapping[str, float]
    # {fixture name: (T, J) array}: positions to which the actor moved the joints of each fixture, at the
    # recording's samples, m or rad.
    asked: Mapping[str, NDArray[np.float64]]
    # (N, 2) int or None: first and last sample of each of the recording's repetitions.
    strokes: NDArray[np.int64] | None
    # Plan of the balance controller, of a robot that follows the person's steps.
    whole: WholeBodyPlan | None = None
    # What is to be said of the timing, and what was assumed and changed of steps, one line each.
    notes: Sequence[str] = ()
    doubts: Sequence[str] = ()  # What the robot cannot do as the person did, one line each.


@dataclass(frozen=True)
class PlanInputs:
    """Everything beside the robot that a plan depends on.

    The planner gets these objects and no others. What it does not read of a section or of the equipment has
    the same value in all of them, so that a change of it cannot change a plan.
    """

    motion: HumanMotion  # The recording, resampled and cropped.
    robot: RobotSection  # Base placement and posture.
    retarget: RetargetSection  # Method, margins, contact and smoothing.
    mechanisms: tuple[Mechanism, ...]  # Geometry and kinematics of the equipment, without masses and forces.
    # {side: Resistance}: resistance of the equipment to each hand; empty for a robot with a fixed base, which
    # is not balanced.
    resistance: Mapping[str, Resistance]
    # Physics step, and times to settle, lead in and hold; the other keys have their default values.
    timing: SimulationSection
    feedforward: str  # Feed-forward torque, as in `ControlSection`.
    embedding: bool  # Whether the legs react to the upper body's motion.
    rate: float = 0.0  # Rate of the balance controller, Hz, for legs that follow the person's steps; else 0.


def collect_inputs(
    robot: Robot, scenario: Scenario, mechanisms: list[Mechanism], motion: HumanMotion
) -> PlanInputs:
    """Select what the plan of a scenario depends on.

    `robot`: the scenario's robot; `mechanisms`: mechanisms of its fixtures; `motion`: its recording. Returns
    inputs of `make_plan`.
    """
    settings = scenario.simulation
    follows_steps = robot.floating and scenario.retarget.physics == "steps"
    described: list[Mechanism] = []
    timing = SimulationSection(
        timestep_s=settings.timestep_s,
        settle_s=settings.settle_s,
        lead_in_s=settings.lead_in_s,
        hold_s=settings.hold_s,
    )
    for each in mechanisms:
        # Planning gets forces and masses as resistance, where it uses them.
        joints = tuple(
            replace(joint, friction=0.0, damping=0.0, back_damping=0.0, stiffness=0.0, rest=0.0)
            for joint in each.joints
        )
        parts, furniture = (
            tuple(replace(part, mass=1.0) for part in bodies) for bodies in (each.parts, each.furniture)
        )
        described.append(
            replace(each, joints=joints, parts=parts, furniture=furniture, cut=None, standing=False)
        )
    return PlanInputs(
        motion,
        scenario.robot,
        scenario.retarget,
        tuple(described),
        compute_resistance(mechanisms) if robot.floating else {},
        timing,
        scenario.control.feedforward,
        scenario.balance.embedding.plan or not robot.floating,
        scenario.balance.rate_hz if follows_steps else 0.0,
    )


def make_plan(robot: Robot, inputs: PlanInputs, on_progress: OnProgress) -> Plan:
    """Plan the motion of a robot that follows a recording.

    `inputs`: everything else that the plan depends on; `on_progress`: called as planning proceeds. Returns
    the planned motion at every physics step. Raises SimbenchError if the robot cannot follow the recording.
    """
    motion, mechanisms, settings = inputs.motion, inputs.mechanisms, inputs.retarget
    if robot.floating and settings.physics == "steps":
        if mechanisms:
            raise ScenarioError(
                "retarget.physics: steps: hands hold nothing; allowed: a scenario without fixtures"
            )
        notes = []
        if settings.timing == "local":
            notes.append("retarget.timing: local has no effect: legs that follow keep the recorded clock")
        if not inputs.embedding:
            notes.append(
                "balance.embedding.plan: false has no effect: legs that follow always react to the upper "
                "body's motion"
            )
        options = StepFollowingOptions(inputs.robot, settings, inputs.timing, inputs.rate, inputs.feedforward)
        steps = plan_step_following(robot, motion, options, on_progress)
        notes += steps.notes
        return Plan(
            steps.timeline, steps.metrics, {}, motion.strokes, steps.whole, tuple(notes), steps.doubts
        )
    # An actor on the scenario's equipment provides the handles' paths; a file does not.
    handles = (motion.handles or describe_handles(mechanisms)) if mechanisms else {}
    equipment = Equipment(handles, partial(find_obstacles, mechanisms, robot), inputs.resistance)
    timing, feedforward, speed_fraction = inputs.timing, inputs.feedforward, settings.speed_limit_fraction
    if not robot.floating:
        arm = plan_fixed_base(robot, motion, inputs.robot, settings, equipment, on_progress)
        timeline = build_arm_reference(
            robot, arm, timing, feedforward=feedforward, speed_fraction=speed_fraction
        )
        asked = {
            each.name: compute_joint_positions(each, arm.hands.actor, arm.hands.contact)
            for each in mechanisms
        }
        return Plan(timeline, arm.metrics, asked, motion.strokes, notes=arm.notes)
    timelines: list[Timeline] = []

    def build(plan: MotionPlan) -> None:
        on_progress("reference", 0, 1)
        timelines.append(
            build_whole_body_reference(
                robot, plan, timing, feedforward=feedforward, speed_fraction=speed_fraction
            )
        )
        on_progress("reference", 1, 1)

    plan = plan_motion(
        robot, motion, inputs.robot, settings, equipment, on_progress, embedding=inputs.embedding, check=build
    )
    asked = {
        each.name: compute_joint_positions(each, plan.hands.actor, plan.hands.contact) for each in mechanisms
    }
    arms = [plan.metrics.get(f"retarget.robot_{bone}_mean_rad") for bone in ("upper_arm", "forearm")]
    off = [math.degrees(each) for each in arms if each is not None]
    notes = list(plan.notes)
    if handles and off and max(off) > _FAR_OFF:
        angles = " and ".join(f"{each:.0f}°" for each in off)
        notes.append(
            f"while its hands do the task, {robot.name}'s upper arms and forearms are {angles} off the "
            "person's on average; `simbench place SCENARIO` says what another place, or smaller equipment, "
            "would bring"
        )
    return Plan(timelines[-1], plan.metrics, asked, motion.strokes, notes=tuple(notes))


# Classes that a file may name.
_CLASSES = {
    each.__name__: each for each in (Plan, Timeline, Reference, HandPlan, WholeBodyPlan, Gait, FollowedSteps)
}


class DamagedPlanError(Exception):
    """The bytes are not a whole plan."""


def encode_plan(plan: Plan) -> bytes:
    """Write a plan as bytes. Returns SHA-256 of the rest, then a NumPy archive."""
    arrays: list[Array] = []
    structure = json.dumps(_flatten(plan, arrays))
    named: dict[str, Any] = {str(number): array for number, array in enumerate(arrays)}
    named[_STRUCTURE] = np.frombuffer(structure.encode(), dtype=np.uint8)
    body = io.BytesIO()
    np.savez(body, **named)
    content = body.getvalue()
    return hashlib.sha256(content).digest() + content


def decode_plan(content: bytes) -> Plan:
    """Read a plan from bytes.

    `content`: result of `encode_plan`. Returns the plan; its arrays have the same values and memory layouts.
    """
    body = content[_DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != content[:_DIGEST_SIZE]:
        raise DamagedPlanError("truncated or damaged")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            text = archive[_STRUCTURE].tobytes().decode()
            structure = parse_json(text, "structure of a plan", RunError, non_finite="kept")
            plan = _rebuild(structure, archive)
    except (ValueError, LookupError, TypeError, zipfile.BadZipFile, EOFError, OSError, RunError) as error:
        raise DamagedPlanError(f"of another form: {error}") from error
    if not isinstance(plan, Plan):
        raise DamagedPlanError("not a plan")
    return plan


def _flatten(value: Any, arrays: list[Array]) -> Any:
    """Turn a value into what JSON can hold; arrays are appended to a list and replaced by their numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value) and not isinstance(value, type):
        content = {field.name: _flatten(getattr(value, field.name), arrays) for field in fields(value)}
        return {"class": type(value).__name__, "fields": content}
    if isinstance(value, Mapping):
        return {"mapping": {name: _flatten(each, arrays) for name, each in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_flatten(each, arrays) for each in value]}
    return value


def _rebuild(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Make a value of what `_flatten` returned."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[str(value["array"])]
    if "mapping" in value:
        return {name: _rebuild(each, arrays) for name, each in value["mapping"].items()}
    if "tuple" in value:
        return tuple(_rebuild(each, arrays) for each in value["tuple"])
    content = {name: _rebuild(each, arrays) for name, each in value["fields"].items()}
    return _CLASSES[value["class"]](**content)


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
    key = plan_key(inputs)
    folder, limit = cache_place()
    if not cache or folder is None or limit == 0:
        return make_plan(robot, inputs, on_progress), PlanRecord(key, False, False)
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
    of simbench, and what may change the last bits of a plan: libraries, processor and threads.
    """
    import llvmlite.binding as llvm

    robot = [hashlib.sha256(path.read_bytes()).hexdigest() for path in robot_files(inputs.robot.name)]
    sources, versions = sources_fingerprint(), []
    for name in _LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} none")
    named = {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}
    threads = named or {"cores": str(len(os.sched_getaffinity(0)))}
    kernels = [os.environ.get(name, "") for name in KERNELS]
    machine = (
        *versions,
        f"python {platform.python_version()}",
        f"processor {platform.machine()} {llvm.get_host_cpu_name()}",
        f"threads {sorted(threads.items())}",
        f"kernels {kernels}",
        f"compiled {os.environ.get('NUMBA_DISABLE_JIT', '0')}",
    )
    return fingerprint((inputs, robot, sources, machine))


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
