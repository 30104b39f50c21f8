"""A person performs a task on its equipment while motion capture records them."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.grasp import find_grasp, steady_hands
from simbench.motion.actors.human_model import SPINE_JOINTS, build_human_model
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.posture import check_ranges
from simbench.motion.actors.reaching import Reacher, build_reacher, hold, move_clavicles, palm_poses
from simbench.motion.actors.redundancy import follow
from simbench.motion.actors.stance import arms_forward, body_sway, lean_to_reach
from simbench.motion.actors.strategy import Strategy
from simbench.motion.actors.tasks.task import Task, task_handles
from simbench.motion.actors.timing import Course, draw_course, sway
from simbench.motion.actors.virtual_mocap import MocapErrors, record
from simbench.motion.anatomy import PALM_OFFSET, mean_frame
from simbench.motion.human_motion import HumanMotion, InitialPose, validate_motion
from simbench.robot.sides import SIDES

# Root mean square wandering of the posture people return to, rad: no two repetitions are the same.
WANDERING = np.radians(1.5)
# Reach, as part of the arm's length, up to which a person does not lean: elbows bend by 49 degrees or more.
REACH_WITHOUT_LEAN = 0.91
# Places along the equipment's travel, over five turns of what turns, that must be within reach.
PLACES_TO_REACH = 50


def perform(
    person: Person,
    task: Task,
    strategy: Strategy,
    rng: np.random.Generator,
    errors: MocapErrors,
    source: str,
) -> ActorPerformance:
    """Have a person perform a task.

    The initial configuration and the way to the equipment are movements of the joints; from the first contact
    on, the equipment rules where the hands are and the person's strategy how the joints follow.

    Parameters
    ----------
    person : Person
    task : Task
        As the person finds it.
    strategy : Strategy
    rng : numpy.random.Generator
        All variation comes from it.
    errors : MocapErrors
    source : str
        Name of the recording.

    Returns
    -------
    ActorPerformance

    Raises
    ------
    MotionError
        The equipment is out of reach, or asks for a joint angle no person has.
    """
    human = build_human_model(person.actor, person.proportions, person.lift)
    reacher = build_reacher(human)
    course = draw_course(task.timing, rng)
    q = _move(reacher, person, task, strategy, course, rng)
    check_ranges(human, q)
    joints, segments = record(human, q, errors, rng)
    palms = np.array([palm_poses(reacher, configuration) for configuration in q])
    still = slice(0, course.phases["icp"][1] + 1)
    motion = HumanMotion(
        time=course.time,
        joints=joints,
        segments=segments,
        initial=InitialPose(
            joints={name: position[still].mean(axis=0) for name, position in joints.items()},
            segments={name: mean_frame(frames[still]) for name, frames in segments.items()},
        ),
        source=source,
        actor=person.actor,
        strokes=course.strokes,
        notes=(f"virtual actor, {person.stance}", "no legs: the pelvis is placed, not carried"),
        handles=task_handles(task, course.travel),
    )
    return ActorPerformance(
        motion=validate_motion(motion),
        human=human,
        q=q,
        palms={side: palms[:, hand] for hand, side in enumerate(SIDES)},
        phases=course.phases,
        boundaries=course.boundaries,
        contact_start=course.contact_start,
        travel=course.travel,
        strategy=strategy,
        equipment=task.details,
    )


def _move(
    reacher: Reacher,
    person: Person,
    task: Task,
    strategy: Strategy,
    course: Course,
    rng: np.random.Generator,
) -> Array:
    """Follow the course: configurations (T, nq)."""
    human = reacher.human
    held = hold(task.turn_axes)
    working = task.palms(np.linspace(course.travel.min(), course.travel.max(), PLACES_TO_REACH))
    wrists = working[..., :3, 3] - working[..., :3, :3] @ PALM_OFFSET
    lean = lean_to_reach(human, wrists, REACH_WITHOUT_LEAN, task.seated)
    grasp = find_grasp(reacher, person, task, held, strategy, lean)
    initial = arms_forward(human, task.seated)
    swaying = body_sway(human, course.time, rng, task.seated)
    contact, still = course.contact_start, course.phases["icp"][1]

    free = initial + course.approach[:contact, None] * (grasp.before - initial)
    free += grasp.onto(course.descent[:contact]) - grasp.before
    # A weighted sum of two unit quaternions that differ by less than 20 degrees, brought back to length 1.
    free[:, 3:7] /= np.linalg.norm(free[:, 3:7], axis=1, keepdims=True)
    swayed = free + swaying[:contact]
    for k in range(contact):
        move_clavicles(reacher, free[k])
        move_clavicles(reacher, swayed[k])
    share = np.where(np.arange(contact) <= still, 0.0, course.approach[:contact])
    reach = steady_hands(reacher, swayed, free, share, held)

    rest = slice(contact, None)
    pelvis = grasp.holding[:7] + swaying[rest, :7]
    posture = reach[-1, reacher.in_q]
    wandering = np.stack([sway(course.time[rest], WANDERING, rng) for _ in posture], axis=1)
    wandering[:, : len(SPINE_JOINTS)] *= 0.3
    home = posture + wandering - wandering[0]
    targets = task.palms(course.travel[rest])
    work = follow(reacher, reach[-1], pelvis, targets, held, strategy, home, 1.0 / task.timing.rate)
    return np.concatenate([reach, work])
