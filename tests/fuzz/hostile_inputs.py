"""What somebody sends who means harm: links, code, sizes that are declared, motions that no robot makes."""

import contextlib
import io
import json
import pickle
import random
import struct
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml
from mutations import mutate_bytes
from sandbox import EXECUTED, OUTSIDE, OUTSIDE_FOLDER, Case
from seeds import STUDY, Seeds

from simbench import load_scenario
from simbench.errors import SimbenchError
from simbench.sim.energy import mechanism_model
from simbench.sim.fixtures import fixture_mechanism

CODE = f"""\
from pathlib import Path

Path(__file__ + "{EXECUTED}").touch()


class Thing:
    def __init__(self, *values, **keys): ...
    def __call__(self, *values, **keys): return self


made = Thing
"""
# Everything that a command writes into a run directory unless it is told another place.
_WRITTEN = (
    *(
        "report.html",
        "video.mp4",
        "verdict.png",
        "fidelity.png",
        "plots",
        "traces",
        "replay.mp4",
        "trace.csv",
    ),
    *(
        "metrics.json",
        "log.nc",
        "provenance.json",
        "scenario.yaml",
        "checks.json",
        "motion.npz",
        "plots/zmp.png",
    ),
)
# Where a scenario names code or files of its own.
_NAMING: tuple[tuple[str, object], ...] = (
    ("fixtures", [{"type": "./run/code.py:made", "name": "thing"}]),
    ("fixtures", [{"type": "./code.py:made"}]),
    ("fixtures", [{"type": "code:made"}]),
    ("fixtures", [{"type": "mechanism", "file": "../outside/kept"}]),
    ("control", {"law": "./code.py:made"}),
    ("control", {"law": "policy", "policy": {"contract": "contract.yaml", "callable": "./code.py:made"}}),
    ("control", {"law": "policy", "policy": {"contract": "contract.yaml", "model": "../outside/kept"}}),
    ("retarget", {"method": "./code.py:made"}),
    ("motion", {"source": "code.py"}),
    ("motion", {"source": "actor:drawer", "marker_map": "code.py"}),
    ("balance", {"controller": "./code.py:made"}),
    ("metrics", ["./code.py:made"]),
    ("robot", {"name": "./code.py"}),
    ("name", "<script>alert(1)</script>"),
    ("summary", "</title><img src=x onerror=alert(1)>\x1b[31m"),
)
_READ_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("report", "run"),
    ("report", "run", "--out", "report.html"),
    ("video", "run", "--end", "0.01"),
    ("convert", "run", "motion.npz"),
    ("convert", "run", "motion.csv", "--rate", "30"),
    ("replay", "run", "--help"),
    ("trend", "run"),
    ("verdict", "run"),
    ("check", "run", "--jobs", "1"),
)


def received_run(rng: random.Random, seeds: Seeds) -> Case:
    """A run directory with links in the place of outputs, code beside it, and a scenario that names it."""
    files = dict(seeds.run)
    links: dict[str, str] = {}
    for _ in range(rng.randrange(4)):
        name = rng.choice(_WRITTEN)
        if not any(other.startswith(name) or name.startswith(other) for other in links):
            files.pop(f"run/{name}", None)
            links[name] = rng.choice((OUTSIDE, OUTSIDE_FOLDER, "outside/missing"))
    if "run/scenario.yaml" in files and rng.random() < 0.7:
        scenario = yaml.safe_load(files["run/scenario.yaml"])
        for key, value in rng.sample(_NAMING, rng.choice((1, 1, 2))):
            scenario[key] = {**scenario.get(key, {}), **value} if isinstance(value, dict) else value
        files["run/scenario.yaml"] = yaml.safe_dump(scenario, sort_keys=False).encode()
    links = {f"run/{name}": target for name, target in links.items()}
    for name in ("run/code.py", "code.py", "run/sitecustomize.py", "run/numpy.py"):
        files[name] = CODE.encode()
    if rng.random() < 0.2:
        return Case(files, ("run",), "open_run", links)
    return Case({**seeds.arm, **files}, rng.choice(_READ_COMMANDS), "", links)


def far_motion(rng: random.Random, seeds: Seeds) -> Case:
    """A motion of a robot that jumps, spins, or stays where nobody is."""
    place, joints = np.tile([0.1, 0.2, 0.6], (12, 1)), np.zeros((12, 33))
    turned = np.tile([0.0, 0.0, 0.0, 1.0], (12, 1))
    value = float(rng.choice((1e-6, 0.01, 0.1, 1.0, 30.0, 1e3, 9e5, 1e6, 1e12, 1e300, np.nan)))
    target = rng.choice((place, joints, turned))
    rows = rng.choice((slice(5, 6), slice(6, None), slice(None), slice(None, None, 2)))
    target[rows, rng.randrange(target.shape[1])] += rng.choice((-1.0, 1.0)) * value
    fps = rng.choice((1e-3, 1.0, 30.0, 30.0, 30.0, 120.0, 1e4, 1.1e4, 1e300))
    content = {"fps": fps, "root_pos": place, "root_rot": turned, "dof_pos": joints}
    content |= {"local_body_pos": None, "link_body_list": None}
    if rng.random() < 0.2:
        content["dof_pos"] = joints[:, : rng.choice((0, 1, 32))]
    files = {"gmr.pkl": pickle.dumps(content)}
    if rng.random() < 0.5:
        return Case(files, ("verdict", "gmr.pkl", "--robot", "romeo"))
    return Case(files, ("convert", "gmr.pkl", "new.csv", "--robot", "romeo"))


def _npy_header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _archive(rng: random.Random, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in rng.choice(
            (("qpos",), ("poses", "trans", "betas"), ("joints", "fps"), ("dof_pos", "fps"))
        ):
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


_EXAMPLES = Path(__file__).parents[2] / "examples" / "policies"
_ZEROS = bytes(2**20)
_SHAPES = ((10**9, 0), (0, 10**9), (10**9,), (10**6, 10**6), (3, 10**8), (2**31, 0), (10**12, 3), (5, 4))


def declared_size(rng: random.Random, seeds: Seeds) -> Case:
    """A file that is small and says that it is large."""
    shape = rng.choice(_SHAPES)
    header = _npy_header(shape, rng.choice(("<f8", "<f4", "|u1", "|O", "<U1000", "<i8")))
    kind = rng.randrange(8)
    if kind < 3:
        array = header + rng.choice((b"", _ZEROS, _ZEROS * rng.choice((1, 64, 200))))
        name, content = ("big.npz", _archive(rng, array)) if kind else ("big.npy", array[:2000])
    elif kind == 3:
        name, content = (
            "big.bvh",
            seeds.motions["short.bvh"].replace(
                b"Frames: 24", b"Frames: " + rng.choice((b"1000000000", b"9" * 30, b"-1"))
            ),
        )
    elif kind == 4:
        data = bytearray(seeds.motions["short.c3d"])
        # Points and frames of the header.
        data[2:4], data[6:10] = struct.pack("<H", 65535), struct.pack("<HH", 1, 65535)
        name, content = "big.c3d", bytes(data)
    elif kind == 5:
        # Aliases of aliases: 27 characters more are nine times as many values.
        lines = [f"a{level + 1}: &a{level + 1} [{f'*a{level}, ' * 9}]" for level in range(rng.choice((2, 9)))]
        text = "\n".join(("a0: &a0 [1, 2, 3]", *lines))
        files = {**seeds.arm, "big.yaml": text.encode()}
        return Case(
            files, rng.choice((("run", "big.yaml", "--out", "new"), ("robot", "inspect", "big.yaml")))
        )
    elif kind == 6:
        links = "".join(f'<link name="l{number}"/>' for number in range(rng.choice((3, 300, 30000))))
        files = {"big.urdf": f'<robot name="big">{links}</robot>'.encode()}
        return Case(files, ("robot", "inspect", "big.urdf"))
    else:
        mesh = bytes(80) + struct.pack("<I", rng.choice((4 * 10**9, 10**8, 12))) + bytes(600)
        return Case({**seeds.arm, "my_arm/box.stl": mesh}, ("robot", "inspect", "my_arm/robot.yaml"))
    if name.endswith((".bvh", ".c3d")) or rng.random() < 0.5:
        return Case({name: content}, ("motion", "inspect", name))
    return Case({name: content}, ("convert", name, "new.csv", "--robot", "romeo"))


_RATES = ("1e-12", "1e-300", "1e12", "1e5", "10001", "9999", "1e-4", "0.0001", "30", "0", "-1", "nan", "inf")


def tiny_step(rng: random.Random, seeds: Seeds) -> Case:
    """A rate or a time step that nobody records, plans or simulates at."""
    value = rng.choice(_RATES)
    kind = rng.randrange(5)
    if kind == 0:
        key = rng.choice(
            ("simulation.timestep_s", "simulation.log_rate_hz", "simulation.hold_s", "motion.rate_hz")
        )
        return Case(seeds.arm, ("run", "short.yaml", "--out", "new", "--set", f"{key}={value}"))
    if kind == 1:
        lines = seeds.motions["short.bvh"].decode().split("\n")
        changed = [f"Frame Time: {value}" if line.startswith("Frame Time") else line for line in lines]
        return Case({"step.bvh": "\n".join(changed).encode()}, ("motion", "inspect", "step.bvh"))
    if kind == 2:
        return Case(
            {"u.csv": seeds.robot_motions["unitree.csv"]},
            ("convert", "u.csv", "new.csv", "--robot", "romeo", f"--fps={value}"),
        )
    if kind == 3:
        return Case({**seeds.run}, ("convert", "run", "new.csv", f"--rate={value}"))
    header, *rows = seeds.trajectories["trajectory.csv"].decode().splitlines()
    factor = rng.choice((1e-12, 1e-6, 1e-2, 1.0, 1e6, 1e12))
    scaled = [",".join([repr(float(row.split(",")[0]) * factor), *row.split(",")[1:]]) for row in rows if row]
    return Case({"t.csv": "\n".join([header, *scaled]).encode()}, ("t.csv",), "read_trajectory")


def mechanism(rng: random.Random, seeds: Seeds) -> Case:
    """A mechanism of many shapes, or of many joints."""
    boxes = rng.choice((1, 2, 20, 199, 200, 201, 5000))
    joints = rng.choice((1, 1, 2, 5, 30, 130, 500))
    box = {"kind": "box", "size_m": [0.01, 0.01, 0.01]}
    parts: dict[str, object] = {
        "body": {"mass_kg": 1.0, "shapes": [{**box, "center_m": [0.02 * k, 0, 0]} for k in range(boxes)]}
    }
    hinges: dict[str, object] = {}
    for number in range(joints):
        kind, unit = rng.choice((("turn", "rad"), ("slide", "m")))
        hinge = {"kind": kind, "axis": [0, 0, 1], "origin_m": [0.0, 0.1 * number, 0.0]}
        hinge |= {f"lowest_{unit}": -0.5, f"highest_{unit}": 0.5}
        hinges[f"j{number}"] = hinge | ({"parent": f"j{number - 1}"} if number else {})
        parts[f"p{number}"] = {"joint": f"j{number}", "mass_kg": 0.1, "shapes": [box]}
    thing = {"name": "thing", "position_m": [2.0, 2.0, 0.5], "parts": parts, "joints": hinges}
    handle = {"part": f"p{joints - 1}", "position_m": [0.0, 0.0, 0.0], "grip": "pivot", "axis": [0, 0, 1]}
    thing |= {"handles": {"left": handle}, "moves": [{"to": {"j0": 0.1}, "duration_s": 1.0}]}
    scenario = {"name": "held", "summary": "A thing is moved.", "robot": {"name": "romeo"}}
    scenario |= {
        "motion": {"source": "actor:thing"},
        "fixtures": [{"type": "mechanism", "file": "thing.yaml"}],
    }
    files = {"thing.yaml": json.dumps(thing).encode()}
    if rng.random() < 0.5:
        files, scenario["fixtures"] = {}, [{"type": "mechanism", **thing}]
    return Case(
        {**files, "held.yaml": yaml.safe_dump(scenario, sort_keys=False).encode()},
        ("held.yaml",),
        "mechanism",
    )


def build_mechanism(path: str) -> None:
    """Build the equipment of a scenario, and the model that its energies are taken from."""
    for section in load_scenario(path).fixtures:
        mechanism_model(fixture_mechanism(section))


def policy(rng: random.Random, seeds: Seeds) -> Case:
    """A policy that observes much, or whose contract does not fit; the policy is the user's own function."""
    law = {"law": "policy", "policy": {"contract": "contract.yaml", "model": "mlp.onnx"}}
    if rng.random() < 0.3:
        model = mutate_bytes((_EXAMPLES / "puma_mlp.onnx").read_bytes(), rng)
        files = {"mlp.onnx": model, "contract.yaml": (_EXAMPLES / "puma_mlp_contract.yaml").read_bytes()}
        short = yaml.safe_dump({**yaml.safe_load(STUDY), "control": law}).encode()
        return Case({**files, "short.yaml": short}, ("run", "short.yaml", "--out", "new"))
    scenario = yaml.safe_load(seeds.arm["short.yaml"])
    law["policy"] = {"contract": "contract.yaml", "callable": "./policy.py:make"}
    scenario["control"] = law
    names = (
        "joint_position",
        "joint_velocity",
        "last_action",
        "phase",
        "time",
        "reference_position",
        "nothing",
    )
    terms = [
        {
            "term": rng.choice(names[:-1]) if rng.random() < 0.999 else names[-1],
            "history": rng.choice((1, 1, 2, 10, 1000)),
        }
        for _ in range(rng.choice((1, 1, 2, 10, 300, 3000)))
    ]
    found = rng.choice(
        ("[0.0]", "[0.0] * len(o)", "[float('nan')]", "[1e300]", "'text'", "None", "o[:1]", "[]", "1 / 0")
    )
    if rng.random() < 0.6:
        found = f"[0.0] * {rng.choice((0, 1, 1, 6, 6, 6))}"
    made = f"def make(robot):\n    return lambda o: {found}\n"
    joints = yaml.safe_load(seeds.arm["my_arm/robot.yaml"])["groups"]
    contract = {
        "joints": rng.choice((next(iter(joints.values())), next(iter(joints.values())), ["joint1"])),
        "rate_hz": float(rng.choice((1, 50, 500, 1000, 1000, 1e6))),
        "observation": terms,
        "action": {
            "kind": rng.choice(("position_target", "residual", "torque")),
            "scale": rng.choice((1.0, 0.0, 1e6)),
        },
    }
    files = {"policy.py": made.encode(), "contract.yaml": yaml.safe_dump(contract).encode()}
    files["short.yaml"] = yaml.safe_dump(scenario, sort_keys=False).encode()
    return Case({**seeds.arm, **files}, ("run", "short.yaml", "--out", "new"))


_FLOATS = ("0", "-1", "1e-30", "1e30", "3e38", "nan", "inf", "-inf", "1", "20")


def threads(rng: random.Random, seeds: Seeds) -> Case:
    """Environments in threads, with numbers where actions, weights and times belong."""
    values = [rng.choice(_FLOATS) if rng.random() < 0.3 else "0.1" for _ in range(3)]
    return Case(seeds.arm, (rng.choice(("bullet", "bullet", "mujoco")), *values), "environments")


def step_environments(engine: str, action: str, weight: str, longest: str) -> int:
    """Step two environments in two threads; what each may raise is an error of one line."""
    try:
        from simbench.environments.environment import RewardWeights, ScenarioEnv
    except ModuleNotFoundError:
        return 0
    refused: list[SimbenchError] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            weights = RewardWeights(position=float(weight))
            overrides = [f"simulation.engine={engine}"]
            env = ScenarioEnv("short.yaml", overrides, weights=weights, max_time_s=float(longest))
            with contextlib.closing(env):
                env.reset(seed=0)
                for _ in range(20):
                    given = np.tile(np.array(action, np.float32), env.action_space.shape)
                    *_, ended, late, _ = env.step(given)
                    if ended or late:
                        break
        except SimbenchError as error:
            refused.append(error)
        except BaseException as error:
            raised.append(error)

    pair = [threading.Thread(target=work) for _ in range(2)]
    for each in pair:
        each.start()
    for each in pair:
        each.join()
    if raised:
        raise raised[0]
    if refused:
        raise refused[0]
    print("both stepped")
    return 0


HOSTILE: dict[str, tuple[Callable[[random.Random, Seeds], Case], float]] = {
    "received run": (received_run, 0.05),
    "far motion": (far_motion, 0.03),
    "declared size": (declared_size, 0.03),
    "tiny step": (tiny_step, 0.03),
    "mechanism": (mechanism, 0.02),
    "policy": (policy, 0.03),
    "threads": (threads, 0.01),
}
