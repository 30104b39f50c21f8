"""The reference pages hold every entry, and what they link to exists."""

import re

import pages
import pytest
import reference_pages

from simbench.motion.marker_maps.map_library import load_map
from simbench.runs.explain.documented_names import log_entries, robot_key_entries, scenario_key_entries
from simbench.runs.metric_catalogue import metric_entries


def test_every_metric_is_listed_and_defined_once():
    page = reference_pages.metrics_page()
    anchors = re.findall(r"^\((metric-[^)]+)\)=$", page, flags=re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(metric_entries())
    assert set(re.findall(r"\]\(#(metric-[^)]+)\)", page)) == set(anchors)
    assert len(re.findall(r"^## ", page, flags=re.MULTILINE)) == 1 + len(
        {e.present for e in metric_entries()}
    )
    assert "`fell`](#metric-fell) | - | false |" in page


def test_every_variable_is_listed_once():
    page = reference_pages.log_page()
    listed = re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(entry.name for entry in log_entries())


@pytest.mark.parametrize("sections", [scenario_key_entries(), robot_key_entries()], ids=["scenario", "robot"])
def test_every_key_is_listed_with_its_facts(sections):
    page = reference_pages.keys_page(sections, "Top level")
    assert page.count("<small>") == sum(len(keys) for _, _, keys in sections)
    required = [key for _, _, keys in sections for key in keys if key.default == "required"]
    assert page.count("**required**") == len(required) > 0


def test_every_marker_map_that_is_shown_can_be_read(tmp_path):
    shown = [
        b for b in pages.read_blocks(pages.DOCS / "how_to" / "recording.md") if "identified_by" in b.text
    ]
    assert len(shown) >= 2
    for number, block in enumerate(shown):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block.text, encoding="utf-8")
        assert load_map(path).joints
