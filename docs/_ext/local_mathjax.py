"""Equations without a network: MathJax's one file that carries its fonts, copied into the site.

The package `sphinx-mathjax-offline` would copy 6 MB in 300 files; `tex-svg.js` alone draws all equations.
"""

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

_NAME = "tex-svg.js"


def setup(application: Any) -> dict[str, bool]:
    """Use the local file instead of the one on a server."""
    application.setup_extension("sphinx.ext.mathjax")
    application.config.mathjax_path = _NAME
    # Files of MathJax that only its menu and screen readers' options load are not there.
    application.config.mathjax3_config = {"options": {"enableMenu": False}}
    (source,) = [each.locate() for each in files("sphinx-mathjax-offline") or () if each.name == _NAME]

    def copy(application: Any, error: Exception | None) -> None:
        if error is None and application.builder.format == "html":
            shutil.copyfile(source, Path(application.outdir) / "_static" / _NAME)

    application.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
