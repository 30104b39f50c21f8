"""Phases of a recorded task and its primitives, and their resampling to a common phase."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import PALM_OFFSET, HumanMotion, complete_arms, mean_frame

# A rotation counts as much as the displacement of a point at this distance, m: little compared with the
# travel of hands that move equipment, as people rotate their grip freely; enough for a hand that only
# rotates.
LEVER = 0.05
# Standard deviation of the Gaussian smoothing, s: short compared with the 0.5 s of a quick stroke.
SMOOTHING = 0.04
# A person travels if the pelvis moves farther (m) or turns farther (rad) than this.
TRAVEL, TURN = 0.5, np.radians(60.0)


@dataclass(frozen=True)
class HandTrajectory:
    """Trajectory of the hands, uniformly sampled."""

    time: Array  # (T,): times of the samples, s.
    # (T, D): for each arm the palm's centre and two axes of the hand with length `LEVER`, m: in the world
    # frame, or in the axes of the pelvis for a person who travels.
    points: Array
    smooth: Array  # (T, D): the same, smoothed to remove measurement noise.
    speed: Array  # (T,): speed of the faster arm, m/s.


def compute_hand_trajectory(motion: HumanMotion) -> HandTrajectory:
    """Compute the trajectory of the hands of a recording. Returns the trajectory, sampled uniformly."""
    arms = complete_arms(motion.joints)
    # The axes are the world's, or those of a person who travels.
    shoulders = [motion.joints[f"{side}_shoulder"] for side in arms]
    origin = motion.joints.get("pelvis", np.mean(shoulders, axis=0))
    frames = motion.segments.get("pelvis", motion.segments.get("trunk"))
    if frames is not None:
        left = frames[:, :2, 1]
    elif len(shoulders) == 2:
        left = (shoulders[0] - shoulders[1])[:, :2]
    else:
        left = np.tile([0.0, 1.0], (len(origin), 1))
    heading = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    rotation = Rotation.from_euler("z", -heading[:, None]).as_matrix()
    if np.ptp(origin[:, :2], axis=0).max() < TRAVEL and np.ptp(heading) < TURN:
        origin, rotation = np.zeros((len(origin), 3)), np.tile(np.eye(3), (len(origin), 1, 1))
    parts = []
    for side in arms:
        hand = motion.segments[f"{side}_hand"]
        # The palm is placed relative to the wrist joint, because the hand's markers may sit anywhere on it.
        palm = motion.joints[f"{side}_wrist"] + hand[:, :3, :3] @ PALM_OFFSET - origin
        parts.append(rotation @ np.stack([palm, LEVER * hand[:, :3, 0], LEVER * hand[:, :3, 1]], axis=2))
    points = np.concatenate(parts, axis=2).reshape(len(motion.time), -1)
    time = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    step = (time[-1] - time[0]) / (len(time) - 1)
    if np.abs(time - motion.time).max() > 0.01 * step:
        points = np.stack([np.interp(time, motion.time, column) for column in points.T], axis=1)
    width = max(SMOOTHING / step, 0.7)
    smooth = gaussian_filter1d(points, width, axis=0, mode="nearest")
    velocity = gaussian_filter1d(points, width, axis=0, order=1, mode="nearest") / step
    # The columns are x of all vectors, then y, then z.
    squares = (velocity**2).reshape(len(time), 3, len(arms), 3).sum(axis=(1, 3))
    return HandTrajectory(time, points, smooth, np.sqrt(squares.max(axis=1)))


# Below this speed, m/s, there are only sway and measurement noise, no intentional movement.
STILL = 0.015


def find_stops(speed: Array, contrast: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split a recording into movements where its speed has a minimum.

    `speed` (T,): speed of the hands, m/s; `contrast`: smallest ratio of the top speed of a movement to the
    minima on both its sides. Returns (S,): samples of lowest speed, before the first movement, between
    movements, after the last; (S - 1,): samples of highest speed, one between each two stops.
    """
    # Nothing is known beyond the ends, so a recording that ends in motion is taken to end in a stop.
    level = [*np.log(np.maximum(speed, STILL)).tolist(), float(np.log(STILL))]
    # The peaks of that prominence, as `scipy.signal.find_peaks` finds them; its import takes half a second.
    peaks: list[int] = []
    rise, low, high, top, rising = float(np.log(contrast)), level[-1], -np.inf, 0, False
    for k, value in enumerate(level):
        if rising and value > high:
            high, top = value, k
        elif rising and value <= high - rise:
            peaks.append(top)
            low, rising = value, False
        elif not rising and value >= low + rise:
            high, top, rising = value, k, True
        low = min(low, value)
    cuts = [0, *peaks, len(speed)]
    stops = [a + int(np.argmin(speed[a:b])) for a, b in pairwise(cuts) if b > a]
    if len(stops) != len(peaks) + 1:
        # The first movement began before the recording.
        stops = [0, *stops]
    return np.array(stops, dtype=np.int64), np.asarray(peaks, dtype=np.int64)


# Ratio of the duration of a minimum-jerk movement to the time for which it is faster than half its top speed.
DURATION_RATIO = 1.0 / (1.0 - 2.0 * 0.2285)
# A movement stands out from noise and sway where it is faster than this fraction of its top speed.
CLEAR_FRACTION = 0.2
# The model of an uneven path is preferred only if its squared error is this many times smaller: sway makes
# even paths look a little uneven.
UNEVEN_GAIN = 2.0
# A fit that differs from its first guess by more than this fraction has fitted something else.
MAX_CHANGE = 0.7
# Fewest samples to which the five unknowns are fitted.
FEWEST_SAMPLES = 8


def fit_minimum_jerk(
    hands: HandTrajectory, first: int, peak: int, last: int, rising: bool = False
) -> tuple[float, float]:
    """Find the onset and the end of the movement between two stops.

    The speed at the ends of a minimum-jerk movement is too small for a threshold to find them. In the model
    the arc length along the path is a + b u + c u (1 - u), where u is 10 s³ − 15 s⁴ + 6 s⁵ of the time s from
    onset in units of the duration (Flash & Hogan 1985), and c, if the recording supports it, allows for a
    path that is not travelled evenly. Midpoint in time and duration are fitted by least squares where the
    movement is fast; a, b and c follow from them linearly. `first`, `peak`, `last`: index of the sample of
    the stop before, of the top speed, and of the stop after; `rising`: whether to fit only the half before
    the top speed, because another movement may blend in after it.
    """
    speed = hands.speed[first : last + 1]
    top = peak - first
    half, clear = _find_faster(speed, top, 0.5), _find_faster(speed, top, CLEAR_FRACTION)
    if rising:
        half, clear = (half[0], 2 * top - half[0] + 1), (clear[0], top + 1)
    step = float(hands.time[1] - hands.time[0])
    duration = DURATION_RATIO * step * (half[1] - half[0])
    middle = float(hands.time[first]) + 0.5 * step * (half[0] + half[1] - 1)
    if clear[1] - clear[0] >= FEWEST_SAMPLES:
        window = slice(first + clear[0], first + clear[1])
        # Arc length, m: steps of the recorded points along the direction of the smoothed path.
        direction = np.gradient(hands.smooth[window], axis=0)
        # The direction of a point that only trembles is undefined.
        direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
        steps = np.diff(hands.points[window], axis=0)
        advance = (steps * 0.5 * (direction[1:] + direction[:-1])).sum(axis=1)
        length = np.concatenate([[0.0], np.cumsum(advance)])
        middle, duration = _fit_profile(hands.time[window], length, middle, duration, rising)
    return middle - 0.5 * duration, middle + 0.5 * duration


def _find_faster(speed: Array, top: int, fraction: float) -> tuple[int, int]:
    """Find the range of samples around `top` that are faster than a fraction of its speed."""
    slow = np.flatnonzero(speed < fraction * speed[top])
    before, after = slow[slow < top], slow[slow > top]
    return int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(speed)


def _fit_profile(
    time: Array, length: Array, middle: float, duration: float, rising: bool
) -> tuple[float, float]:
    """Fit midpoint and duration, s, to the arc length (T,) from a first guess of both."""
    length = length - length.mean()

    def residual(parameters: Array, uneven: bool) -> Array:
        scaled = duration * np.exp(np.clip(parameters[1], -MAX_CHANGE, MAX_CHANGE))
        s = np.clip((time - middle - parameters[0] * duration) / scaled + 0.5, 0.0, 1.0)
        profile = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        even = profile - profile.mean()
        rest = _project_out(length, even)
        if uneven:
            bulge = profile * (1.0 - profile)
            rest = _project_out(rest, _project_out(bulge - bulge.mean(), even))
        return rest

    settings = {"method": "lm", "xtol": 1e-4, "ftol": 1e-5, "diff_step": 1e-4}
    best = least_squares(residual, np.zeros(2), args=(False,), **settings)
    # Half a speed profile does not distinguish an uneven path from another duration.
    if not rising:
        alternative = least_squares(residual, best.x, args=(True,), **settings)
        best = alternative if best.cost > UNEVEN_GAIN * alternative.cost else best
    shift, scale = best.x
    if max(abs(shift), abs(scale)) > MAX_CHANGE:
        return middle, duration
    return middle + float(shift) * duration, duration * float(np.exp(scale))


def _project_out(values: Array, column: Array) -> Array:
    """Remove the component of values along a column."""
    factor = float(column @ values) / max(float(column @ column), 1e-12)
    return np.asarray(values - factor * column)


# Arms that are held forward sway at up to this speed, m/s.
SWAYING = 0.05
# The initial configuration is held for at least this time (s), with the arms within this angle (rad) of
# horizontal and the limbs within this angle of the recording's initial pose.
SHORTEST_HOLD, LEVEL_ANGLE, POSE_ANGLE = 0.3, np.radians(25.0), np.radians(35.0)


def find_initial_configuration(
    motion: HumanMotion, hands: HandTrajectory, stops: list[int], peaks: list[int], candidates: int
) -> tuple[float, float] | None:
    """Find the first time for which the initial configuration is held.

    `motion`: the recording; `stops`, `peaks`: samples at which the hands stop, and at which they are fastest
    in between; `candidates`: number of stops, from the first on, at which the configuration may be held.
    Returns start of the hold and onset of the movement that ends it, s; None if there is none.
    """
    # First sample of the rest in which each sample lies: the one after the last that moves.
    moving = np.where(hands.speed > SWAYING, np.arange(1, len(hands.speed) + 1), 0)
    rests = np.maximum.accumulate(moving)
    for k, stop in enumerate(stops[:candidates]):
        first = int(rests[stop])
        if not (first <= stop and _arms_forward(motion, slice(first, stop + 1))):
            continue
        # The hands may start to rotate or to descend before they arrive.
        onset = fit_minimum_jerk(hands, stop, peaks[k], stops[k + 1], rising=True)[0]
        span = float(hands.time[first]), onset
        if span[1] - span[0] >= SHORTEST_HOLD:
            return span
    return None


def _arms_forward(motion: HumanMotion, still: slice) -> bool:
    """Whether arms are horizontal and all limbs are as in the initial pose, on average over samples."""
    initial = motion.initial
    for side in complete_arms(motion.joints):
        names = [f"{side}_{name}" for name in ("shoulder", "elbow", "wrist")]
        joints = [motion.joints[name][still].mean(axis=0) for name in names]
        reach = joints[2] - joints[0]
        if abs(reach[2]) > np.sin(LEVEL_ANGLE) * np.linalg.norm(reach):
            return False
        for k in (0, 1):
            limb = joints[k + 1] - joints[k]
            target = initial.joints[names[k + 1]] - initial.joints[names[k]]
            if limb @ target < np.cos(POSE_ANGLE) * np.linalg.norm(limb) * np.linalg.norm(target):
                return False
        hand = mean_frame(motion.segments[f"{side}_hand"][still])[:3, :3]
        if np.trace(hand @ initial.segments[f"{side}_hand"][:3, :3].T) < 1.0 + 2.0 * np.cos(POSE_ANGLE):
            return False
    return True


# Number of points in which two paths are compared, and most stops within one repetition.
PATH_SAMPLES, MAX_STOPS = 32, 40
# Largest distance between the ends of a repetition, and between the paths of two repetitions, as fractions of
# the extent of the path.
CLOSED, SIMILAR = 0.35, 0.6
# Chains of repetitions that travel at least this fraction of the farthest compete by their number of
# repetitions.
NEARLY_FARTHEST = 0.85
# So many stops are examined at a time: the paths of the candidates from them on take some megabytes.
BLOCK = 64


def find_repetitions(hands: HandTrajectory, stops: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find stops that recur in the same posture and are reached along the same path.

    Candidates for a repetition are all intervals that begin and end at stops in the same posture. Candidates
    that follow each other on similar paths, compared over arc length so that timing does not matter, form
    chains. The chain that covers most of the distance travelled is chosen; among nearly equal ones the one
    with most repetitions, then the one whose stops are the slowest. `hands`: hands of the recording; `stops`
    (S,): samples at which they stop. Returns (N + 1,) int: indices into `stops` of those around N
    repetitions; empty if nothing repeats.
    """
    step = hands.time[1] - hands.time[0]
    travel = np.cumsum(np.maximum(hands.speed - STILL, 0.0)) * step
    # The paths of all candidates of an hour take gigabytes: only the indices of their samples are held.
    parts = [
        _find_candidates(hands, stops, travel, range(begin, min(begin + BLOCK, len(stops))))
        for begin in range(0, len(stops), BLOCK)
    ]
    first, last, samples, extent = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    travel, smooth = travel[stops], hands.smooth
    # For each candidate, the longest chain of similar ones from it on: its repetitions, last stop, and the
    # next candidate or -1.
    count, reach, following = np.ones(len(first), dtype=np.int64), last.copy(), np.full(len(first), -1)
    begins = np.searchsorted(first, np.arange(len(travel) + 1))
    ending = np.argsort(last, kind="stable")
    ends = np.searchsorted(last[ending], np.arange(len(travel) + 1))
    # Later stops come first, so that what follows a candidate is known when it is processed.
    for stop in range(len(travel) - 1, -1, -1):
        before, after = ending[ends[stop] : ends[stop + 1]], np.arange(begins[stop], begins[stop + 1])
        if not before.size or not after.size:
            continue
        after = after[np.lexsort((count[after], travel[reach[after]]))]
        # Relative to a posture nearby, as the differences of large numbers would be inaccurate.
        nearby = smooth[samples[after[0], 0]]
        one, two = ((smooth[samples[some]] - nearby).reshape(len(some), -1) for some in (before, after))
        squares = (one**2).sum(axis=1)[:, None] + (two**2).sum(axis=1) - 2.0 * one @ two.T
        limits = SIMILAR * np.minimum.outer(extent[before], extent[after])
        # The best of the similar ones is the last.
        similar = squares / PATH_SAMPLES <= limits**2
        found = similar.any(axis=1)
        best = after[len(after) - 1 - similar[found, ::-1].argmax(axis=1)]
        before = before[found]
        count[before], reach[before], following[before] = count[best] + 1, reach[best], best
    if not (count > 1).any():
        return np.empty(0, dtype=np.int64)
    covered = np.where(count > 1, travel[reach] - travel[first], 0.0)
    far = np.flatnonzero(covered >= NEARLY_FARTHEST * covered.max())
    chains = []
    for k in far[count[far] == count[far].max()]:
        chain = [first[k]]
        while k >= 0:
            chain.append(last[k])
            k = following[k]
        chains.append(np.array(chain, dtype=np.int64))
    speed = hands.speed[stops]
    return min(chains, key=lambda chain: float(speed[chain].mean()))


def _find_candidates(
    hands: HandTrajectory, stops: NDArray[np.int64], travel: Array, beginning: range
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], Array]:
    """Find the candidates (K,) that begin at some of the stops; `travel` (T,) is the arc length, m.

    Returns the stops at which they begin and end, in the order of the first; (K, PATH_SAMPLES): samples of
    the recording at equal steps along their paths; and the extents of their paths, m.
    """
    first = np.repeat(beginning, MAX_STOPS)
    last = first + np.tile(np.arange(1, MAX_STOPS + 1), len(beginning))
    first, last = first[last < len(stops)], last[last < len(stops)]
    postures = hands.smooth[stops]
    distance = np.linalg.norm(postures[first] - postures[last], axis=1)
    # A closed path is at least twice as long as its extent (root mean square over four points).
    keep = distance <= CLOSED * (travel[stops[last]] - travel[stops[first]])
    first, last, distance = first[keep], last[keep], distance[keep]
    begin, end = travel[stops[first]], travel[stops[last]]
    targets = begin[:, None] + np.linspace(0.0, 1.0, PATH_SAMPLES) * (end - begin)[:, None]
    samples = np.minimum(np.searchsorted(travel, targets), len(travel) - 1).astype(np.int32)
    shapes = hands.smooth[samples]
    extent = np.sqrt(((shapes - shapes.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1))
    keep = distance <= CLOSED * extent
    return first[keep], last[keep], samples[keep], extent[keep]


Span = tuple[float, float]

# Smallest ratio of a movement's top speed to the speed at the stops around it: tried first for hands that
# stop, then for hands that only slow down.
CONTRASTS = (3.0, 1.5)
# Hands stop where they are slower than this fraction of the top speeds before and after: between two
# repetitions, and before the first or after the last one, where they dwell.
STOP_FRACTION, DWELL_FRACTION = 0.25, 0.10
# Transitions and rests that are shorter than this are ignored, s.
SHORTEST_PHASE = 0.1


@dataclass(frozen=True)
class Phases:
    """Phases of a recording (Tomić 2018, chapter 3), each as its start and end, s, or None."""

    icp: Span | None  # Initial configuration phase (ICP): arms held horizontally forward, palms down.
    # Transition and grasp phase (TGP), between the initial configuration and the first repetition.
    tgp: Span | None
    pmp: Span | None  # Periodic motion phase (PMP), which consists of the repetitions.
    rest: Span | None  # Rest after the periodic motion.
    # (N + 1,): times that divide the periodic motion into N primitives, s: start of the first, midpoints of
    # the dwells between two, end of the last. Empty if nothing repeats.
    boundaries: Array


def find_phases(motion: HumanMotion) -> Phases:
    """Find the phases of a recording and the primitives of its periodic motion.

    Boundaries between primitives are the times at which the hands momentarily stop in a posture that recurs,
    at least twice and along the same path; a primitive may contain other stops. If the hands only slow down,
    these times are the boundaries.
    """
    hands = compute_hand_trajectory(motion)
    time, speed = hands.time, hands.speed
    for contrast in CONTRASTS:
        stops, peaks = find_stops(speed, contrast)
        chain = find_repetitions(hands, stops)
        if len(chain):
            break
    at, tops = stops.tolist(), peaks.tolist()
    icp = find_initial_configuration(motion, hands, at, tops, int(chain[0]) + 1 if len(chain) else len(tops))
    if len(chain) == 0:
        return Phases(icp=icp, tgp=None, pmp=None, rest=None, boundaries=np.empty(0))
    movements = {*chain[:-1].tolist(), *(chain[1:] - 1).tolist()}
    edges = {k: fit_minimum_jerk(hands, at[k], tops[k], at[k + 1]) for k in movements}
    starts = [edges[k][0] for k in chain[:-1].tolist()]
    ends = [edges[k - 1][1] for k in chain[1:].tolist()]
    cuts = np.array([starts[0], *(0.5 * np.add(ends[:-1], starts[1:])), ends[-1]])
    # Where the hands only slow down, or a movement has no minimum-jerk profile, the lowest speed is more
    # accurate.
    peaks = np.concatenate([[0], peaks, [len(time) - 1]])
    fastest = speed[peaks]
    fastest[[0, -1]] = np.inf
    fraction = np.full(len(cuts), STOP_FRACTION)
    fraction[[0, -1]] = DWELL_FRACTION
    slowing = speed[stops[chain]] > fraction * np.minimum(fastest[chain], fastest[chain + 1])
    outside = (cuts < time[peaks[chain]]) | (cuts > time[peaks[chain + 1]])
    boundaries = np.where(slowing | outside, time[stops[chain]], cuts)
    start, end = float(boundaries[0]), float(boundaries[-1])
    tgp = None
    if icp is not None:
        tgp = (icp[1], start) if start - icp[1] >= SHORTEST_PHASE else None
        icp = (icp[0], min(icp[1], start))
    still = (time > end) & (speed <= SWAYING)
    # The end is known only to some milliseconds: the last movement may fade out after it.
    begin = float(time[np.argmax(still)]) if still.any() else np.inf
    moving = (time > begin) & (speed > SWAYING)
    until = float(time[np.argmax(moving)] if moving.any() else time[-1])
    rest = (end, until) if begin - end < SHORTEST_PHASE <= until - end else None
    return Phases(icp=icp, tgp=tgp, pmp=(start, end), rest=rest, boundaries=boundaries)
