"""Number of constants and Christoffel symbols of the explicit model, and which are left out."""

from armstrong_derivation import (
    ChristoffelIndex,
    ExplicitModel,
    christoffel_indices,
    christoffel_symbol,
    count_unique,
)
from rich.table import Table


def sizes(full: ExplicitModel, short: ExplicitModel) -> Table:
    """Count constants and Christoffel symbols."""
    places, models = christoffel_indices(6), (full, short)
    lumped = [{term.constant for terms in model.elements.values() for term in terms} for model in models]
    symbols = [[place for place in model.elements if len(place) == 3] for model in models]
    simple = {
        str(symbol)
        for constant in full.constants.values()
        for powers in constant.keys()  # noqa: SIM118
        for symbol, power in zip(constant.ring.symbols, powers, strict=True)
        if power
    }
    table = Table("", "paper", "full", "abbreviated", title="Sizes")
    table.add_row("parameters, motors included", "42", str(len(simple) + 6), "")
    table.add_row("lumped constants, motors included", "34", *(str(len(each) + 6) for each in lumped))
    table.add_row("elements of B and C", "126", str(len(places)), "")
    for title, paper, lost in (
        ("unique by a_ij = a_ji and ∂a_ij/∂q_k = 0, k ≤ i, j (eq. 7, 8)", "65", ()),
        ("and by the symmetry of link 6 (eq. 9)", "51", (6,)),
    ):
        table.add_row(
            title, paper, str(count_unique(christoffel_symbol(place, lost) for place in places)), ""
        )
    table.add_row(
        "unique and not zero once differentiated (paper: by eq. 10)", "39", *(str(len(e)) for e in symbols)
    )
    return table


def christoffel_lines(full: ExplicitModel) -> list[str]:
    """List how 126 elements are reduced: general rules by number, rules specific to PUMA by name."""
    places = christoffel_indices(6)
    general = {place: _written(place, ()) for place in places}
    zeros = sum(not each for each in general.values())
    unique = {each: place for place, each in reversed(general.items()) if each}
    symmetric = {_written(place, (6,)): place for place in reversed(places) if _written(place, (6,))}
    nothing = [place for place in symmetric.values() if place not in full.places]
    owners: dict[ChristoffelIndex, list[ChristoffelIndex]] = {}
    for place in sorted(symmetric.values()):
        if place in full.places:
            owners.setdefault(full.places[place][0], []).append(place)
    equal = [" = ".join(map(_name, each)) for each in owners.values() if len(each) > 1]
    return [
        f"Christoffel symbols: of {len(places)} by eq. 7 and 8 {zeros} are zero and "
        f"{len(places) - zeros - len(unique)} another's ({len(unique)} left), by eq. 9 "
        f"{len(unique) - len(symmetric)} more ({len(symmetric)} left);",
        f"zero once differentiated: {', '.join(sorted(map(_name, nothing)))};",
        f"equal but for a factor: {', '.join(equal)}; {len(owners)} left",
    ]


def _written(place: ChristoffelIndex, lost: tuple[int, ...]) -> tuple[object, ...]:
    """Write an element's derivatives of A in a form that is the same for multiples; empty if it is zero."""
    slopes = sorted(christoffel_symbol(place, lost).items())
    return tuple((key, factor / slopes[0][1]) for key, factor in slopes)


def _name(place: ChristoffelIndex) -> str:
    k, i, j = place
    return f"c{k}{j}" if i == j else f"b{k}{i}{j}"
