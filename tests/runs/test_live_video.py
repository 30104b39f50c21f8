"""Videos that are drawn while the simulation goes on."""

import imageio.v3 as iio
import numpy as np
import pytest

from simbench.runs import live_video, log_parts
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.video import View, render_video
from simbench.sim.rendering import painting as video_stream

SHORT = [
    "motion.task={amplitude_rad: 0.6, speed_rad_s: 1.0}",
    "simulation.settle_s=0.5",
    "camera.width=160",
    "camera.height=90",
]


def silent(stage, done, total):
    pass


@pytest.fixture(autouse=True)
def every_second(monkeypatch):
    """The log has several parts, however long they take."""
    monkeypatch.setattr(log_parts, "_LARGEST_SHARE", np.inf)


@pytest.mark.parametrize("fast", [False, True])
def test_it_is_the_video_of_the_log(tmp_path, monkeypatch, fast):
    parts = []
    add = live_video.LiveVideo.add
    monkeypatch.setattr(live_video.LiveVideo, "add", lambda self, log: parts.append(log) or add(self, log))
    result = run_scenario(load_scenario("puma560_sweep", SHORT), tmp_path / "run", video=True, fast=fast)
    if result.renderer != "OpenGL":
        pytest.skip("no OpenGL here")
    assert len(parts) >= 2
    assert result.video_file == tmp_path / "run" / "video.mp4"
    view = View(fast=fast)
    path, _ = render_video(tmp_path / "run", tmp_path / "again.mp4", on_progress=silent, view=view)
    assert path.read_bytes() == result.video_file.read_bytes()
    assert iio.immeta(path, plugin="FFMPEG")["fps"] == (15.0 if fast else 30.0)


def test_where_it_breaks_the_video_is_drawn_from_the_log(tmp_path, monkeypatch):
    """Its processes end before the first frame."""
    monkeypatch.setattr(live_video, "choose_renderer", lambda: "OpenGL")
    monkeypatch.setattr(video_stream, "OPENGL_WORKER", "simbench.nothing")
    drawn = []

    def render(folder, out, *, on_progress, view):
        drawn.append((sorted(path.name for path in folder.iterdir()), view))
        return folder / "video.mp4", "TinyRenderer"

    monkeypatch.setattr("simbench.runs.pipeline.render_video", render)
    result = run_scenario(load_scenario("puma560_sweep", SHORT), tmp_path / "run", video=True)
    assert result.renderer == "TinyRenderer"
    ((files, view),) = drawn
    # Nothing of it is left, and the log is there.
    assert files == ["log.nc", "metrics.json", "provenance.json", "scenario.yaml"]
    assert view == View()


def test_an_interrupted_simulation_leaves_no_video(tmp_path, monkeypatch):
    def stop(stage, done, total):
        if stage == "simulate" and done > 0.6 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario(load_scenario("puma560_sweep", SHORT), tmp_path / "run", video=True, on_progress=stop)
    assert not list(tmp_path.rglob("*.mp4"))


def test_more_frames_than_the_log_has_are_not_shown(monkeypatch):
    """A simulation that diverges takes samples back."""
    sent = []
    monkeypatch.setattr(video_stream, "make_records", lambda cast, frames: np.arange(frames))
    monkeypatch.setattr(video_stream.os, "write", lambda pipe, data: sent.append(pipe) or len(data))
    stream = video_stream.VideoStream(None, None, [7, 8])
    stream.add(5, certain=3)
    assert (stream.count, sent) == (5, [7, 8, 7])
    stream.add(2, certain=6)
    assert (stream.count, sent) == (7, [7, 8, 7, 8, 7, 8])
    with pytest.raises(video_stream.StreamBrokenError):
        stream.finish(5, lambda done, total: None)
