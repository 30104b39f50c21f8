"""Sizes are counted as they are, and what grew is said."""

import textwrap

import pytest
import script_modules

FIRST = '''
"""A module."""

from dataclasses import dataclass

from small.second import twice  # one importer


@dataclass
class Once:
    """Made at one place."""

    value: int


@dataclass
class Often:
    value: int


def public(number):
    """Several

    lines.
    """
    return _once(number) + _often(number) + _often(2).value


def _once(number):
    return Once(number)


def _often(number):
    return Often(number) if twice(number) else Often(0)
'''


@pytest.fixture(scope="module")
def check_size():
    with script_modules.loaded_script("tools/check_size.py") as module:
        yield module


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "small"
    (root / "inner").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "first.py").write_text(textwrap.dedent(FIRST))
    (root / "second.py").write_text("def twice(x):\n    return 2 * x\n")
    (root / "inner" / "__init__.py").write_text("")
    (root / "inner" / "first.py").write_text("import small.first\n")
    return root


def test_counts_what_is_there(check_size, package):
    sizes = check_size.count_sizes(package)
    assert sizes["all"] == {
        "files": 5,
        "code": 14 + 2 + 1,
        "docstrings": 1 + 1 + 4,
        "functions": 4,
        "called_once": 1,
        "short": 1,
        "made_once": 1,
        "one_importer": 2,
        "same_name": 2,
    }
    assert sizes["inner"]["code"] == 1
    assert sizes["(top level)"]["same_name"] == 1


def test_long_function_with_one_caller_is_not_short(check_size, package):
    body = "".join(f"    x += {number}\n" for number in range(15))
    (package / "second.py").write_text(
        f"def twice(x):\n    return _add(x)\n\ndef _add(x):\n{body}    return x\n"
    )
    sizes = check_size.count_sizes(package)["all"]
    assert (sizes["called_once"], sizes["short"]) == (2, 1)


def test_says_what_grew(check_size, package):
    committed = check_size.count_sizes(package)
    assert check_size.grown(committed, committed) == []
    (package / "inner" / "third.py").write_text("x = 1\n")
    assert check_size.grown(check_size.count_sizes(package), committed) == [
        "inner: files 3, committed 2",
        "inner: code 2, committed 1",
        "all: files 6, committed 5",
        "all: code 18, committed 17",
    ]
