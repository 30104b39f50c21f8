"""Rescaling into limits: sines in closed form, curves small enough for the back of an envelope, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import RetargetError
from simbench.retargeting.imitation.limit_rescaling import rescale_into_limits


def rescaled(curve, lower, upper):
    curve = np.asarray(curve, dtype=np.float64)
    time = np.arange(len(curve)) / 100.0
    return rescale_into_limits(time, curve[:, None], np.array([lower]), np.array([upper]))[:, 0]


def sine(amplitudes, samples=400):
    """Whole periods, one after the other, from crest to crest, every crest a sample."""
    phase = np.linspace(0.0, 2.0 * np.pi, samples + 1)[:-1]
    return np.concatenate([amplitude * np.sin(phase) for amplitude in amplitudes])


def test_a_sine_beyond_both_limits_becomes_a_smaller_sine():
    np.testing.assert_allclose(
        rescaled(1.5 * np.cos(np.linspace(0.0, 20.0 * np.pi, 2001)), -1.0, 1.0),
        np.cos(np.linspace(0.0, 20.0 * np.pi, 2001)),
        atol=1e-14,
    )


def test_a_sine_beyond_one_limit_keeps_its_troughs():
    wave = 1.5 * np.cos(np.linspace(0.0, 20.0 * np.pi, 2001))
    # From -1.5 to 1.5 becomes from -1.5 to 1.
    np.testing.assert_allclose(rescaled(wave, -2.0, 1.0), -0.25 + wave * 2.5 / 3.0, atol=1e-14)
    np.testing.assert_allclose(rescaled(wave, -1.0, 2.0), 0.25 + wave * 2.5 / 3.0, atol=1e-14)


def test_only_the_wave_that_is_too_high_changes():
    wave = sine([0.8, 0.8, 1.2, 0.8, 0.8])
    result = rescaled(wave, -1.3, 1.0)
    first_trough, crest, next_trough = 400 + 300, 800 + 100, 800 + 300
    np.testing.assert_array_equal(result[: first_trough + 1], wave[: first_trough + 1])
    np.testing.assert_array_equal(result[next_trough:], wave[next_trough:])
    rise, fall = slice(first_trough, crest + 1), slice(crest, next_trough)
    np.testing.assert_allclose(result[rise], -0.8 + (wave[rise] + 0.8) * 1.8 / 2.0, atol=1e-14)
    np.testing.assert_allclose(result[fall], -1.2 + (wave[fall] + 1.2) * 2.2 / 2.4, atol=1e-14)


def test_the_speed_has_no_jump_where_a_scaled_piece_begins():
    """Finer sampling makes the change of speed between samples smaller in proportion, at the joins too."""

    def greatest_change(samples):
        time = np.linspace(0.0, 5.0, samples + 1)
        wave = (0.8 + 0.8 * np.exp(-((time - 2.25) ** 2))) * np.sin(2.0 * np.pi * time)
        velocity = np.diff(rescaled(wave, -2.0, 1.0)) * samples / 5.0
        return np.abs(np.diff(velocity)).max()

    assert greatest_change(20000) == pytest.approx(greatest_change(2000) / 10.0, rel=0.02)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # A small dip just below the limit does not hold the crest down: all is 4/5 of itself.
        ([-1.0, 0.95, 0.94, 1.5, -1.0], [-1.0, 0.56, 0.552, 1.0, -1.0]),
        # Two crests with a dip between them, all outside: the higher comes to the limit.
        ([0.0, 1.6, 1.2, 2.0, 0.0], [0.0, 0.8, 0.6, 1.0, 0.0]),
        # The dip is deep enough for both sides to hang from it.
        ([0.0, 1.5, 0.5, 1.25, 0.0], [0.0, 1.0, 0.5, 1.0, 0.0]),
        # Outside from the start, and at the end.
        ([1.5, 1.25, 0.0, 0.5, 0.0, 2.0], [1.0, 1.25 / 1.5, 0.0, 0.5, 0.0, 1.0]),
        # Trembling outside at the start: what comes before the crest is scaled with what comes after it.
        ([1.5, 1.2, 1.6, 0.0], [0.9375, 0.75, 1.0, 0.0]),
        # The end of a trembling rest just inside, after a crest that has nothing deeper to hang from.
        ([0.9, 1.5, 0.91, 0.95, 0.92], [0.7, 1.0, 0.705, 0.725, 0.71]),
        # Wholly outside: its range is halved; too wide even so: it fills the joint's.
        ([1.2, 1.6, 1.4], [0.8, 1.0, 0.9]),
        ([9.0, 2.0, 5.5], [1.0, -1.0, 0.0]),
        ([-1.2, -1.6, -1.4], [-0.8, -1.0, -0.9]),
        # From beyond one limit to beyond the other, and no further than inside on the way back.
        ([3.0, -3.0, 0.0], [1.0, -1.0, 0.0]),
        # Plateaus stay plateaus.
        ([0.0, 2.0, 2.0, 2.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]),
        # Nothing moves.
        ([1.7, 1.7, 1.7], [1.0, 1.0, 1.0]),
        ([-4.0], [-1.0]),
    ],
)
def test_small_curves_by_hand(curve, expected):
    """Limits -1 and 1."""
    np.testing.assert_allclose(rescaled(curve, -1.0, 1.0), expected, atol=1e-14)


def test_trembling_at_rest_and_on_the_way_bends_nothing():
    """From a noisy rest outside a noisy way leads inside: all is scaled by one factor."""
    rng = np.random.default_rng(3)
    rest = np.concatenate([np.full(200, 1.2), np.linspace(1.2, 0.0, 100)]) + 0.01 * rng.normal(size=300)
    result, scale = rescaled(rest, -1.0, 1.0), (1.0 - rest.min()) / np.ptp(rest)
    assert 0.78 < scale < 0.86
    np.testing.assert_allclose(result, 1.0 + scale * (rest - rest.max()), atol=1e-12)


def test_a_joint_without_a_limit_or_that_cannot_move():
    wave = np.stack([sine([5.0])] * 3, axis=1)
    limits = np.array([-np.inf, -np.inf, 0.3]), np.array([np.inf, 2.0, 0.3])
    result = rescale_into_limits(np.arange(400.0), wave, *limits)
    np.testing.assert_array_equal(result[:, 0], wave[:, 0])
    assert result[:, 1].max() == 2.0
    assert result[:, 1].min() == -5.0
    np.testing.assert_array_equal(result[:, 2], 0.3)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    samples=st.integers(1, 300),
    roughness=st.sampled_from([0.0, 0.02, 0.3, 2.0]),
    offset=st.floats(-3.0, 3.0),
    width=st.floats(0.01, 5.0),
)
def test_laws_of_every_curve(seed, samples, roughness, offset, width):
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.uniform(0.005, 0.02, samples))
    frequency, phase = rng.uniform(0.2, 3.0, (2, 5, 4))
    curves = np.sin(2.0 * np.pi * frequency * time[:, None, None] + phase).sum(axis=1)
    curves += offset + roughness * rng.normal(size=curves.shape)
    lower, upper = np.full(4, -0.5 * width), np.full(4, 0.5 * width)
    result = rescale_into_limits(time, curves, lower, upper)
    assert (result >= lower).all()
    assert (result <= upper).all()
    # Joints inside are left alone; nobody's result depends on the others'.
    sound = ((curves >= lower) & (curves <= upper)).all(axis=0)
    np.testing.assert_array_equal(result[:, sound], curves[:, sound])
    for joint in range(4):
        alone = rescale_into_limits(time, curves[:, [joint]], lower[:1], upper[:1])
        np.testing.assert_array_equal(alone[:, 0], result[:, joint])
    # Rises stay rises, falls stay falls: extrema are where they were.
    steps, scaled = np.diff(curves, axis=0), np.diff(result, axis=0)
    clear = np.abs(steps) > 1e-9
    assert (np.sign(scaled) == np.sign(steps))[clear].all()
    # No speed and no change of speed between samples grows.
    assert (np.abs(scaled) <= np.abs(steps) + 1e-13).all()
    velocity, new = (each / np.diff(time)[:, None] for each in (steps, scaled))
    assert (np.abs(np.diff(new, axis=0)) <= np.abs(np.diff(velocity, axis=0)) + 1e-10).all()
    # Every stretch that changes holds a sample that was outside; the points it hangs from stay.
    for joint in range(4):
        changed = np.flatnonzero(result[:, joint] != curves[:, joint])
        outside = (curves[:, joint] < lower[joint]) | (curves[:, joint] > upper[joint])
        for stretch in np.split(changed, np.flatnonzero(np.diff(changed) > 2) + 1):
            assert outside[stretch].any() or not stretch.size
    # The mirror image of a curve gives the mirror image; what is inside stays.
    np.testing.assert_array_equal(rescale_into_limits(time, -curves, -upper, -lower), -result)
    np.testing.assert_array_equal(rescale_into_limits(time, result, lower, upper), result)


def refused(match, **changes):
    given = {"time": np.arange(5) / 10, "joints": np.zeros((5, 2)), "lower": -np.ones(2), "upper": np.ones(2)}
    with pytest.raises(RetargetError, match=match) as caught:
        rescale_into_limits(**(given | changes))
    assert "\n" not in str(caught.value)


def test_what_cannot_be_rescaled_is_refused():
    spoiled = np.zeros((5, 2))
    spoiled[3, 1] = np.nan
    refused(r"joint 1 is nan at 0\.300 s", joints=spoiled)
    refused(r"joint 1 is inf at 0\.300 s", joints=np.where(np.isnan(spoiled), np.inf, spoiled))
    refused(r"joint 0 has limits 2\.0 to 1\.0 rad", lower=np.array([2.0, -1.0]))
    refused(r"joint 1 has limits -1\.0 to nan rad", upper=np.array([1.0, np.nan]))
    refused(r"shape \(5,\); it must be \(T, n\)", joints=np.zeros(5))
    refused(r"shape \(4, 2\).*T = 5", joints=np.zeros((4, 2)))
    refused(r"shape \(0, 2\)", time=np.zeros(0), joints=np.zeros((0, 2)))
    refused(r"lower joint limits have shape \(3,\); it must be \(2,\)", lower=np.zeros(3))
