"""Free motions, without equipment: series of arm postures and straight walking, and their registry."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors.human_model import (
    COMFORT,
    SPINE_JOINTS,
    HumanModel,
    check_ranges,
    couple_clavicles,
    draw_body_sway,
    find_arms_forward_posture,
)
from simbench.motion.actors.people import ActorPerformance, Person
from simbench.motion.actors.perform import list_phases
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
    human = HumanModel(person.actor, person.proportions, person.lift)
    time = np.arange(routine.frames) / RATE
    count, repetitions = len(routine.moves), routine.repetitions

    def varied(spread: float, *shape: int) -> Array:
        return np.asarray(1.0 + spread * np.clip(rng.normal(size=shape), -2.0, 2.0))

    # Starts and durations of the transition and of all movements after it, s.
    transition = TRANSITION * person.tempo * float(varied(MOVE_SPREAD))
    settling, rest = (mean * float(varied(STOP_SPREAD)) for mean in (SETTLING, REST))
    pace = varied(PACE_SPREAD, repetitions, 1)
    moves = (np.array(routine.moves) * person.tempo * pace * varied(MOVE_SPREAD, repetitions, count)).ravel()
    stops = (np.array(routine.stops) * pace * varied(STOP_SPREAD, repetitions, count)).ravel()
    begin = INITIAL + transition + settling
    # The recording's length is given: after the last movement there is rest.
    stretch = ((routine.frames - 1) / RATE - rest - begin) / (moves.sum() + stops[:-1].sum())
    moves, stops = stretch * moves, stretch * stops
    starts = np.concatenate([[INITIAL], begin + np.concatenate([[0.0], np.cumsum(moves + stops)[:-1]])])
    durations = np.concatenate([[transition], moves])

    # Arm postures (M, 2, 7) after each movement, from the transition on, rad.
    cycle = np.concatenate([routine.keyframes, routine.ready[None]])
    postures = np.concatenate([routine.ready[None], *[cycle] * repetitions])
    spread = np.full(len(postures), 1.0)
    spread[:: len(cycle)] = AT_READY
    deviation = np.clip(rng.normal(size=postures.shape), -2.0, 2.0) * POSTURE_SPREAD
    postures = postures + spread[:, None, None] * np.array(routine.looseness)[:, None] * deviation
    postures += HABIT * (person.comfort - COMFORT)
    lower, upper = (
        np.stack([bound[human.arms[side]] for side in SIDES])
        for bound in (human.model.lowerPositionLimit, human.model.upperPositionLimit)
    )
    postures = np.clip(postures, lower + MARGIN, upper - MARGIN)

    initial = find_arms_forward_posture(human)
    swaying = draw_body_sway(human, time, rng)
    # The world's origin is below the pelvis at the start, as readers place it.
    q = initial + swaying
    q[:, :2] -= swaying[0, :2]
    progress = np.stack([minimum_jerk(time, *each) for each in zip(starts, durations, strict=True)], axis=1)
    for number, side in enumerate(SIDES):
        before = initial[human.arms[side]]
        steps = np.diff(postures[:, number], axis=0, prepend=before[None])
        q[:, human.arms[side]] = before + progress @ steps
    q = np.stack([couple_clavicles(human, configuration) for configuration in q])
    check_ranges(human, q)
    # The first movement is the transition; each repetition has as many as there are moves.
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
        phases=list_phases(strokes, still, len(q)),
        boundaries=np.concatenate([first[:1], 0.5 * (last[:-1] + first[1:]), last[-1:]]),
        contact_start=None,
        travel=np.zeros(len(q)),
        strategy=None,
    )


# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`.
HANGING = np.array([4.0, 8.0, 5.0, 16.0, 15.0, 0.0, 0.0])


def wave_right_hand(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person wave the right hand five times, after standing with arms forward.

    Waving the right hand beside the head, the left arm hanging.

    `amplitude` of `person` is how widely they wave. Returns the
    642 frames at 60 Hz of the recording of Kim & Kim (ICCAS 2005), recorded with 25 markers.
    """
    # The palm faces forward at the height of the head, away from it and then near it.
    outward = np.array([36.0, 55.0, -63.0, 76.0, 22.0, 0.0, 6.0])
    inward = np.array([60.0, 41.0, -2.0, 136.0, 57.0, 12.0, -7.0])
    middle, half = 0.5 * (outward + inward), 0.5 * person.amplitude * (inward - outward)
    far, near = (np.radians([HANGING, middle + sign * half]) for sign in (-1.0, 1.0))
    routine = Routine(642, far, near[None], moves=(0.62, 0.62), stops=(0.06, 0.10), looseness=(0.3, 1.0))
    return perform_routine(routine, person, rng, errors, source)


# Postures of left and right arm in degrees. The signs belong to no language: they vary place and orientation
# of both hands as signs do.
READY = ([12, 21, 51, 91, 43, -17, -8],) * 2  # hands low before the belly, palms down
SIGNS = (
    ([43, 18, 26, 111, 10, -7, 10],) * 2,  # a roof before the face
    ([0, 6, 19, 82, -78, 10, -30], [31, 20, 60, 128, -43, 0, -19]),  # right hand to the chest, left palm up
    ([13, -4, -9, 93, -78, -9, -3],) * 2,  # palms up, apart
    ([10, 10, 32, 96, 8, -20, 18], [68, 8, 34, 48, 50, 9, -21]),  # right arm forward, left before the chest
    ([18, 9, 44, 98, 10, -46, 18],) * 2,  # palms together
    ([43, 27, -28, 99, -35, 19, -5],) * 2,  # wide at the height of the head
)


def sign_sentence(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person say a sentence with both arms five times, after standing with arms forward.

    A sentence as in sign language: six signs with both arms, said five times.

    Returns the 1978 frames at 60 Hz of the recording of Kim & Kim (ICCAS
    2005), recorded with 25 markers.
    """
    # Means, s: the movements to the six signs and back, and how long hands stay there.
    moves, stops = (0.60, 0.65, 0.60, 0.65, 0.65, 0.65, 0.75), (0.22, 0.25, 0.22, 0.20, 0.30, 0.25, 0.40)
    routine = Routine(1978, np.radians(READY), np.radians(SIGNS), moves, stops, looseness=(1.0, 1.0))
    return perform_routine(routine, person, rng, errors, source)


def stretch_arms(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person stretch both arms forward five times, after standing with arms forward.

    Both arms are stretched forward to the horizontal, palms down, and hang again, five times.

    The arms' part of the first demonstration of Kim, Choi, Oh & You (ICCAS 2005). Returns 1303 frames at 60
    Hz, recorded with 25 markers: so many that the movements take as long as their means.
    """
    # People do not lock their elbows when asked to stretch their arms.
    stretched = np.array([88.0, 8.0, 30.0, 5.0, 51.0, 2.0, -1.0])
    ready, keyframes = np.radians([HANGING] * 2), np.radians([[stretched] * 2])
    # Means, s: the movements forward and back, and how long the arms stay stretched and hanging.
    routine = Routine(1303, ready, keyframes, moves=(1.40, 1.40), stops=(0.50, 0.45), looseness=(1.0, 1.0))
    return perform_routine(routine, person, rng, errors, source)


def wave_fast(person: Person, rng: np.random.Generator, errors: MocapErrors, source: str) -> ActorPerformance:
    """Have a person raise the right arm and wave fast, two times, after standing with arms forward.

    The right arm rises beside the head, waves fast and hangs again, twice; the left arm hangs throughout.

    The arms' part of the second demonstration of Kim, Choi, Oh & You (ICCAS 2005), after standing with arms
    forward; `amplitude` of `person` is how widely they wave. Returns 1273 frames at 60 Hz, recorded with 25
    markers: so many that the movements take as long as their means.
    """
    # The palm faces forward at the height of the head. Fast waves turn the upper arm about itself, by less
    # than leisurely ones; there and back last 1/2 s.
    out = np.array([46.0, 50.0, -46.0, 96.0, 34.0, 3.0, 0.0])
    inside = np.array([50.0, 46.0, -20.0, 116.0, 44.0, 7.0, 0.0])
    middle, half, waves = 0.5 * (out + inside), 0.5 * person.amplitude * (inside - out), 12
    outward, inward = middle - half, middle + half
    right = np.array([outward, *[inward, outward] * waves])
    routine = Routine(
        frames=1273,
        ready=np.radians([HANGING] * 2),
        keyframes=np.radians(np.stack([np.broadcast_to(HANGING, right.shape), right], axis=1)),
        # Means, s: the movements up and down, and how long the arm hangs in between.
        moves=(1.30, *[0.25] * (2 * waves), 1.30),
        stops=(0.0,) * (2 * waves + 1) + (0.60,),
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
# Arm postures in degrees, order of `human_model.ARM_JOINT_NAMES`: the middle of the swing, and half its
# excursion. The shoulder moves between 24 degrees of extension and 8 of flexion (Murray, Sepic & Barnard
# 1967); the numbers of the other joints are estimates.
WALKING_SWING = np.array([-8.0, 7.0, 5.0, 24.0, 20.0, 0.0, 0.0])
WALKING_HALF_SWING = np.array([16.0, 1.0, 3.0, 11.0, 4.0, 2.0, 0.0])
# Standard deviation of a stride's length and time between people's walks, relative.
WALKING_SPREAD = 0.02


def walk_straight(
    person: Person, rng: np.random.Generator, errors: MocapErrors, source: str
) -> ActorPerformance:
    """Have a person walk four strides straight ahead, after standing with arms forward.

    Walking straight ahead for four strides, the arms swinging against the legs.

    The forward speed rises to that of natural walking over the duration of one stride and falls likewise. The
    phase of gait is the distance in strides; all excursions are in proportion to the speed. The person model
    has no joints in the legs and the 25 markers are on the upper body, so the legs are not recorded.
    `person`: who performs: body, tempo, and `amplitude`, by which the arms swing; `rng`: all variation comes
    from it; `errors`: errors of the motion capture; `source`: name of the recording. Returns about 9 s at 60
    Hz, recorded with 25 markers; the repetitions are strides, from one contact of the left heel to the next.
    """
    human = HumanModel(person.actor, person.proportions, person.lift)
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
    # Bob, sway and rotation of the pelvis, and the spine's counter-rotation. The left heel touches the ground
    # at phase 0, the right one at π.
    size = human.actor.height / WALKING_STATURE
    q[:, 2] -= size * WALKING_RISE * speed * (1.0 + np.cos(2.0 * phase))
    q[:, 1] += size * WALKING_SHIFT * speed * np.sin(phase)
    # The left side is in front as the left heel touches the ground; the right side drops while the left leg
    # stands.
    yaw, roll = -PELVIS_YAW * speed * np.cos(phase), PELVIS_LIST * speed * np.sin(phase)
    q[:, 3:7] = Rotation.from_euler("ZX", np.stack([yaw, roll], axis=1)).as_quat()
    _, bend, twist = (human.model.joints[human.model.getJointId(name)].idx_q for name in SPINE_JOINTS)
    q[:, bend] += (THORAX_LIST - PELVIS_LIST) * speed * np.sin(phase)
    q[:, twist] += (THORAX_YAW + PELVIS_YAW) * speed * np.cos(phase)
    # The arms are lowered from the initial configuration, and swing against the legs.
    lowered = minimum_jerk(time, INITIAL, transition)
    amount = person.amplitude * speed
    hanging, middle, half = np.radians([HANGING, WALKING_SWING, WALKING_HALF_SWING])
    for side, forward in zip(SIDES, (-np.cos(phase), np.cos(phase)), strict=True):
        arm = human.arms[side]
        q[:, arm] += lowered[:, None] * (hanging - q[0, arm])
        q[:, arm] += amount[:, None] * (middle - hanging + forward[:, None] * half)
    q = np.stack([couple_clavicles(human, configuration) for configuration in q])
    check_ranges(human, q)
    # The end of the last stride is where the person stands still again.
    contacts = np.append(np.interp(np.arange(STRIDES), strides, time), end)
    contacts[0] = start
    return record_free_motion(human, q, (contacts[:-1], contacts[1:]), errors, rng, source)


FreeMotion = Callable[[Person, np.random.Generator, MocapErrors, str], ActorPerformance]

# Motion to the function by which a person performs it, all variation from a generator, recorded with errors
# under the name of a source. A new one is in no session, unless `SESSION_TASKS` names it.
FREE: dict[str, FreeMotion] = {
    "waving": wave_right_hand,
    "signing": sign_sentence,
    "arms_forward": stretch_arms,
    "fast_waving": wave_fast,
}

# Free motions of the average person that are in no session, so that a session's recordings stay the same.
OUTSIDE_SESSION: dict[str, FreeMotion] = {"walking": walk_straight}
