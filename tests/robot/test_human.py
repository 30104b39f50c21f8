"""The human robot: masses, posture, inertia matrix and files against computations of their own."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pytest
import trimesh
from numpy.typing import NDArray

from simbench.robot.anthropometry import average_measures
from simbench.robot.body_segments import HanavanBody, segment_inertia
from simbench.robot.dh import link_name, table_model
from simbench.robot.human import Human, write_human
from simbench.robot.human_skeleton import CARRIERS, basic_placements, skeleton_lengths
from simbench.robot.sides import SIDES

Array = NDArray[np.float64]

MIRROR = np.diag([1.0, -1.0, 1.0])
PEOPLE = {"female": (1.63, 62.0), "male": (1.755, 78.5)}


def build(sex: str) -> Human:
    stature, mass = PEOPLE[sex]
    measures = average_measures(sex, stature, mass)
    return Human(HanavanBody(measures, mass), skeleton_lengths(measures, stature))


@pytest.fixture(scope="module", params=PEOPLE)
def human(request: pytest.FixtureRequest) -> Human:
    return build(request.param)


def stature(human: Human) -> float:
    return next(height for height, mass in PEOPLE.values() if mass == human.body.mass)


def configurations(human: Human, count: int) -> list[Array]:
    model, rng = human.robot.model, np.random.default_rng(7)
    lower, upper = model.lowerPositionLimit.copy(), model.upperPositionLimit.copy()
    lower[:7], upper[:7] = -1.0, 1.0
    return [pin.normalize(model, rng.uniform(lower, upper)) for _ in range(count)]


def placed(human: Human, q: Array) -> dict[str, pin.SE3]:
    """Segments in the world, carried rigidly from their place in the basic configuration."""
    model = human.robot.model
    basic, data = model.createData(), model.createData()
    pin.forwardKinematics(model, basic, pin.neutral(model))
    pin.forwardKinematics(model, data, q)
    places = {}
    for name, place in basic_placements(
        human.body, skeleton_lengths(human.body.measures, stature(human))
    ).items():
        joint = model.getJointId("root_joint" if CARRIERS[name] == "base" else CARRIERS[name])
        places[name] = data.oMi[joint] * basic.oMi[joint].actInv(place)
    return places


def with_posture(human: Human, posture: str) -> Array:
    q = pin.neutral(human.robot.model)
    q[7:] = human.robot.postures[posture]
    return q


def test_model_has_the_thesis_coordinates_and_the_whole_mass(human: Human) -> None:
    model = human.robot.model
    assert model.nv == 25
    assert pin.computeTotalMass(model) == pytest.approx(human.body.mass, abs=1e-9)
    grouped = [name for names in human.robot.groups.values() for name in names]
    assert sorted(grouped) == sorted(human.robot.joint_names)
    bodies = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    assert set(human.robot.frames.values()) <= bodies
    np.testing.assert_array_equal(model.armature, 0)


def test_basic_posture_reaches_forward_with_the_palms_down(human: Human) -> None:
    height = stature(human)
    model, data = human.robot.model, human.robot.model.createData()
    pin.framesForwardKinematics(model, data, with_posture(human, "basic"))
    for side, sign in (("left", 1), ("right", -1)):
        hand = data.oMf[model.getFrameId(human.robot.frames[f"{side}_hand"])]
        # Drillis & Contini: upper arm 0.186, forearm 0.146, half shoulder width 0.129, shoulder 0.818 and hip
        # 0.530 of stature; the palm 0.09 m before the wrist and 0.02 m below it.
        expected = [0.332 * height + 0.09, sign * 0.129 * height, 0.288 * height - 0.02]
        np.testing.assert_allclose(hand.translation, expected, atol=1e-9)
        np.testing.assert_allclose(hand.rotation, np.eye(3), atol=1e-9)
    for role in ("pelvis", "trunk"):
        frame = data.oMf[model.getFrameId(human.robot.frames[role])]
        np.testing.assert_allclose(frame.homogeneous, np.eye(4), atol=1e-12)


def test_standing_cog_lies_at_56_percent_of_the_stature(human: Human) -> None:
    model = human.robot.model
    cog = pin.centerOfMass(model, model.createData(), with_posture(human, "standing"))
    # The sole and the vertex are the lowest and the highest point of the meshes; the head is level.
    sole = human.meshes["base"].bounds[0][2]
    data = model.createData()
    pin.forwardKinematics(model, data, with_posture(human, "standing"))
    skull = human.meshes["HeadRoll"].copy()
    skull.apply_transform(data.oMi[model.getJointId("HeadRoll")].homogeneous)
    assert skull.bounds[1][2] - sole == pytest.approx(stature(human), abs=0.01)
    # Published centres of mass of standing adults: 0.55 (women) to 0.57 (men) of stature.
    assert 0.54 < (cog[2] - sole) / stature(human) < 0.58
    assert cog[0] == pytest.approx(0, abs=0.02)
    assert cog[1] == pytest.approx(0, abs=1e-9)


def test_kinetic_energy_is_the_sum_over_the_segments(human: Human) -> None:
    model, rng = human.robot.model, np.random.default_rng(11)
    for q in configurations(human, 5):
        v = rng.uniform(-1, 1, 25)
        step = 1e-6
        now = placed(human, q)
        after = placed(human, pin.integrate(model, q, step * v))
        before = placed(human, pin.integrate(model, q, -step * v))
        energy = 0.0
        for name, segment in human.body.segments.items():
            inertia = segment_inertia(segment)
            velocity = (after[name].act(inertia.lever) - before[name].act(inertia.lever)) / (2 * step)
            omega = pin.log3(before[name].rotation.T @ after[name].rotation) / (2 * step)
            energy += 0.5 * segment.mass * velocity @ velocity + 0.5 * omega @ inertia.inertia @ omega
        inertia_matrix = pin.crba(model, model.createData(), q)
        assert 0.5 * v @ inertia_matrix @ v == pytest.approx(energy, rel=1e-6)
        assert len(now) == 16


def test_inertia_matrix_is_positive_definite_everywhere(human: Human) -> None:
    model, data = human.robot.model, human.robot.model.createData()
    # Also where the axes of shoulder pitch and elbow roll are parallel.
    sideways = pin.neutral(model)
    sideways[model.joints[model.getJointId("LShoulderYaw")].idx_q] = np.pi / 2
    for q in (sideways, *configurations(human, 100)):
        assert np.linalg.eigvalsh(pin.crba(model, data, q))[0] > 1e-5


def test_mirrored_motion_has_the_same_energy(human: Human) -> None:
    model, rng = human.robot.model, np.random.default_rng(13)
    for q in configurations(human, 5):
        v = rng.uniform(-1, 1, 25)
        mirrored_q, mirrored_v = np.zeros(26), np.zeros(25)
        root = pin.XYZQUATToSE3(q[:7])
        image = pin.SE3(MIRROR @ root.rotation @ MIRROR, MIRROR @ root.translation)
        mirrored_q[:7] = pin.SE3ToXYZQUAT(image)
        mirrored_v[:6] = v[:6] * [1, -1, 1, -1, 1, -1]
        for name in human.robot.joint_names:
            other = {"L": "R", "R": "L"}.get(name[0], name[0]) + name[1:]
            sign = 1 if name.endswith("Pitch") else -1
            here, there = (model.joints[model.getJointId(joint)] for joint in (name, other))
            mirrored_q[there.idx_q], mirrored_v[there.idx_v] = sign * q[here.idx_q], sign * v[here.idx_v]
            low, high = model.lowerPositionLimit[here.idx_q], model.upperPositionLimit[here.idx_q]
            assert model.lowerPositionLimit[there.idx_q] == pytest.approx(low if sign > 0 else -high)
        energy = pin.computeKineticEnergy(model, model.createData(), q, v)
        mirrored = pin.computeKineticEnergy(model, model.createData(), mirrored_q, mirrored_v)
        assert mirrored == pytest.approx(energy, rel=1e-9)


def test_ergonomic_posture_of_the_thesis_is_within_the_limits(human: Human) -> None:
    # Tomić (2018), §4.1, degrees; the right elbow yaw with the sign of the mirrored left one.
    joints = ("ShoulderPitch", "ShoulderYaw", "ElbowRoll", "ElbowYaw", "WristRoll", "WristYaw", "WristPitch")
    model = human.robot.model
    for prefix, angles in (("L", (20, 5, 10, -80, 30, 0, 15)), ("R", (20, -5, -10, 80, -30, 0, 15))):
        for name, angle in zip(joints, np.radians(angles), strict=True):
            index = model.joints[model.getJointId(prefix + name)].idx_q
            assert model.lowerPositionLimit[index] <= angle <= model.upperPositionLimit[index], name


def test_the_table_on_a_fixed_root_has_the_same_joint_inertia(human: Human) -> None:
    direct = table_model(human.table, human.inertias)
    model, q = human.robot.model, configurations(human, 1)[0]
    fixed = np.zeros(direct.nq)
    order = []
    for name in direct.names[1:]:
        fixed[direct.joints[direct.getJointId(name)].idx_q] = q[model.joints[model.getJointId(name)].idx_q]
        order.append(model.joints[model.getJointId(name)].idx_v)
    whole = pin.crba(model, model.createData(), q)
    np.testing.assert_allclose(
        pin.crba(direct, direct.createData(), fixed), whole[np.ix_(order, order)], atol=1e-9
    )


def test_written_person_reads_back_with_meshes_in_place(human: Human, tmp_path: Path) -> None:
    path = write_human(human, tmp_path).urdf
    model, read = human.robot.model, pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    q = configurations(human, 1)[0]
    np.testing.assert_allclose(
        pin.crba(read, read.createData(), q), pin.crba(model, model.createData(), q), atol=1e-9
    )
    shapes = pin.buildGeomFromUrdf(read, str(path), pin.GeometryType.VISUAL, package_dirs=[str(tmp_path)])
    assert shapes.ngeoms == 9
    data, shape_data = read.createData(), shapes.createData()
    pin.updateGeometryPlacements(read, data, shapes, shape_data, q)
    places = placed(human, q)
    drawn = {}
    for shape, place in zip(shapes.geometryObjects, shape_data.oMg, strict=True):
        mesh = trimesh.load(shape.meshPath, process=False)
        drawn[Path(shape.meshPath).stem] = mesh.apply_transform(place.homogeneous)
    for side in SIDES:
        hand = human.body.segments[f"{side}_hand"].solid
        centre = places[f"{side}_hand"].act(np.array([0.0, 0.0, hand.c]))
        fist = drawn[link_name(side[0].upper() + "WristPitch")]
        np.testing.assert_allclose(fist.bounds.mean(axis=0), centre, atol=1e-3)


def test_bullet_shows_the_person(tmp_path: Path) -> None:
    human = build("female")
    path = write_human(human, tmp_path).urdf
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(str(path), flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client)
        joints = range(-1, pybullet.getNumJoints(body, physicsClientId=client))
        masses = [pybullet.getDynamicsInfo(body, link, physicsClientId=client)[0] for link in joints]
        assert sum(masses) == pytest.approx(62.0, abs=1e-6)
        shapes = pybullet.getVisualShapeData(body, physicsClientId=client)
        assert sum(shape[2] == pybullet.GEOM_MESH for shape in shapes) == 9
    finally:
        pybullet.disconnect(client)


def test_who_stands_has_hanging_arms_with_the_wrists_below_the_shoulders(human: Human) -> None:
    model = human.robot.model
    data = model.createData()
    q = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], human.robot.postures["standing"]])
    pin.framesForwardKinematics(model, data, q)
    for side in SIDES:
        shoulder, wrist = (
            data.oMf[model.getFrameId(human.robot.frames[f"{side}_{joint}"])].translation
            for joint in ("shoulder", "wrist")
        )
        down = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        assert down[2] == pytest.approx(-1.0, abs=1e-3)
