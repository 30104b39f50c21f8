"""YAML: whatever the text, it gives plain values or one line with file, line and column."""

import math
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import RobotError, SimbenchError, SkillError
from simbench.files.yaml_document import (
    MAX_DEPTH,
    MAX_NODES,
    parse_yaml,
    parse_yaml_list,
    parse_yaml_value,
    read_yaml,
)
from simbench.resources import resource_dir

FILES = sorted(
    [
        *resource_dir("scenarios").glob("*.yaml"),
        *resource_dir("marker_maps").glob("*.yaml"),
        *resource_dir("robots").glob("*/robot.yaml"),
    ]
)
LINE = re.compile(r"f\.yaml:\d+:\d+: \S.*")


def value(text):
    return parse_yaml(text, "f.yaml", RobotError).value


def refusal(text):
    with pytest.raises(RobotError) as caught:
        value(text)
    message = str(caught.value)
    assert LINE.fullmatch(message), message
    return message.removeprefix("f.yaml:")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_shipped_files_read_as_by_another_parser(path):
    """Numbers with an exponent and no point are text to PyYAML."""

    def numbers(content):
        if isinstance(content, dict):
            return {key: numbers(each) for key, each in content.items()}
        if isinstance(content, list):
            return list(map(numbers, content))
        if isinstance(content, str) and re.fullmatch(r"-?\d+e-?\d+", content):
            return float(content)
        return content

    text = path.read_text(encoding="utf-8")
    assert read_yaml(path, RobotError).value == numbers(yaml.load(text, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize(
    "tagged",
    [
        *("!!int abc", "!!bool abc", "!!float abc", "!!timestamp 2020-13-45", "!!binary x", "!!null x"),
        *("!!python/object/apply:os.system [ls]", "!!python/name:os.system", "!!set {a, b}", "!!omap [a: 1]"),
        *("!own x", "! x", "!!str 1", "!!map {}", "!!seq []", "!<tag:own> x", "!!merge x", "!!value ="),
    ],
)
@pytest.mark.parametrize("text", ["{}", "a: {}", "- {}", "{{{}: 1}}", "&a {}", "a: [1, {}]"])
def test_tags_are_refused(tagged, text):
    message = refusal(text.format(tagged))
    if text in ("{}", "a: {}", "- {}"):
        assert message.startswith(f"1:{text.index('{') + 1}: not valid YAML: tag ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("1", 1),
            ("-12", -12),
            ("+3", 3),
            ("0", 0),
            ("-0", 0),
            ("1_000", 1000),
            ("0x1F", 31),
            ("-0x1f", -31),
        ),
        *(("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1e3), ("1e-3", 1e-3), ("-1.5E+2", -150.0)),
        *(("00.5", 0.5), ("1e999", math.inf), ("1e-999", 0.0), (".inf", math.inf), ("-.INF", -math.inf)),
        *(("true", True), ("Yes", True), ("on", True), ("no", False), ("OFF", False)),
        *(("~", None), ("null", None), ("", None), ("NULL", None)),
    ],
)
def test_numbers_and_constants(text, expected):
    for read in (value(f"a: {text}")["a"], parse_yaml_value(text, "--set", RobotError)):
        assert read == expected
        assert type(read) is type(expected)
    assert value(f"a: '{text}'") == value(f'a: "{text}"') == {"a": text}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0b_",
            "0b101",
            "0x_",
            "0x",
            "0o17",
            "017",
            "08",
            "0_",
            "1_",
            "1__0",
            "_1",
            "1:30",
            "1:30.5",
            "190:20:30",
        ),
        *(
            "2020-13-45",
            "2026-11-23",
            "2026-11-23T12:00:00Z",
            "=",
            "<<",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            "+.",
            "._1",
        ),
        *(
            "nan",
            "inf",
            "NaN",
            "Infinity",
            ".Nan",
            "+.nan",
            "y",
            "n",
            "True-ish",
            "٣",
            "٣.٥",
            "1٣",
            "٣e1",
            "0x" + "f" * 99,
        ),
    ],
)
def test_odd_scalars_are_text(text):
    assert value(f"a: {text} # comment") == {"a": text}
    assert parse_yaml_value(text, "--set", RobotError) == text


def test_not_a_number_is_read_and_left_to_the_schema():
    assert math.isnan(value(".nan"))


@pytest.mark.parametrize("digits", [41, 400, 5000, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_of_many_digits_do_not_take_time_nor_raise(digits, sign):
    assert value(f"a: {sign}{'9' * digits}")["a"] == float(f"{sign}{'9' * digits}")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: ", "{? ", "{", "&a [", "- - ? "])
def test_deep_nesting_is_refused(opening):
    assert re.match(r"1:\d+: |\d+:\d+: ", refusal(opening * 100_000))


def test_the_deepest_nesting_that_is_allowed():
    def nest(depth):
        return "[" * depth + "]" * depth

    assert str(value(nest(MAX_DEPTH))).count("[") == MAX_DEPTH
    assert "nested more than" in refusal(nest(MAX_DEPTH + 1))
    # The same through an alias, also one that is repeated.
    half = MAX_DEPTH // 2
    assert value(f"a: &a {nest(half)}\nb: {'[' * (half - 1)}*a{']' * (half - 1)}")
    assert "nested more than" in refusal(f"a: &a {nest(half)}\nb: {'[' * half}*a{']' * half}")


def test_aliases_are_bounded():
    levels = "\n".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 15))
    assert f"more than {MAX_NODES}" in refusal(f"a0: &a0 [1, 2]\n{levels}")
    assert f"more than {MAX_NODES}" in refusal("- a\n" * MAX_NODES)


def test_an_alias_is_a_copy():
    document = parse_yaml("a: &x {b: [1]}\nc: *x", "f.yaml", RobotError)
    assert document.value == {"a": {"b": [1]}, "c": {"b": [1]}}
    document.value["c"]["b"].append(2)
    assert document.value["a"] == {"b": [1]}
    assert document.positions == {
        ("a",): (1, 1),
        ("a", "b"): (1, 8),
        ("a", "b", 0): (1, 12),
        ("c",): (2, 1),
        ("c", "b"): (1, 8),
        ("c", "b", 0): (1, 12),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}", {"b": 3, "a": 1}),
        ("x: &x {a: 1}\ny: {b: 3, <<: [*x, {a: 2, c: 4}]}", {"b": 3, "a": 1, "c": 4}),
        ("y: {'<<': 1}", {"<<": 1}),
    ],
)
def test_merge_keys(text, expected):
    assert value(text)["y"] == expected


@pytest.mark.parametrize("merged", ["1", "a", "[1]", "[{a: 1}, 2]", "~", "[[{a: 1}]]"])
def test_merge_keys_of_odd_values_are_refused(merged):
    assert refusal(f"a: 1\n<<: {merged}").startswith("2:1: merge key '<<' must have a mapping")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "4:3: duplicate key 'b.c', first given in line 3"),
        ("a: 1\n'a': 2", "2:1: duplicate key 'a', first given in line 1"),
        ("3: 4", "1:1: key 3 must be plain text"),
        ("yes: 4", "1:1: key True must be plain text"),
        ("a: {1.5: 2}", "1:5: key 1.5 must be plain text"),
        ("~: 1", "1:1: key None must be plain text"),
        ("[1, 2]: 3", "1:1: a key must be plain text"),
        ("? {a: 1}\n: 2", "1:3: a key must be plain text"),
        ("a: 1\n---\nb: 2", "2:1: a second document begins here"),
        ("a: *b", "1:4: not valid YAML: found undefined alias"),
        ("a: &b [*b]", "1:4: nested more than 20 deep"),
        ("a: &b 1\nc: &b 2", "2:4: not valid YAML: an anchor is given twice"),
        ("a: [", "2:1: not valid YAML"),
        ("a: 'b", "not valid YAML"),
        ("\ta: 1", "1:1: not valid YAML"),
        ("a: b: c", "1:5: not valid YAML"),
        ("%YAML 3.0\n---\na: 1", "not valid YAML"),
        ("a: 1\nb: x\x00", "2:5: not valid YAML: control character U+0000"),
        ("ä: \x1b[31m", "1:4: not valid YAML: control character U+001B"),
        ("a: \ud800", "1:4: not valid YAML: control character U+D800"),
        ('a: "\\0"', "1:4: text with the control character U+0000"),
        ('a: "\\e[31m"', "1:4: text with the control character U+001B"),
        ('"\\x7f": 1', "1:1: text with the control character U+007F"),
        ('a: "\\ud800"', "not valid YAML"),
    ],
)
def test_what_is_refused_is_named_with_line_and_column(text, said):
    assert said in refusal(text)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: 1\nb: \xff", ":2:4: not a text file in UTF-8: byte 0xff"),
        ("ää: 1\nb: ".encode() + b"\xc3", ":2:4: not a text file in UTF-8"),
        ("a: ä".encode("latin-1"), ":1:4: not a text file in UTF-8: byte 0xe4"),
        ("a: 1".encode("utf-16"), ":1:1: not a text file in UTF-8, but in UTF-16"),
        ("a: 1".encode("utf-32"), ":1:1: not a text file in UTF-8, but in UTF-32"),
        ("a: 1".encode("utf-16-le"), ":1:2: not valid YAML: control character U+0000"),
        (b"# " + b"x" * 10_000_000, "larger than 10 MB"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, content, said):
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    with pytest.raises(SkillError) as caught:
        read_yaml(path, SkillError)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_a_byte_order_mark_is_left_out(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert read_yaml(path, SkillError).value == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("name", "said"), [("none.yaml", "No such file"), ("", "directory"), ("a\0b", "not the name")]
)
def test_what_cannot_be_opened_is_refused(tmp_path, name, said):
    with pytest.raises(SkillError, match=f"cannot be read: .*{said}"):
        read_yaml(tmp_path / name, SkillError)


def test_values_of_the_command_line():
    assert parse_yaml_value("[{forward_m: 1.0}]", "--set a=…", RobotError) == [{"forward_m": 1.0}]
    with pytest.raises(RobotError, match=r"^--set a: '\[' is not a YAML value: not valid YAML: "):
        parse_yaml_value("[", "--set a", RobotError)
    assert parse_yaml_list("ä, [é, 'b,c'], {d: 1}", "", RobotError) == [
        ("ä", "ä"),
        ("[é, 'b,c']", ["é", "b,c"]),
        ("{d: 1}", {"d": 1}),
    ]
    for text in ("1], [2", "1] #", "1,,2", "[", "!!int a", "&a 1, *b", "1]\n---\n["):
        with pytest.raises(RobotError, match=r"^--vary k: '.*' is not a list of YAML values: "):
            parse_yaml_list(text, "--vary k", RobotError)


def plain(content):
    """Whether content is made of plain values alone."""
    if isinstance(content, dict):
        return all(type(key) is str and plain(each) for key, each in content.items())
    if isinstance(content, list):
        return all(map(plain, content))
    return type(content) in (str, int, float, bool, type(None))


def read_or_refused(text):
    """The oracle: plain values, or one line."""
    try:
        read = value(text)
    except SimbenchError as error:
        message = str(error)
    else:
        assert plain(read)
        return
    assert LINE.fullmatch(message), message


ODD = st.sampled_from(
    [
        *"[]{}:,-?&*!|>'\"%@`#=~\n\t \\",
        "!!int ",
        "<<: ",
        "&a ",
        "*a",
        "---\n",
        "...\n",
        "0b_",
        "0x_",
        "1:30",
        "\x00",
        "\ufeff",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ODD | st.text(max_size=4), max_size=30).map("".join))
def test_any_text_is_read_or_refused_in_one_line(text):
    read_or_refused(text)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), ODD), min_size=1, max_size=4),
)
def test_damaged_files_are_read_or_refused_in_one_line(path, changes):
    text = path.read_text(encoding="utf-8")[:4000]
    for place, length, inserted in changes:
        start = int(place * len(text))
        text = text[:start] + inserted + text[start + length :]
    read_or_refused(text)
