"""Target poses of the feet, tick by tick: on the ground where they landed, in the air along the gait."""

import math

import numpy as np

from simbench.balance.gait.gait import Gait
from simbench.kinematics.arrays import Array

_EARLIEST = 0.5
"""Progress of a swing from which touching the ground is a landing, not the lift-off."""
_SEARCH_SPEED = 0.05
"""Largest speed at which a foot that finds no ground where the gait has it continues downward, m/s."""
_SEARCH_ACCELERATION = 1.0
"""Acceleration with which it starts to do so, m/s²."""
_SEARCH_DEPTH = 0.02
"""Depth below the floor down to which it does so, m."""
_STOPPING_ACCELERATION, _STOPPING_TIME = 2.0, 0.02
"""Least acceleration, m/s², and time constant, s, with which it stops when the ground carries it."""
_SETTLING_RATE = 20.0
"""Rate at which the target pose of a landed foot approaches where the foot is, 1/s."""
_SETTLING_RAMP = 0.1
"""Time in which this rate is reached after both feet are loaded, s."""


class Landing:
    """Follows a gait with both feet, and ends a swing when the foot touches the ground.

    A foot that is loaded in the second half of its swing has landed: it stops, and the rest of its swing is
    dropped. One that is not loaded when the gait has it on the ground, or that has landed and
    bounced off, continues downward until it is. Its offset from the plan is reduced to zero in its next
    swing.

    `position` (2, 3), m, and `yaw` (2,), rad, are the target poses of the sole frames in the world frame,
    left and right; both arrays are written in place. `early` counts swings that ended before their time,
    `late` ticks in which a foot searched for the ground. `gait`: planned feet, N samples; `threshold`:
    vertical force on a foot above which it is on the ground, N.
    """

    def __init__(self, gait: Gait, threshold: float) -> None:
        self._gait, self._threshold = gait, threshold
        self.position = gait.foot_position[0].copy()
        self.yaw = gait.foot_yaw[0].copy()
        self.early = self.late = 0
        self._offset, self._yaw_offset = np.zeros((2, 3)), [0.0, 0.0]
        self._air, self._landed = [False, False], [False, False]
        self._latest: int | None = None
        self._found, self._search_speed = [True, True], [0.0, 0.0]
        self._settling = 0.0

    def advance(self, tick: int, load: Array) -> None:
        """Move `position` and `yaw` of the soles to the end of a tick.

        `tick`: row of the gait at the end of the tick; `load` (2,): vertical force on the left and the right
        foot, N.
        """
        gait = self._gait
        for foot in (0, 1):
            touches = bool(load[foot] > self._threshold)
            swinging = not gait.contact[tick, foot]
            if swinging:
                self._swing(foot, tick, touches)
            if self._landed[foot] or not swinging:
                self._lower(foot, touches)
            self._air[foot] = swinging

    def settling_foot(self, tick: int, load: Array) -> int | None:
        """Find the foot that landed last, while both feet stand and are loaded.

        `tick`: row of the gait at the end of the tick; `load` (2,): vertical force on the left and the right
        foot, N. Returns 0 left, 1 right; None if no foot is to follow where it stands.
        """
        foot = self._latest
        if foot is None or self._air[foot] or not self._gait.contact[tick].all():
            return None
        if min(load[0], load[1]) <= self._threshold:
            self._settling = 0.0
            return None
        return foot

    def settle(self, foot: int, measured: tuple[float, float], measured_yaw: float) -> None:
        """Move the target pose of the foot that has landed last towards where it stands.

        The legs give way under the body, so that a foot lands some millimetres from its target. Friction
        holds it there: the target follows until the next swing begins, which starts where the foot is and
        ends where the gait has it. Without this the errors of all steps would add up. `measured`: x and y,
        world frame, m, of its sole frame as the joints have it if the other foot stands at its target pose;
        `measured_yaw`: the same for its rotation about the vertical, rad.
        """
        timestep, position = self._gait.timestep, self.position[foot]
        self._settling = min(self._settling + timestep / _SETTLING_RAMP, 1.0)
        part = _SETTLING_RATE * timestep * self._settling
        position[0] += part * (measured[0] - position[0])
        position[1] += part * (measured[1] - position[1])
        position[2] -= part * position[2]
        self.yaw[foot] += part * math.remainder(float(measured_yaw - self.yaw[foot]), math.tau)

    def _swing(self, foot: int, tick: int, touches: bool) -> None:
        """Move a foot along its swing until it touches the ground."""
        gait = self._gait
        if not self._air[foot]:
            self._landed[foot], self._found[foot], self._latest = False, False, foot
            self._search_speed[foot] = self._settling = 0.0
            self._offset[foot] = self.position[foot] - gait.foot_position[tick - 1, foot]
            self._yaw_offset[foot] = float(self.yaw[foot] - gait.foot_yaw[tick - 1, foot])
        progress = float(gait.in_swing[tick, foot])
        if touches and progress > _EARLIEST and not self._landed[foot]:
            self._landed[foot] = True
            self._search_speed[foot] = max(-float(gait.foot_velocity[tick, foot, 2]), 0.0)
            self.early += 1
        if not self._landed[foot]:
            fade = 0.5 + 0.5 * math.cos(math.pi * progress)
            self.position[foot] = gait.foot_position[tick, foot] + fade * self._offset[foot]
            self.yaw[foot] = gait.foot_yaw[tick, foot] + fade * self._yaw_offset[foot]

    def _lower(self, foot: int, touches: bool) -> None:
        """Lower a foot that should stand until the ground carries it."""
        timestep = self._gait.timestep
        if touches or (self._found[foot] and foot != self._latest):
            self._found[foot] = True
            speed = self._search_speed[foot]
            speed = max(speed - timestep * max(_STOPPING_ACCELERATION, speed / _STOPPING_TIME), 0.0)
        else:
            speed = min(self._search_speed[foot] + timestep * _SEARCH_ACCELERATION, _SEARCH_SPEED)
        depth, self._search_speed[foot] = timestep * speed, speed
        if depth > 0.0 and self.position[foot, 2] - depth >= -_SEARCH_DEPTH:
            self.late += 1
            self.position[foot, 2] -= depth
