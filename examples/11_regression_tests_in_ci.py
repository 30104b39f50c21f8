"""Regression tests of scenarios with pytest: metrics against limits, the log, and a committed baseline.

You learn the plugin that comes with simbench: a marker, two fixtures, `assert_baseline`. Put such a file
among your tests; start it with `pytest examples/11_regression_tests_in_ci.py`, or as a script.
"""

import sys

import pytest

SLOW = ("puma560_sweep", "motion.task.amplitude_rad=0.2", "motion.task.speed_rad_s=0.5")


@pytest.mark.simbench("puma560_sweep")
def test_no_metric_is_worse_than_its_baseline(simbench_result):
    """Compare every metric with `baselines/puma560_sweep.json` beside the scenario, within its tolerance."""
    simbench_result.assert_baseline()


@pytest.mark.simbench(*SLOW)
def test_the_arm_follows_and_comes_to_rest(simbench_result):
    """Assert limits of your own on metrics and on the log, an xarray.Dataset."""
    assert simbench_result.metrics["tracking.rms_rad"] < 0.002
    assert simbench_result.metrics["torque.saturated_fraction"] == 0.0
    assert abs(simbench_result.log.joint_velocity[-1]).max() < 0.01


@pytest.mark.parametrize("feedforward", ["none", "gravity"])
def test_computed_torque_tracks_better_than_pd(simbench_run, feedforward):
    """Compare two runs; one with the same scenario and overrides as another test's is not repeated."""
    computed = simbench_run(*SLOW).metrics["tracking.rms_rad"]
    pd = simbench_run(*SLOW, "control.law=pd", f"control.feedforward={feedforward}")
    assert computed < 0.5 * pd.metrics["tracking.rms_rad"]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-v", "-p", "no:cacheprovider"]))
