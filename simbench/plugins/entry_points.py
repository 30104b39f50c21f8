"""Find and import what a reference names: an entry point, a module, a file, or an object of the program.

What is loaded is said once, with where it came from.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from simbench.errors import PluginError

# Environment variable: 1 also loads code that received runs name, as `--plugins` does; 0 none at all, as
# `--no-plugins` does.
ALLOWED = "SIMBENCH_PLUGINS"
# Environment variable with the digests of what was said to be loaded, so that workers do not repeat it.
_TOLD = "SIMBENCH_PLUGINS_TOLD"
_FORMS = "the name of an installed plug-in, MODULE:NAME or ./FILE.py:NAME"
_LARGEST_SOURCE = 50_000_000  # Bytes of source of a package that are digested.
PREFIX = "python:"  # How a reference begins whose object only the program has that passed it.

_given: dict[str, Any] = {}
# The entry points of all packages, read anew (10 ms) when a folder of `sys.path` has changed.
_installed = lru_cache(maxsize=1)(lambda folders: metadata.entry_points())


class Group(NamedTuple):
    """Plug-ins of one kind."""

    thing: str  # What a plug-in is, with its article.
    key: str  # Key of a scenario that names it.
    method: str  # Method of a section (a class with keys) that makes it; empty where there is no section.
    # Arguments of that method, and of a function that a plug-in may be instead; empty where it is a path.
    arguments: tuple[str, ...]


# Name of each group, `simbench.NAME` among entry points, to what its plug-ins are.
GROUPS: Mapping[str, Group] = {
    "fixtures": Group("a fixture", "fixtures.N.type", "mechanism", ()),
    "control_laws": Group("a control law", "control.law", "control_law", ("robot", "timestep")),
    "policies": Group("a policy", "control.policy.callable", "", ("robot",)),
    "balance_controllers": Group(
        "a balance controller", "balance.controller", "balancer", ("robot", "plan", "timestep")
    ),
    "retargeters": Group("a retargeter", "retarget.method", "retarget", ("robot", "motion")),
    "readers": Group("a reader", "motion.source", "", ("path", "options")),
    "marker_maps": Group("a marker map", "motion.marker_map", "", ()),
    "robots": Group("a robot", "robot.name", "", ()),
    "metrics": Group("a metric", "metrics.NAME", "measure", ("log",)),
    "criteria": Group("a criterion", "--criterion", "", ("body", "state")),
}


class Origin(NamedTuple):
    """Where a plug-in came from, for `provenance.json`."""

    group: str  # A key of `GROUPS`.
    reference: str  # How the scenario names it.
    package: str | None = None  # Distribution that provides it.
    version: str | None = None  # Version of that distribution.
    file: str | None = None  # File of its code.
    # Digest of that file, or of all Python files of its package in alphabetical order.
    sha256: str | None = None


class Plugin(NamedTuple):
    """A plug-in that is loaded."""

    value: Any  # What its reference names.
    origin: Origin  # Where it came from.


def find_entry_points(group: str) -> dict[str, metadata.EntryPoint]:
    """Find the plug-ins of installed packages; nothing is imported.

    `group`: A key of `GROUPS`. Returns entry points by name, sorted.
    """
    # Who installs a package changes the time of its folder.
    folders = tuple((path, os.stat(path).st_mtime_ns) for path in sys.path if os.path.isdir(path))
    found = {point.name: point for point in _installed(folders).select(group=f"simbench.{group}")}
    return dict(sorted(found.items()))


def is_code(value: object) -> bool:
    """Tell whether a scenario's value names code by its file, module, or the program that passed it."""
    place, _, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    return place != "" and (place == PREFIX.rstrip(":") or name.isidentifier())


def code_file(reference: object) -> str | None:
    """Find the file that a reference names.

    `reference`: value of a scenario's key. Returns path before the colon of `FILE.py:NAME`; None for any
    other value.
    """
    if not isinstance(reference, str):
        return None
    place, _, name = reference.rpartition(":")
    return place if place.endswith(".py") and name.isidentifier() else None


def load_plugin(group: str, reference: str) -> Plugin:
    """Load what a reference names, and say so on the standard error, once for each source.

    `group`: A key of `GROUPS`; `reference`: name of an entry point of `simbench.<group>`, `MODULE:NAME`, or
    `FILE.py:NAME`. Returns the object and its origin.
    """
    require_allowed(group, reference)
    given = _given.get(reference)
    if given is not None:
        holder = given if inspect.isfunction(given) or inspect.isclass(given) else type(given)
        file = getattr(inspect.getmodule(holder), "__file__", None)
        if file is None or not Path(file).is_file():
            return Plugin(given, Origin(group, reference))
        digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        return Plugin(given, Origin(group, reference, file=str(Path(file).resolve()), sha256=digest))
    if reference.startswith(PREFIX):
        raise PluginError(
            f"{reference}: was passed by a program and is in no file; pass it again, or allowed: {_FORMS}"
        )
    distribution = None
    place, _, attributes = reference.rpartition(":")
    if place and attributes.isidentifier():
        module = _import_file(place) if place.endswith(".py") else _import_module(place)
    else:
        known = find_entry_points(group)
        if reference not in known:
            installed = f"installed: {', '.join(known)}" if known else "none is installed"
            raise PluginError(
                f"{reference}: no such plug-in of group simbench.{group} ({installed}); allowed: {_FORMS}"
            )
        place, attributes = known[reference].module, known[reference].attr
        module, distribution = _import_module(place), known[reference].dist
    value: Any = module
    for step in filter(None, attributes.split(".")):
        try:
            value = getattr(value, step)
        except AttributeError:
            # The public functions and classes that a module or a class defines.
            own = [
                name
                for name, each in vars(value).items()
                if not name.startswith("_") and (inspect.isfunction(each) or inspect.isclass(each))
                if not inspect.ismodule(value) or each.__module__ == value.__name__
            ]
            there = ", ".join(sorted(own)) or "nothing"
            raise PluginError(f"{place}: has no {step}; it has: {there}") from None
    origin = _origin(group, reference, module)
    if distribution is not None:
        origin = origin._replace(package=distribution.name, version=distribution.version)
    # Once for each source in a program and its workers.
    digest = hashlib.sha256(f"{group}:{origin.file}:{origin.sha256}".encode()).hexdigest()[:16]
    told = os.environ.get(_TOLD, "").split()
    if digest not in told:
        os.environ[_TOLD] = " ".join([*told, digest])
        package = f"{origin.package} {origin.version}, " if origin.package else ""
        print(f"plug-in: {GROUPS[group].thing}, {reference} ({package}{origin.file})", file=sys.stderr)
    return Plugin(value, origin)


def require_allowed(group: str, reference: str) -> None:
    """Refuse plug-ins where the user has forbidden them.

    `group`: A key of `GROUPS`; `reference`: how the plug-in is named.
    """
    if os.environ.get(ALLOWED) == "0":
        raise PluginError(f"{reference}: {GROUPS[group].thing} of a plug-in; --no-plugins forbids those")


def require_trusted(reference: str, received: Path) -> None:
    """Refuse code of others, in a file or module that a run names, unless the user allows it.

    `reference`: how it is named; `received`: the run directory.
    """
    if os.environ.get(ALLOWED) != "1":
        raise PluginError(
            f"{reference}: code that {received} names, which is a finished run, perhaps of somebody else; "
            "look at it, then allow it with `simbench --plugins ...` (SIMBENCH_PLUGINS=1)"
        )


def _import_module(name: str) -> ModuleType:
    """Import a module of the Python path."""
    try:
        return import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise PluginError(f"{name}: no such module; allowed: {_FORMS}") from error
        raise _import_error(name, error) from error


def _import_file(path: str) -> ModuleType:
    """Import a file, anew if it has changed; what it imports itself may be beside it."""
    file = Path(path).expanduser().resolve()
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PluginError(f"{path}: cannot be read: {error.strerror}") from error
    return _import_content(file, content)


@lru_cache(maxsize=64)
def _import_content(file: Path, content: bytes) -> ModuleType:
    """Import a file of this content; what it imports itself may be beside it."""
    name = f"simbench_plugin_{file.stem}_{hashlib.sha256(content).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise PluginError(f"{file}: no Python file; allowed: {_FORMS}")
    module = importlib.util.module_from_spec(spec)
    # Classes look up their module by name while they are made.
    sys.modules[name] = module
    beside = str(file.parent)
    sys.path.insert(0, beside)
    try:
        # Python's own bytecode is of a size and a second: a file changed within it would be the old one.
        exec(compile(content, file, "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise _import_error(file, error) from error
    finally:
        sys.path.remove(beside)
    return module


def describe_failure(error: BaseException) -> str:
    """Describe an error of a plug-in in one line, with the place where it was raised.

    `error`: what its code raised. Returns type and message, and file and line.
    """
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return text
    return f"{text} ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"


def _import_error(name: object, error: Exception) -> PluginError:
    """Make the error of code that cannot be imported."""
    if isinstance(error, SyntaxError):
        return PluginError(f"{error.filename}: line {error.lineno}: {error.msg}")
    return PluginError(f"{name}: cannot be imported: {describe_failure(error)}")


def _origin(group: str, reference: str, module: ModuleType) -> Origin:
    """Describe where a module came from: its package, or its file."""
    file = getattr(module, "__file__", None)
    if file is None:
        return Origin(group, reference)
    path = Path(file).resolve()
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    folder = Path(top.__file__).parent if hasattr(top, "__path__") and top.__file__ else None
    files = [path] if folder is None else sorted(folder.rglob("*.py"))
    package = version = None
    # To ask which distribution has a module takes a second; most have its name.
    if code_file(reference) is None:
        with suppress(metadata.PackageNotFoundError):
            found = metadata.distribution(module.__name__.partition(".")[0])
            package, version = found.name, found.version
    digest = None
    if sum(each.stat().st_size for each in files) <= _LARGEST_SOURCE:
        digest = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()
    return Origin(group, reference, package, version, str(path), digest)


def give_reference(value: Any) -> str:
    """Keep an object, and give it a reference by which it is loaded in this process.

    `value`: function, class, or an instance of a section. Returns `FILE.py:NAME` of what a file defines at
    its top level, which another process can load too; otherwise `python:NAME`, which this process alone
    knows.
    """
    defined = value if inspect.isfunction(value) or inspect.isclass(value) else type(value)
    name, module = defined.__qualname__, sys.modules.get(defined.__module__)
    file = getattr(module, "__file__", None)
    if value is defined and file and name.isidentifier() and getattr(module, name, None) is value:
        reference = f"{Path(file).resolve()}:{name}"
    else:
        reference = f"{PREFIX}{defined.__module__}.{name}"
        number = 1
        while _given.get(reference, value) is not value:
            number += 1
            reference = f"{PREFIX}{defined.__module__}.{name}.{number}"
    _given[reference] = value
    return reference
