"""The command line's `simbench cache`: parse, call, print."""

from enum import Enum
from typing import Annotated

import typer


class CacheAction(str, Enum):
    """What can be done with the cache of plans."""

    info = "info"
    clear = "clear"


def cache(
    action: Annotated[
        CacheAction, typer.Argument(help="Show where plans are kept and how many, or remove them.")
    ] = CacheAction.info,
) -> None:
    """Show or clear the plans that runs keep on disk, so that runs of the same motion plan once."""
    from simbench.runs.plan_cache import SIZE_VARIABLE, cache_state, clear_cache

    if action is CacheAction.clear:
        removed = clear_cache()
        print(f"removed  {removed.plans} plans, {removed.size / 1e6:.1f} MB")
        return
    state = cache_state()
    print(f"folder  {state.folder or 'none: the user has no home directory'}")
    print(f"plans   {state.plans}, {state.size / 1e6:.1f} MB")
    print(f"limit   {state.limit / 1e6:g} MB; {SIZE_VARIABLE}=0 keeps none")
