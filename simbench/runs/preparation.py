"""From a scenario to what a simulation of it needs: the plan, the balancer, and the robot in its world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.balance.sections import limb_sections
from simbench.errors import RetargetError, ScenarioError
from simbench.motion.missing_arm import hang_missing_arm
from simbench.options import (
    BALANCE_CONTROLLERS,
    RETARGETING_METHODS,
    STILL,
    SWEEP,
    TRAJECTORY,
    resolve_method,
)
from simbench.retargeting.arm.fixed_base import choose_rest
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.foot_shapes import require_foot_shapes
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import SEATED, Robot
from simbench.robot.upper_body import has_both_arms
from simbench.runs.fidelity_metrics import FollowedRecording
from simbench.runs.metrics import FELL_HEIGHT
from simbench.runs.motion_source import scenario_motion
from simbench.runs.plans.cached import PLAN_REUSED, find_plan
from simbench.runs.plans.plan import Plan, collect_inputs
from simbench.runs.plans.sweep_plan import build_sweep_reference
from simbench.runs.plans.trajectory_plan import TrajectoryPlan
from simbench.runs.provenance import describe_trajectory
from simbench.runs.scenario.loading import Scenario, scenario_mechanisms
from simbench.runs.trajectory_source import plan_scenario_trajectory
from simbench.sim.balance_loop import BalancedRun, balance_plan, balance_run
from simbench.sim.balance_plugin import plug_balancer
from simbench.sim.control.laws import ControlLaw
from simbench.sim.engine import Fixture, RobotBody, World
from simbench.sim.equipment import find_held_mechanisms
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.grasp import EmptyHand, Grip, GripDesign
from simbench.sim.initial_tilt import tilt_base
from simbench.sim.loop import Balancer, Simulation
from simbench.sim.push import Push
from simbench.sim.seating import find_seat, require_seat
from simbench.sim.standing_reference import build_standing_reference
from simbench.sim.step_fitting import fit_steps
from simbench.system.progress import OnProgress

DOUBT_COUNT = "motion.doubt_count"
"""Metric of a run with a recording: number of things that may well be wrong about it."""

OnDoubts = Callable[[tuple[str, ...]], None]


class Planning(NamedTuple):
    """How a scenario is planned, beside what it says."""

    cache: bool = True  # Whether the plan may come from the cache of plans, and is kept there.
    # Called with what may well be wrong about the recording, if anything.
    on_doubts: OnDoubts = lambda doubts: None
    # Called with where the recording and the plan came from.
    add_provenance: Callable[[Mapping[str, Any]], None] = lambda entries: None


class _Planned(NamedTuple):
    """A planned motion, and the plan of a trajectory or the recording that it follows, if it does."""

    plan: Plan
    trajectory: TrajectoryPlan | None = None
    recording: FollowedRecording | None = None


@dataclass(frozen=True)
class Preparation:
    """A scenario that is planned: all that its simulation needs, but for the world and the control law."""

    scenario: Scenario  # The scenario, completed.
    robot: Robot  # The robot, one with a fixed base on its pedestal; without variations.
    mechanisms: Sequence[Mechanism]  # Its equipment.
    seat: Mechanism | None  # Equipment that the robot sits on.
    course: Plan  # The planned motion.
    followed: TrajectoryPlan | None  # Plan of a trajectory that was made elsewhere.
    recording: FollowedRecording | None  # Recording that the robot follows.
    balanced: BalancedRun | None  # Balance of a robot on its feet.

    @property
    def timeline(self) -> Timeline:
        """Planned motion at every physics step."""
        return self.balanced.timeline if self.balanced else self.course.timeline

    def planned_base(self) -> Callable[[], NDArray[np.float64]] | None:
        """Give what tells the pose (7,) of the base that simbench's own balance controller plans, as it goes.

        Returns position, m, and quaternion x, y, z, w, in the world; None without that controller.
        """
        if self.balanced is None or self.scenario.balance.controller not in BALANCE_CONTROLLERS:
            return None
        whole = self.balanced.balancer.whole
        return lambda: whole.configuration[:7]

    @property
    def way(self) -> NDArray[np.float64] | None:
        """Way (T, 2) of a robot that follows a trajectory or a person's steps, m; None of any other."""
        if self.followed is not None:
            return self.followed.tracked.base[:, :2]
        return None if self.course.whole is None else self.course.whole.gait.cog


def complete_scenario(robot: Robot, scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Write into a scenario what its robot decides, and refuse what it cannot do.

    `robot`: the scenario's robot. Returns `scenario`: with the robot's own posture, fitted steps and the
    method of retargeting; `notes`: what was changed, one line each. Raises SimbenchError if the robot has no
    legs for what the scenario asks for.
    """
    _require_legs(robot, scenario)
    scenario, notes = _with_own_posture(robot, scenario)
    if scenario.motion.source not in (STILL, SWEEP) and not scenario.motion.source.startswith(TRAJECTORY):
        held = bool(find_held_mechanisms(scenario_mechanisms(scenario)))
        retarget = resolve_method(
            scenario.retarget,
            floating=robot.floating,
            both_arms=has_both_arms(robot),
            holds_equipment=held,
        )
        scenario = scenario.model_copy(update={"retarget": retarget})
    return _with_fitted_steps(robot, scenario), notes


def prepare(robot: Robot, scenario: Scenario, planning: Planning, on_progress: OnProgress) -> Preparation:
    """Plan a scenario.

    `robot`: the scenario's robot; `scenario`: from `complete_scenario`; `planning`: cache, and who is told of
    doubts and origins; `on_progress`: called as planning proceeds. Returns plan, equipment and balance.
    Raises SimbenchError if the robot cannot follow the motion.
    """
    mechanisms = scenario_mechanisms(scenario)
    seat = find_seat(robot, scenario.robot, mechanisms)
    course, followed, recording = _plan(robot, scenario, mechanisms, planning, on_progress)
    require_finite(course.timeline, robot, scenario.simulation.timestep_s)
    if seat is not None:
        begin = np.concatenate([course.timeline.base, course.timeline.reference.position[0]])
        require_seat(robot, begin, seat)
    if not robot.floating:
        robot = on_pedestal(robot, float(course.timeline.base[2]))
    balanced = _balanced(robot, scenario, course, followed)
    return Preparation(scenario, robot, mechanisms, seat, course, followed, recording, balanced)


def restart(prepared: Preparation) -> Preparation:
    """Prepare the same once more, from the beginning: a balance controller changes its reference as it goes.

    `prepared`: what was prepared, and never simulated itself. Returns the same, whose reference and balance
    controller may be used.
    """
    if prepared.balanced is None:
        return prepared
    timeline = prepared.course.timeline
    reference = replace(
        timeline.reference,
        **{
            name: getattr(timeline.reference, name).copy()
            for name in ("position", "velocity", "feedforward", "acceleration")
        },
    )
    course = replace(prepared.course, timeline=replace(timeline, reference=reference))
    balanced = _balanced(prepared.robot, prepared.scenario, course, prepared.followed)
    return replace(prepared, course=course, balanced=balanced)


def place_in_world(
    world: World, prepared: Preparation, varied: Robot, law: ControlLaw, pushes: Sequence[Push] = ()
) -> Simulation:
    """Put the robot and its equipment into a world, at the start of the planned motion.

    `world`: an empty world; `prepared`: what is simulated; `varied`: the robot that is simulated, perhaps
    with other masses than the one that was planned for; `law`: law that the motors follow; `pushes`: external
    forces on the pelvis. Returns everything that `sim.loop` needs.
    """
    scenario, timeline, robot = prepared.scenario, prepared.timeline, prepared.robot
    fixtures = {each.name: world.add_fixture(each) for each in prepared.mechanisms}
    body = world.add_robot(
        varied,
        tilt_base(timeline.base) if robot.floating else timeline.base,
        timeline.reference.position[0],
    )
    return Simulation(
        body,
        timeline.reference,
        list(fixtures.values()),
        _grips(scenario, robot, body, fixtures),
        law=law,
        balancer=_choose_balancer(prepared),
        pushes=pushes,
        seat=fixtures[prepared.seat.name] if prepared.seat else None,
    )


def fallen_height(prepared: Preparation) -> float:
    """Compute below which height of its root a robot has fallen.

    `prepared`: what is simulated. Returns height, m; -inf of a robot with a fixed base.
    """
    return FELL_HEIGHT * float(prepared.timeline.base[2]) if prepared.robot.floating else -np.inf


def _choose_balancer(prepared: Preparation) -> Balancer | None:
    """Take simbench's own balancer, or that of a plug-in."""
    section = prepared.scenario.balance
    if section.controller in BALANCE_CONTROLLERS:
        return prepared.balanced.balancer if prepared.balanced else None
    if prepared.balanced is None:
        raise ScenarioError(
            f"balance.controller: {section.controller}: {prepared.robot.name} does not stand on its feet; "
            f"allowed: {', '.join(BALANCE_CONTROLLERS)}"
        )
    return plug_balancer(
        section.controller, section.options, prepared.robot, prepared.balanced, prepared.scenario.simulation
    )


def _grips(
    scenario: Scenario, robot: Robot, body: RobotBody, fixtures: Mapping[str, Fixture]
) -> list[Grip | EmptyHand]:
    """Make a grip for each hand, if one of them holds equipment."""
    design = GripDesign(**scenario.grip.model_dump())
    held = find_held_mechanisms([fixture.mechanism for fixture in fixtures.values()])
    sides = [role.removesuffix("_hand") for role in robot.hands]
    if not any(side in held for side in sides):
        return []
    return [
        Grip(body, side, fixtures[held[side].name], design) if side in held else EmptyHand() for side in sides
    ]


def _plan(
    robot: Robot,
    scenario: Scenario,
    mechanisms: list[Mechanism],
    planning: Planning,
    on_progress: OnProgress,
) -> _Planned:
    """Plan a scenario's motion."""
    source = scenario.motion.source
    if source.startswith(TRAJECTORY):
        followed = plan_scenario_trajectory(robot, scenario, on_progress)
        path = Path(source.removeprefix(TRAJECTORY))
        described = describe_trajectory(path, followed.notes, followed.doubts)
        planning.add_provenance({"trajectory": described})
        if followed.doubts:
            planning.on_doubts(followed.doubts)
        return _Planned(Plan(followed.timeline, followed.metrics, {}, None), followed)
    if source in (SWEEP, STILL):
        return _Planned(_plan_own_motion(robot, scenario))
    return _plan_from_recording(robot, scenario, mechanisms, planning, on_progress)


def _plan_from_recording(
    robot: Robot,
    scenario: Scenario,
    mechanisms: list[Mechanism],
    planning: Planning,
    on_progress: OnProgress,
) -> _Planned:
    """Plan the motion of a robot that follows the scenario's recording, or take the plan from the cache.

    What is doubtful about the recording is told before it is planned, and kept with the plan's record.
    """
    on_progress("read", 0, 1)
    motion = scenario_motion(scenario, mechanisms)
    if has_both_arms(robot) and not scenario.motion.strict:
        motion = hang_missing_arm(motion)
    on_progress("read", 1, 1)
    planning.add_provenance({"doubts": list(motion.doubts)})
    if motion.doubts:
        planning.on_doubts(motion.doubts)
    inputs = collect_inputs(robot, scenario, mechanisms, motion)
    # What the code of a retargeter does is not known.
    cache = planning.cache and scenario.retarget.method in RETARGETING_METHODS
    plan, record = find_plan(robot, inputs, on_progress, cache=cache)
    if plan.doubts:
        planning.on_doubts(tuple(plan.doubts))
    planning.add_provenance({"doubts": [*motion.doubts, *plan.doubts], "plan": asdict(record)})
    doubts = float(len(motion.doubts))
    plan = replace(plan, metrics={**plan.metrics, PLAN_REUSED: record.reused, DOUBT_COUNT: doubts})
    return _Planned(plan, None, FollowedRecording(motion, scenario.motion.speed, scenario.retarget))


def _plan_own_motion(robot: Robot, scenario: Scenario) -> Plan:
    """Plan the motion of a robot without a recording: a sweep of its joints, or standing still."""
    source = scenario.motion.source
    if scenario.fixtures:
        raise ScenarioError(f"fixtures: motion.source {source} uses none")
    if source == STILL:
        if scenario.motion.task:
            raise ScenarioError(f"motion.task: motion.source {source} has none")
        timeline = build_standing_reference(
            robot, scenario.robot, scenario.simulation, scenario.push, scenario.control.feedforward
        )
        return Plan(timeline, {}, {}, None)
    timeline = build_sweep_reference(
        robot, scenario.robot, scenario.motion.task, scenario.simulation, scenario.control.feedforward
    )
    return Plan(timeline, {}, {}, None)


def _balanced(
    robot: Robot, scenario: Scenario, course: Plan, followed: TrajectoryPlan | None
) -> BalancedRun | None:
    """Set up balance for a robot on its feet; return None for one that sits or has a fixed base."""
    if not robot.floating or scenario.robot.posture == SEATED:
        return None
    whole, timeline = course.whole if followed is None else followed.whole, course.timeline
    if whole is not None:
        return balance_plan(
            robot,
            timeline,
            whole,
            scenario.balance,
            scenario.simulation,
            feedforward=scenario.control.feedforward,
        )
    return balance_run(
        robot,
        timeline,
        scenario.balance,
        scenario.stepping,
        scenario.simulation,
        feedforward=scenario.control.feedforward,
    )


def _with_fitted_steps(robot: Robot, scenario: Scenario) -> Scenario:
    """Write into a scenario what its robot's legs decide."""
    if scenario.stepping is None:
        return scenario
    section, stepping = fit_steps(
        robot, scenario.robot, scenario.balance, scenario.stepping, scenario.simulation
    )
    return scenario.model_copy(update={"robot": section, "stepping": stepping})


def _with_own_posture(robot: Robot, scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Replace a posture that a robot with a fixed base lacks by its own, and say so."""
    asked = scenario.robot.posture
    posture = asked if robot.floating else choose_rest(robot, asked)
    if posture == asked:
        return scenario, ()
    note = (
        f"robot.posture: {robot.name} has no posture {asked!r}; it rests in its own, {posture!r} "
        f"(it has: {', '.join(robot.postures)})"
    )
    section = scenario.robot.model_copy(update={"posture": posture})
    return scenario.model_copy(update={"robot": section}), (note,)


def _require_legs(robot: Robot, scenario: Scenario) -> None:
    """Refuse what the robot has no legs for: steps and pushes, and to stand on feet that touch nothing."""
    if scenario.retarget.physics == "steps" and scenario.stepping is not None:
        raise ScenarioError(
            "stepping: the legs follow the person's steps; allowed: with retarget.physics: stand, or no "
            "stepping"
        )
    reason = "sits" if scenario.robot.posture == SEATED else "" if robot.floating else "has a fixed base"
    for key in ("stepping", "push"):
        if getattr(scenario, key) is not None and reason:
            raise ScenarioError(f"{key}: {robot.name} {reason}; allowed: a robot on two legs")
    if not reason:
        limb_sections(robot)
        require_foot_shapes(robot)


def require_finite(timeline: Timeline, robot: Robot, timestep: float) -> None:
    """Refuse a planned motion that is not a finite number everywhere; the error says when and which joint."""
    reference = timeline.reference
    rows = (reference.position, reference.velocity, reference.feedforward, reference.acceleration)
    finite = np.logical_and.reduce([np.isfinite(each) for each in rows])
    if finite.all():
        return
    step = int((~finite).any(axis=1).argmax())
    joint = robot.joint_names[int((~finite[step]).argmax())]
    raise RetargetError(
        f"the planned motion is not a finite number from {step * timestep:.3f} s on, first joint {joint}; "
        f"the recording begins at {timeline.start:.3f} s"
    )
