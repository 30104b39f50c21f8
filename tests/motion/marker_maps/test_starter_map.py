"""The starter map that `simbench motion map` writes gives the motion that is read without it."""

import numpy as np
import pytest
from skeleton_dialects import dialects, known_motion, write_bvh

from simbench.cli.main import main
from simbench.motion.marker_maps.map_library import ready_maps
from simbench.motion.marker_maps.starter_map import points_in_map, reduce_map
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion

DIALECTS = dialects()


@pytest.fixture
def cli(capsys):
    """Run the command line: exit status, output and errors."""

    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize("name", ["mixamo", "lafan1", "biped", "SOMA 77", "unnamed"])
def test_the_map_gives_the_same_motion(tmp_path, cli, name):
    path, written = tmp_path / "clip.bvh", tmp_path / "map.yaml"
    path.write_text(write_bvh(DIALECTS[name], known_motion()), encoding="utf-8")
    code, out, err = cli("motion", "map", path, "--out", written)
    assert (code, err) == (0, "")
    assert str(written) in out
    plain, mapped = (read_motion(path, ReadOptions(marker_map=chosen)) for chosen in (None, str(written)))
    assert set(plain.joints) == set(mapped.joints)
    for joint, track in plain.joints.items():
        np.testing.assert_allclose(mapped.joints[joint], track, atol=1e-9)
    for segment, frames in plain.segments.items():
        np.testing.assert_allclose(mapped.segments[segment], frames, atol=1e-9)


def test_a_shipped_map_is_written_as_far_as_it_applies(tmp_path, cli):
    written = tmp_path / "map.yaml"
    assert cli("motion", "map", "sample:walk", "--out", written)[0] == 0
    text = written.read_text(encoding="utf-8")
    assert "reduced to the recorded points" in text
    plain, mapped = (
        read_motion("sample:walk", ReadOptions(marker_map=chosen)) for chosen in (None, str(written))
    )
    for joint, track in plain.joints.items():
        np.testing.assert_allclose(mapped.joints[joint], track, atol=1e-9)
    for segment, frames in plain.segments.items():
        np.testing.assert_allclose(mapped.segments[segment], frames, atol=1e-9)


def test_recipes_without_their_points_are_left_out():
    whole = ready_maps()["plug_in_gait"]
    names = [point for point in points_in_map(whole) if not point.startswith(("R", "right"))]
    reduced = reduce_map(whole, names)
    assert "left_shoulder" in reduced.joints
    assert not any(point.startswith("R") and point[1:].isupper() for point in points_in_map(reduced))
