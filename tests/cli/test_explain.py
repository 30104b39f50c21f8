import json

import pytest

from simbench.cli.main import main
from simbench.resources import resource_dir


def explained(capsys, *words):
    assert main(["explain", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["zmp.min_margin_m"],
            ["metric", "distance of the ZMP", "higher is better", "zmp_margin"],
        ),
        (["drawer.travel_ratio"], ["drawer.travel_ratio   metric", "drawer_travel_actor"]),
        (["retarget.pelvis_follow"], ["key of a scenario", "COG's horizontal motion", "0.4", "≥ 0, ≤ 1"]),
        (["push.first_ns"], ["Impulse of the first push", "N·s", "required"]),
        (["fixtures.drawer.mass_kg"], ["Mass of the moving drawer", "kg", "2.5"]),
        (["joints.LElbowRoll.limits"], ["joints.LElbowRoll.limits   key of a robot.yaml", "rad"]),
        (["grip.max_force_n"], ["grip.max_force_n   metric", "grip.max_force_n   key of a scenario"]),
        (["foot_wrench"], ["variable of log.nc", "time, foot, axis6", "floor on each foot"]),
        (["valves_left_turn_actor"], ["variable of log.nc", "actor moved the joint"]),
        (["grips_lost"], ["attribute of log.nc"]),
        (["icp"], ["ICP", "arms horizontally forward"]),
        (["support", "polygon"], ["Convex hull"]),
        (["retarget"], ["section of a scenario", "retarget.pelvis_follow", "retarget.similarity"]),
        (["zmp"], ["Zero-moment point", "variable of log.nc", "zmp.inside_fraction"]),
        (["hold_turn"], ["may be one of:", "fixtures.knife.hold_turn_rad", "fixtures.grater.hold_turn_rad"]),
        (["mass_kg"], ["may be one of:", "fixtures.pump.mass_kg"]),
    ],
)
def test_names_are_explained(capsys, words, parts):
    text = explained(capsys, *words)
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("retarget.pelvis_folow", "did you mean retarget.pelvis_follow"),
        ("foot_wrnch", "did you mean foot_wrench"),
        ("zmp.min_margin", "may be one of"),
        ("gait.length_m", ""),
        ("qwertyuiop", "allowed:"),
        ("nothing that simbench writes", "allowed:"),
    ],
)
def test_what_is_unknown_is_one_line_with_what_is_spelled_alike(capsys, word, hint):
    status = main(["explain", word])
    printed = capsys.readouterr()
    if status:
        assert status == 2
        assert printed.err.startswith(f"error: nothing is known of '{word}'; ")
        assert printed.err.count("\n") == 1
        assert hint in printed.err
    else:
        assert hint == "may be one of"
        assert hint in printed.out


@pytest.mark.parametrize("kind", ["scenario", "robot"])
def test_schema_prints_the_shipped_schema(capsys, kind):
    assert main(["schema", kind]) == 0
    printed = capsys.readouterr().out
    assert printed == (resource_dir("schemas") / f"{kind}.json").read_text(encoding="utf-8")
    assert json.loads(printed)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_another_schema_is_refused(capsys):
    assert main(["schema", "log"]) == 2
    assert "'scenario', 'robot'" in capsys.readouterr().err
