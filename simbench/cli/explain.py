"""The command line's `simbench explain`: parse, call, print."""

from typing import Annotated

import typer

from simbench.cli.completion import complete_explained


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORD...",
            help="A metric, key, variable of the log or term.",
            autocompletion=complete_explained,
        ),
    ],
) -> None:
    """Explain a metric, a key, a variable of the log, or a term."""
    from simbench.runs.explain.lookup import explain as write_explanation

    print(write_explanation(" ".join(words)))
