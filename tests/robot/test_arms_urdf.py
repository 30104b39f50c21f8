"""Built files of the arms on a stand: reproducible, light, and the same robot in PyBullet and Pinocchio."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pybullet
import pytest
import trimesh
import yourdfpy

from simbench.robot.robot import Robot, load_robot

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_robots.py"


@pytest.fixture(scope="module", params=["puma560", "direct_drive_arm"])
def arm(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


class Bullet:
    """An arm alone in a PyBullet world, its root fixed."""

    def __init__(self, robot: Robot) -> None:
        self.client = pybullet.connect(pybullet.DIRECT)
        self.body = pybullet.loadURDF(
            str(robot.urdf),
            useFixedBase=True,
            flags=pybullet.URDF_USE_INERTIA_FROM_FILE,
            physicsClientId=self.client,
        )
        infos = [
            pybullet.getJointInfo(self.body, i, physicsClientId=self.client)
            for i in range(pybullet.getNumJoints(self.body, physicsClientId=self.client))
        ]
        self.joints = [{info[1].decode(): info[0] for info in infos}[name] for name in robot.joint_names]
        self.links = {robot.frames["trunk"]: -1} | {info[12].decode(): info[0] for info in infos}
        chain = list(self.links)[: len(self.joints) + 1]
        # Pairs that no joint connects, the one nearer to the root first.
        self.apart = [(near, far) for i, near in enumerate(chain) for far in chain[i + 2 :]]

    def pose(self, positions: np.ndarray) -> None:
        for joint, position in zip(self.joints, positions, strict=True):
            pybullet.resetJointState(self.body, joint, position, physicsClientId=self.client)

    def gap(self, link: str, other: str) -> float:
        """Smallest distance of two links, 1 m at most."""
        points = pybullet.getClosestPoints(
            self.body, self.body, 1.0, self.links[link], self.links[other], physicsClientId=self.client
        )
        return min(point[8] for point in points) if points else 1.0


@pytest.fixture
def bullet(arm: Robot) -> Iterator[Bullet]:
    world = Bullet(arm)
    yield world
    pybullet.disconnect(world.client)


def test_a_rebuild_gives_the_committed_files_byte_for_byte(arm: Robot) -> None:
    spec = importlib.util.spec_from_file_location("build_robots", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.differences(arm.urdf.parent / "robot.yaml") == []


def test_meshes_are_light_and_have_normals(arm: Robot) -> None:
    texts = [path.read_text(encoding="utf-8") for path in arm.urdf.parent.glob("meshes/*.obj")]
    assert 0 < sum(map(len, texts)) < 1e6
    assert sum(text.count("\nf ") for text in texts) < 12_000
    assert all(text.count("\nvn ") == text.count("\nv ") + 1 for text in texts)


def test_every_moving_link_is_seen_and_felt(arm: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(arm.urdf), load_meshes=False)
    for name, link in urdf.link_map.items():
        assert bool(link.visuals) == bool(link.collisions) == (link.inertial.mass > 0), name


def test_collision_meshes_are_small_and_convex(arm: Robot) -> None:
    files = list(arm.urdf.parent.glob("meshes/*_collision*.obj"))
    assert len(files) >= 5
    for path in files:
        mesh = trimesh.load(path, process=False)
        mesh.merge_vertices(merge_norm=True)
        corners = np.unique(mesh.vertices, axis=0)
        assert len(corners) <= 42, path.name
        assert mesh.is_watertight, path.name
        assert mesh.volume == pytest.approx(mesh.convex_hull.volume, rel=0.01), path.name


def test_bullet_has_the_masses_and_inertias_of_pinocchio(arm: Robot, bullet: Bullet) -> None:
    for joint, inertia in zip(bullet.joints, arm.model.inertias[1:], strict=True):
        dynamics = pybullet.getDynamicsInfo(bullet.body, joint, physicsClientId=bullet.client)
        assert dynamics[0] == pytest.approx(inertia.mass)
        np.testing.assert_allclose(np.sort(dynamics[2]), np.linalg.eigvalsh(inertia.inertia), rtol=1e-3)


def test_arm_stands_on_the_floor_and_ends_where_its_lengths_say(arm: Robot) -> None:
    urdf = yourdfpy.URDF.load(str(arm.urdf))
    low, high = urdf.scene.bounds
    assert low[2] == pytest.approx(0, abs=1e-6)
    if arm.name == "puma560":
        # Zero position: forearm and flange straight up from the elbow.
        assert high[2] == pytest.approx(0.672 + 0.4331 + 0.05625, abs=1e-5)
    else:
        # 46 mm of link 2 beyond the tip.
        assert high[0] == pytest.approx(0.25 + 0.30 + 0.046, abs=1e-5)


def test_nothing_touches_in_postures_or_on_a_sweep_from_ready(arm: Robot, bullet: Bullet) -> None:
    ready = arm.postures["ready"]
    below, above = ready - arm.model.lowerPositionLimit, arm.model.upperPositionLimit - ready
    side = np.where(above >= below, 1.0, -1.0)
    sweep = [ready + side * share for share in np.linspace(0, 1, 21)]
    for positions in [*arm.postures.values(), *sweep]:
        bullet.pose(positions)
        gaps = {pair: bullet.gap(*pair) for pair in bullet.apart}
        assert min(gaps.values()) > 0
        assert all(gaps[near, far] > 0.3 for far, near in arm.self_collision_pairs)


def test_exactly_the_listed_pairs_can_meet(arm: Robot, bullet: Bullet) -> None:
    random, meet = np.random.default_rng(7), set()
    for _ in range(1500):
        bullet.pose(random.uniform(arm.model.lowerPositionLimit, arm.model.upperPositionLimit))
        meet |= {pair for pair in bullet.apart if bullet.gap(*pair) < 0}
    assert meet == {(first, second) for second, first in arm.self_collision_pairs}
