"""The equipment as planning sees it: handles for the hands, obstacles for the links, resistance to motion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simbench.errors import BalanceError
from simbench.motion.handles import HandlePath
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.hand_plan import HandPlan

FindObstacles = Callable[[HandPlan], Sequence[Obstacle]]


@dataclass(frozen=True)
class Resistance:
    """Force that equipment opposes to a hand that moves it.

    Parameters
    ----------
    friction_n : float
        Coulomb friction, N.
    damping_ns_m : float
        Viscous friction, N·s/m.
    mass_kg : float
        Mass that the hand accelerates, kg.

    Raises
    ------
    BalanceError
        If one is negative or not finite.
    """

    friction_n: float
    damping_ns_m: float
    mass_kg: float

    def __post_init__(self) -> None:
        """Refuse a resistance that would push the hands on."""
        numbers = (self.friction_n, self.damping_ns_m, self.mass_kg)
        if not (np.isfinite(numbers).all() and min(numbers) >= 0.0):
            raise BalanceError(f"resistance of equipment: {numbers}; allowed: finite numbers from 0")


def find_no_obstacles(hands: HandPlan) -> Sequence[Obstacle]:
    """Return no obstacle: the robot stands in free space.

    Parameters
    ----------
    hands : HandPlan
        Planned hand motion; it moves nothing here.

    Returns
    -------
    sequence of Obstacle
        Empty.
    """
    del hands
    return ()


@dataclass(frozen=True)
class Equipment:
    """Equipment that a motion takes place on; by default there is none.

    Parameters
    ----------
    handles : {side: HandlePath}
        Handle that each hand holds; empty for free motion.
    find_obstacles : callable (HandPlan) -> sequence of Obstacle
        Gives the obstacles that the robot must keep clear of while its hands move as planned.
    resistance : {side: Resistance}
        Resistance of the equipment to each hand that moves it.
    """

    handles: Mapping[str, HandlePath] = field(default_factory=dict)
    find_obstacles: FindObstacles = find_no_obstacles
    resistance: Mapping[str, Resistance] = field(default_factory=dict)
