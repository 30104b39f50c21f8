"""What every section of a scenario has in common."""

import difflib
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A part of a scenario: no unknown keys, no conversions between types, finite numbers only."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        allowed = ", ".join(cls.model_fields)
        if not isinstance(data, dict | cls):
            raise PydanticCustomError(
                "not_a_section", "must be a section with the keys: {allowed}", {"allowed": allowed}
            )
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                close = difflib.get_close_matches(str(key), cls.model_fields, n=1)
                hint = f" (did you mean '{close[0]}'?)" if close else ""
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key{hint}; allowed: {allowed}",
                    {"key": key, "hint": hint, "allowed": allowed},
                )
        return data
