"""What every section of a scenario has in common."""

import difflib
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

# Strict sections would refuse YAML's lists for tuples.
Point2 = Annotated[tuple[float, float], Strict(False)]
Point3 = Annotated[tuple[float, float, float], Strict(False)]
Fraction = Annotated[float, Field(gt=0.0, le=1.0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]


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
