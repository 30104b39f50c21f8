import numpy as np
import pytest
import yaml

from simbench.errors import MotionError
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_maps.map_library import choose_map, load_map, ready_maps
from simbench.motion.read_options import ReadOptions

OWN = {
    "description": "a person of my own",
    "identified_by": [["{S}1", "{S}2", "{S}3"]],
    "joints": {"{side}_shoulder": "{S}1", "{side}_elbow": "{S}2", "{side}_wrist": "{S}3"},
    "segments": {
        "{side}_upper_arm": {"along": ["{S}1", "{S}2"], "bends_at": ["{S}1", "{S}2", "{S}3"]},
        "{side}_forearm": {"along": ["{S}2", "{S}3"], "bends_at": ["{S}1", "{S}2", "{S}3"]},
    },
}


def write(folder, **changes):
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(OWN | changes))
    return path


def own_markers(person):
    return {
        f"{side[0].upper()}{k}": person.joints[f"{side}_{joint}"]
        for side in ("left", "right")
        for k, joint in enumerate(("shoulder", "elbow", "wrist"), 1)
    }


def test_all_ready_maps_are_valid_and_give_whole_arms():
    assert {"plug_in_gait", "cmu", "lafan1", "rajagopal", "deepmimic", "kim2005", "simbench"} <= set(
        list(ready_maps())
    )
    for name, marker_map in ready_maps().items():
        for side in ("left", "right"):
            assert {f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist"} <= set(marker_map.joints), name
            assert {f"{side}_upper_arm", f"{side}_forearm"} <= set(marker_map.segments), name


def test_ones_own_map_is_read_from_its_path(tmp_path, person, make_recording):
    recording = make_recording(person, own_markers(person))
    motion = to_human_motion(recording, ReadOptions(marker_map=str(write(tmp_path))))
    np.testing.assert_allclose(
        np.linalg.norm(motion.joints["left_elbow"] - motion.joints["left_shoulder"], axis=1), 0.30
    )
    assert {"left_hand", "right_hand", "trunk", "pelvis", "left_hip"} <= set(motion.missing)


def test_a_maps_vertical_axis_counts_more_than_the_formats(tmp_path, person, make_recording):
    recording = make_recording(person, own_markers(person), up="y")
    motion = to_human_motion(recording, ReadOptions(marker_map=str(write(tmp_path, up="z"))))
    declared = to_human_motion(recording, ReadOptions(up="z", marker_map=str(write(tmp_path))))
    np.testing.assert_array_equal(motion.joints["left_wrist"], declared.joints["left_wrist"])
    other = to_human_motion(recording, ReadOptions(marker_map=str(write(tmp_path))))
    assert not np.allclose(motion.joints["left_wrist"], other.joints["left_wrist"])


def test_a_cluster_gives_a_joint_and_a_frame(tmp_path, person, make_recording):
    model = {"A": [0.1, 0.0, 0.05], "B": [0.2, 0.03, 0.05], "C": [0.15, -0.04, 0.06]}
    path = write(
        tmp_path,
        joints=OWN["joints"] | {"left_elbow": {"cluster": model, "at": [0.3, 0.0, 0.0]}},
        segments=OWN["segments"] | {"left_upper_arm": {"cluster": model}},
    )
    markers = own_markers(person)
    del markers["L2"]
    for name, place in model.items():
        markers[name] = person.joints["left_shoulder"] + person.rotations["left_upper_arm"] @ place
    path.write_text(path.read_text().replace("- '{S}2'", "- '{side}_elbow'"))
    data = yaml.safe_load(path.read_text())
    data["identified_by"] = [["L1", "L3", "A", "B", "C"]]
    path.write_text(yaml.safe_dump(data))
    motion = to_human_motion(make_recording(person, markers), ReadOptions(marker_map=str(path)))
    elbow = motion.joints["left_elbow"] - motion.joints["left_shoulder"]
    np.testing.assert_allclose(motion.segments["left_upper_arm"][:, :3, 0] * 0.30, elbow, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"segmnts": {}}, "segmnts: Extra inputs"),
        ({"joints": {"neck": {"meen": ["A"]}}}, r"joints\.neck\.0: a recipe has one of the keys mean, by"),
        ({"joints": {"neck": {"mean": ["A"], "weights": [1, 2]}}}, "needs one weight for each point"),
        (
            {"segments": {"trunk": {"along": ["A", "B"], "thumb": [0, 0, 1]}}},
            "must begin with left_ or right_",
        ),
        ({"segments": {"left_hand": {"along": ["A", "B"]}}}, "exactly one of 'thumb', 'lateral', 'bends_at'"),
    ],
)
def test_mistakes_in_a_map_name_file_and_key(tmp_path, changes, words):
    with pytest.raises(MotionError, match=rf"own\.yaml: .*{words}") as error:
        load_map(write(tmp_path, **changes))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "\x00", "a: !!python/object:os.system {}"])
def test_what_is_no_map_is_refused(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(MotionError, match=r"own\.yaml(:\d+:\d+)?: "):
        load_map(path)


def test_a_map_that_goes_in_a_circle_is_refused(tmp_path, person, make_recording):
    path = write(
        tmp_path,
        joints=OWN["joints"] | {"neck": {"start": "L1", "frame": "trunk", "by": [0, 0, 1]}},
        segments=OWN["segments"] | {"trunk": {"axes": {"z": ["L1", "neck"], "y": ["R1", "L1"]}}},
    )
    with pytest.raises(MotionError, match=r"goes in a circle: point neck -> frame trunk -> point neck"):
        to_human_motion(make_recording(person, own_markers(person)), ReadOptions(marker_map=str(path)))


def test_the_map_with_most_of_its_names_wins(person, make_markers):
    both = {**make_markers(person, "plug_in_gait"), **make_markers(person, "kim2005")}
    assert choose_map(both, None, "trial")[0] == "kim2005"
    assert choose_map(both, "plug_in_gait", "trial")[0] == "plug_in_gait"


def test_an_alias_stands_for_the_name(person, make_recording, make_markers):
    markers = make_markers(person, "rajagopal")
    renamed = {name.replace(".Shoulder", "_Shoulder"): track for name, track in markers.items()}
    first = to_human_motion(make_recording(person, markers), ReadOptions())
    second = to_human_motion(make_recording(person, renamed), ReadOptions())
    np.testing.assert_array_equal(first.joints["left_shoulder"], second.joints["left_shoulder"])
