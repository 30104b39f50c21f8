"""What a robot lacks or is not, and what in its URDF cannot well be meant: one line each."""

from collections.abc import Iterator

import numpy as np

from simbench.robot.scaffold.body_roles import Orientation
from simbench.robot.scaffold.limb_chains import LimbChain, Limbs, lone_leg, sides_in_names
from simbench.robot.scaffold.made_shapes import MOST_CORNERS
from simbench.robot.scaffold.robot_tree import UNLIMITED, RobotTree
from simbench.robot.urdf.normalise import UNLIMITED_TRAVEL

_HAND = 0.4  # Length of a robot, m, below which what counts as its arms may be fingers.
_DEGREES = 2.5 * np.pi  # Limit, rad, beyond which hardly a joint turns and from which on many are in degrees.
_LARGEST, _SMALLEST = 10.0, 0.02  # Sizes of robots, m.
# Mass by the cube of the size, kg/m³: solid steel has 1500, robots on legs 5 to 20, compact hands 60.
_HEAVIEST, _LIGHTEST = 300.0, 0.3
_FEW_SHAPES = 0.9  # Part of the mass with collision shapes below which it is said.


def find_limb_doubts(
    tree: RobotTree,
    limbs: Limbs,
    legs: tuple[LimbChain, ...],
    arms: tuple[LimbChain, ...],
    orientation: Orientation,
) -> Iterator[str]:
    """Say what the robot is not, and what in the URDF speaks against the guessed limbs and sides."""
    names = tree.model.names
    if limbs.feet_count > 2:
        yield f"legs: {limbs.feet_count} similar limbs reach the floor; simbench balances robots on two legs"
    elif not legs:
        alone = lone_leg(tree, limbs)
        chain = f"one chain of joints does, {names[alone[0]]} … {names[alone[-1]]}" if alone else ""
        yield (
            f"legs: no two similar chains of joints reach the floor{f' ({chain})' if chain else ''}; it does "
            "not stand on legs"
        )
    for leg in legs:
        foot, wheel = leg.joints[-1], tree.model.upperPositionLimit[leg.joints[-1] - 1] > UNLIMITED
        if wheel and tree.is_rotation(foot):
            yield f"legs: {names[foot]} turns without limits: a wheel? simbench stands it on it as on a foot"
    if not arms:
        fingers = limbs.clusters and not limbs.feet_count
        hand = "; similar chains on one body may be fingers" if fingers else ""
        yield f"arms: no chain of joints that could be an arm{hand}"
    elif len(arms) == 1:
        left = ", although its names say left" if sides_in_names(tree, arms[0].joints) == {"left"} else ""
        yield f"arms: a single one, which counts as a right one{left}; it imitates one hand, not a person"
    if fingers_alone(tree, limbs):
        yield f"arms: the whole robot is {tree.size:.2f} m long; they may be the fingers of a hand alone"
    if orientation.names_opposed:
        yield "sides: the names say left for what lies on the right; left and right follow the geometry"


def fingers_alone(tree: RobotTree, limbs: Limbs) -> bool:
    """Tell whether what counts as arms may be the fingers of a hand: it is small and stands on no legs."""
    return len(limbs.arms) == 2 and not limbs.feet_count and tree.size < _HAND


def find_doubts(tree: RobotTree) -> Iterator[str]:
    """Say which units look wrong, what touches nothing, and what was changed in the URDF."""
    names = tree.model.names
    turning = [joint for joint in range(1, tree.model.njoints) if tree.is_rotation(joint)]
    wide = [
        names[joint]
        for joint in turning
        if any(
            _DEGREES < abs(limit[joint - 1]) < UNLIMITED_TRAVEL
            for limit in (tree.model.lowerPositionLimit, tree.model.upperPositionLimit)
        )
    ]
    if 2 * len(wide) > len(turning) > 1:
        yield (
            f"units: {len(wide)} of {len(turning)} joints turn farther than {np.degrees(_DEGREES):.0f}°; are "
            "limits in degrees? A URDF has radians"
        )
    mass = float(tree.mass.sum())
    if not _SMALLEST < tree.size < _LARGEST:
        yield f"units: the robot is {tree.size:.3g} m large; are lengths in millimetres? A URDF has metres"
    elif not _LIGHTEST < mass / tree.size**3 < _HEAVIEST:
        unit = "grams" if mass > tree.size**3 else "tonnes"
        yield f"units: {mass:.3g} kg in {tree.size:.2g} m; are masses in {unit}? A URDF has kilograms"
    solid = float(tree.mass[tree.collides].sum())
    if not any(tree.collides):
        yield "shapes: no link has a collision shape; the robot would touch nothing"
    elif solid < _FEW_SHAPES * mass:
        bare = [
            names[body] for body in range(1, len(tree.mass)) if tree.mass[body] and not tree.collides[body]
        ]
        yield (
            f"shapes: {100 * solid / mass:.0f} % of the mass has collision shapes; {len(bare)} bodies have "
            f"none and touch nothing: what {listed(bare)} {'moves' if len(bare) == 1 else 'move'}"
        )
    if tree.made:
        made = list(dict.fromkeys(each.link for each in tree.made))
        farthest = max(tree.made, key=lambda each: each.excess)
        pieces, inside = sum(each.pieces for each in tree.made), max(each.shortfall for each in tree.made)
        yield (
            f"shapes: {len(made)} links have no collision shape: {listed(made)}; in a copy they have "
            f"{pieces} convex ones of at most {MOST_CORNERS} corners, made from their visual shapes, which "
            f"they exceed by {1000 * farthest.excess:.0f} mm at most (`{farthest.link}`), and fall short of "
            f"by {1000 * inside:.0f} mm; --no-shapes makes none"
        )
    meshes = [note for note in tree.notes if "left out: mesh" in note]
    if meshes:
        yield f"shapes: {len(meshes)} meshes cannot be read: {meshes[0]}"
    for text in ("that moves by itself", ": fixed; they let the base", "and inertia only; fixed"):
        notes = [note for note in tree.notes if text in note]
        if notes:
            more = f", and {len(notes) - 1} more like it" if len(notes) > 1 else ""
            yield f"joints: {notes[0].removeprefix('joints ')}{more}"


def listed(names: list[str]) -> str:
    """Write the first three names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
