"""The tasks of a virtual session: their equipment, set before a person, and one registry."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel, compute_comfortable_distance
from simbench.motion.actors.people import Person
from simbench.motion.actors.task import FIXED, HANDLE, Task, Timing, make_palm_poses, repeat_pose, stack_palms
from simbench.motion.human_motion import PALM_OFFSET
from simbench.robot.sides import SIDES

FORWARD, LEFT, UP = np.eye(3)


def _track(x: Array | float, y: Array | float, z: Array | float) -> Array:
    """Positions (T, 3), m, from coordinates of which each changes, (T,), or is constant."""
    return np.stack(np.broadcast_arrays(x, y, z), axis=1)


# Tomić (2018, ch. 3), m.
VALVE_HEIGHT, VALVE_SPACING, VALVE_RADIUS = 1.15, 0.32, 0.10
# Of the left hand, from outside: one that came straight from behind would push its handle with open fingers.
VALVE_APPROACH = np.array([-0.05, 0.10, 0.0])


def place_valves(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the valves before a person.

    Two valves with vertical axes are turned by their vertical handles, five turns.

    Palms are vertical, each hand free to turn about its handle. The handles start at the side of the actor
    and go outwards first, one valve as the mirror image of the other.
    """
    axis = compute_comfortable_distance(human, VALVE_HEIGHT, 0.5 * VALVE_SPACING, reach) + PALM_OFFSET[0]

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            lateral = sign * (0.5 * VALVE_SPACING + VALVE_RADIUS * np.sin(travel))
            handle = _track(axis - VALVE_RADIUS * np.cos(travel), lateral, VALVE_HEIGHT)
            poses.append(make_palm_poses(FORWARD, np.array([0.0, sign, 0.0]), handle))
        return stack_palms(*poses)

    timing = Timing(moves=((2.0 * np.pi, 2.0 * person.tempo),), variation=0.05)
    turn_axes = dict.fromkeys(SIDES, HANDLE)
    approach = {"left": VALVE_APPROACH, "right": VALVE_APPROACH * (1.0, -1.0, 1.0)}
    details = dict(axis_m=axis, height_m=VALVE_HEIGHT, spacing_m=VALVE_SPACING, radius_m=VALVE_RADIUS)
    return Task("valves", "rad", palms, timing, turn_axes, approach, details=details)


@dataclass(frozen=True)
class DrawerTask:
    """Where the drawer is, and how it is moved, in the world frame: the actor at the origin looks along x."""

    # From the actor's pelvis axis forward to the palm centres on the drawer as the actor finds it, m.
    distance: float = 0.45
    height: float = 0.975  # Height of the palm centres while they hold the drawer's front, m.
    separation: float = 0.40  # Distance between the two palm centres, m; the middle is in front of the actor.
    # Rotation of each hand about the vertical, fingertips toward the other hand, rad: with elbows at their
    # side a person's palms-down hands do not point straight ahead.
    convergence: float = np.radians(15.0)
    stroke: float = 0.11  # How far the drawer is pulled, m.
    repetitions: int = 5  # How often it is pulled and pushed.
    pull_duration: float = 0.90  # `pull_duration`, `push_duration`: mean durations over the repetitions, s.
    push_duration: float = 0.90
    variation: float = 0.03  # Relative standard deviation of durations and strokes over the repetitions.
    # The hands arrive above the front and come down on it from there, m. The last two thirds are vertical.
    approach_height: float = 0.12
    # `initial_duration`, `transition_duration`, `descent_duration`: durations, s, of standing with arms
    # forward, of moving to above the front, and of moving down on it.
    initial_duration: float = 1.0
    transition_duration: float = 1.5
    descent_duration: float = 0.9
    # `grasp_duration`, `turning_pause`, `rest_duration`: durations, s, of closing the fingers, of the stop
    # between pull and push, and of standing still at the end.
    grasp_duration: float = 0.4
    turning_pause: float = 0.10
    rest_duration: float = 0.5
    rate: float = 100.0  # Sampling rate of the recording, Hz.


def make_drawer_task(drawer: DrawerTask) -> Task:
    """Make the task of a given drawer.

    `drawer`: the drawer and how it is moved. Returns the task as a person finds it.
    """
    # Poses of the palms on the drawer as the actor finds it, in the world frame.
    grips = np.empty((1, 2, 4, 4))
    for hand, sign in enumerate((1.0, -1.0)):
        place = np.array([drawer.distance, sign * 0.5 * drawer.separation, drawer.height])
        turned = pin.utils.rotate("z", -sign * drawer.convergence)
        grips[0, hand] = pin.SE3(turned, place).homogeneous

    def palms(travel: Array) -> Array:
        poses = np.repeat(grips, len(travel), axis=0)
        poses[:, :, 0, 3] -= travel[:, None]
        return poses

    timing = Timing(
        moves=((drawer.stroke, drawer.pull_duration), (0.0, drawer.push_duration)),
        repetitions=drawer.repetitions,
        variation=drawer.variation,
        pause=drawer.turning_pause,
        initial=drawer.initial_duration,
        transition=drawer.transition_duration,
        descent=drawer.descent_duration,
        grasp=drawer.grasp_duration,
        rest=drawer.rest_duration,
        rate=drawer.rate,
    )
    approach = dict.fromkeys(SIDES, np.array([0.0, 0.0, drawer.approach_height]))
    names = ("distance", "height", "separation", "stroke")
    details = {f"{name}_m": getattr(drawer, name) for name in names}
    return Task("drawer", "m", palms, timing, FIXED, approach, details=details)


def place_drawer(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the drawer of the thesis before a person.

    A drawer is opened and closed with both hands on the upper edge of its front.

    The drawer of the thesis is in a unit 0.3 m high on a table 0.75 m high.
    """
    drawer = DrawerTask()
    ahead = compute_comfortable_distance(human, drawer.height, 0.5 * drawer.separation, reach)
    return make_drawer_task(
        DrawerTask(
            distance=ahead + PALM_OFFSET[0],
            stroke=0.11 * person.amplitude,
            pull_duration=0.9 * person.tempo,
            push_duration=0.9 * person.tempo,
            variation=0.05,
        )
    )


# The thesis gives no dimensions; a frame on a table 0.75 m high, m.
PADDLE_HEIGHT, PADDLE_RADIUS, PADDLE_SPACING = 1.05, 0.12, 0.42
# The hands lie level on their handles, fingertips towards each other by this angle: elbows are at the side.
PADDLE_CONVERGENCE = np.radians(15.0)


def place_canoe_paddles(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the paddles before a person.

    Canoe paddles: both hands turn the handles of a U-shaped frame about one horizontal axis.

    Palms stay parallel to the floor and at the same distance. The handles start nearest to the actor and go
    over the top, away from the actor.
    """
    axis = compute_comfortable_distance(human, PADDLE_HEIGHT, 0.5 * PADDLE_SPACING, reach) + PALM_OFFSET[0]

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            ahead, height = (
                axis - PADDLE_RADIUS * np.cos(travel),
                PADDLE_HEIGHT + PADDLE_RADIUS * np.sin(travel),
            )
            fingers = np.array([np.cos(PADDLE_CONVERGENCE), -sign * np.sin(PADDLE_CONVERGENCE), 0.0])
            poses.append(make_palm_poses(fingers, UP, _track(ahead, sign * 0.5 * PADDLE_SPACING, height)))
        return stack_palms(*poses)

    timing = Timing(moves=((2.0 * np.pi, 2.0 * person.tempo),), variation=0.05)
    approach = dict.fromkeys(SIDES, np.array([-0.06, 0.0, 0.10]))
    details = dict(axis_m=axis, height_m=PADDLE_HEIGHT, spacing_m=PADDLE_SPACING, radius_m=PADDLE_RADIUS)
    return Task("canoe_paddles", "rad", palms, timing, FIXED, approach, details=details)


# Tomić (2018, ch. 3): 0.3 m wide, tilted 30 degrees; we take its axis to rise by that angle from the table's
# plane towards the driver, as a gaming wheel's does: hands rigid on a rim that lies flatter could not turn
# it by a quarter. The height of its centre, over a table of 0.75 m, is an estimate.
WHEEL_RADIUS, WHEEL_TILT, WHEEL_HEIGHT = 0.15, np.radians(30.0), 0.90
WHEEL_TURN = np.pi / 2.0
# The rim lies obliquely across the palm, by this angle: the fingers point more towards the thumb's side than
# a right angle to the rim would have them, as in any grip with the forearm behind the hand.
WHEEL_OBLIQUE = np.radians(18.0)
# People hold it this far above nine and three o'clock: lower, the hand that comes to the bottom would need
# more adduction of the shoulder and radial deviation of the wrist than anybody has.
WHEEL_ABOVE = np.radians(40.0)
# Hands come to the rim from outside, palm first, from so far, m: from the driver's side fingers would sweep
# it.
WHEEL_APPROACH = 0.10
# Hands that are rigid on the rim leave little choice of where to sit: the hand that comes over the top to the
# other side is about an arm's length from its shoulder (the trunk follows), give or take a quarter of what
# people's distances differ by elsewhere.
WHEEL_ACROSS, WHEEL_SHARE_OF_REACH = 0.89, 0.25


def place_steering_wheel(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the wheel before a seated person.

    A steering wheel is turned a quarter to one side, to the other, and back, both hands rigid on the rim.

    A seated person holds it at about ten and two o'clock.
    """
    top, across = (
        WHEEL_RADIUS * np.sin(WHEEL_ABOVE + WHEEL_TURN),
        WHEEL_RADIUS * np.cos(WHEEL_ABOVE + WHEEL_TURN),
    )
    height, stretch = WHEEL_HEIGHT + top * np.cos(WHEEL_TILT), WHEEL_ACROSS + WHEEL_SHARE_OF_REACH * reach
    centre = compute_comfortable_distance(human, height, across, stretch, seated=True)
    centre += PALM_OFFSET[0] - top * np.sin(WHEEL_TILT)
    # Into the wheel, and up along its face.
    inward = np.array([np.cos(WHEEL_TILT), 0.0, -np.sin(WHEEL_TILT)])
    upward = np.array([np.sin(WHEEL_TILT), 0.0, np.cos(WHEEL_TILT)])

    def palms(travel: Array) -> Array:
        poses = []
        for sign in (1.0, -1.0):
            # From the centre to the hand; positive travel turns to the left, as the driver sees it.
            turned = (travel - sign * WHEEL_ABOVE)[:, None]
            out = sign * (np.cos(turned) * LEFT - np.sin(turned) * upward)
            fingers = np.cos(WHEEL_OBLIQUE) * inward + np.sin(WHEEL_OBLIQUE) * (sign * np.cross(inward, out))
            poses.append(
                make_palm_poses(fingers, out, np.array([centre, 0.0, WHEEL_HEIGHT]) + WHEEL_RADIUS * out)
            )
        return stack_palms(*poses)

    slow, quick = 2.0 * person.tempo, 1.2 * person.tempo
    timing = Timing(moves=((WHEEL_TURN, quick), (-WHEEL_TURN, slow), (0.0, quick)), variation=0.04)
    approach = {
        side: WHEEL_APPROACH * (sign * np.cos(WHEEL_ABOVE) * LEFT + np.sin(WHEEL_ABOVE) * upward)
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True)
    }
    lengths = dict(centre_m=centre, height_m=WHEEL_HEIGHT, radius_m=WHEEL_RADIUS)
    details = lengths | dict(above_rad=WHEEL_ABOVE, tilt_rad=WHEEL_TILT, turn_rad=WHEEL_TURN)
    return Task("steering_wheel", "rad", palms, timing, FIXED, approach, seated=True, details=details)


# The thesis gives no dimensions; a pump that stands on the floor before a chair, handle down, m.
PUMP_HEIGHT, PUMP_SPACING, PUMP_STROKE = 0.72, 0.22, 0.28


def place_pump(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the pump before a seated person.

    A mattress pump: both hands move its horizontal handle up and down.

    The person sits, palms down on the handle, their distance fixed by it.
    """
    middle = PUMP_HEIGHT + 0.5 * PUMP_STROKE
    ahead = (
        compute_comfortable_distance(human, middle, 0.5 * PUMP_SPACING, reach, seated=True) + PALM_OFFSET[0]
    )
    stroke = PUMP_STROKE * person.amplitude

    def palms(travel: Array) -> Array:
        handles = (_track(ahead, sign * 0.5 * PUMP_SPACING, PUMP_HEIGHT + travel) for sign in (1.0, -1.0))
        return stack_palms(*(make_palm_poses(FORWARD, UP, handle) for handle in handles))

    # Pulling is quick; the air's resistance makes pushing slow.
    timing = Timing(moves=((stroke, 0.8 * person.tempo), (0.0, 1.3 * person.tempo)), variation=0.05)
    approach = dict.fromkeys(SIDES, np.array([0.0, 0.0, 0.10]))
    details = dict(distance_m=ahead, height_m=PUMP_HEIGHT, spacing_m=PUMP_SPACING, stroke_m=stroke)
    return Task("pump", "m", palms, timing, FIXED, approach, seated=True, details=details)


# The thesis gives no dimensions; a board on a table 0.75 m high, m.
KNIFE_HEIGHT, KNIFE_BOX_HEIGHT, KNIFE_STROKE = 0.88, 0.90, 0.09
# A tool's handle crosses the palm obliquely, towards the thumb, by this angle from the fingers.
KNIFE_OBLIQUE = np.radians(50.0)


def place_knife(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set a board and a knife before a person.

    Cutting: the right hand saws with a knife and may turn about its handle, the left holds a box still.

    Which way the knife points is the person's choice.
    """
    ahead = compute_comfortable_distance(human, KNIFE_HEIGHT, 0.12, reach) + 0.5 * PALM_OFFSET[0]
    heading = np.radians(float(rng.uniform(5.0, 25.0)))
    stroke = KNIFE_STROKE * person.amplitude
    blade = np.array([np.cos(heading), np.sin(heading), 0.0])
    # The palm looks to the left; its thumb side is up, its fingers go down and forward.
    dorsal = np.array([np.sin(heading), -np.cos(heading), 0.0])
    fingers = Rotation.from_rotvec(KNIFE_OBLIQUE * dorsal).inv().apply(blade)
    start = np.array([ahead - 0.05, -0.14, KNIFE_HEIGHT])
    box = make_palm_poses(
        np.array([np.cos(0.5), -np.sin(0.5), 0.0]), UP, np.array([ahead, 0.14, KNIFE_BOX_HEIGHT])
    )

    def palms(travel: Array) -> Array:
        knife = make_palm_poses(fingers, dorsal, start + travel[:, None] * blade)
        return stack_palms(repeat_pose(box, len(travel)), knife)

    timing = Timing(moves=((stroke, 0.55 * person.tempo), (0.0, 0.55 * person.tempo)), variation=0.06)
    turn_axes = {"left": None, "right": np.array([np.cos(KNIFE_OBLIQUE), np.sin(KNIFE_OBLIQUE), 0.0])}
    approach = {"left": np.array([0.0, 0.04, 0.10]), "right": np.array([-0.03, -0.03, 0.10])}
    details = dict(distance_m=ahead, height_m=KNIFE_HEIGHT, heading_rad=heading, stroke_m=stroke)
    return Task("knife", "m", palms, timing, turn_axes, approach, details=details)


# The thesis gives no dimensions; a flat grater whose foot stands in a bowl on a table 0.75 m high, m.
GRATER_LOWEST, GRATER_STROKE = 0.90, 0.12
# It falls away from the person: on one that rose, the wrist would have to extend by the slope and by how far
# the forearm points down.
GRATER_SLOPES = np.radians([20.0, 40.0])
# In the grater's plane the fingers point this far to the left of the way they slide.
GRATER_CROSSWISE = np.radians([15.0, 40.0])


def place_grater(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set a grater before a person.

    Grating: the right hand slides along the grater, palm in its plane; the left holds the grater still.

    The person slopes it as they like; food goes down along it first.
    """
    slope, crosswise = (float(rng.uniform(*angles)) for angles in (GRATER_SLOPES, GRATER_CROSSWISE))
    stroke = GRATER_STROKE * person.amplitude
    middle = GRATER_LOWEST + 0.5 * stroke * np.sin(slope)
    ahead = compute_comfortable_distance(human, middle, 0.10, reach) + 0.5 * PALM_OFFSET[0]
    along = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    outward = np.array([np.sin(slope), 0.0, np.cos(slope)])
    fingers = np.cos(crosswise) * along + np.sin(crosswise) * LEFT
    start = np.array([ahead, -0.10, middle]) - 0.5 * stroke * along
    # The left hand is on the upper end, nearer to the person than the food.
    holding = make_palm_poses(
        np.array([np.cos(0.6), -np.sin(0.6), 0.0]), UP, start + np.array([-0.02, 0.16, 0.04])
    )

    def palms(travel: Array) -> Array:
        sliding = make_palm_poses(fingers, outward, start + travel[:, None] * along)
        return stack_palms(repeat_pose(holding, len(travel)), sliding)

    timing = Timing(moves=((stroke, 0.6 * person.tempo), (0.0, 0.6 * person.tempo)), variation=0.06)
    approach = {"left": np.array([0.0, 0.0, 0.10]), "right": 0.10 * outward}
    details = dict(distance_m=ahead, height_m=GRATER_LOWEST, slope_rad=slope, stroke_m=stroke)
    return Task("grater", "m", palms, timing, FIXED, approach, details=details)


# The thesis gives no dimensions; a drill that stands on a workpiece on a table 0.75 m high, m.
DRILL_HEIGHT, DRILL_RADIUS, DRILL_TOP = 0.95, 0.06, 0.16


def place_hand_drill(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the drill before a person.

    A hand drill: the right hand turns the crank, the left holds the drill still.

    The crank turns in a vertical plane, the hand is free about its knob. The knob starts at the top and goes
    away from the person first.
    """
    axis = (
        compute_comfortable_distance(human, DRILL_HEIGHT, 0.12, reach) + PALM_OFFSET[0] - 0.5 * DRILL_RADIUS
    )
    grip = np.array([axis, 0.02, DRILL_HEIGHT]) + np.array([0.0, 0.0, DRILL_TOP])
    holding = make_palm_poses(np.array([np.cos(0.6), -np.sin(0.6), 0.0]), UP, grip)

    def palms(travel: Array) -> Array:
        ahead, height = axis + DRILL_RADIUS * np.sin(travel), DRILL_HEIGHT + DRILL_RADIUS * np.cos(travel)
        crank = make_palm_poses(FORWARD, UP, _track(ahead, -0.12, height))
        return stack_palms(repeat_pose(holding, len(travel)), crank)

    timing = Timing(moves=((2.0 * np.pi, 1.4 * person.tempo),), variation=0.05)
    # Straight down: the left thumb passes beside the grip, the right fingers before the knob.
    approach = {"left": np.array([0.0, 0.0, 0.10]), "right": np.array([0.0, 0.0, 0.10])}
    details = dict(axis_m=axis, height_m=DRILL_HEIGHT, radius_m=DRILL_RADIUS)
    return Task(
        "hand_drill", "rad", palms, timing, {"left": None, "right": HANDLE}, approach, details=details
    )


Place = Callable[[HumanModel, Person, float, np.random.Generator], Task]

# Task to the function that sets its equipment before a person, whose tempo and amplitude it takes, for a
# reach (part of the straight arm's length between shoulder and wrist) and with what is theirs to choose drawn
# at random. The first line of its docstring's second paragraph describes the task.
PLACES: dict[str, Place] = {
    "valves": place_valves,
    "drawer": place_drawer,
    "canoe_paddles": place_canoe_paddles,
    "steering_wheel": place_steering_wheel,
    "pump": place_pump,
    "knife": place_knife,
    "grater": place_grater,
    "hand_drill": place_hand_drill,
}
