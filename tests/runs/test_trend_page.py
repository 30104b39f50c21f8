"""A history of 20 commits with a step and a drift, what is marked in it, and its page."""

import json
import re
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.errors import BaselineError
from simbench.runs.check_history import (
    HistoryRecord,
    append_history,
    change_effect,
    find_trends,
    job_address,
    read_history,
)
from simbench.runs.trend_page import write_trend

COMMITS = 20
METRICS = [f"group.value{number}_m" for number in range(60)]


def day(number):
    return (datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(days=number)).isoformat()


def record(number, metrics, scenario="drawer", **others):
    given = {"commit": f"{number:040x}", "outcome": "holds", "tolerances": {}, "versions": {}} | others
    return HistoryRecord(scenario, day(number), metrics=metrics, **given)


@pytest.fixture(scope="module")
def records():
    """Two scenarios with noise of 2 %; one metric steps at commit 12, another drifts."""
    generator, made = np.random.default_rng(7), []
    for number in range(COMMITS):
        for scenario in ("drawer", "dance"):
            metrics = {name: float(1.0 + 0.02 * generator.normal()) for name in METRICS}
            metrics |= {"fell": False, "note.text": "text", "zmp.min_margin_m": None, "grip.lost": 0}
            metrics["timing.realtime_factor"] = 2.0 if number < 10 else 20.0
            if scenario == "drawer":
                metrics["tracking.rms_rad"] = float(0.01 * (1.0 + 0.02 * generator.normal()))
                metrics["tracking.rms_rad"] *= 1.2 if number >= 12 else 1.0
                metrics["zmp.rms_m"] = 0.01 * (1.0 + 0.02 * generator.normal() + 0.015 * number)
            made.append(record(number, metrics, scenario, run=f"https://example.org/runs/{number}"))
    return made


def test_the_step_and_the_drift_are_marked_and_nothing_else(records):
    marked = [
        (scenario, metric, change.kind, change_effect(metric, change))
        for scenario, _, metrics in find_trends(records)
        for metric, _, changes in metrics
        for change in changes
    ]
    assert marked == [
        ("drawer", "tracking.rms_rad", "step", "worse"),
        ("drawer", "zmp.rms_m", "drift", "worse"),
    ]
    (drawer,) = (metrics for scenario, _, metrics in find_trends(records) if scenario == "drawer")
    step = drawer[0][2][0]
    assert (step.first, step.last) == (12, COMMITS - 1)
    assert {metric for metric, _, _ in drawer} == {
        name for name, value in records[0].metrics.items() if not isinstance(value, str) and value is not None
    }


def test_what_a_baseline_expects_nothing_of_is_drawn_and_not_marked(records):
    ignored = [each._replace(tolerances={"tracking.rms_rad": None, "zmp.rms_m": 0.1}) for each in records]
    trends = find_trends(ignored)
    assert not any(changes for _, _, metrics in trends for _, _, changes in metrics)
    assert any(metric == "tracking.rms_rad" for metric, _, _ in trends[1][2])


def test_a_run_that_failed_leaves_a_gap_and_the_others_keep_their_places():
    made = [record(number, {"fell": float(number >= 8)}) for number in range(16)]
    made[3] = record(3, {}, outcome="error", error="no plan")
    ((_, _, ((_, values, (change,)),)),) = find_trends(made)
    assert (change.first, change.last) == (8, 15)
    assert values[3] is None


def test_a_history_is_read_as_it_was_written_by_date(tmp_path):
    path = tmp_path / "history.jsonl"
    written = [
        record(2, {"fell": False, "a_m": 1.5, "b": None, "text": "x"}, tolerances={"a_m": 0.2, "c": None}),
        record(1, {}, outcome="error", error="failed", commit=""),
    ]
    append_history(path, written[:1])
    # As another program might leave it.
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    append_history(path, written[1:])
    assert read_history(path) == [written[1], written[0]]
    assert path.read_text(encoding="utf-8").count("\n") == 2


def test_numbers_that_are_not_finite_are_none_in_the_file(tmp_path):
    append_history(tmp_path / "h.jsonl", [record(1, {"a_m": float("nan"), "b_m": float("inf")})])
    assert read_history(tmp_path / "h.jsonl")[0].metrics == {"a_m": None, "b_m": None}


GOOD = {"scenario": "a", "date": day(1), "outcome": "holds", "metrics": {"fell": False}}


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"scenario": ', "not valid JSON"),
        ("[1]", "must hold a JSON object"),
        (GOOD | {"scenario": 3}, "scenario: must be a text"),
        (GOOD | {"date": "yesterday"}, "date: must be a time with its zone"),
        (GOOD | {"date": "2026-01-01"}, "date: must be a time with its zone"),
        (GOOD | {"outcome": "fine"}, "outcome: must be one of holds, failed, error"),
        (GOOD | {"metrics": {"a": [1]}}, "metrics: a: must be a number"),
        (GOOD | {"metrics": 1}, "metrics: must be an object"),
        (GOOD | {"tolerances": {"a": True}}, "tolerances: a: must be a number or null"),
        (GOOD | {"run": 1}, "run: must be a text"),
        ('{"scenario": NaN}', "not valid JSON"),
    ],
)
def test_a_bad_line_is_named_by_file_and_line(tmp_path, monkeypatch, capsys, line, part):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "h.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(f"{json.dumps(GOOD)}\n\n{text}\n", encoding="utf-8")
    with pytest.raises(BaselineError, match=r"h\.jsonl:3: "):
        read_history(path)
    # Neither is a page written from it, nor is anything added to it.
    for command in (["trend", "h.jsonl"], ["check", "drawer", "--history", "h.jsonl"]):
        assert main(command) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert said.err.startswith("error: h.jsonl:3: ")
        assert part in said.err
    assert [each.name for each in tmp_path.iterdir()] == ["h.jsonl"]


def test_an_empty_history_and_a_missing_one_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.jsonl").touch()
    assert main(["trend", "h.jsonl"]) == 2
    assert "h.jsonl: has no line" in capsys.readouterr().err
    assert main(["trend", "none.jsonl"]) == 2
    assert main(["trend", "h.jsonl", "--out", "a.pdf"]) == 2
    assert [each.name for each in tmp_path.iterdir()] == ["h.jsonl"]


def test_the_command_prints_what_it_marks_and_where_the_page_is(records, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    append_history(tmp_path / "h.jsonl", records)
    assert main(["trend", "h.jsonl", "--out", "t.html"]) == 0
    step, drift, page = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"drawer  tracking\.rms_rad  step at 0{9}: 0\.0\S+ → 0\.0\S+ rad .*, worse", step)
    assert re.match(r"drawer  zmp\.rms_m  drift from ", drift)
    assert page == "trend  t.html"


def read_page(made, tmp_path):
    page = tmp_path / "pages" / "trend.html"
    page.parent.mkdir(exist_ok=True)
    write_trend(find_trends(made), page, tmp_path / "history.jsonl")
    return page.read_text(encoding="utf-8")


def test_the_page_draws_every_metric_needs_no_other_file_and_links_the_runs(records, tmp_path):
    text = read_page(records, tmp_path)
    drawn = sum(len(metrics) for _, _, metrics in find_trends(records))
    # Those with changes are drawn twice.
    assert text.count("<svg ") == drawn + 2
    assert text.count("class='change worse'") == 2
    assert text.count("class='drift worse'") == 2
    assert not re.search(r"(src|href)='(?!https://example\.org/runs/)", text)
    data = json.loads(re.search(r"id='records'>(.*?)</script>", text, re.S)[1])
    assert [each["link"] for each in data[1]] == [f"https://example.org/runs/{n}" for n in range(COMMITS)]
    # What is shown of a value belongs to the record at its place.
    (svg,) = re.findall(r"<svg viewBox='0 0 200[^>]*aria-label='tracking.rms_rad'[^>]*>", text)
    places = re.search(r"data-record='([^']*)'", svg)[1].split()
    assert places == [str(number) for number in range(COMMITS)]
    shown = json.loads(re.search(r"data-values='([^']*)'", svg)[1].replace("&quot;", '"'))
    values = [each.metrics["tracking.rms_rad"] for each in records if each.scenario == "drawer"]
    assert [float(each.split()[0]) for each in shown] == pytest.approx(values, rel=1e-3)


def test_runs_in_folders_are_linked_from_where_the_page_is(tmp_path):
    (tmp_path / "runs" / "b c").mkdir(parents=True)
    (tmp_path / "runs" / "b c" / "report.html").touch()
    made = [record(1, {"a_m": 1.0}, run="runs/a"), record(2, {"a_m": 1.0}, run="runs/b c")]
    data = json.loads(re.search(r"id='records'>(.*?)</script>", read_page(made, tmp_path), re.S)[1])
    assert [each["link"] for each in data[0]] == ["../runs/a", "../runs/b%20c/report.html"]


def test_text_of_a_history_does_nothing_in_the_page(tmp_path):
    name = "</script><img src=x onerror=alert(1)>'\"&"
    made = [
        record(
            number,
            {f"{name}\x1b_m": 1.0},
            name,
            commit=name,
            run="javascript:alert(1)",
            outcome="error" if number == 3 else "failed",
            error=name,
        )
        for number in range(10)
    ]
    text = read_page(made, tmp_path)
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "javascript:" not in text
    assert "\x1b" not in text
    assert "href=" not in text.replace("link.href =", "")


def test_the_job_that_ran_a_check_is_linked():
    job = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7"}
    assert job_address(job) == "https://github.com/a/b/actions/runs/7"
    assert job_address({}) == ""
