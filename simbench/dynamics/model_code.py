"""Plain NumPy code of an explicit model: what depends on angles, and what on speeds and accelerations.

The two are functions of their own, so that the first can be evaluated less often (Armstrong 1986, table 2).
Both take numbers or arrays of many states, and are short enough for numba.
"""

import textwrap
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from simbench.dynamics.arm_symbols import MOTOR
from simbench.dynamics.explicit_model import ElementIndex, ExplicitModel
from simbench.dynamics.factored import constant_name, factor_terms, signed_products
from simbench.dynamics.lumped import Term
from simbench.dynamics.trig_ring import Angle, angle_label

WIDTH = 108


class Line(NamedTuple):
    """An assignment of the generated code."""

    name: str  # Variable on the left.
    text: str  # Expression on the right.


def element_name(entry: ElementIndex) -> str:
    """Name an element as the paper does: a12, b112, c21; its g2 is w2, as constants are named g1, g2, too."""
    separator = "" if max(entry) < 10 else "_"
    letter = {1: "w", 2: "a", 3: "b"}[len(entry)]
    if len(entry) == 3 and entry[1] == entry[2]:
        letter, entry = "c", entry[:2]
    return letter + separator.join(map(str, entry))


def code_terms(model: ExplicitModel, entry: ElementIndex) -> list[Term]:
    """List an element's terms, a11's constant and the motor's inertia joined as J1.

    `model`: model that the element belongs to.
    """
    terms = model.elements[entry]
    if len(entry) != 2 or entry[0] != entry[1]:
        return terms
    powers = (0,) * model.geometry.ring.ring.ngens
    rest = [term for term in terms if any(term.powers)]
    return [*rest, Term(powers, f"J{entry[0]}", Fraction(1))]


def constant_lines(model: ExplicitModel) -> list[Line]:
    """Write the code of the constants, multiples and sums with the motors, from the lumped ones.

    Returns one assignment for each constant.
    """
    lines: dict[str, str] = {}
    for entry in model.elements:
        for term in code_terms(model, entry):
            if term.constant.startswith("J"):
                lines[term.constant] = _with_motor(model, entry)
                continue
            factor = abs(term.factor)
            times = "" if factor == 1 else f"{float(factor)!r} * "
            lines[constant_name(term.constant, factor)] = f"{times}p.{term.constant}"
    return [Line(name, text) for name, text in lines.items()]


def configuration_lines(model: ExplicitModel, places: Sequence[ElementIndex]) -> list[Line]:
    """Write the code of elements of A, B, C and g with common-subexpression elimination.

    Returns assignments of shared subexpressions, then of the elements.
    """
    import sympy

    ring = model.geometry.ring
    names: dict[str, sympy.Symbol] = {}
    sums = [signed_products(ring, code_terms(model, entry)) for entry in places]
    for each in sums:
        for _, factors in each:
            names |= {factor: sympy.Symbol(factor) for factor in factors}
    written = [eval(factor_terms(each).text, dict(names)) for each in sums]
    expanded = [
        sympy.Add(*(sign * sympy.Mul(*(names[factor] for factor in factors)) for sign, factors in each))
        for each in sums
    ]
    shortest = min((_eliminated(each) for each in (written, expanded)), key=lambda found: found[0])
    used = [factor for each in sums for _, factors in each for factor in factors]
    lines = list(_squares(model, used))
    lines += [Line(str(name), str(value)) for name, value in shortest[1]]
    return lines + [
        Line(element_name(entry), str(value)) for entry, value in zip(places, shortest[2], strict=True)
    ]


def _eliminated(expressions: Sequence[Any]) -> tuple[int, list[tuple[Any, Any]], list[Any]]:
    import sympy

    shared, rest = sympy.cse(expressions, symbols=sympy.numbered_symbols("x"))
    total = sum(int(each.count_ops()) for each in [*(value for _, value in shared), *rest])
    return total, shared, rest


def used_angles(model: ExplicitModel) -> list[Angle]:
    """List the angles whose sine or cosine occurs in the elements.

    `model`: model to write. Returns angles in the order of the ring.
    """
    ring = model.geometry.ring
    powers = [term.powers for entry in model.elements for term in code_terms(model, entry)]
    return [
        angle for i, angle in enumerate(ring.angles) if any(each[2 * i] or each[2 * i + 1] for each in powers)
    ]


def angle_offset(model: ExplicitModel, angle: Angle) -> float:
    """Add up the constant angles θ of the joints that an angle is the sum of.

    `model`: model whose table has the constant angles. Returns offset, rad.
    """
    return float(sum(model.geometry.arm.rows[joint - 1].theta for joint in angle))


def trigonometry_lines(model: ExplicitModel) -> list[Line]:
    """Write the code of the sine and cosine of each angle in use, then of the displacement of sliding joints.

    Returns assignments.
    """
    lines = []
    for angle in used_angles(model):
        offset = angle_offset(model, angle)
        value = " + ".join(f"q[{joint - 1}]" for joint in angle) + (f" + {offset!r}" if offset else "")
        label = angle_label(angle)
        lines += [Line(f"S{label}", f"sin({value})"), Line(f"C{label}", f"cos({value})")]
    return lines + [Line(f"q{joint}", f"q[{joint - 1}]") for joint in model.geometry.ring.slides]


def _squares(model: ExplicitModel, used: Iterable[str]) -> Iterable[Line]:
    """Write the products of one angle that are used."""
    names = set(used)
    for angle in used_angles(model):
        label = angle_label(angle)
        for first, second in ("SS", "CC", "SC"):
            if first + second + label in names:
                yield Line(first + second + label, f"{first}{label} * {second}{label}")


def torque_lines(model: ExplicitModel) -> list[Line]:
    """Write the code of τ = A q̈ + B [q̇q̇] + C [q̇²] + g, without the zero elements.

    Returns assignments, the torques last.
    """
    n = model.joints
    rows: dict[int, list[tuple[int, str]]] = {i: [] for i in range(1, n + 1)}
    lines: dict[str, str] = {}
    multiples: dict[tuple[ElementIndex, Fraction], tuple[str, Fraction]] = {}
    for entry, (owner, factor) in model.places.items():
        name, own = element_name(owner), Fraction(1)
        if abs(factor) != 1:
            name, own = multiples.setdefault((owner, abs(factor)), (element_name(entry), factor))
            lines.setdefault(name, f"{float(factor)!r} * {element_name(owner)}")
        sign = 1 if factor / own > 0 else -1
        if len(entry) == 2:
            i, j = entry
            rows[i].append((sign, f"{name} * a[{j - 1}]"))
            if i != j:
                rows[j].append((sign, f"{name} * a[{i - 1}]"))
        elif len(entry) == 3:
            k, i, j = entry
            speed = f"v{i}{j}" if max(entry) < 10 else f"v{i}_{j}"
            lines[speed] = f"v[{i - 1}] * v[{j - 1}]"
            rows[k].append((sign, f"{name} * {speed}"))
        else:
            rows[entry[0]].append((sign, name))
    written = [Line(name, text) for name, text in lines.items()]
    for i, row in rows.items():
        text = "".join((" + " if sign > 0 else " - ") + each for sign, each in row)
        written.append(Line(f"t{i}", text.removeprefix(" + ") if row else f"0.0 * v[{i - 1}]"))
    return written


def lumped_lines(model: ExplicitModel) -> list[Line]:
    """Write the code of the lumped constants from the arm's parameters.

    Returns one assignment for each constant in use.
    """
    used = {term.constant for terms in model.elements.values() for term in terms}
    lines = []
    for name, constant in model.constants.items():
        if name in used:
            lines.append(Line(name, f"({constant.as_expr()})"))
    return lines


def format_assignments(lines: Sequence[Line]) -> str:
    """Format assignments as indented code, long ones over several lines.

    Returns code, indented by four spaces.
    """
    written = []
    for name, text in lines:
        line = f"{name} = {text}"
        if len(line) > WIDTH - 4:
            inner = textwrap.wrap(text, WIDTH - 8, break_long_words=False)
            line = f"{name} = (\n" + "\n".join(f"    {each}" for each in inner) + "\n)"
        written.append(line)
    return textwrap.indent("\n".join(written), "    ")


def _with_motor(model: ExplicitModel, entry: ElementIndex) -> str:
    text = f"p.{MOTOR}{entry[0]}"
    for term in model.elements[entry]:
        if not any(term.powers):
            sign = "+" if term.factor > 0 else "-"
            times = "" if abs(term.factor) == 1 else f"{float(abs(term.factor))!r} * "
            text += f" {sign} {times}p.{term.constant}"
    return text
