"""JSON: whatever the text, it gives plain values or one line with file, line and column."""

import json
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simbench.errors import RunError, SimbenchError
from simbench.files.json_document import MAX_DEPTH, MAX_VALUES, parse_json, read_json_object
from simbench.resources import resource_dir

FILES = sorted((resource_dir("scenarios") / "baselines").glob("*.json"))
LINE = re.compile(r"f\.json:\d+:\d+: not valid JSON: \S.*")


def value(text, **options):
    return parse_json(text, "f.json", RunError, **options)


def refusal(text, **options):
    with pytest.raises(RunError) as caught:
        value(text, **options)
    assert LINE.fullmatch(str(caught.value)), str(caught.value)
    return str(caught.value).removeprefix("f.json:")


def test_values():
    text = '{"a": [1, -2.5, 1e3, true, null, "b\\n\\u00e4\\ud83d\\ude00", {}], "c": 12345678901234567890}'
    assert value(text) == json.loads(text)
    assert type(value("[1]")[0]) is int


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: "),
        ("{", "1:2: "),
        ('{"a": 1,\n "b" 2}', "2:6: "),
        ("nul", "1:1: "),
        ("[1] 2", "1:5: "),
        ('["a\tb"]', "1:4: "),
        ("'a'", "1:1: "),
        ('{"a": 1, "b": {"a": 2},\n "a": 3}', "2:2: not valid JSON: name 'a' is given twice"),
        ('[{"a": 1, "\\u0061": 2}]', "1:11: not valid JSON: name 'a' is given twice"),
        ('{"a": "}{", "b": {"c": 1, "c": 2}}', "1:27: not valid JSON: name 'c' is given twice"),
        ('{"NaN": "NaN", "b": NaN}', "1:21: not valid JSON: NaN is not a finite number"),
        ("[1,\n -Infinity]", "2:2: not valid JSON: -Infinity is not a finite number"),
        ('["1e999", 1e9990, 1e999]', "1:11: not valid JSON: 1e9990 is not a finite number"),
        (f"[{10**400}]", "is not a finite number"),
        (f"[{'9' * 5000}]", "is not a finite number"),
        ('["\\\\ud800", "\\ud800"]', "1:14: not valid JSON: \\ud800 is half of a character"),
        ('{"\\udc00": 1}', "1:3: not valid JSON: \\udc00 is half of a character"),
    ],
)
def test_what_is_refused_is_named_with_line_and_column(text, said):
    assert said in refusal(text)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', "[[],", '{"]":['])
def test_deep_nesting_is_refused(opening):
    assert f"nested more than {MAX_DEPTH} deep" in refusal(opening * 100_000)


def test_brackets_in_text_are_no_nesting():
    assert value(json.dumps(["[" * 1000 + '"\\' + "{" * 1000])) == ["[" * 1000 + '"\\' + "{" * 1000]
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert value(deepest)
    assert value(f"[{deepest[1:-1]}, {deepest[1:-1]}]")


def test_the_number_of_values_is_bounded():
    assert f"more than {MAX_VALUES}" in refusal("[" + "0," * MAX_VALUES + "0]")


@pytest.mark.parametrize("text", ['"' + '\\"' * 500_000, '"' * 500_001, "\\" * 500_001, '"\\' * 100_000])
def test_quotes_and_backslashes_take_no_time(text):
    refusal(text)


def test_numbers_that_are_not_finite_may_be_kept():
    read = value(f"[NaN, Infinity, -Infinity, 1e999, {10**400}, {-(10**400)}, 1]", non_finite="kept")
    assert math.isnan(read[0])
    assert read[1:] == [math.inf, -math.inf, math.inf, math.inf, -math.inf, 1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a":\n "\xff"}', ":2:3: not a text file in UTF-8: byte 0xff"),
        ("{}".encode("utf-16"), ":1:1: not a text file in UTF-8, but in UTF-16"),
        (b" " * 10_000_001, ": larger than 10 MB"),
        (b"[]", ":1:1: must hold a JSON object"),
        (b"null", ":1:1: must hold a JSON object"),
    ],
)
def test_files_that_are_no_object(tmp_path, content, said):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(RunError) as caught:
        read_json_object(path, RunError)
    assert str(caught.value).startswith(f"{path}{said}")
    assert "\n" not in str(caught.value)


def test_files(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json_object(path, RunError) == {"a": 1}
    with pytest.raises(RunError):
        read_json_object(path, RunError, max_bytes=5)
    with pytest.raises(RunError):
        read_json_object(tmp_path / "none.json", RunError)


def read_or_refused(text):
    """The oracle: the values of another parser, or one line."""
    try:
        read = value(text)
    except SimbenchError as error:
        message = str(error)
    else:
        assert read == json.loads(text)
        return
    assert LINE.fullmatch(message), message


ODD = st.sampled_from([*'[]{}:,"\\-+.eE0 \n', "NaN", "1e999", '"a":', "\\ud800", "null", "true"])


@settings(max_examples=300, deadline=None)
@example("NaN-]]")
@given(st.lists(ODD | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_is_read_or_refused_in_one_line(text):
    read_or_refused(text)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), ODD), min_size=1, max_size=3),
)
def test_damaged_files_are_read_or_refused_in_one_line(path, changes):
    text = path.read_text(encoding="utf-8")[:3000]
    for place, length, inserted in changes:
        start = int(place * len(text))
        text = text[:start] + inserted + text[start + length :]
    read_or_refused(text)
