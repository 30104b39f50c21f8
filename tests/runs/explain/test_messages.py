import ast
import re

import pytest
from pydantic_core._pydantic_core import list_all_errors

import simbench.errors
from simbench.errors import SimbenchError
from simbench.resources import PACKAGE
from simbench.runs.explain.messages import error_classes, find_message, find_template, message_entries
from simbench.runs.explain.templates import GAP, fixed_parts, matches, message_templates
from simbench.runs.scenario.loading import _WORDING


def library_templates():
    """Messages of pydantic, in the words of simbench."""
    for error in list_all_errors():
        text = re.sub(r"\{\w+\}", GAP, error["message_template_python"])
        for original, replacement in _WORDING.items():
            text = text.replace(original, replacement)
        yield text


def test_every_pattern_is_one_of_a_message_in_the_source():
    texts = [*(" ".join(each.text.split()) for each in message_templates()), *library_templates()]
    rotten = [
        entry.pattern
        for entry in message_entries()
        if not any(matches(entry.pattern, text) for text in texts)
    ]
    assert rotten == []
    assert not any(matches("a robot …, which nobody has written", text) for text in texts)


def test_entries_are_complete_and_different():
    entries = message_entries()
    assert len(entries) >= 60
    assert len({entry.pattern for entry in entries}) == len(entries)
    for entry in entries:
        assert fixed_parts(entry.pattern), entry
        assert entry.meaning.endswith("."), entry
        assert entry.advice.endswith("."), entry
        assert re.fullmatch(r"[a-z_0-9]+/[a-z_0-9]+", entry.page), entry


def test_every_error_that_users_meet_has_an_explanation_of_its_class():
    own = {
        name
        for name, value in vars(simbench.errors).items()
        if isinstance(value, type) and issubclass(value, SimbenchError) and value is not SimbenchError
    }
    assert own <= {each.name for each in error_classes()}


def raised_texts():
    """Template of each error that is raised with a text where it stands, by its class."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                yield ast.unparse(node.exc.func), node.exc.args[0]


def test_every_error_with_a_text_of_its_own_is_found_again():
    """A message is made of each template; the template that is found for it fits as well or better."""
    classes = {each.name for each in error_classes()} - {"ValueError"}
    templates = [each for each in message_templates() if each.error in classes]
    assert len(templates) > 300
    for template in templates:
        text = " ".join(template.text.replace(GAP, "7").split())
        found = find_template(text)
        assert found is not None, template
        assert len("".join(fixed_parts(found.text))) >= len("".join(fixed_parts(template.text))), template
    written = sum(
        error in classes and isinstance(text, ast.JoinedStr | ast.Constant) for error, text in raised_texts()
    )
    assert len(templates) >= 0.9 * written


@pytest.mark.parametrize(
    ("text", "message", "fits"),
    [
        ("…: no such file", "/tmp/a: no such file", True),
        ("a … b … c", "a 1 b 2 c", True),
        ("a … b … c", "a 1 c 2 b", False),
        ("…", "", True),
        ("no a", "no b", False),
    ],
)
def test_a_pattern_fits_if_its_fixed_parts_follow_one_another(text, message, fits):
    assert matches(text, message) is fits


def test_the_entry_with_the_longest_fixed_text_counts():
    entry = find_message("romeo: out of reach: a palm misses the equipment by 31 mm at 2 s of the recording")
    assert entry.pattern.startswith("…: out of reach: a palm")
    assert find_message("nothing that simbench writes") is None
