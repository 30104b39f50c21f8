import numpy as np
import pytest

from simbench.errors import MotionError, ScenarioError
from simbench.motion.actors import perform_average, perform_in_session
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.fixtures.mechanism import handle_poses, scale_mechanism


def recorded(source, *overrides):
    settings = [f"motion.source={source}", "motion.rate_hz=60", *overrides]
    return scenario_motion(load_scenario("dance", settings), [])


@pytest.mark.parametrize(
    ("task", "frames"), [("waving", 642), ("signing", 1978), ("arms_forward", 1303), ("fast_waving", 1273)]
)
def test_a_free_motion_is_performed_without_a_fixture_by_the_scenarios_seed(task, frames):
    motion = recorded(f"actor:{task}", "seed=7")
    assert (motion.source, len(motion.time), len(motion.markers)) == (f"actor:{task}", frames, 25)
    known = perform_average(task, 7).motion.joints["right_wrist"]
    np.testing.assert_array_equal(motion.joints["right_wrist"], known)


def test_a_part_of_it_is_resampled():
    motion = recorded("actor:arms_forward", "motion.rate_hz=200", "motion.start_s=5", "motion.end_s=6")
    assert motion.rate == pytest.approx(200.0)
    assert len(motion.time) == 201
    whole = perform_average("arms_forward", 0).motion
    at_60 = whole.joints["left_elbow"][300:361]
    np.testing.assert_allclose(motion.joints["left_elbow"][::10], at_60[::3], atol=1e-4)


def test_a_scenario_may_displace_its_recording_by_as_little_as_rounding():
    plain, rounded = (
        recorded("actor:arms_forward", "motion.end_s=1", *extra)
        for extra in ([], ["variation.rounding_seed=0"])
    )
    moved = rounded.joints["left_elbow"] - plain.joints["left_elbow"]
    assert 0 < np.abs(moved).max() < 1e-11


def test_a_participants_number_names_a_recording_of_the_session():
    motion = recorded("actor:waving:3", "seed=7")
    same = perform_in_session(2018, 3, "waving").motion
    np.testing.assert_array_equal(motion.joints["right_wrist"], same.joints["right_wrist"])


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        (
            ["actor:chess"],
            MotionError,
            r"^actor:chess: unknown task; known: valves, .*, walking$",
        ),
        (["actor:waving:20"], MotionError, r"^actor 20: a session has actors 1 to 19$"),
        (
            ["actor:waving", "motion.task={stroke_m: 0.1}"],
            ScenarioError,
            r"^motion\.task\.stroke_m: actor:waving takes no keys; an actor:<task> on a fixture of that type "
            r"does$",
        ),
        (["actor:drawer"], ScenarioError, r"^motion\.source actor:drawer: needs a fixture of type drawer$"),
    ],
)
def test_what_nobody_performs_is_refused_in_one_line(settings, error, words):
    with pytest.raises(error, match=words):
        recorded(*settings)


def test_the_person_is_scaled_with_the_equipment():
    """Palms are on the smaller handles, and no bone turns."""
    scenario = load_scenario("valves", ["motion.end_s=6.0"])
    small = load_scenario("valves", ["motion.end_s=6.0", "equipment_scale=0.7"])
    motion = scenario_motion(scenario, scenario_mechanisms(scenario))
    scaled = scenario_motion(small, scenario_mechanisms(small))
    for side, handle in scaled.handles.items():
        lowest = scale_mechanism(scenario_mechanisms(scenario)[0], 0.7)
        start = np.array([[joint.start for joint in lowest.joints]])
        np.testing.assert_allclose(handle.poses[0], handle_poses(lowest, start)[side][0], atol=1e-9)
        own = motion.handles[side].poses
        np.testing.assert_allclose(handle.poses[:, :3, 3], 0.7 * own[:, :3, 3], atol=1e-12)
    for bone in (("left_shoulder", "left_elbow"), ("right_elbow", "right_wrist")):
        before, after = (each.joints[bone[1]] - each.joints[bone[0]] for each in (motion, scaled))
        np.testing.assert_allclose(after, 0.7 * before, atol=1e-12)
