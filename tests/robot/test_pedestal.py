"""How high a fixed base is, and the pedestal that fills the gap to the floor."""

import numpy as np
import pinocchio as pin
import pytest
from urdf_texts import joint, link, write

from simbench.robot.robot import PEDESTAL, load_robot, on_pedestal

BOX = '<collision><geometry><box size="0.2 0.3 0.4"/></geometry></collision>'
ROBOT = """name: arm
urdf: robot.urdf
base: fixed
groups: {{right_arm: [shoulder, elbow]}}
frames: {{right_shoulder: upper, right_elbow: fore, right_wrist: fore, right_hand: tip}}
fixed_frames: {{tip: {{parent: fore, xyz: [0, 0, 0.4]}}}}
postures: {{ready: {{}}}}
gains: auto
self_collision: [[[fore], [base]]]
{extra}
"""


def arm(folder, base_box="", shoulder=0.2, extra=""):
    """An arm of 0.8 m whose shoulder is at a height above its root link."""
    write(
        folder,
        link("base", 3.0, inside=base_box),
        link("upper"),
        link("fore", inside=BOX),
        joint("shoulder", "base", "upper", xyz=f"0 0 {shoulder}"),
        joint("elbow", "upper", "fore", xyz="0 0 0.4"),
    )
    (folder / "robot.yaml").write_text(ROBOT.format(extra=extra))
    return load_robot(folder)


def test_an_arm_low_above_its_root_stands_on_a_pedestal(tmp_path):
    # 0.72 of its length, 0.8 m, less the shoulder's own height.
    assert arm(tmp_path).base_height == pytest.approx(0.72 * 0.8 - 0.2, abs=0.005)


def test_an_arm_with_a_stand_of_its_own_is_on_the_floor(tmp_path):
    assert arm(tmp_path, shoulder=0.5).base_height == 0.0


def test_what_is_below_the_root_link_is_on_the_floor(tmp_path):
    # The box is 0.4 m high about the root link: 0.2 m below it; the shoulder is then 0.7 m high.
    assert arm(tmp_path, BOX, shoulder=0.5).base_height == pytest.approx(0.2)


def test_a_given_height_is_taken(tmp_path):
    assert arm(tmp_path, extra="base_height_m: 0.77").base_height == 0.77


def test_the_pedestal_reaches_from_the_robot_to_the_floor_and_moves_nothing(tmp_path):
    robot = arm(tmp_path, BOX)
    standing = on_pedestal(robot, 0.9)
    geometry = pin.buildGeomFromUrdfString(standing.model, standing.urdf_text, pin.GeometryType.COLLISION)
    (shape,) = [each for each in geometry.geometryObjects if each.name.startswith(PEDESTAL)]
    top = shape.placement.translation[2] + shape.geometry.halfLength
    bottom = shape.placement.translation[2] - shape.geometry.halfLength
    # The box' lower face is 0.2 m below the root link, the floor 0.9 m.
    assert top == pytest.approx(-0.2, abs=0.002)
    assert bottom == pytest.approx(-0.9, abs=0.002)
    assert bottom > -0.9
    # Half the narrower side of the box.
    assert shape.geometry.radius == pytest.approx(0.1)
    assert ("fore", PEDESTAL) in standing.self_collision_pairs
    q, v, a = np.array([0.3, -0.8]), np.array([1.0, 2.0]), np.array([-3.0, 1.0])
    torques = [pin.rnea(each.model, each.model.createData(), q, v, a) for each in (robot, standing)]
    np.testing.assert_allclose(*torques, atol=1e-12)


def test_no_pedestal_where_there_is_no_gap(tmp_path):
    robot = arm(tmp_path, BOX)
    assert on_pedestal(robot, 0.2) is robot
    assert on_pedestal(robot, 0.0) is robot
