"""Mahru's description: published height, mass and joints; inertia and kinematics computed anew."""

import re

import numpy as np
import pinocchio as pin
import pytest
import trimesh

from simbench.robot.robot import Robot

SOLID = re.compile(r"^    # (box|cylinder [xyz]) (\S+) kg, (\S+(?: x \S+)*), at (\S+) (\S+) ([^\s:]+)")


def solids_by_link(robot: Robot) -> dict[str, list[trimesh.Trimesh]]:
    """Solids that robot.yaml lists under each link, as meshes with their mass."""
    solids: dict[str, list[trimesh.Trimesh]] = {}
    link = ""
    for line in (robot.urdf.parent / "robot.yaml").read_text(encoding="utf-8").splitlines():
        if row := re.match(r"^  (\w+): \{mass: ", line):
            link = row[1]
        elif solid := SOLID.match(line):
            size = [float(value) for value in solid[3].split(" x ")]
            if solid[1] == "box":
                mesh = trimesh.creation.box(size)
            else:
                mesh = trimesh.creation.cylinder(size[0] / 2, size[1], sections=256)
                turn = {"x": (0, 1, 0), "y": (1, 0, 0), "z": (0, 0, 1)}[solid[1][-1]]
                mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, turn))
            mesh.apply_translation([float(solid[axis]) for axis in (4, 5, 6)])
            mesh.density = float(solid[2]) / mesh.volume
            solids.setdefault(link, []).append(mesh)
    return solids


def inertia_of(robot: Robot, link: str) -> pin.Inertia:
    return robot.model.inertias[robot.model.frames[robot.model.getFrameId(link)].parentJoint]


def test_total_mass_is_the_published_one(mahru: Robot) -> None:
    assert pin.computeTotalMass(mahru.model) == pytest.approx(67.0, abs=1e-6)


def test_joints_are_the_published_ones(mahru: Robot) -> None:
    counts = {group: len(names) for group, names in mahru.groups.items()}
    assert counts == {
        "trunk": 1,
        "head": 2,
        "left_arm": 6,
        "right_arm": 6,
        "left_leg": 6,
        "right_leg": 6,
        "left_grip": 4,
        "right_grip": 4,
    }
    assert len(mahru.joint_names) == 35


def test_segments_weigh_what_the_table_says(mahru: Robot) -> None:
    # kg, one side; every segment from its links.
    segments = [
        (3.2, ["NeckYawLink", "head"]),
        (30.6, ["pelvis", "torso"]),
        (2.4, ["LShoulderPitchLink", "LShoulderRollLink", "LShoulderYawLink"]),
        (1.5, ["LElbowPitchLink", "LWristYawLink"]),
        (0.9, ["l_hand", "l_thumb", "l_index", "l_middle", "l_little"]),
        (6.7, ["LHipYawLink", "LHipRollLink", "LHipPitchLink"]),
        (3.6, ["LKneePitchLink", "LAnklePitchLink"]),
        (1.5, ["l_foot"]),
    ]
    for mass, links in segments:
        assert sum(inertia_of(mahru, link).mass for link in links) == pytest.approx(mass, abs=1e-6), links


def test_inertia_is_that_of_the_solids(mahru: Robot) -> None:
    solids = solids_by_link(mahru)
    assert len(solids) == 20
    for link, meshes in solids.items():
        mass = sum(mesh.mass for mesh in meshes)
        cog = sum(mesh.mass * mesh.center_mass for mesh in meshes) / mass
        inertia = np.zeros((3, 3))
        for mesh in meshes:
            arm = mesh.center_mass - cog
            inertia += mesh.moment_inertia + mesh.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        described = inertia_of(mahru, link)
        assert described.mass == pytest.approx(mass, abs=1e-9), link
        np.testing.assert_allclose(described.lever, cog, atol=1e-6, err_msg=link)
        # A cylinder of 256 sides has 1e-4 less inertia than a round one.
        tolerance = 3e-4 * np.linalg.norm(inertia)
        np.testing.assert_allclose(described.inertia, inertia, atol=tolerance, err_msg=link)


def test_solids_lie_inside_the_covers(mahru: Robot) -> None:
    for link, meshes in solids_by_link(mahru).items():
        covers = [
            trimesh.load(path, process=False).bounds
            for path in mahru.urdf.parent.glob(f"meshes/{link}_*.obj")
        ]
        low, high = np.min(covers, axis=0)[0], np.max(covers, axis=0)[1]
        for mesh in meshes:
            assert np.all(mesh.bounds[0] >= low - 1e-3), link
            assert np.all(mesh.bounds[1] <= high + 1e-3), link


def test_reflected_inertia_is_that_of_rotor_and_wave_generator(mahru: Robot) -> None:
    reflected = dict(zip(mahru.joint_names, mahru.motors.reflected_inertia, strict=True))
    # A belt of 1.6 before a drive of 100: the wave generator turns 1.6 times slower than the rotor; g·cm².
    expected = {
        "RKneePitch": 160**2 * (140 + 413 / 1.6**2),
        "WaistYaw": 160**2 * (70 + 193 / 1.6**2),
        "LShoulderRoll": 100**2 * (70 + 79),
        "RElbowPitch": 100**2 * (34 + 33),
        "NeckPitch": 100**2 * (11 + 12),
        "LThumb": 275**2 * 0.5,
    }
    for joint, inertia in expected.items():
        assert reflected[joint] == pytest.approx(1e-7 * inertia, rel=1e-3), joint


def test_arm_is_the_chain_composed_by_hand(mahru: Robot, placed) -> None:
    angles = {
        "LShoulderPitch": -0.9,
        "LShoulderRoll": 0.4,
        "LShoulderYaw": -0.5,
        "LElbowPitch": -1.1,
        "LWristYaw": 0.7,
        "LWristPitch": 0.3,
    }
    assert tuple(angles) == mahru.groups["left_arm"]
    positions = np.array([angles.get(name, 0.0) for name in mahru.joint_names])
    turns = {}
    for name, angle in angles.items():
        c, s = np.cos(angle), np.sin(angle)
        turns[name] = {
            "Pitch": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
            "Roll": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
            "Yaw": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
        }[re.sub(r"L(Shoulder|Elbow|Wrist)", "", name)]
    upper = turns["LShoulderPitch"] @ turns["LShoulderRoll"] @ turns["LShoulderYaw"]
    fore = upper @ turns["LElbowPitch"]
    hand = fore @ turns["LWristYaw"] @ turns["LWristPitch"]
    shoulder = np.array([0, 0.235, 0.13 + 0.335])
    elbow = shoulder + upper @ [0, 0, -0.28]
    wrist = elbow + fore @ [0, 0, -0.22]
    at = placed(mahru, positions)
    for role, point in (("left_shoulder", shoulder), ("left_elbow", elbow), ("left_wrist", wrist)):
        np.testing.assert_allclose(at[mahru.frames[role]].translation, point, atol=1e-9)
    palm = at[mahru.frames["left_hand"]]
    np.testing.assert_allclose(palm.translation, wrist + hand @ [-0.012, 0, -0.08], atol=1e-9)
    # x along the hanging fingers, z out of the back of the hand.
    np.testing.assert_allclose(palm.rotation, hand @ [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-8)


def test_hip_and_ankle_axes_meet_and_the_leg_has_its_lengths(mahru: Robot, placed) -> None:
    bent = {"LHipYaw": 0.3, "LHipPitch": -0.7, "LKneePitch": 1.2}
    at = placed(mahru, np.array([bent.get(name, 0.0) for name in mahru.joint_names]))
    hip, knee, ankle = (at[f"L{link}Link"].translation for link in ("HipPitch", "KneePitch", "AnklePitch"))
    np.testing.assert_allclose(hip, [0, 0.09, 0], atol=1e-12)
    np.testing.assert_allclose(at["LHipYawLink"].translation, hip, atol=1e-12)
    np.testing.assert_allclose(at["l_foot"].translation, ankle, atol=1e-12)
    assert np.linalg.norm(knee - hip) == pytest.approx(0.33)
    assert np.linalg.norm(ankle - knee) == pytest.approx(0.33)


def test_soles_are_of_the_size_of_the_class(mahru: Robot) -> None:
    for corners in mahru.soles.values():
        edges = np.roll(corners, -1, axis=0) - corners
        assert np.all(np.cross(edges, np.roll(edges, -1, axis=0))[:, 2] > 0)
        np.testing.assert_allclose(np.ptp(corners, axis=0), [0.24, 0.14, 0])
