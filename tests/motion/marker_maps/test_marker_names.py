"""The names under which laboratories' programs write the same landmarks all give back the same person."""

from dataclasses import replace

import numpy as np
import pytest
from marker_people import anatomical_places
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_maps.map_library import (
    choose_map,
    find_aliases,
    find_persons,
    find_spellings,
    ready_maps,
)
from simbench.motion.read_options import ReadOptions

# Landmarks in this order, for the left side; L stands for the side.
LANDMARKS = (
    *("acromion", "lateral_elbow", "medial_elbow", "radial_wrist", "ulnar_wrist", "index", "little"),
    *("asis", "psis", "lateral_knee", "medial_knee", "lateral_ankle", "medial_ankle", "heel", "toe"),
)
# Names of the two markers of the spine, of the notch and the sternum, then of the landmarks.
SETS = {
    "isb": (
        "C7 T8 IJ PX",
        "L.Acromion L.Epi.Lat L.Epi.Med L.Wrist.Rad L.Wrist.Ulna L.D2M1 L.D5M1 L.ASIS L.PSIS L.Knee L.MKnee "
        "L.Ankle L.MAnkle L.Heel L.Toe",
    ),
    "cast": (
        "CV7 MAI SJN SXS",
        "L_SAE L_HLE L_HME L_RSP L_USP L_HM2 L_HM5 L_IAS L_IPS L_FLE L_FME L_FAL L_TAM L_FCC L_FM2",
    ),
    "animation": (
        "BackTop T10 Clavicle Chest",
        "LShoulderTop LElbowOut LElbowIn LWristIn LWristOut LHandIn LHandOut WaistLFront WaistLBack LKneeOut "
        "LKneeIn LAnkleOut LAnkleIn LHeelBack LToeTip",
    ),
}


def named(body, trunk, sides):
    """Tracks of the landmarks under the names of a set."""
    places = anatomical_places(body)
    names = dict(zip(("c7", "t10", "notch", "sternum"), trunk.split(), strict=True))
    for side, letter in (("left", "L"), ("right", "R")):
        own = [name.replace("L", letter, 1) for name in sides.split()]
        names |= dict(zip((f"{side}_{landmark}" for landmark in LANDMARKS), own, strict=True))
    return {names[place]: track for place, track in places.items()}


@pytest.mark.parametrize("name", SETS)
def test_a_set_gives_back_the_person(person, make_recording, name):
    motion = to_human_motion(make_recording(person, named(person, *SETS[name])), ReadOptions())
    turn = person.rotations["pelvis"][0].T
    origin = np.array([*person.joints["pelvis"][0, :2], 0.0])
    for joint in (*ARM_JOINTS, "left_hip", "right_knee", "right_ankle", "left_heel", "left_toe"):
        expected = (person.joints[joint] - origin) @ turn.T
        np.testing.assert_allclose(motion.joints[joint], expected, atol=1e-6, err_msg=joint)
    for segment in ("trunk", "pelvis", *ARM_SEGMENTS):
        found = motion.segments[segment][:, :3, :3]
        error = Rotation.from_matrix(np.swapaxes(turn @ person.rotations[segment], 1, 2) @ found).magnitude()
        assert error.max() < 1e-4, segment
    assert motion.missing == ()


@pytest.mark.parametrize(
    "spell",
    [
        lambda name: f"Subject1:{name}",
        lambda name: f"Skeleton_{name}",
        lambda name: f"V.{name}" if name == "C7" else name,
        lambda name: f"Bob:{name}" if name.startswith("L") else name,
        lambda name: name.lower(),
        lambda name: f"{name}_1",
        lambda name: f"{name[0]}.{name[1:]}",
    ],
)
def test_a_spelling_does_not_hide_a_marker(person, make_recording, make_markers, spell):
    markers = make_markers(person, "plug_in_gait")
    first = to_human_motion(make_recording(person, markers), ReadOptions())
    second = to_human_motion(
        make_recording(person, {spell(name): track for name, track in markers.items()}), ReadOptions()
    )
    assert "marker map: plug_in_gait" in second.notes
    assert set(first.joints) == set(second.joints)
    for name in first.joints:
        np.testing.assert_array_equal(first.joints[name], second.joints[name])


def test_a_side_is_no_prefix():
    names = ["L.SHO", "L.ELB", "L.WRA", "R.SHO", "R.ELB", "R.WRA"]
    assert find_spellings(names, ["LSHO", "RWRA", "SHO"]) == {"LSHO": "L.SHO", "RWRA": "R.WRA"}


def test_of_two_persons_one_is_read():
    names = [f"{who}:{name}" for who in ("Ann", "Bob") for name in ("LSHO", "LELB", "LWRA", "LWRB")]
    names.append("Bob:C7")
    assert find_persons(names) == ["Bob", "Ann"]
    assert find_persons(["Ann:LSHO", "Wand:Tip"]) == []
    found = dict(find_aliases(names, ready_maps()["plug_in_gait"]))
    assert {found[name] for name in ("LSHO", "LELB", "C7")} == {"Bob:LSHO", "Bob:LELB", "Bob:C7"}


def test_maps_of_skeletons_need_their_own_spelling_and_are_for_skeletons():
    joints = [
        "hips",
        "chest",
        *(f"{side}{joint}" for side in ("left", "right") for joint in ("shoulder", "elbow", "wrist")),
    ]
    with pytest.raises(MotionError):
        choose_map(joints, None, "trial", skeleton=True)
    names = [
        name.capitalize().replace("shoulder", "Shoulder").replace("elbow", "Elbow").replace("wrist", "Wrist")
        for name in joints
    ]
    assert choose_map(names, None, "trial", skeleton=True)[0] == "cmu"
    with pytest.raises(MotionError):
        choose_map(names[:2], None, "trial", skeleton=False)


def test_a_set_without_arms_is_a_motion_of_legs(person, make_recording, make_markers):
    markers = make_markers(person, "plug_in_gait")
    kept = ("ASI", "PSI", "THI", "KNE", "TIB", "ANK", "HEE", "TOE")
    legs = {name: track for name, track in markers.items() if name[1:] in kept}
    motion = to_human_motion(make_recording(person, legs), ReadOptions())
    whole = to_human_motion(make_recording(person, "plug_in_gait"), ReadOptions())
    for joint in ("hip", "knee", "ankle", "heel", "toe"):
        np.testing.assert_allclose(motion.joints[f"left_{joint}"], whole.joints[f"left_{joint}"], atol=1e-9)
    assert {*ARM_JOINTS, "trunk"} <= {*motion.missing}
    assert (
        "no arm was recorded: both hang beside the trunk, and only the legs follow the person"
        in motion.doubts
    )
    shoulders = motion.joints["left_shoulder"] - motion.joints["right_shoulder"]
    across = motion.joints["left_hip"] - motion.joints["right_hip"]
    assert (np.einsum("ti,ti->t", shoulders, across) > 0.0).all()
    for side in ("left", "right"):
        hanging = motion.joints[f"{side}_wrist"] - motion.joints[f"{side}_shoulder"]
        assert (hanging[:, 2] < -0.9 * np.linalg.norm(hanging, axis=1)).all()
    few = {name: track for name, track in legs.items() if name[1:] not in ("KNE", "ANK")}
    with pytest.raises(MotionError, match="comes closest and lacks LSHO, LELB, LWRA;"):
        to_human_motion(make_recording(person, few), ReadOptions())


@pytest.mark.parametrize("lost", ["WRA", "WRB"])
def test_one_marker_of_a_wrist_suffices(person, make_recording, make_markers, lost):
    markers = {k: v for k, v in make_markers(person, "plug_in_gait").items() if k != f"R{lost}"}
    whole = to_human_motion(make_recording(person, "plug_in_gait"), ReadOptions())
    motion = to_human_motion(make_recording(person, markers), ReadOptions())
    for joint in ARM_JOINTS:
        error = np.linalg.norm(motion.joints[joint] - whole.joints[joint], axis=1).max()
        # The markers are 60 mm apart.
        assert error < (0.031 if joint.startswith("right") else 1e-9), joint
    assert any("right wrist: at its only marker" in note for note in motion.notes)


def test_without_a_trunk_the_shoulder_lies_at_its_marker(person, make_recording, make_markers):
    arms = {
        k: v for k, v in make_markers(person, "plug_in_gait").items() if k[1:] in ("SHO", "ELB", "WRA", "WRB")
    }
    motion = to_human_motion(replace(make_recording(person, arms), up="z"), ReadOptions())
    assert any("left shoulder: at its marker" in note for note in motion.notes)
    offset = motion.joints["left_elbow"] - motion.joints["left_shoulder"]
    assert np.abs(np.linalg.norm(offset, axis=1) - 0.30).max() < 0.07
