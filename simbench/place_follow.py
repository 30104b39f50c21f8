"""How far the COG is to go with the hands, where the usual share leaves them short of their handles."""

from collections.abc import Mapping, Sequence

import numpy as np

from simbench.balance.standing import stand
from simbench.motion.handles import Handle
from simbench.place import OnProgress, Placed, Spot, cog_targets, find_spot
from simbench.robot.robot import Robot

SHARES = (0.4, 0.7, 0.0)
"""Of the hands' horizontal motion that the COG goes with: the usual one first."""
_SUPPORT_ROOM = 0.02
"""Between the way of the COG and the edges of the soles' box, m."""


def find_spot_and_share(
    robot: Robot,
    handles: Mapping[str, Handle],
    start: Spot,
    posture: str,
    on_progress: OnProgress,
    shares: Sequence[float] = SHARES,
) -> tuple[Placed, float]:
    """Find a spot, and where there is none, one with another share of the hands' motion for the COG.

    Parameters
    ----------
    robot : Robot
    handles : {side: Handle}
        From `handles_for`.
    start : Spot
        First guess.
    posture : str
        Named posture whose legs and head are used.
    on_progress : callable (stage, done, total)
    shares : sequence of float
        In the order in which they are tried; one greater than the first only as far as the COG then stays
        2 cm inside the soles' box.

    Returns
    -------
    placed : Placed
        The first that is feasible, or else that of the first share.
    share : float
        What its balance goes by, `retarget.pelvis_follow`.
    """
    first = find_spot(robot, handles, start, posture, on_progress, follow=shares[0])
    if first.placement.feasible or not robot.floating:
        return first, shares[0]
    still, moving = (_support_room(robot, handles, first.spot, posture, share) for share in (0.0, shares[0]))
    # Room is lost in proportion to the share.
    most = shares[0] * (still - _SUPPORT_ROOM) / max(still - moving, 1e-9) if shares[0] > 0.0 else shares[0]
    for wished in shares[1:]:
        share = float(np.floor(100.0 * min(wished, most)) / 100.0) if wished > shares[0] else wished
        if wished > shares[0] >= share:
            continue
        other = find_spot(robot, handles, start, posture, on_progress, follow=share)
        if other.placement.feasible:
            return other, share
    return first, shares[0]


def _support_room(
    robot: Robot, handles: Mapping[str, Handle], spot: Spot, posture: str, share: float
) -> float:
    """Least distance of the COG's way from the edges of the box about the soles, m."""
    stance = stand(robot, spot.position, spot.heading, posture)
    corners = np.vstack(
        [
            sole.act(corner)[:2]
            for side, sole in stance.soles.items()
            for corner in robot.soles[f"{side}_foot"]
        ]
    )
    c, s = np.cos(spot.heading), np.sin(spot.heading)
    turn = np.array([[c, -s], [s, c]])
    corners = corners @ turn
    way = cog_targets(stance, handles, share) @ turn
    return float(min((way - corners.min(axis=0)).min(), (corners.max(axis=0) - way).min()))
