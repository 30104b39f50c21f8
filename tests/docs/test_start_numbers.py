"""The numbers in the outputs that the start pages show are those of the baselines."""

import json
import re
from pathlib import Path

import pytest

from simbench.resources import resource_dir
from simbench.runs.metric_catalogue import usual_tolerance

ROOT = Path(__file__).parents[2]
EXCERPT = re.compile(r"<!-- excerpt of: (\w+) -->\n\n```text\n(.*?)```", re.S)
ROUNDING = 1e-3
"""Relative: the terminal shows four digits."""


def excerpts():
    for page in sorted((ROOT / "docs" / "start").glob("*.md")):
        for scenario, text in EXCERPT.findall(page.read_text(encoding="utf-8")):
            yield pytest.param(scenario, text, id=f"{page.stem}-{scenario}")


@pytest.mark.parametrize(("scenario", "text"), list(excerpts()))
def test_shown_output_is_that_of_the_baseline(scenario, text):
    path = resource_dir("scenarios") / "baselines" / f"{scenario}.json"
    baseline = json.loads(path.read_text(encoding="utf-8"))
    rows = [line.split() for line in text.splitlines()[1:]]
    assert len(rows) > 5
    for name, shown, *_ in rows:
        entry = baseline[name]
        if isinstance(entry["value"], bool):
            assert shown == str(entry["value"]).lower()
            continue
        allowed = max(usual_tolerance(name, entry["value"]), 5.0 * entry.get("spread", 0.0))
        assert float(shown) == pytest.approx(entry["value"], rel=ROUNDING, abs=allowed), name
