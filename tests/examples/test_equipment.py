"""The equipment of the examples, declared in YAML: a person uses it, and ROMEO throws the switch."""

from pathlib import Path

import numpy as np
import pytest

from simbench import load_scenario, run_scenario
from simbench.motion.human_motion import PALM_OFFSET
from simbench.runs.motion_source import perform_on_fixture
from simbench.runs.scenario.loading import scenario_mechanisms
from simbench.sim.equipment import compute_joint_positions

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "equipment"


@pytest.mark.parametrize(
    ("name", "ranges"), [("door", [0.2, 0.5]), ("cupboard", [0.3, 0.3]), ("lever_switch", [0.6])]
)
def test_a_person_moves_the_joints_as_far_as_the_moves_say(name, ranges):
    scenario = load_scenario(FOLDER / f"{name}.yaml")
    [mechanism] = scenario_mechanisms(scenario)
    motion = perform_on_fixture(scenario, [mechanism])
    [[first, last]] = motion.strokes
    palms = {}
    for side in mechanism.handles:
        palms[side] = motion.segments[f"{side}_hand"][first : last + 1].copy()
        wrist = motion.joints[f"{side}_wrist"][first : last + 1]
        palms[side][:, :3, 3] = wrist + palms[side][:, :3, :3] @ PALM_OFFSET
    held = {side: np.ones(last + 1 - first, dtype=bool) for side in palms}
    moved = np.ptp(compute_joint_positions(mechanism, palms, held), axis=0)
    # The recording has errors of motion capture: a millimetre on a lever of 0.11 m is 0.01 rad.
    np.testing.assert_allclose(moved, ranges, atol=0.05)


def test_romeo_throws_the_switch(tmp_path):
    result = run_scenario(load_scenario(FOLDER / "lever_switch.yaml"), tmp_path / "run")
    assert [check.name for check in result.checks if not check.passed] == []
    assert result.metrics["switch.throw_ratio"] == pytest.approx(1.0, abs=0.05)
