"""Configuration of the site; `python -m sphinx -W -n -b html docs docs/_build/html` builds it."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import simbench  # noqa: E402

project = "simbench"
author = "simbench developers"
copyright = "2026, simbench developers"
version = release = simbench.__version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "numpydoc",
    # Pages that are written from the code, the scenarios, their baselines and the results of the papers.
    "command_line",
    "reference_pages",
    "engines",
    "gallery",
    "validation",
    "local_mathjax",
]
exclude_patterns = ["_build", "generated", "**/notes.md"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
nitpicky = True
# What documented objects are made of, and what has no page here.
nitpick_ignore = [("py:class", "pydantic.main.BaseModel"), ("py:obj", "simbench.sim.state.Source")]

# The signature shows the types of a function; numpydoc's tables describe them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "simbench"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "source_repository": "https://github.com/simbench-robotics/simbench",
    "source_branch": "main",
    "source_directory": "docs/",
    "light_css_variables": {
        # What every system has: the site is read without a network.
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', monospace",
    },
}
copybutton_exclude = ".linenos, .gp, .go"
