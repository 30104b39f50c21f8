"""URDFs that cannot be simulated: each is refused in one line; massless links that only look so are not."""

import numpy as np
import pinocchio as pin
import pybullet
import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.robot.urdf.source import build_model, read_urdf, reduce_model

link, joint, mesh, robot, write = texts.link, texts.joint, texts.mesh, texts.robot, texts.write

BASE, ARM = link("base"), link("arm")
GOOD = joint("elbow", "base", "arm")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<robot", "not XML: "),
        ("<sdf/>", "expected <robot> or <mujoco> as the outermost element, found <sdf>"),
        ("<robot name='a'/>", "has no <link>"),
        (
            '<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:property name="a" value="1"/></robot>',
            "has no <link>",
        ),
        (
            robot(BASE, ARM, joint("ball", "base", "arm", "spherical")),
            "joint `ball`: type `spherical` is not",
        ),
        (
            robot(BASE, ARM, joint("odd", "base", "arm", "hinge")),
            "joint `odd`: unknown type `hinge`; allowed: rev",
        ),
        (robot(BASE, ARM), "links `base`, `arm`: have no parent; exactly one root is allowed"),
        (robot(BASE, BASE), "link `base`: 2 have this name"),
        (robot(BASE, ARM, link("b"), GOOD, joint("elbow", "arm", "b")), "joint `elbow`: 2 have this name"),
        (
            robot(BASE, joint("elbow", "base", "hand")),
            "joint `elbow`: child `hand` is not a link of this file",
        ),
        (robot(BASE, ARM, joint("elbow", "", "arm")), "joint `elbow`: names no parent link"),
        (robot(BASE, "<link/>"), "link: 1 without a name"),
        (
            robot(BASE, ARM, link("b"), GOOD, joint("to_b", "base", "b"), joint("shut", "b", "arm")),
            r"link `arm`: is the child of several joints (elbow, shut); closed loops",
        ),
        (
            robot(BASE, ARM, link("b"), joint("to_b", "arm", "b"), joint("back", "b", "arm")),
            "links `arm`, `b`: form a loop that hangs on no root",
        ),
        (robot(BASE, ARM, joint("elbow", "base", "arm", axis="0 0 0")), "joint `elbow`: axis has no length"),
        (
            robot(BASE, ARM, joint("root_joint", "base", "arm")),
            "joint `root_joint`: Pinocchio keeps this name",
        ),
        (robot(BASE, link("arm", -1.0), GOOD), "link `arm`: mass -1 kg is negative"),
        (
            robot(BASE, ARM, joint("elbow", "base", "arm", xyz="0 1")),
            'joint `elbow`: origin: xyz="0 1" is not 3 fi',
        ),
        (
            robot(link("base", inside="<visual><geometry><sphere/></geometry></visual>")),
            "link `base`: visual: `radius` is missing",
        ),
        (
            robot('<link name="base"><inertial><mass value="1"/></inertial></link>'),
            "inertia: `ixx` is missing",
        ),
        (
            robot(link("base", None), ARM, GOOD),
            "root link `base`: has no mass, nor has a link fixed to it: it could not float",
        ),
    ],
)
def test_refusals_are_one_line_with_file_and_element(tmp_path, content, message):
    path = tmp_path / "robot.urdf"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RobotError) as caught:
        read_urdf(path, floating=True)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_links_without_mass_between_moving_ones_are_fine(tmp_path, load_text):
    """Two axes in one point, as a wrist has; Bullet accelerates as Pinocchio says."""
    urdf = write(
        tmp_path,
        link("base"),
        link("cross", None),
        link("arm", cog="0.1 0 -0.4"),
        joint("first", "base", "cross", axis="1 0 0"),
        joint("second", "cross", "arm", axis="0 1 0", xyz="0 0 0"),
    )
    made, _ = read_urdf(urdf, floating=False)
    body, client = load_text(made, useFixedBase=True)
    model = pin.buildModelFromXML(made)
    q, step = np.array([0.5, 0.3]), 1e-4
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    pybullet.setTimeStep(step, physicsClientId=client)
    for index in (0, 1):
        pybullet.resetJointState(body, index, q[index], physicsClientId=client)
        pybullet.setJointMotorControl2(
            body, index, pybullet.VELOCITY_CONTROL, force=0, physicsClientId=client
        )
        pybullet.changeDynamics(body, index, linearDamping=0, angularDamping=0, physicsClientId=client)
    pybullet.stepSimulation(physicsClientId=client)
    speeds = [pybullet.getJointState(body, index, physicsClientId=client)[1] for index in (0, 1)]
    expected = pin.aba(model, model.createData(), q, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(np.array(speeds) / step, expected, rtol=1e-4)


@pytest.mark.parametrize("arm", [link("arm", None), link("arm", 1.0, (0, 0, 0), cog="0 1 0")])
def test_a_joint_that_moves_no_inertia_is_fixed_and_said(tmp_path, arm):
    urdf = write(tmp_path, BASE, arm, GOOD, link("hand"), joint("wrist", "base", "hand"))
    made, notes = read_urdf(urdf, floating=False)
    assert notes[-1] == "joints `elbow`: move links without mass and inertia only; fixed"
    assert list(pin.buildModelFromXML(made).names) == ["universe", "wrist"]


def test_a_model_whose_joints_have_the_names_of_links_is_reduced(tmp_path):
    links = [link("base"), link("arm"), link("hand")]
    texts = [
        (*links, joint(first, "base", "arm"), joint(second, "arm", "hand", axis="1 0 0"))
        for first, second in (("arm", "hand"), ("elbow", "wrist"))
    ]
    reduced = []
    for text in texts:
        urdf = write(tmp_path, *text)
        model = build_model(read_urdf(urdf, floating=False)[0], urdf)
        reduced.append(reduce_model(model, [1], np.array([0.7, 0.0])))
    names = [frame.name for frame in reduced[0].frames]
    assert "hand" in names
    assert "hand (joint)" in names
    hands = []
    for model in reduced:
        data = model.createData()
        pin.framesForwardKinematics(model, data, np.array([0.3]))
        hands.append(data.oMf[model.getFrameId("hand", pin.FrameType.BODY)].homogeneous)
    np.testing.assert_allclose(hands[0], hands[1], atol=1e-12)
