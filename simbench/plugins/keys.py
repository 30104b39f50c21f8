"""Types of a scenario's keys that name a plug-in, or hold its options."""

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from simbench.plugins.groups import GROUPS
from simbench.plugins.options import is_plugin, read_options, require_plugin


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
        if is_finished(info) and isinstance(value, str):
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


FINISHED = "finished"
"""Key of a validation's context: the scenario is that of a run that is over, whose code is not needed."""


def is_finished(info: ValidationInfo) -> bool:
    """Tell whether a scenario is validated that will not be run.

    `info`: context of the validation. Returns whether the code that it names stays unloaded.
    """
    return bool((info.context or {}).get(FINISHED))


def plugin_options(group: str, key: str, value: Any, info: ValidationInfo) -> Any:
    """Validate the options of a plug-in by its own section.

    `group`: A key of `plugins.groups.GROUPS`; `key`: field of the same section that names the plug-in,
    validated before; `value`: what the scenario gives; `info`: fields that are validated already. Returns
    section of the plug-in with all its keys; None of what is none, or of a function. What the scenario gives,
    where it will not be run. Raises PluginError, ValidationError if the plug-in refuses them.
    """
    reference = info.data.get(key)
    if is_finished(info):
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
