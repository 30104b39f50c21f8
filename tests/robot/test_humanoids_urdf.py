"""The humanoids' built files: reproducible, light, and the same robots in PyBullet and Pinocchio."""

import numpy as np
import pinocchio as pin
import pybullet
import pytest
import trimesh
import yourdfpy

from simbench.robot.robot import Robot

# Joints of the left arm that hang the arms at the sides; Mahru's do at zero.
HANGING = {
    "romeo": {"LShoulderPitch": 1.77, "LShoulderYaw": -0.08, "LElbowRoll": -1.75, "LWristRoll": -0.23},
    "mahru": {},
}


def test_a_rebuild_gives_the_committed_files_byte_for_byte(humanoid: Robot, build_robots) -> None:
    assert build_robots.find_differences(humanoid.urdf.parent / "robot.yaml") == []


def test_meshes_are_light_and_have_normals(humanoid: Robot) -> None:
    texts = [path.read_text(encoding="utf-8") for path in humanoid.urdf.parent.glob("meshes/*.obj")]
    assert 500_000 < sum(map(len, texts)) < 2_000_000
    assert sum(text.count("\nf ") for text in texts) < 26_000
    assert all(text.count("\nvn ") == text.count("\nv ") + 1 for text in texts)


def test_collision_meshes_are_small_and_convex(humanoid: Robot) -> None:
    files = list(humanoid.urdf.parent.glob("meshes/*_collision*.obj"))
    assert len(files) >= 10
    for path in files:
        mesh = trimesh.load(path, process=False)
        mesh.merge_vertices(merge_norm=True)
        corners = np.unique(mesh.vertices, axis=0)
        assert len(corners) <= 42, path.name  # 40 on the rings and the middles of two flat ends
        assert mesh.is_watertight, path.name
        assert mesh.volume == pytest.approx(mesh.convex_hull.volume, rel=0.01), path.name


def test_yourdfpy_reads_the_whole_robot(humanoid: Robot) -> None:
    urdf = yourdfpy.URDF.load(
        str(humanoid.urdf), build_collision_scene_graph=True, load_collision_meshes=True
    )
    assert urdf.base_link == humanoid.frames["pelvis"]
    assert set(urdf.actuated_joint_names) == set(humanoid.joint_names)
    low, high = urdf.scene.bounds
    np.testing.assert_allclose(high[1], -low[1], atol=1e-4)


def test_bullet_has_the_masses_and_inertias_of_pinocchio(bullet) -> None:
    model, total = bullet.robot.model, 0.0
    for index, name in enumerate(model.names[1:], start=1):
        link = bullet.joints.get(name, -1)
        dynamics = pybullet.getDynamicsInfo(bullet.body, link, physicsClientId=bullet.client)
        inertia = model.inertias[index]
        assert dynamics[0] == pytest.approx(inertia.mass), name
        np.testing.assert_allclose(np.sort(dynamics[2]), np.linalg.eigvalsh(inertia.inertia), rtol=1e-3)
        total += dynamics[0]
    assert total == pytest.approx(pin.computeTotalMass(model))


def test_nothing_holds_the_base(bullet) -> None:
    for link in range(-1, len(bullet.joints)):
        pybullet.changeDynamics(
            bullet.body,
            link,
            linearDamping=0,
            angularDamping=0,
            jointDamping=0,
            physicsClientId=bullet.client,
        )
    pybullet.setGravity(0, 0, -9.81, physicsClientId=bullet.client)
    start = pybullet.getBasePositionAndOrientation(bullet.body, physicsClientId=bullet.client)[0][2]
    for _ in range(72):
        pybullet.stepSimulation(physicsClientId=bullet.client)
    end = pybullet.getBasePositionAndOrientation(bullet.body, physicsClientId=bullet.client)[0][2]
    # 0.3 s of free fall; a semi-implicit step of 1/240 s falls by one more half step of speed.
    assert start - end == pytest.approx(0.5 * 9.81 * 0.3 * (0.3 + 1 / 240), rel=1e-3)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("posture", ["basic", "standing", "hanging"])
def test_no_listed_pair_touches_in_rest_postures(bullet, posture: str, closed: bool) -> None:
    robot = bullet.robot
    if posture == "hanging":
        left = HANGING[robot.name]
        right = {f"R{name[1:]}": q * (1 if "Pitch" in name else -1) for name, q in left.items()}
        positions = left | right
    else:
        positions = dict(zip(robot.joint_names, robot.postures[posture], strict=True))
    bullet.pose(positions | (bullet.closed if closed else {}))
    gaps = {pair: bullet.gap(*pair) for pair in robot.self_collision_pairs}
    assert len(gaps) == len(robot.self_collision_pairs)
    assert min(gaps.values()) > 0.01


def test_foot_touches_the_floor_with_exactly_the_sole(humanoid: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(humanoid.urdf), load_meshes=False)
    for side in ("left", "right"):
        fixed = urdf.joint_map[f"{humanoid.frames[f'{side}_foot']}_joint"]
        foot = urdf.link_map[fixed.parent].collisions
        assert len(foot) == 1
        center, size = foot[0].origin[:3, 3], np.array(foot[0].geometry.box.size)
        sole = humanoid.soles[f"{side}_foot"] + fixed.origin[:3, 3]
        np.testing.assert_allclose(center - size / 2, sole.min(axis=0), atol=1e-9)
        np.testing.assert_allclose((center + size / 2)[:2], sole.max(axis=0)[:2], atol=1e-9)
