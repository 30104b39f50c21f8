"""Footsteps of a robot that follows a person's: the wanted ones, the executed ones, and their differences."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import wrap_angle

_SHORTEST_PHASE = 0.04
"""A foot that touches the floor or leaves it for less than this time, s, neither stands nor steps: an impact
makes a foot bounce for some samples."""
_REST_AFTER = 0.1
"""Time after its landing at which a foot's place is read, s: until then it may still slide and rotate."""
_LATEST_MATCH = 0.5
"""Largest difference in time, s, at which a landing is taken for a wanted one of the same foot: less than
half the time between two landings of one foot in a walk of 60 steps a minute."""


@dataclass(frozen=True)
class FollowedSteps:
    """Steps of a person that a robot is to follow, as the person took them and as they are planned.

    Times are in the robot's time from the recording's first sample on, as `JointTrajectory.time` of a plan;
    a run adds `Timeline.start`. Places are those of the feet's frames (`robot.frames["left_foot"]`) in the
    world frame of the run.

    Parameters
    ----------
    side : (K,) int array
        Foot that lands in each step, as index into `SIDES`: 0 is the left one.
    person_time : (K,) array
        Landings of the person, mapped by the tempo map to the robot's time, s; in order.
    person_position : (K, 2) array
        Where the person put the foot down, scaled to the robot, m.
    person_yaw : (K,) array
        Direction of the person's foot about the vertical, rad.
    planned_time : (K,) array
        Planned landings, s.
    planned_position : (K, 2) array
        Planned places of the foot, m.
    planned_yaw : (K,) array
        Planned directions of the foot about the vertical, rad.
    heading : float
        Direction of the recording's x axis in the world frame of the run, rad.
    """

    side: NDArray[np.int64]
    person_time: Array
    person_position: Array
    person_yaw: Array
    planned_time: Array
    planned_position: Array
    planned_yaw: Array
    heading: float = 0.0

    def as_person(self) -> "Landings":
        """Return the landings as the person took them, scaled to the robot."""
        return Landings(self.side, self.person_time, self.person_position, self.person_yaw)

    def as_planned(self) -> "Landings":
        """Return the landings as they are planned."""
        return Landings(self.side, self.planned_time, self.planned_position, self.planned_yaw)


class Landings(NamedTuple):
    """Landings of feet on the floor.

    Parameters
    ----------
    side : (K,) int array
        Foot that lands, as index into `SIDES`.
    time : (K,) array
        Times, s.
    position : (K, 2) array
        Places of the feet's frames in the world frame, m.
    yaw : (K,) array
        Directions of the feet about the vertical, rad.
    """

    side: NDArray[np.int64]
    time: Array
    position: Array
    yaw: Array


class StepErrors(NamedTuple):
    """Differences of landings from wanted ones.

    Parameters
    ----------
    wanted : int
        Number of wanted landings.
    landed : int
        Number of landings.
    matched : int
        Number of wanted landings that were found among them.
    position_rms : float or None
        RMS distance of the places of matched landings, m; None if there are none.
    time_rms : float or None
        RMS difference of their times, s.
    yaw_rms : float or None
        RMS difference of their directions, rad.
    """

    wanted: int
    landed: int
    matched: int
    position_rms: float | None
    time_rms: float | None
    yaw_rms: float | None


def carrying_feet(load: Array, begin: float, end: float) -> NDArray[np.bool_]:
    """Find when feet carry the robot: from one load on, until it falls below a smaller one.

    Parameters
    ----------
    load : (T, F) array
        Vertical force on each foot, as a fraction of the weight.
    begin : float
        Load from which on a foot carries the robot.
    end : float
        Load below which it does no longer, at most `begin`.

    Returns
    -------
    (T, F) bool array
        Whether each foot carries the robot.
    """
    known = (load >= begin) | (load < end)
    known[0] = True
    last = np.maximum.accumulate(np.where(known, np.arange(len(load))[:, None], 0), axis=0)
    return np.asarray(np.take_along_axis(load >= begin, last, axis=0))


def find_landings(time: Array, carrying: NDArray[np.bool_], feet: Array) -> Landings:
    """Find the landings of the feet in the log of a run.

    A foot lands at the first sample at which it carries the robot after it did not. Phases of less than
    0.04 s do not count. Its place is that 0.1 s later, or when it lifts again.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s.
    carrying : (T, F) bool array
        Whether each foot carries the robot.
    feet : (T, F, 7) array
        Poses of the feet's frames in the world frame: position, m, and quaternion x, y, z, w.

    Returns
    -------
    Landings
        Landings in order of time, in the run's time.
    """
    side, when, place, yaw = [], [], [], []
    for foot in range(carrying.shape[1]):
        stands = _without_short_phases(time, carrying[:, foot])
        changes = np.diff(stands.astype(np.int8))
        begins, ends = np.flatnonzero(changes > 0) + 1, np.flatnonzero(changes < 0)
        following = np.searchsorted(ends, begins)
        lifts = np.append(ends, len(time) - 1)[following]
        rests = np.minimum(np.searchsorted(time, time[begins] + _REST_AFTER), lifts)
        side.append(np.full(len(begins), foot))
        when.append(time[begins])
        place.append(feet[rests, foot, :2])
        yaw.append(_yaw(feet[rests, foot, 3:]))
    order = np.argsort(np.concatenate(when), kind="stable") if when else np.empty(0, dtype=np.int64)
    return Landings(*(np.concatenate(values)[order] for values in (side, when, place, yaw)))


def compare_landings(landings: Landings, wanted: Landings) -> StepErrors:
    """Compare landings with wanted ones.

    Landings of each foot are assigned to its wanted ones so that the sum of the differences in time is least;
    pairs that are 0.5 s or more apart do not match.

    Parameters
    ----------
    landings : Landings
        Landings of a run, or of a plan.
    wanted : Landings
        Wanted ones, on the same clock.

    Returns
    -------
    StepErrors
        Numbers of landings, and RMS errors of those that match.
    """
    pairs = [_match(landings, wanted, foot) for foot in np.unique(wanted.side)]
    got, asked = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0), dtype=np.int64)
    apart = np.linalg.norm(landings.position[got] - wanted.position[asked], axis=1)
    late = landings.time[got] - wanted.time[asked]
    turned = wrap_angle(landings.yaw[got] - wanted.yaw[asked])
    return StepErrors(len(wanted.time), len(landings.time), len(got), _rms(apart), _rms(late), _rms(turned))


def step_metrics(errors: StepErrors) -> dict[str, float | None]:
    """Compute the metrics of followed steps.

    Parameters
    ----------
    errors : StepErrors
        Differences of a robot's landings from the person's.

    Returns
    -------
    dict of str to float or None
        `fidelity.steps_wanted`, `fidelity.steps_landed` and `fidelity.steps_missed_count`: numbers of the
        person's landings, of the robot's, and of the person's without one of the robot;
        `fidelity.step_position_rms_m`, `fidelity.step_time_rms_s`, `fidelity.step_heading_rms_rad`: errors of
        those that match; None if none does.
    """
    return {
        "fidelity.steps_wanted": float(errors.wanted),
        "fidelity.steps_landed": float(errors.landed),
        "fidelity.steps_missed_count": float(errors.wanted - errors.matched),
        "fidelity.step_position_rms_m": errors.position_rms,
        "fidelity.step_time_rms_s": errors.time_rms,
        "fidelity.step_heading_rms_rad": errors.yaw_rms,
    }


def _match(landings: Landings, wanted: Landings, foot: int) -> NDArray[np.int64]:
    """Assign landings of one foot to wanted ones: indices (2, N) of both."""
    got, asked = np.flatnonzero(landings.side == foot), np.flatnonzero(wanted.side == foot)
    late = np.abs(landings.time[got][:, None] - wanted.time[asked][None])
    rows, columns = linear_sum_assignment(np.minimum(late, _LATEST_MATCH))
    near = late[rows, columns] < _LATEST_MATCH
    return np.stack([got[rows[near]], asked[columns[near]]])


def _without_short_phases(time: Array, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Let a foot stand through short lifts, then let short contacts be none."""
    kept = flags.copy()
    for value in (False, True):
        edges = np.concatenate([[0], np.flatnonzero(np.diff(kept.astype(np.int8))) + 1, [len(kept)]])
        starts, ends = edges[:-1], edges[1:]
        # The first and the last phase have no other end.
        short = time[np.minimum(ends, len(time) - 1)] - time[starts] < _SHORTEST_PHASE
        short &= (kept[starts] == value) & (starts > 0) & (ends < len(kept))
        for start, end in zip(starts[short], ends[short], strict=True):
            kept[start:end] = not value
    return kept


def _yaw(quaternion: Array) -> Array:
    """Rotations (N,) about the vertical of quaternions (N, 4), rad."""
    x, y, z, w = quaternion.T
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y**2 + z**2)))


def _rms(values: Array) -> float | None:
    """Root mean square; None without values."""
    return float(np.sqrt(np.mean(values**2))) if values.size else None
