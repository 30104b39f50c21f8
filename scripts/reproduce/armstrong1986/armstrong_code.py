"""An explicit model as text: equations in the paper's notation, counted, and plain NumPy code.

The code of what depends on angles, and of what depends on speeds and accelerations, are functions of their
own, so that the first can be evaluated less often (Armstrong 1986, table 2). Both take numbers or arrays of
many states, and are short enough for numba.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from armstrong_derivation import ElementIndex, ExplicitModel
from armstrong_recursion import Operations, count_operations
from armstrong_ring import Angle, Term, TrigRing, angle_label, factor_names, printed_operations

from simbench.dynamics.explicit_model import MOTOR, arm_structure

Product = tuple[int, tuple[str, ...]]
"""Its sign and its factors by name."""


class FactoredExpression(NamedTuple):
    """An expression as text, and the operations that evaluate it."""

    text: str
    multiplications: int  # Number of multiplications.
    additions: int  # Number of additions and subtractions.
    negative: bool  # Whether the text begins with a minus sign.
    terms: int  # Number of summands at the outermost level.

    @property
    def operations(self) -> Operations:
        """Multiplications and additions; a change of sign counts as none."""
        return Operations(self.multiplications, self.additions)


def constant_name(name: str, factor: Fraction) -> str:
    """Name a constant times a rational number: I5, I5x2, I5x1_2.

    `factor`: number that it is multiplied by; its sign is dropped. Returns name of the product.
    """
    factor = abs(factor)
    if factor == 1:
        return name
    return f"{name}x{factor.numerator}" + (f"_{factor.denominator}" if factor.denominator != 1 else "")


def signed_products(ring: TrigRing, terms: Sequence[Term]) -> list[Product]:
    """List the products that an element is the sum of.

    `ring`: ring in which the element is written. Returns sign and factors of each term, the constant first.
    """
    return [
        (
            1 if term.factor > 0 else -1,
            (constant_name(term.constant, term.factor), *factor_names(ring, term.powers)),
        )
        for term in terms
    ]


def factor_terms(sum_of: Sequence[Product]) -> FactoredExpression:
    """Take the factor shared by most products out of them, repeatedly.

    `sum_of`: at least one product. Returns the sum in nested form.
    """
    # In the order of the terms, not of a set: the same text every time.
    uses = Counter(name for _, names in sum_of for name in dict.fromkeys(names))
    name, count = max(uses.items(), key=lambda item: item[1], default=("", 0))
    if count < 2:
        return _plain(sum_of)
    inside = [(sign, _without(names, name)) for sign, names in sum_of if name in names]
    outside = [each for each in sum_of if name not in each[1]]
    inner = factor_terms(inside)
    text = f"{name} * ({inner.text})" if inner.terms > 1 or inner.negative else f"{name} * {inner.text}"
    whole = FactoredExpression(text, inner.multiplications + 1, inner.additions, False, 1)
    if not outside:
        return whole
    rest = factor_terms(outside)
    joined = f"{whole.text} - {rest.text[1:]}" if rest.negative else f"{whole.text} + {rest.text}"
    return FactoredExpression(
        joined,
        whole.multiplications + rest.multiplications,
        whole.additions + rest.additions + 1,
        False,
        1 + rest.terms,
    )


def _plain(sum_of: Sequence[Product]) -> FactoredExpression:
    """Write products that share nothing; a positive one first."""
    ordered = sorted(sum_of, key=lambda each: -each[0])
    text = ""
    for sign, names in ordered:
        text += (" - " if sign < 0 else " + ") + (" * ".join(names) or "1")
    text = "-" + text[3:] if ordered[0][0] < 0 else text[3:]
    multiplications = sum(max(len(names) - 1, 0) for _, names in ordered)
    return FactoredExpression(text, multiplications, len(ordered) - 1, ordered[0][0] < 0, len(ordered))


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    index = names.index(name)
    return names[:index] + names[index + 1 :]


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
            lines.append(Line(name, str(constant.as_expr())))
    return lines


def format_assignments(lines: Sequence[Line]) -> str:
    """Format assignments as indented code, long ones over several lines.

    Returns code, indented by eight spaces.
    """
    written = []
    for name, text in lines:
        line = f"{name} = {text}"
        if len(line) > WIDTH - 8:
            inner = textwrap.wrap(text, WIDTH - 12, break_long_words=False)
            line = f"{name} = (\n" + "\n".join(f"    {each}" for each in inner) + "\n)"
        written.append(line)
    return textwrap.indent("\n".join(written), 8 * " ")


def _with_motor(model: ExplicitModel, entry: ElementIndex) -> str:
    text = f"p.{MOTOR}{entry[0]}"
    for term in model.elements[entry]:
        if not any(term.powers):
            sign = "+" if term.factor > 0 else "-"
            times = "" if abs(term.factor) == 1 else f"{float(abs(term.factor))!r} * "
            text += f" {sign} {times}p.{term.constant}"
    return text


HEAD = '''"""Explicit dynamic models of {robot}, in full and without terms of less than 1 %.

Written by scripts/reproduce/armstrong1986/derive_explicit_models.py: change that, not this. Angles are those
of the table, rad; S23 is sin(θ2 + θ3), SS4 the square of S4, SC4 its product with C4. `a`, `b`, `c` are
elements of A, B and C by row and column, of the velocity products i, j in B; `w` of g.
"""

from typing import Any

from numpy import cos, sin
'''
CLASS = '''

class {name}:
    STRUCTURE = {structure}
    """Joints and gravity of the arms that have this model."""
    PARAMETERS = {parameters}
    """What is not zero in them."""
    ELEMENTS: tuple[str, ...] = {elements}
    """What `configuration` returns."""

    @staticmethod
    def constants(p: dict[str, float]) -> tuple[float, ...]:
        """Numbers that `configuration` takes, of the arm's parameters and its motors' inertia by name."""
{unpacked}
{lumped_values}
        return {constant_values}

    @staticmethod
    def trigonometry(q: Any) -> Any:
        """Sines and cosines of the angles q, then how far joints have slid."""
{trigonometry_code}
        return {sines}
'''
FURTHER_CLASS = """

class {name}({first}):
    ELEMENTS: tuple[str, ...] = {elements}
"""
FUNCTIONS = '''
    @staticmethod
    def configuration(k: Any, s: Any) -> Any:
        """Elements of A, B, C and g that are not zero, as ELEMENTS: of `constants` and `trigonometry`."""
{taken}
{elements_code}
        return {returned}

    @staticmethod
    def torque(e: Any, v: Any, a: Any) -> Any:
        """Joint torques A a + B [v v] + C [v²] + g of speeds and accelerations, with e of `configuration`."""
{given}
{torque_code}
        return {torques}
'''


def model_source(robot: str, models: Mapping[str, ExplicitModel]) -> str:
    """Write explicit models as the source of a Python module, each a class of the given name.

    The first class has the constants and the sines of all; the others inherit them. `robot`: name of the arm.
    Returns source code; it is the same on every machine.
    """
    (first, model), *_ = models.items()
    symbols = model.geometry.symbols
    # A constant that is a lumped one itself has its name already.
    constants = [line.text for each in models.values() for line in constant_lines(each)]
    constants = list(dict.fromkeys(constants))
    lumped = list(dict.fromkeys(line for each in models.values() for line in lumped_lines(each)))
    text = " ".join([*(line.text for line in lumped), *constants]).translate(str.maketrans("()+-*.", 6 * " "))
    read = [name for name in (*symbols.values, *symbols.motors) if name in text.split()]
    lines = list(dict.fromkeys(line for each in models.values() for line in trigonometry_lines(each)))
    written = CLASS.format(
        name=first,
        structure="(\n"
        + "\n".join(f'        "{each}",' for each in arm_structure(model.geometry.arm))
        + "\n    )",
        parameters=_names(symbols.values),
        elements=_names(map(element_name, model.elements)),
        unpacked=_unpacked(read, [f'p["{name}"]' for name in read]),
        lumped_values=format_assignments(lumped),
        constant_values=_wrapped(", ".join(constants).replace("p.", "")),
        trigonometry_code=_unpacked(*zip(*lines, strict=True)),
        sines="(" + ", ".join(line.name for line in lines) + ",)",
    )
    for name, each in models.items():
        if name != first:
            elements = _names(map(element_name, each.elements))
            written += FURTHER_CLASS.format(name=name, first=first, elements=elements)
        written += _functions(each, constants, [line.name for line in lines])
    return HEAD.format(robot=robot) + written


def _functions(model: ExplicitModel, constants: Sequence[str], sines: Sequence[str]) -> str:
    """Write the functions of a model, of the constants and sines of all models by their places."""
    elements, own = [element_name(entry) for entry in model.elements], constant_lines(model)
    used = [line.name for line in trigonometry_lines(model)]
    return FUNCTIONS.format(
        taken=_unpacked([line.name for line in own], [f"k[{constants.index(line.text)}]" for line in own])
        + "\n"
        + _unpacked(used, [f"s[{sines.index(name)}]" for name in used]),
        elements_code=format_assignments(configuration_lines(model, list(model.elements))),
        returned=_wrapped(", ".join(elements)),
        given=_unpacked(elements, [f"e[{i}]" for i in range(len(elements))]),
        torque_code=format_assignments(torque_lines(model)),
        torques=", ".join(f"t{i}" for i in range(1, model.joints + 1)),
    )


def _unpacked(names: Sequence[str], values: Sequence[str]) -> str:
    """Write assignments of several values at once."""
    lines, first = [], 0
    while first < len(names):
        last, text = first, ""
        while last < len(names):
            more = f"{', '.join(names[first : last + 1])} = {', '.join(values[first : last + 1])}"
            if text and len(more) > WIDTH - 8:
                break
            last, text = last + 1, more
        lines.append(text)
        first = last
    return textwrap.indent("\n".join(lines), 8 * " ")


def _names(names: Iterable[str]) -> str:
    text = ", ".join(f'"{name}"' for name in names)
    lines = textwrap.wrap(text, WIDTH - 8, break_long_words=False)
    return "(\n" + textwrap.indent("\n".join(lines), 8 * " ") + ",\n    )"


def _wrapped(text: str) -> str:
    lines = textwrap.wrap(text, WIDTH - 12, break_long_words=False)
    return "(\n" + textwrap.indent("\n".join(lines), 12 * " ") + ",\n        )"


KINDS = {2: "A", 3: "B and C", 1: "g"}
NOTHING = Operations(0, 0)


class Counts(NamedTuple):
    """Operations of a model's parts."""

    # A, B and C, g: each element by itself, constants times sums of products, as the paper counts.
    expanded: dict[str, Operations]
    factored: dict[str, Operations]  # Each element by itself, common factors taken out.
    # After common-subexpression elimination among the elements of each part, products of one angle (SS4)
    # included; and among all (`all`).
    shared: dict[str, Operations]
    torque: Operations  # The torques from the elements: the part that depends on speeds and accelerations.

    def total(self, elements: dict[str, Operations]) -> Operations:
        """Add up the operations for all torques, the elements counted in one of the three ways.

        `elements`: `expanded`, `factored` or `shared`. Returns elements and torques together.
        """
        parts = [elements["all"]] if "all" in elements else list(elements.values())
        parts.append(self.torque)
        return Operations(*(sum(column) for column in zip(*parts, strict=True)))


def count_model(model: ExplicitModel) -> Counts:
    """Count the arithmetic operations of an explicit model in three ways.

    `model`: full or abbreviated model. Returns operations of each part. Sines, cosines, changes of sign and
    the computation of the constants are not counted. Elements that are multiples of another count in
    `torque`.
    """
    expanded, nested = dict.fromkeys(KINDS.values(), NOTHING), dict.fromkeys(KINDS.values(), NOTHING)
    for entry in model.elements:
        kind, terms = KINDS[len(entry)], code_terms(model, entry)
        if terms:
            expanded[kind] = _sum(expanded[kind], printed_operations(model.geometry.ring, terms))
            written = factor_terms(signed_products(model.geometry.ring, terms))
            nested[kind] = _sum(nested[kind], written.operations)
    shared = {
        kind: count_lines(model, [entry for entry in model.elements if len(entry) == order])
        for order, kind in KINDS.items()
    }
    shared["all"] = count_lines(model, list(model.elements))
    return Counts(expanded, nested, shared, _count_text(line.text for line in torque_lines(model)))


def count_lines(model: ExplicitModel, places: Sequence[ElementIndex]) -> Operations:
    """Count the operations of the code of some elements by running it on counting numbers.

    `model`: model that the elements belong to. Returns operations after common-subexpression elimination
    among these elements.
    """
    return _count_text(line.text for line in configuration_lines(model, places))


def equations(model: ExplicitModel) -> list[str]:
    """Write a model's equations as text in the paper's notation.

    `model`: full or abbreviated model. Returns one equation for each element, such as `a22 = Im2 + I1 + 2 I5
    S3 + …`; elements that are multiples of others come last.
    """
    lines = []
    for entry, terms in model.elements.items():
        text = factor_terms(signed_products(model.geometry.ring, terms)).text if terms else ""
        if len(entry) == 2 and entry[0] == entry[1]:
            motor = f"{MOTOR}{entry[0]}"
            text = motor + (f" - {text[1:]}" if text.startswith("-") else f" + {text}" if text else "")
        lines.append(f"{element_name(entry)} = {_in_paper(text)}")
    for entry, (owner, factor) in model.places.items():
        if owner != entry:
            times = {"1": "", "-1": "-"}.get(str(factor), f"{factor} ")
            lines.append(f"{element_name(entry)} = {times}{element_name(owner)}")
    return lines


def _in_paper(text: str) -> str:
    """Write I5x2 as 2 I5, and products without a sign."""
    text = re.sub(r"\b([Ig]\d+)x(\d+)_(\d+)\b", r"\2/\3 \1", text)
    return re.sub(r"\b([Ig]\d+)x(\d+)\b", r"\2 \1", text).replace(" * ", " ")


def _count_text(lines: Iterable[str]) -> Operations:
    """Count the operations of assignments' texts, evaluated with a counting number for every name."""
    codes = [compile(re.sub(r"\[(\d+)\]", r"\1", text), "<element>", "eval") for text in lines]
    names = sorted({name for code in codes for name in code.co_names})

    def run(values: Sequence[object]) -> None:
        known = dict(zip(names, values, strict=True))
        for code in codes:
            eval(code, {}, known)

    return count_operations(run, len(names))


def _sum(first: Operations, second: Operations) -> Operations:
    return Operations(first.multiplications + second.multiplications, first.additions + second.additions)
