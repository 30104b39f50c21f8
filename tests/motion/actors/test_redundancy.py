import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.kinematics.redundancy_criteria import compute_manipulability_gradient
from simbench.motion.actors.human_model import (
    ARM_JOINT_NAMES,
    SPINE_JOINTS,
    HumanModel,
    couple_clavicles,
    make_leaning_posture,
)
from simbench.motion.actors.palm_control import (
    Manner,
    Reacher,
    compute_palm_errors,
    compute_palm_jacobian,
    compute_palm_poses,
    compute_world_twists,
    follow_palms,
    make_hold,
)
from simbench.motion.actors.people import AVERAGE_PERSON, ERGONOMIC, MANIPULABILITY_GAIN, ActorStrategy
from simbench.robot.sides import SIDES

HUMAN = HumanModel(AVERAGE_PERSON.actor)
REACHER = Reacher(HUMAN)
HELD = make_hold({"left": None, "right": np.array([0.0, 1.0, 0.0])})
PERIOD = 0.01
# All joints are well inside the middle of their ranges, where nothing stiffens.
MIDDLE = np.radians([20.0, 3.0, -4.0] + [45.0, 30.0, 20.0, 75.0, 20.0, -10.0, -8.0] * 2)


def at_work():
    q = make_leaning_posture(HUMAN, 0.1)
    q[REACHER.in_q] = MIDDLE
    return couple_clavicles(HUMAN, q)


def inertia(q):
    """Of the 17 joints, column by column from inverse dynamics."""
    data, none = HUMAN.model.createData(), np.zeros(HUMAN.model.nv)
    at_rest = pin.rnea(HUMAN.model, data, q, none, none)
    columns = []
    for k in REACHER.free:
        unit = none.copy()
        unit[k] = 1.0
        columns.append(pin.rnea(HUMAN.model, data, q, none, unit) - at_rest)
    return np.stack(columns, axis=1)[REACHER.free]


def manipulability(q):
    """det(JJᵀ) of both hands with resting clavicles, from Pinocchio's frame Jacobians."""
    data = HUMAN.model.createData()
    rows = [
        pin.computeFrameJacobian(HUMAN.model, data, q, HUMAN.frame(f"{side}_palm"))[:, REACHER.free]
        for side in SIDES
    ]
    both = np.vstack(rows)
    return np.linalg.det(both @ both.T)


def constrained_least(weight, wish, jacobian, error):
    """Solve the whole system of the Lagrangian: min ½ mᵀWm - wᵀm with Jm = e."""
    count, rows = len(wish), len(error)
    system = np.block([[weight, jacobian.T], [jacobian, np.zeros((rows, rows))]])
    return np.linalg.solve(system, np.concatenate([wish, error]))[:count]


@pytest.mark.parametrize(
    "weights",
    [
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (0.0, 0.01, 0.99, 0.0),
        (0.0, 0.0, 0.0, 1.0),
        (0.4, 0.3, 0.2, 0.1),
    ],
)
def test_a_step_is_the_least_of_the_weighted_criteria(weights):
    """Against the criteria themselves, inertia and gradient from elsewhere, not against equation 4.23."""
    energy, velocity, ergonomy, manipulable = weights
    q, memory = at_work(), 0.5
    home = MIDDLE + np.radians(2.0) * np.sin(np.arange(17))
    target = compute_palm_poses(REACHER, q)
    target[0, :3, 3] += [2e-4, -1e-4, 3e-4]
    strategy = ActorStrategy(energy, velocity, ergonomy, manipulable, memory)
    after = follow_palms(REACHER, q, q[None, :7], target[None], home[None], Manner(HELD, strategy, PERIOD))[0]

    mass, both = inertia(q), HELD.rows @ compute_palm_jacobian(REACHER, q)[1]
    slopes = np.empty(17)
    for k, index in enumerate(REACHER.in_q):
        ahead, behind = q.copy(), q.copy()
        ahead[index] += 1e-5
        behind[index] -= 1e-5
        slopes[k] = (manipulability(ahead) - manipulability(behind)) / 2e-5
    # φ of the thesis in terms of the move m = Δt q̇, times Δt².
    weight = energy * mass + velocity * np.eye(17) + ergonomy * PERIOD**2 * mass + manipulable * np.eye(17)
    wish = -ergonomy * PERIOD**2 * mass @ (MIDDLE - ERGONOMIC)
    wish += manipulable * PERIOD * MANIPULABILITY_GAIN * slopes
    wish += weight @ (memory * PERIOD * (home - MIDDLE))
    move = constrained_least(
        weight, wish, both, compute_palm_errors(compute_palm_poses(REACHER, q), target, HELD)
    )
    made = after[REACHER.in_q] - MIDDLE
    assert np.abs(move).max() > 1e-4
    # What the hands need beyond the first order is of the size of the square of the move.
    np.testing.assert_allclose(made, move, atol=10.0 * np.abs(move).max() ** 2 + 2e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-0.3, 0.3), min_size=17, max_size=17))
def test_gradient_of_manipulability_is_what_finite_differences_say(change):
    q = at_work()
    q[REACHER.in_q] += change
    compute_palm_jacobian(REACHER, q)
    gradient = compute_manipulability_gradient(compute_world_twists(REACHER))
    for k, index in enumerate(REACHER.in_q):
        ahead, behind = q.copy(), q.copy()
        ahead[index] += 1e-5
        behind[index] -= 1e-5
        slope = (manipulability(ahead) - manipulability(behind)) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-6 * np.abs(gradient).max())


def test_joints_slow_down_before_their_limits_and_others_take_over():
    """The left hand is turned towards the thumb until the wrist can no more."""
    q = at_work()
    count = 150
    start = compute_palm_poses(REACHER, q)
    targets = np.tile(start, (count, 1, 1, 1))
    angle = np.radians(45.0) * np.linspace(0.0, 1.0, count) ** 2 * (3.0 - 2.0 * np.linspace(0.0, 1.0, count))
    targets[:, 0, :3, :3] = [start[0, :3, :3] @ pin.exp3(np.array([0.0, 0.0, a])) for a in -np.asarray(angle)]
    pelvis, home = np.tile(q[:7], (count, 1)), np.tile(MIDDLE, (count, 1))
    # Energy alone counts, and the wrist is light: it would do everything.
    manner = Manner(HELD, ActorStrategy(1.0, 0.01, 0.0, 0.0, 0.0), PERIOD)
    path = follow_palms(REACHER, q, pelvis, targets, home, manner)
    joints = path[:, REACHER.in_q]
    assert np.all((joints >= REACHER.lower - 1e-6) & (joints <= REACHER.upper + 1e-6))
    wrist = joints[:, len(SPINE_JOINTS) + ARM_JOINT_NAMES.index("wrist_radial_deviation")]
    assert wrist.max() > np.radians(23.0)
    acceleration = np.degrees(np.diff(joints, n=2, axis=0)) / PERIOD**2
    assert np.abs(acceleration).max() < 1500.0
    for configuration, target in zip(path, targets, strict=True):
        missed = compute_palm_errors(compute_palm_poses(REACHER, configuration), target, HELD)
        assert np.abs(missed).max() < 1.1e-5


def test_a_target_out_of_reach_is_refused_in_one_line():
    q = at_work()
    far = compute_palm_poses(REACHER, q)[None].copy()
    far[:, :, 0, 3] += 1.0
    manner = Manner(HELD, ActorStrategy(0.0, 1.0, 0.0, 0.0), PERIOD)
    with pytest.raises(
        MotionError, match=r"^actor virtual_1: the (left|right) palm cannot reach [^\n]*nearer"
    ):
        follow_palms(REACHER, q, q[None, :7], far, MIDDLE[None], manner)
