"""A person performs a task on its equipment while motion capture records them."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.grasp import compensate_sway, find_grasp
from simbench.motion.actors.human_model import SPINE_JOINTS, build_human_model
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.posture import check_ranges
from simbench.motion.actors.reaching import (
    Reacher,
    build_reacher,
    compute_palm_poses,
    make_hold,
    update_clavicles,
)
from simbench.motion.actors.redundancy import Manner, follow_palms
from simbench.motion.actors.stance import (
    draw_body_sway,
    find_arms_forward_posture,
    find_lean_to_reach,
    make_leaning_posture,
)
from simbench.motion.actors.strategy import ActorStrategy
from simbench.motion.actors.tasks.task import Task, find_task_handles
from simbench.motion.actors.timing import Schedule, draw_schedule, draw_sway
from simbench.motion.actors.virtual_mocap import MocapErrors, record_mocap
from simbench.motion.anatomy import PALM_OFFSET, mean_frame
from simbench.motion.human_motion import HumanMotion, InitialPose, validate_motion
from simbench.robot.sides import SIDES

# Root mean square wandering of the posture people return to, rad: no two repetitions are the same.
WANDERING = np.radians(1.5)
# Reach, as a fraction of the arm's length, up to which a person does not lean: elbows bend by 49 degrees or
# more.
REACH_WITHOUT_LEAN = 0.91
# Positions along the equipment's travel, over five turns of what turns, that must be within reach.
POSITIONS_TO_REACH = 50


def perform(
    person: Person,
    task: Task,
    strategy: ActorStrategy,
    rng: np.random.Generator,
    errors: MocapErrors,
    source: str,
) -> ActorPerformance:
    """Have a person perform a task.

    The initial configuration and the approach to the equipment are movements of the joints; from the first
    contact on, the equipment determines the poses of the hands, and the person's strategy how the joints
    follow. `person`: body and habits; `task`: equipment as the person finds it; `strategy`: how the person
    resolves redundancy; `rng`: all variation comes from it; `errors`: errors of the motion capture; `source`:
    name of the recording. Returns the recording and its ground truth. Raises MotionError the equipment is out
    of reach, or asks for a joint angle no person has.
    """
    human = build_human_model(person.actor, person.proportions, person.lift)
    reacher = build_reacher(human)
    schedule = draw_schedule(task.timing, rng)
    q = _move(reacher, person, task, strategy, schedule, rng)
    check_ranges(human, q)
    joints, segments = record_mocap(human, q, errors, rng)
    palms = np.array([compute_palm_poses(reacher, configuration) for configuration in q])
    still = slice(0, schedule.phases["icp"][1] + 1)
    posed = (joints, segments)
    if not task.arms_forward:
        # The posture that scaling needs is recorded before the task.
        before = np.tile(find_arms_forward_posture(human, task.seated), (len(q[still]), 1))
        posed = record_mocap(human, before, errors, rng)
    motion = HumanMotion(
        time=schedule.time,
        joints=joints,
        segments=segments,
        initial=InitialPose(
            joints={name: position[still].mean(axis=0) for name, position in posed[0].items()},
            segments={name: mean_frame(frames[still]) for name, frames in posed[1].items()},
        ),
        source=source,
        actor=person.actor,
        strokes=schedule.strokes,
        notes=(f"virtual actor, {person.stance}", "no legs: the pelvis is placed, not carried"),
        handles=find_task_handles(task, schedule.travel),
    )
    return ActorPerformance(
        motion=validate_motion(motion),
        human=human,
        q=q,
        palms={side: palms[:, hand] for hand, side in enumerate(SIDES)},
        phases=schedule.phases,
        boundaries=schedule.boundaries,
        contact_start=schedule.contact_start,
        travel=schedule.travel,
        strategy=strategy,
        equipment=task.details,
    )


def find_initial_posture(reacher: Reacher, task: Task) -> Array:
    """Find how a person stands or sits before a task.

    `reacher`: the person's model; `task`: says whether the arms are forward or hang. Returns (nq,):
    configuration.
    """
    if task.arms_forward:
        return find_arms_forward_posture(reacher.human, task.seated)
    hanging = make_leaning_posture(reacher.human, 0.0, task.seated)
    update_clavicles(reacher, hanging)
    return hanging


def _move(
    reacher: Reacher,
    person: Person,
    task: Task,
    strategy: ActorStrategy,
    schedule: Schedule,
    rng: np.random.Generator,
) -> Array:
    """Move as scheduled: configurations (T, nq)."""
    human = reacher.human
    held = make_hold({side: task.turn_axes[side] for side in task.hands})
    working = task.palms(np.linspace(schedule.travel.min(), schedule.travel.max(), POSITIONS_TO_REACH))
    wrists = working[..., :3, 3] - working[..., :3, :3] @ PALM_OFFSET
    wrists[:, [side not in task.hands for side in SIDES]] = np.nan
    lean = find_lean_to_reach(human, wrists, REACH_WITHOUT_LEAN, task.seated)
    grasp = find_grasp(reacher, person, task, held, strategy, lean)
    initial = find_initial_posture(reacher, task)
    swaying = draw_body_sway(human, schedule.time, rng, task.seated)
    contact, still = schedule.contact_start, schedule.phases["icp"][1]

    free = initial + schedule.approach[:contact, None] * (grasp.before - initial)
    free += grasp.onto(schedule.descent[:contact]) - grasp.before
    # A weighted sum of two unit quaternions that differ by less than 20 degrees, brought back to length 1.
    free[:, 3:7] /= np.linalg.norm(free[:, 3:7], axis=1, keepdims=True)
    swayed = free + swaying[:contact]
    for k in range(contact):
        update_clavicles(reacher, free[k])
        update_clavicles(reacher, swayed[k])
    steadied = np.where(np.arange(contact) <= still, 0.0, schedule.approach[:contact])
    approach = compensate_sway(reacher, swayed, free, steadied, held)

    rest = slice(contact, None)
    pelvis = grasp.holding[:7] + swaying[rest, :7]
    posture = approach[-1, reacher.in_q]
    wandering = np.stack([draw_sway(schedule.time[rest], WANDERING, rng) for _ in posture], axis=1)
    wandering[:, : len(SPINE_JOINTS)] *= 0.3
    home = posture + wandering - wandering[0]
    targets = task.palms(schedule.travel[rest])
    manner = Manner(held, strategy, 1.0 / task.timing.rate)
    work = follow_palms(reacher, approach[-1], pelvis, targets, home, manner)
    return np.concatenate([approach, work])
