"""Are markers that are missing, or have a name that nobody knows, read rightly, doubted or named?

python scripts/studies/marker_sets.py [SET ...] [--seed N] [--json FILE]

Puts the markers of published sets on a recorded walk, where people have them, and reads each set whole, then
with every single marker left out, then with every single one under a name drawn at random. The joints are
compared with those of the whole set. `doubted` are readings that say it: by a doubt, a note of the recipe
that was used instead, or a joint in the list of what is missing; `named` are refusals that name the marker;
`silent` are joints farther off than 3 cm of which nothing is said. Exit status 1 if any is silent, or a
refusal names something else.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.marker_maps import marker_distances, to_human_motion
from simbench.motion.marker_maps.map_evaluation import build_axes_frame
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

STATURE = 1.75  # Of the recorded person, m.
OFF = 0.03  # A joint is elsewhere beyond this distance, m.
LETTERS = [*"abcdefghijkmnopqstuvwxyzABCDEFGHIJKMNOPQSTUVWXYZ0123456789"]
# Joint at the origin of the segment of each marker, and where it is on the standing person of the table of
# distances, as fractions of the stature.
ORIGINS = {
    "head": ("neck", (-0.008, 0.0, 0.83)),
    "trunk": ("neck", (-0.008, 0.0, 0.83)),
    "pelvis": ("pelvis", (0.0, 0.0, 0.53)),
    "upper_arm": ("elbow", (-0.01, 0.118, 0.637)),
    "forearm": ("wrist", (0.008, 0.137, 0.487)),
    "hand": ("wrist", (0.008, 0.137, 0.487)),
    "shank": ("knee", (0.0, 0.055, 0.285)),
    "foot": ("ankle", (-0.008, 0.055, 0.045)),
}
PLACES = {
    "head": ("head_top", "front_head", "back_head"),
    "trunk": ("c7", "clavicle", "sternum", "t10", "acromion"),
    "pelvis": ("asis", "psis", "sacrum_marker"),
    "upper_arm": ("lateral_elbow", "medial_elbow"),
    "forearm": ("radial_wrist", "ulnar_wrist", "wrist_marker"),
    "hand": ("hand_marker", "index_knuckle", "little_knuckle"),
    "shank": ("lateral_knee", "medial_knee"),
    "foot": ("lateral_ankle", "medial_ankle", "heel_marker", "toe_marker", "fifth_toe"),
}
"""Places of the map `anatomical` on each segment; those of limbs, feet, and pairs are on both sides."""


def place_markers(motion: HumanMotion) -> dict[str, Array]:
    """Put a marker (T, 3), m, at every place of the body of a recorded person."""
    body = read_yaml(Path(marker_distances.__file__).with_suffix(".yaml"), MotionError).value
    joints, segments = motion.joints, motion.segments
    up = np.array([0.0, 0.0, 1.0])
    frames = {name: segments[name][:, :3, :3] for name in ("trunk", "pelvis")}
    frames["head"] = frames["trunk"]
    for side, hang in zip(SIDES, (1.0, -1.0), strict=True):
        for segment in ("upper_arm", "forearm", "hand"):
            # Columns forward, left and up while the arm hangs with its thumb forward.
            turned = segments[f"{side}_{segment}"][:, :3, :3]
            frames[f"{side}_{segment}"] = np.stack(
                [-hang * turned[:, :, 1], hang * turned[:, :, 2], -turned[:, :, 0]], axis=2
            )
        knee, ankle = joints[f"{side}_knee"], joints[f"{side}_ankle"]
        frames[f"{side}_shank"] = build_axes_frame("z", knee - ankle, "y", frames["pelvis"][:, :, 1])
        forward = frames["pelvis"][:, :, 0]
        flat = forward - (forward @ up)[:, None] * up
        frames[f"{side}_foot"] = build_axes_frame("z", np.broadcast_to(up, flat.shape), "x", flat)
    markers = {}
    for segment, places in PLACES.items():
        joint, origin = ORIGINS[segment]
        for place in places:
            for side, mirror in zip(SIDES, (1.0, -1.0), strict=True):
                at = body["positions"].get(f"left_{place}")
                name = place if at is None else f"{side}_{place}"
                limb = f"{side}_{segment}" if f"{side}_{segment}" in frames else segment
                start = joints.get(f"{side}_{joint}", joints.get(joint))
                offset = np.array(at or body["positions"][place]) - origin
                markers[name] = start + frames[limb] @ (STATURE * offset * [1.0, mirror, 1.0])
    return markers


# How the names of a set are written in files: as they are, behind a subject's name, or before an ending.
SPELLINGS = {"": "{}", "subject": "Subject01:{}", "ending": "{}_marker"}


def name_markers(markers: Mapping[str, Array], wanted: Mapping[str, str], spelling: str) -> dict[str, Array]:
    """Name the markers of a set, by place, as a file does. Returns tracks (T, 3), m, by name."""
    named = {}
    for place, template in wanted.items():
        if place in markers:
            named[spelling.format(template)] = markers[place]
            continue
        for side in SIDES:
            name = template.replace("{S}", side[0].upper()).replace("{Side}", side.capitalize())
            named[spelling.format(name)] = markers[f"{side}_{place}"]
    return named


def read_markers(named: Mapping[str, Array], time: Array) -> HumanMotion:
    """Read markers as a file of them is."""
    recording = MarkerRecording(time, tuple(named), np.stack(list(named.values()), axis=1), "set")
    whole, filled = prepare_markers(recording, ReadOptions())
    return to_human_motion(whole, ReadOptions(), filled)


def judge(named: Mapping[str, Array], time: Array, whole: HumanMotion, lost: str) -> str:
    """Judge a reading of a changed set: `same`, `doubted`, `named`, `other name` or `silent`."""
    try:
        motion = read_markers(named, time)
    except MotionError as error:
        return (
            "named"
            if lost.rpartition(":")[2].removesuffix("_marker") in str(error)
            else f"other name: {error}"
        )
    shared = whole.joints.keys() & motion.joints.keys()
    # Both are placed below their own pelvis: the joints are compared about their mean.
    moved = {name: motion.joints[name] - whole.joints[name] for name in shared}
    middle = np.median([track.mean(axis=0) for track in moved.values()], axis=0)
    far = [name for name, track in moved.items() if np.linalg.norm(track - middle, axis=1).max() > OFF]
    if not far and shared == whole.joints.keys():
        return "same"
    said = {*motion.doubts, *motion.notes} - {*whole.doubts, *whole.notes} or {*motion.missing} - {
        *whole.missing
    }
    return "doubted" if said else f"silent: {', '.join(far)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read all sets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    sets = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(sets)}")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the names that are drawn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts")
    given = parser.parse_args(arguments)
    motion = read_motion("deepmimic:humanoid3d_walk")
    kept = slice(None, None, max(1, len(motion.time) // 150))
    time, rng = motion.time[kept], np.random.default_rng(given.seed)
    markers = {name: track[kept] for name, track in place_markers(motion).items()}
    rows: dict[str, dict[str, int]] = {}
    faults = []
    for name in given.sets or sets:
        for kind, spelling in SPELLINGS.items():
            title = f"{name}, {kind}" if kind else name
            named = name_markers(markers, sets[name], spelling)
            try:
                whole = read_markers(named, time)
            except MotionError as error:
                faults.append(f"{title}: {error}")
                continue
            row = rows.setdefault(title, {"markers": len(named)})
            for lost in named:
                rest = {key: track for key, track in named.items() if key != lost}
                token = "".join(rng.choice(LETTERS, rng.integers(3, 7)))
                renamed = {token if key == lost else key: track for key, track in named.items()}
                for what, changed in (("missing", rest), ("renamed", renamed)):
                    verdict, colon, detail = judge(changed, time, whole, lost).partition(":")
                    row[f"{what}: {verdict}"] = row.get(f"{what}: {verdict}", 0) + 1
                    if colon:
                        faults.append(f"{title}, {lost} {what}: {verdict}:{detail}")
    heads = ["markers"] + [
        f"{what}: {verdict}"
        for what in ("missing", "renamed")
        for verdict in ("same", "doubted", "named", "other name", "silent")
    ]
    table = Table("set", *heads, box=None)
    for title, row in rows.items():
        table.add_row(title, *(str(row.get(head, 0)) for head in heads))
    Console(markup=False, emoji=False, width=170).print(table)
    for line in faults:
        print(line)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
