"""Plan a robot's motion from everything that the plan depends on, and from nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simbench.balance.whole_body import WholeBodyPlan
from simbench.errors import ScenarioError
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.arm.on_equipment import plan_fixed_base
from simbench.retargeting.contact.hand_plan import Equipment, Resistance
from simbench.retargeting.reference.reference import Timeline
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.retargeting.steps.step_candidates import StepFollowingOptions
from simbench.retargeting.steps.step_following import plan_step_following
from simbench.runs.plans.retargeted_reference import build_arm_reference, build_whole_body_reference
from simbench.sim.equipment import (
    compute_actor_positions,
    compute_resistance,
    describe_handles,
    describe_surroundings,
)
from simbench.sim.fixtures.mechanism import Mechanism, Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simbench.motion.human_motion import HumanMotion
    from simbench.robot.robot import Robot
    from simbench.runs.scenario.schema import Scenario

OnProgress = Callable[[str, int, int], None]
_FAR_OFF = 20.0
"""Mean angle between a robot's arms and the person's, degrees, above which its size is worth a word."""


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
    timing = SimulationSection(
        timestep_s=settings.timestep_s,
        settle_s=settings.settle_s,
        lead_in_s=settings.lead_in_s,
        hold_s=settings.hold_s,
    )
    return PlanInputs(
        motion,
        scenario.robot,
        scenario.retarget,
        tuple(map(_without_physics, mechanisms)),
        compute_resistance(mechanisms) if robot.floating else {},
        timing,
        scenario.control.feedforward,
        scenario.balance.embedding or not robot.floating,
        scenario.balance.rate_hz if follows_steps(robot, scenario.retarget) else 0.0,
    )


def follows_steps(robot: Robot, settings: RetargetSection) -> bool:
    """Tell whether a robot's legs follow the person's steps.

    `settings`: section `retarget` of the scenario. Returns whether they do; never on a fixed base.
    """
    return robot.floating and settings.physics == "steps"


def make_plan(robot: Robot, inputs: PlanInputs, on_progress: OnProgress) -> Plan:
    """Plan the motion of a robot that follows a recording.

    `inputs`: everything else that the plan depends on; `on_progress`: called as planning proceeds. Returns
    the planned motion at every physics step. Raises SimbenchError if the robot cannot follow the recording.
    """
    motion, mechanisms = inputs.motion, inputs.mechanisms
    # An actor on the scenario's equipment provides the handles' paths; a file does not.
    handles = (motion.handles or describe_handles(mechanisms)) if mechanisms else {}
    equipment = Equipment(handles, describe_surroundings(mechanisms, robot), inputs.resistance)
    speed_fraction = inputs.retarget.speed_limit_fraction
    if not robot.floating:
        arm = plan_fixed_base(robot, motion, inputs.robot, inputs.retarget, equipment, on_progress)
        timeline = build_arm_reference(
            robot, arm, inputs.timing, feedforward=inputs.feedforward, speed_fraction=speed_fraction
        )
        asked = {each.name: compute_actor_positions(each, arm.hands) for each in mechanisms}
        return Plan(timeline, arm.metrics, asked, motion.strokes, notes=arm.notes)
    if follows_steps(robot, inputs.retarget):
        return _follow_steps(robot, inputs, on_progress)
    timelines: list[Timeline] = []

    def build(plan: MotionPlan) -> None:
        on_progress("reference", 0, 1)
        timelines.append(
            build_whole_body_reference(
                robot, plan, inputs.timing, feedforward=inputs.feedforward, speed_fraction=speed_fraction
            )
        )
        on_progress("reference", 1, 1)

    plan = plan_motion(
        robot,
        motion,
        inputs.robot,
        inputs.retarget,
        equipment,
        on_progress,
        embedding=inputs.embedding,
        check=build,
    )
    timeline = timelines[-1]
    asked = {each.name: compute_actor_positions(each, plan.hands) for each in mechanisms}
    notes = plan.notes
    arms = [plan.metrics.get(f"retarget.robot_{bone}_mean_rad") for bone in ("upper_arm", "forearm")]
    off = [math.degrees(each) for each in arms if each is not None]
    if handles and off and max(off) > _FAR_OFF:
        angles = " and ".join(f"{each:.0f}°" for each in off)
        notes = (
            *notes,
            f"while its hands do the task, {robot.name}'s upper arms and forearms are {angles} off the "
            "person's on average; `simbench place SCENARIO` says what another place, or smaller equipment, "
            "would bring",
        )
    return Plan(timeline, plan.metrics, asked, motion.strokes, notes=notes)


def _follow_steps(robot: Robot, inputs: PlanInputs, on_progress: OnProgress) -> Plan:
    """Plan a robot whose legs follow the person's steps."""
    if inputs.mechanisms:
        raise ScenarioError(
            "retarget.physics: steps: hands hold nothing; allowed: a scenario without fixtures"
        )
    options = StepFollowingOptions(
        inputs.robot, inputs.retarget, inputs.timing, inputs.rate, inputs.feedforward
    )
    plan = plan_step_following(robot, inputs.motion, options, on_progress)
    return Plan(
        plan.timeline,
        plan.metrics,
        {},
        inputs.motion.strokes,
        plan.whole,
        (*_without_effect(inputs), *plan.notes),
        plan.doubts,
    )


def _without_effect(inputs: PlanInputs) -> list[str]:
    """Say which settings have no effect on legs that follow the person's steps."""
    notes = []
    if inputs.retarget.timing == "local":
        notes.append("retarget.timing: local has no effect: legs that follow keep the recorded clock")
    if not inputs.embedding:
        notes.append(
            "balance.embedding: false has no effect: legs that follow always react to the upper body's motion"
        )
    return notes


def _without_physics(mechanism: Mechanism) -> Mechanism:
    """Remove the forces and masses of a mechanism: planning gets them as resistance, where it uses them."""
    joints = tuple(
        replace(joint, friction=0.0, damping=0.0, back_damping=0.0, stiffness=0.0, rest=0.0)
        for joint in mechanism.joints
    )
    parts, furniture = (tuple(map(_of_unit_mass, each)) for each in (mechanism.parts, mechanism.furniture))
    return replace(mechanism, joints=joints, parts=parts, furniture=furniture, cut=None, standing=False)


def _of_unit_mass(part: Part) -> Part:
    return replace(part, mass=1.0)
