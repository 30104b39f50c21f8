"""Recordings of skeletons that were spoiled in known ways are never misread silently."""

import numpy as np
import pytest
from script_modules import loaded_script


@pytest.fixture(scope="module")
def study():
    with loaded_script("studies/spoiled_motions.py") as module:
        yield module


@pytest.mark.parametrize("layout", ["mixamo", "lafan1", "unnamed"])
def test_no_spoiled_file_is_misread_silently(study, tmp_path, layout):
    rng = np.random.default_rng(3)
    dialect = study.known.dialects()[layout]
    body = study.known.known_motion(frames=30, rate=dialect.rate, heading=1.2)
    found = {}
    for kind, spoil in (study.SPOILERS | study.ARRAY_SPOILERS).items():
        spoiled = spoil(dialect, body, rng)
        found[kind], detail = study.judge(study.write(spoiled, tmp_path, dialect.rate), body, spoiled)
        assert found[kind] != "silent", f"{kind}: {detail}"
    assert found["not at all"].startswith("right")
    assert found["axes turned by right angles"].startswith("right")
    assert found["mirrored"] in ("told", "refused")
    assert found["an array, not at all"].startswith("right")
    assert found["a mirrored array"] == "refused"


def test_a_misreading_without_a_doubt_would_be_counted(study, tmp_path):
    dialect = study.known.dialects()["mixamo"]
    body = study.known.known_motion(frames=30, rate=30.0, heading=0.0)
    other = study.known.known_motion(frames=30, rate=30.0, heading=0.0, elbows=False)
    path = tmp_path / "good.bvh"
    path.write_text(study.known.write_bvh(dialect, body), encoding="utf-8")
    assert study.judge(path, other, study.Spoiled(""))[0] == "silent"
