"""Bones found by moving joints: centres, points and derivatives against Pinocchio."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import robot_parameters

from simbench.options import RetargetSection
from simbench.retargeting.imitate.problem import ImitationProblem, step_from
from simbench.retargeting.match.body import BONES, derive_points, match_body, place_points, zero_points
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES

MIDDLE = {
    "romeo": ("{}ElbowYaw", "{}KneePitch"),
    "mahru": ("{}ElbowPitch", "{}KneePitch"),
    "g1": ("{}_elbow_joint", "{}_knee_joint"),
    "talos": ("arm_{}_4_joint", "leg_{}_4_joint"),
}
"""Joints of the elbow and the knee by their makers' names."""
ROOTS = {"arm": ("shoulder", "elbow"), "leg": ("hip", "knee")}
LENGTH_CHANGE = {"g1": 0.1}
"""Largest relative change of a bone's length, where the axes at its beginning do not meet."""


@pytest.fixture(scope="module", params=robot_parameters(*MIDDLE))
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="module")
def body(robot):
    return match_body(robot)


def random_configurations(robot, count, seed, share=1.0):
    """Configurations (count, 7 + n), all joints inside their limits, the root anywhere."""
    rng = np.random.default_rng(seed)
    lower, upper = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    joints = rng.uniform(np.maximum(share * lower, -2.0), np.minimum(share * upper, 2.0), (count, len(lower)))
    quaternion = rng.normal(size=(count, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    return np.hstack([rng.normal(size=(count, 3)), quaternion, joints])


def test_the_joint_in_the_middle_of_a_limb_is_elbow_or_knee(robot, body):
    elbow, knee = MIDDLE[robot.name]
    for side in SIDES:
        letter = side[0].upper() if robot.name in ("romeo", "mahru") else side
        for limb, name in (("arm", elbow), ("leg", knee)):
            column, sign = body.flexion[f"{side}_{limb}"]
            assert robot.joint_names[column] == name.format(letter)
            # Turned that way, it brings the end nearer to the root.
            ends = (f"{side}_{ROOTS[limb][0]}", f"{side}_{'wrist' if limb == 'arm' else 'ankle'}")
            straight, bent = np.tile(pin.neutral(robot.model), (2, 1, 1))
            straight[:, 7 + column], bent[:, 7 + column] = 0.6 * sign, 1.2 * sign
            first, second = (
                np.linalg.norm(np.subtract(*(place_points(body, q).points[0, body.index(n)] for n in ends)))
                for q in (straight, bent)
            )
            assert second < first - 0.01


def test_points_are_on_the_links_of_pinocchio(robot, body):
    model, data = robot.model, robot.model.createData()
    for q in random_configurations(robot, 5, 1):
        found = place_points(body, q[None]).points[0]
        pin.framesForwardKinematics(model, data, q)
        carried = [data.oMi[int(k) + 1].act(p) for k, p in zip(body.body, body.position, strict=True)]
        np.testing.assert_allclose(found, carried, atol=1e-9)
        for side in SIDES:
            at = {name: data.oMf[model.getFrameId(frame)] for name, frame in robot.frames.items()}
            hand, foot = at[f"{side}_hand"], at[f"{side}_foot"]
            for name, place in (
                ("palm", hand.translation),
                ("fingers", hand.act(np.array([0.1, 0.0, 0.0]))),
                ("back", hand.act(np.array([0.0, 0.0, 0.1]))),
            ):
                np.testing.assert_allclose(found[body.index(f"{side}_{name}")], place, atol=1e-9)
            corners = np.array([foot.actInv(found[body.index(f"{side}_sole_{k}")]) for k in range(4)])
            sole = robot.soles[f"{side}_foot"]
            np.testing.assert_allclose(np.sort(corners[[0, 3], 0]), np.sort(sole[:, 0])[:2], atol=1e-9)
            np.testing.assert_allclose(np.sort(corners[[1, 2], 0]), np.sort(sole[:, 0])[2:], atol=1e-9)
            assert all(np.abs(sole - corner).sum(axis=1).min() < 1e-9 for corner in corners)


def test_bones_keep_their_length_and_their_ends_lie_on_the_axes(robot, body):
    model, data = robot.model, robot.model.createData()
    change = LENGTH_CHANGE.get(robot.name, 1e-4)
    q = random_configurations(robot, 200, 2)
    points = place_points(body, q).points
    for bone, (start, end) in BONES.items():
        for side in SIDES:
            a, b = (points[:, body.index(f"{side}_{name}")] for name in (start, end))
            length = np.linalg.norm(b - a, axis=1)
            if not (robot.name == "g1" and bone == "forearm"):
                assert np.ptp(length) < change * length.mean()
    for k in range(5):
        pin.forwardKinematics(model, data, q[k])
        for limb, (root, middle) in ROOTS.items():
            for side in SIDES:
                hinge = model.getJointId(robot.joint_names[body.flexion[f"{side}_{limb}"][0]])
                # Ends of the upper bone lie on the axes of the middle joint and of the first that swings it.
                group = robot.groups[f"{side}_{limb}"]
                first = model.getJointId(group[1 if (robot.name, limb) == ("talos", "arm") else 0])
                for point, joint in ((middle, hinge), (root, first)):
                    jacobian = pin.computeJointJacobians(model, data, q[k])
                    axis = jacobian[3:, model.joints[joint].idx_v]
                    away = np.cross(
                        points[k, body.index(f"{side}_{point}")] - data.oMi[joint].translation, axis
                    )
                    assert np.linalg.norm(away) < (0.02 if robot.name == "g1" else 1e-6)


def test_derivatives_are_those_of_finite_differences(robot, body):
    problem = ImitationProblem(body, None, RetargetSection())
    q = random_configurations(robot, 3, 3)
    placed = place_points(body, q)
    found = derive_points(body.tree, body.joints, problem.moves, placed)
    h, slope = 1e-6, np.empty_like(found)
    for column, step in enumerate(h * np.eye(problem.nv)):
        ahead, behind = (
            place_points(body, step_from(problem, q, s * np.tile(step, (3, 1)))).points for s in (1, -1)
        )
        slope[..., column] = (ahead - behind) / (2.0 * h)
    np.testing.assert_allclose(found, slope, atol=1e-8)


@pytest.mark.parametrize("robot", robot_parameters("mahru", "romeo", "g1"), indirect=True)
def test_other_names_in_the_urdf_and_another_order_of_joints_change_nothing(robot, body):
    root = ET.fromstring(robot.urdf_text)
    rng = np.random.default_rng(4)
    new = {}
    for kind in ("joint", "link"):
        names = sorted({each.get("name") for each in root.iter(kind) if each.get("name")})
        codes = rng.permutation(len(names))
        new[kind] = {name: f"{kind[0]}{code:03d}" for name, code in zip(names, codes, strict=True)}
    for each in root.iter():
        if each.tag in ("joint", "link") and each.get("name"):
            each.set("name", new[each.tag][each.get("name")])
        if each.tag in ("parent", "child") and each.get("link"):
            each.set("link", new["link"][each.get("link")])
        if each.tag == "mimic":
            each.set("joint", new["joint"][each.get("joint")])
    model = pin.buildModelFromXML(ET.tostring(root, encoding="unicode"), pin.JointModelFreeFlyer())
    joint_names = tuple(model.names[2:])
    assert sorted(joint_names) == sorted(new["joint"][name] for name in robot.joint_names)
    assert joint_names != tuple(new["joint"][name] for name in robot.joint_names)
    renamed = match_body(
        replace(
            robot,
            model=model,
            joint_names=joint_names,
            groups={key: tuple(new["joint"][name] for name in names) for key, names in robot.groups.items()},
            frames={key: new["link"][name] for key, name in robot.frames.items()},
            postures={},
        )
    )
    assert renamed.names == body.names
    found, expected = zero_points(renamed), zero_points(body)
    for name in body.names:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-9)
    for limb, (column, sign) in body.flexion.items():
        assert joint_names[renamed.flexion[limb][0]] == new["joint"][robot.joint_names[column]]
        assert renamed.flexion[limb][1] == sign
