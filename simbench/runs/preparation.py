"""From a scenario to what a simulation of it needs: the plan, the balancer, and the robot in its world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.balance.leg_ik import describe_lost_motions, pelvis_freedom, stand
from simbench.balance.sections import limb_sections
from simbench.errors import (
    LegReachError,
    RetargetError,
    RobotError,
    ScenarioError,
    SimbenchError,
    StepReachError,
)
from simbench.motion.human_motion import HumanMotion, complete_arms
from simbench.motion.person_body import hang_missing_arm
from simbench.options import (
    BALANCE_CONTROLLERS,
    RETARGETING_METHODS,
    STILL,
    SWEEP,
    TRAJECTORY,
    resolve_method,
)
from simbench.retargeting.arm.fixed_base import choose_rest
from simbench.retargeting.match.body import arm_lengths, match_body
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import SEATED, Robot, on_pedestal
from simbench.robot.robot_limbs import links_with_collision_shape
from simbench.robot.sides import SIDES
from simbench.runs.metrics import FELL_HEIGHT
from simbench.runs.motion_source import plan_scenario_trajectory, scenario_motion
from simbench.runs.plan_cache import PLAN_REUSED
from simbench.runs.provenance import describe_trajectory
from simbench.runs.retargeted_reference import build_sweep_reference
from simbench.runs.run_plan import Plan, collect_inputs, find_plan
from simbench.runs.scenario.loading import scenario_mechanisms
from simbench.runs.scenario.schema import Scenario
from simbench.runs.trajectory_plan import TrajectoryPlan
from simbench.sim.balance_loop import (
    BalancedRun,
    balance_plan,
    balance_run,
    build_standing_reference,
    plug_balancer,
)
from simbench.sim.control.laws import ControlLaw
from simbench.sim.engine import World
from simbench.sim.equipment import find_held_mechanisms
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.grasp import EmptyHand, Grip
from simbench.sim.loop import Balancer, Simulation
from simbench.sim.push import Push
from simbench.sim.starting_pose import find_seat, fit_steps, require_seat
from simbench.sim.step_changes import describe_feasible_steps
from simbench.system.progress import OnProgress

# Metric of a run with a recording: number of things that may well be wrong about it.
DOUBT_COUNT = "motion.doubt_count"
# Angle by which a robot is tilted when a simulation begins, rad: a fifth of a micrometre across a foot.
INITIAL_TILT = 1e-6
# Axis in the frame of the root link, parallel to no edge of a foot, so that one corner is the lowest.
_TILT_AXIS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)

OnDoubts = Callable[[tuple[str, ...]], None]


class Planning(NamedTuple):
    """How a scenario is planned, beside what it says."""

    cache: bool = True  # Whether the plan may come from the cache of plans, and is kept there.
    # Called with what may well be wrong about the recording, if anything.
    on_doubts: OnDoubts = lambda doubts: None
    # Called with where the recording and the plan came from.
    add_provenance: Callable[[Mapping[str, Any]], None] = lambda entries: None


@dataclass(frozen=True)
class Preparation:
    """A scenario that is planned: all that its simulation needs, but for the world and the control law."""

    scenario: Scenario  # The scenario, completed.
    robot: Robot  # The robot, one with a fixed base on its pedestal; without variations.
    mechanisms: Sequence[Mechanism]  # Its equipment.
    seat: Mechanism | None  # Equipment that the robot sits on.
    course: Plan  # The planned motion.
    followed: TrajectoryPlan | None  # Plan of a trajectory that was made elsewhere.
    recording: HumanMotion | None  # Recording that the robot follows, at the samples of the plan.
    balanced: BalancedRun | None  # Balance of a robot on its feet.
    timeline: Timeline  # Planned motion at every physics step.
    fallen_height: float  # Height of the root below which it has fallen, m; -inf on a fixed base.
    # Way (T, 2) of a robot that follows a trajectory or a person's steps, m; None of any other.
    way: NDArray[np.float64] | None
    # What may well be wrong about the motion, and what the robot cannot do of it, one line each.
    doubts: tuple[str, ...]

    def planned_base(self) -> Callable[[], NDArray[np.float64]] | None:
        """Give what tells the pose (7,) of the base that simbench's own balance controller plans, as it goes.

        Returns position, m, and quaternion x, y, z, w, in the world; None without that controller.
        """
        if self.balanced is None or self.scenario.balance.controller not in BALANCE_CONTROLLERS:
            return None
        whole = self.balanced.balancer.whole
        return lambda: whole.configuration[:7]


def complete_scenario(robot: Robot, scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Write into a scenario what its robot decides, and refuse what it cannot do.

    `robot`: the scenario's robot. Returns `scenario`: with the robot's own posture, fitted steps and the
    method of retargeting; `notes`: what was changed or is given up, one line each. Raises SimbenchError if
    the robot has no legs for what the scenario asks for: steps, pushes, and to stand on feet.
    """
    if scenario.retarget.physics == "steps" and scenario.stepping is not None:
        raise ScenarioError(
            "stepping: the legs follow the person's steps; allowed: with retarget.physics: stand, or no "
            "stepping"
        )
    section, source = scenario.robot, scenario.motion.source
    notes: tuple[str, ...] = ()
    reason = "sits" if section.posture == SEATED else "" if robot.floating else "has a fixed base"
    for key in ("stepping", "push"):
        if getattr(scenario, key) is not None and reason:
            raise ScenarioError(f"{key}: {robot.name} {reason}; allowed: a robot on two legs")
    if not reason:
        limb_sections(robot)
        model, shaped = robot.model, links_with_collision_shape(robot)
        carriers = {model.frames[model.getFrameId(link)].parentJoint for link in shaped}
        for role in robot.feet:
            if model.frames[model.getFrameId(robot.frames[role])].parentJoint not in carriers:
                raise RobotError(
                    f"{robot.name}: frames.{role}: no link of the foot has a collision shape, so that it "
                    "would fall through the floor; add <collision> to the URDF"
                )
    # A robot with a fixed base may lack the posture that is asked for.
    posture = section.posture if robot.floating else choose_rest(robot, section.posture)
    if posture != section.posture:
        notes = (
            f"robot.posture: {robot.name} has no posture {section.posture!r}; it rests in its own, "
            f"{posture!r} (it has: {', '.join(robot.postures)})",
        )
        section = section.model_copy(update={"posture": posture})
        scenario = scenario.model_copy(update={"robot": section})
    if source not in (STILL, SWEEP) and not source.startswith(TRAJECTORY):
        retarget = resolve_method(
            scenario.retarget,
            floating=robot.floating,
            both_arms={"left_arm", "right_arm"} <= robot.groups.keys(),
            holds_equipment=bool(find_held_mechanisms(scenario_mechanisms(scenario))),
        )
        scenario = scenario.model_copy(update={"retarget": retarget})
    if scenario.stepping is not None:
        with offering_steps(robot, scenario):
            section, stepping = fit_steps(
                robot, section, scenario.balance, scenario.stepping, scenario.simulation
            )
        scenario = scenario.model_copy(update={"robot": section, "stepping": stepping})
        stance = stand(robot, (0.0, 0.0), 0.0, section.posture)
        if lost := describe_lost_motions(robot, stance):
            notes = (*notes, lost)
    if scenario.balance.recovery == "step" and not reason:
        stance = stand(robot, (0.0, 0.0), 0.0, section.posture)
        if not pelvis_freedom(robot, stance)[4]:
            balance = scenario.balance.model_copy(update={"recovery": "hips"})
            scenario = scenario.model_copy(update={"balance": balance})
            notes = (
                *notes,
                f"balance.recovery: {robot.name} does not step, for the pelvis cannot sway over one sole; it "
                "bends its hips",
            )
    return scenario, notes


def prepare(robot: Robot, scenario: Scenario, planning: Planning, on_progress: OnProgress) -> Preparation:
    """Plan a scenario.

    `robot`: the scenario's robot; `scenario`: from `complete_scenario`; `planning`: cache, and who is told of
    doubts and origins; `on_progress`: called as planning proceeds. Returns plan, equipment and balance.
    Raises SimbenchError if the robot cannot follow the motion.
    """
    mechanisms, source, task = scenario_mechanisms(scenario), scenario.motion.source, scenario.motion.task
    sits = scenario.robot.posture == SEATED and robot.floating
    seat = find_seat(robot, scenario.robot, mechanisms) if sits else None
    settings, feedforward = scenario.simulation, scenario.control.feedforward
    followed: TrajectoryPlan | None = None
    recording: HumanMotion | None = None
    doubts: tuple[str, ...] = ()
    if source.startswith(TRAJECTORY):
        followed = plan_scenario_trajectory(robot, scenario, on_progress)
        path = Path(source.removeprefix(TRAJECTORY))
        described = describe_trajectory(path, followed.notes, followed.doubts)
        planning.add_provenance({"trajectory": described})
        if followed.doubts:
            planning.on_doubts(followed.doubts)
        doubts = followed.doubts
        course = Plan(followed.timeline, followed.metrics, {}, None)
    elif source in (SWEEP, STILL):
        if scenario.fixtures:
            raise ScenarioError(f"fixtures: motion.source {source} uses none")
        if source == STILL and task:
            raise ScenarioError(f"motion.task: motion.source {source} has none")
        with offering_steps(robot, scenario):
            timeline = (
                build_standing_reference(robot, scenario.robot, settings, scenario.push, feedforward)
                if source == STILL
                else build_sweep_reference(robot, scenario.robot, task, settings, feedforward)
            )
        course = Plan(timeline, {}, {}, None)
    else:
        on_progress("read", 0, 1)
        recording = scenario_motion(scenario, mechanisms)
        one_arm = len(complete_arms(recording.joints)) == 1
        if one_arm and {"left_arm", "right_arm"} <= robot.groups.keys() and not scenario.motion.strict:
            recording = hang_missing_arm(recording)
        on_progress("read", 1, 1)
        # What is doubtful about the recording is told before it is planned, and kept with the plan's record.
        planning.add_provenance({"doubts": list(recording.doubts)})
        if recording.doubts:
            planning.on_doubts(recording.doubts)
        inputs = collect_inputs(robot, scenario, mechanisms, recording)
        # What the code of a retargeter does is not known.
        cache = planning.cache and scenario.retarget.method in RETARGETING_METHODS
        course, record = find_plan(robot, inputs, on_progress, cache=cache)
        if course.doubts:
            planning.on_doubts(tuple(course.doubts))
        doubts = (*recording.doubts, *course.doubts)
        planning.add_provenance({"doubts": list(doubts), "plan": asdict(record)})
        counted = {PLAN_REUSED: record.reused, DOUBT_COUNT: float(len(recording.doubts))}
        course = replace(course, metrics={**course.metrics, **counted})
    reference = course.timeline.reference
    rows = (reference.position, reference.velocity, reference.feedforward, reference.acceleration)
    finite = np.logical_and.reduce([np.isfinite(each) for each in rows])
    if not finite.all():
        step = int((~finite).any(axis=1).argmax())
        joint = robot.joint_names[int((~finite[step]).argmax())]
        raise RetargetError(
            f"the planned motion is not a finite number from {step * settings.timestep_s:.3f} s on, first "
            f"joint {joint}; the recording begins at {course.timeline.start:.3f} s"
        )
    if seat is not None:
        begin = np.concatenate([course.timeline.base, course.timeline.reference.position[0]])
        require_seat(robot, begin, seat)
    if not robot.floating:
        robot = on_pedestal(robot, float(course.timeline.base[2]))
    balanced = _balanced(robot, scenario, course, followed)
    timeline = balanced.timeline if balanced else course.timeline
    fallen = FELL_HEIGHT * float(timeline.base[2]) if robot.floating else -np.inf
    way = followed.tracked.base[:, :2] if followed else course.whole.gait.cog if course.whole else None
    return Preparation(
        scenario,
        robot,
        mechanisms,
        seat,
        course,
        followed,
        recording,
        balanced,
        timeline,
        fallen,
        way,
        doubts,
    )


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
    timeline = balanced.timeline if balanced else course.timeline
    return replace(prepared, course=course, balanced=balanced, timeline=timeline)


def tilt_base(base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tilt a robot that is about to be put on a floor by `INITIAL_TILT`.

    All corners of a planned sole are at the same height. Which of them an engine finds to be the deepest is
    decided by the last digits of their positions, and with it the ground reaction of the first tenths of a
    second. Across a sole this tilt is a hundred thousand times greater than such digits, and a fiftieth of
    what a robot falls freely in a step of 1 ms; with it every computer finds the same corner. `base` (7,):
    pose of the root link in the world: x, y, z (m), quaternion x, y, z, w. Returns (7,): the pose, turned
    about an axis that is horizontal where the root link is upright.
    """
    tilted = Rotation.from_quat(base[3:]) * Rotation.from_rotvec(INITIAL_TILT * _TILT_AXIS)
    return np.concatenate([base[:3], tilted.as_quat()])


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
        varied, tilt_base(timeline.base) if robot.floating else timeline.base, timeline.reference.position[0]
    )
    # Each hand has a grip if one of them holds equipment.
    held = find_held_mechanisms([fixture.mechanism for fixture in fixtures.values()])
    sides = [role.removesuffix("_hand") for role in robot.hands]
    grips: list[Grip | EmptyHand] = []
    if any(side in held for side in sides):
        grips = [
            Grip(body, side, fixtures[held[side].name], scenario.grip) if side in held else EmptyHand()
            for side in sides
        ]
    section, balanced = scenario.balance, prepared.balanced
    balancer: Balancer | None = balanced.balancer if balanced else None
    if section.controller not in BALANCE_CONTROLLERS:
        if balanced is None:
            raise ScenarioError(
                f"balance.controller: {section.controller}: {robot.name} does not stand on its feet; "
                f"allowed: {', '.join(BALANCE_CONTROLLERS)}"
            )
        settings = scenario.simulation
        balancer = plug_balancer(section.controller, section.options, robot, balanced, settings)
    return Simulation(
        body,
        timeline.reference,
        list(fixtures.values()),
        grips,
        law=law,
        balancer=balancer,
        pushes=pushes,
        seat=fixtures[prepared.seat.name] if prepared.seat else None,
    )


def _balanced(
    robot: Robot, scenario: Scenario, course: Plan, followed: TrajectoryPlan | None
) -> BalancedRun | None:
    """Set up balance for a robot on its feet; return None for one that sits or has a fixed base."""
    if not robot.floating or scenario.robot.posture == SEATED:
        return None
    whole = course.whole if followed is None else followed.whole
    balance, settings, feedforward = scenario.balance, scenario.simulation, scenario.control.feedforward
    if whole is not None:
        return balance_plan(robot, course.timeline, whole, balance, settings, feedforward=feedforward)
    with offering_steps(robot, scenario):
        timeline, stepping = course.timeline, scenario.stepping
        return balance_run(robot, timeline, balance, stepping, settings, feedforward=feedforward)


@contextmanager
def offering_steps(robot: Robot, scenario: Scenario) -> Iterator[None]:
    """Add to an error about steps out of reach the options with which a robot that stands can make them."""
    try:
        yield
    except (LegReachError, StepReachError) as error:
        if scenario.stepping is None or scenario.motion.source != STILL:
            raise
        section, balance = scenario.robot, scenario.balance
        offer = describe_feasible_steps(robot, section, balance, scenario.stepping, scenario.simulation)
        raise type(error)(f"{error}{offer}") from None


@dataclass(frozen=True)
class PlannedPlacement:
    """A scenario planned with one place of the robot and one size of the equipment."""

    place: Literal["given", "auto"]  # Value of `robot.place`.
    scale: float  # Value of `equipment_scale`.
    # {str: float or None}: metrics of the plan, such as `retarget.robot_forearm_mean_rad`; empty if there is
    # none.
    metrics: Mapping[str, float | None]
    base: tuple[float, ...] = ()  # (3,): where the root link begins: x, y and z, m, world.
    fault: str = ""  # Why there is no plan; empty if there is one.


def plan_placements(
    robot: Robot,
    scenario: Scenario,
    scales: Sequence[float],
    on_progress: OnProgress,
    *,
    places: Sequence[Literal["given", "auto"]] = ("given", "auto"),
) -> Iterator[PlannedPlacement]:
    """Plan a scenario for every size of its equipment and every way to place its robot.

    What cannot be planned is told, not raised. A scenario that searches the place itself (`robot.place:
    auto`) gives none.
    """
    if scenario.robot.place == "auto":
        places = ("auto",)
    for scale, place in product(scales, places):
        section = scenario.robot.model_copy(update={"place": place})
        varied = scenario.model_copy(update={"equipment_scale": scale, "robot": section})
        try:
            completed, _ = complete_scenario(robot, varied)
            course = prepare(robot, completed, Planning(), on_progress).course
        except SimbenchError as error:
            yield PlannedPlacement(place, scale, {}, fault=str(error))
        else:
            base = tuple(np.asarray(course.timeline.base)[:3].tolist())
            yield PlannedPlacement(place, scale, course.metrics, base)


def arm_ratio(robot: Robot, scenario: Scenario) -> float | None:
    """Length of a robot's arms, shoulder to wrist, by the person's; None without two human arms."""
    if not {"left_arm", "right_arm"} <= robot.groups.keys():
        return None
    unscaled = scenario.model_copy(update={"equipment_scale": 1.0})
    joints = scenario_motion(unscaled, scenario_mechanisms(unscaled)).joints
    body, own, person = match_body(robot), 0.0, 0.0
    for side in SIDES:
        places = [joints.get(f"{side}_{name}") for name in ("shoulder", "elbow", "wrist")]
        shoulder, elbow, wrist = places
        if shoulder is None or elbow is None or wrist is None:
            return None
        own += sum(arm_lengths(body, side))
        person += float(np.median(np.linalg.norm(elbow - shoulder, axis=1)))
        person += float(np.median(np.linalg.norm(wrist - elbow, axis=1)))
    return own / person
