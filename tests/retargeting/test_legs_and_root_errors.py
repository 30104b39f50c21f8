"""Errors of head, legs and root of a robot that does what a person does, but for one thing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.retargeting.body_errors import (
    HEAD,
    HEADING,
    QUANTITIES,
    ROOT,
    ROOT_HEIGHT,
    SHANK,
    THIGH,
    compare_with_person,
)

TURN, LIMITS = 0.7, (0.03, 0.95)


def body(mahru, trajectory, person):
    """Errors of the head, the legs and the root."""
    tracks = compare_with_person(mahru, trajectory, person, heading=TURN).tracks
    rest = [track for track in tracks if track.quantity not in QUANTITIES]
    return {(track.quantity, track.side): track.values for track in rest}


def moved(trajectory, joint, angle):
    q = trajectory.q.copy()
    q[:, trajectory.joint_names.index(joint)] += angle
    return replace(trajectory, q=q)


def test_a_robot_that_does_the_same_has_no_error(mahru, dancing, person):
    errors = body(mahru, dancing, person)
    pairs = {(part, side) for part in (THIGH, SHANK) for side in ("left", "right")}
    assert set(errors) == pairs | {(HEAD, ""), (ROOT, ""), (ROOT_HEIGHT, ""), (HEADING, "")}
    for values in errors.values():
        np.testing.assert_allclose(values, 0.0, atol=1e-9)


def test_a_knee_that_is_bent_more_costs_the_shank_that_angle_and_the_thigh_nothing(mahru, dancing, person):
    errors = body(mahru, moved(dancing, "LKneePitch", 0.3), person)
    np.testing.assert_allclose(errors[SHANK, "left"], 0.3, atol=1e-9)
    for other in ((THIGH, "left"), (SHANK, "right"), (HEAD, "")):
        np.testing.assert_allclose(errors[other], 0.0, atol=1e-9)


def test_a_neck_that_yaws_costs_less_than_the_angle_and_one_that_pitches_all_of_it(mahru, dancing, person):
    # The last joint pitches the head about an axis that is across the tilted line: all of it is seen.
    np.testing.assert_allclose(
        body(mahru, moved(dancing, "NeckPitch", -0.2), person)[HEAD, ""], 0.2, atol=1e-9
    )
    # The line, tilted by 0.3 rad and then by the pitch, goes round the yaw's axis.
    pitch = dancing.q[:, dancing.joint_names.index("NeckPitch")]
    chord = 2.0 * np.arcsin(np.abs(np.sin(0.3 + pitch)) * np.sin(0.25))
    np.testing.assert_allclose(
        body(mahru, moved(dancing, "NeckYaw", 0.5), person)[HEAD, ""], chord, atol=1e-9
    )


def test_a_root_that_stays_is_as_far_off_as_the_person_went_scaled_by_the_legs(mahru, dancing, person):
    still = replace(dancing, base=np.tile(dancing.base[0], (len(dancing.time), 1)), q=dancing.q)
    errors = body(mahru, still, person)
    hips = 0.5 * (person.joints["left_hip"] + person.joints["right_hip"])
    went = (hips - hips[0]) * 0.66 / 0.92
    # The hips of a root that stays do not move.
    np.testing.assert_allclose(errors[ROOT, ""], np.hypot(went[:, 0], went[:, 1]), atol=1e-9)
    np.testing.assert_allclose(errors[ROOT_HEIGHT, ""], np.abs(went[:, 2]), atol=1e-9)
    assert errors[ROOT, ""].max() > 1.0


def test_a_robot_that_is_turned_by_an_angle_has_that_heading_error(mahru, dancing, person):
    base = dancing.base.copy()
    base[:, 3:] = (Rotation.from_rotvec([0.0, 0.0, -3.5]) * Rotation.from_quat(base[:, 3:])).as_quat()
    errors = body(mahru, replace(dancing, base=base), person)
    np.testing.assert_allclose(errors[HEADING, ""], 2.0 * np.pi - 3.5, atol=1e-9)


@pytest.mark.parametrize(
    ("absent", "gone"),
    [
        (["head"], {HEAD}),
        (["neck"], {HEAD}),
        (["left_knee", "right_knee"], {THIGH, SHANK, ROOT, ROOT_HEIGHT}),
        (["left_ankle", "right_ankle"], {SHANK, ROOT, ROOT_HEIGHT}),
        (["left_hip"], {ROOT, ROOT_HEIGHT, HEADING}),
    ],
)
def test_what_was_not_recorded_is_absent(mahru, dancing, person, absent, gone):
    joints = {name: values for name, values in person.joints.items() if name not in absent}
    found = {quantity for quantity, _ in body(mahru, dancing, replace(person, joints=joints))}
    assert found == {HEAD, THIGH, SHANK, ROOT, ROOT_HEIGHT, HEADING} - gone
    groups = {name: names for name, names in mahru.groups.items() if not name.endswith("_leg")}
    legless = replace(mahru, groups=groups)
    assert {quantity for quantity, _ in body(legless, dancing, person)} == {HEAD}
