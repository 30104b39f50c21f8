import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, SPINE_JOINTS, build_human_model
from simbench.motion.actors.people import AVERAGE_PERSON
from simbench.motion.actors.posture import couple_clavicles
from simbench.motion.actors.reaching import build_reacher, hold, palm_errors, palm_jacobian, palm_poses
from simbench.motion.actors.redundancy import follow, manipulability_gradient, resolve
from simbench.motion.actors.stance import with_lean
from simbench.motion.actors.strategy import ERGONOMIC, MANIPULABILITY_GAIN, Strategy
from simbench.robot.sides import SIDES

HUMAN = build_human_model(AVERAGE_PERSON.actor)
REACHER = build_reacher(HUMAN)
HELD = hold({"left": None, "right": np.array([0.0, 1.0, 0.0])})
PERIOD = 0.01
# All joints are well inside the middle of their ranges, where nothing stiffens.
MIDDLE = np.radians([20.0, 3.0, -4.0] + [45.0, 30.0, 20.0, 75.0, 20.0, -10.0, -8.0] * 2)


def at_work():
    q = with_lean(HUMAN, 0.1)
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


def problem(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(17, 17))
    weight = root @ root.T + 0.5 * np.eye(17)
    return weight, rng.normal(size=17), rng.normal(size=(11, 17)), 0.3 * rng.normal(size=11)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_unbounded_moves_are_those_of_the_lagrangian(seed):
    weight, wish, jacobian, error = problem(seed)
    wide = np.full(17, np.inf)
    move, solution = resolve(weight, wish, jacobian, error, -wide, wide)
    np.testing.assert_allclose(move, constrained_least(weight, wish, jacobian, error), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jacobian @ solution, np.eye(11), atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_bounded_moves_keep_bounds_and_constraint_and_are_best_in_the_joints_that_are_left(seed):
    weight, wish, jacobian, error = problem(seed)
    free, _ = resolve(weight, wish, jacobian, error, np.full(17, -np.inf), np.full(17, np.inf))
    widest = int(np.abs(free).argmax())
    bound = np.full(17, np.inf)
    bound[widest] = 0.6 * abs(free[widest])
    move, _ = resolve(weight, wish, jacobian, error, -bound, bound)
    assert abs(move[widest]) == pytest.approx(bound[widest])
    np.testing.assert_allclose(jacobian @ move, error, atol=1e-6)
    others = np.arange(17) != widest
    rest = wish[others] - weight[np.ix_(others, ~others)] @ move[~others]
    best = constrained_least(
        weight[np.ix_(others, others)],
        rest,
        jacobian[:, others],
        error - jacobian[:, ~others] @ move[~others],
    )
    np.testing.assert_allclose(move[others], best, rtol=1e-5, atol=1e-6)


def test_too_few_joints_within_their_bounds_give_no_move():
    weight, wish, jacobian, error = problem(1)
    assert resolve(weight, wish, jacobian, error, np.full(17, -1e-9), np.full(17, 1e-9)) is None


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
    target = palm_poses(REACHER, q)
    target[0, :3, 3] += [2e-4, -1e-4, 3e-4]
    strategy = Strategy(energy, velocity, ergonomy, manipulable, memory)
    after = follow(REACHER, q, q[None, :7], target[None], HELD, strategy, home[None], PERIOD)[0]

    mass, both = inertia(q), HELD.rows @ palm_jacobian(REACHER, q)[1]
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
    move = constrained_least(weight, wish, both, palm_errors(palm_poses(REACHER, q), target, HELD))
    made = after[REACHER.in_q] - MIDDLE
    assert np.abs(move).max() > 1e-4
    # What the hands need beyond the first order is of the size of the square of the move.
    np.testing.assert_allclose(made, move, atol=10.0 * np.abs(move).max() ** 2 + 2e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-0.3, 0.3), min_size=17, max_size=17))
def test_gradient_of_manipulability_is_what_finite_differences_say(change):
    q = at_work()
    q[REACHER.in_q] += change
    palm_jacobian(REACHER, q)
    gradient = manipulability_gradient(REACHER, q)
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
    start = palm_poses(REACHER, q)
    targets = np.tile(start, (count, 1, 1, 1))
    angle = np.radians(45.0) * np.linspace(0.0, 1.0, count) ** 2 * (3.0 - 2.0 * np.linspace(0.0, 1.0, count))
    targets[:, 0, :3, :3] = [start[0, :3, :3] @ pin.exp3(np.array([0.0, 0.0, a])) for a in -np.asarray(angle)]
    pelvis, home = np.tile(q[:7], (count, 1)), np.tile(MIDDLE, (count, 1))
    # Energy alone counts, and the wrist is light: it would do everything.
    path = follow(REACHER, q, pelvis, targets, HELD, Strategy(1.0, 0.01, 0.0, 0.0, 0.0), home, PERIOD)
    joints = path[:, REACHER.in_q]
    assert np.all((joints >= REACHER.lower - 1e-6) & (joints <= REACHER.upper + 1e-6))
    wrist = joints[:, len(SPINE_JOINTS) + ARM_JOINT_NAMES.index("wrist_radial_deviation")]
    assert wrist.max() > np.radians(23.0)
    acceleration = np.degrees(np.diff(joints, n=2, axis=0)) / PERIOD**2
    assert np.abs(acceleration).max() < 1500.0
    for configuration, target in zip(path, targets, strict=True):
        missed = palm_errors(palm_poses(REACHER, configuration), target, HELD)
        assert np.abs(missed).max() < 1.1e-5


def test_a_target_out_of_reach_is_refused_in_one_line():
    q = at_work()
    far = palm_poses(REACHER, q)[None].copy()
    far[:, :, 0, 3] += 1.0
    with pytest.raises(
        MotionError, match=r"^actor virtual_1: the (left|right) palm cannot reach [^\n]*nearer"
    ):
        follow(REACHER, q, q[None, :7], far, HELD, Strategy(0.0, 1.0, 0.0, 0.0), MIDDLE[None], PERIOD)
