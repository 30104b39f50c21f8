"""Names that try to control a terminal, a page or a plot are shown as they are, by every command."""

import ast
import json
import re
import sys
import warnings
from pathlib import Path

import pytest
import run_by_hand as by_hand
from packed_pages import unpack
from rich.table import Table

import simbench.cli
from simbench.cli.console import make_console, metrics_table
from simbench.cli.main import guarded_streams, main
from simbench.runs.baseline import Check
from simbench.runs.log import write_log
from simbench.runs.plots.run_plots import draw_torque, draw_tracking

NAMES = [
    "[red]name[/red]",
    "[link=file:///etc/passwd]name[/link]",
    "[/]",
    ":smile:",
    "\x1b[2Jname",
    "\x1b]8;;http://example.org\x07name",
    "name\rerror: none",
    "name\u202eeman",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a&b\"c'd",
    "$\\frac{",
    "$x_{$",
    "関節",
]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def assert_shown(text, name):
    """The text has no control character, and the name with its own as escapes."""
    assert not CONTROL.search(text)
    shown = CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), name)
    assert shown in text


@pytest.mark.parametrize("name", NAMES)
def test_tables_and_lines_show_names_as_they_are(capsys, name):
    checks = [Check(name, passed=True, bound="≤ 1")]
    with guarded_streams():
        table = metrics_table({name: 1.0, "a.b": name}, checks)
        console = make_console()
        console.width = 200
        console.print(table)
        console.print(name)
        console.print(Table(name))
        print(f"line of {name}")
        print(f"error of {name}", file=sys.stderr)
    captured = capsys.readouterr()
    assert_shown(captured.out, name)
    assert captured.out.count("name") >= 3 * name.count("name")
    assert_shown(captured.err, name)


def test_streams_are_as_before_when_a_command_has_ended(capsys):
    before = sys.stdout, sys.stderr
    main(["--version"])
    assert (sys.stdout, sys.stderr) == before


def test_every_console_is_a_guarded_one():
    """One made elsewhere would interpret markup in names."""
    for path in Path(simbench.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console"
            )
            assert not made, f"{path.name}:{node.lineno}: use make_console()"


@pytest.mark.parametrize("name", NAMES[::2])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "{}"),
        ("run", "puma560_sweep", "--set", "{}=1"),
        ("robot", "inspect", "{}"),
        ("motion", "inspect", "{}"),
        ("report", "{}"),
        ("explain", "{}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_errors_are_one_line_whatever_a_name_holds(capsys, tmp_path, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    assert main([part.format(name) for part in command]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert not CONTROL.search(captured.err)
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory):
    """A run whose joints, metrics, summary and provenance have such names."""
    folder = by_hand.write_puma_run(tmp_path_factory.mktemp("hostile") / "run")
    scenario = (folder / "scenario.yaml").read_text(encoding="utf-8")
    # YAML with control characters is refused.
    summary = json.dumps(CONTROL.sub("", "".join(NAMES)))
    scenario = re.sub("(?m)^summary: .*(\n .*)*", lambda _: f"summary: {summary}", scenario)
    (folder / "scenario.yaml").write_text(scenario, encoding="utf-8")
    log = by_hand.puma_log().assign_coords(joint=NAMES[:6]).assign_attrs(robot=NAMES[12])
    write_log(log, folder / "log.nc")
    metrics = {name: NAMES[8] for name in NAMES} | {"tracking.rms_rad": 0.001}
    (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    provenance = folder / "provenance.json"
    facts = {"simbench": NAMES[8], "command": NAMES, "packages": dict.fromkeys(NAMES, NAMES[9])}
    whole = json.loads(provenance.read_text(encoding="utf-8")) | facts
    provenance.write_text(json.dumps(whole), encoding="utf-8")
    return folder


def test_a_report_has_no_tag_script_or_control_character_of_its_input(hostile_run, tmp_path, capsys):
    out = tmp_path / "report.html"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["report", str(hostile_run), "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert not CONTROL.search(page)
    # Ours: data and scripts, packed, and what unpacks them.
    assert page.count("<script") == page.count("</script>") == 3
    assert "onerror=alert(1)>" not in page
    assert "<img" not in page
    document, _ = unpack(re.search(r'id="simbench-data">([^<]*)<', page)[1])
    assert not CONTROL.search(json.dumps(document, ensure_ascii=False))
    assert document["runs"][0]["joints"]["names"][4] == r"\x1b[2Jname"
    assert "&lt;script&gt;" in page
    assert r"name\u202eeman" in page
    captured = capsys.readouterr()
    assert not CONTROL.search(captured.out + captured.err)


@pytest.mark.parametrize("name", [*NAMES[:11:5], *NAMES[11:13]])
def test_plots_draw_names_as_they_are(tmp_path, name):
    """Neither formulas nor missing letters stop or warn."""
    log = by_hand.puma_log()
    log = log.assign_coords(joint=[name, *log["joint"].values[1:]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_tracking(log, name, tmp_path / "tracking.png")
        draw_torque(log, name, tmp_path / "torque.png")
    for plot in ("tracking", "torque"):
        assert (tmp_path / f"{plot}.png").stat().st_size > 1000
