"""ROMEO's built files: reproducible, light, and the same robot in PyBullet, Pinocchio and yourdfpy."""

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin
import pybullet
import pytest
import trimesh
import yourdfpy

from simbench.resources import resource_dir
from simbench.robot.robot import Robot

ROMEO = resource_dir("robots") / "romeo"
SCRIPT = Path(__file__).parents[2] / "scripts" / "build_robots.py"


class Bullet:
    """ROMEO alone in a PyBullet world, with free base."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.client = pybullet.connect(pybullet.DIRECT)
        self.body = pybullet.loadURDF(
            str(robot.urdf), [0, 0, 2], flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=self.client
        )
        infos = [
            pybullet.getJointInfo(self.body, i, physicsClientId=self.client)
            for i in range(pybullet.getNumJoints(self.body, physicsClientId=self.client))
        ]
        self.joints = {info[1].decode(): info[0] for info in infos}
        self.links = {"body": -1} | {info[12].decode(): info[0] for info in infos}

    def pose(self, positions: dict[str, float]) -> None:
        for joint, index in self.joints.items():
            pybullet.resetJointState(self.body, index, positions.get(joint, 0.0), physicsClientId=self.client)

    def gap(self, link: str, other_link: str, body: int | None = None) -> float:
        """Smallest distance of two links, 1 m at most; of a link and another body if one is given."""
        points = pybullet.getClosestPoints(
            self.body,
            self.body if body is None else body,
            1.0,
            self.links[link],
            self.links[other_link] if body is None else -1,
            physicsClientId=self.client,
        )
        return min(point[8] for point in points)


@pytest.fixture
def bullet(romeo: Robot) -> Iterator[Bullet]:
    world = Bullet(romeo)
    yield world
    pybullet.disconnect(world.client)


def test_a_rebuild_gives_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("build_robots", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.differences(ROMEO / "robot.yaml") == []

    copy = shutil.copytree(ROMEO, tmp_path / "romeo")
    text = (copy / "robot.yaml").read_text(encoding="utf-8")
    (copy / "robot.yaml").write_text(text.replace("mass: 9.9216", "mass: 9.9"), encoding="utf-8")
    (copy / "meshes" / "tail.obj").write_text("v 0 0 0\n", encoding="utf-8")
    assert script.differences(copy / "robot.yaml") == ["meshes/tail.obj", "romeo.urdf"]
    script.build(copy / "robot.yaml", copy)
    assert script.differences(copy / "robot.yaml") == []


def test_meshes_are_light_and_have_normals() -> None:
    files = list(ROMEO.glob("meshes/*.obj"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert sum(map(len, texts)) < 2e6
    assert sum(text.count("\nf ") for text in texts) < 26_000
    assert all(text.count("\nvn ") == text.count("\nv ") + 1 for text in texts)


def test_collision_meshes_are_small_and_convex() -> None:
    files = list(ROMEO.glob("meshes/*_collision*.obj"))
    assert len(files) >= 10
    for path in files:
        mesh = trimesh.load(path, process=False)
        mesh.merge_vertices(merge_norm=True)
        corners = np.unique(mesh.vertices, axis=0)
        assert len(corners) <= 42, path.name  # 40 on the rings and the middles of two flat ends
        assert mesh.is_watertight, path.name
        assert mesh.volume == pytest.approx(mesh.convex_hull.volume, rel=0.01), path.name


def test_yourdfpy_reads_the_whole_robot(romeo: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(romeo.urdf), build_collision_scene_graph=True, load_collision_meshes=True)
    assert urdf.base_link == "body"
    assert set(urdf.actuated_joint_names) == set(romeo.joint_names)
    low, high = urdf.scene.bounds
    # Legs, trunk, neck and head at zero position; the arms reach forward, the shoulders are the widest part.
    assert high[2] - low[2] == pytest.approx(1.40, abs=0.01)
    assert low[2] == pytest.approx(-0.87844, abs=1e-5)
    assert high[0] == pytest.approx(0.3923 + 0.118 + 0.075, abs=0.002)
    np.testing.assert_allclose(high[1], -low[1], atol=1e-4)


def test_bullet_has_the_masses_and_inertias_of_pinocchio(romeo: Robot, bullet: Bullet) -> None:
    total = 0.0
    for index, name in enumerate(romeo.model.names[1:], start=1):
        link = bullet.joints.get(name, -1)
        dynamics = pybullet.getDynamicsInfo(bullet.body, link, physicsClientId=bullet.client)
        inertia = romeo.model.inertias[index]
        assert dynamics[0] == pytest.approx(inertia.mass), name
        np.testing.assert_allclose(np.sort(dynamics[2]), np.linalg.eigvalsh(inertia.inertia), rtol=1e-3)
        total += dynamics[0]
    assert total == pytest.approx(40.52937)


def test_nothing_holds_the_base(bullet: Bullet) -> None:
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


HANGING = {"ShoulderPitch": 1.77, "ShoulderYaw": -0.08, "ElbowRoll": -1.75, "WristRoll": -0.23}


@pytest.mark.parametrize("grip", [0.0, 1.7])
@pytest.mark.parametrize("posture", ["basic", "standing", "hanging"])
def test_no_listed_pair_touches_in_rest_postures(bullet: Bullet, posture: str, grip: float) -> None:
    robot = bullet.robot
    if posture == "hanging":
        left = {f"L{joint}": position for joint, position in HANGING.items()}
        right = {
            f"R{joint}": position * (1 if "Pitch" in joint else -1) for joint, position in HANGING.items()
        }
        positions = left | right
    else:
        positions = dict(zip(robot.joint_names, robot.postures[posture], strict=True))
    bullet.pose(positions | {"LHand": grip, "RHand": grip})
    gaps = {pair: bullet.gap(*pair) for pair in robot.self_collision_pairs}
    assert len(gaps) == len(robot.self_collision_pairs)
    assert min(gaps.values()) > 0.01


def test_foot_touches_the_floor_with_exactly_the_sole(romeo: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(romeo.urdf), load_meshes=False)
    foot = urdf.link_map["l_ankle"].collisions
    assert len(foot) == 1
    center, size = foot[0].origin[:3, 3], np.array(foot[0].geometry.box.size)
    sole = romeo.soles["left_foot"] + [0, 0, -0.0684]
    np.testing.assert_allclose(center - size / 2, sole.min(axis=0), atol=1e-9)
    np.testing.assert_allclose((center + size / 2)[:2], sole.max(axis=0)[:2], atol=1e-9)


def test_a_panel_held_at_15_degrees_fits_between_thumb_and_closing_fingers(
    romeo: Robot, bullet: Bullet
) -> None:
    bullet.pose({})
    panel = pybullet.createMultiBody(
        0,
        pybullet.createCollisionShape(
            pybullet.GEOM_BOX, halfExtents=[0.009, 0.1, 0.05], physicsClientId=bullet.client
        ),
        physicsClientId=bullet.client,
    )
    data = romeo.model.createData()
    pin.framesForwardKinematics(romeo.model, data, pin.neutral(romeo.model))
    palm = data.oMf[romeo.model.getFrameId("l_palm")].translation + np.array([0, 0, 2])
    # The panel's middle is under the palm centre, its edge just under the palm.
    at = palm - [0, 0, 0.0525]
    turned = [0, 0, np.sin(np.radians(7.5)), np.cos(np.radians(7.5))]
    pybullet.resetBasePositionAndOrientation(panel, at, turned, physicsClientId=bullet.client)
    assert bullet.gap("l_wrist", "", panel) == pytest.approx(0.0025, abs=0.001)
    gaps = {}
    for grip in (0.0, 1.0, 1.3, 1.5708):
        bullet.pose({"LHand": grip})
        gaps[grip] = bullet.gap("l_fingers", "", panel)
    assert gaps[0.0] > 0.01
    assert list(gaps.values()) == sorted(gaps.values(), reverse=True)
    assert 0.0 < gaps[1.5708] < 0.005
    bullet.pose({"LHand": 1.7})
    assert bullet.gap("l_fingers", "", panel) < 0
