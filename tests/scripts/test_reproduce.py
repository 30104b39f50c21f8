"""One command makes all numbers of the validation pages, and says which of them are stale."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from script_modules import SCRIPTS, loaded_script
from waiting import wait_until

from simbench.runs import provenance

REPRODUCE = SCRIPTS / "reproduce"
PARTS = """
from part_type import Part

TIMES = (("Ours", "ms", ""),)
PARTS = (
    Part("arm", "arm/arm.py", quick="--robot romeo", unsteady=TIMES),
    Part("legs", "walk/legs.py", "--robot romeo", sized=("all of",), unsteady=TIMES),
    Part("late", "walk/late.py", "--robot romeo", jobs=True, after=("legs",), unsteady=TIMES),
)


def prerequisites(script):
    return next(each.after for each in PARTS if script.endswith(each.script))
"""
SCRIPT = '''
"""Multiply a number of the robot's."""
import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, begin_results, write_results
from rich.table import Table

from simbench.{module} import {function}


def read(robot):
    sources_fingerprint()
    return float(Path("robots", robot, f"{{robot}}.urdf").read_text())


def sources_fingerprint():
    """Read every robot for a key of a cache: that is no use of it."""
    for path in Path("robots").rglob("*.urdf"):
        path.read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--robot", default="mahru")
    parser.add_argument("--jobs")
    add_results_option(parser)
    given = parser.parse_args()
    # A robot that only another process reads counts, too.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        mass = pool.submit(read, given.robot).result()
    if Path("wait").exists() and "{module}" == "legs":
        Path("wait").read_text()
    table = Table("mass", "ms", title="Ours, kg")
    table.add_row(f"{{{function}(mass):.2f}}", str(os.getpid()))
    results = begin_results(__file__)
    results.add(table)
    results.check("all of 3", {holds})
    write_results(given.results, results)
    return 0 if {holds} else 1


if __name__ == "__main__":
    sys.exit(main())
'''
KERNELS = {"arm": "twice", "legs": "thrice"}


@pytest.fixture
def tree(tmp_path):
    """A repository of three parts, which read two robots and call two kernels."""
    scripts = tmp_path / "scripts" / "reproduce"
    scripts.mkdir(parents=True)
    for path in REPRODUCE.glob("*.py"):
        shutil.copy(path, scripts / ("part_type.py" if path.name == "parts.py" else path.name))
    (scripts / "parts.py").write_text(PARTS)
    for name, module, holds in (
        ("arm/arm", "arm", True),
        ("walk/legs", "legs", False),
        ("walk/late", "legs", True),
    ):
        path = scripts / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(SCRIPT.format(module=module, function=KERNELS[module], holds=holds))
    (tmp_path / "simbench").mkdir()
    (tmp_path / "simbench" / "__init__.py").write_text('__version__ = "0"\n')
    for (module, function), factor in zip(KERNELS.items(), (2, 3), strict=True):
        text = f'FACTOR = {factor}\n\n\ndef {function}(x):\n    """Return more."""\n    return FACTOR * x\n'
        (tmp_path / "simbench" / f"{module}.py").write_text(text)
    for robot in ("mahru", "romeo"):
        (tmp_path / "robots" / robot).mkdir(parents=True)
        (tmp_path / "robots" / robot / f"{robot}.urdf").write_text("1.5")
    return tmp_path


def command(tree, *arguments):
    return [sys.executable, str(tree / "scripts" / "reproduce"), *map(str, arguments)]


def reproduce(tree, *arguments):
    """Run the command; return its status, and what it says on either stream."""
    done = subprocess.run(
        command(tree, *arguments), cwd=tree, env=environment(tree), capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def environment(tree):
    return {**os.environ, "PYTHONPATH": str(tree)}


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def stale(tree):
    """What is stale by the command: {part: what it is older than}."""
    status, said, _ = reproduce(tree, "--check")
    lines = re.findall(
        r"(docs/validation/\w+\.md): results of \S+ are older than (.*); run: .* (\w+)$", said, re.M
    )
    assert len(lines) == len(said.splitlines())
    assert status == bool(lines)
    return {part: changed for _, changed, part in lines}


def test_what_has_changed_names_the_pages_that_it_concerns(tree):
    status, said, _ = reproduce(tree, "--check")
    assert status == 1
    assert "docs/validation/walk.md: there are no results of late; run: python scripts/reproduce late" in said
    status, said, _ = reproduce(tree, "--all", "--jobs", 2)
    assert status == 1, "the bound of the legs is missed"
    assert "MISSED: all of 3" in said
    assert stale(tree) == {}
    files = ["arm.json", "late.json", "legs.json"]
    results = tree / "docs" / "validation" / "results"
    assert sorted(path.name for path in results.iterdir()) == [*files, "reduced"]
    assert sorted(path.name for path in (results / "reduced").iterdir()) == files
    urdf = tree / "robots" / "mahru" / "mahru.urdf"
    replace(urdf, "1.5", "1.515")
    assert stale(tree) == {"arm": "robots/mahru/mahru.urdf"}
    replace(urdf, "1.515", "1.5")
    # Comments, docstrings, layout and what a part cannot reach change nothing.
    replace(tree / "simbench" / "arm.py", "Return more.", "Return\n\n    twice as much.")
    replace(tree / "simbench" / "arm.py", "FACTOR * x", "(FACTOR  # As\n        * x)\nUNUSED = 1")
    assert stale(tree) == {}
    replace(tree / "simbench" / "legs.py", "FACTOR = 3", "FACTOR = 3.03")
    assert stale(tree) == {"legs": "simbench/legs.py", "late": "simbench/legs.py, legs"}
    status, said, _ = reproduce(tree, "--all", "--jobs", 2)
    assert "arm: 1 of 1 bounds hold; not stale, not run" in said
    assert stale(tree) == {}


def test_what_another_part_found_counts(tree):
    reproduce(tree, "--all", "--jobs", 2)
    # The legs alone again, with another robot; what was made from them is older.
    replace(tree / "robots" / "romeo" / "romeo.urdf", "1.5", "1.6")
    reproduce(tree, "legs")
    assert stale(tree) == {"late": "robots/romeo/romeo.urdf, legs"}
    reproduce(tree, "late")
    assert stale(tree) == {}


def test_code_that_gives_the_same_numbers_renews_them(tree):
    reproduce(tree, "--all", "--jobs", 2)
    legs, results = tree / "simbench" / "legs.py", tree / "docs" / "validation" / "results"
    replace(legs, "FACTOR * x", "x * FACTOR")
    assert list(stale(tree)) == ["legs", "late"]
    status, said, _ = reproduce(tree, "--renew", "--jobs", 2)
    assert status == 0
    assert said.splitlines()[-2:] == ["legs: current", "late: current"]
    assert stale(tree) == {}
    noted = json.loads((results / "legs.json").read_text())
    assert noted["computed_from"]["renewed"] >= noted["date"]
    assert noted["command"] == "python scripts/reproduce/walk/legs.py --robot romeo"
    # The reduced run has other numbers: nothing is renewed.
    before = {path: path.read_bytes() for path in results.rglob("*.json")}
    replace(legs, "FACTOR = 3", "FACTOR = 3.03")
    status, said, _ = reproduce(tree, "--renew", "--jobs", 2)
    assert status == 1
    assert "docs/validation/walk.md: legs: Ours, kg: row 1, column 'mass': 4.50 is now 4.54\n" in said
    assert "docs/validation/walk.md: late: made from legs, which is another now\n" in said
    assert "  run: python scripts/reproduce late\n" in said
    assert before == {path: path.read_bytes() for path in results.rglob("*.json")}
    # A reduced run does not read all data: what has changed there cannot be renewed.
    replace(tree / "robots" / "mahru" / "mahru.urdf", "1.5", "1.50")
    status, said, _ = reproduce(tree, "arm", "--renew")
    assert (status, said) == (
        1,
        "docs/validation/arm.md: arm: robots/mahru/mahru.urdf changed, which a reduced run does not read\n"
        "  run: python scripts/reproduce arm\n",
    )


def test_data_that_a_reduced_run_reads_too_is_renewed(tree):
    parts = tree / "scripts" / "reproduce" / "parts.py"
    replace(parts, '"--robot romeo", sized', '"--robot romeo", quick="--robot romeo", sized')
    reproduce(tree, "--all", "--jobs", 2)
    replace(tree / "robots" / "romeo" / "romeo.urdf", "1.5", "1.500")
    assert list(stale(tree)) == ["legs", "late"]
    status, said, _ = reproduce(tree, "--renew", "--jobs", 2)
    assert status == 1
    assert "late: robots/romeo/romeo.urdf changed, which a reduced run does not read\n" in said
    assert said.endswith("legs: current\n")
    assert list(stale(tree)) == ["late"]
    # Other numbers are no renewal.
    replace(tree / "robots" / "romeo" / "romeo.urdf", "1.500", "1.6")
    assert reproduce(tree, "--renew", "--jobs", 2)[0] == 1
    assert list(stale(tree)) == ["legs", "late"]


def test_a_killed_run_goes_on(tree):
    os.mkfifo(tree / "wait")
    runner = subprocess.Popen(
        command(tree, "arm", "legs", "--jobs", "1"),
        cwd=tree,
        env=environment(tree),
        stdout=subprocess.PIPE,
        text=True,
    )
    # The second part is at work when somebody reads the pipe.
    with (tree / "wait").open("w"):
        (working,) = (tree / "docs" / "validation" / "results").glob(".*.opened")
        log = tree / "runs" / "reproduce" / "full" / "work"
        assert reproduce(tree, "arm")[::2] == (2, f"--out {log.parent}: another run is at work there\n")
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    runner.stdout.close()
    results = tree / "docs" / "validation" / "results"
    assert working.is_file()
    assert [path.name for path in results.glob("*.json")] == ["arm.json"]
    # What it has started is ended, too: nobody is left to read the pipe.
    wait_until(lambda: not os.path.exists("/proc") or not processes_in(tree))
    (tree / "wait").unlink()
    status, said, _ = reproduce(tree, "arm", "legs", "--jobs", "1")
    assert said.splitlines()[0] == "arm: 1 of 1 bounds hold; not stale, not run"
    assert re.match(r"legs: 0 of 1 bounds hold; \d+ s", said.splitlines()[1])
    assert status == 1


def processes_in(tree):
    """Scripts of the tree that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [path] if f"{tree}".encode() in path.read_bytes() else []
    return found


def test_reduced_sizes_stay_away_from_the_pages(tree):
    status, said, _ = reproduce(tree, "arm", "legs", "--quick")
    assert status == 0
    assert "not judged at this size: all of 3" in said
    assert not list((tree / "docs" / "validation" / "results").glob("*"))
    arm = json.loads((tree / "runs" / "reproduce" / "quick" / "arm.json").read_text())
    assert list(arm["computed_from"]["data"]) == ["robots/romeo/romeo.urdf"]
    committed = tree / "docs" / "validation" / "results"
    for options in (["--quick"], ["--compare", "arm"]):
        status, _, said = reproduce(tree, *options, "--out", committed)
        assert (status, said) == (
            2,
            f"--out {committed}: holds the committed results; allowed: another folder\n",
        )


def test_what_is_read_for_the_key_of_a_cache_has_its_name():
    with loaded_script("reproduce/dependencies.py") as dependencies:
        assert provenance.sources_fingerprint.__name__ == dependencies._DIGESTING


def test_a_cell_that_differs_is_named(tree):
    reproduce(tree, "arm")
    path = tree / "docs" / "validation" / "results" / "arm.json"
    assert reproduce(tree, "--compare", "arm")[0] == 0, (
        "the process is another, but its column is a measurement"
    )
    replace(path, '["3.00"', '["3.02"')
    status, said, _ = reproduce(tree, "--compare", "arm")
    assert status == 1
    assert "  docs/validation/arm.md: Ours, kg: row 1, column 'mass': 3.02 is now 3.00\n" in said


def test_a_script_that_fails_is_named(tree):
    replace(tree / "simbench" / "arm.py", "FACTOR * x", "1 / 0")
    status, said, _ = reproduce(tree, "arm")
    assert status == 1
    assert (
        "arm: FAILED: status 1: ZeroDivisionError: division by zero (runs/reproduce/full/work/arm.log)"
        in said
    )
    assert not (tree / "docs" / "validation" / "results" / "arm.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["leg"], "NAME leg: no part; allowed: arm, walk, legs, late\n"),
        (["--jobs", "0", "--all"], "--jobs 0: allowed: 1 and more\n"),
        (["--all", "arm"], "--all: with NAME; allowed: one of them\n"),
        (["--renew", "--compare"], "--renew: with --compare; allowed: one of them\n"),
        (["--compare"], "--compare: allowed: with NAME, --all or --quick\n"),
    ],
)
def test_wrong_arguments(tree, arguments, said):
    assert reproduce(tree, *arguments) == (2, "", said)


@pytest.mark.parametrize(
    ("committed", "again", "agree"),
    [
        ("1.25", "1.26", True),
        ("1.25", "1.27", False),
        ("1.2e-09", "1.3e-09", True),
        ("1.2e-09", "1.2e-08", False),
        ("20 of 15", "21 of 15", False),
        ("9.6 / 197.7", "9.7 / 197.6", True),
        ("-0.00", "0.00", True),
        ("1.0", "1.0 mm", False),
        ("inf", "1.0", False),
        ("1, 2", "1", False),
    ],
)
def test_cells_agree_to_the_last_printed_digit(committed, again, agree):
    with loaded_script("reproduce/comparison.py") as comparison:
        assert comparison.cells_agree(committed, again) is agree


def test_what_no_machine_repeats_is_left_out():
    columns = ["motion", "arm", "mean", "us"]
    rows = [["waving", "left", "1.0", "5"], ["", "right", "2.0", "5"], ["signing", "left", "3.0", "5"]]
    results = {"checks": [], "tables": [{"title": "Errors of mahru", "columns": columns, "rows": rows}]}
    other = [["waving", "left", "1.0", "6"], ["", "right", "2.5", "6"], ["signing", "left", "3.5", "6"]]
    again = {"checks": [], "tables": [{"title": "Errors of mahru", "columns": columns, "rows": other}]}
    with loaded_script("reproduce/comparison.py") as comparison:
        assert comparison.differences(results, again, (("Errors", "us", ""), ("Errors", "", "signing"))) == [
            "Errors of mahru: row 2 (waving, right), column 'mean': 2.0 is now 2.5"
        ]
        assert comparison.differences(results, again, (("Errors", "", ""),)) == []


@pytest.fixture(scope="module")
def closure():
    with loaded_script("reproduce/code_closure.py") as module:
        yield module


def digest(closure, folder, script="main"):
    sources = closure.Sources([folder])
    return closure.digest_code(sources, closure.reached(sources, script))


@pytest.fixture
def package(tmp_path):
    """A script that reaches functions in the ways that there are."""
    texts = {
        "main": "from simbench import engine, tables\nprint(engine.open_engine('a').world(), tables.sizes())",
        "simbench/__init__": "",
        "simbench/engine": "from importlib import import_module\nENGINES = {'a': 'simbench.bullet'}\n"
        "def open_engine(name): return import_module(ENGINES[name])",
        "simbench/bullet": "GRAVITY = 9.81\ndef world() -> float:\n    'A world.'\n    return Body().fall()\n"
        "class Body:\n    def fall(self): return GRAVITY",
        "simbench/tables": "import simbench.lazy.kernel as k\nfrom simbench.first import size\n"
        "def sizes():\n    from simbench.inner import more\n    return size() + k.count() + more()\n"
        "def unused(): return 1",
        "simbench/lazy/__init__": "setting = []\nsetting.append(1)",
        "simbench/lazy/kernel": "def count(): return 4",
        "simbench/inner": "def more(): return 5",
        "simbench/first": "def size(): return 6",
        "simbench/second": "def size(): return 7",
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("bullet", "9.81", "9.82"),
        ("lazy/kernel", "4", "4.0"),
        ("lazy/__init__", "append(1)", "append(2)"),
        ("inner", "5", "50"),
        ("first", "6", "True"),
        ("tables", "simbench.first", "simbench.second"),
    ],
)
def test_a_change_of_what_is_reached_changes_the_digest(closure, package, module, old, new):
    before = digest(closure, package)
    replace(package / "simbench" / f"{module}.py", old, new)
    assert digest(closure, package) != before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("bullet", "'A world.'", "'Another.'"),
        ("bullet", "-> float", "-> 'float | None'"),
        ("bullet", "return Body().fall()", "return (\n        Body().fall()  # It falls.\n    )"),
        ("tables", "unused(): return 1", "unused(): return 2"),
        ("second", "7", "8"),
    ],
)
def test_a_change_of_nothing_that_counts_does_not(closure, package, module, old, new):
    before = digest(closure, package)
    replace(package / "simbench" / f"{module}.py", old, new)
    assert digest(closure, package) == before


def test_a_function_may_move(closure, package):
    before = digest(closure, package)
    (package / "simbench" / "first.py").rename(package / "simbench" / "third.py")
    replace(package / "simbench" / "tables.py", "simbench.first", "simbench.third")
    assert digest(closure, package) == before


@pytest.mark.parametrize(
    "path", sorted((SCRIPTS.parent / "docs/validation/results").glob("*.json")), ids=lambda path: path.stem
)
def test_the_robots_that_a_page_needs_are_noted(path):
    """Which robots the papers' parts load, if a committed file says anything."""
    wanted = {
        "armstrong1986": {"puma560"},
        "kim2005_arm": {"mahru"},
        "kim2005_cog": {"mahru"},
        "kim2005_cog_ablation": {"mahru"},
        "ohtsuki": {"direct_drive_arm"},
        "tomic2018_ch3": {"romeo"},
        "tomic2018_ch3_terms": {"romeo"},
        "tomic2018_transfer_weights": {"romeo"},
    }
    noted = json.loads(path.read_text(encoding="utf-8")).get("computed_from", {}).get("data")
    if noted is not None:
        robots = {name.split("/")[1] for name in noted if name.startswith("robots/")}
        assert robots == wanted.get(path.stem, set())


def test_a_kernel_of_chapter_4_is_one_of_its_page_and_not_of_all(closure, tmp_path):
    """A changed copy of one file stands before the repository's own."""
    root = SCRIPTS.parent
    copy = tmp_path / "simbench" / "kinematics" / "redundancy_step.py"
    copy.parent.mkdir(parents=True)

    def digests(text):
        copy.write_text(text, encoding="utf-8")
        for script in (REPRODUCE / "tomic2018" / "ch4.py", REPRODUCE / "ohtsuki" / "ohtsuki.py"):
            sources = closure.Sources([tmp_path, script.parent, REPRODUCE, root])
            yield closure.digest_code(sources, closure.reached(sources, script.stem))

    text = (root / "simbench" / "kinematics" / "redundancy_step.py").read_text(encoding="utf-8")
    (before, other), (after, same) = digests(text), digests(text.replace("0.0", "1e-9"))
    assert before != after
    assert other == same
