"""A drawer is opened and closed with both hands on the upper edge of its front."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.stance import compute_comfortable_distance
from simbench.motion.actors.tasks.task import FIXED, Task, stack_palms
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import PALM_OFFSET, transform
from simbench.robot.sides import SIDES


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

    def handle(self, side: str) -> Array:
        """Compute the position of a palm's centre on the drawer as the actor finds it.

        `side`: hand. Returns (3,): position in the world frame, m.
        """
        lateral = 0.5 * self.separation if side == "left" else -0.5 * self.separation
        return np.array([self.distance, lateral, self.height])

    def grip(self, side: str) -> Array:
        """Compute the pose of a palm on the drawer as the actor finds it.

        `side`: hand. Returns (4, 4): pose in the world frame.
        """
        angle = -self.convergence if side == "left" else self.convergence
        return transform(pin.utils.rotate("z", angle), self.handle(side))


def make_drawer_task(drawer: DrawerTask) -> Task:
    """Make the task of a given drawer.

    `drawer`: the drawer and how it is moved. Returns the task as a person finds it.
    """
    grips = stack_palms(*(drawer.grip(side)[None] for side in SIDES))

    def palms(travel: Array) -> Array:
        poses = np.repeat(grips, len(travel), axis=0)
        poses[:, :, 0, 3] -= travel[:, None]
        return poses

    return Task(
        name="drawer",
        unit="m",
        palms=palms,
        timing=Timing(
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
        ),
        turn_axes=FIXED,
        approach=dict.fromkeys(SIDES, np.array([0.0, 0.0, drawer.approach_height])),
        details={
            "distance_m": drawer.distance,
            "height_m": drawer.height,
            "separation_m": drawer.separation,
            "stroke_m": drawer.stroke,
        },
    )


def place_drawer(human: HumanModel, person: Person, reach: float, rng: np.random.Generator) -> Task:
    """Set the drawer of the thesis, in a unit 0.3 m high on a table 0.75 m high, before a person.

    `person`: body and habits; the tempo and amplitude are theirs; `reach`: distance from shoulder to wrist as
    a fraction of the straight arm's length; `rng`: what is the person's choice is drawn from it. Returns the
    task as the person finds it.
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
