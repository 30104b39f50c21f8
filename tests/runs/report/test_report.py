"""Reports: what the pages say, and that they need no other file."""

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import run_by_hand as by_hand
from packed_pages import read_signals, unpack

from simbench.cli.main import main
from simbench.errors import RunError
from simbench.runs.log import open_run, write_log
from simbench.runs.plots.run_plots import draw_plots
from simbench.runs.report.run_report import compare_with_baseline, differing_keys, read_reports, run_labels
from simbench.runs.run_directory import MARKER, read_metrics
from simbench.runs.scenario.loading import load_scenario


class Page(HTMLParser):
    """Rows of tables, what is linked and embedded, packed data by its id, and all text."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.sources, self.links, self.text, self.tags = [], [], [], "", []
        self.in_cell, self.block, self.blocks = False, None, {}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.block = given.get("id") if tag == "script" else None
        if "src" in given:
            self.sources.append(given["src"])
        if "href" in given:
            self.links.append(given["href"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        self.block = None
        self.in_cell &= tag not in ("td", "th")

    def handle_data(self, data):
        if self.block is not None:
            self.blocks[self.block] = data
            return
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data


def silent(stage, done, total):
    pass


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run that holds its checks, with a video, and one that does not, with another law."""
    folder = tmp_path_factory.mktemp("reports")
    good = by_hand.write_puma_run(folder / "good", "checks={tracking.rms_rad: {max: 0.005}}")
    (good / "video.mp4").touch()
    bad = by_hand.write_puma_run(
        folder / "bad",
        "checks={tracking.rms_rad: {max: 0.005}}",
        "control.law=pd",
        "summary=<script>alert(1)</script> & more",
        tracking=0.0123,
    )
    return good, bad


@pytest.fixture(scope="module")
def pages(runs, tmp_path_factory):
    good, bad = runs
    out = tmp_path_factory.mktemp("page") / "both.html"
    assert main(["report", str(good)]) == 0
    assert main(["report", str(good), str(bad), "--out", str(out)]) == 0
    return Page(good / "report.html"), Page(out)


def test_a_report_is_whole_in_one_file(runs, pages):
    good, _ = runs
    page = pages[0]
    assert not (good / "plots").exists()
    assert page.sources == []
    assert page.links == ["video.mp4"]
    assert not {"link", "iframe", "object"} & set(page.tags)
    # Data and script, packed, and what unpacks them.
    assert page.tags.count("script") == 3
    assert "://" not in (good / "report.html").read_text(encoding="utf-8").partition("Licences of")[0]


def test_curves_and_scene_of_a_run_are_in_its_page(runs, pages):
    document, data = unpack(pages[0].blocks["simbench-data"])
    (run,) = document["runs"]
    log = open_run(runs[0])
    position = read_signals(run["joints"]["position"], data)
    assert run["joints"]["names"] == list(log["joint"].values)
    assert np.abs(position - log["joint_position"].values[::2]).max() < 1e-4
    assert [panel["key"] for panel in run["panels"]] == ["torque"]
    (curve,) = run["panels"][0]["curves"]
    assert read_signals(curve["values"], data) == pytest.approx(50.0)
    assert len(run["scene"]["bodies"]) == 7
    assert len(unpack(pages[1].blocks["simbench-data"])[0]["runs"]) == 2


def test_plots_are_drawn_where_they_are_asked_for(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run", samples=30)
    assert main(["report", str(run), "--plots"]) == 0
    assert sorted(path.name for path in (run / "plots").iterdir()) == ["torque.png", "tracking.png"]


def test_a_run_whose_robot_is_gone_has_a_report_without_a_scene(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run", samples=30)
    path = run / "scenario.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("name: puma560\n", "name: gone/robot.yaml\n"), encoding="utf-8")
    assert main(["report", str(run)]) == 0
    document, _ = unpack(Page(run / "report.html").blocks["simbench-data"])
    (described,) = document["runs"]
    assert described["scene"] is None
    assert "gone/robot.yaml" in described["noScene"]
    assert "\n" not in described["noScene"]
    assert described["joints"]["names"]


def test_what_failed_comes_first_with_its_time(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run", "checks={tracking.max_rad: {max: 0.005}}")
    metrics = {"tracking.max_rad": 0.4, "tracking.rms_rad": 0.1}
    (run / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    log = by_hand.puma_log()
    position = log["joint_position"].copy(deep=True)
    position[120, 3] += 0.4
    free = ("joint",), np.zeros(6, dtype=bool), {"units": ""}
    write_log(log.assign(joint_position=position, is_grip=free), run / "log.nc")
    assert main(["report", str(run)]) == 0
    page = Page(run / "report.html")
    row = ["tracking.max_rad", "0.4", "≤ 0.005 rad", "1.200 s first beyond the bound, joint4"]
    assert row in page.rows
    text = (run / "report.html").read_text(encoding="utf-8")
    assert text.index("Checks that failed") < text.index('id="player"') < text.index("<h2>Checks</h2>")
    assert 'data-time="1.200000"' in text
    document, _ = unpack(page.blocks["simbench-data"])
    lane = document["runs"][0]["lanes"][0]
    assert (lane["name"], lane["events"][0]["start"]) == ("checks failed", 1.2)


def test_an_unchanged_run_is_compared_with_its_baseline(drawer_run, tmp_path):
    scenario = load_scenario("drawer")
    metrics = read_metrics(drawer_run())
    same = compare_with_baseline(scenario, metrics)
    assert {verdict.outcome for verdict in same} <= {"new", "better", "holds"}
    worse = compare_with_baseline(scenario, metrics | {"tracking.rms_rad": 1.0})
    assert (worse[0].name, worse[0].outcome) == ("tracking.rms_rad", "worse")
    # Of another motion, nothing can be expected; a camera changes none.
    assert compare_with_baseline(load_scenario("drawer", ["motion.speed=0.9"]), metrics) is None
    assert compare_with_baseline(load_scenario("drawer", ["camera.yaw_deg=3"]), metrics) == same
    assert compare_with_baseline(scenario.model_copy(update={"name": "mine"}), metrics) is None


def test_it_says_what_came_out(pages):
    good, both = pages
    assert "all 1 checks hold" in good.text
    assert "failed" not in good.text
    assert "1 of 1 checks failed" in both.text
    assert ["tracking.rms_rad", "0.001", "✓ ≤ 0.005", "rad"] in good.rows
    assert ["torque.saturated_fraction", "0", ""] in good.rows
    assert ["seed", "7"] in good.rows
    assert ["numpy", "2.2"] in good.rows
    assert "<script>alert(1)</script> & more" in both.text
    assert both.tags.count("script") == 3
    assert "law: computed_torque" in good.text


def test_runs_side_by_side_show_what_differs(runs, pages):
    page = pages[1]
    assert ["key", "good", "bad"] in page.rows
    assert ["control.law", "computed_torque", "pd"] in page.rows
    assert ["tracking.rms_rad", "0.001", "✓ ≤ 0.005", "0.0123", "✗ ≤ 0.005", "rad"] in page.rows
    assert ["tracking.rms_rad", "0.001", "0.0123", "rad"] in page.rows
    (link,) = page.links
    assert link.startswith("../")
    assert link.endswith("/good/video.mp4")


def test_differing_keys_reach_into_lists():
    first = {"seed": 1, "fixtures": [{"type": "drawer", "mass_kg": 2}], "target_m": [0, 1]}
    second = {"seed": 1, "fixtures": [{"type": "drawer", "mass_kg": 3}, {"type": "pump"}], "target_m": [0, 2]}
    assert differing_keys([first, second]) == {
        "fixtures.0.mass_kg": [2, 3],
        "fixtures.1.type": [None, "pump"],
        "target_m": [[0, 1], [0, 2]],
    }


def test_labels_tell_runs_apart():
    assert run_labels([Path("/a/x/one"), Path("/a/y/two")]) == ["one", "two"]
    assert run_labels([Path("/a/x/one"), Path("/a/y/one")]) == ["x/one", "y/one"]
    assert run_labels([Path("/a/one"), Path("/a/one")]) == ["one", "one"]


def test_an_interrupted_run_is_reported_as_far_as_it_got(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "a.incomplete", samples=30)
    (run / MARKER).write_text("interrupted\n")
    (run / "metrics.json").unlink()
    assert main(["report", str(run)]) == 0
    page = Page(run / "report.html")
    assert "incomplete (interrupted): no metrics" in page.text
    document, _ = unpack(page.blocks["simbench-data"])
    assert document["runs"][0]["scene"]["base"]["count"] == 16


def test_damaged_and_missing_files_are_refused_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = by_hand.write_puma_run(tmp_path / "run")
    for arguments, words in (
        (["--out", "a.pdf"], "a.pdf: the file's name must end in .html"),
        (["--out", "no/a.html"], "no/a.html: must be a file in a directory that exists"),
    ):
        assert main(["report", "run", *arguments]) == 2
        assert capsys.readouterr().err == f"error: {words}\n"
    (run / "metrics.json").write_text("{")
    with pytest.raises(RunError, match=r"metrics\.json:1:2: not valid JSON"):
        read_reports([run], silent)
    (run / "metrics.json").unlink()
    with pytest.raises(RunError):
        read_reports([run], silent)
    assert not list(tmp_path.glob("**/*.html*"))


@pytest.mark.parametrize("other", ["none", "damaged", "short"])
def test_nothing_is_drawn_if_another_run_is_refused(tmp_path, other):
    run = by_hand.write_puma_run(tmp_path / "run")
    if other != "none":
        by_hand.write_puma_run(tmp_path / other, samples=1 if other == "short" else 3)
    if other == "damaged":
        (tmp_path / other / "provenance.json").write_text("{")
    assert main(["report", str(run), str(tmp_path / other)]) == 2
    assert not (run / "plots").exists()
    assert not list(tmp_path.glob("**/*.html*"))


def test_too_little_to_draw_is_refused(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run", samples=1)
    with pytest.raises(RunError):
        draw_plots(run, silent)
    assert not (run / "plots").exists()
    with pytest.raises(RunError):
        read_reports([tmp_path], silent)


def test_metrics_are_null_where_they_were_not_numbers(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run")
    (run / "metrics.json").write_text(json.dumps({"tracking.rms_rad": None}))
    assert main(["report", str(run)]) == 0
    assert ["tracking.rms_rad", "none", "✗ ≤ 0.005", "rad"] in Page(run / "report.html").rows


def test_doubts_about_the_recording_are_in_the_report(tmp_path):
    run = by_hand.write_puma_run(tmp_path / "run")
    path = run / "provenance.json"
    provenance = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(provenance | {"doubts": ["feet sink <b>0.1 m</b>"]}), encoding="utf-8")
    assert main(["report", str(run)]) == 0
    page = Page(run / "report.html")
    assert "Doubts about the recording" in page.text
    assert "feet sink <b>0.1 m</b>" in page.text


def test_a_report_without_doubts_says_nothing_of_them(pages):
    assert not any("Doubts" in page.text for page in pages)
