"""The tasks of a motion-capture session: one file a task, one registry."""

from simbench.motion.actors.tasks.drawer import place_drawer
from simbench.motion.actors.tasks.valves import place_valves

PLACES = {
    "drawer": place_drawer,
    "valves": place_valves,
}
