"""A process that computes an ONNX graph: whatever the graph does, a timer of the system ends it."""

import json
import resource
import signal
import sys

import numpy as np

# Types of an ONNX graph's input and output.
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
MEMORY = 8 << 30  # Address space, bytes.


def main(path: str, count: str, size: str, limit: str, load_limit: str) -> None:
    """Load a graph, write a line of JSON that describes it, and answer observations until there are no more.

    Observations and actions are read and written as float64. `path`: ONNX file; `count`: entries of an
    observation; `size`: entries of an action; `limit`, `load_limit`: time that it may take for an
    action, and to load, s.
    """
    # A line of the standard error tells why this process ended.
    sys.excepthook = lambda kind, error, trace: print(*str(error).split(), file=sys.stderr)
    import onnxruntime

    # No limit is −1.
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if soft < 0 else min(soft, MEMORY), hard))
    # A signal that nothing handles ends the process within compiled code too.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, float(load_limit))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    described = [[(e.name, e.type, e.shape) for e in each] for each in (inputs, outputs)]
    print(json.dumps(described), flush=True)
    while entries := sys.stdin.buffer.read(8 * int(count)):
        observation = np.frombuffer(entries).astype(TYPES[inputs[0].type])
        signal.setitimer(signal.ITIMER_REAL, float(limit))
        given = observation if len(inputs[0].shape) == 1 else observation[None]
        (answer,) = session.run(None, {inputs[0].name: given})
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        action = np.asarray(answer, dtype=float)
        if action.size != int(size):
            raise ValueError(f"an action of {action.size} numbers; allowed: {size}")
        sys.stdout.buffer.write(action.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
