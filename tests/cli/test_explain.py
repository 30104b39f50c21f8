import pytest

from simbench.cli.main import main


def explained(capsys, *words):
    assert main(["explain", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["zmp.min_margin_m"], ["metric", "distance of the ZMP", "higher is better", "zmp_margin"]),
        (["fixtures.drawer.mass_kg"], ["Mass of the moving drawer", "kg", "2.5"]),
        (["grip.max_force_n"], ["grip.max_force_n   metric", "grip.max_force_n   key of a scenario"]),
        (["grips_lost"], ["attribute of log.nc"]),
        (["support", "polygon"], ["Convex hull"]),
        (["hold_turn"], ["may be one of:", "fixtures.knife.hold_turn_rad", "fixtures.grater.hold_turn_rad"]),
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
