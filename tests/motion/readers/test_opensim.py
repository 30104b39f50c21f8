import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opensim_texts import COORDINATES, JOINTS, model_3, model_4, motion_table, moved_coordinates, tag, tags
from scipy.interpolate import CubicSpline

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion, read_recording
from simbench.motion.readers.opensim_model import read_model

# Positions in frames 0 and 40, m, as OpenSim 4.6 computes them.
PLACES = {
    "torso": ((0.046115146, -0.689264897, -0.905888919), (-1.075972422, -0.232409772, 0.634846301)),
    "hand_r": ((0.334379277, -0.654997691, -0.968122546), (-0.925370844, -0.417930627, 0.982824757)),
    "hand_l": ((0.258808555, -0.632593018, -1.049300285), (-0.89419542, -0.130930665, 0.281761897)),
    "toes_r": ((-0.328167527, -1.553281051, -1.191227434), (-0.610608469, -1.058672175, 1.062370796)),
    "toes_l": ((-0.444903404, -1.470315907, -1.364867459), (-0.721883812, -1.132831171, 0.796291687)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("opensim")


def write(folder, table, model=None, name="walk.mot"):
    (folder / "walk.osim").write_text(model or model_4())
    path = folder / name
    path.write_text(table)
    return path


@pytest.mark.parametrize("model", [model_3, model_4])
def test_bodies_are_where_opensim_puts_them(tmp_path, model):
    recording = read_recording(
        str(write(tmp_path, motion_table(moved_coordinates()), model())), ReadOptions()
    )
    assert set(recording.names) == {*JOINTS}
    for name, places in PLACES.items():
        found = recording.positions[[0, 40], recording.names.index(name)]
        np.testing.assert_allclose(found, places, atol=2e-9, err_msg=name)
    np.testing.assert_allclose(recording.time, np.arange(60) / 100.0, atol=1e-12)
    assert (recording.unit, recording.up, recording.doubts) == ("m", "y", ())
    # At rest all rotations are the identity: the offsets are those with all coordinates zero.
    still = motion_table({name: np.zeros(2) for name in COORDINATES})
    rest = read_recording(str(write(tmp_path, still, model())), ReadOptions())
    np.testing.assert_allclose(rest.rotations, np.broadcast_to(np.eye(3), rest.rotations.shape), atol=1e-12)
    inner = rest.parents >= 0
    apart = rest.positions[0, inner] - rest.positions[0, rest.parents[inner]]
    np.testing.assert_allclose(rest.offsets[inner], apart, atol=1e-12)


def test_the_person_has_arms_and_palms(tmp_path):
    """In the anatomical position palms face forward, thumbs outward; here the forearms point forward."""
    values = {name: np.zeros(30) for name in COORDINATES}
    values |= {f"elbow_flex_{side}": np.full(30, 90.0) for side in "rl"}
    values |= {f"knee_angle_{side}": np.full(30, -20.0) for side in "rl"}
    motion = read_motion(write(tmp_path, motion_table(values)))
    assert "marker map: opensim" in motion.notes
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hand = motion.segments[f"{side}_hand"][0, :3, :3]
        np.testing.assert_allclose(hand[:, 0], [1.0, 0.0, 0.0], atol=0.2)
        # The thumb is on the side of -y of a left hand's frame and of +y of a right one's.
        np.testing.assert_allclose(-sign * hand[:, 1], [0.0, sign, 0.0], atol=0.2)


def test_angles_in_radians_paths_of_states_and_missing_coordinates(tmp_path):
    degrees = moved_coordinates()
    whole = read_recording(str(write(tmp_path, motion_table(degrees))), ReadOptions())
    radians = {
        f"/jointset/joint/{name}/value": value if name[-3:] in ("_tx", "_ty", "_tz") else np.deg2rad(value)
        for name, value in degrees.items()
    }
    radians["/jointset/joint/arm_flex_r/speed"] = np.ones(60)
    path = write(tmp_path, motion_table(radians, "states", "no"), name="walk.sto")
    read = read_recording(str(path), ReadOptions())
    np.testing.assert_allclose(read.positions, whole.positions, atol=1e-8)
    assert "1 further columns ignored" in read.notes
    del degrees["pro_sup_r"]
    partly = read_recording(str(write(tmp_path, motion_table(degrees, degrees=""))), ReadOptions())
    assert [doubt.partition(":")[0] for doubt in partly.doubts] == [
        "the header has no inDegrees",
        "1 coordinates of the model are not in the file",
    ]
    unaffected = [k for k, name in enumerate(whole.names) if name not in ("radius_r", "hand_r")]
    np.testing.assert_allclose(partly.positions[:, unaffected], whole.positions[:, unaffected], atol=1e-8)


def test_a_coupled_coordinate_follows(tmp_path):
    coupler = (
        "<ConstraintSet><objects><CoordinateCouplerConstraint><isEnforced>true</isEnforced>"
        "<coupled_coordinates_function><LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>"
        "</coupled_coordinates_function><independent_coordinate_names>arm_flex_r</independent_coordinate_names>"
        "<dependent_coordinate_name>pro_sup_r</dependent_coordinate_name><scale_factor>1</scale_factor>"
        "</CoordinateCouplerConstraint></objects></ConstraintSet></Model>"
    )
    values = moved_coordinates()
    values["pro_sup_r"] = 0.5 * values["arm_flex_r"] + np.rad2deg(0.1)
    whole = read_recording(str(write(tmp_path, motion_table(values))), ReadOptions())
    del values["pro_sup_r"]
    path = write(tmp_path, motion_table(values), model_4().replace("</Model>", coupler))
    np.testing.assert_allclose(read_recording(str(path), ReadOptions()).positions, whole.positions, atol=1e-8)


@pytest.mark.parametrize("points", [2, 3, 4, 7])
def test_splines_are_those_of_simm(tmp_path, points):
    """The end pieces have the third derivatives of the cubics through the outer four points."""
    x, y = np.linspace(-1.0, 1.0, points) ** 3 + np.linspace(0.0, 1.0, points), np.cos(np.arange(points))
    numbers = {key: " ".join(map(str, values)) for key, values in (("x", x), ("y", y))}
    spline = tag("SimmSpline", tags(**numbers), "function")
    text = re.sub(r"<SimmSpline.*?</SimmSpline>", spline, model_4())
    (tmp_path / "a.osim").write_text(text)
    model = read_model(tmp_path / "a.osim")
    joint = next(joint for joint, _ in model.joints if joint.bodies[1] == "tibia_r")
    curve = next(axis.function for axis in joint.axes if not axis.turns and axis.coordinates)
    inner = np.linspace(x[0], x[-1], 50)
    if points < 5:
        # One polynomial goes through so few points.
        expected = np.polyval(np.polyfit(x, y, points - 1), inner)
    else:
        third = [np.polyfit(x[k], y[k], 3)[0] for k in (slice(4), slice(-4, None))]

        def misfit(bends):
            cubic = CubicSpline(x, y, bc_type=((2, bends[0]), (2, bends[1])))
            return cubic.c[0][[0, -1]] - third

        base = misfit([0.0, 0.0])
        ends = np.linalg.solve(
            np.stack([misfit([1.0, 0.0]) - base, misfit([0.0, 1.0]) - base], axis=1), -base
        )
        expected = CubicSpline(x, y, bc_type=((2, ends[0]), (2, ends[1])))(inner)
    np.testing.assert_allclose(curve(inner[None]), expected, atol=1e-9)
    beyond = curve(np.array([[x[-1], x[-1] + 1.0, x[-1] + 2.0]]))
    np.testing.assert_allclose(np.diff(beyond, 2), 0.0, atol=1e-9)


TABLE = motion_table(moved_coordinates(4))
FLIPPED = {name: -value if name.startswith("knee") else value for name, value in moved_coordinates().items()}
REFUSED = {
    "no header": (TABLE.replace("endheader", ""), None, "not a table of OpenSim"),
    "no names": (TABLE.split("endheader")[0] + "endheader\n", None, "names of coordinates must follow"),
    "forces": (TABLE.replace("Coordinates", "Speeds"), None, "holds 'Speeds' .*no joint angles"),
    "ground forces": (
        motion_table({"ground_force_vx": np.zeros(3)}, "grf.mot"),
        None,
        "ground_force_vx, ...., no joint angles",
    ),
    "other model": (motion_table({"q1": np.zeros(3)}), None, r"none of its columns \(q1"),
    "no rows": (TABLE.partition("0.0000000000")[0], None, "no rows"),
    "no number": (TABLE.replace("0.0100000000", "soon"), None, "'soon'; it must be a finite number"),
    "knees of another model": (motion_table(FLIPPED), None, "knee_angle_. is beyond its range .* other sign"),
    "no model": (TABLE, "<Model/>", "not an OpenSim model"),
    "no XML": (TABLE, "osim", "not XML"),
    "entities": (TABLE, '<!DOCTYPE a [<!ENTITY b "c">]><a/>', "document type declaration"),
    "unknown joint": (
        TABLE,
        model_4().replace("BallJoint", "EllipsoidJoint"),
        "is a EllipsoidJoint .* known",
    ),
    "no ground": (
        TABLE,
        model_4().replace("/ground", "/bodyset/moon"),
        "no joint connects a body with ground",
    ),
    "frames in a circle": (
        TABLE,
        model_4().replace(
            "<socket_parent>/ground</socket_parent>", "<socket_parent>ground_offset</socket_parent>"
        ),
        "does not lead to a body",
    ),
    "spline": (TABLE, model_4().replace("-1.2 -0.5", "-0.5 -1.2"), "x must increase"),
    "axis": (TABLE, model_4().replace("0 0.1 1", "0 0 0"), "axis of length 0"),
    "no coefficients": (
        TABLE,
        model_4().replace(">1 0</coefficients>", "></coefficients>"),
        "coefficients is ''",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_motion_is_one_line(tmp_path, name):
    table, model, words = REFUSED[name]
    with pytest.raises(MotionError, match=words) as caught:
        read_recording(str(write(tmp_path, table, model)), ReadOptions())
    assert "\n" not in str(caught.value)


def test_the_model_is_named_or_beside_the_file(tmp_path):
    path = write(tmp_path, TABLE)
    (tmp_path / "walk.osim").rename(tmp_path / "person.osim")
    named = ReadOptions(body_model=str(tmp_path / "person.osim"))
    assert read_recording(str(path), ReadOptions()).names == read_recording(str(path), named).names
    (tmp_path / "other.osim").write_text(model_3())
    with pytest.raises(
        MotionError, match=r"2 models are beside it; put its .osim there as walk.osim, or name it"
    ):
        read_recording(str(path), ReadOptions())
    (tmp_path / "other.osim").unlink()
    (tmp_path / "person.osim").unlink()
    with pytest.raises(MotionError, match=r"no model is beside it; .*--body-model"):
        read_recording(str(path), ReadOptions())
    with pytest.raises(MotionError, match="holds no motion"):
        read_recording(str(write(tmp_path, model_4(), name="walk.osim")), ReadOptions())


@settings(max_examples=150, deadline=None)
@given(
    in_model=st.booleans(),
    changes=st.lists(
        st.tuples(
            st.floats(0.0, 1.0),
            st.integers(0, 6),
            st.binary(max_size=3)
            | st.sampled_from([b"\t", b"\n", b"-", b"9", b"1e309", b"nan", b"<a>", b"/", b"="]),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_any_damage_is_read_or_refused(folder, in_model, changes):
    content = (model_4() if in_model else TABLE).encode()
    for at, removed, inserted in changes:
        place = int(at * len(content))
        content = content[:place] + inserted + content[place + removed :]
    path = write(folder, TABLE)
    (folder / "walk.osim" if in_model else path).write_bytes(content)
    try:
        recording = read_recording(str(path), ReadOptions())
    except MotionError:
        return
    assert np.isfinite(recording.positions).all()
