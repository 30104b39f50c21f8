import numpy as np
import pytest
import stepping_by_hand as by_hand
from PIL import Image
from script_modules import loaded_script

from simbench.errors import ScenarioError
from simbench.runs.scenario.loading import load_scenario, resolved_yaml
from simbench.sim.rendering.scene_view import Camera, project


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/kim2005_cog/kim2005_cog.py") as module:
        yield module


def test_the_scenarios_of_an_example_differ_in_embedding_alone(script):
    for example in script.EXAMPLES:
        script.check_alike(*(load_scenario(example.scenario + suffix) for suffix in script.SUFFIX.values()))


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        (("balance.gain_cog=5",), "balance.embedding.jacobian, balance.gain_cog"),
        (("balance.embedding.jacobian=true",), "nothing"),
        (("stepping.commands.0.march=3",), "balance.embedding.jacobian, stepping.commands"),
    ],
)
def test_scenarios_that_differ_in_more_or_in_nothing_are_refused(script, overrides, found):
    other = load_scenario("mahru_wave_without_embedding", overrides)
    with pytest.raises(ScenarioError, match=rf"differ in {found}$"):
        script.check_alike(load_scenario("mahru_wave"), other)
    with pytest.raises(ScenarioError, match=r"differ in balance\.embedding\.jacobian$"):
        script.check_alike(load_scenario("mahru_wave_without_embedding"), load_scenario("mahru_wave"))


def test_a_step_counts_when_the_foot_was_up_and_comes_down_in_time(script):
    assert script.find_steps(by_hand.stepping_log()) == pytest.approx([2.5, 3.5, 5.5], abs=0.03)
    late = by_hand.stepping_log()
    late["foot_points"].values[(by_hand.TIME > 5.0) & (by_hand.TIME < 5.7), 1] = np.nan
    assert script.find_steps(late) == pytest.approx([2.5, 3.5], abs=0.03)


def test_numbers_of_a_robot_that_falls_are_those_until_then(script):
    logs = {script.WITH: by_hand.stepping_log(), script.WITHOUT: by_hand.stepping_log(fall=5.0)}
    # On the floor nothing counts.
    fallen = by_hand.TIME > 5.0
    logs[script.WITHOUT]["cog"].values[fallen] = 99.0
    lines = script.compare(logs, script.EXAMPLES[0])
    values = {line.what: line.values for line in lines}
    assert values["steps"] == ("3", "2")
    assert values["steps while the arms move"] == ("2", "2")
    assert values["falls"] == ("no", "yes")
    assert values["stands until, s"] == ("8.0", "5.0")
    assert values["both hands are 0.4 m ahead of the pelvis from, s"] == ("4.0", "4.0")
    assert values["ZMP, least margin, mm"] == ("20.0", "20.0")
    assert values["COG off its profile, RMS, mm"] == ("5.0", "5.0")
    assert values["arms off their reference, RMS, rad"] == ("0.0100", "0.0100")
    assert [line.what for line in lines if not line.holds] == ["steps"]


def test_both_ways_falling_misses_the_bar(script):
    fallen = by_hand.stepping_log(fall=3.4)
    lines = script.compare({script.WITH: fallen, script.WITHOUT: fallen}, script.EXAMPLES[1])
    values = {line.what: line.values for line in lines}
    assert values["the right hand is 0.55 m above the pelvis from, s"] == ("never", "never")
    assert {line.what for line in lines if not line.holds} == {"steps", "falls"}


@pytest.mark.parametrize(
    ("view", "right", "away"), [("front", (0.0, 1.0), (-1.0, 0.0)), ("side", (1.0, 0.0), (0.0, 1.0))]
)
def test_the_robot_is_whole_in_the_picture_and_seen_from_where_it_says(script, view, right, away):
    yaw, target = script.VIEWS[view]
    width, height = script.TILE
    camera = Camera(target, yaw_deg=yaw, width=width, height=height, fps=1, **script.LENS)
    spots = project(camera, np.array([[0.0, 0.0, 0.7], [0.1 * right[0], 0.1 * right[1], 0.7]]))
    assert spots[1, 0] - spots[0, 0] > 5.0
    deep = project(camera, np.array([[0.1 * away[0], 0.1 * away[1], 0.0], [0.0, 0.0, 0.0]]))
    assert deep[0, 1] < deep[1, 1]
    # Mahru is 1.5 m high; a hand is up to 0.6 m beside it and 0.75 m before it.
    box = np.array([[x, y, z] for x in (-0.25, 0.75) for y in (-0.6, 0.6) for z in (0.0, 1.5)])
    pixels = project(camera, box)
    assert (pixels > 5.0).all()
    assert (pixels < np.array([width, height]) - 5.0).all()


def test_views_stand_in_rows_and_a_fallen_robot_is_not_drawn(script, tmp_path, monkeypatch):
    """The drawing of a run is one colour; the second robot falls at 4.4 s."""
    example, asked = script.EXAMPLES[1], []
    folders = {way: tmp_path / way for way in script.SUFFIX}
    logs = dict(zip(folders.values(), map(by_hand.stepping_log, (None, 4.4)), strict=True))

    def draw(folder, out, times, *, width, height, columns):
        asked.append((folder, *times))
        Image.new("RGB", (width * columns, height), ("red", "blue")[len(asked) - 1]).save(out)
        return out

    monkeypatch.setattr(script, "open_run", logs.get)
    monkeypatch.setattr(script, "render_strip", draw)
    monkeypatch.setattr(script, "_seen_from", lambda folder, place, view: folder)
    script.draw_strips(folders, example, "front", tmp_path / "a.png")
    stays, falls = folders.values()
    assert asked == [(stays, *example.moments), (falls, *example.moments[:3])]
    (width, height), top, left = script.TILE, script.HEADING, script.MARGIN
    with Image.open(tmp_path / "a.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels.shape == (top + 2 * height, left + 5 * width, 3)
    assert (pixels[top + 1 : top + height - 1, left + 1 :] == [255, 0, 0]).all()
    second = pixels[top + height + 1 :, left + 1 :]
    assert (second[:, : 3 * width - 2] == [0, 0, 255]).all()
    assert (second[:, 3 * width :].max(axis=2) > 200).mean() > 0.9


def test_a_view_is_the_same_run_by_another_camera(script, tmp_path):
    run, place = tmp_path / "run", tmp_path / "view"
    for folder in (run, place):
        folder.mkdir()
    scenario = load_scenario("dance")
    (run / "scenario.yaml").write_text(resolved_yaml(scenario), encoding="utf-8")
    (run / "log.nc").write_bytes(b"log")
    seen = load_scenario(script._seen_from(run, place, "front") / "scenario.yaml")
    assert (place / "log.nc").read_bytes() == b"log"
    assert seen.camera.yaw_deg == 90.0
    assert seen.model_copy(update={"camera": scenario.camera}) == scenario


def test_a_folder_without_runs_is_refused(script, tmp_path, capsys):
    assert script.main(["--runs", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
