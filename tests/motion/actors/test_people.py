from collections import Counter

import numpy as np
import pytest

from simbench.motion.actors.people import CRITERIA, deal_strategies, draw_strategy, session_people

# Tomić (2018), ch. 4: for how many actors out of 15 which criterion was dominant.
THESIS = {
    "drawer": {"velocity": 9, "manipulability": 6},
    "valves": {"manipulability": 9, "velocity": 4, "ergonomy": 2},
    "pump": {"energy": 9, "velocity": 2, "ergonomy": 2, "manipulability": 2},
    "grater": {"energy": 10, "ergonomy": 4, "manipulability": 1},
}


@pytest.mark.parametrize("seed", [0, 1, 2018])
def test_participants_are_those_of_the_thesis(seed):
    people = session_people(seed)
    assert Counter(person.actor.sex for person in people) == {"male": 13, "female": 6}
    heights, ages = (np.array([getattr(p.actor, name) for p in people]) for name in ("height", "age"))
    # Rounded to millimetres and years.
    assert heights.mean() == pytest.approx(1.70, abs=5e-4)
    assert heights.std(ddof=1) == pytest.approx(0.10, abs=5e-4)
    assert ages.mean() == pytest.approx(32.0, abs=0.5)
    assert ages.std(ddof=1) == pytest.approx(11.0, abs=0.5)
    assert 1.4 < heights.min() < heights.max() < 2.0
    assert ages.min() > 15.0
    stances = Counter(person.stance for person in people)
    assert set(stances) == {"too near", "well posed", "too far"}
    assert max(stances.values()) == 7
    assert len({person.actor.name for person in people}) == 19


def test_bodies_differ_in_their_proportions_as_people_do():
    people = [person for seed in range(10) for person in session_people(seed)]
    # Of stature: Drillis & Contini (1966), and a spread of a few per cent.
    for name, mean in (("upper_arm", 0.186), ("forearm", 0.146), ("hand", 0.108), ("hip_height", 0.530)):
        values = np.array([getattr(person.proportions, name) for person in people])
        assert values.mean() == pytest.approx(mean, rel=0.01)
        assert 0.01 < values.std() / mean < 0.05
    index = np.array([person.actor.mass / person.actor.height**2 for person in people])
    assert 16.0 < index.min() < index.max() < 31.0


def test_the_seed_decides_who_comes():
    first, again, other = session_people(3), session_people(3), session_people(4)
    assert [p.actor for p in first] == [p.actor for p in again]
    np.testing.assert_array_equal(first[5].comfort, again[5].comfort)
    assert [p.actor for p in first] != [p.actor for p in other]


@pytest.mark.parametrize("task", THESIS)
def test_criteria_dominate_as_often_as_in_the_thesis(task):
    rng = np.random.default_rng(8)
    drawn = [draw_strategy(task, rng) for _ in range(1500)]
    weights = np.array([strategy.weights for strategy in drawn])
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    assert weights.min() >= 0.0
    assert weights.max(axis=1).min() >= 0.70
    seen = Counter(CRITERIA[k] for k in weights.argmax(axis=1))
    assert set(seen) == set(THESIS[task])
    for name, count in THESIS[task].items():
        # Three standard deviations of a share among 1500.
        assert seen[name] / 1500 == pytest.approx(count / 15, abs=0.04)
    assert all(0.4 <= strategy.memory <= 0.8 for strategy in drawn)


@pytest.mark.parametrize("task", THESIS)
def test_a_session_has_exactly_the_thesiss_counts(task):
    generators = [np.random.default_rng([9, k]) for k in range(sum(THESIS[task].values()))]
    assert Counter(each.dominant for each in deal_strategies(task, generators)) == THESIS[task]


def test_who_comes_early_draws_freely_and_after_the_last_card_comes_a_new_pack():
    def generators():
        return (np.random.default_rng([9, k]) for k in range(30))

    dealt = deal_strategies("pump", generators())
    assert dealt[0] == draw_strategy("pump", next(generators()))
    assert Counter(each.dominant for each in dealt[15:]) == THESIS["pump"]
    assert deal_strategies("pump", list(generators())[:7]) == dealt[:7]
