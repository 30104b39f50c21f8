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
    """Where the drawer is, and how it is moved. World frame: the actor stands at the origin, looking along x.

    Parameters
    ----------
    distance : float
        From the actor's pelvis axis forward to the palm centres on the drawer as the actor finds it, m.
    height : float
        Of the palm centres while they hold the drawer's front, m.
    separation : float
        Between the two palm centres, m; the middle is in front of the actor.
    convergence : float
        Turn of each hand about the vertical, fingertips toward the other hand, rad: with elbows at their side
        a person's palms-down hands do not point straight ahead.
    stroke : float
        How far the drawer is pulled, m.
    repetitions : int
    pull_duration, push_duration : float
        Mean of the repetitions, s.
    variation : float
        Relative standard deviation of durations and strokes over the repetitions.
    approach_height : float
        The hands arrive above the front and come down on it from there, m. The last two thirds are vertical.
    initial_duration, transition_duration, descent_duration : float
        Standing with arms forward; from there to above the front; down on it; s.
    grasp_duration, turning_pause, rest_duration : float
        Closing the fingers; between pull and push; standing still at the end; s.
    rate : float
        Of the recording, Hz.
    """

    distance: float = 0.45
    height: float = 0.975
    separation: float = 0.40
    convergence: float = np.radians(15.0)
    stroke: float = 0.11
    repetitions: int = 5
    pull_duration: float = 0.90
    push_duration: float = 0.90
    variation: float = 0.03
    approach_height: float = 0.12
    initial_duration: float = 1.0
    transition_duration: float = 1.5
    descent_duration: float = 0.9
    grasp_duration: float = 0.4
    turning_pause: float = 0.10
    rest_duration: float = 0.5
    rate: float = 100.0

    def handle(self, side: str) -> Array:
        """Palm centre (3,) on the drawer as the actor finds it, m, world frame."""
        lateral = 0.5 * self.separation if side == "left" else -0.5 * self.separation
        return np.array([self.distance, lateral, self.height])

    def grip(self, side: str) -> Array:
        """Palm pose (4, 4) on the drawer as the actor finds it, world frame."""
        turn = -self.convergence if side == "left" else self.convergence
        return transform(pin.utils.rotate("z", turn), self.handle(side))


def make_drawer_task(drawer: DrawerTask) -> Task:
    """Set the task on a given drawer."""
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
    """Set the drawer of the thesis, in a unit 0.3 m high on a table 0.75 m high, before a person."""
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
