from pathlib import Path
from types import SimpleNamespace

import pytest

from simbench.runs.baseline import Check, Verdict
from simbench.runs.regression import Case, CaseResult, append_summary, escape_markdown, summary_markdown


def case(name, missing=""):
    return Case(SimpleNamespace(name=name), Path("baseline.json"), {}, missing)


def drift(name, outcome="worse"):
    return Verdict(name, 1.0, 1.25, 0.01, "lower", outcome)


RESULTS = [
    CaseResult(case("walks"), (drift("a_m", "holds"), drift("b_m", "better"))),
    CaseResult(
        case("fa|ls"),
        (drift("zmp.rms_m"), drift("old_m", "missing")),
        (Check("fell", False, "false", value=True),),
    ),
    CaseResult(case("stops"), error="no <plan> | here"),
]


def test_what_failed_comes_first_with_its_checks_and_drifts():
    lines = summary_markdown(RESULTS, [case("left", "needs a package")]).splitlines()
    assert lines[0] == "### ❌ simbench check: 1 of 3 scenarios hold"
    assert lines[4:] == [
        r"| fa\|ls | ❌ failed | `fell` is true, must be false | "
        r"`zmp.rms_m` 1 → 1.25 (allowed + 0.01)<br>`old_m` is missing |",
        r"| stops | ❌ failed | no \<plan\> \| here |  |",
        "| walks | ✅ holds |  |  |",
        "| left | not checked | needs a package | |",
    ]
    assert summary_markdown(RESULTS[:1]).startswith("### ✅ simbench check: 1 of 1 scenarios hold\n")


def test_a_scenario_with_a_dossier_links_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "failures" / "stops").mkdir(parents=True)
    (tmp_path / "failures" / "walks").mkdir()
    text = summary_markdown(RESULTS, dossiers=Path("failures"))
    assert "| [stops](failures/stops) | ❌" in text
    assert text.count("](") == 1
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "| stops<br>`failures/stops` | ❌" in summary_markdown(RESULTS, dossiers=Path("failures"))


def test_many_drifts_are_cut_with_their_number():
    many = CaseResult(case("a"), tuple(drift(f"m{number}_m") for number in range(30)))
    line = summary_markdown([many]).splitlines()[4]
    assert line.count("<br>") == 8
    assert line.endswith("… and 22 more |")


def test_a_summary_is_added_to_what_the_file_holds(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    append_summary(path, RESULTS)
    assert path.read_text(encoding="utf-8") == "before\n" + summary_markdown(RESULTS)


def test_the_table_is_rendered_as_it_is_meant():
    """By the parser of the documentation, which follows GitHub's rules for tables."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": False}).enable("table")
    hostile = CaseResult(case("<img src=x> *a* [b](javascript:c)\n| x"), error="`code` </td>")
    page = markdown.render(summary_markdown([hostile, *RESULTS]))
    assert page.count("<tr>") == 1 + 4
    assert page.count("<td>") == 4 * 4
    assert "<td>&lt;img src=x&gt; *a* [b](javascript:c) | x</td>" in page
    assert "<a " not in page
    assert "<td>`code` &lt;/td&gt;</td>" in page


def test_what_markdown_reads_as_its_own_is_escaped():
    assert escape_markdown("a_b\n\x1b|") == r"a\_b \\x1b\|"
