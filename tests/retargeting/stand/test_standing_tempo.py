"""A plan whose time is stretched locally: limits, balance and palms at its own tempo."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from simbench.balance.ground_reaction import planned_zmp, standing_torques, support_margins, support_polygons
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.arms_and_legs import hand_wrenches, inertia_onset
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import compute_resistance


@pytest.fixture(scope="module")
def planned(romeo, made_once):
    """The beginning of `valves`, in which hands grasp and turn: recording, resistance, uniform and local."""

    def make():
        scenario = load_scenario("valves")
        mechanisms = scenario_mechanisms(scenario)
        section = scenario.motion.model_copy(update={"start_s": 1.5, "end_s": 3.5})
        motion = scenario_motion(scenario.model_copy(update={"motion": section}), mechanisms)
        resistance = compute_resistance(mechanisms)
        equipment = Equipment(motion.handles, resistance=resistance)
        plans = [
            plan_motion(
                romeo,
                motion,
                scenario.robot,
                scenario.retarget.model_copy(update={"timing": timing}),
                equipment,
                lambda *_: None,
            )
            for timing in ("uniform", "local")
        ]
        return motion, resistance, *plans

    return made_once("valves-local-tempo", make)


def test_shorter_than_slowed_by_one_factor_and_nowhere_faster_than_recorded(planned):
    motion, _, uniform, local = planned
    steps, recorded = np.diff(local.trajectory.time), np.diff(motion.time)
    assert uniform.metrics["retarget.slow_down"] > 1.3
    assert local.trajectory.time[-1] < 0.85 * uniform.trajectory.time[-1]
    assert (steps >= recorded * (1.0 - 1e-9)).all()
    ratio = (local.trajectory.time[-1] - local.trajectory.time[0]) / (motion.time[-1] - motion.time[0])
    assert local.metrics["retarget.slow_down"] == pytest.approx(ratio)
    assert local.metrics["retarget.slow_down_max"] == pytest.approx(steps.max() / recorded[0], rel=0.02)
    assert any("longer than recorded" in note for note in local.notes)


def test_speeds_torques_and_zmp_are_inside_their_limits(romeo, planned):
    _, resistance, _, local = planned
    trajectory = local.trajectory
    at = np.arange(trajectory.time[0], trajectory.time[-1], 1e-3)
    speed = np.abs(make_interp_spline(trajectory.time, trajectory.q, k=3).derivative()(at))
    assert (speed / romeo.model.velocityLimit[6:]).max() <= 0.95 * 1.001
    torque = standing_torques(romeo, trajectory.time, trajectory.base, trajectory.q, inertia=True)
    assert (np.abs(torque) / romeo.motors.torque_limit)[3:-3].max() <= 0.9
    wrench = sum(hand_wrenches(trajectory.time, local.hands, resistance).values())
    onset = inertia_onset(trajectory.time)
    zmp, _ = planned_zmp(romeo, trajectory.time, trajectory.base, trajectory.q, wrench, onset)
    corners = [
        romeo.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation
        for side, sole in local.stance.soles.items()
    ]
    polygon = support_polygons(np.concatenate(corners)[None, :, :2])
    assert support_margins(zmp, np.repeat(polygon, len(zmp), axis=0)).min() > 0.012
    # The controller is told the ZMP that the motion has.
    assert np.sqrt(((zmp - local.zmp) ** 2).sum(axis=1).mean()) < 0.004


def test_palms_stay_on_their_handles(planned):
    _, _, uniform, local = planned
    assert local.metrics["retarget.hand_max_m"] <= max(0.001, uniform.metrics["retarget.hand_max_m"])
