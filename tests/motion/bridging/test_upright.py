"""An upper body whose trunk stands along another axis than the file's is turned, and it is said."""

from dataclasses import replace

import numpy as np
import pytest
from marker_people import MARKER_SETS, make_body, record_markers

from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_preparation import prepare_markers
from simbench.motion.read_options import ReadOptions


@pytest.fixture(scope="module")
def arms():
    body = make_body(count=60)
    ends = ("SHO", "ELB", "WRA", "WRB", "FIN", "C7", "CLAV", "T10", "STRN")
    markers = {k: v for k, v in MARKER_SETS["plug_in_gait"](body).items() if k.endswith(ends)}
    return record_markers(body, markers)


def test_the_trunk_decides_where_no_pelvis_is(arms):
    expected = to_human_motion(prepare_markers(arms, ReadOptions())[0], ReadOptions())
    assert expected.doubts == ()
    found = to_human_motion(prepare_markers(replace(arms, up="y"), ReadOptions())[0], ReadOptions())
    assert found.doubts == (
        "vertical axis z: the trunk points along it in 100% of the frames (y is the file's)",
    )
    for name, track in expected.joints.items():
        np.testing.assert_allclose(found.joints[name], track, atol=1e-12)
    # Cyclic changes of axes are rotations.
    turned = replace(arms, positions=np.roll(arms.positions, 1, axis=2), up=None)
    found = to_human_motion(prepare_markers(turned, ReadOptions())[0], ReadOptions())
    assert "vertical axis x" in found.doubts[0]
    np.testing.assert_allclose(found.joints["left_wrist"], expected.joints["left_wrist"], atol=1e-9)


def test_what_the_user_declares_stays(arms):
    options = ReadOptions(up="y")
    assert prepare_markers(replace(arms, up="y"), options)[0].doubts == ()
