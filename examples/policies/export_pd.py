"""The PD law of a robot as an ONNX graph: the smallest policy there is, and a check of the way it takes.

The graph computes q* = q_r + (D v_r + τ_ff) / K of what it observes; as position targets with the robot's own
gains these give the torques of `control.law: pd`. Writes NAME.onnx and NAME_contract.yaml:

    python examples/policies/export_pd.py puma560 pd --rate 1000
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper

from simbench import load_robot


def export_pd(robot_name: str, out: Path, rate_hz: float) -> None:
    """Write the graph and its contract beside each other."""
    robot = load_robot(robot_name)
    stiffness, damping, count = robot.motors.stiffness, robot.motors.damping, len(robot.joint_names)
    # A motor without stiffness holds no position: its torque cannot be asked for by a position.
    given = stiffness > 0.0
    weights = np.zeros((3 * count, count))
    weights[:count] = np.eye(count)
    weights[count : 2 * count] = np.diag(np.divide(damping, stiffness, out=np.zeros(count), where=given))
    weights[2 * count :] = np.diag(np.divide(1.0, stiffness, out=np.zeros(count), where=given))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["observation", "weights"], ["action"])],
        "pd",
        [helper.make_tensor_value_info("observation", TensorProto.DOUBLE, [1, 3 * count])],
        [helper.make_tensor_value_info("action", TensorProto.DOUBLE, [1, count])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, out.with_suffix(".onnx"))
    contract = {
        "robot": robot.name,
        "joints": list(robot.joint_names),
        "rate_hz": rate_hz,
        "observation": [
            {"term": term} for term in ("reference_position", "reference_velocity", "feedforward")
        ],
        "action": {"kind": "position_target", "offset": "none"},
        "observation_size": 3 * count,
        "action_size": count,
    }
    text = yaml.safe_dump(contract, sort_keys=False)
    out.with_name(f"{out.name}_contract.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("robot", help="name of the robot, or path of its robot.yaml")
    parser.add_argument("out", type=Path, help="path of the files, without suffix")
    parser.add_argument("--rate", type=float, default=1000.0, help="rate of the policy, Hz")
    arguments = parser.parse_args()
    export_pd(arguments.robot, arguments.out, arguments.rate)
