"""Explicit models by a robot's name: shipped, or derived once and kept."""

import numpy as np
import pytest

from simbench.dynamics import model_library
from simbench.dynamics.arm import read_arm
from simbench.dynamics.evaluation import explicit_terms
from simbench.dynamics.generated import puma560_abbreviated, puma560_full
from simbench.dynamics.model_library import explicit_model_of
from simbench.dynamics.newton_euler import dynamics_terms
from simbench.errors import RobotError


def test_pumas_ship(monkeypatch):
    monkeypatch.setattr(model_library, "derive_explicit_model", None)
    assert explicit_model_of("puma560").module is puma560_full
    assert explicit_model_of("puma560", abbreviated=True).module is puma560_abbreviated


def test_others_are_derived_once(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = explicit_model_of("direct_drive_arm")
    assert len(list(tmp_path.rglob("*.py"))) == 1
    monkeypatch.setattr(model_library, "derive_explicit_model", None)
    q = np.array([[0.3, -0.7]])
    for model in (first, explicit_model_of("direct_drive_arm")):
        for ours, theirs in zip(
            explicit_terms(model, q), dynamics_terms(read_arm("direct_drive_arm"), q), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_where_nothing_can_be_kept_it_is_derived(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert explicit_model_of("direct_drive_arm").joints == 2


def test_a_robot_without_rows_has_none():
    with pytest.raises(RobotError, match="has no row; allowed in an arm"):
        explicit_model_of("mahru")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.partition("\n")[2],
        lambda text: text + "raise SystemExit\n",
        lambda text: text.replace("0", "1"),
    ],
    ids=["truncated", "empty", "without checksum", "longer", "other numbers"],
)
def test_a_kept_model_that_is_damaged_is_not_executed_but_derived_anew(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    derived = []
    derive = model_library.derive_explicit_model
    monkeypatch.setattr(
        model_library, "derive_explicit_model", lambda arm: derived.append(arm) or derive(arm)
    )
    first = explicit_model_of("direct_drive_arm")
    (path,) = tmp_path.rglob("*.py")
    whole = path.read_text(encoding="utf-8")
    path.write_text(damage(whole), encoding="utf-8")
    again = explicit_model_of("direct_drive_arm")
    assert len(derived) == 2
    assert path.read_text(encoding="utf-8") == whole
    q = np.array([[0.3, -0.7]])
    for ours, theirs in zip(explicit_terms(first, q), explicit_terms(again, q), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_user_without_a_home_directory_keeps_nothing(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert explicit_model_of("direct_drive_arm").joints == 2
    assert list(tmp_path.iterdir()) == []
