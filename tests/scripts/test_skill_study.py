"""The study of criteria over a session: its work, a row of its table, what it refuses."""

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.skills.inverse_optimal_control import compute_criterion_shares, make_fitness

SPAN = (4.0, 5.0)


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/skill_study.py") as module:
        yield module


def test_items_are_every_pair_and_everybody(script):
    items = script.skill_items(actors=(1, 2))
    assert len(script.THESIS_TASKS) == 7
    assert [(item.varied["task"], item.varied["actor"]) for item in items[:8]] == [
        *((task, script.EVERYBODY) for task in script.THESIS_TASKS),
        (script.THESIS_TASKS[0], 1),
    ]
    assert len(items) == 7 * 3
    assert items[0].arguments[2] == (1, 2)
    assert len(script.skill_items(["knife"], [5], general=False)) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"search": {"method": "newton"}}, "method newton: unknown; known: lattice"),
        ({"tasks": ["dance"]}, "task dance: no criteria are behind it; known: drawer"),
        ({"search": {"skeleton": "bones"}}, "skeleton bones: unknown; known: person, romeo"),
        ({"actors": [20]}, "actor 20: a session has actors 1 to 19"),
    ],
)
def test_work_that_cannot_be_is_refused(script, given, said):
    if "search" in given:
        given = {"search": script.MixtureSearch(**given["search"])}
    with pytest.raises(SkillError, match=said):
        script.skill_items(**given)


def test_row_of_a_recording(script):
    (item,) = script.skill_items(["knife"], [3], script.MixtureSearch(span=SPAN), general=False)
    row = script.study_mixture(*item.arguments)
    weights = np.array([row[name] for name in CRITERIA])
    assert weights.sum() == pytest.approx(1.0)
    shares = [row[f"share_{name}"] for name in CRITERIA]
    np.testing.assert_allclose(shares, compute_criterion_shares(weights, 0.01), atol=1e-12)
    assert row["dominant"] == list(CRITERIA)[int(np.argmax(shares))]
    assert row["dominant"] in row["rivals"].split(", ")
    assert row["fitness_m"] < min(row[f"single_{name}_m"] for name in CRITERIA)
    for name in CRITERIA:
        assert row[f"lowest_{name}"] <= row[name] <= row[f"highest_{name}"]
    hidden = perform_in_session(2018, 3, "knife").strategy
    np.testing.assert_array_equal(
        [row[f"hidden_{name}"] for name in CRITERIA], [getattr(hidden, name) for name in CRITERIA]
    )
    assert row["duration_s"] == pytest.approx(1.0, abs=0.02)
    assert row["pieces"] == 1


def test_the_thesis_model_is_what_the_thesis_says(script):
    motion = perform_in_session(2018, 3, "knife").motion
    searches = [script.MixtureSearch(**fields, session=2018) for fields in script.MODELS.values()]
    own, thesis = (script.analysed_parts(search, motion) for search in searches)
    assert (len(own), len(thesis)) == (5, 1)
    assert thesis[0].duration == pytest.approx(own[2].duration, abs=0.1)
    assert (own[0].constants.habit, thesis[0].constants.habit) == (0.6, 0.0)
    assert (thesis[0].constants.gain, searches[1].method) == (1e6, "genetic")
    assert np.isinf(thesis[0].body.lower).all()
    assert thesis[0].body.anatomy.stiffening == 0.0 < own[0].body.anatomy.stiffening
    errors = [make_fitness(part)([0.0, 1.0, 0.0, 0.0])[0] / part.duration for part in (own[2], thesis[0])]
    assert abs(errors[0] - errors[1]) > 1e-4
