"""Estimates of an elbow or a wrist without a marker."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import RecordedBody, compute_hinge_centre, normalise, reject
from simbench.motion.marker_maps.map_library import find_needs
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.recorded_body import LEG_JOINTS
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# Lengths of upper arm and forearm over the stature (Drillis & Contini 1966, as in Winter, Biomechanics and
# Motor Control of Human Movement), and the stature that is taken if it is not known, m.
UPPER_ARM, FOREARM, AVERAGE_STATURE = 0.186, 0.146, 1.72
# People's lengths deviate from these by about 6 % (standard deviation).
LENGTH_DEVIATION = 0.06
# Without a marker on the arm, the elbow is taken this far outward from its lowest place on the circle that
# shoulder and wrist leave it; while people work in front of them it stays within the second number of
# that. Our estimates, rad.
SWIVEL, SWIVEL_ERROR = np.deg2rad(20.0), np.deg2rad(25.0)
# Markers of an arm that lie on no joint, by the letters of their names behind the side's.
ON_UPPER_ARM = ("UPA", "UPPERARM", "BICEPS", "ARM", "UARM", "UARMHIGH", "TRICEPS", "HUM", "HUMERUS")
ON_FOREARM = ("FRM", "FRA", "FOREARM", "FARM", "RADIUS", "FIN", "HAND", "HAN", "HND", "OFFSET", "FOREARMLOW")
# A marker on the outer side of an arm is this far from its bone, m: a circumference of 0.28 m, and the
# marker's radius.
SKIN_OFFSET = 0.05
# The lateral marker of an elbow is this far outside the joint, m: half its width and the marker's radius.
ELBOW_OFFSET = 0.040


def estimate_missing_joints(
    recording: MarkerRecording,
    marker_map: MarkerMap,
    spelled: Mapping[str, str],
    options: ReadOptions,
    hints: str = "",
) -> MarkerRecording:
    """Add a point for an elbow or wrist that has no marker, if the user wants it; else say what is missing.

    `recording`: tracks without gaps; `marker_map`: the map, which takes points with the names of its joints
    where it has no markers for them; `spelled`: names in the recording of the map's points that have another
    name there; `options`: `estimate` allows estimates; `stature` is the person's, m; `hints`: what else to
    say of markers that are missing. Returns the recording with the points, named as the joints, and a doubt
    for each. Raises MotionError no arm is complete and none is estimated: the message names the markers that
    are missing.
    """
    index = {name: k for k, name in enumerate(recording.names)}
    index |= {point: index[name] for point, name in spelled.items() if name in index}
    # Markers that are missing for each joint of each arm.
    arms = {side: [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")] for side in SIDES}
    lacking = {
        side: {name.removeprefix(f"{side}_"): find_needs(marker_map, index, [name]).lacking for name in names}
        for side, names in arms.items()
    }
    if not any(any(parts.values()) for parts in lacking.values()):
        return recording
    legs = find_needs(marker_map, index, LEG_JOINTS, ["pelvis"])
    bare = all(all(parts.values()) for parts in lacking.values())
    # Legs alone are a motion.
    if bare and not legs.lacking:
        return recording
    if bare and len(legs.used) > len(legs.lacking):
        raise MotionError(
            f"{recording.source}: no arm, and no complete legs: markers are missing "
            f"({', '.join(legs.lacking)}){hints}"
        )
    complete = [side for side in SIDES if not any(lacking[side].values())]
    if not options.estimate:
        return _say_missing(recording, lacking, complete, hints, advise=True)
    points = {name: recording.positions[:, k] for name, k in index.items()}
    span = float(recording.time[-1] - recording.time[0])
    rate = (len(recording.time) - 1) / span if span > 0 else 1.0
    # Lengths of upper arm and forearm, m: the other arm's, else those of a person of this stature.
    written = recording.details.get("height", "")
    stature = options.stature or (float(written) if written else AVERAGE_STATURE)
    known = options.stature is not None or bool(written)
    whose = f"{'the' if known else 'an average'} stature of {stature:g} m (Drillis & Contini)"
    upper, fore = UPPER_ARM * stature, FOREARM * stature
    if complete:
        body = RecordedBody(marker_map, points, rate, recording.source)
        tracks = [track for track in map(body.point, arms[complete[0]]) if track is not None]
        if len(tracks) == 3:
            upper, fore = (float(np.median(np.linalg.norm(b - a, axis=1))) for a, b in pairwise(tracks))
            whose = f"the {complete[0]} arm's"
    added: dict[str, Array] = {}
    doubts = list(recording.doubts)
    for side in SIDES:
        if any(lacking[side].values()) and not lacking[side]["shoulder"]:
            body = RecordedBody(marker_map, points, rate, recording.source)
            new, said = _estimate_arm(body, side, upper, fore)
            added |= new
            doubts += [f"{line}; lengths: {whose}" for line in said]
    if all(find_needs(marker_map, {*index, *added}, names).lacking for names in arms.values()):
        return _say_missing(recording, lacking, [], hints, advise=False)
    tracks = [track[:, None] for track in added.values()]
    return replace(
        recording,
        names=(*recording.names, *added),
        positions=np.concatenate([recording.positions, *tracks], axis=1),
        doubts=tuple(doubts),
    )


def _say_missing(
    recording: MarkerRecording,
    lacking: Mapping[str, Mapping[str, tuple[str, ...]]],
    complete: list[str],
    hints: str,
    *,
    advise: bool,
) -> MarkerRecording:
    """Say which markers an arm lacks, and what else to do if wanted; refuse if none is complete."""
    said = []
    advice = ""
    for side, parts in lacking.items():
        names = list(dict.fromkeys(name for part in parts.values() for name in part))
        if names:
            said.append(f"{side} arm: {', '.join(names)}")
            if advise and not parts["shoulder"] and not (parts["elbow"] and parts["wrist"]):
                advice = "; --estimate estimates an elbow or a wrist"
    missing = f"markers are missing ({'; '.join(said)}){hints}"
    if not complete:
        raise MotionError(f"{recording.source}: no complete arm: {missing}{advice}")
    doubt = f"{missing}: only the {complete[0]} arm is used{advice}"
    return replace(recording, doubts=(*recording.doubts, doubt))


def _estimate_arm(
    body: RecordedBody, side: str, upper: float, fore: float
) -> tuple[dict[str, Array], list[str]]:
    """Tracks of the missing joints of an arm, as far as they can be estimated, and doubts; lengths in m."""
    shoulder, elbow, wrist = (body.point(f"{side}_{joint}") for joint in ("shoulder", "elbow", "wrist"))
    if shoulder is None:
        return {}, []
    if wrist is not None:
        place, how, error = _place_elbow(body, side, shoulder, wrist, upper, fore)
        return {f"{side}_elbow": place}, [
            f"{side} elbow: not recorded, estimated from shoulder and wrist, {how}, expected error "
            f"{1000 * error:.0f} mm"
        ]
    at_elbow = (name for name in body.recorded if _is_at(name, side, ("ELB", "LEL", "HLE", "ELBOW")))
    marker = next((body.recorded[name] for name in at_elbow), None)
    start = elbow if elbow is not None else marker
    name = _find_marker(body.recorded, side, ON_FOREARM)
    if start is None or name is None:
        return {}, []
    place = start + fore * normalise(body.recorded[name] - start)
    new = {f"{side}_wrist": place}
    if elbow is None and marker is not None:
        new[f"{side}_elbow"] = compute_hinge_centre(side, shoulder, marker, place, ELBOW_OFFSET)
    error = max(LENGTH_DEVIATION * fore, 0.02)
    return new, [
        f"{side} wrist: not recorded, estimated on the line from the elbow to {name}, expected error "
        f"{1000 * error:.0f} mm"
    ]


def _place_elbow(
    body: RecordedBody, side: str, shoulder: Array, wrist: Array, upper: float, fore: float
) -> tuple[Array, str, float]:
    """Elbow (T, 3) between shoulder and wrist, how it was turned, and its expected error, m."""
    line = wrist - shoulder
    apart = np.maximum(np.linalg.norm(line, axis=1), 1e-6)
    # An arm is never shorter than it reaches; one that reaches far is nearly straight.
    longer = max(1.0, float(np.quantile(apart, 0.99)) / (0.995 * (upper + fore)))
    upper, fore = longer * upper, longer * fore
    along = np.clip((upper**2 - fore**2 + apart**2) / (2.0 * apart), -upper, upper)
    radius = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    axis = line / apart[:, None]
    name = _find_marker(body.recorded, side, (*ON_UPPER_ARM, *ON_FOREARM[:4]))
    if name is not None:
        # The marker lies beside the plane in which the arm bends, on the outer side.
        beside = compute_hinge_centre(side, shoulder, body.recorded[name], wrist, SKIN_OFFSET)
        out = normalise(reject(beside - shoulder, axis))
        how, spread = f"turned towards marker {name}", SWIVEL_ERROR / 2.0
    elif (trunk := body.frame("trunk") or body.frame("pelvis")) is not None:
        down, left = -trunk[0][:, :, 2], trunk[0][:, :, 1]
        lowest = normalise(reject(down, axis))
        outward = normalise(reject(reject(left if side == "left" else -left, axis), lowest))
        out = np.cos(SWIVEL) * lowest + np.sin(SWIVEL) * outward
        how, spread = f"{np.rad2deg(SWIVEL):.0f}° outward from the lowest place", SWIVEL_ERROR
    else:
        raise MotionError(
            f"{body.source}: the {side} elbow cannot be estimated: neither a trunk nor a marker on that arm "
            "is recorded"
        )
    place = shoulder + along[:, None] * axis + radius[:, None] * out
    turning = 2.0 * np.sin(spread / 2.0) * np.sqrt((radius**2).mean())
    return place, how, float(np.hypot(turning, LENGTH_DEVIATION * upper))


def _find_marker(recorded: Mapping[str, Array], side: str, words: tuple[str, ...]) -> str | None:
    """Name of the first marker of a side that lies where one of the words says."""
    return next((name for word in words for name in recorded if _is_at(name, side, (word,))), None)


def _is_at(name: str, side: str, words: tuple[str, ...]) -> bool:
    """Tell whether a marker's name is a side and one of some words."""
    letters = "".join(c for c in name.rpartition(":")[2] if c.isalnum()).upper()
    return letters in {f"{start}{word}" for word in words for start in (side[0].upper(), side.upper())}
