"""Free motions, without equipment: series of arm postures and straight walking, and their registry."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.actors.human_model import (
    COMFORT,
    SPINE_JOINTS,
    HumanModel,
    build_human_model,
    check_ranges,
    couple_clavicles,
    draw_body_sway,
    find_arms_forward_posture,
)
from simbench.motion.actors.people import ActorPerformance, Person
from simbench.motion.actors.virtual_mocap import MocapErrors, compute_frame_poses, record_kim_markers
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# Of the recordings of Kim & Kim (ICCAS 2005), Hz.
RATE = 60.0
# Means, s: standing with arms forward, from there to the first posture, the stop there, standing at the end.
INITIAL, TRANSITION, SETTLING, REST = 1.0, 1.4, 0.3, 0.7
# Relative standard deviations: of a whole repetition's pace, of each movement, of how long people hold still.
PACE_SPREAD, MOVE_SPREAD, STOP_SPREAD = 0.03, 0.06, 0.20
# How well people come back to a posture (standard deviation, order of ARM_JOINT_NAMES), rad, and what part of
# that is left where repetitions begin: a series is remembered by its beginning.
POSTURE_SPREAD = np.radians([2.0, 1.5, 2.5, 2.5, 2.5, 2.5, 1.0])
AT_READY = 0.25
# The part of a person's habits at work that shows in free motion, and how far they keep from the ends of
# their joints, rad.
HABIT, MARGIN = 0.5, np.radians(1.0)


@dataclass(frozen=True)
class Routine:
    """A series of arm postures that is repeated."""

    frames: int  # Number of frames of the recording.
    # (2, 7): left and right arm where a repetition begins and ends, rad, order of
    # `human_model.ARM_JOINT_NAMES`.
    ready: Array
    keyframes: Array  # (K, 2, 7): the postures in between.
    # `moves`, `stops`: mean durations of the movements to each keyframe and back to `ready`, and of the stops
    # there; in proportion to each other, for the recording's length is given, s.
    moves: tuple[float, ...]
    stops: tuple[float, ...]
    # How much the left and the right arm's postures vary, 1 for an arm that takes part.
    looseness: tuple[float, float]
    repetitions: int = 5  # Number of repetitions; by default five, as in the session.


def perform_routine(
    routine: Routine, person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person repeat a series of postures, recorded by the 25 markers of Kim & Kim (2005).

    Every movement is of minimum jerk in the joints. The recording is made as in a laboratory: its joints and
    segments are what the marker map computes from the markers. `routine`: the postures and their timing;
    `person`: who performs: body, tempo and habits; `rng`: all variation comes from it; `errors`: errors of
    the motion capture; `source`: name of the recording. Returns the recording and its ground truth; `travel`
    is zero throughout, for nothing is moved.
    """
    human = build_human_model(person.actor, person.proportions, person.lift)
    time = np.arange(routine.frames) / RATE
    starts, durations = _draw_movements(routine, person.tempo, rng)
    q = _move(human, time, starts, durations, _draw_postures(routine, human, person, rng), rng)
    check_ranges(human, q)
    # The first movement is the transition; each repetition has as many as there are moves.
    count = len(routine.moves)
    spans = starts[1::count], (starts + durations)[count::count]
    return record_free_motion(human, q, spans, errors, rng, source)


def record_free_motion(
    human: HumanModel,
    q: Array,
    spans: tuple[Array, Array],
    errors: MocapErrors,
    rng: np.random.Generator,
    source: str,
) -> ActorPerformance:
    """Record a free motion by the 25 markers of Kim & Kim (2005).

    `human`: the person's model; `q` (T, nq): configurations at 60 Hz, free of noise; in the first second the
    initial configuration is held; `spans` (N,) , (N,) array: start and end of each repetition, s; `errors`:
    errors of the motion capture; `rng`: all noise comes from it; `source`: name of the recording. Returns the
    recording and its ground truth; `travel` is zero throughout, for nothing is moved.
    """
    first, last = spans
    strokes = np.rint(np.stack([first, last], axis=1) * RATE).astype(np.int64)
    markers = record_kim_markers(human, q, errors, rng)
    recording = MarkerRecording(
        time=np.arange(len(q)) / RATE,
        names=tuple(markers),
        positions=np.stack(list(markers.values()), axis=1),
        source=source,
        up="z",
    )
    motion = to_human_motion(recording, ReadOptions(marker_map="kim2005"))
    palms = compute_frame_poses(human, q, [f"{side}_palm" for side in SIDES])
    still = round(INITIAL * RATE)
    return ActorPerformance(
        motion=replace(
            motion, actor=human.actor, strokes=strokes, notes=("virtual actor, free motion", *motion.notes)
        ),
        human=human,
        q=q,
        palms={side: palms[f"{side}_palm"] for side in SIDES},
        phases={
            "icp": (0, still),
            "tgp": (still + 1, int(strokes[0, 0]) - 1),
            "pmp": (int(strokes[0, 0]), int(strokes[-1, 1])),
            "rest": (int(strokes[-1, 1]) + 1, len(q) - 1),
        },
        boundaries=np.concatenate([first[:1], 0.5 * (last[:-1] + first[1:]), last[-1:]]),
        contact_start=None,
        travel=np.zeros(len(q)),
        strategy=None,
    )


def _draw_movements(routine: Routine, tempo: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw starts and durations of the transition and of all movements after it, s."""
    count, repetitions = len(routine.moves), routine.repetitions

    def varied(spread: float, *shape: int) -> Array:
        return np.asarray(1.0 + spread * np.clip(rng.normal(size=shape), -2.0, 2.0))

    transition = TRANSITION * tempo * float(varied(MOVE_SPREAD))
    settling, rest = (mean * float(varied(STOP_SPREAD)) for mean in (SETTLING, REST))
    pace = varied(PACE_SPREAD, repetitions, 1)
    moves = (np.array(routine.moves) * tempo * pace * varied(MOVE_SPREAD, repetitions, count)).ravel()
    stops = (np.array(routine.stops) * pace * varied(STOP_SPREAD, repetitions, count)).ravel()
    begin = INITIAL + transition + settling
    # The recording's length is given: after the last movement there is rest.
    stretch = ((routine.frames - 1) / RATE - rest - begin) / (moves.sum() + stops[:-1].sum())
    moves, stops = stretch * moves, stretch * stops
    starts = begin + np.concatenate([[0.0], np.cumsum(moves + stops)[:-1]])
    return np.concatenate([[INITIAL], starts]), np.concatenate([[transition], moves])


def _draw_postures(routine: Routine, human: HumanModel, person: Person, rng: np.random.Generator) -> Array:
    """Draw the arm postures (M, 2, 7) after each movement, from the transition on, rad."""
    ready = routine.ready[None]
    cycle = np.concatenate([routine.keyframes, ready])
    postures = np.concatenate([ready, *[cycle] * routine.repetitions])
    spread = np.full(len(postures), 1.0)
    spread[:: len(cycle)] = AT_READY
    deviation = np.clip(rng.normal(size=postures.shape), -2.0, 2.0) * POSTURE_SPREAD
    postures = postures + spread[:, None, None] * np.array(routine.looseness)[:, None] * deviation
    postures += HABIT * (person.comfort - COMFORT)
    limits = [
        np.stack([bound[human.arms[side]] for side in SIDES])
        for bound in (human.model.lowerPositionLimit, human.model.upperPositionLimit)
    ]
    return np.clip(postures, limits[0] + MARGIN, limits[1] - MARGIN)


def _move(
    human: HumanModel, time: Array, starts: Array, durations: Array, postures: Array, rng: np.random.Generator
) -> Array:
    """Sway and move the arms from the initial configuration through all postures: configurations (T, nq)."""
    initial = find_arms_forward_posture(human)
    swaying = draw_body_sway(human, time, rng)
    # The world's origin is below the pelvis at the start, as readers place it.
    q = initial + swaying
    q[:, :2] -= swaying[0, :2]
    progress = np.stack(
        [minimum_jerk(time, start, duration) for start, duration in zip(starts, durations, strict=True)],
        axis=1,
    )
    for number, side in enumerate(SIDES):
        before = initial[human.arms[side]]
        q[:, human.arms[side]] = before + progress @ np.diff(
            postures[:, number], axis=0, prepend=before[None]
        )
    return np.stack([couple_clavicles(human, configuration) for configuration in q])


# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`. The palm faces forward at the height of the
# head, away from it and then near it.
WAVING_OUTWARD = np.array([36.0, 55.0, -63.0, 76.0, 22.0, 0.0, 6.0])
WAVING_INWARD = np.array([60.0, 41.0, -2.0, 136.0, 57.0, 12.0, -7.0])
WAVING_HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
# Frames of the recording of Kim & Kim (ICCAS 2005).
WAVING_FRAMES = 642


def wave_right_hand(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person wave the right hand five times, after standing with arms forward.

    `person`: who performs; `amplitude` is how widely they wave; `rng`: all variation comes from it; `errors`:
    errors of the motion capture; `source`: name of the recording. Returns 642 frames at 60 Hz, recorded with
    25 markers.
    """
    middle, half = (
        0.5 * (WAVING_OUTWARD + WAVING_INWARD),
        0.5 * person.amplitude * (WAVING_INWARD - WAVING_OUTWARD),
    )
    outward, inward = (np.radians([WAVING_HANGING, middle + sign * half]) for sign in (-1.0, 1.0))
    routine = Routine(
        frames=WAVING_FRAMES,
        ready=outward,
        keyframes=inward[None],
        moves=(0.62, 0.62),
        stops=(0.06, 0.10),
        looseness=(0.3, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)


# Postures of left and right arm in degrees, order of `human_model.ARM_JOINT_NAMES`. The signs belong to no
# language: they vary place and orientation of both hands as signs do.
SIGNING_READY = ([12, 21, 51, 91, 43, -17, -8],) * 2  # hands low before the belly, palms down
SIGNING_SIGNS = (
    ([43, 18, 26, 111, 10, -7, 10],) * 2,  # a roof before the face
    ([0, 6, 19, 82, -78, 10, -30], [31, 20, 60, 128, -43, 0, -19]),  # right hand to the chest, left palm up
    ([13, -4, -9, 93, -78, -9, -3],) * 2,  # palms up, apart
    ([10, 10, 32, 96, 8, -20, 18], [68, 8, 34, 48, 50, 9, -21]),  # right arm forward, left before the chest
    ([18, 9, 44, 98, 10, -46, 18],) * 2,  # palms together
    ([43, 27, -28, 99, -35, 19, -5],) * 2,  # wide at the height of the head
)
# Means, s: the movements to the six signs and back, and how long hands stay there.
SIGNING_MOVES = (0.60, 0.65, 0.60, 0.65, 0.65, 0.65, 0.75)
SIGNING_HOLDS = (0.22, 0.25, 0.22, 0.20, 0.30, 0.25, 0.40)
# Frames of the recording of Kim & Kim (ICCAS 2005).
SIGNING_FRAMES = 1978


def sign_sentence(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person say a sentence with both arms five times, after standing with arms forward.

    `person`: who performs: body, tempo and habits; `rng`: all variation comes from it; `errors`: errors of
    the motion capture; `source`: name of the recording. Returns 1978 frames at 60 Hz, recorded with 25
    markers.
    """
    routine = Routine(
        frames=SIGNING_FRAMES,
        ready=np.radians(SIGNING_READY),
        keyframes=np.radians(SIGNING_SIGNS),
        moves=SIGNING_MOVES,
        stops=SIGNING_HOLDS,
        looseness=(1.0, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)


# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`. People do not lock their elbows when asked
# to stretch their arms.
FORWARD_HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
FORWARD_STRETCHED = np.array([88.0, 8.0, 30.0, 5.0, 51.0, 2.0, -1.0])
# Means, s: the movements forward and back, and how long the arms stay stretched and hanging.
FORWARD_MOVES = (1.40, 1.40)
FORWARD_STOPS = (0.50, 0.45)
# So many that the movements take as long as these means at 60 Hz, in five repetitions.
FORWARD_FRAMES = 1303


def stretch_arms(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person stretch both arms forward five times, after standing with arms forward.

    The arms' part of the first demonstration of Kim, Choi, Oh & You (ICCAS 2005). `person`: who performs:
    body, tempo and habits; `rng`: all variation comes from it; `errors`: errors of the motion capture;
    `source`: name of the recording. Returns 1303 frames at 60 Hz, recorded with 25 markers.
    """
    routine = Routine(
        frames=FORWARD_FRAMES,
        ready=np.radians([FORWARD_HANGING] * 2),
        keyframes=np.radians([[FORWARD_STRETCHED] * 2]),
        moves=FORWARD_MOVES,
        stops=FORWARD_STOPS,
        looseness=(1.0, 1.0),
    )
    return perform_routine(routine, person, rng, errors, source)


# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`: the palm faces forward at the height of the
# head. Fast waves turn the upper arm about itself, by less than leisurely ones.
FAST_HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
FAST_OUTWARD = np.array([46.0, 50.0, -46.0, 96.0, 34.0, 3.0, 0.0])
FAST_INWARD = np.array([50.0, 46.0, -20.0, 116.0, 44.0, 7.0, 0.0])
# Waves each time the arm is up; there and back last 1/2 s.
FAST_WAVES, FAST_HALF_WAVE = 12, 0.25
# Means, s: the movements up and down, and how long the arm hangs in between.
FAST_RISE, FAST_DESCENT, FAST_PAUSE = 1.30, 1.30, 0.60
# So many that the movements take as long as these means at 60 Hz, in two repetitions.
FAST_FRAMES = 1273


def wave_fast(person: Person, rng: np.random.Generator, errors: MocapErrors, source: str) -> ActorPerformance:
    """Have a person raise the right arm and wave fast, two times, after standing with arms forward.

    The arms' part of the second demonstration of Kim, Choi, Oh & You (ICCAS 2005). `person`: who performs;
    `amplitude` is how widely they wave; `rng`: all variation comes from it; `errors`: errors of the motion
    capture; `source`: name of the recording. Returns 1273 frames at 60 Hz, recorded with 25 markers.
    """
    middle, half = 0.5 * (FAST_OUTWARD + FAST_INWARD), 0.5 * person.amplitude * (FAST_INWARD - FAST_OUTWARD)
    outward, inward = middle - half, middle + half
    right = np.array([outward, *[inward, outward] * FAST_WAVES])
    routine = Routine(
        frames=FAST_FRAMES,
        ready=np.radians([FAST_HANGING] * 2),
        keyframes=np.radians(np.stack([np.broadcast_to(FAST_HANGING, right.shape), right], axis=1)),
        moves=(FAST_RISE, *[FAST_HALF_WAVE] * (2 * FAST_WAVES), FAST_DESCENT),
        stops=(0.0,) * (2 * FAST_WAVES + 1) + (FAST_PAUSE,),
        looseness=(0.3, 0.5),
        repetitions=2,
    )
    return perform_routine(routine, person, rng, errors, source)


# A stride is two steps. Its length as a fraction of stature and its duration, s: 1.41 m in 1.08 s (1.31 m/s)
# for a person of 1.70 m, natural walking (Winter 1991).
STRIDE_LENGTH, STRIDE_TIME = 0.83, 1.08
STRIDES = 4
# Half the excursions of the pelvis, m, of a person of 1.70 m: 46 mm up and down, twice a stride, and 44 mm
# sideways, once a stride. The pelvis rotates 4 degrees to either side about the vertical and drops 5 degrees
# on the side of the swinging leg (Saunders, Inman & Eberhart 1953).
WALKING_RISE, WALKING_SHIFT, WALKING_STATURE = 0.023, 0.022, 1.70
PELVIS_YAW, PELVIS_LIST = np.radians([4.0, 5.0])
# The thorax rotates against the pelvis and stays nearly level. Amplitudes in the world, rad: estimates.
THORAX_YAW, THORAX_LIST = np.radians([3.5, 1.0])
# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`: hanging, the middle of the swing, and half
# its excursion. The shoulder moves between 24 degrees of extension and 8 of flexion (Murray, Sepic & Barnard
# 1967); the numbers of the other joints are estimates.
WALKING_HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])
WALKING_SWING = np.array([-8.0, 7.0, 5.0, 24.0, 20.0, 0.0, 0.0])
WALKING_HALF_SWING = np.array([16.0, 1.0, 3.0, 11.0, 4.0, 2.0, 0.0])
# Standard deviation of a stride's length and time between people's walks, relative.
WALKING_SPREAD = 0.02


def walk_straight(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person walk four strides straight ahead, after standing with arms forward.

    The forward speed rises to that of natural walking over the duration of one stride and falls likewise. The
    phase of gait is the distance in strides; all excursions are in proportion to the speed. The person model
    has no joints in the legs and the 25 markers are on the upper body, so the legs are not recorded.
    `person`: who performs: body, tempo, and `amplitude`, by which the arms swing; `rng`: all variation comes
    from it; `errors`: errors of the motion capture; `source`: name of the recording. Returns about 9 s at 60
    Hz, recorded with 25 markers; the repetitions are strides, from one contact of the left heel to the next.
    """
    human = build_human_model(person.actor, person.proportions, person.lift)
    length, duration, transition = (
        mean * (1.0 + spread * float(np.clip(rng.normal(), -2.0, 2.0)))
        for mean, spread in (
            (STRIDE_LENGTH * person.actor.height, WALKING_SPREAD),
            (STRIDE_TIME * person.tempo, WALKING_SPREAD),
            (TRANSITION * person.tempo, MOVE_SPREAD),
        )
    )
    start = INITIAL + transition + SETTLING
    # Speeding up and slowing down take one stride's time each, and half its length.
    end = start + (STRIDES + 1) * duration
    time = np.arange(round((end + REST) * RATE) + 1) / RATE
    speed = minimum_jerk(time, start, duration) - minimum_jerk(time, end - duration, duration)
    strides = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))]) / (RATE * duration)
    q = find_arms_forward_posture(human) + draw_body_sway(human, time, rng)
    q[:, :2] -= q[0, :2]
    q[:, 0] += length * strides
    phase = 2.0 * np.pi * strides
    _move_trunk(human, q, phase, speed)
    _move_arms(human, q, minimum_jerk(time, INITIAL, transition), phase, person.amplitude * speed)
    q = np.stack([couple_clavicles(human, configuration) for configuration in q])
    check_ranges(human, q)
    # The end of the last stride is where the person stands still again.
    contacts = np.append(np.interp(np.arange(STRIDES), strides, time), end)
    contacts[0] = start
    return record_free_motion(human, q, (contacts[:-1], contacts[1:]), errors, rng, source)


def _move_trunk(human: HumanModel, q: Array, phase: Array, amount: Array) -> None:
    """Add bob, sway and rotation of the pelvis, and the spine's counter-rotation, to configurations.

    The left heel touches the ground at phase 0, the right one at π.
    """
    size = human.actor.height / WALKING_STATURE
    q[:, 2] -= size * WALKING_RISE * amount * (1.0 + np.cos(2.0 * phase))
    q[:, 1] += size * WALKING_SHIFT * amount * np.sin(phase)
    # The left side is in front as the left heel touches the ground; the right side drops while the left leg
    # stands.
    yaw, roll = -PELVIS_YAW * amount * np.cos(phase), PELVIS_LIST * amount * np.sin(phase)
    q[:, 3:7] = Rotation.from_euler("ZX", np.stack([yaw, roll], axis=1)).as_quat()
    _, bend, twist = (human.model.joints[human.model.getJointId(name)].idx_q for name in SPINE_JOINTS)
    q[:, bend] += (THORAX_LIST - PELVIS_LIST) * amount * np.sin(phase)
    q[:, twist] += (THORAX_YAW + PELVIS_YAW) * amount * np.cos(phase)


def _move_arms(human: HumanModel, q: Array, lowered: Array, phase: Array, amount: Array) -> None:
    """Lower the arms from the initial configuration, and swing them against the legs."""
    hanging, middle, half = np.radians([WALKING_HANGING, WALKING_SWING, WALKING_HALF_SWING])
    for side, forward in zip(SIDES, (-np.cos(phase), np.cos(phase)), strict=True):
        arm = human.arms[side]
        q[:, arm] += lowered[:, None] * (hanging - q[0, arm])
        q[:, arm] += amount[:, None] * (middle - hanging + forward[:, None] * half)


FreeMotion = Callable[[Person, np.random.Generator, MocapErrors, str], ActorPerformance]

FREE: dict[str, FreeMotion] = {
    "waving": wave_right_hand,
    "signing": sign_sentence,
    "arms_forward": stretch_arms,
    "fast_waving": wave_fast,
}
"""Motion to the function by which a person performs it, all variation from a generator, recorded with errors
under the name of a source. A new one is in no session, unless `SESSION_TASKS` names it."""

OUTSIDE_SESSION: dict[str, FreeMotion] = {"walking": walk_straight}
"""Free motions of the average person that are in no session, so that a session's recordings stay the same."""
