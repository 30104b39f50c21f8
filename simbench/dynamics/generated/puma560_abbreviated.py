"""Explicit dynamic model of puma560, abbreviated: terms of less than 1 % left out.

Written by scripts/tools/derive_explicit_models.py: change that, not this. Angles are those of the table, rad;
S23 is sin(θ2 + θ3), SS4 the square of S4, SC4 its product with C4. `a`, `b`, `c` are elements of A, B and
C by row and column, of the velocity products i, j in B; `w` of g.
"""

from typing import Any

from numpy import cos, sin

STRUCTURE = (
    "DhRow revolute 0 0 0",
    "DhRow revolute -1.57079633 0 0",
    "DhRow revolute 0 0 0",
    "DhRow revolute 1.57079633 0 0",
    "DhRow revolute -1.57079633 0 0",
    "DhRow revolute 1.57079633 0 0",
    "gravity 0 0 -1",
)
"""Joints and gravity of the arms that have this model."""
PARAMETERS = (
    "d1", "d2", "a2", "d3", "a3", "d4", "m1", "y1", "z1", "Ixx1", "Iyy1", "Izz1", "m2", "x2", "y2", "z2",
    "Ixx2", "Iyy2", "Izz2", "m3", "y3", "z3", "Ixx3", "Iyy3", "Izz3", "m4", "z4", "Ixx4", "Iyy4", "Izz4",
    "m5", "Ixx5", "Iyy5", "Izz5", "m6", "z6", "Ixx6", "Izz6", "g",
)
"""What is not zero in them."""
MOTORS = (
    "Im1", "Im2", "Im3", "Im4", "Im5", "Im6",
)
LUMPED = (
    "I1", "I2", "I3", "I4", "I5", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "I17",
    "I18", "I20", "I22", "g1", "g2", "g3", "g4", "g5", "I23", "I24", "I25", "I26",
)
CONSTANTS = (
    "I2", "I5x2", "I7", "J1", "I9", "I4", "I8", "I13", "J2", "I10", "I5", "I23", "J3", "I15", "J4", "J5",
    "J6", "I12x4", "I2x2", "I10x2", "I7x2", "I11x4", "I11x2", "I13x2", "I8x2", "I15x2", "I24", "I16", "I18",
    "I16x2", "I20x2", "I25", "I26", "g1", "g3", "g2", "g4", "g5",
)
ELEMENTS = (
    "a11", "a12", "a13", "a22", "a23", "a33", "a34", "a35", "a44", "a55", "a66", "b112", "b113", "c12",
    "b123", "b223", "b314", "b315", "b325", "c34", "b345", "c41", "b412", "b413", "b415", "c42", "b423",
    "b425", "b445", "c51", "b512", "b513", "c52", "b523", "w2", "w3", "w4", "w5",
)
"""What `configuration` returns."""
TRIGONOMETRY = (((1,), 0.0), ((1, 2), 0.0), ((2,), 0.0), ((3,), 0.0), ((4,), 0.0),)
"""Joints, 0 being the first, of whose angles it is the sum, and what is added, rad."""
SLIDES = ()
PLACES = {
    (1, 1): (0, 1.0), (1, 2): (1, 1.0), (1, 3): (2, 1.0), (2, 2): (3, 1.0), (2, 3): (4, 1.0), (3, 3): (5,
    1.0), (3, 4): (6, 1.0), (3, 5): (7, 1.0), (4, 4): (8, 1.0), (5, 5): (9, 1.0), (6, 6): (10, 1.0), (2,):
    (34, 1.0), (3,): (35, 1.0), (4,): (36, 1.0), (5,): (37, 1.0), (1, 1, 2): (11, 1.0), (1, 1, 3): (12,
    1.0), (1, 2, 2): (13, 1.0), (1, 2, 3): (14, 1.0), (1, 3, 3): (14, 0.5), (2, 1, 1): (11, -0.5), (2, 2,
    3): (15, 1.0), (2, 3, 3): (15, 0.5), (3, 1, 1): (12, -0.5), (3, 1, 4): (16, 1.0), (3, 1, 5): (17, 1.0),
    (3, 2, 2): (15, -0.5), (3, 2, 5): (18, 1.0), (3, 3, 5): (18, 1.0), (3, 4, 4): (19, 1.0), (3, 4, 5): (20,
    1.0), (3, 5, 5): (19, 1.0), (4, 1, 1): (21, 1.0), (4, 1, 2): (22, 1.0), (4, 1, 3): (23, 1.0), (4, 1, 5):
    (24, 1.0), (4, 2, 2): (25, 1.0), (4, 2, 3): (26, 1.0), (4, 2, 5): (27, 1.0), (4, 3, 5): (27, 1.0), (4,
    4, 5): (28, 1.0), (5, 1, 1): (29, 1.0), (5, 1, 2): (30, 1.0), (5, 1, 3): (31, 1.0), (5, 1, 4): (24,
    -1.0), (5, 2, 2): (32, 1.0), (5, 2, 3): (33, 1.0), (5, 2, 4): (27, -1.0), (5, 3, 3): (18, -0.5), (5, 3,
    4): (27, -1.0)
}
"""Place in A (i, j), in B and C (k, i, j) or in g (i), 1 being the first: index in ELEMENTS, times what."""


def lumped_constants(p: dict[str, float]) -> dict[str, float]:
    """Lumped inertia and gravity constants, kg·m² and N·m, of the arm's parameters by name."""
    d2 = p["d2"]
    a2 = p["a2"]
    d3 = p["d3"]
    a3 = p["a3"]
    d4 = p["d4"]
    m1 = p["m1"]
    y1 = p["y1"]
    Izz1 = p["Izz1"]
    m2 = p["m2"]
    x2 = p["x2"]
    y2 = p["y2"]
    z2 = p["z2"]
    Ixx2 = p["Ixx2"]
    Iyy2 = p["Iyy2"]
    Izz2 = p["Izz2"]
    m3 = p["m3"]
    y3 = p["y3"]
    z3 = p["z3"]
    Ixx3 = p["Ixx3"]
    Iyy3 = p["Iyy3"]
    Izz3 = p["Izz3"]
    m4 = p["m4"]
    z4 = p["z4"]
    Ixx4 = p["Ixx4"]
    Iyy4 = p["Iyy4"]
    Izz4 = p["Izz4"]
    m5 = p["m5"]
    Ixx5 = p["Ixx5"]
    Iyy5 = p["Iyy5"]
    Izz5 = p["Izz5"]
    m6 = p["m6"]
    z6 = p["z6"]
    Ixx6 = p["Ixx6"]
    Izz6 = p["Izz6"]
    g = p["g"]
    return {
        "I1": (
            Ixx6 + Iyy4 + Izz2 + Izz3 + Izz5 + a2**2*m3 + a2**2*m4 + a2**2*m5 + a2**2*m6 + a3**2*m4 +
            a3**2*m5 + a3**2*m6 + d4**2*m4 + d4**2*m5 + d4**2*m6 + 2*d4*m4*z4 + m2*x2**2 + m2*y2**2 +
            m3*y3**2 + m4*z4**2 + m6*z6**2
        ),
        "I2": -Ixx2 + Iyy2 + a2**2*m3 + a2**2*m4 + a2**2*m5 + a2**2*m6 + m2*x2**2 - m2*y2**2,
        "I3": (
            Ixx2 + Ixx5 + Ixx6 + Iyy3 + Izz1 + Izz4 + a3**2*m4 + a3**2*m5 + a3**2*m6 + d2**2*m2 + d2**2*m3 +
            d2**2*m4 + d2**2*m5 + d2**2*m6 + 2*d2*d3*m3 + 2*d2*d3*m4 + 2*d2*d3*m5 + 2*d2*d3*m6 + 2*d2*m2*z2
            + 2*d2*m3*z3 + d3**2*m3 + d3**2*m4 + d3**2*m5 + d3**2*m6 + 2*d3*m3*z3 + m1*y1**2 + m2*y2**2 +
            m2*z2**2 + m3*z3**2 + m6*z6**2
        ),
        "I4": (
            a2*d2*m3 + a2*d2*m4 + a2*d2*m5 + a2*d2*m6 + a2*d3*m3 + a2*d3*m4 + a2*d3*m5 + a2*d3*m6 + a2*m3*z3
            + d2*m2*x2 + m2*x2*z2
        ),
        "I5": a2*d4*m4 + a2*d4*m5 + a2*d4*m6 - a2*m3*y3 + a2*m4*z4,
        "I7": (
            -Ixx3 + Ixx5 + Iyy3 - Iyy4 + Izz4 - Izz5 + a3**2*m4 + a3**2*m5 + a3**2*m6 - d4**2*m4 - d4**2*m5
            - d4**2*m6 - 2*d4*m4*z4 - m3*y3**2 - m4*z4**2
        ),
        "I8": (
            d2*d4*m4 + d2*d4*m5 + d2*d4*m6 - d2*m3*y3 + d2*m4*z4 + d3*d4*m4 + d3*d4*m5 + d3*d4*m6 - d3*m3*y3
            + d3*m4*z4 - m3*y3*z3
        ),
        "I9": d2*m2*y2 + m2*y2*z2,
        "I10": a2*a3*m4 + a2*a3*m5 + a2*a3*m6,
        "I11": a3*d4*m4 + a3*d4*m5 + a3*d4*m6 + a3*m4*z4,
        "I12": m2*x2*y2,
        "I13": a3*d2*m4 + a3*d2*m5 + a3*d2*m6 + a3*d3*m4 + a3*d3*m5 + a3*d3*m6,
        "I14": Ixx5 + Ixx6 + Izz4 + m6*z6**2,
        "I15": d4*m6*z6,
        "I16": a2*m6*z6,
        "I17": Ixx6 + Izz5 + m6*z6**2,
        "I18": d2*m6*z6 + d3*m6*z6,
        "I20": Ixx5 + Ixx6 - Iyy5 - Izz6 + m6*z6**2,
        "I22": Izz6,
        "g1": a2*g*m3 + a2*g*m4 + a2*g*m5 + a2*g*m6 + g*m2*x2,
        "g2": d4*g*m4 + d4*g*m5 + d4*g*m6 - g*m3*y3 + g*m4*z4,
        "g3": g*m2*y2,
        "g4": a3*g*m4 + a3*g*m5 + a3*g*m6,
        "g5": g*m6*z6,
        "I23": (
            Ixx4 + Iyy5 + Izz3 + Izz6 + a3**2*m4 + a3**2*m5 + a3**2*m6 + d4**2*m4 + d4**2*m5 + d4**2*m6 +
            2*d4*m4*z4 + m3*y3**2 + m4*z4**2
        ),
        "I24": Ixx4 + Ixx5 - Iyy4 + Iyy5 + Izz4 - Izz5 + Izz6,
        "I25": Ixx5 + 2*Ixx6 - Iyy5 + Izz5 - Izz6 + 2*m6*z6**2,
        "I26": Ixx5 - Iyy5 - Izz5 - Izz6,
    }


def constants(p: dict[str, float]) -> tuple[float, ...]:
    """Numbers that `configuration` takes, of lumped constants and the motors' inertia by name."""
    return (
        p["I2"],
        2.0 * p["I5"],
        p["I7"],
        p["Im1"] + p["I3"],
        p["I9"],
        p["I4"],
        p["I8"],
        p["I13"],
        p["Im2"] + p["I1"],
        p["I10"],
        p["I5"],
        p["I23"],
        p["Im3"] + p["I23"],
        p["I15"],
        p["Im4"] + p["I14"],
        p["Im5"] + p["I17"],
        p["Im6"] + p["I22"],
        4.0 * p["I12"],
        2.0 * p["I2"],
        2.0 * p["I10"],
        2.0 * p["I7"],
        4.0 * p["I11"],
        2.0 * p["I11"],
        2.0 * p["I13"],
        2.0 * p["I8"],
        2.0 * p["I15"],
        p["I24"],
        p["I16"],
        p["I18"],
        2.0 * p["I16"],
        2.0 * p["I20"],
        p["I25"],
        p["I26"],
        p["g1"],
        p["g3"],
        p["g2"],
        p["g4"],
        p["g5"],
    )


def trigonometry(q: Any) -> Any:
    """Sines and cosines of the angles q, in the order of TRIGONOMETRY, then how far joints have slid."""
    S2 = sin(q[1])
    C2 = cos(q[1])
    S23 = sin(q[1] + q[2])
    C23 = cos(q[1] + q[2])
    S3 = sin(q[2])
    C3 = cos(q[2])
    S4 = sin(q[3])
    C4 = cos(q[3])
    S5 = sin(q[4])
    C5 = cos(q[4])
    return (S2, C2, S23, C23, S3, C3, S4, C4, S5, C5,)


def configuration(k: Any, s: Any) -> Any:
    """Elements of A, B, C and g that are not zero, as ELEMENTS: of `constants` and `trigonometry`."""
    I2 = k[0]
    I5x2 = k[1]
    I7 = k[2]
    J1 = k[3]
    I9 = k[4]
    I4 = k[5]
    I8 = k[6]
    I13 = k[7]
    J2 = k[8]
    I10 = k[9]
    I5 = k[10]
    I23 = k[11]
    J3 = k[12]
    I15 = k[13]
    J4 = k[14]
    J5 = k[15]
    J6 = k[16]
    I12x4 = k[17]
    I2x2 = k[18]
    I10x2 = k[19]
    I7x2 = k[20]
    I11x4 = k[21]
    I11x2 = k[22]
    I13x2 = k[23]
    I8x2 = k[24]
    I15x2 = k[25]
    I24 = k[26]
    I16 = k[27]
    I18 = k[28]
    I16x2 = k[29]
    I20x2 = k[30]
    I25 = k[31]
    I26 = k[32]
    g1 = k[33]
    g3 = k[34]
    g2 = k[35]
    g4 = k[36]
    g5 = k[37]
    S2 = s[0]
    C2 = s[1]
    S23 = s[2]
    C23 = s[3]
    S3 = s[4]
    C3 = s[5]
    S4 = s[6]
    C4 = s[7]
    S5 = s[8]
    C5 = s[9]
    CC2 = C2 * C2
    SC2 = S2 * C2
    SS23 = S23 * S23
    CC23 = C23 * C23
    SC23 = S23 * C23
    SS4 = S4 * S4
    CC4 = C4 * C4
    SC4 = S4 * C4
    SS5 = S5 * S5
    CC5 = C5 * C5
    SC5 = S5 * C5
    x0 = C23*I8
    x1 = I15*S5
    x2 = S4*x1
    x3 = C4*C5
    x4 = I15*x3
    x5 = -C2*C23*I5x2 + C2*I10x2*S23 + I7x2*SC23
    x6 = I24*S23
    x7 = I15x2*S5
    x8 = C23*C4*x7
    x9 = -x6 + x8
    x10 = C5*S4
    x11 = I15x2*x10
    x12 = C23*x11
    x13 = C4*S5
    x14 = C23*S4
    x15 = I16*S5
    x16 = I16x2*S2
    x17 = I20x2*SS5
    x18 = CC4*S23*x17
    x19 = I20x2*SC5
    x20 = C23*x19
    x21 = C4*S23
    x22 = CC5*I20x2
    x23 = S4*x22
    x24 = I16*x3
    x25 = C23*x23 - I26*x14 + x12
    x26 = S23*g2
    x27 = S5*g5
    a11 = C2*I5x2*S23 + CC2*I2 - I7*SS23 + J1
    a12 = C2*I9 + I4*S2 - x0
    a13 = I13*S23 - x0
    a22 = I5x2*S3 + J2
    a23 = C3*I10 + I23 + I5*S3
    a33 = J3
    a34 = -x2
    a35 = x4
    a44 = J4
    a55 = J5
    a66 = J6
    b112 = -C23*I10x2*S2 - CC2*I12x4 - I11x4*SS23 - I2x2*SC2 - I5x2*S2*S23 - x5
    b113 = CC23*I11x4 - I11x2 - x5
    c12 = C2*I4 + I8*S23 - I9*S2
    b123 = C23*I13x2 + I8x2*S23
    b223 = C3*I5x2 - I10x2*S3
    b314 = -x9
    b315 = -x12
    b325 = -x7
    c34 = -C4*x1
    b345 = -x11
    c41 = C2*x14*x15 - I18*x13 + SC23*x2
    b412 = C23*C4*I20x2*SC5 - x13*x16 - x18 - x6 + x8
    b413 = C4*x20 - x18 + x9
    b415 = -I25*x21 + x20 + x21*x22
    c42 = C3*S4*x15
    b423 = SC4*x17
    b425 = I25*S4 - x23
    b445 = x19
    c51 = -C2*C23*x24 + C2*I16*S23*S5 - C4*SC23*x22 + I15*S5*SS23 - I18*x10 - SC23*x4
    b512 = -x10*x16 + x25
    b513 = x25
    c52 = -C3*x24 + S3*x15 + x1
    b523 = SS4*x19 + x7
    w2 = -C2*g1 + S2*g3 - x26
    w3 = -C23*g4 - x26
    w4 = S23*S4*x27
    w5 = -C23*x27 - S23*g5*x3
    return (
        a11, a12, a13, a22, a23, a33, a34, a35, a44, a55, a66, b112, b113, c12, b123, b223, b314, b315,
        b325, c34, b345, c41, b412, b413, b415, c42, b423, b425, b445, c51, b512, b513, c52, b523, w2, w3,
        w4, w5,
    )


def torque(e: Any, v: Any, a: Any) -> Any:
    """Joint torques A a + B [v v] + C [v²] + g of speeds and accelerations, with e of `configuration`."""
    a11 = e[0]
    a12 = e[1]
    a13 = e[2]
    a22 = e[3]
    a23 = e[4]
    a33 = e[5]
    a34 = e[6]
    a35 = e[7]
    a44 = e[8]
    a55 = e[9]
    a66 = e[10]
    b112 = e[11]
    b113 = e[12]
    c12 = e[13]
    b123 = e[14]
    b223 = e[15]
    b314 = e[16]
    b315 = e[17]
    b325 = e[18]
    c34 = e[19]
    b345 = e[20]
    c41 = e[21]
    b412 = e[22]
    b413 = e[23]
    b415 = e[24]
    c42 = e[25]
    b423 = e[26]
    b425 = e[27]
    b445 = e[28]
    c51 = e[29]
    b512 = e[30]
    b513 = e[31]
    c52 = e[32]
    b523 = e[33]
    w2 = e[34]
    w3 = e[35]
    w4 = e[36]
    w5 = e[37]
    v12 = v[0] * v[1]
    v13 = v[0] * v[2]
    v22 = v[1] * v[1]
    v23 = v[1] * v[2]
    c13 = 0.5 * b123
    v33 = v[2] * v[2]
    c21 = -0.5 * b112
    v11 = v[0] * v[0]
    c23 = 0.5 * b223
    c31 = -0.5 * b113
    v14 = v[0] * v[3]
    v15 = v[0] * v[4]
    v25 = v[1] * v[4]
    v35 = v[2] * v[4]
    v44 = v[3] * v[3]
    v45 = v[3] * v[4]
    v55 = v[4] * v[4]
    v24 = v[1] * v[3]
    c53 = -0.5 * b325
    v34 = v[2] * v[3]
    t1 = a11 * a[0] + a12 * a[1] + a13 * a[2] + b112 * v12 + b113 * v13 + c12 * v22 + b123 * v23 + c13 * v33
    t2 = a12 * a[0] + a22 * a[1] + a23 * a[2] + w2 + c21 * v11 + b223 * v23 + c23 * v33
    t3 = (
        a13 * a[0] + a23 * a[1] + a33 * a[2] + a34 * a[3] + a35 * a[4] + w3 + c31 * v11 + b314 * v14 + b315
        * v15 - c23 * v22 + b325 * v25 + b325 * v35 + c34 * v44 + b345 * v45 + c34 * v55
    )
    t4 = (
        a34 * a[2] + a44 * a[3] + w4 + c41 * v11 + b412 * v12 + b413 * v13 + b415 * v15 + c42 * v22 + b423 *
        v23 + b425 * v25 + b425 * v35 + b445 * v45
    )
    t5 = (
        a35 * a[2] + a55 * a[4] + w5 + c51 * v11 + b512 * v12 + b513 * v13 - b415 * v14 + c52 * v22 + b523 *
        v23 - b425 * v24 + c53 * v33 - b425 * v34
    )
    t6 = a66 * a[5]
    return t1, t2, t3, t4, t5, t6
