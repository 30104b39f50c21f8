"""The tasks of a motion-capture session: one file a task, one registry."""

from collections.abc import Callable

import numpy as np

from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import Person
from simbench.motion.actors.tasks.canoe_paddles import place_canoe_paddles
from simbench.motion.actors.tasks.drawer import place_drawer
from simbench.motion.actors.tasks.grater import place_grater
from simbench.motion.actors.tasks.hand_drill import place_hand_drill
from simbench.motion.actors.tasks.knife import place_knife
from simbench.motion.actors.tasks.pump import place_pump
from simbench.motion.actors.tasks.steering_wheel import place_steering_wheel
from simbench.motion.actors.tasks.task import Task
from simbench.motion.actors.tasks.valves import place_valves

Place = Callable[[HumanModel, Person, float, np.random.Generator], Task]

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
"""Task to the function that sets its equipment before a person, for a reach (part of the straight arm's
length between shoulder and wrist) and with what is theirs to choose drawn at random."""
