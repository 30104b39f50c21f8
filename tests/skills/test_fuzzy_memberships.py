import numpy as np
import pytest
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.skills.fuzzy_rules import read_memberships, read_shipped_memberships

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    THESIS_MEMBERSHIPS = tuning.THESIS_MEMBERSHIPS
    flatten_memberships = tuning.flatten_memberships
    unflatten_memberships = tuning.unflatten_memberships
    write_memberships = tuning.write_memberships
    make_constraints = tuning.make_constraints


def test_flat_and_back():
    numbers = flatten_memberships(THESIS_MEMBERSHIPS)
    assert unflatten_memberships(numbers) == THESIS_MEMBERSHIPS
    other = numbers + np.arange(len(numbers))
    np.testing.assert_array_equal(flatten_memberships(unflatten_memberships(other)), other)


def test_file_and_back(tmp_path):
    write_memberships(THESIS_MEMBERSHIPS, tmp_path / "terms.yaml", "set by hand")
    assert read_memberships(tmp_path / "terms.yaml") == THESIS_MEMBERSHIPS
    assert [path.name for path in tmp_path.iterdir()] == ["terms.yaml"]
    assert "# set by hand" in (tmp_path / "terms.yaml").read_text()


def test_shipped_terms_keep_to_the_limits():
    numbers = flatten_memberships(read_shipped_memberships())
    bounds, order = make_constraints()
    # The file has four digits.
    assert (numbers >= bounds.lb - 1e-4).all()
    assert (numbers <= bounds.ub + 1e-4).all()
    assert (order.A @ numbers >= np.asarray(order.lb) - 2e-4).all()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("vElbowYaw:", "vElbow:", "inputs: must have exactly vShoulderPitch"),
        (
            "XS: [0.0000, 0.1250]",
            "XXS: [0.0000, 0.1250]",
            "inputs.vShoulderPitch: must have exactly XS, M, XB",
        ),
        ("XS: [0.0000, 0.1250]", "XS: [0.0000]", "inputs.vShoulderPitch.XS: must be two numbers"),
        ("XS: [0.0000, 0.1250]", "XS: [0.0000, 0.0001]", r"inputs.vShoulderPitch.XS: .* narrower"),
        ("XS: [0.2000, 0.4000]", "XS: [0.4000, 0.2000]", r"inputs.ergonomyShoulderPitch.XS: .* narrower"),
        ("XS: [0.0000, 0.1250]", "XS: [much, 0.2]", "'much' is not a number from 0 to 1"),
        ("XB: 0.9500}", "XB: 0.7}", "outputs.energy: peaks must"),
        ("XB: 0.9500}", "XB: 1.5}", "1.5 is not a number from 0 to 1"),
        ("inputs:", "inputs: {", "not valid YAML"),
    ],
)
def test_bad_files_are_refused(tmp_path, old, new, said):
    path = tmp_path / "terms.yaml"
    write_memberships(THESIS_MEMBERSHIPS, path, "set by hand")
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(SkillError, match=said) as error:
        read_memberships(path)
    assert "\n" not in str(error.value)
    assert "terms.yaml" in str(error.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(SkillError):
        read_memberships(tmp_path / "none.yaml")
    with pytest.raises(SkillError, match="cannot be written"):
        write_memberships(THESIS_MEMBERSHIPS, tmp_path / "none" / "terms.yaml", "")
