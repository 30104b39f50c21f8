"""The directory of a study: its description, its finished rows, and a lock."""

import fcntl
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simbench.errors import StudyError
from simbench.files.json_document import read_json
from simbench.files.storage import is_part_of, write_whole
from simbench.runs.run_directory import json_text
from simbench.runs.study.table import StudyRow

RUNS = "runs"
"""Folder for the run directories of a study that keeps them."""
_MANIFEST, _ROWS, _LOCK = "study.json", "rows", "lock"


class _Description(BaseModel):
    """Content of `study.json`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    function: str
    runs: int
    varied: list[str]
    items: str
    sources: str


class _Row(BaseModel):
    """Content of a row's file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    values: dict[str, float | int | bool | str | None]
    seconds: Annotated[float, Field(ge=0.0)] | None
    error: str
    sha256: str


@contextmanager
def study_directory(folder: Path, manifest: Mapping[str, Any], inputs: Mapping[str, str]) -> Iterator[None]:
    """Make or reopen the directory of a study, and lock it while the body runs.

    `folder`: directory of the study; its parents are made. `manifest`: description of the study, ready for
    JSON. `sources` identifies the state of the code, all other entries the study; `runs` is the number of
    rows, `varied` the names of their columns. `inputs`: content of files that are written when the study
    begins, by name.
    """
    if folder.is_dir() and any(folder.iterdir()):
        _require_same(folder, manifest)
    (folder / _ROWS).mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        try:
            # A lock ends with the process that holds it, however that ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StudyError(f"{folder}: another process is working on this study") from None
        for name, content in {_MANIFEST: json_text(manifest), **inputs}.items():
            if not (folder / name).exists():
                write_whole(folder / name, content)
        yield


def read_row(folder: Path, key: str, varied: Mapping[str, Any]) -> StudyRow | None:
    """Read a finished row.

    `folder`: directory of the study; `varied`: values that distinguish the row. Returns the row; None if
    there is none or it is damaged.
    """
    path = folder / _ROWS / f"{key}.json"
    if not path.is_file():
        return None
    try:
        found = _Row.model_validate(read_json(path, StudyError))
    except (StudyError, ValidationError):
        return None
    content = found.model_dump(exclude={"sha256"})
    return StudyRow(varied, **content) if found.sha256 == _digest(content) else None


def write_row(folder: Path, key: str, row: StudyRow) -> None:
    """Write a finished row so that it is on the disk completely or not at all, whatever ends this process.

    `folder`: directory of the study.
    """
    content = {"values": dict(row.values), "seconds": row.seconds, "error": row.error}
    write_whole(folder / _ROWS / f"{key}.json", json_text({**content, "sha256": _digest(content)}))


def _digest(content: Mapping[str, Any]) -> str:
    """Compute the SHA-256 of a row's values, time and error, by which a changed file is recognised."""
    return hashlib.sha256(json_text(content).encode(errors="surrogatepass")).hexdigest()


def finished_rows(folder: Path) -> int:
    """Count the rows of a study that are on the disk.

    `folder`: directory of the study. Returns number of rows.
    """
    return len(list((folder / _ROWS).glob("*.json")))


def _require_same(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a directory that holds another study, or one of other sources."""
    # A process that was killed at its start leaves these files; one whose directory was deleted meanwhile
    # leaves the runs that its workers were writing.
    names = [path.name for path in folder.iterdir()]
    if all(name in (_ROWS, _LOCK, RUNS) or is_part_of(name, _MANIFEST) for name in names):
        return
    if not (folder / _MANIFEST).is_file():
        raise StudyError(f"{folder}: exists and is not the directory of a study")
    try:
        found = _Description.model_validate(read_json(folder / _MANIFEST, StudyError))
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in details["loc"]) or "the file"
        raise StudyError(
            f"{folder / _MANIFEST}: {key}: {details['msg']}; so {folder} is not the directory of a study"
        ) from None
    others = {name for name in manifest if getattr(found, name) != manifest[name]}
    if others == {"sources"}:
        raise StudyError(f"{folder}: this study was begun with other sources; choose another directory")
    if others:
        raise StudyError(
            f"{folder}: holds another study, {found.runs} runs over {', '.join(found.varied)}; "
            "choose another directory"
        )
