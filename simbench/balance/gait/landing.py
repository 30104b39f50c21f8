"""Target poses of the feet, tick by tick: on the ground where they landed, in the air along the gait."""

import math

import numpy as np

from simbench.balance.gait.gait import Gait
from simbench.kinematics.arrays import Array

_EARLIEST = 0.5
"""Progress of a swing from which touching the ground is a landing, not the lift-off."""
_SEARCH_SPEED = 0.05
"""Speed at which a foot that finds no ground where the gait has it continues downward, m/s."""
_SEARCH_DEPTH = 0.02
"""Depth below the floor down to which it does so, m."""


class Landing:
    """Follows a gait with both feet, and ends a swing when the foot touches the ground.

    A foot that is loaded in the second half of its swing has landed: it stays there, and the rest of its
    swing is dropped. One that is not loaded when the gait has it on the ground continues downward until it
    is. Its offset from the plan is reduced to zero in its next swing.

    `position` (2, 3), m, and `yaw` (2,), rad, are the target poses of the sole frames in the world frame,
    left and right; both arrays are written in place. `early` counts swings that ended before their time,
    `late` ticks in which a foot searched for the ground.

    Parameters
    ----------
    gait : Gait
        Planned feet, N samples.
    threshold : float
        Vertical force on a foot above which it is on the ground, N.
    """

    def __init__(self, gait: Gait, threshold: float) -> None:
        self._gait, self._threshold = gait, threshold
        self.position = gait.foot_position[0].copy()
        self.yaw = gait.foot_yaw[0].copy()
        self.early = self.late = 0
        self._offset, self._yaw_offset = np.zeros((2, 3)), [0.0, 0.0]
        self._air, self._landed = [False, False], [False, False]

    def advance(self, tick: int, load: Array) -> None:
        """Move `position` and `yaw` of the soles to the end of a tick.

        Parameters
        ----------
        tick : int
            Row of the gait at the end of the tick.
        load : (2,) array
            Vertical force on the left and the right foot, N.
        """
        gait = self._gait
        for foot in (0, 1):
            touches = bool(load[foot] > self._threshold)
            if gait.contact[tick, foot]:
                if self._air[foot]:
                    self._touch_down(foot, touches)
                continue
            if not self._air[foot]:
                self._air[foot], self._landed[foot] = True, False
                self._offset[foot] = self.position[foot] - gait.foot_position[tick - 1, foot]
                self._yaw_offset[foot] = float(self.yaw[foot] - gait.foot_yaw[tick - 1, foot])
            progress = float(gait.in_swing[tick, foot])
            if touches and progress > _EARLIEST and not self._landed[foot]:
                self._landed[foot] = True
                self.early += 1
            if not self._landed[foot]:
                fade = 0.5 + 0.5 * math.cos(math.pi * progress)
                self.position[foot] = gait.foot_position[tick, foot] + fade * self._offset[foot]
                self.yaw[foot] = gait.foot_yaw[tick, foot] + fade * self._yaw_offset[foot]

    def _touch_down(self, foot: int, touches: bool) -> None:
        """Lower a foot whose swing is over until it finds the ground."""
        depth = self._gait.timestep * _SEARCH_SPEED
        if touches or self._landed[foot] or self.position[foot, 2] - depth < -_SEARCH_DEPTH:
            self._air[foot] = False
        else:
            self.late += 1
            self.position[foot, 2] -= depth
