"""What is read back from run and study directories: checked, and refused in one line."""

import json

import pytest
import run_by_hand as by_hand

from simbench.cli.main import main
from simbench.errors import RunError, StudyError
from simbench.runs.provenance import collect_provenance
from simbench.runs.run_directory import json_text, write_metrics
from simbench.runs.run_records import read_metrics, read_provenance
from simbench.runs.study import StudyRow, read_row, study_directory, write_row

DEEP = "[" * 100_000
DAMAGED = [
    (b"", ":1:1: not valid JSON"),
    (b"{", ":1:2: not valid JSON"),
    (b"[]", ":1:1: must hold a JSON object"),
    (b'"a"', ":1:1: must hold a JSON object"),
    (DEEP.encode(), ":1:51: not valid JSON: nested more than"),
    (b'{"a":' * 100_000, "nested more than"),
    (b'{"a": NaN}', ":1:7: not valid JSON: NaN is not a finite number"),
    (b'{"a": 1e999}', "1e999 is not a finite number"),
    (b'{"a": 1, "a": 2}', ":1:10: not valid JSON: name 'a' is given twice"),
    (b'{"a": "\xff"}', ":1:8: not a text file in UTF-8"),
    ("{}".encode("utf-16"), ":1:1: not a text file in UTF-8, but in UTF-16"),
    (b'{"a": "\\ud800"}', "is half of a character"),
    (b"\x89HDF\r\n\x1a\n" * 1000, "not a text file in UTF-8"),
]


@pytest.mark.parametrize(("content", "said"), DAMAGED)
@pytest.mark.parametrize(
    ("name", "read"), [("metrics.json", read_metrics), ("provenance.json", read_provenance)]
)
def test_damaged_files_are_refused_in_one_line(tmp_path, name, read, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RunError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}:")
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("value", ["[1]", '{"b": 1}', "[]", "{}"])
def test_metrics_are_numbers_text_or_null(tmp_path, value):
    (tmp_path / "metrics.json").write_text(f'{{"a_m": 1, "b_m": {value}}}')
    with pytest.raises(RunError, match=r"metrics\.json: b_m: must be a number, true, false, text or null"):
        read_metrics(tmp_path)


def test_what_was_written_is_read_back(tmp_path):
    metrics = {"a_m": 1.5, "b": True, "c": "none", "d_s": None, "e_count": 3}
    write_metrics(tmp_path, metrics | {"f_m": float("nan")})
    assert read_metrics(tmp_path) == metrics | {"f_m": None}
    provenance = collect_provenance(7, ["simbench", "run"])
    (tmp_path / "provenance.json").write_text(json_text(provenance))
    assert read_provenance(tmp_path) == provenance


@pytest.mark.parametrize("key", ["simbench", "date", "seed", "cores", "command", "packages", "processor"])
@pytest.mark.parametrize("value", [None, 1.5, True, [1], {"a": 1}, [["a"]]])
def test_provenance_has_the_entries_that_are_read(tmp_path, key, value):
    whole = collect_provenance(7, ["simbench", "run"])
    path = tmp_path / "provenance.json"
    path.write_text(json_text({name: each for name, each in whole.items() if name != key}))
    with pytest.raises(RunError, match=rf"provenance\.json: {key} is missing"):
        read_provenance(tmp_path)
    path.write_text(json_text(whole | {key: value}))
    if value is None and key not in ("command", "packages"):
        assert read_provenance(tmp_path)[key] is None
        return
    with pytest.raises(RunError, match=rf"provenance\.json: {key}: must be "):
        read_provenance(tmp_path)


@pytest.mark.parametrize("name", ["metrics.json", "provenance.json", "scenario.yaml"])
@pytest.mark.parametrize("content", [DEEP, "\x00", '{"a": 1, "a": 1}'])
def test_a_report_of_a_damaged_run_is_one_line_and_leaves_nothing(tmp_path, capsys, name, content):
    run = by_hand.write_puma_run(tmp_path / "run")
    (run / name).write_text(content)
    before = sorted(tmp_path.rglob("*"))
    assert main(["report", str(run)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {run / name}:")
    assert said.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


MANIFEST = {"function": "f", "runs": 2, "varied": ["a"], "items": "0", "sources": "1"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *DAMAGED[:2],
        *DAMAGED[4:],
        (b"[]", "study.json: the file: "),
        (json.dumps(MANIFEST | {"runs": "2"}).encode(), "study.json: runs: "),
        (json.dumps(MANIFEST | {"varied": [1]}).encode(), "study.json: varied.0: "),
        (json.dumps({"function": "f"}).encode(), "study.json: runs: Field required"),
        (json.dumps(MANIFEST | {"items": "1"}).encode(), "holds another study, 2 runs over a;"),
        (json.dumps(MANIFEST | {"sources": "2"}).encode(), "begun with other sources"),
    ],
)
def test_a_study_with_another_description_is_refused(tmp_path, content, said):
    (tmp_path / "study.json").write_bytes(content)
    with pytest.raises(StudyError) as caught, study_directory(tmp_path, MANIFEST, {}):
        pass
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]


@pytest.mark.parametrize(
    "content",
    [
        *(content for content, _ in DAMAGED),
        b'{"values": {"a": [1]}, "seconds": 1, "error": ""}',
        b'{"values": {"a": NaN}, "seconds": 1, "error": ""}',
        b'{"values": {}, "seconds": "1", "error": ""}',
        b'{"values": {}, "seconds": -1, "error": ""}',
        b'{"values": {}, "seconds": null, "error": null}',
        b'{"values": {}, "seconds": null, "error": "", "more": 1}',
        b'{"values": null, "seconds": null, "error": ""}',
    ],
)
def test_a_damaged_row_is_run_again(tmp_path, content):
    (tmp_path / "rows").mkdir()
    row = StudyRow({"a": 1}, {"b": 1, "c": 1.5, "d": "x", "e": None, "f": True}, 2.5, "")
    write_row(tmp_path, "k", row)
    found = read_row(tmp_path, "k", {"a": 1})
    assert found == row
    assert list(map(type, found.values.values())) == list(map(type, row.values.values()))
    (tmp_path / "rows" / "k.json").write_bytes(content)
    assert read_row(tmp_path, "k", {"a": 1}) is None


def test_a_run_may_have_doubts_as_text(tmp_path):
    provenance = collect_provenance(7, ["simbench", "run"])
    path = tmp_path / "provenance.json"
    path.write_text(json_text(provenance | {"doubts": ["feet sink"]}))
    assert read_provenance(tmp_path)["doubts"] == ["feet sink"]
    path.write_text(json_text(provenance | {"doubts": [1]}))
    with pytest.raises(RunError, match=r"provenance\.json: doubts: must be a list of text"):
        read_provenance(tmp_path)
