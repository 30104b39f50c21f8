"""Imitate a recording with a robot's bones: from the recording to the joint trajectory."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.spatial.transform import Rotation
from threadpoolctl import threadpool_limits

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import RobotErrors, compare_with_person, robot_metrics
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitate.barriers import BarrierRows, Barriers, barrier_rows, make_barriers
from simbench.retargeting.imitate.clip import Coupling, no_barriers, solve_clip
from simbench.retargeting.imitate.problem import (
    ImitationProblem,
    frame_costs,
    initial_configuration,
    make_problem,
)
from simbench.retargeting.imitate.targets import UPPER_BODY, find_targets, select_parts, targets_at
from simbench.retargeting.match.body import match_body
from simbench.robot.robot import Robot
from simbench.system.progress import OnProgress

# Time constant of the smoothing, s: motion below 5 Hz is left as it is.
_TIME_CONSTANT = 0.02
# Weight of the squared displacement of a standing heel or toe from frame to frame, 1/m².
_SLIDE_WEIGHT = 1e5
CLEARANCE, _EXECUTED_CLEARANCE = 0.005, 0.015
"""Distance that links keep from each other and from the floor, m, and that of a motion that is executed."""
# Time that the last velocity goes on for, s: as far as a joint moves that stops in twice this time.
_BRAKING = 0.05
# Frames that are solved together, those of them that the next window solves again, and those of the last
# window that couple it with the next one.
_WINDOW, _OVERLAP, _FIXED = 600, 60, 3
_FIRST_ROUNDS, _FRAME_ROUNDS, _WINDOW_ROUNDS = 80, 3, 15
# Penetration that is mended, m, how often the whole motion is looked at, time about a penetration that is
# solved again, s, and the parts of the way between frames at which links are looked at then.
_DEEP, _ATTEMPTS, _ABOUT, _OFTEN = 0.003, 3, 0.3, tuple(np.arange(1, 8) / 8.0)
# Highest rate at which a motion is solved, Hz.
_HIGHEST_RATE = 60.0
# Time from rest to full speed, s: no data sheet gives the accelerations of a humanoid's joints.
_SHORTEST_START = 0.05
# Cost of a frame from which on another posture is searched, and part of it that a better one costs at most: a
# bone that is 25° off costs 0.1.
_STUCK, _BETTER = 0.1, 0.6
# Searches in a window, random postures in each, iterations from each, how many of the best are followed, and
# frames about a vain search that are not searched again.
_SEARCHES, _STARTS, _TRIAL_ROUNDS, _FOLLOWED, _APART = 12, 32, 10, 3, 5
# Most that a jump costs by its third differences: it is spread over several frames later.
_MOST_ROUGH = 2.0


@dataclass(frozen=True)
class KinematicPlan:
    """A robot's motion that is the person's within the limits of its body; nothing balances it."""

    trajectory: JointTrajectory  # All joints of the robot and its base at the samples of the recording.
    errors: RobotErrors  # Errors of the robot against the person at these samples.
    interferences: tuple[Interference, ...]  # Links that still penetrate each other.
    metrics: dict[str, float]  # Metrics `retarget.*`.
    notes: tuple[str, ...] = ()  # What was assumed and what was given up, one line each.


def plan_kinematic(
    robot: Robot, motion: HumanMotion, settings: RetargetSection, on_progress: OnProgress
) -> KinematicPlan:
    """Retarget a recording to a robot's whole body, at the recorded tempo.

    Every bone of the robot is to have the direction of the person's; soles stand where and when the person's
    do, and joints keep their limits of position, speed and acceleration. Balance and torques are left out.
    `robot`: robot on a floating base; `motion`: recording with T samples; `settings`: margins of the joints'
    limits; `on_progress`: called as planning proceeds. Returns the motion, with what it leaves of the person.
    Raises RetargetError if the robot has no limb that bends, or no bone is recorded that it has too.
    """
    on_progress("imitate", 0, len(motion.time))
    body = match_body(robot)
    targets = find_targets(body, motion)
    problem = make_problem(body, targets, settings.joint_limit_margin_rad)
    thinned, barriers = _thin(problem), make_barriers(body)
    coupling = couple_frames(thinned, settings)
    with threadpool_limits(1):
        solved = solve_windows(thinned, coupling, lambda q: barrier_rows(barriers, q, CLEARANCE), on_progress)
    on_progress("check", 0, 1)
    for attempt in range(_ATTEMPTS):
        q = _interpolate(problem, thinned, solved)
        trajectory = JointTrajectory(motion.time, q[:, 7:], robot.joint_names, q[:, :7])
        interferences = find_interference(robot, trajectory)
        deep = [each for each in interferences if each.distance < -_DEEP]
        if not deep or attempt == _ATTEMPTS - 1:
            break
        # Something fast passed through something thin: looked at more often, it goes round.
        when = np.array([each.time for each in deep]) - motion.time[0]
        with threadpool_limits(1):
            _clear_between(thinned, coupling, barriers, solved, when)
    errors = compare_with_person(robot, trajectory, motion)
    metrics = {
        "retarget.slow_down": 1.0,
        "retarget.duration_s": float(trajectory.time[-1] - trajectory.time[0]),
        "retarget.interference_count": float(len(interferences)),
        **robot_metrics(robot, trajectory, errors, settings.joint_limit_margin_rad),
    }
    on_progress("check", 1, 1)
    return KinematicPlan(trajectory, errors, interferences, metrics, targets.notes)


def imitate_upper_body(
    robot: Robot,
    motion: HumanMotion,
    settings: RetargetSection,
    joints: Sequence[str],
    lean: Array | None = None,
) -> Array:
    """Let trunk and arms imitate a person, above a root that leans as given and legs that stand.

    `robot`: robot on a floating base; `motion`: recording with T samples, seen from the robot: x is where it
    looks; `settings`: margins of the joints' limits; `joints`: the m joints of trunk and arms; `lean` (T, 3):
    turn of the root from upright, rotation vectors, rad; none by default. Returns (T, m): their positions,
    rad.
    """
    columns = np.array([robot.joint_names.index(name) for name in joints])
    body = replace(match_body(robot), joints=np.sort(columns))
    targets = select_parts(find_targets(body, motion), UPPER_BODY)
    turn = None if lean is None else Rotation.from_rotvec(lean).as_quat()
    problem = make_problem(body, targets, settings.joint_limit_margin_rad)
    problem = replace(problem, root_moves=False, root_turn=turn)
    thinned = _thin(problem)
    barriers = make_barriers(body, floor=False)
    time = thinned.targets.time
    braking = math.ceil(_BRAKING / (time[-1] - time[0]) * (len(time) - 1))

    def keep_clear(q: Array) -> BarrierRows:
        return barrier_rows(barriers, q, _EXECUTED_CLEARANCE, ahead=braking if len(q) > 2 else 0)

    with threadpool_limits(1):
        solved = solve_windows(thinned, couple_frames(thinned, settings), keep_clear, lambda *stage: None)
    return _interpolate(problem, thinned, solved)[:, 7 + columns]


def _thin(problem: ImitationProblem) -> ImitationProblem:
    """Keep as many samples of a recording as make 60 Hz, and the last one."""
    targets = problem.targets
    time = targets.time
    stride = max(1, int((len(time) - 1) / (time[-1] - time[0]) / _HIGHEST_RATE + 1e-6))
    chosen = np.unique(np.append(np.arange(0, len(time), stride), len(time) - 1))
    turn = None if problem.root_turn is None else problem.root_turn[chosen]
    return replace(problem, targets=targets_at(targets, chosen), root_turn=turn)


def _interpolate(problem: ImitationProblem, thinned: ImitationProblem, solved: Array) -> Array:
    """Interpolate the motion at the samples that were left out, by cubic splines inside the joint limits."""
    time, knots = problem.targets.time, thinned.targets.time
    if len(time) == len(knots):
        return solved
    curve = CubicSpline if len(knots) > _FIXED else PchipInterpolator
    q = np.asarray(curve(knots, solved)(time))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    columns = 7 + problem.body.joints
    q[:, columns] = np.clip(q[:, columns], problem.lower, problem.upper)
    return q


def _clear_between(
    problem: ImitationProblem, coupling: Coupling, barriers: Barriers, q: Array, when: Array
) -> None:
    """Solve the frames about some instants, s, once more, looking at links seven times between frames."""
    near = np.abs(problem.targets.time[:, None] - when).min(axis=1) < _ABOUT
    edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]])))

    def keep_clear(q: Array) -> BarrierRows:
        return barrier_rows(barriers, q, CLEARANCE, _OFTEN)

    for start, end in edges.reshape(-1, 2).tolist():
        frames = slice(max(0, start - _FIXED), min(len(q), end + _FIXED))
        inside = np.arange(frames.start, frames.stop)
        fixed = (inside < start) | (inside >= end)
        barriers.seen = None
        q[frames] = solve_clip(problem, q[frames], frames, coupling, fixed=fixed, barriers=keep_clear)


def solve_windows(
    problem: ImitationProblem,
    coupling: Coupling,
    keep_clear: Callable[[Array], BarrierRows],
    on_progress: OnProgress,
) -> Array:
    """Solve a recording of any length: frame by frame first, then all frames of one window after the other.

    A window begins with the last frames of the one before, which stay as they are, and solves its last frames
    once more: so memory does not grow with the recording, and the motion has no seams. Returns (T, 7 + n):
    configurations of the robot.
    """
    count = len(problem.targets.time)
    q = np.repeat(first_posture(problem, coupling, keep_clear), count, axis=0)
    if problem.root_turn is not None:
        q[:, 3:7] = problem.root_turn
    begin, guessed, second = 0, 1, np.array([True, False])
    moved = slice(0 if problem.root_turn is None else 7, None)
    while begin < count:
        end = min(count, begin + _WINDOW)
        for frame in range(guessed, end):
            pair, frames = q[frame - 1 : frame + 1].copy(), slice(frame - 1, frame + 1)
            pair[1, moved] = pair[0, moved]
            q[frame] = solve_clip(
                problem, pair, frames, coupling, fixed=second, rounds=_FRAME_ROUNDS, barriers=keep_clear
            )[1]
            if frame % 20 == 0:
                on_progress("imitate", (begin + frame) // 2, count)
        if end > guessed or begin == 0:
            _escape_minima(problem, coupling, keep_clear, q, slice(max(guessed - 1, 0), end))
        guessed = end
        frames = slice(begin - min(_FIXED, begin), end)
        fixed = np.arange(frames.start, end) < begin
        q[frames] = solve_clip(
            problem, q[frames], frames, coupling, fixed=fixed, rounds=_WINDOW_ROUNDS, barriers=keep_clear
        )
        begin = end if end == count else end - _OVERLAP
        on_progress("imitate", begin, count)
    return q


def first_posture(
    problem: ImitationProblem, coupling: Coupling, keep_clear: Callable[[Array], BarrierRows]
) -> Array:
    """Solve the first frame alone, (1, 7 + n): from rest, and then clear of what is near."""
    first = initial_configuration(problem)[None]
    for clear in (no_barriers, keep_clear):
        first = solve_clip(problem, first, slice(0, 1), coupling, rounds=_FIRST_ROUNDS, barriers=clear)
    return first


def _escape_minima(
    problem: ImitationProblem,
    coupling: Coupling,
    keep_clear: Callable[[Array], BarrierRows],
    q: Array,
    frames: slice,
) -> None:
    """Replace stretches of a motion in which limbs went the wrong way, to a limit, and stay far off.

    From the frame of the highest cost, postures are searched that are better, from random ones; the best is
    followed forward and backward for as long as it is better than what is there. Where that costs less, jumps
    at both ends counted, it takes the place.
    """
    generator = np.random.default_rng(0)
    columns = 7 + problem.body.joints
    start = frames.start
    time = problem.targets.time
    interval = (time[-1] - time[0]) / max(len(time) - 1, 1)
    step = coupling.speed[6:] * interval
    # What a jump by 1 rad costs in the squared third differences about it.
    rough = 0.5 * 20.0 * (coupling.time_constant / interval) ** 6
    names = [problem.body.robot.joint_names[k] for k in problem.body.joints]
    limbs = [
        np.isin(names, problem.body.robot.groups[limb])
        for limb in ("left_arm", "right_arm", "left_leg", "right_leg")
        if np.isin(names, problem.body.robot.groups.get(limb, ())).any()
    ]
    every = np.ones(len(names), dtype=bool)
    limbs = [moved for limb in limbs for moved in (every, limb)] or [every]

    def follow(configuration: Array, frame: int, rounds: int) -> tuple[Array, float]:
        """Solve one frame from a configuration (7 + n,)."""
        alone, begin = slice(frame, frame + 1), configuration[None].copy()
        if problem.root_turn is not None:
            begin[:, :7] = q[alone, :7]
        solved = solve_clip(problem, begin, alone, coupling, rounds=rounds, barriers=keep_clear)
        return solved[0], float(frame_costs(problem, solved, alone, derivatives=False).cost[0])

    cost = frame_costs(problem, q[frames], frames, derivatives=False).cost
    open_to_search = np.ones(len(cost), dtype=bool)
    for _ in range(_SEARCHES):
        left = np.where(open_to_search, cost, 0.0)
        worst = int(left.argmax())
        if left[worst] < _STUCK:
            return
        trials = np.repeat(q[start + worst][None], _STARTS, axis=0)
        drawn = generator.uniform(problem.lower, problem.upper, (_STARTS, len(columns)))
        for number, trial in enumerate(trials):
            # One limb, so that the others stay where they are, or all.
            moved = limbs[number % len(limbs)]
            trial[columns[moved]] = drawn[number, moved]
        roughly = [follow(trial, start + worst, _TRIAL_ROUNDS) for trial in trials]
        roughly.sort(key=lambda each: each[1])
        gain, chosen, replaced = 0.0, (q[frames], cost), slice(max(0, worst - _APART), worst + _APART + 1)
        for candidate, _ in roughly[:_FOLLOWED]:
            found = follow(candidate, start + worst, 2 * _TRIAL_ROUNDS)
            if found[1] > _BETTER * cost[worst]:
                continue
            path, costs = q[frames].copy(), cost.copy()
            path[worst], costs[worst] = found
            ends = {}
            for sign in (-1, 1):
                at, last = worst, len(cost) - 1 if sign > 0 else 0
                while at != last:
                    following, value = follow(path[at], start + at + sign, _FRAME_ROUNDS)
                    if value >= cost[at + sign]:
                        break
                    at += sign
                    path[at], costs[at] = following, value
                ends[sign] = at
            # A jump takes as many frames as the speed limits ask for, each as far off as the worst of both.
            toll = 0.0
            for k in (ends[-1] - 1, ends[1]):
                if 0 <= k < len(cost) - 1:
                    jump = float((np.abs(path[k + 1, columns] - path[k, columns]) / step).max())
                    slow = max(jump - 1.0, 0.0) * max(cost[k], costs[k + 1])
                    bent = rough * float(((path[k + 1, columns] - path[k, columns]) ** 2).sum())
                    toll += max(slow, min(bent, _MOST_ROUGH))
            if cost.sum() - costs.sum() - toll > gain:
                gain, chosen = cost.sum() - costs.sum() - toll, (path, costs)
                replaced = slice(ends[-1], ends[1] + 1)
        q[frames], cost = chosen
        open_to_search[replaced] = False


def couple_frames(problem: ImitationProblem, settings: RetargetSection) -> Coupling:
    """Smooth the motion, let standing feet stand, and keep the joints' limits of speed and acceleration."""
    robot, joints = problem.body.robot, problem.body.joints
    speed = settings.speed_limit_fraction * np.asarray(robot.model.velocityLimit)[robot.root_v + joints]
    speed = np.concatenate([np.full(6, np.inf), np.where(speed > 0.0, speed, np.inf)])
    return Coupling(_TIME_CONSTANT, _SLIDE_WEIGHT, speed, speed / _SHORTEST_START)
