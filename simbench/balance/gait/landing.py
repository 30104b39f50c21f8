"""Where the feet are to be, tick by tick: on the ground where they came down, in the air along the gait."""

import math

import numpy as np
from numpy.typing import NDArray

from simbench.balance.gait.gait import Gait

_EARLIEST = 0.5
"""Progress of a swing from which touching the ground is a landing, not the lift-off."""
_SEARCH_SPEED = 0.05
"""At which a foot that finds no ground where the gait has it goes on down, m/s."""
_SEARCH_DEPTH = 0.02
"""How far it does so, m."""


class Landing:
    """Follows a gait with both feet, and lets the ground say when a swing ends.

    A foot that is loaded in the second half of its swing has landed: it stays there, and the rest of its
    swing is dropped. One that is not loaded when the gait has it on the ground goes on down until it is.
    What it is off its plan by fades away in its next swing.

    Parameters
    ----------
    gait : Gait
    threshold : float
        Vertical force that means ground, N.
    """

    def __init__(self, gait: Gait, threshold: float) -> None:
        self._gait, self._threshold = gait, threshold
        self.position = gait.foot_position[0].copy()
        self.yaw = gait.foot_yaw[0].copy()
        self.early = self.late = 0
        self._offset, self._turn = np.zeros((2, 3)), [0.0, 0.0]
        self._air, self._landed = [False, False], [False, False]

    def advance(self, tick: int, load: NDArray[np.float64]) -> None:
        """Move `position` (2, 3), m, and `yaw` (2,), rad, of the soles to the end of a tick.

        Parameters
        ----------
        tick : int
            Row of the gait that holds then.
        load : (2,) array
            Vertical force on each foot, N.
        """
        gait = self._gait
        for foot in (0, 1):
            touches = bool(load[foot] > self._threshold)
            if gait.contact[tick, foot]:
                if self._air[foot]:
                    self._come_down(foot, touches)
                continue
            if not self._air[foot]:
                self._air[foot], self._landed[foot] = True, False
                self._offset[foot] = self.position[foot] - gait.foot_position[tick - 1, foot]
                self._turn[foot] = float(self.yaw[foot] - gait.foot_yaw[tick - 1, foot])
            progress = float(gait.in_swing[tick, foot])
            if touches and progress > _EARLIEST and not self._landed[foot]:
                self._landed[foot] = True
                self.early += 1
            if not self._landed[foot]:
                fade = 0.5 + 0.5 * math.cos(math.pi * progress)
                self.position[foot] = gait.foot_position[tick, foot] + fade * self._offset[foot]
                self.yaw[foot] = gait.foot_yaw[tick, foot] + fade * self._turn[foot]

    def _come_down(self, foot: int, touches: bool) -> None:
        """Let a foot whose swing is over find the ground."""
        depth = self._gait.timestep * _SEARCH_SPEED
        if touches or self._landed[foot] or self.position[foot, 2] - depth < -_SEARCH_DEPTH:
            self._air[foot] = False
        else:
            self.late += 1
            self.position[foot, 2] -= depth
