"""Run directories and logs made by hand: who is where when, and what carries what, is known."""

import json

import numpy as np

from simbench.runs.log import contact_variables, write_log
from simbench.runs.log_builder import build_dataset
from simbench.runs.scenario.loading import load_scenario, resolved_yaml

COUNT = 201
TIME = 0.01 * np.arange(COUNT)
SETTLE = 0.5
PUMA_JOINTS = tuple(f"joint{k}" for k in range(1, 7))
ERROR = 0.002
"""By which joints are behind, rad."""


def reference(count):
    """Joint k swings by 0.1 (k + 1) rad, once in 2 s."""
    return 0.1 * (1.0 + np.arange(count)) * np.sin(np.pi * TIME)[:, None]


def puma_log(samples=COUNT, **attributes):
    """PUMA 560 without equipment, 2 s, every joint behind by `ERROR`."""
    used = TIME[:samples]
    wanted = reference(6)[:samples]
    variables = {
        "joint_position": (("time", "joint"), wanted - ERROR, "rad"),
        "joint_reference": (("time", "joint"), wanted, "rad"),
        "torque_motor": (("time", "joint"), np.full_like(wanted, 5.0), "N m"),
        "torque_requested": (("time", "joint"), np.full_like(wanted, 5.0), "N m"),
        "torque_limit": (("joint",), np.full(6, 10.0), "N m"),
        "base_pose": (("time", "pose"), np.tile([0.0] * 6 + [1.0], (samples, 1)), "m"),
        "strokes": (("stroke", "bound"), np.empty((0, 2)), "s"),
        **contact_variables(()),
    }
    labels = {
        "time": used,
        "joint": PUMA_JOINTS,
        "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
        "foot": np.array([], dtype=str),
        "hand": ("right",),
    }
    return build_dataset(variables, labels, {"robot": "puma560", "settle_s": SETTLE, **attributes})


def write_puma_run(folder, *overrides, tracking=0.001, samples=COUNT):
    """Write a run directory of `puma560_sweep` with that log; its only check is tracking.rms_rad <= 0.005."""
    folder.mkdir()
    scenario = load_scenario("puma560_sweep", ["camera.width=160", "camera.height=120", *overrides])
    (folder / "scenario.yaml").write_text(resolved_yaml(scenario), encoding="utf-8")
    write_log(puma_log(samples), folder / "log.nc")
    metrics = {"tracking.rms_rad": tracking, "torque.saturated_fraction": 0.0}
    (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    facts = {"simbench": "0.1", "git_commit": None, "date": "2026-11-23T12:00:00+00:00", "seed": 7}
    machine = {"python": "3.11.7", "platform": "Linux", "processor": "", "cores": 2}
    command = {"command": ["simbench", "run"], "packages": {"numpy": "2.2"}}
    (folder / "provenance.json").write_text(json.dumps(facts | machine | command), encoding="utf-8")
    return folder
