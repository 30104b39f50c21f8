"""Built files of the arms on a stand: reproducible, light, and the same robot in PyBullet and Pinocchio."""

import numpy as np
import pybullet
import pytest
import trimesh
import yourdfpy

from simbench.robot.robot import Robot


def test_a_rebuild_gives_the_committed_files_byte_for_byte(arm: Robot, build_robots) -> None:
    assert build_robots.find_differences(arm.urdf.parent / "robot.yaml") == []


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


def test_bullet_has_the_masses_and_inertias_of_pinocchio(arm: Robot, arm_in_bullet) -> None:
    for name, inertia in zip(arm.joint_names, arm.model.inertias[1:], strict=True):
        dynamics = pybullet.getDynamicsInfo(
            arm_in_bullet.body, arm_in_bullet.joints[name], physicsClientId=arm_in_bullet.client
        )
        assert dynamics[0] == pytest.approx(inertia.mass), name
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


def gaps(arm: Robot, arm_in_bullet, positions: np.ndarray) -> dict[tuple[str, str], float]:
    """Distances, 1 m at most, of all links that no joint connects, the one nearer to the root first."""
    arm_in_bullet.pose(dict(zip(arm.joint_names, positions, strict=True)))
    chain = list(arm_in_bullet.links)[: len(arm.joint_names) + 1]
    pairs = [(near, far) for i, near in enumerate(chain) for far in chain[i + 2 :]]
    return {pair: arm_in_bullet.gap(*pair) for pair in pairs}


def test_nothing_touches_in_postures_or_on_a_sweep_from_ready(arm: Robot, arm_in_bullet) -> None:
    ready = arm.postures["ready"]
    below, above = ready - arm.model.lowerPositionLimit, arm.model.upperPositionLimit - ready
    side = np.where(above >= below, 1.0, -1.0)
    sweep = [ready + side * share for share in np.linspace(0, 1, 21)]
    for positions in [*arm.postures.values(), *sweep]:
        distances = gaps(arm, arm_in_bullet, positions)
        assert min(distances.values()) > 0
        assert all(distances[near, far] > 0.3 for far, near in arm.self_collision_pairs)


def test_exactly_the_listed_pairs_can_meet(arm: Robot, arm_in_bullet) -> None:
    random, meet = np.random.default_rng(7), set()
    for _ in range(1500):
        positions = random.uniform(arm.model.lowerPositionLimit, arm.model.upperPositionLimit)
        meet |= {pair for pair, distance in gaps(arm, arm_in_bullet, positions).items() if distance < 0}
    assert meet == {(near, far) for far, near in arm.self_collision_pairs}
