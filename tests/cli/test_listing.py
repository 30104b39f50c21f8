from typing import get_args

import pytest

from simbench.cli.listing import Kind, listing_lines, make_listing, plain_lines
from simbench.cli.main import main
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios, summarise_scenario


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_table_fits_the_terminal_and_breaks_no_word(kind, width):
    listing = make_listing(kind)
    lines = [line for line, _ in listing_lines(listing, width)]
    assert max(map(len, lines)) <= width
    cells = [cell for row in (listing.headings, *listing.rows) for cell in row]
    expected = " ".join([*cells, *listing.descriptions]).split()
    assert sorted(" ".join(lines).split()) == sorted(expected)


def test_a_table_has_the_robot_kind_and_duration_of_a_scenario():
    rows = {row[0]: row[1:] for row in make_listing("scenarios").rows}
    assert make_listing("scenarios").headings == ("scenario", "robot", "kind", "duration")
    assert rows["drawer"] == ("romeo", "standing", "16.8 s")
    assert rows["pump"][1] == "seated"
    assert rows["mahru_walk"] == ("mahru", "walking", "–")
    assert rows["mahru_wave"][1] == "stepping"
    assert rows["mahru_imitates_walk"][1] == "following steps"
    assert rows["g1_push"][1] == "push"
    assert rows["ur5_drawer"][1] == "fixed arm"


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


def test_a_terminal_gets_tables(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("simbench.cli.listing.is_terminal", lambda: True)
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.split()[:1] in (["robot"], ["scenario"], ["motion"])]
    assert max(map(len, lines)) <= 80
    (drawer,) = (line for line in lines if line.split()[:1] == ["drawer"] and len(line.split()) > 1)
    assert drawer.split() == ["drawer", "romeo", "standing", "16.8", "s"]
