"""`simbench skills` on a recording: what it says, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from simbench.cli.main import main
from simbench.cli.skills import closing_lines
from simbench.errors import MotionError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.human_motion import Actor
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.skills.analysis import analyse_skill, complete_person, compute_point_spread
from simbench.skills.fuzzy_strategy import detect_strategy, read_rule_base

SOURCE, SPAN = "deepmimic:humanoid3d_walk", (0.0, 1.2)


@pytest.fixture(scope="module")
def analysis():
    return analyse_skill(complete_person(read_motion(SOURCE, ReadOptions()), 1.7, None, None), span=SPAN)


def test_the_mixture_is_no_worse_than_any_criterion_alone(analysis):
    mixture = analysis.mixture
    assert mixture.fitness <= mixture.single.min()
    # The errors over time are those of the same laws.
    [errors] = analysis.errors
    means = np.trapezoid(errors, axis=1) / (len(analysis.task.time) - 1)
    np.testing.assert_allclose(means, [mixture.fitness, *mixture.single], rtol=1e-9)
    assert (analysis.flatness.lowest <= mixture.weights + 1e-12).all()
    assert (analysis.flatness.highest >= mixture.weights - 1e-12).all()
    # Legs walk; shoulders and elbows move by some centimetres.
    assert 0.02 < compute_point_spread(analysis.task) < 0.5


def test_prints_and_draws_it(analysis, tmp_path, capsys):
    picture = tmp_path / "skill.png"
    given = ["--height", "1.7", "--span", "0", "1.2", "--picture", str(picture)]
    assert main(["skills", SOURCE, *given]) == 0
    said = capsys.readouterr().out
    table = [line.split() for line in said.splitlines()]
    for k, name in enumerate(CRITERIA):
        [row] = [line for line in table if line and line[0] == name]
        assert float(row[1]) == pytest.approx(analysis.mixture.weights[k], abs=5e-4)
    assert f"dominant   {analysis.mixture.dominant}" in said
    assert "\nrules      19 by hand with tuned terms, 244 recordings as examples\n" in said
    with Image.open(picture) as drawn:
        assert drawn.size[0] == 1200


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--height", "170"], "height 170: must be from 0.5 to 2.5 m"),
        (["--height", "1.7"], "nothing repeats in it; give the span to be analysed"),
        (["--height", "1.7", "--span", "1", "0.5"], "--span 1 0.5: the end must come after the start"),
        (["--height", "1.7", "--span", "5", "9"], "fewer than two samples from 5 s to 9 s"),
    ],
)
def test_refuses_in_one_line(given, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["skills", SOURCE, *given]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not said.out
    assert not list(tmp_path.iterdir())


def test_says_which_rules_are_used(analysis):
    thesis = detect_strategy(analysis.task, read_rule_base("thesis"))
    said = list(closing_lines(replace(analysis, strategy=thesis)))
    assert "rules      17 by hand with thesis terms" in said
    assert f"dominant   {analysis.mixture.dominant}; by fuzzy rules {thesis.dominant}" in said


def test_a_persons_measures_are_told_or_kept():
    walk = read_motion(SOURCE, ReadOptions())
    told = complete_person(walk, None, 90.0, None)
    assert told.actor == replace(walk.actor, mass=90.0)
    nobody = replace(walk, actor=None)
    assert complete_person(nobody, 1.8, None, "female").actor == Actor("unnamed", 1.8, None, "female")
    with pytest.raises(MotionError):
        complete_person(nobody, None, 90.0, None)


def test_the_skeleton_can_be_chosen(capsys):
    given = ["skills", SOURCE, "--height", "1.7", "--span", "0", "0.4"]
    assert main(given) == 0
    assert "joints     the person's own" in capsys.readouterr().out
    assert main([*given, "--skeleton", "romeo"]) == 0
    assert "joints     ROMEO's" in capsys.readouterr().out
