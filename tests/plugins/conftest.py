"""A package of plug-ins as if it were installed: the template of examples/plugins."""

import sys
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).resolve().parents[2] / "examples" / "plugins"


def install(site: Path, package: str, entry_points: str) -> None:
    """Write the metadata of a distribution."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    (info / "RECORD").write_text("", encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packages, first in the search path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def template(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The template, importable, and its entry points."""
    monkeypatch.syspath_prepend(TEMPLATE)
    # Python 3.10 has no reader of TOML; of these lines the syntax differs in quotation marks alone.
    written = (TEMPLATE / "pyproject.toml").read_text(encoding="utf-8").partition("[project.entry-points.")[2]
    text = f"[{written}".replace("[project.entry-points.", "[").replace('"', "")
    install(site, "my-simbench-plugins", text)
    yield TEMPLATE
    for name in [name for name in sys.modules if name.startswith("my_simbench_plugins")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been said or forbidden yet."""
    monkeypatch.delenv("SIMBENCH_PLUGINS_TOLD", raising=False)
    monkeypatch.delenv("SIMBENCH_PLUGINS", raising=False)
