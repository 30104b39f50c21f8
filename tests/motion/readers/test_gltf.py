import base64
import contextlib

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp
from written_animations import GltfScene, gltf_person

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.gltf import read_gltf


def unit(quaternions):
    return np.asarray(quaternions) / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def single(array):
    return np.asarray(array, dtype="<f4").astype(float)


def world(nodes, above, pose):
    """Poses (4, 4) of nodes by their names; `pose`: what is animated, by name and path."""
    poses = {}
    for node in nodes:
        name = node["name"]
        local = np.eye(4)
        said = {
            "translation": [0, 0, 0],
            "rotation": [0, 0, 0, 1],
            "scale": [1, 1, 1],
            **node,
            **pose.get(name, {}),
        }
        local[:3, :3] = Rotation.from_quat(said["rotation"]).as_matrix() * np.asarray(said["scale"])
        local[:3, 3] = said["translation"]
        if "matrix" in node:
            local = np.reshape(node["matrix"], (4, 4)).T
        poses[name] = poses[above[name]] @ local if name in above else local
    return poses


@pytest.fixture
def chain():
    """A root that scales and turns, two joints below it with another node between, a leaf."""
    rng = np.random.default_rng(3)
    matrix = np.eye(4)
    matrix[:3, :3] = 0.5 * Rotation.from_euler("xyz", [0.3, -0.2, 1.0]).as_matrix()
    matrix[:3, 3] = 1, -2, 3
    nodes = [
        {"name": "armature", "children": [1], "matrix": matrix.T.ravel().tolist()},
        {
            "name": "hips",
            "children": [2],
            "translation": [0, 1, 0],
            "rotation": unit(rng.normal(size=4)).tolist(),
        },
        {"name": "between", "children": [3], "translation": [0, 0.5, 0.1]},
        {"name": "chest", "children": [4], "translation": [0.1, 0.5, 0], "scale": [2, 2, 2]},
        {"name": "head", "translation": [0, 0.25, 0]},
    ]
    above = {"hips": "armature", "between": "hips", "chest": "between", "head": "chest"}
    return nodes, above, rng


def test_channels_of_all_kinds(tmp_path, chain):
    """Linear, cubic and stepped; normalised integers, a sparse array, and interleaved numbers."""
    nodes, above, rng = chain
    scene = GltfScene(nodes)
    times = single(np.arange(9) / 8.0)
    shorts = np.round(32767 * unit(rng.normal(size=(9, 4)))).astype("<i2")
    cubic = single(rng.normal(size=(9, 3, 3)))
    place = single(rng.normal(size=(9, 3)))
    changed = single(rng.normal(size=(2, 3)))
    turns = single(unit(rng.normal(size=(9, 4))))
    sparse = {
        "count": 2,
        "indices": {"bufferView": scene.view(np.array([2, 5], dtype=np.uint8)), "componentType": 5121},
        "values": {"bufferView": scene.view(changed.astype("<f4"))},
    }
    base = scene.view(place.astype("<f4"))
    mixed = np.zeros((9, 5), dtype="<f4")
    mixed[:, 1:] = turns
    apart = scene.view(mixed, byteStride=20)
    scene.animate(
        "short", (1, "translation", times[:3], place[:3], "LINEAR"), (1, "weights", times, place, "LINEAR")
    )
    scene.animate(
        "long",
        (1, "rotation", times, scene.add(shorts, 5122, "<i2", normalized=True), "LINEAR"),
        (1, "translation", times, cubic.reshape(27, 3), "CUBICSPLINE"),
        (2, "translation", times, scene.add(place, bufferView=base, sparse=sparse), "STEP"),
        (3, "rotation", times, scene.add(turns, bufferView=apart, byteOffset=4), "LINEAR"),
    )
    scene.content["skins"] = [{"joints": [1, 3, 4]}]
    recording = read_gltf(scene.glb(tmp_path / "all.glb"), ReadOptions(fps=50.0))
    assert recording.names == ("hips", "chest", "head")
    assert recording.unit == "m"
    assert recording.up == "y"
    assert recording.notes == ("2 animations: 'long' is read, the longest",)
    np.testing.assert_array_equal(recording.parents, [-1, 0, 1])
    np.testing.assert_allclose(recording.time, np.arange(51) / 50.0, atol=1e-12)
    place[[2, 5]] = changed
    # Tangents of the two sides of a key differ: one spline for each interval.
    into, values, out = cubic.swapaxes(0, 1)
    rest = world(nodes, above, {})
    hips, chest = Slerp(times, Rotation.from_quat(shorts / 32767)), Slerp(times, Rotation.from_quat(turns))
    for k, time in enumerate(recording.time):
        i = min(int(time * 8 + 1e-9), 7)
        ends = [i, i + 1]
        spline = CubicHermiteSpline(times[ends], values[ends], [out[i], into[i + 1]])
        pose = {
            "hips": {"rotation": hips(time).as_quat(), "translation": spline(time)},
            "between": {"translation": place[int(time * 8 + 1e-9)]},
            "chest": {"rotation": chest(time).as_quat()},
        }
        poses = world(nodes, above, pose)
        for joint, name in enumerate(recording.names):
            np.testing.assert_allclose(recording.positions[k, joint], poses[name][:3, 3], atol=1e-9)
            turned = poses[name][:3, :3] @ np.linalg.inv(rest[name][:3, :3])
            np.testing.assert_allclose(recording.rotations[k, joint], turned, atol=1e-9)


def test_unmoved_nodes_agree_with_another_library(tmp_path, chain):
    nodes, _, _ = chain
    scene = GltfScene(nodes)
    scene.animate("a", (4, "translation", np.arange(3) / 30, [nodes[4]["translation"]] * 3, "LINEAR"))
    scene.content["skins"] = [{"joints": [0, 1, 2, 3, 4]}]
    path = scene.glb(tmp_path / "still.glb", scenes=[{"nodes": [0]}], scene=0)
    recording = read_gltf(path, ReadOptions())
    graph = trimesh.load_scene(path).graph
    for joint, name in enumerate(recording.names):
        np.testing.assert_allclose(recording.positions[0, joint], graph.get(name)[0][:3, 3], atol=1e-7)


def test_the_pose_in_which_joints_were_bound_is_that_of_rest(tmp_path, chain):
    nodes, above, rng = chain
    scene = GltfScene(nodes)
    turns = single(unit(rng.normal(size=(4, 4))))
    scene.animate("a", (1, "rotation", np.arange(4) / 30, turns, "LINEAR"))
    bound = {name: np.eye(4) for name in ("hips", "chest")}
    for matrix in bound.values():
        matrix[:3, :3] = 3.0 * Rotation.random(random_state=int(rng.integers(99))).as_matrix()
        matrix[:3, 3] = rng.normal(size=3)
    matrices = np.stack([np.linalg.inv(matrix).T.ravel() for matrix in bound.values()])
    scene.content["skins"] = [{"joints": [1, 3], "inverseBindMatrices": scene.add(matrices)}]
    recording = read_gltf(scene.glb(tmp_path / "bound.glb"), ReadOptions())
    np.testing.assert_allclose(recording.time, np.arange(4) / 30, atol=1e-7)
    np.testing.assert_allclose(recording.offsets[1], bound["chest"][:3, 3] - bound["hips"][:3, 3], atol=1e-5)
    for k, turn in enumerate(turns):
        poses = world(nodes, above, {"hips": {"rotation": turn}})
        for joint, name in enumerate(("hips", "chest")):
            # Both are rotations times scales.
            turned = poses[name][:3, :3] @ np.linalg.inv(bound[name][:3, :3])
            turned /= np.cbrt(np.linalg.det(turned))
            np.testing.assert_allclose(recording.rotations[k, joint], turned, atol=1e-5)


@pytest.mark.parametrize("version", [0, 1])
def test_bones_of_vrm_have_their_names(tmp_path, chain, version):
    nodes, _, _ = chain
    scene = GltfScene(nodes)
    scene.animate("a", (1, "rotation", [0.0, 0.5], [[0, 0, 0, 1], [0, 1, 0, 0]], "LINEAR"))
    bones = {"hips": {"node": 1}, "head": {"node": 4}}
    listed = [{"bone": name, **bone} for name, bone in bones.items()]
    humanoid = (
        {"VRMC_vrm": {"humanoid": {"humanBones": bones}}}
        if version
        else {"VRM": {"humanoid": {"humanBones": listed}}}
    )
    nodes[1]["name"], nodes[4]["name"] = "J_Bip_C_Hips", "J_Bip_C_Head"
    recording = read_gltf(scene.glb(tmp_path / "person.vrm", extensions=humanoid), ReadOptions())
    assert recording.names == ("hips", "head")
    assert recording.notes == ("keys are 0.5 s apart: sampled at 30 Hz (--fps)",)
    assert len(recording.time) == 16


def test_numbers_in_the_text_and_beside_it(tmp_path, chain):
    nodes, _, _ = chain
    scene = GltfScene(nodes)
    scene.animate("a", (1, "translation", np.arange(4) / 24, np.eye(4)[:, :3], "LINEAR"))
    glb = read_gltf(scene.glb(tmp_path / "a.glb"), ReadOptions())
    (tmp_path / "two words.bin").write_bytes(scene.data)
    text = "data:application/octet-stream;base64," + base64.b64encode(scene.data).decode()
    for uri in (text, "two%20words.bin"):
        other = read_gltf(scene.gltf(tmp_path / "a.gltf", uri), ReadOptions())
        np.testing.assert_array_equal(other.positions, glb.positions)
    assert 1.0 / glb.time[1] == pytest.approx(24.0)
    for uri, words in (
        ("../a.bin", "is not beside it"),
        ("/etc/hostname", "is not beside it"),
        ("no.bin", "missing"),
    ):
        with pytest.raises(MotionError, match=words):
            read_motion(scene.gltf(tmp_path / "a.gltf", uri))


def test_the_largest_skeleton_is_read(tmp_path):
    joints = [{"name": name, "translation": [0, 1, 0]} for name in "abcde"]
    joints[0]["children"], joints[2]["children"], joints[3]["children"] = [1], [3], [4]
    scene = GltfScene(joints)
    moved = (2, "translation", np.arange(3) / 30, np.eye(3), "LINEAR")
    scene.animate("a", (0, "translation", np.arange(9) / 30, np.ones((9, 3)), "LINEAR"), moved)
    scene.content["skins"] = [{"joints": [0, 1]}, {"joints": [2, 3, 4]}]
    recording = read_gltf(scene.glb(tmp_path / "two.glb"), ReadOptions())
    assert recording.names == ("c", "d", "e")
    assert recording.notes == ("2 skeletons: 'c' is read, the one with the most joints",)


def test_a_pelvis_that_no_surface_has_carries_the_limbs(tmp_path):
    names = ["world", "pelvis", "spine", "chest", "head", "leg"]
    nodes = [{"name": name, "translation": [0, 1, 0]} for name in names]
    for parent, children in ((0, [1]), (1, [2, 5]), (2, [3]), (3, [4])):
        nodes[parent]["children"] = children
    scene = GltfScene(nodes)
    scene.animate("a", (1, "translation", np.arange(3) / 30, np.eye(3), "LINEAR"))
    scene.content["skins"] = [{"joints": [2, 3, 4, 5]}]
    with pytest.raises(MotionError, match="no joint moves"):
        read_gltf(scene.glb(tmp_path / "a.glb", animations=[]), ReadOptions())
    recording = read_gltf(scene.glb(tmp_path / "a.glb"), ReadOptions())
    assert set(recording.names) == {"pelvis", "spine", "chest", "head", "leg"}


def test_a_person(tmp_path):
    motion = read_motion(gltf_person().glb(tmp_path / "walk.glb"))
    assert motion.doubts == ()
    assert motion.rate == pytest.approx(30.0)
    walked = motion.joints["pelvis"][-1] - motion.joints["pelvis"][0]
    np.testing.assert_allclose(walked, [1.9 * 0.0254 / 0.45, 0, 0], atol=1e-6)


def change(key, index, **new):
    def apply(content):
        content[key][index].update(new)

    return apply


DAMAGED = {
    "no animation": (lambda content: content.pop("animations"), "a model without animation"),
    "another version": (lambda content: content["asset"].update(version="1.0"), "not glTF 2"),
    "no accessor": (lambda content: content["accessors"].clear(), r"accessors '\d' is missing"),
    "negative": (change("accessors", 0, count=-1), "count is '-1', no int"),
    "short": (change("accessors", 0, count=400), "shorter than what it must hold"),
    "huge": (change("accessors", 0, count=10**12), "allowed: 50000000"),
    "a loop": (change("nodes", 4, children=[1]), "node 1 has two parents"),
    "its own child": (change("nodes", 0, children=[0, 1]), "form a loop"),
    "no node": (change("nodes", 4, children=[9]), "nodes '9' is missing"),
    "a word": (change("nodes", 4, translation=["a", 0, 0]), "damaged: "),
    "compressed": (
        change("bufferViews", 0, extensions={"EXT_meshopt_compression": {}}),
        "gltf-transform copy",
    ),
    "times": (change("accessors", 0, componentType=5121, count=4), "increasing times"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_line(tmp_path, chain, name):
    nodes, _, _ = chain
    scene = GltfScene(nodes)
    scene.animate("a", (1, "translation", np.arange(4) / 24, np.eye(4)[:, :3], "LINEAR"))
    apply, words = DAMAGED[name]
    apply(scene.content)
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(scene.glb(tmp_path / "a.glb"))
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_whatever_is_damaged_is_one_line(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.glb"
    scene = GltfScene([{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}])
    scene.animate("a", (1, "rotation", np.arange(4) / 24, np.eye(4), "LINEAR"))
    scene.content["skins"] = [{"joints": [0, 1], "inverseBindMatrices": scene.add([np.eye(4).ravel()] * 2)}]
    whole = scene.glb(path).read_bytes()
    start, length = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, 60))
    new = data.draw(
        st.binary(max_size=20) | st.sampled_from([b"-1", b"[]", b"{}", b"null", b"1e300", b'"a"'])
    )
    path.write_bytes(whole[:start] + new + whole[start + length :])
    with contextlib.suppress(MotionError):
        assert np.isfinite(read_gltf(path, ReadOptions()).positions).all()
