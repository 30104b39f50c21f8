"""Imitate a person frame by frame, while they move: one posture of the robot for each frame that comes in."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from threadpoolctl import ThreadpoolController

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection
from simbench.retargeting.imitate.barriers import BarrierRows, barrier_rows, make_barriers
from simbench.retargeting.imitate.clip import solve_clip
from simbench.retargeting.imitate.plan import CLEARANCE, couple_frames, first_posture
from simbench.retargeting.imitate.problem import frame_costs, increments, make_problem, step_from
from simbench.retargeting.imitate.targets import find_targets, measure_person
from simbench.retargeting.match.body import match_body
from simbench.robot.robot import Robot, load_robot

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
        self._barriers = make_barriers(self._body)
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
        problem = make_problem(self._body, targets, self._settings.joint_limit_margin_rad)
        coupling = couple_frames(problem, self._settings)
        if not len(self._q):
            self._q = first_posture(problem, coupling, lambda q: barrier_rows(self._barriers, q, CLEARANCE))
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
            near = barrier_rows(self._barriers, q[-2:], CLEARANCE, given=1)
            return near._replace(frames=near.frames + count - 2)

        fixed = np.arange(count) < count - 1
        q = solve_clip(
            problem,
            q,
            frames,
            coupling,
            fixed=fixed,
            rounds=self.rounds,
            least_damping=_DAMPING,
            barriers=keep_clear,
        )
        self._q = q[-_COUPLED:]
