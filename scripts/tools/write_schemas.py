"""Write the JSON Schemas of scenarios and robots, which editors read, and other names to schemas/.

python scripts/tools/write_schemas.py
"""

from pathlib import Path

from simbench.runs.explain.schemas import SCHEMAS, names_text, schema_text

FOLDER = Path(__file__).resolve().parents[2] / "schemas"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for kind in SCHEMAS:
        (FOLDER / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8")
    (FOLDER / "names.json").write_text(names_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
