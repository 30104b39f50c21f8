"""A digest of a run's log, to see whether two runs gave the same bits."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import xarray as xr


def log_digest(folder: Path) -> str:
    """Digest all variables, coordinates and attributes of a run's log; none of them measures time.

    Parameters
    ----------
    folder : Path
        Run directory, complete or not.

    Returns
    -------
    str
        The first 16 digits of the SHA-256; empty if there is no log.
    """
    path = folder / "log.nc"
    if not path.is_file():
        return ""
    digest = hashlib.sha256()
    with xr.open_dataset(path, engine="h5netcdf", decode_cf=False) as log:
        for owner, data in (("", log), *sorted(log.variables.items())):
            attributes = sorted(
                (name, repr(np.asarray(value).tolist())) for name, value in data.attrs.items()
            )
            digest.update(repr((owner, attributes)).encode())
        for name, variable in sorted(log.variables.items()):
            values = np.ascontiguousarray(variable.values)
            content = repr(values.tolist()).encode() if values.dtype.hasobject else values.tobytes()
            digest.update(repr((name, variable.dims, values.shape, values.dtype.str)).encode() + content)
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(f"{log_digest(Path(argument))}  {argument}")
