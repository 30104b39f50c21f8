"""Explicit models of robots: those that ship with simbench, and others, which are derived once and cached."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from simbench.dynamics.abbreviation import abbreviate_model
from simbench.dynamics.arm import Arm, read_arm
from simbench.dynamics.arm_symbols import arm_structure, arm_symbols
from simbench.dynamics.evaluation import ModelEvaluator, make_evaluator
from simbench.dynamics.explicit_model import derive_explicit_model
from simbench.dynamics.generated import puma560_abbreviated, puma560_full
from simbench.dynamics.model_module import model_module
from simbench.files.storage import write_whole
from simbench.resources import user_cache_dir

SHIPPED: Mapping[str, tuple[ModuleType, ModuleType]] = {"puma560": (puma560_full, puma560_abbreviated)}


def explicit_model_of(name_or_path: str | Path, *, abbreviated: bool = False) -> ModelEvaluator:
    """Find the explicit model of an arm, or derive it and keep it in the user's cache.

    `name_or_path`: A robot that ships, or the path of a `robot.yaml`; its joints are placed by rows (`dh`);
    `abbreviated`: whether insignificant terms are left out. Returns the model with the arm's numbers. Raises
    RobotError if the robot is not an arm with such joints. Raises DynamicsError if the model has to be
    derived, and sympy is not installed.
    """
    arm = read_arm(name_or_path)
    if str(name_or_path) in SHIPPED:
        return make_evaluator(SHIPPED[str(name_or_path)][abbreviated], arm)
    name, cache = f"{_digest(arm, abbreviated)}.py", user_cache_dir()
    path = None if cache is None else cache / "simbench" / "explicit_models" / name
    source = "" if path is None else _read_kept(path)
    if not source:
        model = derive_explicit_model(arm)
        source = model_module(abbreviate_model(model) if abbreviated else model, "An explicit dynamic model.")
        if path is not None:
            _keep(path, source)
    module = ModuleType(name.removesuffix(".py"))
    exec(compile(source, name, "exec"), module.__dict__)
    return make_evaluator(module, arm)


def _digest(arm: Arm, abbreviated: bool) -> str:
    """Digest everything that determines a model: the arm, and the source code that derives it."""
    symbols = arm_symbols(arm)
    digest = hashlib.sha256(repr((arm_structure(arm), symbols, abbreviated)).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _read_kept(path: Path) -> str:
    """Read a model that `_keep` wrote; return an empty text if there is none, or it is damaged."""
    try:
        checksum, _, source = path.read_bytes().partition(b"\n")
    except OSError:
        return ""
    return source.decode() if checksum == _checksum(source) else ""


def _checksum(source: bytes) -> bytes:
    """First line of a file: it is executed only as it was written."""
    return b"# SHA-256 of what follows: " + hashlib.sha256(source).hexdigest().encode()


def _keep(path: Path, source: str) -> None:
    """Write a model under a temporary name and rename it; do nothing where the cache cannot be written."""
    content = source.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _checksum(content) + b"\n" + content)
    except OSError:
        return
