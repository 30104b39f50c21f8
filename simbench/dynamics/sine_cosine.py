"""Sines and cosines of many angles at once.

NumPy and the C library evaluate one angle after the other on most machines, which is half of the time that an
explicit model takes for many states. Arithmetic without branches lets the processor evaluate several at once.
"""

import numpy as np
from numba import njit

from simbench.kinematics.arrays import Array

FAR = 1e5
"""Largest angle, rad, beyond which the argument reduction loses digits."""
# π/2 in three parts, of which the first two times a whole number below 2^20 are exact.
TURN_1 = 1.57079632673412561417e00
TURN_2 = 6.07710050630396597660e-11
TURN_3 = 2.02226624879595063154e-21


@njit(error_model="numpy")
def sines_and_cosines(angle: Array, sine: Array, cosine: Array, count: int) -> None:
    """Compute sines and cosines of many angles, to 2e-16.

    Uses Cody and Waite's argument reduction to within π/4 and the polynomials of fdlibm (Sun Microsystems
    1993). `angle` (n,): angles, rad; `sine` (n,): receives the sines of the first `count` angles; `cosine`
    (n,): receives their cosines; `count`: number of angles to evaluate.
    """
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(angle[i]))
    if not largest < FAR:
        for i in range(count):
            sine[i], cosine[i] = np.sin(angle[i]), np.cos(angle[i])
        return
    for i in range(count):
        turns = np.rint(angle[i] * (2.0 / np.pi))
        x = ((angle[i] - turns * TURN_1) - turns * TURN_2) - turns * TURN_3
        z = x * x
        s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
        s = 2.75573137070700676789e-06 + z * s
        s = -1.98412698298579493134e-04 + z * s
        s = 8.33333333332248946124e-03 + z * s
        s = x + x * z * (-1.66666666666666324348e-01 + z * s)
        c = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
        c = -2.75573143513906633035e-07 + z * c
        c = 2.48015872894767294178e-05 + z * c
        c = -1.38888888888741095749e-03 + z * c
        c = 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * c))
        quarter = turns - 4.0 * np.floor(turns * 0.25)
        odd = quarter == 1.0 or quarter == 3.0
        first, second = (c, s) if odd else (s, c)
        sine[i] = -first if quarter >= 2.0 else first
        cosine[i] = -second if quarter == 1.0 or quarter == 2.0 else second
