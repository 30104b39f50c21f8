"""The lumped constants of the paper's appendix: expression in the parameters, value and tolerance.

x, y, z are the centres of mass in the links' frames (the paper's r), Ixx and so on about them; a2 is the
length between joints 2 and 3. Values and tolerances in kg·m² and N·m, as printed.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from armstrong_derivation import ExplicitModel
from armstrong_ring import FACTORS, Polynomial, evaluate_polynomial
from armstrong_tolerances import tolerances_of
from rich.table import Table

from simbench.dynamics.arm import Arm
from simbench.dynamics.explicit_model import ArmSymbols

WRIST = "(m4 + m5 + m6)"
OUTER = "(m3 + m4 + m5 + m6)"
CONSTANTS = {
    "I1": (
        f"Izz1 + m1*y1**2 + m2*d2**2 + {WRIST}*a3**2 + m2*z2**2 + {OUTER}*(d2 + d3)**2 + Ixx2 + Iyy3"
        " + 2*m2*d2*z2 + m2*y2**2 + m3*z3**2 + 2*m3*(d2 + d3)*z3 + Izz4 + Iyy5 + Izz6",
        1.43,
        0.05,
    ),
    "I2": (f"Izz2 + m2*(x2**2 + y2**2) + {OUTER}*a2**2", 1.75, 0.07),
    "I3": (f"-Ixx2 + Iyy2 + {OUTER}*a2**2 + m2*x2**2 - m2*y2**2", 1.38, 0.05),
    "I4": (f"m2*x2*(d2 + z2) + m3*a2*z3 + {OUTER}*a2*(d2 + d3)", 0.690, 0.020),
    "I5": (f"-m3*a2*y3 + {WRIST}*a2*d4 + m4*a2*z4", 0.372, 0.031),
    "I6": (
        f"Izz3 + m3*y3**2 + {WRIST}*a3**2 + m4*(d4 + z4)**2 + Iyy4 + m5*d4**2 + Izz5 + m6*d4**2 + m6*z6**2"
        " + Ixx6",
        0.333,
        0.016,
    ),
    "I7": (
        f"m3*y3**2 + Ixx3 - Iyy3 + m4*z4**2 + 2*m4*d4*z4 + {WRIST}*(d4**2 - a3**2) + Iyy4 - Izz4 + Izz5"
        " - Iyy5 + m6*z6**2 - Izz6 + Ixx6",
        0.298,
        0.029,
    ),
    "I8": ("-m4*(d2 + d3)*(d4 + z4) - (m5 + m6)*(d2 + d3)*d4 + m3*y3*z3 + m3*(d2 + d3)*y3", -0.134, 0.014),
    "I9": ("m2*y2*(d2 + z2)", 0.0238, 0.0120),
    "I10": (f"2*m4*a3*z4 + 2*{WRIST}*a3*d4", -0.0213, 0.0022),
    "I11": ("-2*m2*x2*y2", -0.0142, 0.0070),
    "I12": (f"{WRIST}*a2*a3", -0.0110, 0.0011),
    "I13": (f"{WRIST}*a3*(d2 + d3)", -0.00379, 0.00090),
    "I14": ("Izz4 + Iyy5 + Izz6", 0.00164, 0.00007),
    "I15": ("m6*d4*z6", 0.00125, 0.00030),
    "I16": ("m6*a2*z6", 0.00124, 0.00030),
    "I17": ("Izz5 + Ixx6 + m6*z6**2", 0.000642, 0.000300),
    "I18": ("m6*(d2 + d3)*z6", 0.000431, 0.000130),
    "I19": ("Iyy4 - Ixx4 + Izz5 - Iyy5 + m6*z6**2 + Ixx6 - Izz6", 0.000300, 0.001400),
    "I20": ("Iyy5 - Ixx5 - m6*z6**2 + Izz6 - Ixx6", -0.000202, 0.000800),
    "I21": ("Ixx4 - Iyy4 + Ixx5 - Izz5", -0.000100, 0.000600),
    "I22": ("m6*a3*z6", -0.0000580, 0.0000150),
    "I23": ("Izz6", 0.0000400, 0.0000200),
    "g1": (f"-g*({OUTER}*a2 + m2*x2)", -37.2, 0.5),
    "g2": (f"g*(m3*y3 - {WRIST}*d4 - m4*z4)", -8.44, 0.20),
    "g3": ("g*m2*y2", 1.02, 0.50),
    "g4": (f"-g*{WRIST}*a3", 0.249, 0.025),
    "g5": ("-g*m6*z6", -0.0282, 0.0056),
}


def appendix_tables(full: ExplicitModel, arm: Arm) -> tuple[Table, Table]:
    """Compare the appendix's constants and tolerances with ours, and match them with ours."""
    theirs = {name: _polynomial(full, text) for name, (text, _, _) in CONSTANTS.items()}
    spread = tolerances_of(theirs, arm)
    first = Table(title="The appendix's constants from tables 4-6, kg·m² and N·m")
    for heading in ("", "printed", "±", "%", "computed", "±", "%"):
        first.add_column(heading, justify="right" if heading else "left")
    values = ArmSymbols(arm).values
    for name, (_, value, tolerance) in CONSTANTS.items():
        own = evaluate_polynomial(theirs[name], values)
        first.add_row(name, *_cells(value, tolerance), *_cells(own, spread[name]))
    second = Table("ours", "value", "±", "of the appendix's", title="Lumped constants, kg·m² and N·m")
    known = tolerances_of(full.constants, arm)
    for name, constant in full.constants.items():
        made = _made_of(constant, theirs) or "-"
        second.add_row(name, f"{evaluate_polynomial(constant, values):.4g}", f"{known[name]:.2g}", made)
    return first, second


def dependent_constants(full: ExplicitModel) -> list[str]:
    """List those of the appendix's constants that are sums of others."""
    theirs = {name: _polynomial(full, text) for name, (text, _, _) in CONSTANTS.items()}
    found = []
    for name, constant in theirs.items():
        others = {other: each for other, each in theirs.items() if other > name}
        made = _made_of(constant, others)
        found += [f"{name} = {made}"] if made else []
    return found


def _polynomial(full: ExplicitModel, text: str) -> Polynomial:
    """Parse a sum of products into the ring of the arm's parameters, without those that are zero."""
    ring = full.geometry.ring.constants
    names = {str(symbol): gen for symbol, gen in zip(ring.symbols, ring.gens, strict=True)}
    missing = {name: 0 for name in ("y1", "m1") if name not in names}
    return ring(eval(text, {"__builtins__": {}}, names | missing))


def _made_of(constant: Polynomial, others: Mapping[str, Polynomial]) -> str:
    """Write a constant as a sum of at most three others; empty if it is none."""
    domain = constant.ring.domain
    multiples = {
        other * domain(factor.numerator, factor.denominator): (factor, name)
        for name, other in others.items()
        for factor in FACTORS
    }
    for count in (1, 2, 3):
        for first in combinations(multiples, count - 1):
            rest = constant
            for each in first:
                rest = rest - each
            if rest in multiples:
                parts = [multiples[each] for each in (*first, rest)]
                return " ".join(_times(*part) for part in parts).removeprefix("+ ")
    return ""


def _times(factor: Fraction, name: str) -> str:
    size = "" if abs(factor) == 1 else f"{abs(factor)} "
    return f"{'-' if factor < 0 else '+'} {size}{name}"


def _cells(value: float, tolerance: float) -> tuple[str, str, str]:
    return f"{value:.4g}", f"{tolerance:.2g}", f"{100 * tolerance / abs(value):.0f}"
