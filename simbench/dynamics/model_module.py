"""Modules of plain NumPy code of explicit models: written once, kept, and used without sympy."""

import textwrap
from collections.abc import Iterable

from simbench.dynamics.arm_symbols import arm_structure
from simbench.dynamics.explicit_model import ExplicitModel
from simbench.dynamics.model_code import (
    Line,
    angle_offset,
    configuration_lines,
    constant_lines,
    element_name,
    format_assignments,
    lumped_lines,
    torque_lines,
    trigonometry_lines,
    used_angles,
)

HEAD = '''"""{title}

Written by scripts/tools/derive_explicit_models.py: change that, not this. Angles are those of the table, rad;
S23 is sin(θ2 + θ3), SS4 the square of S4, SC4 its product with C4. `a`, `b`, `c` are elements of A, B and
C by row and column, of the velocity products i, j in B; `w` of g.
"""

from typing import Any

from numpy import cos, sin

STRUCTURE = {structure}
"""Joints and gravity of the arms that have this model."""
PARAMETERS = {parameters}
"""What is not zero in them."""
MOTORS = {motors}
LUMPED = {lumped}
CONSTANTS = {constants}
ELEMENTS = {elements}
"""What `configuration` returns."""
TRIGONOMETRY = {angles}
"""Joints, 0 being the first, of whose angles it is the sum, and what is added, rad."""
SLIDES = {slides}
PLACES = {places}
"""Place in A (i, j), in B and C (k, i, j) or in g (i), 1 being the first: index in ELEMENTS, times what."""


def lumped_constants(p: dict[str, float]) -> dict[str, float]:
    """Lumped inertia and gravity constants, kg·m² and N·m, of the arm's parameters by name."""
{unpacked}
    return {{
{lumped_values}
    }}


def constants(p: dict[str, float]) -> tuple[float, ...]:
    """Numbers that `configuration` takes, of lumped constants and the motors' inertia by name."""
    return (
{constant_values}
    )


def trigonometry(q: Any) -> Any:
    """Sines and cosines of the angles q, in the order of TRIGONOMETRY, then how far joints have slid."""
{trigonometry_code}
    return {sines}


def configuration(k: Any, s: Any) -> Any:
    """Elements of A, B, C and g that are not zero, as ELEMENTS: of `constants` and `trigonometry`."""
{taken}
{elements_code}
    return {returned}


def torque(e: Any, v: Any, a: Any) -> Any:
    """Joint torques A a + B [v v] + C [v²] + g of speeds and accelerations, with e of `configuration`."""
{given}
{torque_code}
    return {torques}
'''


def model_module(model: ExplicitModel, title: str) -> str:
    """Write an explicit model as the source of a Python module.

    `title`: first line of the module's docstring. Returns source code; it is the same on every machine.
    """
    symbols = model.geometry.symbols
    constants, lumped = constant_lines(model), lumped_lines(model)
    elements = [element_name(entry) for entry in model.elements]
    owners, trigonometry = list(model.elements), trigonometry_lines(model)
    angles = [
        (tuple(joint - 1 for joint in angle), angle_offset(model, angle)) for angle in used_angles(model)
    ]
    places = ", ".join(
        f"{entry}: ({owners.index(owner)}, {float(factor)!r})"
        for entry, (owner, factor) in model.places.items()
    )
    read = [name for name in symbols.values if any(_mentions(line.text, name) for line in lumped)]
    return HEAD.format(
        title=title,
        structure="(\n" + "\n".join(f'    "{each}",' for each in arm_structure(model.geometry.arm)) + "\n)",
        parameters=_tuple(symbols.values),
        motors=_tuple(symbols.motors),
        lumped=_tuple(line.name for line in lumped),
        constants=_tuple(line.name for line in constants),
        elements=_tuple(elements),
        places="{\n" + _wrapped(places, 4) + "\n}",
        unpacked=format_assignments([Line(name, f'p["{name}"]') for name in read]),
        lumped_values="\n".join(_entry(line) for line in lumped),
        constant_values="\n".join(f"        {_by_name(line.text)}," for line in constants),
        angles="(" + "".join(f"{each!r}, " for each in angles).rstrip() + ")",
        slides=tuple(joint - 1 for joint in model.geometry.ring.slides),
        trigonometry_code=format_assignments(trigonometry),
        sines="(" + ", ".join(line.name for line in trigonometry) + ",)",
        taken=format_assignments(
            [Line(line.name, f"k[{i}]") for i, line in enumerate(constants)]
            + [Line(line.name, f"s[{i}]") for i, line in enumerate(trigonometry)]
        ),
        elements_code=format_assignments(configuration_lines(model, owners)),
        returned="(\n" + _wrapped(", ".join(elements), 8) + ",\n    )",
        given=format_assignments([Line(name, f"e[{i}]") for i, name in enumerate(elements)]),
        torque_code=format_assignments(torque_lines(model)),
        torques=", ".join(f"t{i}" for i in range(1, model.joints + 1)),
    )


def _entry(line: Line) -> str:
    text = f'        "{line.name}": {line.text[1:-1]},'
    if len(text) <= 110:
        return text
    return f'        "{line.name}": (\n' + _wrapped(line.text[1:-1], 12) + "\n        ),"


def _by_name(text: str) -> str:
    words = [f'p["{word[2:]}"]' if word.startswith("p.") else word for word in text.split(" ")]
    return " ".join(words)


def _mentions(text: str, name: str) -> bool:
    for sign in "()+-*":
        text = text.replace(sign, " ")
    return name in text.split()


def _tuple(names: Iterable[str]) -> str:
    return "(\n" + _wrapped(", ".join(f'"{name}"' for name in names) + ",", 4) + "\n)"


def _wrapped(text: str, indent: int) -> str:
    return textwrap.indent("\n".join(textwrap.wrap(text, 108 - indent, break_long_words=False)), " " * indent)
