"""Imitate a person with a robot's bones: a recording from end to end, or live, frame by frame."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.spatial.transform import Rotation
from threadpoolctl import ThreadpoolController, threadpool_limits

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import RobotErrors, compare_with_person, robot_metrics
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitate.clip import TIME_CONSTANT, BarrierRows, Barriers, solve_clip
from simbench.retargeting.imitate.problem import (
    UPPER_BODY,
    ImitationProblem,
    find_targets,
    frame_costs,
    increments,
    initial_configuration,
    measure_person,
    select_parts,
    step_from,
)
from simbench.retargeting.match.body import match_body
from simbench.robot.robot import Robot, load_robot
from simbench.system.progress import OnProgress

# Distance that links keep from each other and from the floor in a motion that is executed, m.
_EXECUTED_CLEARANCE = 0.015
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
    problem = ImitationProblem(body, targets, settings)
    thinned, barriers = _thin(problem), Barriers(body)
    with threadpool_limits(1):
        solved = solve_windows(thinned, barriers.rows, on_progress)
    on_progress("check", 0, 1)
    for attempt in range(_ATTEMPTS):
        q = _interpolate(problem, thinned, solved)
        trajectory = JointTrajectory(motion.time, q[:, 7:], robot.joint_names, q[:, :7])
        interferences = find_interference(robot, trajectory)
        deep = [each for each in interferences if each.distance < -_DEEP]
        if not deep or attempt == _ATTEMPTS - 1:
            break
        # Something fast passed through something thin: looked at seven times between frames, it goes round.
        when = np.array([each.time for each in deep]) - motion.time[0]
        near = np.abs(thinned.targets.time[:, None] - when).min(axis=1) < _ABOUT
        edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]])))
        for start, end in edges.reshape(-1, 2).tolist():
            frames = slice(max(0, start - _FIXED), min(len(solved), end + _FIXED))
            inside = np.arange(frames.start, frames.stop)
            fixed = (inside < start) | (inside >= end)
            barriers.seen = None
            with threadpool_limits(1):
                solved[frames] = solve_clip(
                    thinned,
                    solved[frames],
                    frames,
                    fixed=fixed,
                    barriers=partial(barriers.rows, between=_OFTEN),
                )
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
    problem = ImitationProblem(body, targets, settings, root_moves=False, root_turn=turn)
    thinned = _thin(problem)
    barriers = Barriers(body, floor=False)
    time = thinned.targets.time
    braking = math.ceil(_BRAKING / (time[-1] - time[0]) * (len(time) - 1))

    def keep_clear(q: Array) -> BarrierRows:
        return barriers.rows(q, _EXECUTED_CLEARANCE, ahead=braking if len(q) > 2 else 0)

    with threadpool_limits(1):
        solved = solve_windows(thinned, keep_clear, lambda *stage: None)
    return _interpolate(problem, thinned, solved)[:, 7 + columns]


def _thin(problem: ImitationProblem) -> ImitationProblem:
    """Keep as many samples of a recording as make 60 Hz, and the last one."""
    time = problem.targets.time
    stride = max(1, int((len(time) - 1) / (time[-1] - time[0]) / _HIGHEST_RATE + 1e-6))
    chosen = np.unique(np.append(np.arange(0, len(time), stride), len(time) - 1))
    return problem.at_samples(chosen)


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


def solve_windows(
    problem: ImitationProblem, keep_clear: Callable[[Array], BarrierRows], on_progress: OnProgress
) -> Array:
    """Solve a recording of any length: frame by frame first, then all frames of one window after the other.

    A window begins with the last frames of the one before, which stay as they are, and solves its last frames
    once more: so memory does not grow with the recording, and the motion has no seams. Returns (T, 7 + n):
    configurations of the robot.
    """
    count, solve = len(problem.targets.time), partial(solve_clip, problem, barriers=keep_clear)
    q = np.repeat(first_posture(problem, keep_clear), count, axis=0)
    if problem.root_turn is not None:
        q[:, 3:7] = problem.root_turn
    begin, guessed, second = 0, 1, np.array([True, False])
    moved = slice(0 if problem.root_turn is None else 7, None)
    while begin < count:
        end = min(count, begin + _WINDOW)
        for frame in range(guessed, end):
            pair, frames = q[frame - 1 : frame + 1].copy(), slice(frame - 1, frame + 1)
            pair[1, moved] = pair[0, moved]
            q[frame] = solve(pair, frames, fixed=second, rounds=_FRAME_ROUNDS)[1]
            if frame % 20 == 0:
                on_progress("imitate", (begin + frame) // 2, count)
        if end > guessed or begin == 0:
            _escape_minima(problem, keep_clear, q, slice(max(guessed - 1, 0), end))
        guessed = end
        frames = slice(begin - min(_FIXED, begin), end)
        fixed = np.arange(frames.start, end) < begin
        q[frames] = solve(q[frames], frames, fixed=fixed, rounds=_WINDOW_ROUNDS)
        begin = end if end == count else end - _OVERLAP
        on_progress("imitate", begin, count)
    return q


def first_posture(problem: ImitationProblem, keep_clear: Callable[[Array], BarrierRows]) -> Array:
    """Solve the first frame alone, (1, 7 + n): from rest, and then clear of what is near."""
    first = initial_configuration(problem)[None]
    for clear in (None, keep_clear):
        first = solve_clip(problem, first, slice(0, 1), rounds=_FIRST_ROUNDS, barriers=clear)
    return first


def _escape_minima(
    problem: ImitationProblem, keep_clear: Callable[[Array], BarrierRows], q: Array, frames: slice
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
    step = problem.speed[6:] * interval
    # What a jump by 1 rad costs in the squared third differences about it.
    rough = 0.5 * 20.0 * (TIME_CONSTANT / interval) ** 6
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
        solved = solve_clip(problem, begin, alone, rounds=rounds, barriers=keep_clear)
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


# Frames that are kept: speeds of feet and accelerations of joints need some.
_KEPT = 8
# Of these, the last ones that couple the new frame with those before.
_COUPLED = 3
# Levenberg damping, 1/rad²: limbs that are nearly straight do not twist for nothing.
_DAMPING = 0.03


class ImitationStream:
    """A robot that imitates a person live, by the directions of the bones.

    It minimises what `retarget_motion` does with physics `kinematic`, in the newest frame only: posture and
    root of the frames before are given, so that nothing waits for later frames. Joint limits hold; limits of
    speed and acceleration, links and the floor are penalties.

    Parameters
    ----------
    robot : Robot or str
        Robot on a floating base, or its name or path as in `load_robot`.
    person : HumanMotion
        Recording of the same person in the same frame, in which both feet stand at some time: it tells their
        size, the height of their joints over the floor, and the initial posture to which segments refer.
    settings : RetargetSection, optional
        Margins of the joints' limits.
    rounds : int
        Most iterations a frame. With two, 29 joints take 4.5 ms a frame on one core; more are for fast motion
        of which few frames a second come in.

    Raises
    ------
    RetargetError
        If the robot has a fixed base, or no bone is recorded that it has too.
    """

    def __init__(
        self,
        robot: Robot | str,
        person: HumanMotion,
        settings: RetargetSection | None = None,
        *,
        rounds: int = 2,
    ) -> None:
        self.robot = load_robot(robot) if isinstance(robot, str) else robot
        if not self.robot.floating:
            raise RetargetError(
                f"{self.robot.name} has a fixed base; allowed: a robot on its feet, or retarget_motion"
            )
        self.rounds = rounds
        self._settings = settings or RetargetSection()
        self._body = match_body(self.robot)
        self._measures = measure_person(self._body, person)
        self._barriers = Barriers(self._body)
        # Finding the libraries whose threads are limited takes as long as solving a frame.
        self._threads = ThreadpoolController()
        self._recent = replace(
            person,
            time=np.empty(0),
            joints={name: np.empty((0, 3)) for name in person.joints},
            segments={name: np.empty((0, 4, 4)) for name in person.segments},
        )
        self._q = np.empty((0, 7 + len(self.robot.joint_names)))

    def follow(
        self, time: float, joints: Mapping[str, Array], segments: Mapping[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """Take a frame of the person, and give the robot's posture.

        Parameters
        ----------
        time : float
            Time of the frame, s, later than that of the last one.
        joints : {str: (3,) array}
            Positions of the person's joints in the world frame, m, by the names of the recording. One that is
            NaN or left out stays where it was in the last frame.
        segments : {str: (4, 4) array}, optional
            Poses of the segments in the world frame, m; the same holds for them.

        Returns
        -------
        base : (7,) array
            Pose of the root link in the world frame: position, m, and quaternion x, y, z, w.
        joints : (n,) array
            Positions of the robot's joints, rad.

        Raises
        ------
        MotionError
            If the first frame lacks a joint or segment of the recording, a name is not the recording's, or
            time does not go on.
        """
        last = self._recent
        if len(last.time) and not time > last.time[-1]:
            raise MotionError(f"frame at {time:g} s: not later than the last one, at {last.time[-1]:g} s")
        tracks = []
        for kind, given, kept in (("joint", joints, last.joints), ("segment", segments or {}, last.segments)):
            unknown = [name for name in given if name not in kept]
            if unknown:
                raise MotionError(
                    f"frame at {time:g} s: {kind} {unknown[0]}: not in {last.source}; "
                    f"allowed: {', '.join(kept)}"
                )
            extended = {}
            for name, track in kept.items():
                value = np.asarray(given.get(name, np.nan), dtype=float)
                if not np.isfinite(value).all():
                    if not len(track):
                        raise MotionError(f"frame at {time:g} s: {kind} {name}: missing in the first frame")
                    value = track[-1]
                extended[name] = np.concatenate([track, value.reshape(1, *track.shape[1:])])[-_KEPT:]
            tracks.append(extended)
        clock = np.append(last.time, time)[-_KEPT:]
        self._recent = replace(last, time=clock, joints=tracks[0], segments=tracks[1])
        with self._threads.limit(limits=1):
            self._solve()
        return self._q[-1, :7].copy(), self._q[-1, 7:].copy()

    def _solve(self) -> None:
        """Append the posture of the newest frame."""
        recent = self._recent
        if len(recent.time) == 1:
            # A recording has two samples: the person stands still before the first.
            recent = replace(
                recent,
                time=np.append(recent.time - 1.0, recent.time),
                joints={name: np.repeat(track, 2, axis=0) for name, track in recent.joints.items()},
                segments={name: np.repeat(track, 2, axis=0) for name, track in recent.segments.items()},
            )
        targets = find_targets(self._body, recent, self._measures)
        problem = ImitationProblem(self._body, targets, self._settings)
        if not len(self._q):
            self._q = first_posture(problem, self._barriers.rows)
            return
        count = min(_COUPLED, len(self._q) + 1)
        guess = self._q[-1:]
        if len(self._q) > 1:
            # The motion goes on as it did, if that is nearer to the person.
            ratio = (targets.time[-1] - targets.time[-2]) / (targets.time[-2] - targets.time[-3])
            further = step_from(problem, guess, min(ratio, 1.0) * increments(problem, self._q[-2:]))
            newest = slice(len(targets.time) - 1, len(targets.time))
            candidates = np.vstack([guess, further])
            cost = frame_costs(problem, candidates, newest, derivatives=False).cost
            guess = candidates[np.argmin(cost)][None]
        q = np.vstack([self._q[1 - count :], guess])
        frames = slice(len(targets.time) - count, len(targets.time))

        def keep_clear(q: Array) -> BarrierRows:
            # Frames before are as they are.
            near = self._barriers.rows(q[-2:], given=1)
            return near._replace(frames=near.frames + count - 2)

        fixed = np.arange(count) < count - 1
        q = solve_clip(
            problem, q, frames, fixed=fixed, rounds=self.rounds, least_damping=_DAMPING, barriers=keep_clear
        )
        self._q = q[-_COUPLED:]
