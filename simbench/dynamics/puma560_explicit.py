"""Explicit dynamic models of puma560, in full and without terms of less than 1 %.

Written by scripts/reproduce/armstrong1986/derive_explicit_models.py: change that, not this. Angles are those
of the table, rad; S23 is sin(θ2 + θ3), SS4 the square of S4, SC4 its product with C4. `a`, `b`, `c` are
elements of A, B and C by row and column, of the velocity products i, j in B; `w` of g.
"""

from typing import Any

from numpy import cos, sin


class Puma560Full:
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
        "d1", "d2", "a2", "d3", "a3", "d4", "m1", "y1", "z1", "Ixx1", "Iyy1", "Izz1", "m2", "x2", "y2",
        "z2", "Ixx2", "Iyy2", "Izz2", "m3", "y3", "z3", "Ixx3", "Iyy3", "Izz3", "m4", "z4", "Ixx4", "Iyy4",
        "Izz4", "m5", "Ixx5", "Iyy5", "Izz5", "m6", "z6", "Ixx6", "Izz6", "g",
    )
    """What is not zero in them."""
    ELEMENTS: tuple[str, ...] = (
        "a11", "a12", "a13", "a14", "a15", "a16", "a22", "a23", "a24", "a25", "a26", "a33", "a34", "a35",
        "a36", "a44", "a46", "a55", "a66", "b112", "b113", "b114", "b115", "c12", "b123", "b124", "b125",
        "b126", "c14", "b145", "b146", "c15", "b156", "b214", "b215", "b223", "b224", "b225", "c24", "b245",
        "b246", "c25", "b256", "b314", "b315", "b324", "b325", "c34", "b345", "c35", "b415", "b425", "b445",
        "b456", "w2", "w3", "w4", "w5",
    )
    """What `configuration` returns."""

    @staticmethod
    def constants(p: dict[str, float]) -> tuple[float, ...]:
        """Numbers that `configuration` takes, of the arm's parameters and its motors' inertia by name."""
        d2, a2, d3, a3, d4, m1, y1 = p["d2"], p["a2"], p["d3"], p["a3"], p["d4"], p["m1"], p["y1"]
        Izz1, m2, x2, y2, z2, Ixx2 = p["Izz1"], p["m2"], p["x2"], p["y2"], p["z2"], p["Ixx2"]
        Iyy2, Izz2, m3, y3, z3, Ixx3 = p["Iyy2"], p["Izz2"], p["m3"], p["y3"], p["z3"], p["Ixx3"]
        Iyy3, Izz3, m4, z4, Ixx4, Iyy4 = p["Iyy3"], p["Izz3"], p["m4"], p["z4"], p["Ixx4"], p["Iyy4"]
        Izz4, m5, Ixx5, Iyy5, Izz5, m6 = p["Izz4"], p["m5"], p["Ixx5"], p["Iyy5"], p["Izz5"], p["m6"]
        z6, Ixx6, Izz6, g, Im1, Im2 = p["z6"], p["Ixx6"], p["Izz6"], p["g"], p["Im1"], p["Im2"]
        Im3, Im4, Im5, Im6 = p["Im3"], p["Im4"], p["Im5"], p["Im6"]
        I1 = (
            Ixx6 + Iyy4 + Izz2 + Izz3 + Izz5 + a2**2*m3 + a2**2*m4 + a2**2*m5 + a2**2*m6 + a3**2*m4 +
            a3**2*m5 + a3**2*m6 + d4**2*m4 + d4**2*m5 + d4**2*m6 + 2*d4*m4*z4 + m2*x2**2 + m2*y2**2 +
            m3*y3**2 + m4*z4**2 + m6*z6**2
        )
        I2 = -Ixx2 + Iyy2 + a2**2*m3 + a2**2*m4 + a2**2*m5 + a2**2*m6 + m2*x2**2 - m2*y2**2
        I3 = (
            Ixx2 + Ixx5 + Ixx6 + Iyy3 + Izz1 + Izz4 + a3**2*m4 + a3**2*m5 + a3**2*m6 + d2**2*m2 + d2**2*m3 +
            d2**2*m4 + d2**2*m5 + d2**2*m6 + 2*d2*d3*m3 + 2*d2*d3*m4 + 2*d2*d3*m5 + 2*d2*d3*m6 + 2*d2*m2*z2
            + 2*d2*m3*z3 + d3**2*m3 + d3**2*m4 + d3**2*m5 + d3**2*m6 + 2*d3*m3*z3 + m1*y1**2 + m2*y2**2 +
            m2*z2**2 + m3*z3**2 + m6*z6**2
        )
        I4 = (
            a2*d2*m3 + a2*d2*m4 + a2*d2*m5 + a2*d2*m6 + a2*d3*m3 + a2*d3*m4 + a2*d3*m5 + a2*d3*m6 + a2*m3*z3
            + d2*m2*x2 + m2*x2*z2
        )
        I5 = a2*d4*m4 + a2*d4*m5 + a2*d4*m6 - a2*m3*y3 + a2*m4*z4
        I6 = (
            Ixx6 + Iyy4 + Izz3 + Izz5 + a3**2*m4 + a3**2*m5 + a3**2*m6 + d4**2*m4 + d4**2*m5 + d4**2*m6 +
            2*d4*m4*z4 + m3*y3**2 + m4*z4**2 + m6*z6**2
        )
        I7 = (
            -Ixx3 + Ixx5 + Iyy3 - Iyy4 + Izz4 - Izz5 + a3**2*m4 + a3**2*m5 + a3**2*m6 - d4**2*m4 - d4**2*m5
            - d4**2*m6 - 2*d4*m4*z4 - m3*y3**2 - m4*z4**2
        )
        I8 = (
            d2*d4*m4 + d2*d4*m5 + d2*d4*m6 - d2*m3*y3 + d2*m4*z4 + d3*d4*m4 + d3*d4*m5 + d3*d4*m6 - d3*m3*y3
            + d3*m4*z4 - m3*y3*z3
        )
        I9 = d2*m2*y2 + m2*y2*z2
        I10 = a2*a3*m4 + a2*a3*m5 + a2*a3*m6
        I11 = a3*d4*m4 + a3*d4*m5 + a3*d4*m6 + a3*m4*z4
        I12 = m2*x2*y2
        I13 = a3*d2*m4 + a3*d2*m5 + a3*d2*m6 + a3*d3*m4 + a3*d3*m5 + a3*d3*m6
        I14 = Ixx5 + Ixx6 + Izz4 + m6*z6**2
        I15 = d4*m6*z6
        I16 = a2*m6*z6
        I17 = Ixx6 + Izz5 + m6*z6**2
        I18 = d2*m6*z6 + d3*m6*z6
        I19 = Ixx4 - Ixx6 - Iyy4 + Iyy5 - Izz5 + Izz6 - m6*z6**2
        I20 = Ixx5 + Ixx6 - Iyy5 - Izz6 + m6*z6**2
        I21 = a3*m6*z6
        I22 = Izz6
        g1 = a2*g*m3 + a2*g*m4 + a2*g*m5 + a2*g*m6 + g*m2*x2
        g2 = d4*g*m4 + d4*g*m5 + d4*g*m6 - g*m3*y3 + g*m4*z4
        g3 = g*m2*y2
        g4 = a3*g*m4 + a3*g*m5 + a3*g*m6
        g5 = g*m6*z6
        I23 = (
            Ixx4 + Iyy5 + Izz3 + Izz6 + a3**2*m4 + a3**2*m5 + a3**2*m6 + d4**2*m4 + d4**2*m5 + d4**2*m6 +
            2*d4*m4*z4 + m3*y3**2 + m4*z4**2
        )
        I24 = Ixx4 + Ixx5 - Iyy4 + Iyy5 + Izz4 - Izz5 + Izz6
        I25 = Ixx5 + 2*Ixx6 - Iyy5 + Izz5 - Izz6 + 2*m6*z6**2
        I26 = Ixx5 - Iyy5 - Izz5 - Izz6
        return (
            I2, 2.0 * I12, 2.0 * I16, 2.0 * I10, 2.0 * I5, 2.0 * I20, 2.0 * I15, 2.0 * I21, 2.0 * I11, I20,
            I19, I7, 2.0 * I18, Im1 + I3, I9, I16, I4, I15, I18, I8, I21, I13, I14, I17, I22, Im2 + I1, I10,
            I5, I6, Im3 + I6, Im4 + I14, Im5 + I17, Im6 + I22, 4.0 * I12, 2.0 * I2, 4.0 * I20, 4.0 * I15,
            4.0 * I21, 4.0 * I11, 2.0 * I19, 2.0 * I7, 2.0 * I13, 2.0 * I8, g1, g3, g5, g4, g2, I23, Im3 +
            I23, I24, I25, I26,
        )

    @staticmethod
    def trigonometry(q: Any) -> Any:
        """Sines and cosines of the angles q, then how far joints have slid."""
        S2, C2, S23, C23, S3 = sin(q[1]), cos(q[1]), sin(q[1] + q[2]), cos(q[1] + q[2]), sin(q[2])
        C3, S4, C4, S5, C5 = cos(q[2]), sin(q[3]), cos(q[3]), sin(q[4]), cos(q[4])
        return (S2, C2, S23, C23, S3, C3, S4, C4, S5, C5,)

    @staticmethod
    def configuration(k: Any, s: Any) -> Any:
        """Elements of A, B, C and g that are not zero, as ELEMENTS: of `constants` and `trigonometry`."""
        I2, I12x2, I16x2, I10x2, I5x2, I20x2, I15x2, I21x2 = k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
        I11x2, I20, I19, I7, I18x2, J1, I9, I16 = k[8], k[9], k[10], k[11], k[12], k[13], k[14], k[15]
        I4, I15, I18, I8, I21, I13, I14, I17 = k[16], k[17], k[18], k[19], k[20], k[21], k[22], k[23]
        I22, J2, I10, I5, I6, J3, J4, J5, J6 = k[24], k[25], k[26], k[27], k[28], k[29], k[30], k[31], k[32]
        I12x4, I2x2, I20x4, I15x4, I21x4, I11x4, I19x2 = k[33], k[34], k[35], k[36], k[37], k[38], k[39]
        I7x2, I13x2, I8x2, g1, g3, g5, g4, g2 = k[40], k[41], k[42], k[43], k[44], k[45], k[46], k[47]
        S2, C2, S23, C23, S3, C3, S4, C4, S5 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]
        C5 = s[9]
        CC2 = C2 * C2
        SC2 = S2 * C2
        SS23 = S23 * S23
        CC23 = C23 * C23
        SC23 = S23 * C23
        SS4 = S4 * S4
        CC4 = C4 * C4
        SC4 = S4 * C4
        CC5 = C5 * C5
        SC5 = S5 * C5
        x0 = CC5*I20
        x1 = -x0
        x2 = C4*I21x2
        x3 = I18x2*S4
        x4 = C5*I21x2
        x5 = I15x2*S5
        x6 = I20x2*SC5
        x7 = x5 + x6
        x8 = C5*S23
        x9 = C23*S5
        x10 = C4*x9 + x8
        x11 = C5*I15x2
        x12 = S5*x2
        x13 = CC4 + 1
        x14 = S4*S5
        x15 = I16*x14 + I4
        x16 = I15*S5
        x17 = I20*SC5
        x18 = x16 + x17
        x19 = -x18
        x20 = C5*I18 + I8
        x21 = C4*I18
        x22 = I19 + x0
        x23 = I13 + S5*(I21*S4 + x21) - SC4*x22
        x24 = C23*(S4*x19 - x20) + S23*x23
        x25 = S23*x17
        x26 = C2*I16 + C23*I21 + I15*S23
        x27 = C23*C5
        x28 = S23*S5
        x29 = C3*C4*S5 + C5*S3
        x30 = SS4*x22 + x11 + x12
        x31 = I15 + I16*S3
        x32 = -S5*x31 - x17
        x33 = I22*S5
        x34 = S4*x33
        x35 = C5*I22
        x36 = -I11x2
        x37 = C2*C23
        x38 = -S2*S23 + x37
        x39 = C2*S23
        x40 = -C23*S2 - x39
        x41 = CC5*I20x2
        x42 = CC4*I19x2 - I7x2 + x13*x41
        x43 = -I20x2
        x44 = SC5*(CC23*I20x4 + x43)
        x45 = I21x4*SC23
        x46 = I16x2*x39
        x47 = C4*I18x2
        x48 = I19x2 + x41
        x49 = -x48
        x50 = SC4*x49
        x51 = I15x2*SC23 + I16x2*x37
        x52 = C5*x3
        x53 = I21x2*S4
        x54 = I14 + I19
        x55 = SC4*x6
        x56 = I20 - x41
        x57 = I17 + x56
        x58 = S4*x57
        x59 = -x10
        x60 = -x26
        x61 = I17 - I20 + x11 + x41
        x62 = S4*x28
        x63 = -C4*x8 - x9
        x64 = C23*x6
        x65 = S23*(CC4*x49 + x12 + x54)
        x66 = S23*x55
        x67 = -x61
        x68 = C23*x67
        x69 = C3*C5
        x70 = S3*S5
        x71 = -C4*x70 + x69
        x72 = SS4*x6
        x73 = C4*x16
        x74 = C23*g4 + S23*g2 - g5*x59
        a11 = (
            C2*(C23*I10x2 + I16x2*x10 + I5x2*S23) + CC2*I2 - I12x2*SC2 + J1 + S5*(x2 + x3) + SC23*(C4*x7 +
            I11x2 + x4) + SS23*(CC4*I19 - I7 + x0*x13 + x11 - x12) + x1
        )
        a12 = C2*I9 + S2*x15 + x24
        a13 = x24
        a14 = C23*(I14 + I18*x14 + x1) + C4*(S5*x26 + x25)
        a15 = I18*(-C4*x27 + S23*S5) + S4*(C5*x26 + I17*S23)
        a16 = I22*(-C4*x28 + x27)
        a22 = C3*I10x2 + I16x2*x29 + I5x2*S3 + J2 + x30
        a23 = C3*I10 + I16*x29 + I5*S3 + I6 + x30
        a24 = S4*x32
        a25 = C4*(C5*x31 + I17) + S5*(C3*I16 + I21)
        a26 = x34
        a33 = J3 + x30
        a34 = S4*x19
        a35 = C4*(C5*I15 + I17) + I21*S5
        a36 = x34
        a44 = J4 - x0
        a46 = x35
        a55 = J5
        a66 = J6
        b112 = (
            C4*(S5*(CC23*I15x4 - I15x2 + I16x2*x40 - x45) + x44) + C5*(CC23*I21x4 + I15x4*SC23 + I16x2*x38 -
            I21x2) - CC2*I12x4 + CC23*I11x4 + I10x2*x40 + I12x2 - I2x2*SC2 + I5x2*x38 + SC23*x42 + x36
        )
        b113 = (
            C2*(C23*(C5*I16x2 + I5x2) - I10x2*S23) + C4*(S5*(CC23*I15x4 - I15x2 - x45 - x46) + x44) +
            CC23*(C5*I21x4 + I11x4) + SC23*(C5*I15x4 + x42) + x36 - x4
        )
        b114 = S4*(S5*(I21x2*(SS23 - 1) - x51) - SC23*x6) + S5*x47 + SS23*x50
        b115 = (
            C4*(C5*(CC23*I21x2 + x51) + SC23*(CC5*I20x4 + x43)) + S5*(I15x2*(CC23 - 1) - I21x2*SC23 - x46) +
            x52 + x6*(CC23*x13 - CC4)
        )
        c12 = C2*x15 + C23*x23 - I9*S2 + S23*(S4*x18 + x20)
        b123 = C23*(I13x2 + S5*(x47 + x53) + x50) + S23*(C5*I18x2 + I8x2 + S4*x7)
        b124 = S23*(-S5*x3 + SS4*x48 - x54)
        b125 = C23*(I18x2*S5 + x58) + S23*(C5*x47 + x55)
        b126 = I22*x59
        c14 = S4*(S5*x60 - x25) + x21*x9
        b145 = C23*(x52 + x6) + C4*(C5*(C2*I16x2 + C23*I21x2) + S23*x61)
        b146 = I22*x62
        c15 = I18*x8 + S5*(C23*x21 + S4*x60)
        b156 = I22*x63
        b214 = C4*(S5*(-C23*I15x2 + I16x2*S2) - x64) + x65
        b215 = S4*(C5*(I16x2*S2 + I21x2*S23) + x68) + x66
        b223 = C3*I5x2 - I10x2*S3 + I16x2*x71
        b224 = SC4*x48 + x14*(-C3*I16x2 - I21x2)
        b225 = C5*x2 + I16x2*(C4*x69 - x70) - x5 - x72
        c24 = C4*x32
        b245 = S4*(C5*(-I15x2 - I16x2*S3) - I17 + x56)
        b246 = C4*x33
        c25 = C5*I21 + I16*x71 - x73
        b256 = S4*x35
        b314 = -C23*C4*x7 + x65
        b315 = S4*(I21x2*x8 + x68) + x66
        b324 = -S5*x53 + SC4*x48
        b325 = C4*C5*I21x2 - x5 - x72
        c34 = C4*x19
        b345 = S4*x67
        c35 = C5*I21 - x73
        b415 = -C4*S23*x57 + x64
        b425 = x58
        b445 = x6
        b456 = -x33
        w2 = -C2*g1 + S2*g3 - x74
        w3 = -x74
        w4 = g5*x62
        w5 = g5*x63
        return (
            a11, a12, a13, a14, a15, a16, a22, a23, a24, a25, a26, a33, a34, a35, a36, a44, a46, a55, a66,
            b112, b113, b114, b115, c12, b123, b124, b125, b126, c14, b145, b146, c15, b156, b214, b215,
            b223, b224, b225, c24, b245, b246, c25, b256, b314, b315, b324, b325, c34, b345, c35, b415,
            b425, b445, b456, w2, w3, w4, w5,
        )

    @staticmethod
    def torque(e: Any, v: Any, a: Any) -> Any:
        """Joint torques A a + B [v v] + C [v²] + g of speeds and accelerations, with e of `configuration`."""
        a11, a12, a13, a14, a15, a16, a22, a23, a24 = e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]
        a25, a26, a33, a34, a35, a36, a44, a46 = e[9], e[10], e[11], e[12], e[13], e[14], e[15], e[16]
        a55, a66, b112, b113, b114, b115, c12, b123 = e[17], e[18], e[19], e[20], e[21], e[22], e[23], e[24]
        b124, b125, b126, c14, b145, b146, c15 = e[25], e[26], e[27], e[28], e[29], e[30], e[31]
        b156, b214, b215, b223, b224, b225, c24 = e[32], e[33], e[34], e[35], e[36], e[37], e[38]
        b245, b246, c25, b256, b314, b315, b324 = e[39], e[40], e[41], e[42], e[43], e[44], e[45]
        b325, c34, b345, c35, b415, b425, b445 = e[46], e[47], e[48], e[49], e[50], e[51], e[52]
        b456, w2, w3, w4, w5 = e[53], e[54], e[55], e[56], e[57]
        v12 = v[0] * v[1]
        v13 = v[0] * v[2]
        v14 = v[0] * v[3]
        v15 = v[0] * v[4]
        v22 = v[1] * v[1]
        v23 = v[1] * v[2]
        v24 = v[1] * v[3]
        v25 = v[1] * v[4]
        v26 = v[1] * v[5]
        c13 = 0.5 * b123
        v33 = v[2] * v[2]
        v34 = v[2] * v[3]
        v35 = v[2] * v[4]
        v36 = v[2] * v[5]
        v44 = v[3] * v[3]
        v45 = v[3] * v[4]
        v46 = v[3] * v[5]
        v55 = v[4] * v[4]
        v56 = v[4] * v[5]
        c21 = -0.5 * b112
        v11 = v[0] * v[0]
        v16 = v[0] * v[5]
        c23 = 0.5 * b223
        c31 = -0.5 * b113
        c41 = -0.5 * b114
        c42 = -0.5 * b224
        c43 = -0.5 * b324
        c51 = -0.5 * b115
        c52 = -0.5 * b225
        c53 = -0.5 * b325
        c54 = -0.5 * b445
        t1 = (
            a11 * a[0] + a12 * a[1] + a13 * a[2] + a14 * a[3] + a15 * a[4] + a16 * a[5] + b112 * v12 + b113
            * v13 + b114 * v14 + b115 * v15 + c12 * v22 + b123 * v23 + b124 * v24 + b125 * v25 + b126 * v26
            + c13 * v33 + b124 * v34 + b125 * v35 + b126 * v36 + c14 * v44 + b145 * v45 + b146 * v46 + c15 *
            v55 + b156 * v56
        )
        t2 = (
            a12 * a[0] + a22 * a[1] + a23 * a[2] + a24 * a[3] + a25 * a[4] + a26 * a[5] + w2 + c21 * v11 +
            b214 * v14 + b215 * v15 - b126 * v16 + b223 * v23 + b224 * v24 + b225 * v25 + c23 * v33 + b224 *
            v34 + b225 * v35 + c24 * v44 + b245 * v45 + b246 * v46 + c25 * v55 + b256 * v56
        )
        t3 = (
            a13 * a[0] + a23 * a[1] + a33 * a[2] + a34 * a[3] + a35 * a[4] + a36 * a[5] + w3 + c31 * v11 +
            b314 * v14 + b315 * v15 - b126 * v16 - c23 * v22 + b324 * v24 + b325 * v25 + b324 * v34 + b325 *
            v35 + c34 * v44 + b345 * v45 + b246 * v46 + c35 * v55 + b256 * v56
        )
        t4 = (
            a14 * a[0] + a24 * a[1] + a34 * a[2] + a44 * a[3] + a46 * a[5] + w4 + c41 * v11 - b214 * v12 -
            b314 * v13 + b415 * v15 - b146 * v16 + c42 * v22 - b324 * v23 + b425 * v25 - b246 * v26 + c43 *
            v33 + b425 * v35 - b246 * v36 + b445 * v45 + b456 * v56
        )
        t5 = (
            a15 * a[0] + a25 * a[1] + a35 * a[2] + a55 * a[4] + w5 + c51 * v11 - b215 * v12 - b315 * v13 -
            b415 * v14 - b156 * v16 + c52 * v22 - b325 * v23 - b425 * v24 - b256 * v26 + c53 * v33 - b425 *
            v34 - b256 * v36 + c54 * v44 - b456 * v46
        )
        t6 = (
            a16 * a[0] + a26 * a[1] + a36 * a[2] + a46 * a[3] + a66 * a[5] + b126 * v12 + b126 * v13 + b146
            * v14 + b156 * v15 + b246 * v24 + b256 * v25 + b246 * v34 + b256 * v35 + b456 * v45
        )
        return t1, t2, t3, t4, t5, t6


class Puma560Abbreviated(Puma560Full):
    ELEMENTS: tuple[str, ...] = (
        "a11", "a12", "a13", "a22", "a23", "a33", "a34", "a35", "a44", "a55", "a66", "b112", "b113", "c12",
        "b123", "b223", "b314", "b315", "b325", "c34", "b345", "c41", "b412", "b413", "b415", "c42", "b423",
        "b425", "b445", "c51", "b512", "b513", "c52", "b523", "w2", "w3", "w4", "w5",
    )

    @staticmethod
    def configuration(k: Any, s: Any) -> Any:
        """Elements of A, B, C and g that are not zero, as ELEMENTS: of `constants` and `trigonometry`."""
        I2, I5x2, I7, J1, I9, I4, I8, I13, J2 = k[0], k[4], k[11], k[13], k[14], k[16], k[19], k[21], k[25]
        I10, I5, I23, J3, I15, J4, J5, J6 = k[26], k[27], k[48], k[49], k[17], k[30], k[31], k[32]
        I12x4, I2x2, I10x2, I7x2, I11x4, I11x2, I13x2 = k[33], k[34], k[3], k[40], k[38], k[8], k[41]
        I8x2, I15x2, I24, I16, I18, I16x2, I20x2, I25 = k[42], k[6], k[50], k[15], k[18], k[2], k[5], k[51]
        I26, g1, g3, g2, g4, g5 = k[52], k[43], k[44], k[47], k[46], k[45]
        S2, C2, S23, C23, S3, C3, S4, C4, S5 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]
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
            b325, c34, b345, c41, b412, b413, b415, c42, b423, b425, b445, c51, b512, b513, c52, b523, w2,
            w3, w4, w5,
        )

    @staticmethod
    def torque(e: Any, v: Any, a: Any) -> Any:
        """Joint torques A a + B [v v] + C [v²] + g of speeds and accelerations, with e of `configuration`."""
        a11, a12, a13, a22, a23, a33, a34, a35, a44 = e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]
        a55, a66, b112, b113, c12, b123, b223, b314 = e[9], e[10], e[11], e[12], e[13], e[14], e[15], e[16]
        b315, b325, c34, b345, c41, b412, b413 = e[17], e[18], e[19], e[20], e[21], e[22], e[23]
        b415, c42, b423, b425, b445, c51, b512 = e[24], e[25], e[26], e[27], e[28], e[29], e[30]
        b513, c52, b523, w2, w3, w4, w5 = e[31], e[32], e[33], e[34], e[35], e[36], e[37]
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
        t1 = (
            a11 * a[0] + a12 * a[1] + a13 * a[2] + b112 * v12 + b113 * v13 + c12 * v22 + b123 * v23 + c13 *
            v33
        )
        t2 = a12 * a[0] + a22 * a[1] + a23 * a[2] + w2 + c21 * v11 + b223 * v23 + c23 * v33
        t3 = (
            a13 * a[0] + a23 * a[1] + a33 * a[2] + a34 * a[3] + a35 * a[4] + w3 + c31 * v11 + b314 * v14 +
            b315 * v15 - c23 * v22 + b325 * v25 + b325 * v35 + c34 * v44 + b345 * v45 + c34 * v55
        )
        t4 = (
            a34 * a[2] + a44 * a[3] + w4 + c41 * v11 + b412 * v12 + b413 * v13 + b415 * v15 + c42 * v22 +
            b423 * v23 + b425 * v25 + b425 * v35 + b445 * v45
        )
        t5 = (
            a35 * a[2] + a55 * a[4] + w5 + c51 * v11 + b512 * v12 + b513 * v13 - b415 * v14 + c52 * v22 +
            b523 * v23 - b425 * v24 + c53 * v33 - b425 * v34
        )
        t6 = a66 * a[5]
        return t1, t2, t3, t4, t5, t6
