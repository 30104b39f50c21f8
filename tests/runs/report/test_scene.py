"""The scene of a run: poses from the page's joint tree are Pinocchio's, and forces act where they do."""

import numpy as np
import pytest
from packed_pages import read_signals, unpack
from scipy.spatial.transform import Rotation

from simbench.runs.report.page_data import Packer
from simbench.runs.report.playback import make_lanes, make_panels, pack_joints, thin_time, thin_values
from simbench.runs.report.scene import (
    centre_of_pressure,
    contact_forces,
    make_scene,
    nearest_on_axis,
    scene_samples,
)
from simbench.runs.video import load_drawn_run
from simbench.sim.rendering.painting import link_poses, mechanism_poses


@pytest.fixture(scope="module")
def drawn(drawer_run):
    return load_drawn_run(drawer_run())


@pytest.fixture(scope="module")
def packed(drawn):
    packer = Packer()
    document = {"scene": make_scene(*drawn, packer), "joints": pack_joints(drawn[3], packer)}
    return unpack(packer.pack(document))


def matrix(pose):
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = Rotation.from_quat(pose[3:]).as_matrix(), pose[:3]
    return result


def walk_tree(joints, base, positions):
    """World matrices of the joints as `scripts/scene.js` computes them."""
    poses = [matrix(base)]
    for joint in joints[1:]:
        pose = poses[joint["parent"]] @ matrix(joint["pose"])
        if joint["column"] >= 0:
            position, axis = positions[joint["column"]], np.array(joint["axis"])
            moved = np.eye(4)
            if joint["slides"]:
                moved[:3, 3] = position * axis
            else:
                moved[:3, :3] = Rotation.from_rotvec(position * axis).as_matrix()
            pose = pose @ moved
        poses.append(pose)
    return poses


@pytest.mark.parametrize("reference", [False, True])
def test_links_are_where_forward_kinematics_puts_them(drawn, packed, reference):
    document, data = packed
    scene = document["scene"]
    joints = read_signals(document["joints"]["reference" if reference else "position"], data)
    base = read_signals(scene["plannedBase" if reference else "base"], data)
    samples = scene_samples(drawn[3].time.values)
    sample = len(samples) // 3
    links = [body["name"] for body in scene["bodies"] if body["robot"]]
    logged = drawn[3]["joint_reference" if reference else "joint_position"].values[samples[sample]]
    exact = base[sample] if reference else drawn[3]["base_pose"].values[samples[sample]]
    expected = link_poses(drawn[1], exact[None], logged[None], links)[0]
    tree = walk_tree(scene["joints"], base[sample], joints[sample])
    for body, pose in zip(scene["bodies"], expected, strict=False):
        found = tree[body["joint"]] @ matrix(body["pose"])
        # Rounding to 16 bits: a tenth of a millimetre at the fingers.
        assert np.abs(found - pose).max() < 1e-4, body["name"]


def test_equipment_is_where_the_log_has_it(drawn, packed):
    document, data = packed
    sample = 300
    logged = drawn[3].isel(time=scene_samples(drawn[3].time.values)[[sample]])
    (mechanism,) = drawn[2]
    expected = mechanism_poses(mechanism, logged["drawer_travel"].values[:, None], None)[0]
    bodies = [body for body in document["scene"]["bodies"] if not body["robot"]]
    moving = [body for body in bodies if "track" in body]
    assert [body["name"] for body in moving] == ["drawer/drawer"]
    for body, pose in zip(bodies, expected, strict=True):
        numbers = read_signals(body["track"], data)[sample] if "track" in body else np.array(body["pose"])
        assert np.abs(matrix(numbers) - pose).max() < 1e-4


def test_samples_of_the_scene_are_even_and_hold_the_last():
    time = np.arange(0.0, 10.0, 0.005)
    samples = scene_samples(time)
    assert samples[-1] == len(time) - 1
    assert np.unique(np.diff(samples[:-1])).tolist() == [4]
    # A run of ten minutes has no more poses than a page can hold.
    assert len(scene_samples(np.arange(0.0, 600.0, 0.005))) <= 6002


def test_a_foots_force_acts_at_its_centre_of_pressure():
    point, force = np.array([0.3, -0.2, 0.0]), np.array([10.0, 5.0, 400.0])
    wrench = np.concatenate([force, np.cross(point, force)])
    found = centre_of_pressure(np.array([wrench, np.zeros(6)]))
    assert found[0] == pytest.approx(point)
    assert np.isnan(found[1]).all()


def test_the_line_of_action_goes_through_the_point_of_application():
    point, force = np.array([0.5, 0.1, 0.8]), np.array([-20.0, 3.0, 1.0])
    wrench = np.concatenate([force, np.cross(point, force)])[None]
    assert nearest_on_axis(wrench, point[None])[0] == pytest.approx(point)
    other = nearest_on_axis(wrench, point[None] + [[0.1, 0.2, -0.3]])[0]
    assert np.cross(other - point, force) == pytest.approx(np.zeros(3), abs=1e-9)


def test_forces_on_the_feet_carry_the_weight(drawn):
    arrows = {arrow.name: arrow for arrow in contact_forces(drawn[3].isel(time=slice(1, None)))}
    weight = drawn[3].attrs["mass_kg"] * drawn[3].attrs["gravity_m_s2"]
    total = arrows["left foot"].force[:, 2] + arrows["right foot"].force[:, 2]
    assert np.nanmean(total) == pytest.approx(weight, rel=0.01)
    assert {"grip of the left hand", "contacts on drawer"} <= {*arrows}


def test_thinning_keeps_every_peak():
    time = 0.005 * np.arange(20_001)
    values = np.sin(time)
    values[[1234, 17_777]] = 9.0, -9.0
    values[500:520] = np.nan
    points, size = thin_time(time)
    thin = thin_values(values, size)
    assert len(thin) == len(points) <= 6000
    assert (np.nanmax(thin), np.nanmin(thin)) == (9.0, -9.0)
    assert points[np.nanargmax(thin)] == pytest.approx(time[1234], abs=0.05)
    assert np.isnan(thin).any()


def test_panels_and_lanes_of_a_standing_robot_at_a_drawer(drawn):
    panels = {panel.key: panel for panel in make_panels(drawn[3], drawn[0].grip)}
    assert {
        "balance.x",
        "zmp_margin",
        "equipment.drawer_travel",
        "hands",
        "feet",
        "grip.force",
        "tracking",
    } <= {*panels}
    travel = {curve.name: curve.values for curve in panels["equipment.drawer_travel"].curves}
    assert travel["robot"] == pytest.approx(1000.0 * drawn[3]["drawer_travel"].values)
    lanes = {lane.name: lane.events for lane in make_lanes(drawn[3], {})}
    assert [event.words for event in lanes["phases"]] == [
        "stands still",
        *(f"stroke {number}" for number in range(1, 6)),
    ]
    (bar,) = lanes["left foot"]
    assert bar.end == pytest.approx(float(drawn[3].time[-1]))
    assert not any(event.tone == "bad" for events in lanes.values() for event in events)
