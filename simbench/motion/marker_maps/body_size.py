"""The size of a recorded body: stature from the lengths of its bones, the unit of length, and scaling."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.robot.sides import SIDES

# Lengths between joint centres as fractions of stature (Drillis and Contini 1966, in Winter, Biomechanics and
# Motor Control of Human Movement, fig. 4.1).
STATURE_SHARES = {
    ("shoulder", "elbow"): 0.186,
    ("elbow", "wrist"): 0.146,
    ("hip", "knee"): 0.245,
    ("knee", "ankle"): 0.246,
}
# Statures, m, that are clearly those of people, and those that a small child or a character may have. Units
# differ by a factor of 2.2 or more, so that at most one unit makes a body clearly human.
CLEAR_STATURES, POSSIBLE_STATURES = (1.2, 2.2), (0.75, 2.5)
# A body that no unit makes human is scaled to this stature, m, unless the user says which.
USUAL_STATURE = 1.7


class BodySize(NamedTuple):
    """Unit of length of a recording, and how its body is scaled."""

    unit: str  # Unit of the recording, a key of `UNITS`.
    factor: float  # Factor by which the body is scaled after its positions were converted to metres.
    stature: float  # Stature of the scaled body, m, from the lengths of its bones.
    # `notes`, `doubts`: how unit and scale were found, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def estimate_stature(joints: Mapping[str, Array]) -> float:
    """Estimate a person's stature from the lengths of upper arms, forearms, thighs and shanks.

    The sum of the median lengths of the recorded bones is divided by the sum of their shares of the stature.
    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m, with at least one complete arm.
    Returns stature, m.
    """
    lengths, shares = 0.0, 0.0
    for (proximal, distal), share in STATURE_SHARES.items():
        for side in SIDES:
            first, second = joints.get(f"{side}_{proximal}"), joints.get(f"{side}_{distal}")
            if first is not None and second is not None:
                lengths += float(np.median(np.linalg.norm(second - first, axis=1)))
                shares += share
    return lengths / shares


def find_body_size(
    stature_in: Callable[[str], float], declared: str | None, options: ReadOptions, source: str
) -> BodySize:
    """Find the unit of length in which a recorded body has a human stature, and scale the body.

    `stature_in`: function from a unit, a key of `UNITS`, to the stature of the body if positions are in that
    unit, m. It is not just proportional to the unit, because a marker map may contain lengths in metres.
    `declared`: unit that the file or the marker map declares; None if none does. `options`: what the user
    declares: `unit`, `scale`, `stature`, `strict`. `source`: name of the recording, for messages. Returns
    unit and scale. A unit that the user declares is kept. Raises MotionError the user declares a unit in
    which the body is not human, and no scale; or, with `strict`, the file's unit does not fit, or none fits.
    """
    statures = {unit: stature_in(unit) for unit in UNITS}
    found = _find_unit(statures, declared, options, source)
    if options.scale is not None:
        stature = statures[found.unit] * options.scale
        note = f"scaled by {options.scale:g}, as declared: {stature:.2f} m tall"
        return found._replace(factor=options.scale, stature=stature, notes=(*found.notes, note))
    if options.stature is not None:
        factor = options.stature / statures[found.unit]
        note = f"scaled by {factor:.4g} to the declared height of {options.stature:g} m"
        return found._replace(factor=factor, stature=options.stature, notes=(*found.notes, note))
    return found


def _find_unit(
    statures: Mapping[str, float], declared: str | None, options: ReadOptions, source: str
) -> BodySize:
    """Find the unit from the stature in every unit; a body that no unit makes human is scaled."""
    resized = options.scale is not None or options.stature is not None
    unit = options.unit or declared
    clear = [name for name, stature in statures.items() if _is_within(stature, CLEAR_STATURES)]
    if unit is not None and (resized or _is_within(statures[unit], POSSIBLE_STATURES)):
        return _with_size_doubt(BodySize(unit, 1.0, statures[unit]), resized)
    if unit is not None and (options.unit is not None or options.strict):
        low, high = CLEAR_STATURES
        raise MotionError(
            f"{source}: the person is {statures[unit]:.4g} m tall by the bones with lengths in {unit}; "
            f"people are {low} to {high} m; {_describe_fitting_unit(statures, clear)}"
        )
    if clear:
        found = BodySize(clear[0], 1.0, statures[clear[0]])
        if unit is None:
            return found._replace(
                notes=(f"unit {found.unit}: in it the person is {found.stature:.2f} m tall",)
            )
        doubt = (
            f"unit {found.unit}, in which the person is {found.stature:.2f} m tall: in {unit}, which is "
            f"declared, it would be {statures[unit]:.4g} m"
        )
        return found._replace(doubts=(doubt,))
    possible = [name for name, stature in statures.items() if _is_within(stature, POSSIBLE_STATURES)]
    if options.strict or not np.isfinite(list(statures.values())).all() or not min(statures.values()) > 0.0:
        tall = ", ".join(f"{stature:.3g} m in {name}" for name, stature in statures.items())
        raise MotionError(
            f"{source}: no known unit gives the body a human height ({tall}); declare its size: --scale, or "
            "--height and --unit"
        )
    if resized or len(possible) == 1:
        chosen = possible[0] if possible else "m"
        return _with_size_doubt(BodySize(chosen, 1.0, statures[chosen]), resized)
    nearest = min(statures, key=lambda name: abs(np.log(statures[name] / USUAL_STATURE)))
    doubt = (
        f"no known unit gives the body a human height ({statures[nearest]:.3g} m in {nearest}): scaled to "
        f"{USUAL_STATURE:g} m; --height or --scale declares its size"
    )
    return BodySize(nearest, USUAL_STATURE / statures[nearest], USUAL_STATURE, doubts=(doubt,))


def _describe_fitting_unit(statures: Mapping[str, float], clear: list[str]) -> str:
    """Say which unit gives a human height."""
    if clear:
        return f"it would be {statures[clear[0]]:.2f} m in {clear[0]}: declare that unit (--unit)"
    return f"no known unit ({', '.join(UNITS)}) makes it human: declare its size (--scale or --height)"


def _with_size_doubt(size: BodySize, resized: bool) -> BodySize:
    """Add a doubt about a body that is unusually small or large and stays so."""
    if resized or _is_within(size.stature, CLEAR_STATURES):
        return size
    doubt = (
        f"the person is {size.stature:.2f} m tall with lengths in {size.unit}: a child or a character; "
        "--height or --scale changes its size"
    )
    return size._replace(doubts=(*size.doubts, doubt))


def _is_within(value: float, bounds: tuple[float, float]) -> bool:
    """Tell whether a value is between two bounds; no number is not."""
    return bool(bounds[0] <= value <= bounds[1])
