"""The command line's `simbench cache`: parse, call, print."""

import typer

cache_app = typer.Typer(
    help="Look at the plans that are kept on disk, and remove them.", rich_markup_mode=None
)


@cache_app.command("info")
def info() -> None:
    """Show where plans are kept, how many there are, and how large they may become."""
    from simbench.runs.plans.cache import SIZE_VARIABLE, cache_state

    state = cache_state()
    print(f"folder  {state.folder or 'none: the user has no home directory'}")
    print(f"plans   {state.plans}, {state.size / 1e6:.1f} MB")
    print(f"limit   {state.limit / 1e6:g} MB; {SIZE_VARIABLE}=0 keeps none")


@cache_app.command("clear")
def clear() -> None:
    """Remove all plans that are kept; the next runs make theirs anew."""
    from simbench.runs.plans.cache import clear_cache

    removed = clear_cache()
    print(f"removed  {removed.plans} plans, {removed.size / 1e6:.1f} MB")
