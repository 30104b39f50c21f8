"""Folders of the data that ships with simbench, in a checkout and in an installed wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def resource_dir(kind: str) -> Path:
    """Return the folder of data that ships with simbench.

    Parameters
    ----------
    kind : str
        `robots`, `scenarios`, `marker_maps` or `schemas`.

    Returns
    -------
    Path
        `simbench/data/<kind>` of an installed wheel, else `<kind>` beside the package in a checkout.
    """
    installed = PACKAGE / "data" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind
