"""What Python hands to machine code: arrays of the shapes that it reads and writes."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import simbench
from simbench.kinematics.compiled import compile_for, compiled, compiled_entry
from simbench.kinematics.tree import KinematicTree, place_path

TREE = KinematicTree(
    np.array([0, 1]), np.tile(np.eye(3), (2, 1, 1)), np.ones((2, 3)), np.eye(3)[:2], np.array([False, True])
)
SHAPES = {"path": (4, 9), "rotation": (4, 3, 3, 3), "position": (4, 3, 3)}
BEYOND = """
import numpy as np
from simbench.kinematics.compiled import compiled


@compiled
def inner(x, i):
    return x[i]


@compiled
def read(x, i):
    return inner(x, i)


try:
    read(np.zeros(3), 3)
    print("read")
except IndexError as error:
    print("refused", sum(read.stats.cache_hits.values()))
"""


class Pair(NamedTuple):
    """Two arrays."""

    a: np.ndarray
    b: np.ndarray


@compiled_entry("pair.a (n), pair.b (n, 2), record[0].c (n), total (2 * n - 1, 3)")
def fill(pair: Pair, record: np.ndarray, total: np.ndarray, value: float = 2.0) -> float:
    """Fill an array of 2n − 1 rows."""
    for i in range(2 * len(pair.a) - 1):
        total[i] = value + pair.a[i // 2] + pair.b[i // 2, 1] + record[0].c[i // 2]
    return value


@compiled
def fill_twice(pair: Pair, record: np.ndarray, total: np.ndarray) -> float:
    """Fill it from machine code."""
    return fill(pair, record, total) + fill(pair, record, total, 3.0)


def arguments(a=3, b=3, c=3, rows=5, width=3):
    record = np.zeros(1, np.dtype([("c", float, (c,))]))
    record["c"] = 10.0
    return Pair(np.ones(a), np.ones((b, 2))), record, np.zeros((rows, width))


def test_arrays_of_the_right_shapes_are_computed_also_by_default_values_and_from_machine_code():
    given = arguments()
    assert fill(*given) == 2.0
    assert (given[2] == 14.0).all()
    assert fill(*given, 4.0) == 4.0
    assert fill_twice(*given) == 5.0
    assert (given[2] == 15.0).all()
    assert compile_for(fill, *given, 1.0)(*given, 1.0) == 1.0


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"b": 2}, "pair.b"),
        ({"c": 4}, "record"),
        ({"rows": 4}, "total"),
        ({"rows": 6}, "total"),
        ({"width": 2}, "total"),
    ],
)
def test_an_array_in_a_tuple_or_a_record_of_another_shape_is_refused_with_its_name(wrong, named):
    with pytest.raises(ValueError, match=rf"fill: {named}.* must be \("):
        fill(*arguments(**wrong))
    for_types = compile_for(fill, *arguments(**wrong), 1.0)
    with pytest.raises(ValueError, match=rf"fill: {named}.* must be \("):
        for_types(*arguments(**wrong), 1.0)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("change", [-1, 1])
def test_a_motion_of_another_robot_is_not_read_beyond_its_end(name, change):
    for axis in range(len(SHAPES[name])):
        shapes = {key: list(shape) for key, shape in SHAPES.items()}
        shapes[name][axis] += change
        with pytest.raises(ValueError, match=r"place_path: \w+ must be \("):
            place_path(TREE, *(np.zeros(shape) for shape in shapes.values()))


def test_the_debugging_switch_for_bounds_makes_machine_code_of_its_own(tmp_path):
    def run(switch):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": switch}
        (tmp_path / "beyond.py").write_text(BEYOND)
        command = [sys.executable, str(tmp_path / "beyond.py")]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout.split()

    assert [run("0"), run("1"), run("1")] == [["read"], ["refused", "0"], ["refused", "1"]]


def test_everything_that_python_calls_with_arrays_compares_their_shapes():
    package = Path(simbench.__file__).parent
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): ast.parse(path.read_text())
        for path in package.rglob("*.py")
    }
    kernels = {
        (module, node.name): node
        for module, tree in modules.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and is_kernel(node)
    }
    called = set()
    for module, tree in modules.items():
        names = {name: (module, name) for where, name in kernels if where == module}
        others = {}
        for node in ast.walk(tree):
            for each in node.names if isinstance(node, ast.ImportFrom) else ():
                names[each.asname or each.name] = (node.module, each.name)
                others[each.asname or each.name] = f"{node.module}.{each.name}"
        for node in outside_kernels(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                called.add(names.get(node.id))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add((others.get(node.value.id), node.attr))
    called &= kernels.keys()
    assert ("simbench.kinematics.tree", "place_path") in called
    assert ("simbench.retargeting.placement.posture_ik", "solve_path_ik") in called
    assert len(called) > 40
    unshaped = {each for each in called if not is_kernel(kernels[each], "compiled_entry")}
    # Numbers and tuples of numbers have no shape that the types do not say.
    assert {each for each in unshaped if "Array" in ast.unparse(kernels[each].args)} == set()


def is_kernel(node, prefix="compiled"):
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(each).startswith(prefix) for each in node.decorator_list
    )


def outside_kernels(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not is_kernel(child):
            yield from outside_kernels(child)
