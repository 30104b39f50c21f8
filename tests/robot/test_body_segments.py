"""The sixteen segments of the Hanavan body: masses by hand, solids by mesh, the average woman and man."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from simbench.errors import RobotError
from simbench.robot.anthropometry import average_measures
from simbench.robot.body_segments import (
    HanavanBody,
    scale_to_body_mass,
    segment_inertia,
    solid_length,
    solid_volume,
)
from simbench.robot.human import build_solid_mesh


def man() -> HanavanBody:
    return HanavanBody(average_measures("male", 1.755, 78.5), 78.5)


def woman() -> HanavanBody:
    return HanavanBody(average_measures("female", 1.63, 62.0), 62.0)


def test_masses_follow_the_regressions_in_centimetres() -> None:
    measures = replace(
        average_measures("male", 1.755, 78.5),
        wrist_circumference=0.17,
        wrist_width=0.06,
        forearm_circumference=0.28,
        axillary_arm_circumference=0.33,
        elbow_to_acromion_length=0.34,
        ankle_circumference=0.22,
        foot_length=0.27,
        shank_circumference=0.38,
        upper_thigh_circumference=0.58,
        head_circumference=0.57,
    )
    segments = HanavanBody(measures, 80.0).segments
    # Table B.2 worked out by hand, kg.
    expected = {
        "hand": 0.646 + 0.480 - 0.660,
        "forearm": 1.377 + 1.456 - 1.650,
        "upper_arm": 0.560 + 3.036 + 1.700 - 3.101,
        "foot": 0.240 + 1.056 + 0.729 - 0.869,
        "shank": 5.130 - 1.318,
        "thigh": 5.920 + 8.004 - 4.641,
    }
    assert segments["head"].mass == pytest.approx(5.928 + 1.200 - 2.189)
    for name, mass in expected.items():
        for side in ("left", "right"):
            assert segments[f"{side}_{name}"].mass == pytest.approx(mass), name


def test_trunk_is_split_by_volume_and_density() -> None:
    measures = replace(
        average_measures("male", 1.755, 78.5),
        middle_trunk_length=0.20,
        lower_trunk_length=0.14,
        xiphion_to_chin_length=0.26,
        chest_circumference=0.98,
    )
    segments = HanavanBody(measures, 80.0).segments
    parts = [segments[name] for name in ("upper_trunk", "middle_trunk", "lower_trunk")]
    assert sum(part.mass for part in parts) == pytest.approx(27.92 + 25.38 + 22.442 - 35.460)
    density = [part.mass / solid_volume(part.solid) for part in parts]
    assert density[1] == pytest.approx(density[2])
    assert density[0] / density[1] == pytest.approx(0.92 / 1.01)


def test_sections_have_the_measured_circumferences_and_widths() -> None:
    p = average_measures("female", 1.63, 62.0)
    solids = {name: segment.solid for name, segment in HanavanBody(p, 62.0).segments.items()}
    waist = solids["middle_trunk"]
    # The circumference of an ellipse is taken as pi (a + b).
    assert pi * (waist.a0 + waist.b0) == pytest.approx(p.xiphion_circumference)
    assert pi * (waist.a1 + waist.b1) == pytest.approx(p.omphalion_circumference)
    assert 2 * waist.a1 == pytest.approx(p.omphalion_width)
    thigh = solids["left_thigh"]
    assert pi * (thigh.a0 + thigh.b0) == pytest.approx(p.upper_thigh_circumference)
    assert 2 * pi * thigh.a1 == pytest.approx(p.knee_circumference)
    foot = solids["right_foot"]
    toes = (p.ball_of_foot_circumference + p.toe_circumference) / 2
    assert pi * (foot.a1 + foot.b1) == pytest.approx(toes)
    assert solid_length(solids["head"]) == pytest.approx(p.head_length)
    assert solid_length(solids["left_hand"]) == pytest.approx(p.wrist_to_knuckle_length)


@pytest.mark.parametrize("body", [woman(), man()], ids=["woman", "man"])
def test_inertia_equals_the_integral_over_the_mesh(body: HanavanBody) -> None:
    for name, segment in body.segments.items():
        mesh = build_solid_mesh(segment.solid, sides=160)
        mesh.density = segment.mass / mesh.volume
        inertia = segment_inertia(segment)
        assert inertia.mass == segment.mass
        np.testing.assert_allclose(inertia.lever, mesh.center_mass, atol=5e-4, err_msg=name)
        principal = np.diag(inertia.inertia)
        np.testing.assert_allclose(principal, np.diag(mesh.moment_inertia), rtol=5e-3, err_msg=name)
        assert np.count_nonzero(inertia.inertia - np.diag(principal)) == 0


# Winter (2009), table 4.1 (Dempster), fractions of body mass; the head there includes the neck, so De Leva
# (1996) for men. The regressions are of other people than either: a quarter of a limb is within what the
# sources differ by.
FRACTIONS = {
    "hand": (0.006, 0.25),
    "forearm": (0.016, 0.20),
    "upper_arm": (0.028, 0.20),
    "foot": (0.0145, 0.20),
    "shank": (0.0465, 0.25),
    "thigh": (0.100, 0.30),
}


@pytest.mark.parametrize("body", [woman(), man()], ids=["woman", "man"])
def test_masses_are_plausible_against_other_tables(body: HanavanBody) -> None:
    for name, (fraction, tolerance) in FRACTIONS.items():
        share = body.segments[f"left_{name}"].mass / body.mass
        assert share == pytest.approx(fraction, rel=tolerance), name
    assert body.segments["head"].mass / body.mass == pytest.approx(0.0694, rel=0.12)
    trunk = sum(body.segments[f"{part}_trunk"].mass for part in ("upper", "middle", "lower"))
    assert trunk / body.mass == pytest.approx(0.497, rel=0.05)
    for name, segment in body.segments.items():
        # The solids leave flesh out (buttocks, fingers, neck), so that some come out denser than it.
        assert 800 < segment.mass / solid_volume(segment.solid) < 1450, name


@pytest.mark.parametrize("body", [woman(), man()], ids=["woman", "man"])
def test_the_sum_of_the_regressions_misses_the_mass_by_the_residual(body: HanavanBody) -> None:
    p = body.measures
    # All regressions of table B.2 added up, both sides, centimetres; the body's mass taken off.
    both_sides = (
        0.119 * p.wrist_circumference  # hand and forearm
        + 0.080 * p.wrist_width
        + 0.052 * p.forearm_circumference
        + 0.092 * p.axillary_arm_circumference
        + 0.050 * p.elbow_to_acromion_length
        + 0.048 * p.ankle_circumference
        + 0.027 * p.foot_length
        + 0.135 * p.shank_circumference
        + 0.138 * p.upper_thigh_circumference
    )
    middle = 0.104 * p.head_circumference + 0.423 * p.hip_to_chin + 0.229 * p.chest_circumference
    per_mass = 0.015 + 0.349 + 2 * (0.007 + 0.003 + 0.074) - 1
    constant = -2.189 - 35.460 - 2 * (0.660 + 1.650 + 3.101 + 0.869 + 1.318 + 4.641)
    expected = per_mass * body.mass + 100 * (middle + 2 * both_sides) + constant
    assert body.residual == pytest.approx(expected, abs=1e-9)
    # The regressions come from thirteen male cadavers; average living people miss by less than 6 %.
    assert abs(body.residual) < 0.06 * body.mass


def test_scaled_segments_add_up_and_keep_their_shape() -> None:
    body = man()
    exact = scale_to_body_mass(body)
    assert len(exact.segments) == 16
    assert sum(segment.mass for segment in exact.segments.values()) == pytest.approx(78.5, abs=1e-12)
    assert exact.residual == pytest.approx(0.0, abs=1e-12)
    factor = 78.5 / (78.5 + body.residual)
    for name, segment in exact.segments.items():
        before, after = segment_inertia(body.segments[name]), segment_inertia(segment)
        assert after.mass == pytest.approx(factor * before.mass)
        np.testing.assert_array_equal(after.lever, before.lever)
        np.testing.assert_allclose(after.inertia, factor * before.inertia)


def test_average_measures_grow_with_stature_and_with_mass() -> None:
    person = average_measures("male", 1.756, 78.5)
    taller = average_measures("male", 1.1 * 1.756, 1.1 * 78.5)
    stouter = average_measures("male", 1.756, 1.44 * 78.5)
    assert person.chest_circumference == pytest.approx(0.99)
    assert person.foot_length == pytest.approx(0.27)
    assert taller.thigh_length == pytest.approx(1.1 * person.thigh_length)
    assert taller.chest_circumference == pytest.approx(person.chest_circumference)
    assert stouter.chest_circumference == pytest.approx(1.2 * person.chest_circumference)
    assert stouter.thigh_length == person.thigh_length


# The 2012 survey of US Army personnel (Gordon et al. 2014): means over its 4082 men (1.756 m, 85.5 kg) and
# 1986 women (1.629 m, 67.8 kg) together, m. They are heavier than those the average person is taken from.
LATER_SURVEY = {
    "ankle_circumference": 0.2249,
    "shank_circumference": 0.3860,
    "buttock_circumference": 1.0201,
    "chest_circumference": 1.0221,
    "omphalion_circumference": 0.9145,
    "forearm_circumference": 0.2950,
    "wrist_circumference": 0.1690,
    "ball_of_foot_circumference": 0.2442,
    "head_circumference": 0.5700,
    "omphalion_width": 0.3178,
    "coxae_width": 0.3484,
    "hip_depth": 0.2416,
    "elbow_to_acromion_length": 0.3274,
}


@pytest.mark.parametrize("measure", LATER_SURVEY)
def test_average_person_agrees_with_another_survey(measure: str) -> None:
    men, women = average_measures("male", 1.756, 85.5), average_measures("female", 1.629, 67.8)
    mean = (4082 * getattr(men, measure) + 1986 * getattr(women, measure)) / 6068
    assert mean == pytest.approx(LATER_SURVEY[measure], rel=0.05)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_average_lengths_stack_up_to_the_stature(sex: str) -> None:
    person = average_measures(sex, 1.7, 65.0)
    legs = person.thigh_length + person.shank_length
    assert legs + person.hip_to_chin + person.head_length == pytest.approx((1 - 0.039) * 1.7)
    trunk = person.lower_trunk_length + person.middle_trunk_length + person.xiphion_to_acromion_length
    assert trunk == pytest.approx((0.818 - 0.530) * 1.7)


def test_impossible_people_are_refused() -> None:
    measures = average_measures("male", 1.755, 78.5)
    for build, message in (
        (lambda: replace(measures, foot_length=27.0), "measures.foot_length: 27 m"),
        (lambda: replace(measures, hip_depth=-0.1), "measures.hip_depth: -0.1 m"),
        (lambda: replace(measures, hip_depth=float("nan")), "measures.hip_depth: nan m"),
        (lambda: HanavanBody(replace(measures, hip_depth=0.4), 78.5), "thigh: semi-axis a0"),
        (lambda: HanavanBody(replace(measures, shank_circumference=0.08), 78.5), "shank: predicted mass"),
        (lambda: average_measures("child", 1.7, 65.0), "sex `child`"),  # type: ignore[arg-type]
        (lambda: average_measures("male", 0.9, 14.0), "stature 0.9 m"),
    ):
        with pytest.raises(RobotError, match=message) as caught:
            build()
        assert "\n" not in str(caught.value)
