"""What a plug-in declares: a section with keys, or a function without; validated before it is used."""

import inspect
from collections.abc import Callable, Collection
from typing import Any

from pydantic import BaseModel

from simbench.errors import PluginError, SimbenchError
from simbench.plugins.groups import GROUPS
from simbench.plugins.loading import Plugin, describe_failure, find_entry_points, load_plugin, names_code


def is_plugin(group: str, value: object, shipped: Collection[str]) -> bool:
    """Tell whether a scenario's value names a plug-in.

    `group`: A key of `plugins.groups.GROUPS`; `value`: value of the key; `shipped`: names that simbench has
    itself; they go before those of plug-ins. Returns whether it is a reference to code, or the name of an
    installed plug-in.
    """
    if not isinstance(value, str) or value in shipped:
        return False
    return names_code(value) or value in find_entry_points(group)


def require_plugin(group: str, reference: str) -> Plugin:
    """Load a plug-in and refuse what cannot be one of its group.

    `group`: A key of `plugins.groups.GROUPS`; `reference`: how a scenario names it. Returns A section, that
    is a class derived from pydantic's `BaseModel`, with the method of the group, an instance of one, or a
    function with the arguments of the group.
    """
    plugin = load_plugin(group, reference)
    wanted, value = GROUPS[group], plugin.value
    section = value if inspect.isclass(value) else type(value)
    if wanted.method and issubclass(section, BaseModel):
        method = getattr(section, wanted.method, None)
        if not callable(method):
            raise PluginError(f"{reference}: {section.__name__} has no method {_call(wanted.method, group)}")
        _require_arguments(f"{reference}: {section.__name__}.{wanted.method}", method, group, bound=True)
        return plugin
    if inspect.isclass(value) or not callable(value) or not wanted.arguments:
        kinds = [f"a function of ({', '.join(wanted.arguments)})"] if wanted.arguments else []
        if wanted.method:
            method = _call(wanted.method, group)
            kinds.append(f"a class derived from simbench.options.ScenarioSection with the method {method}")
        raise PluginError(
            f"{reference}: {_describe(value)} is no {_noun(group)}; allowed: {', or '.join(kinds)}"
        )
    _require_arguments(reference, value, group, bound=False)
    return plugin


def read_options(group: str, reference: str, data: Any) -> BaseModel | None:
    """Validate the keys that a scenario gives to a plug-in.

    `group`: A key of `plugins.groups.GROUPS`; `reference`: how the scenario names it. Returns the plug-in's
    section; None of a function, which takes no keys. Raises ValidationError if the section refuses them.
    """
    value = require_plugin(group, reference).value
    if isinstance(value, BaseModel):
        return value
    if inspect.isclass(value) and issubclass(value, BaseModel):
        return value.model_validate({} if data is None else data)
    if data:
        raise PluginError(f"{reference}: a function, which takes no options; allowed: none")
    return None


def plugin_maker(group: str, reference: str, options: BaseModel | None) -> Callable[..., Any]:
    """Find what makes the thing that a plug-in is.

    `group`: A key of `plugins.groups.GROUPS`; `reference`: how the scenario names it; `options`: from
    `read_options`. Returns takes the arguments of the group. What the plug-in's code raises becomes a
    PluginError in one line.
    """
    wanted = GROUPS[group]
    make = load_plugin(group, reference).value if options is None else getattr(options, wanted.method)

    def guarded(*arguments: Any) -> Any:
        return call_plugin(reference, make, *arguments)

    return guarded


def call_plugin(reference: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the code of a plug-in.

    `reference`: how the scenario names it; `function`: function or method of the plug-in. Returns what it
    returns.
    """
    try:
        return function(*arguments)
    except SimbenchError:
        raise
    except Exception as error:
        raise PluginError(f"{reference}: {describe_failure(error)}") from error


def _require_arguments(where: str, function: Callable[..., Any], group: str, *, bound: bool) -> None:
    """Refuse a function that does not take the arguments of its group."""
    wanted = GROUPS[group].arguments
    try:
        inspect.signature(function).bind(*((None,) * (len(wanted) + bound)))
    except TypeError:
        raise PluginError(
            f"{where}: takes other arguments; allowed: ({', '.join((*(('self',) * bound), *wanted))})"
        ) from None
    except ValueError:
        # Compiled functions do not say what they take.
        return


def _call(method: str, group: str) -> str:
    """Write a method with its arguments."""
    return f"{method}({', '.join(('self', *GROUPS[group].arguments))})"


def _noun(group: str) -> str:
    """Name what a plug-in of a group is, without its article."""
    return GROUPS[group].thing.partition(" ")[2]


def _describe(value: Any) -> str:
    """Describe an object that is no plug-in."""
    return (
        f"the class {value.__name__}" if inspect.isclass(value) else f"a value of type {type(value).__name__}"
    )
