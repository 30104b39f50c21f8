"""Joints and segments of a person, from what a marker map makes of a recording."""

from collections.abc import Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import transform
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS
from simbench.motion.marker_maps.evaluation import Body
from simbench.robot.sides import SIDES

# How readily shoulder, elbow and wrist, or hip, knee and ankle, give way: the centre inside the shoulder or
# the hip, estimated from markers at some distance, is about twice as uncertain (in variance) as the others.
MOBILITY = np.array([2.0, 1.0, 1.0])
# m; the constraints of a centimetre's correction are met to this after about five steps.
TOLERANCE, MOST_STEPS = 1e-12, 50

LIMBS = {"arm": ("shoulder", "elbow", "wrist"), "leg": ("hip", "knee", "ankle")}
LEG_JOINTS = tuple(f"{side}_{joint}" for side in SIDES for joint in LIMBS["leg"])
# A bone of this length is two joints in one place, m; lengths are kept to the second number.
NO_BONE, KEPT = 1e-3, 1e-9


def known_joints(body: Body) -> dict[str, Array]:
    """Tracks (T, 3) of the map's joints that the recording gives, m."""
    tracks = {name: body.point(name) for name in body.marker_map.joints}
    return {name: track for name, track in tracks.items() if track is not None}


def arm_joints(body: Body) -> dict[str, Array]:
    """Tracks (T, 3) of shoulders, elbows and wrists, of at least one complete arm, m."""
    joints = {name: body.point(name) for name in ARM_JOINTS}
    known = {name: track for name, track in joints.items() if track is not None}
    complete_arms(known, body.source)
    return known


def complete_arms(joints: Mapping[str, Array], source: str) -> tuple[str, ...]:
    """Sides whose arm is complete; at least one."""
    sides = tuple(
        side for side in SIDES if all(f"{side}_{joint}" in joints for joint in ("shoulder", "elbow", "wrist"))
    )
    if not sides:
        absent = ", ".join(name for name in ARM_JOINTS if name not in joints)
        raise MotionError(f"{source}: no complete arm: the recording does not give {absent}")
    return sides


def keep_bones(body: Body) -> list[str]:
    """Correct the limbs' centres of `body` so that bones keep their length; the notes say by how much."""
    notes = []
    for limb, parts in LIMBS.items():
        moved = [
            distance
            for side in SIDES
            if (distance := _keep_limb(body, f"{side} {limb}", [f"{side}_{part}" for part in parts]))
            is not None
        ]
        if moved:
            distance = 1000 * np.concatenate(moved)
            notes.append(
                f"skin motion: joint centres of the {limb}s moved by {np.sqrt((distance**2).mean()):.1f} mm "
                f"RMS, {distance.max():.1f} mm at most, so that bones keep their length"
            )
    # Frames were worked out from the centres before.
    body.frames.clear()
    return notes


def _keep_limb(body: Body, limb: str, names: list[str]) -> Array | None:
    """Correct three joints in a row; how far each moved (3, T), m, or None if one is not there."""
    tracks = [track for track in map(body.point, names) if track is not None]
    if len(tracks) < len(names):
        return None
    for (first, second), bone in zip((names[:2], names[1:]), np.diff(tracks, axis=0), strict=True):
        close = np.flatnonzero(np.linalg.norm(bone, axis=1) < NO_BONE)
        if close.size:
            raise MotionError(
                f"{body.source}: joints {first} and {second} coincide at frame {close[0]}; they must be apart"
            )
    kept = keep_lengths(*tracks)
    for bone in np.diff(kept, axis=0):
        length = np.linalg.norm(bone, axis=1)
        off = np.abs(length - np.median(length))
        if off.max() > KEPT:
            raise MotionError(
                f"{body.source}: the {limb}'s joints are so far off at frame {off.argmax()} that no "
                f"{limb.partition(' ')[2]} of constant length fits; look for swapped markers there"
            )
    body.points.update(zip(names, kept, strict=True))
    return np.asarray(np.linalg.norm(np.subtract(kept, tracks), axis=2))


def segment_frames(body: Body, joints: Mapping[str, Array], sides: tuple[str, ...]) -> dict[str, Array]:
    """Frames (T, 4, 4): those of the map, and a hand in line with the forearm where it has none."""
    segments: dict[str, Array] = {}
    for side in sides:
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        origins = {"upper_arm": (shoulder + elbow) / 2, "forearm": (elbow + wrist) / 2, "hand": wrist}
        for segment, origin in origins.items():
            frame = body.frame(f"{side}_{segment}")
            if frame is None and segment == "hand":
                frame = segments[f"{side}_forearm"][:, :3, :3], None
                body.notes[f"{side} hand: not recorded, assumed in line with the forearm"] = None
            if frame is None:
                raise MotionError(
                    f"{body.source}: the marker map has no recipe for the frame {side}_{segment} that these "
                    "points allow"
                )
            rotation, place = frame
            segments[f"{side}_{segment}"] = transform(rotation, origin if place is None else place)
    for name in ("trunk", "pelvis"):
        frame = body.frame(name)
        if frame is None:
            continue
        rotation, place = frame
        if place is None:
            place = joints.get("pelvis" if name == "pelvis" else "chest")
        if place is not None:
            segments[name] = transform(rotation, place)
    return segments


def missing_parts(body: Body, joints: Mapping[str, Array], sides: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the joints and segments a person has and the recording does not give."""
    absent = [name for name in (*ARM_JOINTS, "pelvis", *LEG_JOINTS) if name not in joints]
    absent += [
        name for name in ARM_SEGMENTS if name.partition("_")[0] not in sides or body.frame(name) is None
    ]
    absent += [name for name in ("trunk", "pelvis") if body.frame(name) is None]
    return tuple(dict.fromkeys(absent))


def keep_lengths(proximal: Array, middle: Array, distal: Array) -> tuple[Array, Array, Array]:
    """Give the two bones of a limb their median lengths in every frame.

    Frame by frame the nearest centres (weighted by `MOBILITY`) with these lengths: Lagrange's conditions, by
    Newton steps on the two constraints of all frames at once.

    Parameters
    ----------
    proximal, middle, distal : (T, 3) array
        Shoulder, elbow and wrist, or hip, knee and ankle, m.

    Returns
    -------
    proximal, middle, distal : (T, 3) array
        m.
    """
    measured = np.stack([proximal, middle, distal], axis=1)
    lengths = np.median(np.linalg.norm(np.diff(measured, axis=1), axis=2), axis=0)
    points = measured.copy()
    for _ in range(MOST_STEPS):
        bones = np.diff(points, axis=1)
        # Half the squared lengths' errors; their gradients are minus and plus the bones.
        error = ((bones**2).sum(axis=2) - lengths**2) / 2
        gradient = np.zeros((len(points), 2, 3, 3))
        for bone in (0, 1):
            gradient[:, bone, bone], gradient[:, bone, bone + 1] = -bones[:, bone], bones[:, bone]
        weighted = gradient * MOBILITY[:, None]
        matrix = np.einsum("tajk,tbjk->tab", weighted, gradient)
        slack = error + np.einsum("tajk,tjk->ta", gradient, measured - points)
        factor = np.linalg.solve(matrix, slack[..., None])[..., 0]
        moved = measured - np.einsum("ta,tajk->tjk", factor, weighted)
        change, points = np.abs(moved - points).max(), moved
        if change < TOLERANCE:
            break
    return points[:, 0], points[:, 1], points[:, 2]
