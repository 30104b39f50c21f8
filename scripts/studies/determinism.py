"""Does a scenario give the same log, bit for bit, whatever the machine does beside it?

python scripts/studies/determinism.py [SCENARIO ...] [--only NAME,...] [--set KEY=VALUE] [--out FILE.json]

Runs each scenario with other hash seeds, numbers of threads, working directories and users, with cold and
warm machine code, on one core, under load, in a process that ran other scenarios before, and as a worker of
a sweep, and compares the digests of the logs: all variables, coordinates and attributes. Exit status 1 if a
scenario has more than one digest.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from log_digest import log_digest
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ("puma560_sweep", "mahru_push", "valves")
# Reads, so that an interpreter in a closed home directory starts; writes only where nobody may.
AS_NOBODY = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
AFTER_OTHERS = """
import sys
from simbench import load_scenario, run_scenario
out, *overrides = sys.argv[2:]
for name in ("puma560_drawer", "mahru_arms_forward", "push"):
    run_scenario(load_scenario(name), out + "-" + name)
run_scenario(load_scenario(sys.argv[1], overrides), out)
"""
TWICE = """
import sys
from simbench import load_scenario, run_scenario
out, *overrides = sys.argv[2:]
scenario = load_scenario(sys.argv[1], overrides)
run_scenario(scenario, out + "-first")
run_scenario(scenario, out)
"""


@dataclass(frozen=True)
class Setting:
    """How a scenario is run.

    Parameters
    ----------
    variables : mapping of str to str
        Environment variables.
    prefix : tuple of str
        Program that starts the interpreter.
    script : str
        Text of a script that runs the scenario instead of the command line.
    kernels : str
        Folder of machine code below the study's.
    cwd : str
        Working directory below the study's.
    sweep : bool
        Whether a sweep's worker runs it.
    load : int
        Busy processes beside it.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    script: str = ""
    kernels: str = "warm"
    cwd: str = "."
    sweep: bool = False
    load: int = 0


def _threads(count: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(count))


SETTINGS = {
    "cold": Setting(),
    "warm": Setting(),
    "hash seed 0": Setting({"PYTHONHASHSEED": "0"}),
    "hash seed 1": Setting({"PYTHONHASHSEED": "1"}),
    "threads 1": Setting(_threads(1)),
    "threads 2": Setting(_threads(2)),
    "threads 7": Setting(_threads(7)),
    "one core": Setting(prefix=("taskset", "-c", "0")),
    "another directory": Setting(cwd="another directory ü"),
    "cold again": Setting(kernels="cold"),
    "another user": Setting(prefix=AS_NOBODY, kernels="nobody", cwd="nobody"),
    "twice in a process": Setting(script=TWICE),
    "after others in a process": Setting(script=AFTER_OTHERS),
    "worker of a sweep": Setting(sweep=True),
    "under load": Setting(load=2 * (os.cpu_count() or 1)),
    "python -O": Setting({"PYTHONOPTIMIZE": "1"}),
    "dirty heap": Setting({"MALLOC_PERTURB_": "165"}),
    "LC_ALL=C": Setting({"LC_ALL": "C", "TZ": "Asia/Kathmandu"}),
}


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep processors busy while the body runs."""
    loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for load in loads:
            load.kill()
            load.wait()


def run(scenario: str, setting: Setting, overrides: Sequence[str], folder: Path, name: str) -> str:
    """Run a scenario and return its log's digest, or the last line of the error."""
    cwd = folder / setting.cwd
    cwd.mkdir(exist_ok=True)
    kernels = folder / setting.kernels
    kernels.mkdir(exist_ok=True)
    if setting.prefix[:1] == ("setpriv",):
        for path in (cwd, kernels):
            os.chown(path, 65534, 65534)
    out = cwd / f"{scenario}-{''.join(letter if letter.isalnum() else '-' for letter in name)}"
    sets = [part for text in overrides for part in ("--set", text)]
    if setting.script:
        arguments = ["-c", setting.script, scenario, str(out), *overrides]
    elif setting.sweep:
        varied = ["--vary", "seed=0", "--keep"]
        arguments = ["-m", "simbench", "sweep", scenario, *varied, "--out", str(out), *sets]
    else:
        arguments = ["-m", "simbench", "run", scenario, "--out", str(out), *sets]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NUMBA_CACHE_DIR": str(kernels),
        **setting.variables,
    }
    environment = {"PYTHONHASHSEED": "random", **environment, "HOME": str(cwd)}
    command = [*setting.prefix, sys.executable, *arguments]
    with _busy(setting.load):
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    logs = sorted(out.rglob("log.nc"))
    if not logs:
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:100]
    digest = log_digest(logs[0].parent)
    shutil.rmtree(out)
    return digest


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix and print the digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"by default {', '.join(SCENARIOS)}")
    parser.add_argument("--only", metavar="NAME,...", help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the digests")
    given = parser.parse_args(arguments)
    names = given.only.split(",") if given.only else list(SETTINGS)
    if unknown := [name for name in names if name not in SETTINGS]:
        print(f"error: no setting {unknown[0]!r}; there are {', '.join(SETTINGS)}", file=sys.stderr)
        return 2
    scenarios = given.scenarios or SCENARIOS
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    with tempfile.TemporaryDirectory(prefix="determinism-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        for name in names:
            if SETTINGS[name].prefix[:1] == ("setpriv",) and os.geteuid() != 0:
                found[name] = dict.fromkeys(scenarios, "not tried: needs root")
                continue
            for scenario in scenarios:
                found[name][scenario] = run(scenario, SETTINGS[name], given.overrides, folder, name)
                print(f"{scenario}, {name}: {found[name][scenario]}", flush=True)
    table = Table("setting", *scenarios, box=None)
    for name, digests in found.items():
        table.add_row(name, *digests.values())
    Console(markup=False, emoji=False, width=120).print(table)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1))
    tried = [
        {d[scenario] for d in found.values() if "not tried" not in d[scenario]} for scenario in scenarios
    ]
    return 0 if all(len(digests) == 1 for digests in tried) else 1


if __name__ == "__main__":
    sys.exit(main())
