"""The reference pages hold every entry, and what they link to exists."""

import re

import pages
import pytest
import reference_pages

from simbench import errors
from simbench.motion.marker_maps.map_library import load_map, ready_maps
from simbench.motion.readers import SCHEMES, SUFFIXES
from simbench.runs.explain.documented_names import log_entries, robot_key_entries, scenario_key_entries
from simbench.runs.explain.lookup import glossary_entries
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


def test_every_class_of_errors_and_every_word_is_listed():
    page = reference_pages.errors_page()
    own = [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and each.__module__ == errors.__name__
    ]
    for each in own:
        listed = issubclass(each, errors.SimbenchError) and each is not errors.SimbenchError
        assert (f"`{each.__name__}`" in page) is listed
    assert "A recording cannot be read" in page
    assert reference_pages.words_page().count("\n| ") == len(glossary_entries())


def test_every_page_that_an_explanation_names_exists():
    named = {each.page for each in glossary_entries() if each.page}
    assert named
    missing = [page for page in named if not (pages.DOCS / f"{page.partition('#')[0]}.md").is_file()]
    assert not missing


def test_every_format_and_marker_map_is_named_where_recordings_are_explained():
    text = (pages.DOCS / "how_to" / "recording.md").read_text(encoding="utf-8")
    for name in ready_maps():
        assert f"`{name}`" in text
    for suffix in set(SUFFIXES) - {".txt"}:
        assert re.search(rf"{suffix[1:]}\b", text, flags=re.IGNORECASE), suffix
    for scheme in SCHEMES:
        assert f"{scheme}:" in text


def test_every_marker_map_that_is_shown_can_be_read(tmp_path):
    shown = [
        b for b in pages.read_blocks(pages.DOCS / "how_to" / "recording.md") if "identified_by" in b.text
    ]
    assert len(shown) >= 2
    for number, block in enumerate(shown):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block.text, encoding="utf-8")
        assert load_map(path).joints
