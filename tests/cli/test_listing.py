from simbench.cli.listing import plain_lines
from simbench.cli.main import main
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios, summarise_scenario


def test_the_kind_of_every_scenario_is_that_of_the_loaded_one():
    for name in list_scenarios():
        scenario, (_, kind, _, _) = load_scenario(name), summarise_scenario(name)
        assert (kind == "push") == (scenario.push is not None), name
        steps = scenario.stepping is not None and len(scenario.stepping.commands) > 0
        assert (kind in ("walking", "stepping")) == steps, name
        assert (kind == "following steps") == (scenario.retarget.physics == "steps"), name
        assert (kind == "seated") == (scenario.robot.posture == "seated"), name


def test_a_pipe_has_the_name_first_in_every_line(capsys):
    assert main(["list", "scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list_scenarios()
    assert [line for line in lines if line.startswith("drawer ")]
    assert "romeo" in plain_lines("robots")
