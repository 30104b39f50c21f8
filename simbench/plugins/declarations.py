"""What a plug-in declares, a section with keys or a function without; the keys of scenarios that name it."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from simbench.errors import PluginError, SimbenchError
from simbench.plugins.entry_points import (
    GROUPS,
    Plugin,
    describe_failure,
    find_entry_points,
    is_code,
    load_plugin,
)

# Key of a validation's context: the scenario is that of a run that is over, whose code is not needed.
FINISHED = "finished"


def is_plugin(group: str, value: object, shipped: Collection[str]) -> bool:
    """Tell whether a scenario's value names a plug-in.

    `group`: A key of `plugins.groups.GROUPS`; `value`: value of the key; `shipped`: names that simbench has
    itself; they go before those of plug-ins. Returns whether it is a reference to code, or the name of an
    installed plug-in.
    """
    if not isinstance(value, str) or value in shipped:
        return False
    return is_code(value) or value in find_entry_points(group)


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
        is_class = inspect.isclass(value)
        what = f"the class {value.__name__}" if is_class else f"a value of type {type(value).__name__}"
        noun = wanted.thing.partition(" ")[2]
        raise PluginError(f"{reference}: {what} is no {noun}; allowed: {', or '.join(kinds)}")
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


@dataclass(frozen=True)
class OneOf:
    """Annotation of a text that is one of simbench's own names, or names a plug-in."""

    group: str  # A key of `plugins.groups.GROUPS`.
    shipped: tuple[str, ...]  # Names that simbench has itself.

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validate a value.

        `source`: annotated type; `handler`: makes the schema of that type. Returns schema that calls
        `choose`.
        """
        return core_schema.with_info_plain_validator_function(
            self.choose, serialization=core_schema.to_string_ser_schema()
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the values for editors.

        `schema`: what validates them; `handler`: makes the usual description. Returns JSON Schema: a text;
        the names are examples, since those of plug-ins are not known.
        """
        return {"type": "string", "examples": list(self.shipped), "plugins": f"simbench.{self.group}"}

    def choose(self, value: Any, info: ValidationInfo) -> str:
        """Take a name, or load the plug-in that it names.

        `value`: value of the key; `info`: says whether plug-ins are loaded. Returns the same name. Raises
        PluginError if the plug-in cannot be loaded, or is not what its group asks for.
        """
        if isinstance(value, str) and value in self.shipped:
            return value
        if (info.context or {}).get(FINISHED) and isinstance(value, str):
            return value
        if is_plugin(self.group, value, self.shipped):
            require_plugin(self.group, value)
            return str(value)
        allowed = "".join(f"{name!r}, " for name in self.shipped)
        raise PydanticCustomError(
            "no_such_plugin",
            "must be {allowed}a plug-in installed in simbench.{group}, MODULE:NAME or ./FILE.py:NAME",
            {"allowed": allowed, "group": self.group},
        )


def plugin_options(group: str, key: str, value: Any, info: ValidationInfo) -> Any:
    """Validate the options of a plug-in by its own section.

    `group`: A key of `plugins.groups.GROUPS`; `key`: field of the same section that names the plug-in,
    validated before; `value`: what the scenario gives; `info`: fields that are validated already. Returns
    section of the plug-in with all its keys; None of what is none, or of a function. What the scenario gives,
    where it will not be run. Raises PluginError, ValidationError if the plug-in refuses them.
    """
    reference = info.data.get(key)
    if (info.context or {}).get(FINISHED):
        return value
    if not is_plugin(group, reference, ()):
        if value:
            raise PydanticCustomError(
                "options_without_plugin",
                "only {thing} of a plug-in has options, and {key} names none",
                {"thing": GROUPS[group].thing, "key": GROUPS[group].key},
            )
        return None
    return read_options(group, str(reference), value)
