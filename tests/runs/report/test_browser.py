"""A report in a browser: without a network, scene, timeline and plots share one time.

It takes Playwright (`pip install playwright`) and a Chromium, of the distribution (apt-get install chromium)
or of Playwright; `SIMBENCH_CHROMIUM` names another.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import run_by_hand as by_hand

from simbench.cli.main import main
from simbench.robot.robot import load_robot, on_pedestal
from simbench.runs.log import open_run
from simbench.sim.rendering.painting import link_poses

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

# The renderer in software: test machines have no graphics card.
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")


def chromium_path(playwright):
    found = (
        os.environ.get("SIMBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    return found or playwright.chromium.executable_path


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        path = chromium_path(playwright)
        if not Path(path).exists():
            pytest.skip("no Chromium: apt-get install chromium, or name one by SIMBENCH_CHROMIUM")
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


class Tab:
    """A page without a network, everything it complains of, and what it asks for."""

    def __init__(self, browser, path, width=1400, script=True, flags=""):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True, java_script_enabled=script
        )
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append((message.type, message.text)))
        self.page.on("pageerror", lambda error: self.complaints.append(("error", str(error))))
        self.page.on("request", lambda request: self.requests.append(request.url))
        if flags:
            self.page.add_init_script(flags)
        self.page.goto(path.as_uri())
        if script:
            self.page.wait_for_selector("#player[data-ready]")

    def state(self):
        return self.page.evaluate("simbenchReport.state()")

    def errors(self):
        return [text for kind, text in self.complaints if kind == "error"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = by_hand.write_puma_run(tmp_path_factory.mktemp("browser") / "run", tracking=0.0123)
    assert main(["report", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def tab(browser, run):
    return Tab(browser, run / "report.html")


@pytest.fixture(scope="module")
def drawer_tab(browser, drawer_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    # Its picture of the person is drawn into the run, which other tests examine.
    shutil.copytree(drawer_run(), folder / "run")
    out = folder / "drawer.html"
    assert main(["report", str(folder / "run"), "--out", str(out)]) == 0
    return Tab(browser, out)


def test_it_opens_without_a_network_and_without_an_error(tab, run):
    assert tab.requests == [(run / "report.html").as_uri()]
    state = tab.state()
    assert state["webgl"]
    assert (state["time"], state["duration"]) == (0.0, 2.0)
    assert tab.errors() == []


def test_bodies_in_the_browser_are_where_the_log_has_them(tab, run):
    log = open_run(run)
    robot = on_pedestal(load_robot("puma560"), 0.0)
    tab.page.evaluate("simbenchReport.seek(0.8)")
    drawn = tab.page.evaluate("simbenchReport.bodyPoses(0)")
    joints = log["joint_position"].sel(time=0.8).values[None]
    expected = link_poses(robot, log["base_pose"].values[:1], joints, list(drawn))[0]
    for name, pose in zip(drawn, expected, strict=True):
        assert np.abs(np.reshape(drawn[name], (4, 4)) - pose).max() < 1e-4, name


def test_it_plays_at_the_speed_that_is_chosen_and_stops_at_the_end(tab):
    page = tab.page
    page.evaluate("simbenchReport.seek(1.9)")
    page.select_option("select[aria-label=speed]", "4")
    page.click("button.play")
    page.wait_for_selector("button.play[aria-label=play]")
    state = tab.state()
    assert (state["time"], state["playing"], state["speed"]) == (2.0, False, 4)


def test_the_timeline_scrubs_the_scene(tab):
    page = tab.page
    box = page.locator(".scrub").bounding_box()
    middle = box["y"] + 0.5 * box["height"]
    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    assert tab.state()["time"] == pytest.approx(0.5, abs=0.01)
    page.mouse.move(box["x"] + 0.75 * box["width"], middle, steps=3)
    page.mouse.up()
    assert tab.state()["time"] == pytest.approx(1.5, abs=0.01)
    page.keyboard.press("ArrowLeft")
    assert page.locator(".scrub").get_attribute("aria-valuetext").startswith("1.")


def test_a_click_on_a_plot_goes_there_and_a_drag_zooms_all_plots(tab):
    page = tab.page
    over = page.locator("[data-key=torque] .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 20)
    assert tab.state()["time"] == pytest.approx(0.8, abs=0.01)
    cursor = page.locator("[data-key=torque] .playhead").bounding_box()
    assert cursor["x"] == pytest.approx(box["x"] + 0.4 * box["width"], abs=2.0)
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40, steps=4)
    page.mouse.up()
    assert tab.state()["zoom"] == pytest.approx([0.5, 1.0], abs=0.01)
    # The line of the same time is elsewhere now, in every plot.
    for key in ("torque", "joint.position"):
        frame = page.locator(f"[data-key='{key}'] .u-over").bounding_box()
        head = page.locator(f"[data-key='{key}'] .playhead").bounding_box()
        assert (head["x"] - frame["x"]) / frame["width"] == pytest.approx(0.6, abs=0.03)
    page.click("text=all >> nth=0")
    page.evaluate("simbenchReport.zoom(0, 2)")
    assert tab.state()["zoom"] == [0, 2]


def test_another_joint_is_chosen(tab):
    tab.page.select_option("select[aria-label=joint]", label=None, index=3)
    chosen = tab.state()["joint"]
    assert chosen in by_hand.PUMA_JOINTS
    tab.page.evaluate("simbenchReport.seek(0.5)")
    legend = tab.page.locator("[data-key='joint.position'] .key", has_text="measured").inner_text()
    column = by_hand.PUMA_JOINTS.index(chosen)
    expected = by_hand.reference(6)[50, column] - by_hand.ERROR
    assert float(legend.removeprefix("measured").replace("−", "-")) == pytest.approx(expected, abs=1e-2)


def test_layers_are_switched_in_the_scene(drawer_tab):
    page = drawer_tab.page
    state = drawer_tab.state()
    assert {"forces", "cog", "zmp", "support", "targets", "reference"} <= {*state["layers"]}
    assert state["visible"]["zmp"]
    assert not state["visible"]["reference"]
    page.click("button[data-layer=zmp]")
    page.click("button[data-layer=reference]")
    state = drawer_tab.state()
    assert not state["visible"]["zmp"]
    assert state["visible"]["reference"]
    assert page.get_attribute("button[data-layer=zmp]", "aria-pressed") == "false"
    before = state["frames"]
    page.evaluate("simbenchReport.seek(7.0)")
    page.wait_for_timeout(1)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert drawer_tab.state()["frames"] > before
    assert drawer_tab.errors() == []


def test_events_of_the_drawer_are_on_the_timeline(drawer_tab):
    names = drawer_tab.page.locator(".lane .name").all_inner_texts()
    assert {"phases", "left foot", "right hand", "contacts"} <= {*names}
    strokes = drawer_tab.page.locator(".bar.plain[data-words*=stroke]")
    assert strokes.count() == 5


def test_a_narrow_page_does_not_scroll_sideways(browser, run):
    narrow = Tab(browser, run / "report.html", width=420)
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 420
    stage = narrow.page.locator(".stage").bounding_box()
    plots = narrow.page.locator(".plots").bounding_box()
    assert plots["y"] > stage["y"] + stage["height"]
    narrow.context.close()


def test_a_failed_check_leads_to_its_time(browser, tmp_path):
    folder = by_hand.write_puma_run(tmp_path / "run", "checks={limits.torque_ratio: {max: 0.1}}")
    (folder / "metrics.json").write_text('{"limits.torque_ratio": 0.5}', encoding="utf-8")
    other = by_hand.write_puma_run(tmp_path / "other", "control.law=pd")
    assert main(["report", str(folder), str(other), "--out", str(tmp_path / "both.html")]) == 0
    tab = Tab(browser, tmp_path / "both.html")
    tab.page.evaluate("simbenchReport.seek(1)")
    tab.page.click("button.jump")
    assert tab.state()["time"] == 0.0
    assert tab.page.locator(".mark.bad").count() == 1
    # Two runs: in one scene or side by side, with their differences.
    assert tab.state()["runs"] == ["run", "other"]
    tab.page.click("text=side by side")
    assert tab.state()["view"] == "side"
    assert "torque.difference" in tab.state()["plots"]
    assert tab.errors() == []
    tab.context.close()


def test_without_webgl_the_plots_work_and_without_scripts_the_verdict_is_there(browser, run):
    refuse = "HTMLCanvasElement.prototype.getContext = (get => function (kind, ...rest) {"
    refuse += "return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest) })"
    flat = Tab(browser, run / "report.html", flags=f"{refuse}(HTMLCanvasElement.prototype.getContext)")
    assert not flat.state()["webgl"]
    assert "has no WebGL" in flat.page.inner_text(".no-webgl")
    flat.page.evaluate("simbenchReport.seek(0.7)")
    assert flat.state()["time"] == pytest.approx(0.7)
    flat.context.close()
    still = Tab(browser, run / "report.html", script=False)
    text = still.page.inner_text("body")
    assert "need scripts" in text
    assert "checks failed" in text or "checks hold" in text
    assert "tracking.rms_rad" in text
    still.context.close()
