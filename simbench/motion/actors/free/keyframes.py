"""A person repeats a series of arm postures, moving the joints from one to the next."""

from dataclasses import dataclass, replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors.human_model import HumanModel, build_human_model
from simbench.motion.actors.kim_markers import record_kim_markers
from simbench.motion.actors.people import Person
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.posture import COMFORT, check_ranges, couple_clavicles
from simbench.motion.actors.stance import draw_body_sway, find_arms_forward_posture
from simbench.motion.actors.virtual_mocap import MocapErrors, compute_frame_poses
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
