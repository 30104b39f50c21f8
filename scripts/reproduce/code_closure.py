"""Code that the numbers of a script can depend on: the definitions that it reaches, and a digest of them.

Definitions at the top level of modules are followed by name: from everything in the script to what it names,
through imports (also those inside functions) and texts that name a module (`simbench.sim.bullet`) or
something in one (`module:name`). A class counts with all of its methods, because calls of methods cannot be
resolved without types; a module that is passed on as an object counts with everything in it. What a module
does when it is imported counts, too.

Docstrings, comments, layout and the annotations of functions are no part of a digest, and neither is the
file in which a definition stands: moving one changes nothing. `IGNORED` modules are not followed.
"""

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

IGNORED = (
    "results",
    "dependencies",
    "code_closure",
    "parts",
    "simbench.cli",
    "simbench.plotting",
    "simbench.runs.dossier",
    "simbench.runs.live_view",
    "simbench.runs.report",
    "simbench.runs.talk_video",
    "simbench.runs.video",
    "simbench.runs.video_person",
    "simbench.sim.rendering",
)
"""What puts numbers on a page, draws them, or shows a run: nothing there computes a number of a table."""
DIGITS = 12
ALWAYS = ""
"""Name of what a module does when it is imported."""

_MODULE_NAME = re.compile(r"simbench(\.\w+)+(:\w+)?")
_FILE_NAME = re.compile(r"[\w-]*\.[a-z]\w*")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Definition(NamedTuple):
    """A name at the top level of a module."""

    module: str
    name: str


_Bound = tuple[str, str | None]
"""Module, and name in it, that an import has bound; without a name, the module itself."""
Reached = Mapping[Definition, set[tuple[str, Definition]]]
_LAZY_NAMES = Definition("simbench", "_MODULE_OF")


@dataclass(eq=False)
class _Module:
    path: Path
    package: str
    statements: dict[str, list[ast.stmt]] = field(default_factory=lambda: defaultdict(list))
    bound: dict[str, _Bound] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)  # Modules that it imports when it is imported.


class Sources:
    """Modules below some folders, each parsed once.

    Parameters
    ----------
    folders : sequence of Path
        Folders in which modules are looked for, as in `sys.path`.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self._modules: dict[str, _Module | None] = {}
        self._paths: dict[str, Path | None] = {}

    def module(self, name: str) -> _Module | None:
        """Parse a module; None if it is in none of the folders, or ignored."""
        if name not in self._modules:
            self._modules[name] = None
            if not any(name == each or name.startswith(f"{each}.") for each in IGNORED):
                path = self._find(name)
                self._modules[name] = _parse(path, name, self) if path else None
        return self._modules[name]

    def is_module(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> Path | None:
        if name not in self._paths:
            self._paths[name] = self._look_for(name)
        return self._paths[name]

    def _look_for(self, name: str) -> Path | None:
        relative = Path(*name.split("."))
        for folder in self.folders:
            for path in (folder / relative / "__init__.py", folder / relative.with_suffix(".py")):
                if path.is_file():
                    return path
        return None


def _parse(path: Path, name: str, sources: Sources) -> _Module:
    """Sort the top level of a module into imports, definitions, and what is done at once."""
    module = _Module(path, name if path.name == "__init__.py" else name.rpartition(".")[0])

    def sort(statements: Iterable[ast.stmt], *, executed: bool = True) -> None:
        for each in statements:
            if isinstance(each, ast.Import | ast.ImportFrom):
                bound, loaded = _imported(each, module.package, sources)
                module.bound |= bound
                if executed:
                    module.loaded |= loaded
            elif isinstance(each, ast.If) and ast.unparse(each.test).endswith("TYPE_CHECKING"):
                sort(each.body, executed=False)
                sort(each.orelse)
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                module.statements[each.name].append(each)
            elif not _is_text(each):
                names = _assigned(each)
                for assigned in names or {ALWAYS}:
                    module.statements[assigned].append(each)
                if isinstance(each, ast.If | ast.Try | ast.With):
                    sort(inner for inner in ast.walk(each) if isinstance(inner, ast.Import | ast.ImportFrom))

    sort(_tree(path.read_text(encoding="utf-8")).body)
    return module


@cache
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


def _assigned(statement: ast.stmt) -> set[str]:
    """Names that a statement assigns and nothing else; empty if it does more, as a call or a loop does."""
    targets = {ast.Assign: "targets", ast.AnnAssign: "target"}.get(type(statement))
    if targets is None:
        return set()
    given = getattr(statement, targets)
    nodes = [node for each in (given if isinstance(given, list) else [given]) for node in ast.walk(each)]
    if any(isinstance(node, ast.Attribute | ast.Subscript) for node in nodes):
        return set()
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _imported(
    statement: ast.Import | ast.ImportFrom, package: str, sources: Sources
) -> tuple[dict[str, _Bound], set[str]]:
    """Names that an import binds, and the modules that it loads, with the packages above them."""
    bound: dict[str, _Bound] = {}
    modules = set()
    if isinstance(statement, ast.Import):
        for each in statement.names:
            modules.add(each.name)
            name = each.asname or each.name.partition(".")[0]
            bound[name] = (each.name if each.asname else name, None)
    else:
        above = package.rsplit(".", statement.level - 1)[0] if statement.level else ""
        source = ".".join(part for part in (above, statement.module) if part)
        modules.add(source)
        for each in statement.names:
            inner = f"{source}.{each.name}"
            found = sources.is_module(inner)
            bound[each.asname or each.name] = (inner, None) if found else (source, each.name)
            modules |= {inner} if found else set()
    return bound, {name for each in modules for name in _with_parents(each)}


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))


def reached(sources: Sources, script: str) -> Reached:
    """Find everything that a module, run as a script, can reach.

    Returns what each definition names: the text by which it does, and the definition.
    """
    found: dict[Definition, set[tuple[str, Definition]]] = {}
    waiting: list[Definition] = []
    loaded: set[str] = set()

    def load(modules: Iterable[str]) -> None:
        for name in modules:
            if name not in loaded and (module := sources.module(name)) is not None:
                loaded.add(name)
                reach(name, ALWAYS)
                load(module.loaded)

    def reach(name: str, attribute: str) -> list[Definition]:
        """Reach a name of a module, wherever that has it from."""
        module = sources.module(name)
        if module is None:
            return []
        if attribute in module.statements:
            definition = Definition(name, attribute)
            if definition not in found:
                load(_with_parents(name))
                found[definition] = set()
                waiting.append(definition)
            return [definition]
        if attribute in module.bound:
            return follow(*module.bound[attribute])
        return reach(name, "__getattr__") if "__getattr__" in module.statements and attribute else []

    def follow(name: str, attribute: str | None) -> list[Definition]:
        """Reach what an import has bound: a module's name, or a module with everything in it."""
        if attribute is not None:
            return reach(name, attribute)
        module = sources.module(name)
        return [each for inner in (module.statements if module else ()) for each in reach(name, inner)]

    def follow_chain(bound: _Bound, attributes: Sequence[str]) -> list[Definition]:
        """Follow `module.package.name`; what is beyond the name is an attribute of its value."""
        name, attribute = bound
        for each in attributes:
            if attribute is not None:
                break
            if sources.is_module(f"{name}.{each}"):
                name = f"{name}.{each}"
                load(_with_parents(name))
            else:
                attribute = each
        return follow(name, attribute)

    def named(definition: Definition, statement: ast.stmt) -> Iterator[tuple[str, list[Definition]]]:
        """Yield each text by which a statement names definitions, and these."""
        module = sources.module(definition.module)
        assert module is not None
        nodes, bound = _nodes(statement), dict(module.bound)
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                inner, modules = _imported(node, module.package, sources)
                bound |= inner
                load(modules)
        inside: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inside:
                attributes, root = [node.attr], node.value
                while isinstance(root, ast.Attribute):
                    inside.add(id(root))
                    attributes.append(root.attr)
                    root = root.value
                if isinstance(root, ast.Name) and root.id in bound:
                    inside.add(id(root))
                    attributes.reverse()
                    yield ".".join([root.id, *attributes]), follow_chain(bound[root.id], attributes)
            elif isinstance(node, ast.Name) and id(node) not in inside:
                if node.id in module.statements:
                    yield node.id, reach(definition.module, node.id)
                elif node.id in bound:
                    yield node.id, follow(*bound[node.id])
            elif isinstance(node, ast.Constant) and _MODULE_NAME.fullmatch(text := str(node.value)):
                name, _, attribute = text.partition(":")
                load(_with_parents(name))
                # Of the modules in its table of names the package takes single names, which imports tell.
                if definition != _LAZY_NAMES:
                    yield text, follow(name, attribute or None)

    load([script])
    if not follow(script, None):
        raise ValueError(f"{script}: no module in {', '.join(map(str, sources.folders))}")
    while waiting:
        definition = waiting.pop()
        module = sources.module(definition.module)
        assert module is not None
        for statement in module.statements[definition.name]:
            for text, definitions in named(definition, statement):
                found[definition] |= {(text, each) for each in definitions}
    return found


def named_files(sources: Sources, found: Iterable[Definition]) -> Iterator[Path]:
    """Yield data files beside modules that what is reached there names, by name or by another suffix."""
    for definition in found:
        module = sources.module(definition.module)
        assert module is not None
        for statement in module.statements[definition.name]:
            for node in _nodes(statement):
                if isinstance(node, ast.Constant) and _FILE_NAME.fullmatch(text := str(node.value)):
                    change = module.path.with_suffix if text.startswith(".") else module.path.with_name
                    path = change(text)
                    if path.suffix != ".py" and path.is_file():
                        yield path


def digest_code(sources: Sources, found: Reached) -> str:
    """Digest what is reached and who names what; where a definition stands is no part of it."""
    digests = {each: digest_definition(sources, each) for each in found}
    # Twice: two definitions may read the same and name different things.
    for _ in range(2):
        digests = {
            each: shortened([digests[each], *sorted(f"{text} {digests[inner]}" for text, inner in named)])
            for each, named in found.items()
        }
    return shortened(sorted(set(digests.values())))


def digest_files(sources: Sources, found: Iterable[Definition]) -> dict[Path, str]:
    """Digest what is reached of each file."""
    by_path: dict[Path, list[str]] = defaultdict(list)
    for definition in found:
        module = sources.module(definition.module)
        assert module is not None
        by_path[module.path].append(digest_definition(sources, definition))
    return {path: shortened(sorted(digests)) for path, digests in by_path.items()}


def digest_definition(sources: Sources, definition: Definition) -> str:
    """Digest the statements that give a name of a module its value."""
    module = sources.module(definition.module)
    assert module is not None
    return shortened([definition.name, *map(_digest_of, module.statements[definition.name])])


@cache
def _digest_of(statement: ast.stmt) -> str:
    return shortened([canonical(statement)])


def shortened(texts: Iterable[str]) -> str:
    """Digest lines of text."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:DIGITS]


@cache
def _nodes(statement: ast.stmt) -> tuple[ast.AST, ...]:
    """What of a statement can name something, from the outside in."""
    kinds = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Name, ast.Constant)
    return tuple(node for node in _evaluated(statement) if isinstance(node, kinds))


def _evaluated(node: ast.AST, inside: bool = False) -> Iterator[ast.AST]:
    """Walk through a node from the outside in, but not through what nobody evaluates."""
    if isinstance(node, ast.stmt) and _is_text(node):
        return
    yield node
    inside = inside or isinstance(node, _FUNCTIONS)
    for name, value in ast.iter_fields(node):
        if not _is_annotation(node, name, inside):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    yield from _evaluated(each, inside)


def _is_annotation(node: ast.AST, name: str, inside: bool) -> bool:
    """Whether a field of a node is the annotation of a function's argument, result or variable."""
    return (
        (isinstance(node, ast.arg) and name == "annotation")
        or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name == "returns")
        or (isinstance(node, ast.AnnAssign) and name == "annotation" and inside)
    )


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or a text that explains a constant."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def canonical(node: Any, inside: bool = False) -> str:
    """Write a syntax tree as text that is the same in all versions of Python, without docstrings."""
    if isinstance(node, list):
        return f"[{','.join(canonical(each, inside) for each in node if not _is_docstring(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    inside = inside or isinstance(node, _FUNCTIONS)
    fields = [
        f"{name}={canonical(value, inside)}"
        for name, value in ast.iter_fields(node)
        # Empty fields are those that newer versions have added; `kind` is the u of u"text".
        if value not in (None, [])
        and name not in ("ctx", "kind", "type_comment")
        and not _is_annotation(node, name, inside)
    ]
    return f"{type(node).__name__}({','.join(fields)})"


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.stmt) and _is_text(node)
