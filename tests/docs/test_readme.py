"""The README is short, its Python examples run, and what it names exists."""

import contextlib
import io
import json
import re

import numpy as np
import pages
import pinocchio as pin
import pytest
import xarray as xr

from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario

README = pages.ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def example(word):
    """Find the Python example in which a word occurs."""
    (found,) = (
        block.text
        for block in pages.read_blocks(README)
        if block.language == "python" and "not run" not in block.marks and word in block.text
    )
    return found


@pytest.fixture(scope="module")
def one_stroke(tmp_path_factory):
    """What the example of a run prints, and its run, for which the person waits less."""
    folder = tmp_path_factory.mktemp("example")
    said = io.StringIO()
    short = ("motion.task.rest_duration_s=0.1", "motion.task.initial_duration_s=0.3")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.chdir(folder)
        patch.setattr("simbench.load_scenario", lambda name, given: load_scenario(name, [*given, *short]))
        exec(example("run_scenario"), {"__name__": "__main__"})
    return said.getvalue(), folder / "runs" / "one_stroke"


def test_the_example_of_a_run(one_stroke):
    output, run = one_stroke
    ratio, *worst = output.splitlines()
    assert 0.95 <= float(ratio) <= 1.05
    # The fingers are stopped by the drawer; every other joint follows.
    assert worst[0].startswith("joint") or "Hand" in worst[0]
    assert (run / "log.nc").is_file()


# That a run is repeated bit for bit from its own directory is tested on a walk, too (test_balance_loop).
@pytest.mark.slow
def test_the_example_repeated_from_its_own_directory_is_identical_bit_for_bit(one_stroke, tmp_path):
    _, run = one_stroke
    run_scenario(load_scenario(run / "scenario.yaml"), tmp_path / "again")
    xr.testing.assert_identical(open_run(run), open_run(tmp_path / "again"))
    first, second = (
        json.loads((folder / "metrics.json").read_text()) for folder in (run, tmp_path / "again")
    )
    assert {key: value for key, value in second.items() if not key.startswith("timing.")} == {
        key: value for key, value in first.items() if not key.startswith("timing.")
    }


def test_the_streaming_example(capsys):
    names = {}
    exec(example("follow_frames"), names)
    name, angle = capsys.readouterr().out.split()
    model, data, q = names["actor"].model, names["actor"].model.createData(), names["q"][0]
    index = model.joints[model.getJointId(name)].idx_q
    assert float(angle) == pytest.approx(q[index], abs=5e-4)
    pin.framesForwardKinematics(model, data, q)
    for side in ("left", "right"):
        wrist = data.oMf[names["actor"].joints[f"{side}_wrist"]].translation
        assert np.linalg.norm(wrist - names["motion"].joints[f"{side}_wrist"][99]) < 0.003


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?://|#)([^)]+)\)", TEXT))))
def test_every_link_leads_to_a_file(target):
    assert (pages.ROOT / target.partition("#")[0]).exists()


def test_it_is_at_most_150_lines():
    assert len(TEXT.splitlines()) <= 150
