import csv
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
from script_modules import loaded_script

from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import ActorPerformance
from simbench.motion.actors.session import TASKS, ground_truth, perform_in_session
from simbench.motion.actors.virtual_mocap import compute_frame_poses
from simbench.motion.human_motion import Actor, HumanMotion, InitialPose, transform
from simbench.motion.writers import write_netcdf
from simbench.robot.sides import SIDES

with loaded_script("studies/actor_quantities.py") as quantities:
    pass

RATE = 100.0
TIME = np.arange(400) / RATE
BACK = np.radians(10.0)
SEGMENTS = [f"{side}_{segment}" for side in SIDES for segment in ("upper_arm", "forearm", "hand")]


@pytest.fixture(scope="module")
def human():
    return HumanModel(Actor(name="somebody", height=1.7, mass=70.0))


def made_performance(human, q, palms=None):
    """A performance of given configurations whose markers are screwed to the bones."""
    bones = compute_frame_poses(human, q, SEGMENTS)
    still = np.tile(np.eye(4), (len(q), 1, 1))
    performance = ActorPerformance(
        motion=HumanMotion(TIME, {}, dict(bones), InitialPose({}, {}), "made"),
        human=human,
        q=q,
        palms=palms or {side: still for side in SIDES},
        phases={"icp": (0, 99), "tgp": (100, 199), "pmp": (200, 349), "rest": (350, 399)},
        boundaries=np.array([2.0, 3.5]),
        contact_start=190,
        travel=np.zeros(len(q)),
        strategy=None,
    )
    return performance, bones


def standing(human):
    return np.tile(pin.neutral(human.model), (len(TIME), 1))


def test_hand_speed_on_a_circle():
    radius, turning = 0.2, 3.0
    around = radius * np.stack([np.cos(turning * TIME), np.sin(turning * TIME), 0.0 * TIME], axis=1)
    speed = quantities.compute_speed(TIME, transform(np.eye(3), around))
    # Central differences see sin(h) / h of it.
    np.testing.assert_allclose(speed[1:-1], radius * turning * np.sinc(turning / RATE / np.pi), rtol=1e-12)


def test_hand_speeds_are_of_the_faster_hand_in_each_phase(human):
    """Minimum-jerk movements: the peak is 15/8 of the mean speed."""

    def moved(start, duration, way):
        s = np.clip((TIME - start) / duration, 0.0, 1.0)
        at = np.zeros((len(TIME), 3))
        at[:, 0] = way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        return transform(np.eye(3), at)

    palms = {"left": moved(1.0, 1.0, 0.30), "right": moved(2.2, 1.0, -0.10)}
    speeds = quantities.measure_hand_speeds(made_performance(human, standing(human), palms)[0])
    assert speeds["hand speed, transition"][1] == pytest.approx(15 / 8 * 0.30, rel=2e-3)
    assert speeds["hand speed, work"][1] == pytest.approx(15 / 8 * 0.10, rel=2e-3)


# Columns of the right upper arm: to the elbow, the side that is in front while it hangs, outward then.
@pytest.mark.parametrize(
    ("columns", "plane", "elevation", "rotation"),
    [
        # Sideways, the bent forearm would point forward.
        (([0, -1, 0], [1, 0, 0], [0, 0, 1]), 0.0, 90.0, 0.0),
        # Sideways, the forearm up: turned outward by a right angle.
        (([0, -1, 0], [0, 0, 1], [-1, 0, 0]), 0.0, 90.0, -90.0),
        # Sideways, the forearm down: turned inward.
        (([0, -1, 0], [0, 0, -1], [1, 0, 0]), 0.0, 90.0, 90.0),
        # Forward, the forearm across the body.
        (([1, 0, 0], [0, 1, 0], [0, 0, 1]), 90.0, 90.0, 0.0),
        # Across the chest, to the other side and ten degrees back, as no person can.
        (([-np.sin(BACK), np.cos(BACK), 0], [-np.cos(BACK), -np.sin(BACK), 0], [0, 0, 1]), 190.0, 90.0, 0.0),
    ],
)
def test_humerus_in_postures_known_by_hand(columns, plane, elevation, rotation):
    right = np.array(columns, dtype=float).T[None]
    assert np.linalg.det(right[0]) == pytest.approx(1.0)
    # The left arm is the mirror image; its axes keep their order by turning the lateral two round.
    mirror = np.diag([1.0, -1.0, 1.0])
    left = mirror @ right @ np.diag([1.0, -1.0, 1.0])
    turned = Rotation.from_rotvec([0.3, -0.8, 1.1]).as_matrix()
    for side, arm in (("right", right), ("left", left)):
        for trunk in (np.eye(3), turned):
            angles = quantities.compute_humerus_angles(trunk[None], trunk @ arm, side)
            np.testing.assert_allclose(np.concatenate(angles), [plane, elevation, rotation], atol=1e-9)


def test_joint_extents_are_those_of_the_samples_asked_for(human):
    q = standing(human)
    elbow, pronation = (human.arms["left"][k] for k in (3, 4))
    flexion = human.arms["right"][0]
    q[:, elbow] = np.radians(np.interp(TIME, [2.0, 3.49], [20.0, 80.0]))
    q[:100, pronation] = np.radians(-70.0)
    q[200:, flexion] = np.radians(60.0)
    spine = human.model.joints[human.model.getJointId("spine_flexion")].idx_q
    q[:, spine], q[:, 3:7] = np.radians(12.0), Rotation.from_euler("y", 8.0, degrees=True).as_quat()
    performance, bones = made_performance(human, q)
    bones |= compute_frame_poses(human, q, ["trunk"])
    work, whole = (
        quantities.measure_joint_extents(performance, bones, samples)
        for samples in (slice(200, 350), slice(None))
    )
    np.testing.assert_allclose(work["elbow flexion"], [0.0, 80.0], atol=1e-9)
    np.testing.assert_allclose(work["forearm pronation"], [0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(whole["forearm pronation"], [-70.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(work["humeral elevation"], [0.0, 60.0], atol=1e-5)
    np.testing.assert_allclose(work["humeral plane"], [90.0, 90.0], atol=1e-6)
    np.testing.assert_allclose(work["spine flexion"], [12.0, 12.0])
    np.testing.assert_allclose(work["trunk flexion"], [20.0, 20.0])


@pytest.mark.parametrize("noise", [0.0, 0.4e-3])
def test_a_known_lag_and_shift_of_the_skin_are_found(human, noise):
    rng = np.random.default_rng(3)
    q = standing(human)
    swing = np.sin(2.0 * np.pi * 0.5 * TIME)
    for side in SIDES:
        q[:, human.arms[side][2]] = np.radians(40.0) * swing
        q[:, human.arms[side][4]] = np.radians(25.0) * swing
    performance, bones = made_performance(human, q)
    lags = {"upper_arm": 0.30, "forearm": 0.12, "hand": 0.0}
    segments = {}
    for name, bone in bones.items():
        side, _, segment = name.partition("_")
        joint = human.arms[side][2 if segment == "upper_arm" else 4]
        sign = -1.0 if side == "left" else 1.0
        turn = Rotation.from_rotvec(sign * lags[segment] * q[:, joint, None] * np.array([1.0, 0.0, 0.0]))
        place = np.array([0.1, 0.0, 0.03]) + 0.006 * swing[:, None] * np.array([0.6, 0.0, 0.8])
        place = place + rng.normal(0.0, noise, place.shape)
        segments[name] = bone @ transform(turn.as_matrix(), place)
    performance = replace(performance, motion=replace(performance.motion, segments=segments))
    found = quantities.measure_skin_motion(performance, bones)
    np.testing.assert_allclose(found["upper arm skin lag"], 0.30, atol=2e-3)
    np.testing.assert_allclose(found["forearm skin lag"], 0.12, atol=2e-3)
    np.testing.assert_allclose(found["upper arm skin rotation"], 0.30 * 40.0, rtol=5e-3)
    assert "hand skin lag" not in found
    for segment in ("upper arm", "forearm", "hand"):
        np.testing.assert_allclose(found[f"{segment} skin shift"], 6.0, atol=0.05 if noise == 0.0 else 0.5)


def test_a_bone_that_hardly_turns_tells_no_lag(human):
    performance, bones = made_performance(human, standing(human))
    found = quantities.measure_skin_motion(performance, bones)
    assert "upper arm skin lag" not in found
    np.testing.assert_allclose(found["upper arm skin shift"], 0.0, atol=1e-9)


def test_every_range_has_a_source_and_every_excuse_a_range():
    for ranges in (quantities.USUAL, quantities.LIMITS, quantities.FREE_LIMITS):
        for allowed in ranges.values():
            assert allowed.low < allowed.high
            assert len(allowed.source) > 10
    assert set(quantities.BEYOND_USUAL) <= set(TASKS)
    assert all(set(excused) <= set(quantities.USUAL) for excused in quantities.BEYOND_USUAL.values())


def test_performances_and_their_files_are_within_the_limits(tmp_path, monkeypatch, capsys):
    rows, measured = [], {}
    for number, task in ((2, "drawer"), (3, "hand_drill")):
        performance = perform_in_session(2018, number, task)
        measured[task] = quantities.measure(performance)
        for name, (low, high) in measured[task][1].items():
            assert quantities.LIMITS[name].low <= low, name
            assert high <= quantities.LIMITS[name].high, name
        rows.append({"file": f"{task}.nc", "actor": number, "task": task})
        write_netcdf(performance.motion, tmp_path / f"{task}.nc", *ground_truth(performance))
    with (tmp_path / "session.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    with loaded_script("studies/describe_session.py") as module:
        again = quantities.measure(module.load(tmp_path / "drawer.nc", module.session_people(2018)[1]))
        for kept, known in zip(again, measured["drawer"], strict=True):
            assert kept.keys() == known.keys()
            np.testing.assert_allclose(list(kept.values()), list(known.values()), atol=1e-9)
        monkeypatch.setattr("sys.argv", ["describe_session.py", str(tmp_path)])
        assert module.main() == 0
        assert "Nothing is outside." in capsys.readouterr().out
        monkeypatch.setattr("sys.argv", ["describe_session.py", str(tmp_path), "--seed", "1"])
        assert module.main() == 2
        assert "give --seed" in capsys.readouterr().err
