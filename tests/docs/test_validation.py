"""The validation pages and the tables that they take from the result files of scripts/reproduce."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from script_modules import loaded_script

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


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    table = {
        "title": "Table 4.1: a_b",
        "source": "table 4.1",
        "unit": "",
        "columns": ["task", "paper", "ours"],
        "rows": [["[x|y]", "46.6", "-"], ["$z$", "< 2", ""]],
        "note": "inf: *none*",
    }
    check = {"what": "a < b", "holds": False}
    content = {
        "paper": "tomic2018",
        "script": "scripts/reproduce/tomic2018/ch4.py",
        "command": "python scripts/reproduce/tomic2018/ch4.py",
        "simbench": "0.1.0",
        "date": "2026-01-02",
        "duration_s": 4587,
        "timed": "processor time",
        "scope": "7 of 15",
        "checks": [check, {"what": "c", "holds": True}],
        "remarks": ["one_two"],
        "tables": [
            table,
            table | {"title": "Long", "rows": [["a", "1", "2"]] * 31, "note": "", "source": ""},
        ],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_table_as_markdown(validation, small):
    assert validation.render_results(small, "Table").split("\n") == [
        r"**Table 4.1: a\_b** *(in the paper: table 4.1)*",
        "",
        "| task | paper | ours |",
        "| --- | --- | ---: |",
        r"| \[x\|y\] | 46.6 | - |",
        r"| \$z\$ | \< 2 |  |",
        "",
        r"inf: \*none\*",
    ]
    assert validation.render_results(small).split("\n")[-1] == "::::"
    assert validation.render_results(small, "Long").startswith("::::{dropdown} Long\n\n| task |")
    with pytest.raises(ValueError, match=r"ch4\.py: no table 'Figure'; there are 'Table 4\.1: a_b', 'Long'"):
        validation.render_results(small, "Figure")


def test_the_run_says_what_is_missed(validation, small):
    text = validation.render_run(small)
    assert "Computed: 7 of 15." in text
    assert "Made on 2026-01-02 (simbench 0.1.0) in 76 min (processor time) by" in text
    assert "```sh\npython scripts/reproduce/tomic2018/ch4.py\n```" in text
    assert text.endswith("- **missed:** a \\< b\n- ✓ c")
    assert validation.render_remarks(small) == r"- one\_two"
    assert validation.render_summary(small.parent).split("\n")[2:] == [
        "| [tomic2018](tomic2018.md) | `ch4.py` | 7 of 15 | 1 of 2 | 76 min | 2026-01-02 |"
        " older than records of what results are computed from |"
    ]


def test_the_run_says_what_it_was_made_from(validation, small):
    content = json.loads(small.read_text(encoding="utf-8"))
    parts = {
        "code": "c",
        "files": {},
        "data": {},
        "after": {},
        "versions": {"python": "3.11.7", "numpy": "2.4"},
    }
    digests = set()
    for changed in (
        {},
        {"code": "d"},
        {"data": {"robots/a/a.urdf": "1"}},
        {"after": {"b": "2"}},
        {"versions": {}},
    ):
        small.write_text(json.dumps(content | {"computed_from": parts | changed}), encoding="utf-8")
        digests |= set(
            re.findall(r"\(digest `([0-9a-f]{8})`, simbench 0\.1\.0", validation.render_run(small))
        )
    # Other versions of libraries are no reason to compute again.
    assert len(digests) == 4
    small.write_text(json.dumps(content | {"computed_from": parts}), encoding="utf-8")
    assert ", simbench 0.1.0, python 3.11.7, numpy 2.4) in 76 min" in validation.render_run(small)


@pytest.mark.parametrize(
    ("seconds", "words"), [(99, "99 s"), (100, "2 min"), (5940, "99 min"), (7500, "2 h 5 min")]
)
def test_durations_are_readable(validation, seconds, words):
    assert validation.say_duration(seconds) == words


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


def test_every_file_is_made_by_a_part_of_one_command():
    with loaded_script("reproduce/parts.py") as parts:
        made = {part.name: f"scripts/reproduce/{part.script}" for part in parts.PARTS}
    assert made == {path.stem: json.loads(path.read_text(encoding="utf-8"))["script"] for path in RESULTS}


def test_every_file_says_how_it_was_made():
    assert sorted(name for _, name, _ in uses("run")) == [path.name for path in RESULTS]
    for path in RESULTS:
        results = json.loads(path.read_text(encoding="utf-8"))
        assert (ROOT / results["script"]).is_file()
        assert results["command"].startswith(f"python {results['script']}")
        assert "/tmp" not in results["command"]
        assert results["scope"], path.name
        assert results["duration_s"] > 0
        assert path.stem.startswith(results["paper"])


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_only_what_exists(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:scripts|tests|robots|docs)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`(simbench(?:\.\w+)+)`", text):
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
    for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        picture = page.parent / name
        assert picture.is_file(), name
        assert picture.stat().st_size <= 100_000


def test_every_paper_has_a_page_and_every_page_says_what_is_not_reached():
    papers = {path.name for path in (ROOT / "scripts" / "reproduce").iterdir() if list(path.glob("*.py"))}
    assert papers == {page.stem for page in PAGES} - {"index", "coverage"}
    index = (ROOT / "docs" / "validation" / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        if page.stem in papers:
            assert f"({page.name})" in index
            headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert headings[:4] == [
                "Paper",
                "What simbench implements",
                "Independent checks",
                "Mistakes in the printed original",
            ]
            assert headings[-1] == "What is not reached, and why"
