"""Denavit-Hartenberg tables against matrices composed by hand, closed forms and other readers."""

import io
from collections.abc import Callable
from dataclasses import astuple

import numpy as np
import pinocchio as pin
import pytest
import yourdfpy
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_tables import model_frames
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.dh import (
    BASE,
    DhJoint,
    DhRow,
    DhTable,
    HayatiRow,
    JointLimits,
    Sigma,
    row_placement,
    table_frames,
    table_model,
)
from simbench.robot.urdf.urdf_writer import table_urdf

Array = NDArray[np.float64]


def bounded(lower: float, upper: float, velocity: float, effort: float) -> JointLimits:
    return {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}


ANY = bounded(-10.0, 10.0, 5.0, 50.0)


def rotation(axis: str, angle: float) -> Array:
    matrix = np.eye(4)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i], matrix[i, j] = np.sin(angle), -np.sin(angle)
    return matrix


def shift(axis: str, length: float) -> Array:
    matrix = np.eye(4)
    matrix["xyz".index(axis), 3] = length
    return matrix


def by_hand(joint: DhJoint, value: float) -> Array:
    turn = value if joint.sigma == Sigma.REVOLUTE else 0.0
    slide = value if joint.sigma == Sigma.PRISMATIC else 0.0
    row = joint.row
    if isinstance(row, HayatiRow):
        tilt = rotation("y", row.beta) @ rotation("x", row.alpha)
        return tilt @ shift("z", row.d + slide) @ rotation("z", row.theta + turn) @ shift("x", row.a)
    branch = rotation("z", row.gamma) @ shift("z", row.b)
    tilt = rotation("x", row.alpha) @ shift("x", row.a)
    return branch @ tilt @ rotation("z", row.theta + turn) @ shift("z", row.d + slide)


def frames_by_hand(table: DhTable, values: list[float]) -> dict[str, Array]:
    frames = {BASE: np.eye(4)}
    remaining = iter(values)
    for joint in table.joints:
        value = 0.0 if joint.sigma == Sigma.FIXED else next(remaining)
        frames[joint.name] = frames[joint.parent] @ by_hand(joint, value)
    return frames


angles = st.floats(-np.pi, np.pi)
lengths = st.floats(-0.5, 0.5)
khalil_rows = st.builds(DhRow, gamma=angles, b=lengths, alpha=angles, a=lengths, theta=angles, d=lengths)
hayati_rows = st.one_of(
    st.builds(HayatiRow, alpha=angles, beta=angles, theta=angles, a=lengths),
    st.builds(HayatiRow, alpha=angles, d=lengths, theta=angles, a=lengths),
)


@st.composite
def tables(draw: Callable) -> tuple[DhTable, list[float]]:
    joints: list[DhJoint] = []
    for index in range(draw(st.integers(1, 7))):
        row = draw(st.one_of(khalil_rows, hayati_rows))
        tilted = isinstance(row, HayatiRow) and row.beta != 0.0
        allowed = [Sigma.REVOLUTE, Sigma.FIXED] if tilted else list(Sigma)
        parent = draw(st.sampled_from([BASE, *(joint.name for joint in joints)]))
        joints.append(DhJoint(f"j{index}", parent, row, draw(st.sampled_from(allowed))))
    table = DhTable(tuple(joints))
    return table, draw(st.lists(angles, min_size=len(table.moving), max_size=len(table.moving)))


def links_of(table: DhTable) -> dict[str, pin.Inertia]:
    """A different, physically possible inertia for every link."""
    return {
        joint.name: pin.Inertia(
            1.0 + 0.3 * index, np.array([0.02, -0.01 * index, 0.03]), np.diag([0.02, 0.03, 0.04])
        )
        for index, joint in enumerate(table.joints)
    }


@settings(max_examples=100, deadline=None)
@given(tables())
def test_frames_of_random_trees_equal_matrices_composed_by_hand(case: tuple[DhTable, list[float]]) -> None:
    table, values = case
    expected = frames_by_hand(table, values)
    direct = table_frames(table, values)
    through_model = model_frames(table, table_model(table), values)
    for joint in table.joints:
        np.testing.assert_allclose(direct[joint.name], expected[joint.name], atol=1e-12)
        np.testing.assert_allclose(through_model[joint.name], expected[joint.name], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_urdf_of_random_trees_reads_back_as_the_same_mechanism(case: tuple[DhTable, list[float]]) -> None:
    table, values = case
    inertias = links_of(table)
    text = table_urdf(table, "tree", dict.fromkeys(table.moving, ANY), inertias)
    model = pin.buildModelFromXML(text)
    expected = frames_by_hand(table, values)
    read = model_frames(table, model, values)
    for joint in table.joints:
        np.testing.assert_allclose(read[joint.name], expected[joint.name], atol=1e-9)

    # Kinetic energy, summed over the links from finite differences of the frames composed by hand.
    speeds = np.linspace(-0.7, 0.9, len(table.moving))
    step = 1e-6
    after, before = (frames_by_hand(table, list(np.array(values) + sign * step * speeds)) for sign in (1, -1))
    energy = 0.0
    for joint in table.joints:
        rate = (after[joint.name] - before[joint.name]) / (2 * step)
        inertia = inertias[joint.name]
        frame = expected[joint.name]
        spin = frame[:3, :3].T @ rate[:3, :3]
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        velocity = rate[:3, 3] + rate[:3, :3] @ inertia.lever
        energy += 0.5 * inertia.mass * velocity @ velocity + 0.5 * omega @ inertia.inertia @ omega
    for built in (model, table_model(table, inertias)):
        q, v = pin.neutral(built), np.zeros(built.nv)
        for name, value, speed in zip(table.moving, values, speeds, strict=True):
            index = built.joints[built.getJointId(name)].idx_q
            q[index], v[index] = value, speed
        assert pin.computeKineticEnergy(built, built.createData(), q, v) == pytest.approx(
            energy, rel=1e-6, abs=1e-9
        )


def test_frames_broadcast_over_many_configurations() -> None:
    table = DhTable(
        (
            DhJoint("turn", BASE, DhRow(alpha=0.3, a=0.2, d=0.1)),
            DhJoint("slide", "turn", DhRow(alpha=-1.0, b=0.2), Sigma.PRISMATIC),
        )
    )
    values = np.random.default_rng(1).uniform(-1, 1, (3, 4, 2))
    frames = table_frames(table, values)["slide"]
    assert frames.shape == (3, 4, 4, 4)
    expected = frames_by_hand(table, list(values[2, 1]))["slide"]
    np.testing.assert_allclose(frames[2, 1], expected, atol=1e-12)


def test_a_placement_is_the_joint_frame_at_zero() -> None:
    row = DhRow(gamma=0.1, b=0.2, alpha=0.3, a=0.4, theta=0.5, d=0.6)
    np.testing.assert_allclose(
        row_placement(row).homogeneous, by_hand(DhJoint("j", BASE, row), 0.0), atol=1e-12
    )
    assert astuple(DhRow()) == (0.0,) * 6


# Armstrong, Khatib & Burdick (1986), table of modified DH parameters: alpha (degrees), a, d (m).
PUMA = (
    (0.0, 0.0, 0.0),
    (-90.0, 0.0, 0.2435),
    (0.0, 0.4318, -0.0934),
    (90.0, -0.0203, 0.4331),
    (-90.0, 0.0, 0.0),
    (90.0, 0.0, 0.0),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(angles, min_size=6, max_size=6))
def test_puma_wrist_centre_has_its_closed_form(values: list[float]) -> None:
    names = [f"joint{number}" for number in range(1, 7)]
    table = DhTable(
        tuple(
            DhJoint(name, parent, DhRow(alpha=np.radians(alpha), a=a, d=d))
            for name, parent, (alpha, a, d) in zip(names, [BASE, *names], PUMA, strict=False)
        )
    )
    # The arm moves in a vertical plane at the distance d2 + d3 from the axis of joint 1.
    q1, q2, q23 = values[0], values[1], values[1] + values[2]
    reach = 0.4318 * np.cos(q2) - 0.0203 * np.cos(q23) + 0.4331 * np.sin(q23)
    height = -0.4318 * np.sin(q2) + 0.0203 * np.sin(q23) + 0.4331 * np.cos(q23)
    offset = 0.2435 - 0.0934
    expected = [np.cos(q1) * reach - np.sin(q1) * offset, np.sin(q1) * reach + np.cos(q1) * offset, height]
    wrist = table_frames(table, values)
    for joint in ("joint4", "joint5", "joint6"):
        np.testing.assert_allclose(wrist[joint][:3, 3], expected, atol=1e-12)


def test_planar_arm_in_hayati_form_ends_at_its_tip() -> None:
    table = DhTable(
        (DhJoint("joint1", BASE, HayatiRow(a=0.25)), DhJoint("joint2", "joint1", HayatiRow(a=0.30)))
    )
    tip = table_frames(table, [0.4, -1.1])["joint2"][:3, 3]
    expected = [0.25 * np.cos(0.4) + 0.30 * np.cos(-0.7), 0.25 * np.sin(0.4) + 0.30 * np.sin(-0.7), 0.0]
    np.testing.assert_allclose(tip, expected, atol=1e-12)


def test_another_reader_sees_the_same_urdf() -> None:
    table = DhTable(
        (
            DhJoint("slide", BASE, DhRow(alpha=0.4, d=0.1), Sigma.PRISMATIC),
            DhJoint("turn", "slide", HayatiRow(beta=0.2, a=0.3)),
            DhJoint("tool", "turn", DhRow(alpha=1.0, b=0.1), Sigma.FIXED),
        )
    )
    text = table_urdf(table, "mixed", {"slide": ANY, "turn": bounded(-1.0, 2.0, 3.0, 4.0)})
    urdf = yourdfpy.URDF.load(io.BytesIO(text.encode()), load_meshes=False)
    assert list(urdf.actuated_joint_names) == ["slide", "turn"]
    limit = urdf.joint_map["turn"].limit
    assert (limit.lower, limit.upper, limit.velocity, limit.effort) == (-1.0, 2.0, 3.0, 4.0)
    urdf.update_cfg({"slide": 0.2, "turn": 0.7})
    expected = frames_by_hand(table, [0.2, 0.7])
    np.testing.assert_allclose(urdf.get_transform("turn_link", BASE), expected["turn"], atol=1e-9)
    np.testing.assert_allclose(urdf.get_transform("tool_link", BASE), expected["tool"], atol=1e-9)


def test_limits_reach_the_model() -> None:
    table = DhTable((DhJoint("turn", BASE, DhRow()), DhJoint("slide", "turn", DhRow(), Sigma.PRISMATIC)))
    limits = {"turn": bounded(-1.0, 2.0, 3.0, 4.0), "slide": bounded(-0.1, 0.2, 0.3, 40.0)}
    model = pin.buildModelFromXML(table_urdf(table, "limited", limits))
    np.testing.assert_allclose(model.lowerPositionLimit, [-1.0, -0.1])
    np.testing.assert_allclose(model.upperPositionLimit, [2.0, 0.2])
    np.testing.assert_allclose(model.velocityLimit, [3.0, 0.3])
    np.testing.assert_allclose(model.effortLimit, [4.0, 40.0])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: HayatiRow(beta=0.1, d=0.2), "d 0.2 m together with beta 0.1 rad"),
        (lambda: DhTable((DhJoint("a", "b", DhRow()), DhJoint("b", BASE, DhRow()))), "`b` comes after it"),
        (lambda: DhTable((DhJoint("a", "nowhere", DhRow()),)), "`nowhere` is unknown; allowed: base"),
        (lambda: DhTable((DhJoint("a", BASE, DhRow()),) * 2), "joint `a`: the name occurs twice"),
        (lambda: DhTable((DhJoint("a", BASE, HayatiRow(beta=0.1), Sigma.PRISMATIC),)), "moves along d"),
        (lambda: table_frames(DhTable((DhJoint("a", BASE, DhRow()),)), [1.0, 2.0]), "one for each of a"),
        (lambda: table_urdf(DhTable((DhJoint("a", BASE, DhRow()),)), "r", {}), "limits: none for a"),
    ],
)
def test_mistakes_are_named(build: Callable[[], object], message: str) -> None:
    with pytest.raises(RobotError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
