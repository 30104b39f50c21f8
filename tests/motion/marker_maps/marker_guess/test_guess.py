"""A set nobody described is recognised by words and geometry, and what does not fit is said."""

from dataclasses import replace

import numpy as np
import pytest
from marker_people import anatomical_places, make_body, record_markers

from simbench.motion.marker_maps.map_evaluation import RecordedBody
from simbench.motion.marker_maps.marker_guess import find_words, guess_marker_map

WORDS = {
    "c7": "neck",
    "notch": "clav",
    "t10": "T10",
    "sternum": "sternum_low",
    "acromion": "Shoulder",
    "lateral_elbow": "ElbowOuter",
    "medial_elbow": "ElbowInner",
    "radial_wrist": "WristThumb",
    "ulnar_wrist": "WristPinky",
    "index": "HandIndex",
    "little": "HandPinky",
    "asis": "FrontHip",
    "psis": "BackHip",
    "lateral_knee": "KneeOuter",
    "medial_knee": "KneeInner",
    "lateral_ankle": "AnkleOuter",
    "medial_ankle": "AnkleInner",
    "heel": "Heel",
    "toe": "Toe",
}


@pytest.fixture(scope="module")
def body():
    return make_body(count=80)


def spell(name, form):
    side, _, place = name.partition("_")
    if side in ("left", "right"):
        return form(side, WORDS[place])
    return WORDS[name]


FORMS = (
    lambda side, words: f"{words}_{side[0].upper()}",
    lambda side, words: f"{side.capitalize()}{words}",
    lambda side, words: f"{side[0].upper()} {words}",
)


def guess_roles(recording):
    """The guessed map, the place of each marker in it, and the notes."""
    marker_map, notes = guess_marker_map(recording)
    return marker_map, {names[0]: place for place, names in marker_map.aliases.items()}, notes


@pytest.mark.parametrize("form", FORMS)
def test_words_in_any_order_give_the_places(body, form):
    markers = {spell(name, form): track for name, track in anatomical_places(body).items()}
    marker_map, roles, notes = guess_roles(record_markers(body, markers))
    assert set(roles) == set(markers)
    assert len(notes) == 1
    for name in anatomical_places(body):
        role = roles[spell(name, form)]
        assert role.startswith("left_") == name.startswith("left_")
        assert (role == "clavicle") if name == "notch" else name.split("_")[-1] in role.split("_")
    tracks = {role: markers[name] for name, role in roles.items()}
    person = RecordedBody(marker_map, tracks, 100.0, "trial")
    for joint in ("left_elbow", "right_wrist", "left_knee", "right_shoulder"):
        np.testing.assert_allclose(person.point(joint), body.joints[joint], atol=1e-9)


def test_wrists_named_the_wrong_way_round_are_found_by_the_forearm(body):
    markers = {spell(name, FORMS[0]): track for name, track in anatomical_places(body).items()}
    swapped = dict(markers)
    swapped["WristThumb_L"], swapped["WristPinky_L"] = markers["WristPinky_L"], markers["WristThumb_L"]
    _, roles, notes = guess_roles(record_markers(body, swapped))
    assert roles["WristThumb_L"] == "left_ulnar_wrist"
    assert roles["WristThumb_R"] == "right_radial_wrist"
    assert any("left wrist: WristPinky_L is on the thumb's side" in note for note in notes)


def test_sides_and_lengths_that_geometry_contradicts_are_said(body):
    recording = record_markers(body, {spell(n, FORMS[0]): t for n, t in anatomical_places(body).items()})
    mirrored = replace(recording, positions=recording.positions * [1.0, -1.0, 1.0])
    _, _, notes = guess_roles(mirrored)
    assert any("left and right by the names contradict" in note and "mirrored" in note for note in notes)
    far = recording.positions.copy()
    far[:, recording.names.index("WristThumb_L")] += 0.4
    _, roles, notes = guess_roles(replace(recording, positions=far))
    assert "left_radial_wrist" not in roles.values()
    assert any(note.startswith("WristThumb_L is not at left_radial_wrist: it is 0.") for note in notes)
    long = recording.positions.copy()
    elbow, wrist = (recording.names.index(name) for name in ("ElbowOuter_L", "WristThumb_L"))
    long[:, wrist] += 0.45 * (long[:, wrist] - long[:, elbow])
    _, _, notes = guess_roles(replace(recording, positions=long))
    assert any(note.startswith("lateral_elbow to radial_wrist is ") for note in notes)


def test_names_without_words_are_no_guess(body):
    tracks = anatomical_places(body).values()
    assert guess_marker_map(record_markers(body, {f"M{k:03d}": t for k, t in enumerate(tracks)})) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LELB", {"left", "elbow"}),
        ("ELBR", {"right", "elbow"}),
        ("Subject:left_lat_elbow", {"left", "lateral", "elbow"}),
        ("RightShoulderTop", {"right", "shoulder", "top"}),
        ("heel", {"heel"}),
        ("Q12x", set()),
    ],
)
def test_words_of_a_name(name, words):
    assert find_words(name) == words
