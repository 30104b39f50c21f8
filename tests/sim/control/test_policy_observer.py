"""Terms of observations."""

from pathlib import Path

from simbench.sim.control.policy_observer import TERMS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how_to" / "policy.md"


def test_the_table_of_terms_is_that_of_the_code():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    wanted = [
        f"| `{name}` | {term.size or 'm'} | {term.unit} | {term.meaning} |" for name, term in TERMS.items()
    ]
    assert [row for row in rows if row in wanted] == wanted
