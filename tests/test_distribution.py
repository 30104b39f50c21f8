"""The distribution has its own name, and no line of the project installs the other project `simbench`."""

import re
import sys
from itertools import chain
from pathlib import Path

import pytest

import simbench

# pytest requires tomli where Python has no tomllib.
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAME, OTHER = "simbench-robotics", "simbench"

# A command that installs, up to where the shell begins another one, or a comment.
INSTALLS = re.compile(
    r"""(?:\b(?:pip3?|pip\s+--?\S+)\s+(?:install|download|wheel|lock)
        |\buv\s+(?:add|pip\s+(?:install|compile)|tool\s+(?:install|run))
        |\buv\s+run\b(?=[^\n]*--with)|\buvx
        |\bpipx\s+(?:install|run|inject|upgrade)
        |\b(?:poetry|pdm|rye|hatch)\s+add
        |\b(?:conda|mamba|micromamba)\s+install)
        (?P<what>[^\n;&|`#]*)""",
    re.VERBOSE,
)
REQUIREMENT = re.compile(rf"(?<![\w./-])['\"]?{OTHER}(?:\[[^\]\n]*\])?(?=['\")\s]|[<>=!~@,.]\s*|$)")
EXTRA = re.compile(rf"\b{OTHER}\[\s*(?:{'|'.join(PROJECT['project']['optional-dependencies'])})\b")


def wrong_installs(text):
    """Return the parts of a text that would install the other project, or name an extra of it."""
    lines = text.replace("\\\n", " ")
    commands = [each[0] for each in INSTALLS.finditer(lines) if REQUIREMENT.search(each["what"])]
    return commands + [each[0] for each in EXTRA.finditer(lines)]


@pytest.mark.parametrize(
    "line",
    [
        "pip install simbench",
        "pip install 'simbench[study]'",
        "pip install \\\n    simbench",
        "uv add simbench",
        "pipx install simbench",
        "install simbench[test] first",
    ],
)
def test_lines_that_install_the_other_project_are_caught(line):
    assert wrong_installs(line)


@pytest.mark.parametrize(
    "line",
    [
        'pip install -e ".[test]"',
        "pip install simbench-robotics",
        ".venv/bin/pip install -e . && .venv/bin/simbench run drawer",
        "pip install git+https://github.com/simbench-robotics/simbench",
        "pip install dist/simbench_robotics-0.1.0-py3-none-any.whl",
    ],
)
def test_other_lines_are_allowed(line):
    assert wrong_installs(line) == []


def texts():
    """Every file whose commands and messages users follow."""
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", ".pre-commit-config.yaml"):
        yield ROOT / name
    for folder, pattern in (
        ("docs", "**/*.md"),
        (".github", "**/*.*"),
        ("examples", "**/*.*"),
        ("samples", "**/*.md"),
        ("simbench", "**/*.py"),
        ("scripts", "**/*.py"),
    ):
        yield from (path for path in (ROOT / folder).glob(pattern) if path.is_file())


def test_no_line_installs_the_other_project():
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in texts()
        if path.suffix not in (".pyc", ".onnx")
        and (wrong := wrong_installs(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_the_distribution_has_its_own_name_and_requires_itself_by_it():
    project = PROJECT["project"]
    assert project["name"] == NAME
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = [re.match(r"[\w.-]+", requirement)[0] for requirement in requirements]
    assert OTHER not in names
    assert NAME in names
    assert project["scripts"] == {OTHER: "simbench.cli.main:main"}


def test_the_version_is_in_one_place():
    project = PROJECT["project"]
    assert project["dynamic"] == ["version"]
    assert "version" not in project
    path = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    # As hatchling finds it.
    (version,) = re.findall(
        r"""^__version__ *= *["'](.+)["']$""", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert version == simbench.__version__


def test_the_wheel_holds_every_folder_of_data():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for kind in ("robots", "scenarios", "marker_maps", "samples"):
        assert included[kind] == f"simbench/data/{kind}"
    assert all((ROOT / source).exists() for source in included)
