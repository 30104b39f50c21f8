import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from written_animations import INCH, acclaim_person, write_acclaim

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.acclaim import read_amc


def turn(axis, degrees):
    return Rotation.from_rotvec(np.radians(degrees) * np.eye(3)["xyz".index(axis.lower())]).as_matrix()


def in_order(order, angles):
    """Rotations about fixed axes, the first one first."""
    matrix = np.eye(3)
    for axis, angle in zip(order, angles, strict=True):
        matrix = turn(axis, angle) @ matrix
    return matrix


def random_motion(seed, count=6):
    rng = np.random.default_rng(seed)
    bones, frames = [], [{"root": rng.normal(scale=40.0, size=6)} for _ in range(count)]
    for k in range(8):
        parent = "root" if k < 2 else f"bone{rng.integers(0, k)}"
        direction = rng.normal(size=3)
        direction = (direction / np.linalg.norm(direction)).tolist()
        dof = " ".join(rng.permutation(["rx", "ry", "rz"])[: k % 4])
        axis, order = rng.uniform(-180, 180, 3).tolist(), "".join(rng.permutation(list("XYZ")))
        bones.append((f"bone{k}", parent, direction, float(rng.uniform(1, 9)), axis, order, dof))
        if dof:
            for frame in frames:
                frame[f"bone{k}"] = rng.uniform(-170, 170, len(dof.split()))
    return bones, frames


def places(bones, frame):
    """Start of each bone and where it ends, inches, by recursion as the format's description has it."""
    x, y, z, rz, rx, ry = frame["root"]
    starts, matrices = {}, {"root": in_order("zxy", (rz, rx, ry))}
    ends = {"root": np.array([x + 1, y + 2, z + 3]) / INCH}
    for name, parent, direction, length, axis, order, dof in bones:
        own = in_order(order, axis)
        angles = in_order([word[1] for word in dof.split()], frame.get(name, ()))
        matrices[name] = matrices[parent] @ own @ angles @ own.T
        starts[name] = ends[parent]
        ends[name] = starts[name] + matrices[name] @ np.multiply(direction, length) / INCH
    return starts, ends, matrices


@pytest.mark.parametrize("angle", ["deg", "rad"])
@pytest.mark.parametrize("seed", range(3))
def test_places_are_those_of_the_formats_description(tmp_path, seed, angle):
    bones, frames = random_motion(seed)
    recording = read_amc(write_acclaim(tmp_path, bones, frames, angle=angle), ReadOptions(fps=60.0))
    assert recording.unit == "in"
    assert recording.doubts == ()
    np.testing.assert_allclose(recording.time, np.arange(len(frames)) / 60.0)
    for k, frame in enumerate(frames):
        starts, ends, matrices = places(bones, frame)
        for name in (bone[0] for bone in bones):
            joint = recording.names.index(name)
            np.testing.assert_allclose(recording.positions[k, joint], starts[name], atol=1e-10)
            np.testing.assert_allclose(recording.rotations[k, joint], matrices[name], atol=1e-12)
            if f"{name}_end" in recording.names:
                end = recording.positions[k, recording.names.index(f"{name}_end")]
                np.testing.assert_allclose(end, ends[name], atol=1e-10)
    # Only bones that no other follows have end sites.
    parents = {parent for _, parent, *_ in bones}
    assert {name for name in recording.names if name.endswith("_end")} == {
        f"{name}_end" for name, *_ in bones if name not in parents
    }


def test_a_person_of_cmu(tmp_path):
    motion = read_motion(write_acclaim(tmp_path, *acclaim_person()))
    assert "marker map: acclaim" in motion.notes
    assert motion.doubts == ("the file does not say its rate (--fps): 120 Hz assumed, as in CMU's database",)
    assert motion.rate == pytest.approx(120.0)
    metres = 0.0254 / INCH
    forearm = np.linalg.norm(motion.joints["left_wrist"] - motion.joints["left_elbow"], axis=1)
    np.testing.assert_allclose(forearm, 4.5 * metres, atol=1e-9)
    # The person walks ahead, along x of the world.
    walked = motion.joints["pelvis"][-1] - motion.joints["pelvis"][0]
    np.testing.assert_allclose(walked, [1.9 * metres, 0, 0], atol=1e-9)
    np.testing.assert_allclose(motion.joints["left_hip"][0, 1], 1.6 * metres, atol=1e-9)


@pytest.mark.parametrize(
    ("asf", "doubts"),
    [("01_02", 0), ("01", 0), ("other", 1)],
    ids=["the same", "the subject's", "the only one"],
)
def test_the_skeleton_is_beside_it(tmp_path, asf, doubts):
    bones, frames = random_motion(0)
    recording = read_amc(
        write_acclaim(tmp_path, bones, frames, ":samples-per-second 30", asf=asf), ReadOptions()
    )
    assert len(recording.doubts) == doubts
    np.testing.assert_allclose(recording.time[1], 1 / 30)


DAMAGED = {
    "no skeleton": (lambda asf, amc: (None, amc), r"put 01_02\.asf or 01\.asf beside it"),
    "no bone": (
        lambda asf, amc: (asf, amc.replace("bone3", "bone33")),
        r"line 8: 'bone33' is no bone of the",
    ),
    "a word": (lambda asf, amc: (asf, amc.replace("root ", "root x")), "line 5, root: .* 6 finite number"),
    "no frames": (lambda asf, amc: (asf, amc.partition("\n1\n")[0]), "no frames with angles"),
    "no bones": (lambda asf, amc: (":bonedata", amc), "no bones; the skeleton is truncated"),
    "a loop": (lambda asf, amc: (asf.replace("root bone0", "bone0 bone0"), amc), "'bone0' is not in both of"),
    "no length": (
        lambda asf, amc: (asf.replace("length 0.45", "length 0"), amc),
        "must be a positive number",
    ),
    "stretch": (lambda asf, amc: (asf.replace("dof r", "dof l r"), amc), "allowed: rx, ry, rz, each once"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_line_with_its_place(tmp_path, name):
    change, words = DAMAGED[name]
    path = write_acclaim(tmp_path, *random_motion(0))
    asf, amc = change((tmp_path / "01.asf").read_text(), path.read_text())
    path.write_text(amc)
    (tmp_path / "01.asf").unlink()
    if asf is not None:
        (tmp_path / "01.asf").write_text(asf)
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(path)
    assert "\n" not in str(caught.value)


def test_slips_are_said_and_refused_if_strict(tmp_path):
    path = write_acclaim(tmp_path, *random_motion(0))
    path.write_text(path.read_text().rpartition("\n")[0])
    recording = read_amc(path, ReadOptions(fps=60.0))
    assert recording.notes == ("the last frame is truncated: left out",)
    assert len(recording.time) == 5
    with pytest.raises(MotionError, match="truncated"):
        read_amc(path, ReadOptions(fps=60.0, strict=True))
    with pytest.raises(MotionError, match="give the AMC file"):
        read_motion(tmp_path / "01.asf")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_damaged_is_one_line(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    path = write_acclaim(folder, *random_motion(1))
    victim = data.draw(st.sampled_from([path, folder / "01.asf"]))
    whole = victim.read_bytes()
    start, length = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, 60))
    victim.write_bytes(whole[:start] + data.draw(st.binary(max_size=20)) + whole[start + length :])
    with contextlib.suppress(MotionError):
        assert np.isfinite(read_amc(path, ReadOptions()).positions).all()
