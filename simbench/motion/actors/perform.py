"""A person grasps the equipment of a task and performs it while motion capture records them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors.human_model import (
    SPINE_JOINTS,
    HumanModel,
    check_ranges,
    draw_body_sway,
    draw_sway,
    find_arms_forward_posture,
    find_lean_to_reach,
    make_leaning_posture,
    update_clavicles,
)
from simbench.motion.actors.palm_control import (
    MAX_CORRECTIONS,
    TOLERANCE,
    Hold,
    Manner,
    Reacher,
    compute_palm_errors,
    compute_palm_jacobian,
    compute_palm_poses,
    find_nearest_posture,
    follow_palms,
    hold_positions,
    make_hold,
)
from simbench.motion.actors.people import EVEN, ActorPerformance, ActorStrategy, Person
from simbench.motion.actors.task import Task, Timing
from simbench.motion.actors.virtual_mocap import MocapErrors, record_mocap
from simbench.motion.human_motion import (
    PALM_OFFSET,
    HandlePath,
    HumanMotion,
    InitialPose,
    mean_frame,
    validate_motion,
)
from simbench.robot.sides import SIDES

# Steps, and the time of each, s, in which hands that hold the equipment settle to the posture a person likes.
SETTLING, SETTLING_STEP = 40, 0.08
# Positions on the approach to the equipment at which the posture is computed, few enough for a smooth spline,
# and the time between them, s.
WAYPOINTS, WAYPOINT_STEP = 12, 0.03
# The descent onto the equipment starts before the approach ends, as people blend movements, by this
# fraction of its duration: a third of the approach is then done.
OVERLAP = 0.40


class Schedule:
    """What happens when in one recording."""

    def __init__(self, timing: Timing, rng: np.random.Generator) -> None:
        """Draw the schedule with natural variation.

        `timing`: mean durations and how much they vary; `rng`: all variation comes from it.
        """

        def varied(mean: float) -> float:
            return mean * (1.0 + timing.variation * float(np.clip(rng.normal(), -2.0, 2.0)))

        transition, descent = varied(timing.transition), varied(timing.descent)
        descent_start = timing.initial + transition - OVERLAP * descent
        contact = descent_start + descent
        clock, position, base = contact + timing.grasp, 0.0, 0.0
        moves, ends = [], []
        for _ in range(timing.repetitions):
            first = clock
            for k, (end, mean) in enumerate(timing.moves):
                # What a repetition ends with is given by the equipment: the drawer is shut, the turn is
                # whole.
                target = base + (end if k == len(timing.moves) - 1 else varied(end))
                duration = varied(mean)
                moves.append((clock, duration, target - position))
                last, position = clock + duration, target
                clock = last + varied(timing.pause)
            base = position
            ends.append((first, last))
        # Sample times (T,), s.
        self.time = time = np.arange(round((last + timing.rest) * timing.rate) + 1) / timing.rate
        bounds = np.array(ends)
        # First and last sample (N, 2) of each repetition.
        self.strokes = strokes = np.rint(bounds * timing.rate).astype(np.int64)
        self.phases = list_phases(strokes, round(timing.initial * timing.rate), len(time))
        # Progress (T,) of the transition and of the descent onto the equipment, 0 to 1.
        self.approach = minimum_jerk(time, timing.initial, transition)
        self.descent = minimum_jerk(time, descent_start, descent)
        # Travel (T,) of the equipment, m or rad.
        steps = [distance * minimum_jerk(time, start, length) for start, length, distance in moves]
        self.travel: Array = np.sum(steps, axis=0)
        # Instants (N + 1,) that part repetitions, s: between two the middle of the stop.
        self.boundaries = np.concatenate(
            [bounds[:1, 0], 0.5 * (bounds[:-1, 1] + bounds[1:, 0]), bounds[-1:, 1]]
        )
        # First sample with the hands on the equipment.
        self.contact_start = int(np.ceil(contact * timing.rate))


def list_phases(strokes: NDArray[np.int64], still: int, count: int) -> dict[str, tuple[int, int]]:
    """List the first and last sample of `icp`, `tgp`, `pmp` and `rest`.

    `strokes` (N, 2): first and last sample of each repetition; `still`: last sample of standing still at
    first; `count`: number of samples.
    """
    ends = (-1, still, int(strokes[0, 0]) - 1, int(strokes[-1, 1]), count - 1)
    names = ("icp", "tgp", "pmp", "rest")
    return {name: (before + 1, last) for name, (before, last) in zip(names, pairwise(ends), strict=True)}


def compensate_sway(reacher: Reacher, q: Array, undisturbed: Array, fraction: Array, held: Hold) -> Array:
    """Take the palms' deviations by sway out of a movement, increasingly.

    `reacher`: the person's model; `q` (T, nq): configurations with sway; `undisturbed` (T, nq):
    configurations of the same movement without sway; `fraction` (T,): fraction of the palms' deviation that
    is taken out in each frame, 0 to 1; `held`: which components of the palms' poses count. Returns (T, nq):
    configurations with steadier palms.
    """
    steady = q.copy()
    for k in np.flatnonzero(fraction > 0.0):
        goal = compute_palm_poses(reacher, undisturbed[k])
        swayed = compute_palm_poses(reacher, steady[k])
        share, aim = float(fraction[k]), goal.copy()
        for hand in range(2):
            rotation = pin.log3(swayed[hand, :3, :3].T @ goal[hand, :3, :3])
            aim[hand, :3, :3] = swayed[hand, :3, :3] @ pin.exp3(share * rotation)
            aim[hand, :3, 3] = (1.0 - share) * swayed[hand, :3, 3] + share * goal[hand, :3, 3]
        for _ in range(MAX_CORRECTIONS):
            poses, both = compute_palm_jacobian(reacher, steady[k])
            jacobian, error = held.rows @ both, compute_palm_errors(poses, aim, held)
            if np.abs(error).max() < TOLERANCE:
                break
            steady[k, reacher.in_q] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, error)
            update_clavicles(reacher.human, steady[k])
    return steady


# Root mean square wandering of the posture people return to, rad: no two repetitions are the same.
WANDERING = np.radians(1.5)
# Reach, as a fraction of the arm's length, up to which a person does not lean: elbows bend by 49 degrees or
# more.
REACH_WITHOUT_LEAN = 0.91
# Number of poses of a handle along its path: 4 mm apart or less, the longest being a circle of 0.12 m.
HANDLE_POSES = 200
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
    human = HumanModel(person.actor, person.proportions, person.lift)
    schedule, reacher = Schedule(task.timing, rng), Reacher(human)
    held = make_hold({side: task.turn_axes[side] for side in task.hands})
    working = task.palms(np.linspace(schedule.travel.min(), schedule.travel.max(), POSITIONS_TO_REACH))
    wrists = working[..., :3, 3] - working[..., :3, :3] @ PALM_OFFSET
    wrists[:, [side not in task.hands for side in SIDES]] = np.nan
    lean = find_lean_to_reach(human, wrists, REACH_WITHOUT_LEAN, task.seated)

    # The grasp: the nearest posture to the preferred one, in which the person then settles by their criteria.
    q = make_leaning_posture(human, lean, task.seated)
    for side in task.hands:
        q[human.arms[side]] = person.comfort
    update_clavicles(human, q)
    goal = task.palms(np.zeros(1))[0]
    q = find_nearest_posture(reacher, q, goal, held)
    goals, pelvis = np.tile(goal, (SETTLING, 1, 1, 1)), np.tile(q[:7], (SETTLING, 1))
    home = np.tile(q[reacher.in_q], (SETTLING, 1))
    holding = follow_palms(reacher, q, pelvis, goals, home, Manner(held, strategy, SETTLING_STEP))[-1]
    # The way from there to before the equipment, palms on straight lines; backwards it is the approach.
    away, progress = np.tile(goal, (WAYPOINTS, 1, 1, 1)), np.linspace(0.0, 1.0, WAYPOINTS)
    for side in task.hands:
        away[:, SIDES.index(side), :3, 3] += progress[:, None] * task.approach[side]
    pelvis, home = np.tile(holding[:7], (WAYPOINTS, 1)), np.tile(holding[reacher.in_q], (WAYPOINTS, 1))
    manner = Manner(held, replace(EVEN, memory=0.0), WAYPOINT_STEP)
    try:
        path = follow_palms(reacher, holding, pelvis, away, home, manner)
    except MotionError:
        # The hands cannot approach in the orientation of the grasp, so they turn into it on the path.
        manner = replace(manner, held=hold_positions(task.hands))
        path = follow_palms(reacher, holding, pelvis, away, home, manner)
    before, onto = path[-1], CubicSpline(progress, path[::-1])

    if task.arms_forward:
        initial = find_arms_forward_posture(human, task.seated)
    else:
        initial = make_leaning_posture(human, 0.0, task.seated)
        update_clavicles(human, initial)
    swaying = draw_body_sway(human, schedule.time, rng, task.seated)
    contact, still = schedule.contact_start, schedule.phases["icp"][1]

    free = initial + schedule.approach[:contact, None] * (before - initial)
    free += onto(schedule.descent[:contact]) - before
    # A weighted sum of two unit quaternions that differ by less than 20 degrees, brought back to length 1.
    free[:, 3:7] /= np.linalg.norm(free[:, 3:7], axis=1, keepdims=True)
    swayed = free + swaying[:contact]
    for k in range(contact):
        update_clavicles(human, free[k])
        update_clavicles(human, swayed[k])
    steadied = np.where(np.arange(contact) <= still, 0.0, schedule.approach[:contact])
    approach = compensate_sway(reacher, swayed, free, steadied, held)

    rest = slice(contact, None)
    pelvis = holding[:7] + swaying[rest, :7]
    posture = approach[-1, reacher.in_q]
    wandering = np.stack([draw_sway(schedule.time[rest], WANDERING, rng) for _ in posture], axis=1)
    wandering[:, : len(SPINE_JOINTS)] *= 0.3
    home = posture + wandering - wandering[0]
    targets = task.palms(schedule.travel[rest])
    manner = Manner(held, strategy, 1.0 / task.timing.rate)
    work = follow_palms(reacher, approach[-1], pelvis, targets, home, manner)
    q = np.concatenate([approach, work])
    check_ranges(human, q)
    joints, segments = record_mocap(human, q, errors, rng)
    palms = np.array([compute_palm_poses(reacher, configuration) for configuration in q])
    posed_at = slice(0, still + 1)
    posed = (joints, segments)
    if not task.arms_forward:
        # The posture that scaling needs is recorded before the task.
        forward = np.tile(find_arms_forward_posture(human, task.seated), (len(q[posed_at]), 1))
        posed = record_mocap(human, forward, errors, rng)

    # Paths along which the equipment can move the hands; what turns more than a full turn repeats its path.
    low, high = float(schedule.travel.min()), float(schedule.travel.max())
    period = 2.0 * np.pi if task.unit == "rad" else task.period
    if period is not None:
        high = min(high, low + period)
    positions = np.linspace(low, high, HANDLE_POSES)
    on_handles, handles = task.palms(positions), {}
    for side in task.hands:
        poses = on_handles[:, SIDES.index(side)]
        fixed = bool((poses == poses[0]).all())
        start = 0 if fixed else int(np.abs(positions - schedule.travel[0]).argmin())
        handles[side] = HandlePath(poses[:1] if fixed else poses, task.turn_axes[side], start)
    motion = HumanMotion(
        time=schedule.time,
        joints=joints,
        segments=segments,
        initial=InitialPose(
            joints={name: position[posed_at].mean(axis=0) for name, position in posed[0].items()},
            segments={name: mean_frame(frames[posed_at]) for name, frames in posed[1].items()},
        ),
        source=source,
        actor=person.actor,
        strokes=schedule.strokes,
        notes=(f"virtual actor, {person.stance}", "no legs: the pelvis is placed, not carried"),
        handles=handles,
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
