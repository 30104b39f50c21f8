"""A small neural network as the policy of PUMA's sweep: trained here in about a minute, on one core.

The network learns what the arm's motors must be asked for beside the planned positions: with q* = q_r + δ as
position targets, δ = (D v_r + τ(q_r, v_r, a_r)) / K makes up for damping, gravity and inertia. Its examples
are random states of the arm and Pinocchio's inverse dynamics. Writes puma_mlp.onnx and
puma_mlp_contract.yaml beside itself; puma_mlp.yaml runs with them:

    python examples/policies/train_mlp.py
    simbench run examples/policies/puma_mlp.yaml
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pinocchio as pin
import yaml
from onnx import TensorProto, helper, numpy_helper

from simbench import load_robot

FOLDER = Path(__file__).parent
SAMPLES, HIDDEN, BATCH, EPOCHS, RATE = 60_000, 64, 512, 40, 2e-3
SPEED, ACCELERATION = 1.2, 6.0
"""Largest speed and acceleration of the examples, rad/s and rad/s²."""


def make_examples(robot, rng):
    """Random reference states (N, 3 n) and what must be added to the planned positions (N, n), rad."""
    count, model, data = len(robot.joint_names), robot.model, robot.model.createData()
    low, high = np.maximum(model.lowerPositionLimit, -np.pi), np.minimum(model.upperPositionLimit, np.pi)
    q = rng.uniform(low, high, (SAMPLES, count))
    v = rng.uniform(-SPEED, SPEED, (SAMPLES, count))
    a = rng.uniform(-ACCELERATION, ACCELERATION, (SAMPLES, count))
    torque = np.array([pin.rnea(model, data, *row) for row in zip(q, v, a, strict=True)])
    added = (robot.motors.damping * v + torque) / robot.motors.stiffness
    return np.hstack([q, v, a]), added


def train(x, y, rng):
    """Fit weights [(W, b), ...] of a network with two hidden layers of tanh, by Adam."""
    sizes = [x.shape[1], HIDDEN, HIDDEN, y.shape[1]]
    layers = [[rng.normal(0.0, 1.0 / np.sqrt(m), (m, n)), np.zeros(n)] for m, n in pairwise(sizes)]
    moments = [[[np.zeros_like(p), np.zeros_like(p)] for p in layer] for layer in layers]
    step = 0
    for epoch in range(EPOCHS):
        order, rate = rng.permutation(len(x)), RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / EPOCHS))
        for first in range(0, len(x), BATCH):
            rows = order[first : first + BATCH]
            outputs = [x[rows]]
            for number, (weight, bias) in enumerate(layers):
                z = outputs[-1] @ weight + bias
                outputs.append(np.tanh(z) if number < len(layers) - 1 else z)
            gradient = (outputs[-1] - y[rows]) / len(rows)
            step += 1
            for number in reversed(range(len(layers))):
                slopes = outputs[number].T @ gradient, gradient.sum(axis=0)
                gradient = (gradient @ layers[number][0].T) * (1.0 - outputs[number] ** 2)
                for parameter, slope, (mean, square) in zip(
                    layers[number], slopes, moments[number], strict=True
                ):
                    mean += 0.1 * (slope - mean)
                    square += 0.001 * (slope**2 - square)
                    corrected = square / (1.0 - 0.999**step)
                    parameter -= rate * mean / (1.0 - 0.9**step) / (np.sqrt(corrected) + 1e-8)
    return layers


def evaluate(layers, x):
    """Output (N, n) of the network."""
    for weight, bias in layers[:-1]:
        x = np.tanh(x @ weight + bias)
    return x @ layers[-1][0] + layers[-1][1]


def export(layers, mean, std, scale, path):
    """Write q_r + scale · network((o − mean) / std) as an ONNX graph of single precision."""
    count = len(scale)
    values = {"mean": mean, "std": std, "scale": scale}
    nodes = [
        helper.make_node("Slice", ["observation", "from", "to", "axis"], ["planned"]),
        helper.make_node("Sub", ["observation", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "std"], ["h0"]),
    ]
    for number, (weight, bias) in enumerate(layers):
        values |= {f"w{number}": weight, f"b{number}": bias}
        nodes.append(helper.make_node("Gemm", [f"h{number}", f"w{number}", f"b{number}"], [f"z{number}"]))
        if number < len(layers) - 1:
            nodes.append(helper.make_node("Tanh", [f"z{number}"], [f"h{number + 1}"]))
    nodes += [
        helper.make_node("Mul", [f"z{len(layers) - 1}", "scale"], ["added"]),
        helper.make_node("Add", ["planned", "added"], ["action"]),
    ]
    whole = {"from": [0], "to": [count], "axis": [1]}
    constants = [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in values.items()]
    constants += [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in whole.items()]
    graph = helper.make_graph(
        nodes,
        "puma_mlp",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, 3 * count])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, count])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    """Train, say how good it is on states that it has not seen, and write both files."""
    robot, rng = load_robot("puma560"), np.random.default_rng(0)
    x, y = make_examples(robot, rng)
    mean, std, scale = x.mean(axis=0), x.std(axis=0), y.std(axis=0)
    seen = slice(0, int(0.9 * len(x)))
    layers = train((x[seen] - mean) / std, y[seen] / scale, rng)
    unseen = slice(seen.stop, None)
    left = evaluate(layers, (x[unseen] - mean) / std) * scale - y[unseen]
    share = np.sqrt((left**2).mean(axis=0) / (y[unseen] ** 2).mean(axis=0))
    print("left of what it has to learn, by joint:", " ".join(f"{each:.1%}" for each in share))
    export(layers, mean, std, scale, FOLDER / "puma_mlp.onnx")
    contract = {
        "robot": robot.name,
        "joints": list(robot.joint_names),
        "rate_hz": 500.0,
        "observation": [
            {"term": term} for term in ("reference_position", "reference_velocity", "reference_acceleration")
        ],
        "action": {"kind": "position_target", "offset": "none"},
        "observation_size": 3 * len(robot.joint_names),
        "action_size": len(robot.joint_names),
    }
    text = yaml.safe_dump(contract, sort_keys=False)
    (FOLDER / "puma_mlp_contract.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
