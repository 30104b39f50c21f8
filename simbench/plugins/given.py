"""Objects that a program passes instead of naming them, such as a function of a notebook as control law."""

import inspect
import sys
from pathlib import Path
from typing import Any

PREFIX = "python:"
"""How a reference begins whose object only the program has that passed it."""

_given: dict[str, Any] = {}


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


def find_given(reference: str) -> Any:
    """Find an object that was passed.

    `reference`: what `give_reference` returned. Returns the object; None if this process was given none of
    that name.
    """
    return _given.get(reference)
