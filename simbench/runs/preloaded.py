"""Everything that a run imports, for the process from which those of jobs are forked."""

import numpy as np
import xarray as xr

from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.runs import pipeline  # noqa: F401

# xarray looks for the arrays of other libraries at its first dataset; Numba loads its tables of types with
# the first kernel.
xr.Dataset({"none": ("time", [0.0])})
quaternion_to_matrix(0.0, 0.0, 0.0, 1.0, np.empty((3, 3)))
