"""Workflows, hooks, forms, citation and the guide for contributors name what exists, and agree."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

# pytest requires tomli where Python has no tomllib.
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def steps(workflow):
    return [step for job in read(workflow)["jobs"].values() for step in job["steps"]]


def names(path):
    """Names in a workflow's commands, which are the files and folders of the checkout that they use."""
    commands = "\n".join(step.get("run", "") for step in steps(path))
    return {word for line in commands.splitlines() for word in shlex.split(line, comments=True)}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_complete(path):
    workflow = read(path)
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True]
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["runs-on"] == "ubuntu-latest"
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


def test_workflows_install_extras_and_use_files_that_exist():
    extras = PROJECT["project"]["optional-dependencies"]
    used = set().union(*map(names, WORKFLOWS))
    installed = {extra for word in used for extra in re.findall(r"^\.\[(\w+)\]$", word)}
    assert installed == {"test", "docs"} <= set(extras)
    assert ".ci/run" in used
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    # The site is built by the command that CONTRIBUTING.md names.
    (build,) = [
        step["run"] for step in steps(ROOT / ".github/workflows/docs.yml") if "sphinx" in step.get("run", "")
    ]
    assert build.strip() in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {"-W", "-n"} <= set(build.split())


def test_tested_versions_of_python_are_those_of_the_classifiers():
    (job,) = read(".github/workflows/tests.yml")["jobs"].values()
    tested = job["strategy"]["matrix"]["python"]
    classifiers = PROJECT["project"]["classifiers"]
    assert tested == [each.split(" :: ")[-1] for each in classifiers if re.search(r":: 3\.\d+$", each)]
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"
    # One version does everything, the others run the tests.
    conditions = {step["if"] for step in job["steps"] if "if" in step}
    (version,) = {re.search(r"'([\d.]+)'$", condition)[1] for condition in conditions}
    assert version in tested
    assert {condition.split()[1] for condition in conditions} == {"==", "!="}
    for path in WORKFLOWS:
        for step in steps(path):
            chosen = step.get("with", {}).get("python-version", tested[0])
            assert chosen == "${{ matrix.python }}" or chosen in tested


def test_a_release_is_of_the_tagged_version_and_needs_no_password():
    release = read(".github/workflows/release.yml")
    assert release[True] == {"push": {"tags": ["v*"]}}
    distribution = PROJECT["project"]["name"].replace("-", "_")
    (check,) = [
        step["run"] for step in release["jobs"]["build"]["steps"] if "GITHUB_REF_NAME" in step.get("run", "")
    ]
    assert f"dist/{distribution}-${{GITHUB_REF_NAME#v}}-py3-none-any.whl" in check
    publish = release["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]["url"].endswith(f"/{PROJECT['project']['name']}/")
    assert publish["steps"][-1] == {"uses": "pypa/gh-action-pypi-publish@release/v1"}


def test_the_wheel_of_ci_is_the_distribution():
    wheel = f"{PROJECT['project']['name'].replace('-', '_')}-*.whl"
    assert f'"$work"/{wheel}' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_hooks_use_the_ruff_of_ci_and_commands_that_exist():
    ruff, local = read(".pre-commit-config.yaml")["repos"]
    (low, high) = re.search(
        r"ruff>=([\d.]+),<([\d.]+)", " ".join(PROJECT["project"]["optional-dependencies"]["lint"])
    ).groups()
    version, low, high = (
        tuple(map(int, text.split("."))) for text in (ruff["rev"].removeprefix("v"), low, high)
    )
    assert low <= version < high
    assert [hook["id"] for hook in ruff["hooks"]] == ["ruff-check", "ruff-format"]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for hook in local["hooks"]:
        command, _, rest = hook["entry"].partition(" ")
        assert f'"$tool/{command}" {rest}'.rstrip() + "\n" in ci
        assert re.search(hook["files"], "simbench/motion/phases.py")
