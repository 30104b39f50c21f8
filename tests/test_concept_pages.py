"""The concept pages name modules, keys and metrics that exist; their pictures are small SVG files."""

import fnmatch
import importlib
import json
import re
import typing
from pathlib import Path

import pytest

from simbench.runs.baseline import DIVERGED
from simbench.runs.metric_catalogue import metric_entries
from simbench.runs.scenario.schema import Scenario

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "concepts").glob("*.md"))
FILES = (".yaml", ".json", ".nc", ".csv", ".mp4", ".parquet")


def inline_code(page):
    """Inline code of a page, without its blocks of code."""
    text = re.sub(r"```(?!\{).*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def scenario_keys(section=Scenario, prefix=""):
    """Dotted keys of a scenario, those of sections in it included."""
    for name, field in section.model_fields.items():
        yield prefix + name
        for part in (field.annotation, *typing.get_args(field.annotation)):
            if isinstance(part, type) and hasattr(part, "model_fields"):
                yield from scenario_keys(part, f"{prefix}{name}.")


@pytest.fixture(scope="module")
def known():
    """Scenario keys, the metrics of all shipped baselines and of the catalogue, and those of failed runs."""
    names = {"timing.step_overhead", DIVERGED, *scenario_keys(), *(entry.name for entry in metric_entries())}
    for path in (ROOT / "scenarios" / "baselines").glob("*.json"):
        names |= set(json.loads(path.read_text(encoding="utf-8")))
    return names


def exists(dotted):
    """Whether a module, or a name in one, can be imported."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for name in parts[count:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_modules_named_on_a_page_exist(page):
    named = [code for code in inline_code(page) if code.startswith("simbench.")]
    assert [code for code in named if not exists(code)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_keys_and_metrics_named_on_a_page_exist(page, known):
    """`zmp.rms_m`, `stepping.*`, `<fixture>.<joint>_ratio`, `robot.place: auto`; not files or Python."""
    unknown = []
    for code in inline_code(page):
        name = code.partition(":")[0].strip()
        if not re.fullmatch(r"[a-z<*][\w<>*]*(\.[\w<>*]+)+", name) or name.endswith(FILES):
            continue
        if name.startswith("simbench.") or name in ("robot.joint_names", "xarray.Dataset"):
            continue
        if not fnmatch.filter(known, re.sub(r"<\w+>", "*", name)):
            unknown.append(code)
    assert unknown == []
