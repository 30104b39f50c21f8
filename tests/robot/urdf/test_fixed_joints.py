"""Joints that a description fixes: the robot is that whose joints are locked, with fewer links."""

import numpy as np
import pinocchio as pin
import pytest
from urdf_texts import joint, link, write

from simbench.errors import RobotError
from simbench.robot.urdf.source import read_urdf

SHAPE = '<collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.05"/></geometry></collision>'


@pytest.fixture
def chain(tmp_path):
    """A base, two turning links, a sliding one, and a link fixed to the end."""
    return write(
        tmp_path,
        link("base", 3.0),
        link("upper", 2.0, cog="0.1 0 -0.2"),
        link("fore", 1.0, cog="0 0.1 0.3", inside=SHAPE),
        link("slide", 0.5, cog="0.05 0 0"),
        link("tip", 0.2, cog="0 0 0.1"),
        joint("shoulder", "base", "upper", axis="0 1 0", xyz="0 0 0.4"),
        joint("elbow", "upper", "fore", axis="1 0 0", xyz="0.3 0.1 0"),
        joint("slider", "fore", "slide", kind="prismatic", axis="0 0 1", xyz="0 0 0.2"),
        joint("flange", "slide", "tip", kind="fixed", xyz="0 0 0.1"),
    )


def model_of(path, **fixed):
    text = read_urdf(path, floating=False, fixed_joints=fixed, where="robot.yaml")[0]
    return pin.buildModelFromXML(text), text


def test_the_dynamics_are_those_of_locked_joints(chain):
    whole, _ = model_of(chain)
    fixed, text = model_of(chain, elbow=0.7, slider=0.05)
    assert [name for name in fixed.names if name != "universe"] == ["shoulder"]
    # Its links are merged, the fixed link beyond is not.
    assert 'name="fore"' not in text
    assert 'name="slide"' not in text
    reference = pin.neutral(whole)
    reference[whole.joints[whole.getJointId("elbow")].idx_q] = 0.7
    reference[whole.joints[whole.getJointId("slider")].idx_q] = 0.05
    locked = pin.buildReducedModel(whole, [whole.getJointId("elbow"), whole.getJointId("slider")], reference)
    for angle in (-0.8, 0.0, 1.1):
        q, v, a = np.array([angle]), np.array([0.9]), np.array([-2.0])
        np.testing.assert_allclose(
            pin.rnea(fixed, fixed.createData(), q, v, a), pin.rnea(locked, locked.createData(), q, v, a)
        )
        poses = []
        for model in (fixed, locked):
            data = model.createData()
            pin.framesForwardKinematics(model, data, q)
            poses.append(data.oMf[model.getFrameId("tip")].homogeneous)
        np.testing.assert_allclose(*poses, atol=1e-12)


def test_shapes_of_merged_links_stay_in_place(chain):
    whole, text = model_of(chain)
    fixed, fixed_text = model_of(chain, elbow=0.7)
    places = []
    for model, urdf, q in ((whole, text, [0.4, 0.7, 0.0]), (fixed, fixed_text, [0.4, 0.0])):
        geometry = pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION)
        data = model.createData()
        placed = geometry.createData()
        pin.updateGeometryPlacements(model, data, geometry, placed, np.array(q))
        places.append(placed.oMg[0].translation)
    np.testing.assert_allclose(*places, atol=1e-12)


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        (
            {"wrist": 0.0},
            r"robot.yaml: fixed_joints.wrist: no joint to fix has this name; allowed: elbow, shou",
        ),
        ({"elbow": 9.0}, r"robot.yaml: fixed_joints.elbow: 9 is outside the joint's limits"),
        ({"flange": 0.1}, r"robot.yaml: fixed_joints.flange: 0.1; the joint does not move: allowed: 0"),
    ],
)
def test_what_cannot_be_fixed_is_refused(chain, fixed, message):
    with pytest.raises(RobotError, match=message) as caught:
        model_of(chain, **fixed)
    assert "\n" not in str(caught.value)


def test_links_on_fixed_joints_make_room_for_more_joints(tmp_path):
    """Of 130 joints, three on fixed ones go, the lightest first; a link that is named stays."""
    links = [link(f"l{number}", 0.1, (1e-5,) * 3) for number in range(126)]
    light = [link(f"f{number}", 0.01 * (number + 1), (1e-6,) * 3) for number in range(4)]
    moving = [joint(f"j{number}", "base", f"l{number}") for number in range(126)]
    fixed = [joint(f"k{number}", "base", f"f{number}", kind="fixed") for number in range(4)]
    path = write(tmp_path, link("base", 1.0), *links, *light, *moving, *fixed)
    made, notes = read_urdf(path, floating=False, kept_links={"f0"})
    assert 'name="f0"' in made
    assert 'name="f3"' not in made
    assert any("`f1`, `f2`, `f3`" in note and "Bullet allows 127 joints" in note for note in notes)
    # 126 links of 0.1 kg that move; those that were merged are part of the base, which has no joint.
    model = pin.buildModelFromXML(made)
    assert sum(inertia.mass for inertia in model.inertias[1:]) == pytest.approx(12.6)
    assert model.inertias[0].mass == pytest.approx(1.0 + 0.01 + 0.02 + 0.03 + 0.04)
