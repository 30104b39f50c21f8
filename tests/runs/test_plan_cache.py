"""The cache of plans: what identifies a plan, and what happens to its files."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from made_plans import make_plan
from run_here import run_here

from simbench.cli.main import main
from simbench.errors import RunError
from simbench.robot.robot import load_robot
from simbench.runs import execution as local
from simbench.runs import plan_cache as cache
from simbench.runs import run_plan
from simbench.runs.log import open_run
from simbench.runs.motion_source import scenario_motion
from simbench.runs.plan_cache import FOLDER_VARIABLE
from simbench.runs.run_plan import collect_inputs, encode_plan, find_plan, plan_key
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms


def silent(*_):
    pass


def scenario_key(name, *overrides):
    scenario = load_scenario(name, overrides)
    mechanisms = scenario_mechanisms(scenario)
    robot = load_robot(scenario.robot.name)
    return plan_key(collect_inputs(robot, scenario, mechanisms, scenario_motion(scenario, mechanisms)))


@pytest.fixture(scope="module")
def drawer_key():
    return scenario_key("drawer")


def test_what_only_the_physics_reads_leaves_the_plan(drawer_key):
    physics = (
        "simulation.floor_friction=0.5",
        "simulation.log_rate_hz=100",
        "control.bandwidth_hz=5",
        "balance.gain_cog=5",
        "balance.rate_hz=250",
        "grip.stiffness_n_m=1000",
        "variation.mass_fraction=0.1",
        "camera.width=640",
        "push={first_ns: 1}",
    )
    assert scenario_key("drawer", *physics) == drawer_key


@pytest.mark.parametrize(
    "override",
    [
        "seed=7",
        "robot.position_m=[-0.01, 0.0]",
        "retarget.pelvis_follow=0.3",
        "simulation.timestep_s=0.0005",
        "fixtures.0.friction_n=9",
        "fixtures.0.handle_separation_m=0.31",
    ],
)
def test_what_the_planner_reads_makes_another_plan(drawer_key, override):
    assert scenario_key("drawer", override) != drawer_key


def test_a_robot_that_is_not_balanced_does_not_plan_for_friction():
    assert scenario_key("puma560_drawer") == scenario_key("puma560_drawer", "fixtures.0.friction_n=9")


def test_another_version_of_a_library_makes_another_plan(drawer_key, monkeypatch):
    monkeypatch.setattr(run_plan.metadata, "version", lambda name: "99")
    assert scenario_key("drawer") != drawer_key


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """A cache for inputs that are only a name, and the names that were planned."""
    made = []

    def plan(robot, inputs, on_progress):
        made.append(inputs)
        return make_plan(sum(inputs.encode()))

    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv(cache.SIZE_VARIABLE, raising=False)
    monkeypatch.setattr(run_plan, "make_plan", plan)
    monkeypatch.setattr(run_plan, "plan_key", lambda inputs: inputs)
    return made


def files(folder):
    return sorted(path.name for path in (folder / "plans").iterdir())


def test_the_second_run_reuses_the_plan(plans, tmp_path):
    first, made = find_plan(None, "a", silent)
    second, reused = find_plan(None, "a", silent)
    assert plans == ["a"]
    assert (made.reused, reused.reused, made.kept) == (False, True, True)
    assert encode_plan(first) == encode_plan(second) == encode_plan(make_plan(sum(b"a")))
    # No lock and no part is left.
    assert files(tmp_path) == ["a.plan"]


def test_without_the_cache_nothing_is_kept(plans, tmp_path, monkeypatch):
    find_plan(None, "a", silent, cache=False)
    monkeypatch.setenv(cache.SIZE_VARIABLE, "0")
    _, record = find_plan(None, "a", silent)
    assert plans == ["a", "a"]
    assert (record.reused, record.kept) == (False, False)
    assert not (tmp_path / "plans").exists()


@pytest.mark.parametrize("content", [b"", b"foreign", encode_plan(make_plan())[:-1]])
def test_a_damaged_file_is_made_anew_with_one_line(plans, tmp_path, caplog, content):
    find_plan(None, "a", silent)
    whole = (tmp_path / "plans" / "a.plan").read_bytes()
    (tmp_path / "plans" / "a.plan").write_bytes(content)
    _, record = find_plan(None, "a", silent)
    assert not record.reused
    assert (tmp_path / "plans" / "a.plan").read_bytes() == whole
    (line,) = {each.getMessage() for each in caplog.records}
    assert "a.plan" in line
    assert "made anew" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_keeps_nothing(plans, tmp_path):
    tmp_path.chmod(0o500)
    _, record = find_plan(None, "a", silent)
    tmp_path.chmod(0o700)
    assert (record.reused, record.kept) == (False, False)


def test_a_file_where_the_folder_should_be_keeps_nothing(plans, tmp_path):
    (tmp_path / "plans").write_text("mine", encoding="utf-8")
    _, record = find_plan(None, "a", silent)
    assert (record.reused, record.kept, plans) == (False, False, ["a"])
    assert (tmp_path / "plans").read_text(encoding="utf-8") == "mine"


def test_the_least_recently_used_plans_go_first(plans, tmp_path, monkeypatch):
    size = len(encode_plan(make_plan()))
    monkeypatch.setenv(cache.SIZE_VARIABLE, str(3.5 * size / 1e6))
    for age, name in enumerate("abc"):
        find_plan(None, name, silent)
        os.utime(tmp_path / "plans" / f"{name}.plan", (1000 + age, 1000 + age))
    find_plan(None, "a", silent)
    find_plan(None, "d", silent)
    assert files(tmp_path) == ["a.plan", "c.plan", "d.plan"]
    monkeypatch.setattr(cache, "MOST_PLANS", 1)
    find_plan(None, "e", silent)
    assert files(tmp_path) == ["e.plan"]


def test_two_at_once_make_one_plan(plans, tmp_path, monkeypatch):
    begun, go, waited = threading.Event(), threading.Event(), threading.Event()
    plan = run_plan.make_plan

    def slow(*arguments):
        begun.set()
        go.wait()
        return plan(*arguments)

    monkeypatch.setattr(run_plan, "make_plan", slow)
    records = []
    first = threading.Thread(target=lambda: records.append(find_plan(None, "a", silent)[1]))
    second = threading.Thread(target=lambda: records.append(find_plan(None, "a", lambda *_: waited.set())[1]))
    first.start()
    begun.wait()
    second.start()
    waited.wait()
    go.set()
    first.join()
    second.join()
    assert plans == ["a"]
    assert sorted(record.reused for record in records) == [False, True]
    assert files(tmp_path) == ["a.plan"]


def test_the_lock_of_a_killed_process_ends(plans, tmp_path):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import pathlib, sys\n"
            "from simbench.runs.plan_cache import claimed\n"
            "with claimed(pathlib.Path(sys.argv[1]), 'a', lambda: None):\n"
            "    print('held', flush=True)\n"
            "    sys.stdin.read()\n",
            str(tmp_path / "plans"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"

    def on_progress(*_):
        holder.send_signal(signal.SIGKILL)
        holder.wait()

    _, record = find_plan(None, "a", on_progress)
    holder.communicate()
    assert (record.reused, plans) == (False, ["a"])


def test_info_and_clear_by_the_command_line(plans, tmp_path, capsys):
    find_plan(None, "a", silent)
    find_plan(None, "b", silent)
    (tmp_path / "plans" / "mine.txt").write_text("mine", encoding="utf-8")
    assert main(["cache", "info"]) == 0
    shown = capsys.readouterr().out
    assert str(tmp_path / "plans") in shown
    assert "plans   2, " in shown
    assert "1000 MB" in shown
    assert main(["cache", "clear"]) == 0
    assert "removed  2 plans" in capsys.readouterr().out
    assert files(tmp_path) == ["mine.txt"]


@pytest.mark.parametrize("text", ["much", "-1", "nan", "1e99"])
def test_a_wrong_size_is_refused(monkeypatch, text):
    monkeypatch.setenv(cache.SIZE_VARIABLE, text)
    with pytest.raises(RunError):
        cache.cache_place()


SHORT = [
    *("motion.end_s=0.2", "retarget.method=analytical", "retarget.timing=uniform"),
    *("simulation.lead_in_s=0.4", "simulation.settle_s=0.1", "simulation.hold_s=0.1"),
]


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_a_sweep_of_friction_plans_once_and_changes_no_bit(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")

    monkeypatch.setattr(local, "run_isolated", run_here)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    sets = [part for text in SHORT for part in ("--set", text)]
    vary = ["--vary", "simulation.floor_friction=0.7,0.8"]
    assert main(["sweep", "dance", *vary, *sets, "--keep", "--out", str(tmp_path / "s")]) in (0, 1)
    assert "plans  made: 1, reused: 1" in capsys.readouterr().out
    swept = sorted((tmp_path / "s" / "runs").iterdir())[1]
    alone = tmp_path / "alone"
    assert main(["run", "dance", *sets, "--no-cache", "--out", str(alone)]) in (0, 1)
    plans = [read(folder, "provenance.json")["plan"] for folder in (swept, alone)]
    assert [plan["reused"] for plan in plans] == [True, False]
    assert plans[0]["key"] == plans[1]["key"]
    metrics = [read(folder, "metrics.json") for folder in (swept, alone)]
    assert metrics[0].keys() == metrics[1].keys()
    assert [
        name for name in metrics[0] if metrics[0][name] != metrics[1][name] and not name.startswith("timing.")
    ] == []
    logs = [open_run(folder) for folder in (swept, alone)]
    assert set(logs[0]) == set(logs[1])
    assert [
        name for name in logs[0] if logs[0][name].values.tobytes() != logs[1][name].values.tobytes()
    ] == []
