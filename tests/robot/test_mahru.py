"""Mahru's description: published height, mass and joints; inertia, kinematics and torques computed anew."""

import re

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from numpy.typing import NDArray
from scipy.optimize import brentq

from simbench.robot.robot import Robot

GRAVITY = 9.81
SOLID = re.compile(r"^    # (box|cylinder [xyz]) (\S+) kg, (\S+(?: x \S+)*), at (\S+) (\S+) ([^\s:]+)")
LEG = ("HipYaw", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")


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


def posture(robot: Robot, positions: NDArray[np.float64], **changes: float) -> NDArray[np.float64]:
    """Joint positions with those of some joints, both sides, replaced; roll and yaw as on the left."""
    changed = positions.copy()
    for name, value in changes.items():
        for side in "LR":
            changed[robot.joint_names.index(side + name)] = value
    return changed


def static_torques(
    robot: Robot, positions: NDArray[np.float64], feet: tuple[str, ...]
) -> NDArray[np.float64]:
    """Joint torques (n,) that hold a posture on feet that share the weight, its centre under the COG."""
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([pin.neutral(model)[:7], positions])
    cog = pin.centerOfMass(model, data, q).copy()
    load = pin.computeGeneralizedGravity(model, data, q).copy()
    weight = pin.computeTotalMass(model) * GRAVITY / len(feet)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for foot in feet:
        frame = model.getFrameId(robot.frames[foot])
        lever = cog - data.oMf[frame].translation
        if len(feet) == 2:
            lever[1] = 0.0
        force = np.array([0, 0, weight])
        jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        load -= jacobian.T @ np.concatenate([force, np.cross(lever, force)])
    np.testing.assert_allclose(load[:6], 0, atol=1e-6)
    return load[6:]


def over_the_soles(robot: Robot, knee: float) -> NDArray[np.float64]:
    """`standing` with another knee angle: soles flat, trunk upright, COG over the middle of the soles."""
    model, data = robot.model, robot.model.createData()

    def lean(ankle: float) -> NDArray[np.float64]:
        bent = {"HipPitch": -knee - ankle, "KneePitch": knee, "AnklePitch": ankle}
        return posture(robot, robot.postures["standing"], **bent)

    def offset(ankle: float) -> float:
        q = np.concatenate([pin.neutral(model)[:7], lean(ankle)])
        pin.framesForwardKinematics(model, data, q)
        middle = data.oMf[model.getFrameId("l_sole")].act(robot.soles["left_foot"].mean(axis=0))
        return float(pin.centerOfMass(model, data, q)[0] - middle[0])

    return lean(brentq(offset, -1.5, 0.5))


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
    at = placed(mahru, posture(mahru, np.zeros(35), HipYaw=0.3, HipPitch=-0.7, KneePitch=1.2))
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


@pytest.mark.parametrize(("drop", "share"), [(0.0, 0.2), (0.35, 0.6)])
def test_torque_limits_bear_standing_and_a_deep_squat(mahru: Robot, drop: float, share: float) -> None:
    model, data = mahru.model, mahru.model.createData()
    frame = model.getFrameId("l_sole")

    def height(positions: NDArray[np.float64]) -> float:
        pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[:7], positions]))
        return -float(data.oMf[frame].translation[2])

    standing = mahru.postures["standing"]
    knee = brentq(lambda knee: height(standing) - height(over_the_soles(mahru, knee)) - drop, 0.3, 2.4)
    squat = over_the_soles(mahru, knee)
    torques = static_torques(mahru, squat, ("left_foot", "right_foot"))
    ratio = np.abs(torques) / mahru.motors.torque_limit
    assert ratio.max() < share
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    assert np.all((low < squat) | (low == 0))
    assert np.all(squat < high + 1e-12)

    # By hand: what is above both knees, half on each, on its lever to the knee.
    q = np.concatenate([pin.neutral(model)[:7], squat])
    pin.centerOfMass(model, data, q)
    knees = [model.getJointId(f"{side}KneePitch") for side in "LR"]
    above = data.mass[0] - sum(data.mass[knee] for knee in knees)
    below = sum(data.mass[knee] * data.oMi[knee].act(data.com[knee])[0] for knee in knees)
    centre = (data.mass[0] * data.com[0][0] - below) / above
    by_hand = 0.5 * above * GRAVITY * (centre - data.oMi[knees[0]].translation[0])
    assert torques[mahru.joint_names.index("LKneePitch")] == pytest.approx(by_hand, abs=1e-6)


def test_torque_limits_bear_standing_on_one_foot(mahru: Robot) -> None:
    model, data = mahru.model, mahru.model.createData()

    def on_left(roll: float) -> NDArray[np.float64]:
        positions = posture(mahru, mahru.postures["standing"], HipRoll=roll, AnkleRoll=-roll)
        for name, more in (("RHipPitch", -0.2), ("RKneePitch", 0.4), ("RAnklePitch", -0.2)):
            positions[mahru.joint_names.index(name)] += more
        return positions

    def offset(positions: NDArray[np.float64]) -> NDArray[np.float64]:
        q = np.concatenate([pin.neutral(model)[:7], positions])
        pin.framesForwardKinematics(model, data, q)
        return pin.centerOfMass(model, data, q) - data.oMf[model.getFrameId("l_sole")].translation

    positions = on_left(brentq(lambda roll: offset(on_left(roll))[1], -0.34, 0.0))
    assert -0.1 < offset(positions)[0] < 0.14
    ratio = np.abs(static_torques(mahru, positions, ("left_foot",))) / mahru.motors.torque_limit
    assert ratio.max() < 0.5
    assert mahru.joint_names[ratio.argmax()] == "LHipRoll"


def test_damping_of_a_leg_is_stable_where_a_free_foot_counts_as_held(mahru: Robot) -> None:
    model = mahru.model.copy()
    model.armature[:] = 0
    q = np.concatenate([pin.neutral(model)[:7], mahru.postures["standing"]])
    inertia = pin.crba(model, model.createData(), q)
    columns = [mahru.joint_names.index(f"L{name}") for name in LEG]
    leg = np.triu(inertia)[np.ix_(np.add(columns, 6), np.add(columns, 6))]
    leg = leg + np.triu(leg, 1).T
    step = 0.001
    gain = (mahru.motors.damping * step + mahru.motors.stiffness * step**2)[columns]
    assert 1.0 < np.linalg.eigvals(np.linalg.solve(leg, np.diag(gain))).real.max() < 2.0
