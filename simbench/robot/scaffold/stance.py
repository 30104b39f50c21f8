"""Guesses about the feet: soles and the standing posture."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simbench.robot.scaffold.arms import frame_entry
from simbench.robot.scaffold.chains import LimbChain
from simbench.robot.scaffold.guess import Confidence, Guess
from simbench.robot.scaffold.roles import joint_link
from simbench.robot.scaffold.sides import Orientation
from simbench.robot.scaffold.soles import SoleGuess, find_sole
from simbench.robot.scaffold.standing import StandingPosture, solve_standing
from simbench.robot.scaffold.tree import Array, RobotTree
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class StanceGuesses:
    """Guesses about two feet."""

    frames: dict[str, str] = field(default_factory=dict)  # Link or new frame of each foot.
    fixed_frames: dict[str, Any] = field(default_factory=dict)  # New frames.
    soles: dict[str, Any] = field(default_factory=dict)  # Rectangle of each sole.
    standing: Array | None = None  # (n,) or None: standing posture.
    guesses: tuple[Guess, ...] = ()  # Reasons.
    missing: tuple[str, ...] = ()  # What could not be found.


def guess_stance(
    tree: RobotTree, legs: tuple[LimbChain, ...], hanging: Array, orientation: Orientation
) -> StanceGuesses:
    """Guess soles and standing posture of a biped.

    `legs`: left and right leg; empty for other robots; `hanging` (n,): posture with hanging arms;
    `orientation`: forward and left. Returns frames, soles and posture.
    """
    if len(legs) != 2:
        return StanceGuesses()
    soles: list[SoleGuess] = []
    missing: list[str] = []
    for side, leg in zip(SIDES, legs, strict=True):
        foot = leg.joints[-1]
        sole = find_sole(tree, foot, orientation.forward, f"{side}_sole", _length(tree, leg))
        link = joint_link(tree, foot)
        if not tree.collides[foot]:
            missing.append(
                f"soles.{side}_foot: link `{link}` has no collision shape; the foot would touch nothing"
            )
        elif sole is None:
            missing.append(f"soles.{side}_foot: link `{link}` has no flat patch; balance needs flat soles")
        if sole is not None:
            soles.append(sole)
    feet = {f"{side}_foot": leg.joints[-1] for side, leg in zip(SIDES, legs, strict=True)}
    if len(soles) != 2:
        frames = {role: joint_link(tree, foot) for role, foot in feet.items()}
        return StanceGuesses(frames=frames, missing=tuple(missing))
    posture = solve_standing(tree, (legs[0], legs[1]), (soles[0], soles[1]), orientation.forward, hanging)
    if not posture.stands:
        missing.append(
            f"postures.standing: the legs do not allow flat, level soles under the COG: "
            f"tilt {posture.tilt:.4f} rad, {1000 * posture.uneven:.2f} mm uneven, "
            f"COG {1000 * posture.cog_error:.1f} mm off"
        )
    frames, fixed = {}, {}
    for (role, foot), sole in zip(feet.items(), soles, strict=True):
        frames[role] = sole.frame
        if not sole.exists:
            fixed[sole.frame] = frame_entry(tree, foot, sole.placement)
    return StanceGuesses(
        frames=frames,
        fixed_frames=fixed,
        soles={role: _rectangle(sole) for role, sole in zip(feet, soles, strict=True)},
        standing=posture.q if posture.stands else None,
        guesses=(*_sole_guesses(tree, feet, soles), *_posture_guesses(posture)),
        missing=tuple(missing),
    )


def _length(tree: RobotTree, leg: LimbChain) -> float:
    """Distance from the hip to the lowest point of the foot in the configuration at rest, m."""
    return float(tree.poses[leg.start].translation[2] - tree.placed_points(list(leg.joints[-1:]))[:, 2].min())


def _rectangle(sole: SoleGuess) -> dict[str, list[float]]:
    return {key: [round(value, 4) + 0.0 for value in pair] for key, pair in (("x", sole.x), ("y", sole.y))}


def _sole_guesses(tree: RobotTree, feet: dict[str, int], soles: list[SoleGuess]) -> list[Guess]:
    """Reasons for the soles."""
    guesses = []
    for (role, foot), sole in zip(feet.items(), soles, strict=True):
        what = (
            "a link with z normal to the sole"
            if sole.exists
            else "new: below the ankle, z normal to the sole"
        )
        guesses.append(Guess(f"frames.{role}", sole.frame, what, "high"))
        size = f"{1000 * (sole.x[1] - sole.x[0]):.0f} × {1000 * (sole.y[1] - sole.y[0]):.0f} mm"
        shapes = "collision" if tree.collides[foot] else "visual"
        reason = (
            f"largest rectangle in the flat patch of the {shapes} shapes, "
            f"{100 * sole.filled:.0f} % of its area, "
            f"tilted by {np.degrees(sole.tilt):.1f}° at rest"
        )
        sure: Confidence = (
            "high" if sole.filled > 0.8 and shapes == "collision" and sole.tilt < 0.02 else "medium"
        )
        guesses.append(Guess(f"soles.{role}", size, reason, sure))
    return guesses


def _posture_guesses(posture: StandingPosture) -> list[Guess]:
    """Reason for the standing posture."""
    if not posture.stands:
        return []
    reason = (
        f"soles level to {1000 * posture.uneven:.3f} mm, "
        f"COG {1000 * posture.cog_error:.2f} mm from their middle, "
        f"legs {posture.margin:.2f} rad from their limits"
    )
    return [Guess("postures.standing", "solved", reason, "high" if posture.margin > 0.05 else "medium")]
