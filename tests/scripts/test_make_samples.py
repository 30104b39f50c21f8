"""The committed samples are what `scripts/tools/make_samples.py` makes."""

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.motion.readers import read_motion
from simbench.resources import resource_dir


@pytest.fixture(scope="module")
def script():
    with loaded_script("tools/make_samples.py") as module:
        yield module


@pytest.mark.parametrize("name", ["tips", "arm"])
def test_files_are_made_again_to_the_byte(script, name):
    assert script.find_differences([name]) == []


def test_a_changed_file_is_found(script, monkeypatch, tmp_path):
    (tmp_path / "my_arm").mkdir()
    text = (resource_dir("samples") / "my_arm" / "model.urdf").read_text()
    (tmp_path / "my_arm" / "model.urdf").write_text(text.replace('mass value="5"', 'mass value="6"'))
    monkeypatch.setattr(script, "resource_dir", lambda kind: tmp_path)
    assert script.find_differences(["arm"]) == ["my_arm/model.urdf"]


def test_every_file_but_those_written_by_hand_is_made_by_the_script(script):
    folder = resource_dir("samples")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()}
    by_hand = {"README.md", "my_scenario.yaml", "my_arm/robot.yaml"}
    assert files - by_hand == {
        *(f"walk.{suffix}" for suffix in ("c3d", "trc", "bvh")),
        "wave.bvh",
        "motion1.csv",
        "motion2.csv",
        "tips.csv",
        "my_arm/model.urdf",
    }


def test_recordings_are_those_of_the_virtual_actors():
    for sample, actor in (("sample:walk.bvh", "actor:walking"), ("sample:wave", "actor:waving")):
        recorded, performed = read_motion(sample), read_motion(actor)
        for name, track in performed.joints.items():
            np.testing.assert_allclose(recorded.joints[name], track, atol=1e-7, err_msg=f"{sample} {name}")


def test_motions_obey_the_law_that_the_readme_states(script):
    clean = script.simulate_arm()
    for number, motion in enumerate(clean, start=1):
        table = np.loadtxt(resource_dir("samples") / f"motion{number}.csv", delimiter=",", skiprows=1)
        columns = np.split(table[:, 1:], 4, axis=1)
        channels = (motion.q, motion.velocity, motion.acceleration)
        for measured, values, sigma in zip(columns, channels, script.NOISE, strict=False):
            noise = measured - values[:: script.EVERY]
            np.testing.assert_allclose(noise.std(axis=0), sigma, rtol=0.1)
        np.testing.assert_allclose(columns[3], motion.target[:: script.EVERY])
