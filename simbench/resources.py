"""Folders of the data that ships with simbench, in a checkout and in an installed wheel."""

import os
from pathlib import Path

from simbench.errors import SimbenchError
from simbench.files.storage import make_folder, write_whole

PACKAGE = Path(__file__).resolve().parent


def resource_dir(kind: str) -> Path:
    """Return the folder of data that ships with simbench.

    `kind`: `robots`, `scenarios`, `marker_maps`, `samples` or `schemas`. Returns `simbench/data/<kind>` of an
    installed wheel, else `<kind>` beside the package in a checkout.
    """
    installed = PACKAGE / "data" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def user_cache_dir() -> Path | None:
    """Find the folder in which programs keep what they can make again.

    Returns `XDG_CACHE_HOME`, else `.cache` in the home directory; None if neither is an absolute path, as for
    a user without a home directory.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    home = os.path.expanduser("~")
    return Path(home) / ".cache" if os.path.isabs(home) else None


def copy_resources(kind: str, folder: Path, overwrite: bool = False) -> list[Path]:
    """Copy data that ships with simbench into a folder; each file appears under its name only when complete.

    `kind`: as in `resource_dir`; `folder`: where the files go; created if it is missing; `overwrite`: whether
    files that differ are replaced. Returns the files, also those that were already there with the same
    content.
    """
    source = resource_dir(kind)
    # A file whose name begins with a dot, or bytecode, is not part of the data.
    names = sorted(
        path.relative_to(source)
        for path in source.rglob("*")
        if path.is_file() and not any(part.startswith((".", "__")) for part in path.relative_to(source).parts)
    )
    try:
        contents = {folder / name: (source / name).read_bytes() for name in names}
        outdated = [path for path, data in contents.items() if not path.exists() or path.read_bytes() != data]
        existing = [path for path in outdated if path.exists()]
        if existing and not overwrite:
            more = f" (and {len(existing) - 1} more)" if len(existing) > 1 else ""
            raise SimbenchError(
                f"{existing[0]}: exists and differs{more}; give another folder, or --force to replace it"
            )
        for path in outdated:
            make_folder(path.parent)
            write_whole(path, contents[path])
    except OSError as error:
        raise SimbenchError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
    return list(contents)
