"""Everything that simbench reads, and how a damaged one reaches it."""

import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from hostile_inputs import HOSTILE, build_mechanism, step_environments
from mutations import (
    mutate_arrays,
    mutate_bytes,
    mutate_json,
    mutate_sealed,
    mutate_text,
    mutate_xml,
    mutate_yaml,
)
from odd_values import NUMBERS, WORDS
from sandbox import Case
from seeds import STUDY, STUDY_COMMAND, Seeds

from simbench import load_scenario, open_run, read_trajectory
from simbench.cli.main import main
from simbench.errors import SimbenchError
from simbench.runs.baseline import compare, read_baseline
from simbench.skills import fuzzy_rules


class Input(NamedTuple):
    """A kind of input.

    Parameters
    ----------
    make : callable (rng, seeds)
        Makes a damaged one.
    share : float
        Share of all cases.
    """

    make: Callable[[random.Random, Seeds], Case]
    share: float


def _with(files: Mapping[str, bytes], name: str, content: bytes) -> dict[str, bytes]:
    return {**files, name: content}


def _motion(
    suffixes: tuple[str, ...], mutate: Callable[[bytes, random.Random], bytes]
) -> Callable[..., Case]:
    def make(rng: random.Random, seeds: Seeds) -> Case:
        name = rng.choice([name for name in seeds.motions if name.endswith(suffixes)])
        files = {name: mutate(seeds.motions[name], rng)}
        if rng.random() < 0.1:
            return Case(
                files, ("motion", "export", name, f"out{rng.choice(('.bvh', '.c3d', '.nc', '.csv'))}")
            )
        options = rng.choice(
            ((), (), ("--unit", "mm"), ("--up", "x"), ("--longest-gap", rng.choice(NUMBERS)))
        )
        return Case(files, ("motion", "inspect", name, *options))

    return make


def _body_model(rng: random.Random, seeds: Seeds) -> Case:
    """A recording with the parameters of SMPL and a damaged body model."""
    name = rng.choice(list(seeds.models))
    files = {"smpl.npz": seeds.motions["smpl.npz"], name: mutate_arrays(seeds.models[name], rng)}
    return Case(files, ("motion", "inspect", "smpl.npz", "--body-model", name))


def _urdf(rng: random.Random, seeds: Seeds) -> Case:
    if rng.random() < 0.15:
        name = rng.choice([name for name in seeds.robots if name.endswith(".urdf")])
        return Case({"robot.urdf": mutate_xml(seeds.robots[name], rng)}, ("robot", "inspect", "robot.urdf"))
    name = "my_arm/model.urdf"
    files = _with(seeds.arm, name, mutate_xml(seeds.arm[name], rng))
    return Case(files, rng.choice((("robot", "inspect", name), _RUN)))


def _mesh(rng: random.Random, seeds: Seeds) -> Case:
    name = rng.choice(("my_arm/box.stl", "my_arm/box.obj"))
    mutate = mutate_bytes if name.endswith("stl") else mutate_text
    files = _with(seeds.arm, name, mutate(seeds.arm[name], rng))
    return Case(files, rng.choice((("robot", "inspect", "my_arm/robot.yaml"), _RUN)))


def _robot_yaml(rng: random.Random, seeds: Seeds) -> Case:
    name = "my_arm/robot.yaml"
    if rng.random() < 0.7:
        files = _with(seeds.arm, name, mutate_yaml(seeds.arm[name], rng))
        return Case(files, rng.choice((("robot", "inspect", name), _RUN)))
    robot = rng.choice(("mahru", "romeo", "puma560", "direct_drive_arm"))
    files = {name: content for name, content in seeds.robots.items() if name.startswith(robot)}
    description = f"{robot}/robot.yaml"
    files[description] = mutate_yaml(files[description], rng)
    return Case(files, ("robot", "inspect", description))


def _scenario(rng: random.Random, seeds: Seeds) -> Case:
    if rng.random() < 0.6:
        return Case(_with(seeds.arm, "short.yaml", mutate_yaml(seeds.arm["short.yaml"], rng)), _RUN)
    name = rng.choice(list(seeds.scenarios))
    return Case({name: mutate_yaml(seeds.scenarios[name], rng)}, (name,), "load_scenario")


KEYS = (
    "seed",
    "name",
    "summary",
    "robot.name",
    "robot.posture",
    "robot.position_m",
    "robot.heading_rad",
    "motion.source",
    "motion.task",
    "motion.task.amplitude_rad",
    "motion.task.speed_rad_s",
    "motion.unit",
    "motion.up",
    "motion.marker_map",
    "motion.rate_hz",
    "motion.longest_gap_s",
    "retarget.method",
    "retarget.speed_limit_fraction",
    "balance.rate_hz",
    "balance.embedding.cog",
    "grip.stiffness_n_m",
    "control.law",
    "control.feedforward",
    "simulation.timestep_s",
    "simulation.settle_s",
    "simulation.hold_s",
    "simulation.log_rate_hz",
    "simulation.floor_friction",
    "camera.target_m",
    "camera.target_m.0",
    "camera.distance_m",
    "variation.mass_fraction",
    "variation.friction_fraction",
    "push.force_n",
    "stepping.commands",
    "fixtures",
    "fixtures.0.mass_kg",
    "checks.tracking.rms_rad",
    "checks.tracking.rms_rad.max",
    "checks.nothing.such",
    "",
    ".",
    "a.b.c.d.e",
)


def _override(rng: random.Random, seeds: Seeds) -> Case:
    key = rng.choice(KEYS) if rng.random() < 0.9 else _word(rng)
    value = rng.choice(NUMBERS) if rng.random() < 0.4 else _word(rng)
    text = f"{key}={value}" if rng.random() < 0.97 else key + value
    return Case(seeds.arm, (*_RUN, "--set", text))


def _marker_map(rng: random.Random, seeds: Seeds) -> Case:
    name, recording = rng.choice(
        (
            ("kim2005.yaml", "short.trc"),
            ("kim2005.yaml", "walk.c3d"),
            ("simbench.yaml", "short.c3d"),
            ("simbench.yaml", "short.bvh"),
            ("simbench.yaml", "wave.bvh"),
            (rng.choice(list(seeds.maps)), "short.trc"),
        )
    )
    files = {recording: seeds.motions[recording], "map.yaml": mutate_yaml(seeds.maps[name], rng)}
    return Case(files, ("motion", "inspect", recording, "--map", "map.yaml"))


def _baseline(rng: random.Random, seeds: Seeds) -> Case:
    name = rng.choice(list(seeds.baselines))
    content = mutate_json(seeds.baselines[name], rng)
    if rng.random() < 0.05:
        return Case({**seeds.arm, "baselines/short.json": content}, ("check", "short.yaml", "--jobs", "1"))
    return Case({name: content, f"whole/{name}": seeds.baselines[name]}, (name, f"whole/{name}"), "compare")


def _calibration(rng: random.Random, seeds: Seeds) -> Case:
    if rng.random() < 0.7:
        arguments = ("motion1.csv", "--model", "direct_drive_arm", "--kp", "9.5", "--kv", "-9.5")
    else:
        arguments = ("tips.csv", "--model", "puma560")
    data = seeds.calibration[arguments[0]]
    return Case({arguments[0]: mutate_text(data, rng)}, ("calibrate", *arguments))


def _run_directory(rng: random.Random, seeds: Seeds) -> Case:
    name = rng.choice(
        ("run/log.nc", "run/log.nc", "run/metrics.json", "run/provenance.json", "run/scenario.yaml")
    )
    mutate = {".nc": mutate_bytes, ".json": mutate_json, ".yaml": mutate_yaml}[Path(name).suffix]
    files = _with(seeds.run, name, mutate(seeds.run[name], rng))
    if rng.random() < 0.1:
        del files[rng.choice(list(files))]
    kind = rng.random()
    if kind < 0.5:
        return Case(files, ("run",), "open_run")
    if kind < 0.8:
        # Another robot description beside the run is not part of a run directory.
        return Case({**seeds.arm, **files}, ("report", "run", "--out", "report.html"))
    return Case({**seeds.arm, **files}, ("video", "run", "--end", "0.01", "--out", "video.mp4"))


def _study(rng: random.Random, seeds: Seeds) -> Case:
    name = rng.choice([name for name in seeds.study if not name.endswith("lock")])
    mutate = mutate_json if name.endswith(".json") else mutate_bytes
    files = {"study.yaml": STUDY, **_with(seeds.study, name, mutate(seeds.study[name], rng))}
    return Case(files, STUDY_COMMAND)


def _trajectory(rng: random.Random, seeds: Seeds) -> Case:
    name = rng.choice(list(seeds.trajectories))
    mutate = mutate_text if name.endswith(".csv") else mutate_bytes
    return Case({name: mutate(seeds.trajectories[name], rng)}, (name,), "read_trajectory")


def _robot_motion(
    suffixes: tuple[str, ...], mutate: Callable[[bytes, random.Random], bytes]
) -> Callable[..., Case]:
    def make(rng: random.Random, seeds: Seeds) -> Case:
        name = rng.choice([name for name in seeds.robot_motions if name.endswith(suffixes)])
        files = {name: mutate(seeds.robot_motions[name], rng)}
        options = rng.choice(((), (), ("--fps", rng.choice(NUMBERS)), ("--quaternion", "wxyz")))
        return Case(files, ("convert", name, "new.csv", "--robot", "romeo", *options))

    return make


def _arguments(rng: random.Random, seeds: Seeds) -> Case:
    """A command with words and numbers in places where others belong."""
    words = list(rng.choice(_COMMANDS))
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(1, len(words) + 1)
        given = rng.choice(NUMBERS) if rng.random() < 0.4 else _word(rng)
        if place == len(words) or rng.random() < 0.2:
            words.insert(place, given)
        elif rng.random() < 0.3 and ":" in words[place]:
            words[place] = words[place].rpartition(":")[0] + ":" + given
        else:
            words[place] = given
    return Case({**seeds.arm, **seeds.run, "short.trc": seeds.motions["short.trc"]}, tuple(words))


_RUN = ("run", "short.yaml", "--out", "new")
_COMMANDS = (
    ("run", "short.yaml", "--out", "new", "--set", "seed=1"),
    ("run", "short.yaml", "--out", "new"),
    ("robot", "inspect", "my_arm/robot.yaml"),
    ("robot", "inspect", "puma560"),
    ("robot", "render", "my_arm/robot.yaml", "arm.png"),
    ("motion", "inspect", "short.trc", "--unit", "mm", "--up", "y", "--longest-gap", "0.2"),
    ("motion", "inspect", "actor:drawer:3"),
    ("motion", "inspect", "sample:walk", "--map", "simbench"),
    ("motion", "export", "short.trc", "short.bvh"),
    ("list", "robots"),
    ("explain", "base.fell"),
    ("schema", "scenario"),
    ("samples", "here"),
    ("report", "run", "--out", "report.html"),
    ("video", "run", "--start", "0", "--end", "0.01", "--speed", "1", "--out", "video.mp4"),
    ("sweep", "short.yaml", "--vary", "simulation.settle_s=0.02..0.04", "--jobs", "1", "--out", "study"),
    ("check", "short.yaml", "--jobs", "1"),
    ("calibrate", "motion.csv", "--model", "direct_drive_arm", "--kp", "9.5"),
    ("place", "short.trc", "--robot", "my_arm/robot.yaml", "--position", "0", "0", "--heading", "0"),
    ("convert", "run", "motion.npz", "--rate", "30", "--format", "npz"),
    ("retarget", "short.trc", "--robot", "my_arm/robot.yaml", "--out", "motion.csv"),
    ("skills", "short.trc", "--span", "0", "1", "--height", "1.7", "--mass", "70", "--seed", "0"),
)


def _word(rng: random.Random) -> str:
    """Choose a word that a shell can pass on."""
    return rng.choice(_PASSABLE)


_PASSABLE = tuple(word for word in WORDS if "\x00" not in word)


def _memberships(rng: random.Random, seeds: Seeds) -> Case:
    del seeds
    shipped = Path(fuzzy_rules.__file__).with_name("memberships_tuned.yaml")
    return Case({"rules.yaml": mutate_yaml(shipped.read_bytes(), rng)}, ("rules.yaml",), "read_memberships")


INPUTS: Mapping[str, Input] = {
    "bvh": Input(_motion((".bvh",), mutate_text), 0.06),
    "c3d": Input(_motion((".c3d",), mutate_bytes), 0.06),
    "trc": Input(_motion((".trc",), mutate_text), 0.05),
    "csv": Input(_motion(("short.csv",), mutate_text), 0.03),
    "motive": Input(_motion(("bones.csv", "marks.csv"), mutate_text), 0.03),
    "named points": Input(_motion(("joints.csv",), mutate_text), 0.03),
    "joint array": Input(_motion(("joints.npy", "joints.npz"), mutate_bytes), 0.03),
    "qualisys": Input(_motion((".tsv",), mutate_text), 0.02),
    "landmarks": Input(_motion((".json",), mutate_json), 0.02),
    "mvnx": Input(_motion((".mvnx",), mutate_xml), 0.03),
    "deepmimic": Input(_motion((".txt",), mutate_json), 0.04),
    "netcdf": Input(_motion((".nc",), mutate_sealed), 0.04),
    "arrays": Input(_motion((".npz",), mutate_arrays), 0.04),
    "pickle": Input(_motion((".pkl",), mutate_bytes), 0.04),
    "body model": Input(_body_model, 0.02),
    "urdf": Input(_urdf, 0.12),
    "mesh": Input(_mesh, 0.04),
    "robot.yaml": Input(_robot_yaml, 0.09),
    "scenario": Input(_scenario, 0.10),
    "--set": Input(_override, 0.09),
    "marker map": Input(_marker_map, 0.07),
    "baseline": Input(_baseline, 0.05),
    "calibration": Input(_calibration, 0.02),
    "run directory": Input(_run_directory, 0.05),
    "study": Input(_study, 0.01),
    "trajectory": Input(_trajectory, 0.03),
    "robot table": Input(_robot_motion((".csv",), mutate_text), 0.02),
    "robot npz": Input(_robot_motion((".npz", ".npy"), mutate_bytes), 0.02),
    "robot pickle": Input(_robot_motion((".pkl",), mutate_bytes), 0.02),
    "memberships": Input(_memberships, 0.01),
    "arguments": Input(_arguments, 0.02),
    **{name: Input(make, share) for name, (make, share) in HOSTILE.items()},
}


def _said_in_one_line(function: Callable[..., object]) -> Callable[..., int]:
    """Give a function of the public interface the command line's way of ending."""

    def call(*arguments: str) -> int:
        try:
            function(*arguments)
        except SimbenchError as error:
            print("error:", " ".join(str(error).split()), file=sys.stderr)
            return 2
        return 0

    return call


def _compare(damaged: str, whole: str) -> None:
    baseline = read_baseline(Path(damaged))
    reference = read_baseline(Path(whole))
    assert reference is not None
    metrics = {name: expected.value for name, expected in reference.items()}
    if baseline is not None:
        print(*compare(baseline, metrics), sep="\n")


CALLS: Mapping[str, Callable[..., int]] = {
    "": lambda *arguments: main(arguments),
    "load_scenario": _said_in_one_line(load_scenario),
    "open_run": _said_in_one_line(open_run),
    "read_trajectory": _said_in_one_line(read_trajectory),
    "read_memberships": _said_in_one_line(lambda path: fuzzy_rules.read_memberships(Path(path))),
    "compare": _said_in_one_line(_compare),
    "mechanism": _said_in_one_line(build_mechanism),
    "environments": _said_in_one_line(step_environments),
}
