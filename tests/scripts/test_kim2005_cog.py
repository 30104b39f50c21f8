import numpy as np
import pytest
import stepping_by_hand as by_hand
from script_modules import loaded_script

from simbench.errors import ScenarioError
from simbench.runs.scenario.loading import load_scenario


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/kim2005_cog/kim2005_cog.py") as module:
        yield module


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        (("balance.gain_cog=5",), "balance.embedding, balance.gain_cog"),
        (("balance.embedding=true",), "nothing"),
        (("stepping.commands.0.march=3",), "balance.embedding, stepping.commands"),
    ],
)
def test_scenarios_that_differ_in_more_or_in_nothing_are_refused(script, overrides, found):
    other = load_scenario("mahru_wave_without_embedding", overrides)
    with pytest.raises(ScenarioError, match=rf"differ in {found}$"):
        script.check_alike(load_scenario("mahru_wave"), other)
    with pytest.raises(ScenarioError, match=r"differ in balance\.embedding$"):
        script.check_alike(load_scenario("mahru_wave_without_embedding"), load_scenario("mahru_wave"))


def test_a_step_counts_when_the_foot_was_up_and_comes_down_in_time(script):
    assert script.find_steps(by_hand.stepping_log()) == pytest.approx([2.5, 3.5, 5.5], abs=0.03)
    late = by_hand.stepping_log()
    late["foot_points"].values[(by_hand.TIME > 5.0) & (by_hand.TIME < 5.7), 1] = np.nan
    assert script.find_steps(late) == pytest.approx([2.5, 3.5], abs=0.03)


def test_numbers_of_a_robot_that_falls_are_those_until_then(script):
    logs = {script.WITH: by_hand.stepping_log(), script.WITHOUT: by_hand.stepping_log(fall=5.0)}
    # On the floor nothing counts.
    fallen = by_hand.TIME > 5.0
    logs[script.WITHOUT]["cog"].values[fallen] = 99.0
    lines = script.compare(logs, script.EXAMPLES[0])
    values = {line.what: line.values for line in lines}
    assert values["steps"] == ("3", "2")
    assert values["steps while the arms move"] == ("2", "2")
    assert values["falls"] == ("no", "yes")
    assert values["stands until, s"] == ("8.0", "5.0")
    assert values["both hands are 0.4 m ahead of the pelvis from, s"] == ("4.0", "4.0")
    assert values["ZMP, least margin, mm"] == ("20.0", "20.0")
    assert values["COG off its profile, RMS, mm"] == ("5.0", "5.0")
    assert values["arms off their reference, RMS, rad"] == ("0.0100", "0.0100")
    assert [line.what for line in lines if not line.holds] == ["steps"]
