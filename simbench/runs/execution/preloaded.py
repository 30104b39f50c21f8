"""Everything that a run imports, for the process from which those of jobs are forked."""

from io import BytesIO

import numpy as np
import xarray as xr

import simbench.runs.pipeline  # noqa: F401
from simbench.kinematics.rotation import quaternion_to_matrix

# xarray imports its parts for a format, and dask where that is installed, when it first writes; Numba its
# tables of types with the first kernel.
xr.Dataset({"none": ("time", [0.0])}).to_netcdf(BytesIO(), engine="h5netcdf")
quaternion_to_matrix(0.0, 0.0, 0.0, 1.0, np.empty((3, 3)))
