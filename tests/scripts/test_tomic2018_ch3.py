import numpy as np
import pinocchio as pin
import pytest
from scipy.signal import savgol_coeffs
from script_modules import loaded_script

from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.motion.writers import write_netcdf
from simbench.retargeting.imitation.imitation import imitate
from simbench.retargeting.imitation.scaled_model import calibrate


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/ch3.py") as module:
        yield module


@pytest.fixture(scope="module")
def motion():
    return perform_in_session(2018, 1, "drawer").motion


@pytest.fixture(scope="module")
def study(script, motion, tmp_path_factory):
    place = tmp_path_factory.mktemp("session") / "actor_01_drawer.nc"
    write_netcdf(motion, place)
    return script.study(script.Source("drawer", 1, str(place)), False)


def test_hand_errors_are_those_of_pinocchio(study, motion, romeo):
    actor = calibrate(romeo, motion)
    data = actor.model.createData()
    distances = []
    for sample, q in enumerate(imitate(actor, motion).q):
        pin.framesForwardKinematics(actor.model, data, q)
        for name in ("left_wrist", "right_wrist"):
            place = data.oMf[actor.joints[name]].translation
            distances.append(1e3 * np.linalg.norm(motion.joints[name][sample] - place))
    extent = study.errors["analytical", "hand"]
    assert extent.mean == pytest.approx(np.mean(distances), rel=1e-9)
    assert extent.peak == pytest.approx(np.max(distances), rel=1e-9)


def test_smoothing_leaves_what_it_takes_of_the_noise(study):
    # σ in each axis is a distance of σ √(8/π) on average; a filter that is a projection, as fitting curves
    # is, leaves the part 1 − c₀ of the variance in the residual, c₀ being its middle coefficient.
    left = np.sqrt(1.0 - savgol_coeffs(31, 5)[15])
    noise = 1e3 * MocapErrors().position_noise * np.sqrt(8.0 / np.pi)
    assert study.errors["numerical", "hand"].mean == pytest.approx(left * noise, rel=0.02)
    assert study.errors["numerical", "raw hand"].mean < 0.1 * noise


def test_one_recording_meets_the_bars_and_a_worse_one_does_not(script, study):
    assert all(script.holds(line) for line in script.compare([study]))
    far = {key: script.Extent(3.1, 9.0) for key in study.errors}
    lines = script.compare([script.Study(study.source, dict.fromkeys(study.initial, 12.5), 0.0, far)])
    assert [line.what for line in lines if not script.holds(line)] == [
        "initial configuration, mean",
        "initial configuration, greatest at a shoulder",
        "hands, analytical, mean",
        "hands, numerical, mean",
        "hands, ude / analytical",
    ]


def test_a_folder_without_a_session_is_refused(script, tmp_path, capsys):
    assert script.main(["--recordings", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
