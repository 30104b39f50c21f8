"""A person opens and closes a drawer five times, with both hands on the upper edge of its front."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.motion.actors.human_model import HumanModel, build_human_model
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.posture import COMFORT, check_ranges, couple_clavicles, solve_arms
from simbench.motion.actors.stance import arms_forward, body_sway, lean_to_reach, with_lean
from simbench.motion.actors.timing import minimum_jerk
from simbench.motion.actors.virtual_mocap import MocapErrors, frames_over_time, record
from simbench.motion.anatomy import SIDES, mean_frame
from simbench.motion.human_motion import Actor, HumanMotion, InitialPose, validate_motion

Array = NDArray[np.float64]

# The descent starts before the approach ends, as people blend movements, by this share of its duration: a
# third of the way down is then done, and the rest is vertical.
OVERLAP = 0.40
PULLING_LEAN = np.radians(1.2)


@dataclass(frozen=True)
class DrawerTask:
    """Where the drawer is, and how it is moved. World frame: the actor stands at the origin, looking along x.

    Parameters
    ----------
    distance : float
        From the actor's pelvis axis forward to the palm centres on the drawer as the actor finds it, m.
    height : float
        Of the palm centres while they hold the drawer's front, m.
    separation : float
        Between the two palm centres, m; the middle is in front of the actor.
    convergence : float
        Turn of each hand about the vertical, fingertips toward the other hand, rad: with elbows at their side
        a person's palms-down hands do not point straight ahead.
    stroke : float
        How far the drawer is pulled, m.
    initial_opening : float
        How far the drawer is open as the actor finds it, m: the fingers reach that far into it.
    repetitions : int
    pull_duration, push_duration : float
        Mean of the repetitions, s.
    variation : float
        Relative standard deviation of durations and strokes over the repetitions.
    approach_height : float
        The hands arrive above the front and come down on it from there, m. The last two thirds are vertical.
    initial_duration, transition_duration, descent_duration : float
        Standing with arms forward; from there to above the front; down on it; s.
    grasp_duration, turning_pause, rest_duration : float
        Closing the fingers; between pull and push; standing still at the end; s.
    rate : float
        Of the recording, Hz.
    """

    distance: float = 0.45
    height: float = 0.975
    separation: float = 0.40
    convergence: float = np.radians(15.0)
    stroke: float = 0.11
    initial_opening: float = 0.12
    repetitions: int = 5
    pull_duration: float = 0.90
    push_duration: float = 0.90
    variation: float = 0.03
    approach_height: float = 0.12
    initial_duration: float = 1.0
    transition_duration: float = 1.5
    descent_duration: float = 0.9
    grasp_duration: float = 0.4
    turning_pause: float = 0.10
    rest_duration: float = 0.5
    rate: float = 100.0

    def handle(self, side: str) -> Array:
        """Palm centre (3,) on the drawer as the actor finds it, m, world frame."""
        lateral = 0.5 * self.separation if side == "left" else -0.5 * self.separation
        return np.array([self.distance, lateral, self.height])

    def grip(self, side: str) -> pin.SE3:
        """Palm pose on the drawer as the actor finds it, world frame."""
        turn = -self.convergence if side == "left" else self.convergence
        return pin.SE3(pin.utils.rotate("z", turn), self.handle(side))


DEFAULT_TASK, DEFAULT_ERRORS = DrawerTask(), MocapErrors()
DEFAULT_ACTOR = Actor(name="virtual_1", height=1.70, mass=70.0)
DEFAULT_SEED = 2018


def perform_drawer(
    task: DrawerTask = DEFAULT_TASK,
    rng: np.random.Generator | int = DEFAULT_SEED,
    actor: Actor = DEFAULT_ACTOR,
    errors: MocapErrors = DEFAULT_ERRORS,
) -> ActorPerformance:
    """Have a virtual actor open and close a drawer while motion capture records them.

    Parameters
    ----------
    task : DrawerTask
    rng : numpy.random.Generator or int
        Generator or seed: all variation comes from it.
    actor : Actor
    errors : MocapErrors

    Returns
    -------
    ActorPerformance
        `travel` is the drawer's, positive towards the actor.

    Raises
    ------
    MotionError
        The drawer is out of reach, or its place asks for a joint angle no person has.
    """
    rng = np.random.default_rng(rng)
    human = build_human_model(actor)
    plan = _plan(task, rng)
    q = _move(human, task, plan, rng)
    check_ranges(human, q)
    joints, segments = record(human, q, errors, rng)
    still = slice(0, plan.phases["icp"][1] + 1)
    initial = InitialPose(
        joints={name: position[still].mean(axis=0) for name, position in joints.items()},
        segments={name: mean_frame(frames[still]) for name, frames in segments.items()},
    )
    palms = frames_over_time(human, q, [f"{side}_palm" for side in SIDES])
    motion = HumanMotion(
        time=plan.time,
        joints=joints,
        segments=segments,
        initial=initial,
        source="actor:drawer",
        actor=actor,
        strokes=plan.strokes,
        notes=(f"virtual actor, {task}",),
    )
    return ActorPerformance(
        motion=validate_motion(motion),
        human=human,
        q=q,
        palms={side: palms[f"{side}_palm"] for side in SIDES},
        phases=plan.phases,
        contact_start=plan.contact_start,
        travel=plan.travel,
    )


@dataclass(frozen=True)
class _Plan:
    """What happens when: progress of the transition and the descent in 0..1, the drawer's travel in m."""

    time: Array
    approach: Array
    descent: Array
    travel: Array
    strokes: NDArray[np.int64]
    phases: dict[str, tuple[int, int]]
    contact_start: int


def _plan(task: DrawerTask, rng: np.random.Generator) -> _Plan:
    def varied(mean: float) -> float:
        return mean * (1.0 + task.variation * float(np.clip(rng.normal(), -2.0, 2.0)))

    approach_start = task.initial_duration
    approach_duration = varied(task.transition_duration)
    descent_duration = varied(task.descent_duration)
    descent_start = approach_start + approach_duration - OVERLAP * descent_duration
    contact = descent_start + descent_duration
    clock = contact + task.grasp_duration
    moves, bounds, opening = [], [], 0.0
    for _ in range(task.repetitions):
        begin = clock
        for target, mean in ((varied(task.stroke), task.pull_duration), (0.0, task.push_duration)):
            duration = varied(mean)
            moves.append((clock, duration, target - opening))
            end, opening = clock + duration, target
            clock = end + task.turning_pause
        bounds.append((begin, end))
    time = np.arange(round((end + task.rest_duration) * task.rate) + 1) / task.rate
    strokes = np.rint(np.array(bounds) * task.rate).astype(np.int64)
    contact_start = int(np.ceil(contact * task.rate))
    icp_end = round(task.initial_duration * task.rate)
    return _Plan(
        time=time,
        approach=minimum_jerk(time, approach_start, approach_duration),
        descent=minimum_jerk(time, descent_start, descent_duration),
        travel=np.sum([way * minimum_jerk(time, start, duration) for start, duration, way in moves], axis=0),
        strokes=strokes,
        phases={
            "icp": (0, icp_end),
            "tgp": (icp_end + 1, int(strokes[0, 0]) - 1),
            "pmp": (int(strokes[0, 0]), int(strokes[-1, 1])),
            "rest": (int(strokes[-1, 1]) + 1, len(time) - 1),
        },
        contact_start=contact_start,
    )


def _move(human: HumanModel, task: DrawerTask, plan: _Plan, rng: np.random.Generator) -> Array:
    """Follow the plan: configurations (T, nq) of the actor."""
    data = human.model.createData()
    lean = lean_to_reach(human, task.handle("left"))
    swaying = body_sway(human, plan.time, rng)
    # Leaning back a little helps to pull.
    pulling = -PULLING_LEAN * plan.travel / task.stroke
    initial = arms_forward(human)
    lift = pin.SE3(np.eye(3), np.array([0.0, 0.0, task.approach_height]))
    above = {side: lift * task.grip(side) for side in SIDES}
    ready = with_lean(human, lean)
    for side in SIDES:
        ready[human.arms[side]] = COMFORT
    arrival = solve_arms(human, data, ready, above, dict.fromkeys(SIDES, COMFORT))
    q = np.empty_like(swaying)
    posture = initial
    for k, s in enumerate(plan.approach):
        # Until the arrival the arms go from posture to posture; then the wood rules where the hands are.
        free = with_lean(human, s * lean + pulling[k]) + swaying[k]
        arrived = with_lean(human, lean + pulling[k]) + swaying[k]
        start = free.copy()
        reference = {}
        for side in SIDES:
            index = human.arms[side]
            free[index] = (1.0 - s) * initial[index] + s * arrival[index]
            arrived[index] = arrival[index]
            reference[side] = (1.0 - s) * initial[index] + s * COMFORT
            start[index] = posture[index]
        reached, missed = _palms(human, data, free), _palms(human, data, arrived)
        down = np.array([-plan.travel[k], 0.0, -task.approach_height * plan.descent[k]])
        palms = {}
        for side in SIDES:
            # What sway adds to the arrival fades out of the path as it gets there.
            missing = pin.log3(above[side].rotation @ missed[side].rotation.T)
            turn = pin.exp3(s * missing) @ reached[side].rotation
            correction = s * (above[side].translation - missed[side].translation)
            palms[side] = pin.SE3(turn, reached[side].translation + correction + down)
        posture = solve_arms(human, data, start, palms, reference)
        q[k] = posture
    return q


def _palms(human: HumanModel, data: pin.Data, q: Array) -> dict[str, pin.SE3]:
    """Palm poses at a configuration (nq,) whose clavicles follow its arms."""
    pin.framesForwardKinematics(human.model, data, couple_clavicles(human, q))
    return {side: data.oMf[human.frame(f"{side}_palm")].copy() for side in SIDES}
