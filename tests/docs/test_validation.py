"""The validation pages and the tables that they take from the result files of scripts/reproduce."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "validation").glob("*.md"))
RESULTS = sorted((ROOT / "docs" / "validation" / "results").glob("*.json"))
DIRECTIVE = re.compile(r"^:::\{validation-(\w+)\}[ ]*(\S*)[ ]*(.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def validation():
    spec = importlib.util.spec_from_file_location("validation", ROOT / "docs" / "_ext" / "validation.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def uses(kind):
    """Find what a kind of directive is asked for, on all pages: page, file, title."""
    found = [(page, *use) for page in PAGES for use in DIRECTIVE.findall(page.read_text(encoding="utf-8"))]
    return [(page, name, title) for page, what, name, title in found if what == kind]


def test_every_table_is_shown_on_the_page_of_its_paper(validation):
    shown = {}
    for page, name, title in uses("table"):
        path = ROOT / "docs" / "validation" / "results" / name
        results = validation.read_results(path)
        assert page.stem == results["paper"], f"{page.name} shows {name}"
        shown.setdefault(name, []).extend(
            table["title"] for table in validation.choose_tables(results, title)
        )
    assert sorted(shown) == [path.name for path in RESULTS]
    for path in RESULTS:
        titles = [table["title"] for table in validation.read_results(path)["tables"]]
        assert titles
        assert sorted(set(shown[path.name])) == sorted(set(titles)), path.name


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_where_the_paper_has_numbers_both_are_shown(validation, path):
    for table in validation.read_results(path)["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
        names = [column.split(",")[0].split(" ")[0] for column in table["columns"]]
        theirs = [index for index, name in enumerate(names) if name in ("paper", "printed")]
        text = validation.render_results(path, table["title"])
        for row in table["rows"]:
            cells = [row[index] for index in range(1, len(row)) if index not in theirs]
            if any(row[index] for index in theirs):
                assert any(cells) or table["title"].startswith("Table 3: calculations"), row
            for cell in row:
                assert validation._escape(cell) in text
