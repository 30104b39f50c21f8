import csv

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.actors.free_motions import FREE
from simbench.motion.actors.session import (
    SESSION_TASKS,
    TASKS,
    ground_truth,
    perform_in_session,
    record_session,
)
from simbench.motion.actors.tasks import PLACES
from simbench.motion.readers import read_motion
from simbench.motion.readers.netcdf_reader import read_truth
from simbench.motion.writers import write_netcdf

SEED = 5


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("session") / "recordings"
    seen = []
    record_session(folder, SEED, 2, [2, 1], ["knife"], lambda done, total: seen.append((done, total)))
    return folder, seen


@pytest.fixture(scope="module")
def alone():
    return perform_in_session(SEED, 2, "knife")


def test_a_recording_of_a_session_is_the_one_made_alone_to_the_byte(session, alone, tmp_path):
    folder, seen = session
    write_netcdf(alone.motion, tmp_path / "alone.nc", *ground_truth(alone))
    assert (folder / "actor_02_knife.nc").read_bytes() == (tmp_path / "alone.nc").read_bytes()
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert not folder.with_name("recordings.incomplete").exists()


def test_the_table_says_who_did_what_and_why(session, alone):
    folder, _ = session
    with (folder / "session.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["file"] for row in rows] == ["actor_01_knife.nc", "actor_02_knife.nc"]
    weights = [
        float(rows[1][f"weight_{name}"]) for name in ("energy", "velocity", "ergonomy", "manipulability")
    ]
    np.testing.assert_allclose(weights, alone.strategy.weights, atol=1e-15)
    assert float(rows[1]["height_m"]) == alone.motion.actor.height
    assert int(rows[1]["frames"]) == len(alone.motion.time)


def test_the_truth_is_kept_and_is_not_what_was_measured(session, alone):
    path = session[0] / "actor_02_knife.nc"
    truth, motion = read_truth(path), read_motion(path)
    np.testing.assert_array_equal(truth.boundaries, alone.boundaries)
    np.testing.assert_array_equal(truth.right_palm[:, :, 3], alone.palms["right"][:, :3, 3])
    names = [str(name) for name in truth.coordinate.values]
    elbow = names.index("left_elbow_flexion")
    index = alone.human.model.joints[alone.human.model.getJointId("left_elbow_flexion")].idx_q
    np.testing.assert_array_equal(truth.joint_angle[:, elbow], alone.q[:, index])
    assert truth.attrs["strategy_velocity"] == alone.strategy.velocity
    assert truth.attrs["equipment_stroke_m"] == alone.equipment["stroke_m"]
    wrist = motion.joints["right_wrist"]
    palm = wrist + motion.segments["right_hand"][:, :3, :3] @ [0.09, 0.0, -0.02]
    miss = np.linalg.norm(palm - truth.right_palm.values[:, :, 3], axis=1)
    assert 1e-4 < np.sqrt(np.mean(miss**2)) < 5e-3


def test_what_a_session_cannot_do_is_refused_in_one_line(tmp_path):
    for actors, tasks, words in (
        ([20], None, "actor 20: a session has actors 1 to 19"),
        (None, ["chess"], "task chess: unknown; known: valves"),
        ([2], ["waving"], "performed by actor 1 only"),
    ):
        with pytest.raises(MotionError, match=words):
            record_session(tmp_path / "out", 1, 1, actors, tasks)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(MotionError):
        record_session(tmp_path / "full", 1, 1)
    with pytest.raises(MotionError):
        perform_in_session(1, 1, "chess")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


def test_sources_name_tasks_and_participants():
    with pytest.raises(MotionError):
        read_motion("actor:knife:two")
    with pytest.raises(MotionError):
        read_motion("actor:knife:20")
    # A session's seed counts them in this order.
    assert SESSION_TASKS[8:] == ("waving", "signing", "arms_forward", "fast_waving")
    # What is registered later is counted after them.
    assert TASKS[: len(SESSION_TASKS)] == SESSION_TASKS
    assert set(TASKS) == {*PLACES, *FREE}


def test_who_minimises_ergonomy_stands_for_it():
    # From where and how this person stands otherwise, too far, the elbow is 0.58 rad short of 80 degrees.
    performed = perform_in_session(2018, 6, "pump")
    assert performed.strategy.dominant == "ergonomy"
    assert "well posed" in performed.motion.notes[0]
    elbow = performed.human.model.joints[performed.human.model.getJointId("left_elbow_flexion")].idx_q
    assert abs(performed.q[performed.contact_start :, elbow].mean() - np.radians(80.0)) < 0.25
