import pytest

from simbench.errors import StudyError
from simbench.runs.study.scenario_sweep import MOST, parse_vary


@pytest.mark.parametrize(
    ("listed", "texts", "values"),
    [
        ("1,2.5, 1e-3", ("1", "2.5", "1e-3"), (1, 2.5, 0.001)),
        ("pd, computed_torque", ("pd", "computed_torque"), ("pd", "computed_torque")),
        ("true,null", ("true", "null"), (True, None)),
        ("[0, 0.1],[0.2, 0]", ("[0, 0.1]", "[0.2, 0]"), ([0, 0.1], [0.2, 0])),
        ("'a,b',\"1..3\"", ("'a,b'", '"1..3"'), ("a,b", "1..3")),
        ("1..4", ("1", "2", "3", "4"), (1, 2, 3, 4)),
        ("-2..1,7", ("-2", "-1", "0", "1", "7"), (-2, -1, 0, 1, 7)),
        ("9..10", ("9", "10"), (9, 10)),
        ("actor:valves:2..3", ("actor:valves:2", "actor:valves:3"), ("actor:valves:2", "actor:valves:3")),
        ("../take-1..2", ("../take-1", "../take-2"), ("../take-1", "../take-2")),
        # No range of whole numbers: left to the scenario to refuse.
        ("0.1..5", ("0.1..5",), ("0.1..5",)),
    ],
)
def test_values_are_read_as_yaml_and_kept_as_written(listed, texts, values):
    key, written, read = parse_vary(f"a.0.b={listed}")
    assert (key, written, read) == ("a.0.b", texts, values)
    assert list(map(type, read)) == list(map(type, values))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed", "must be key=a,b,c or key=a..b"),
        ("=1,2", "must be key=a,b,c or key=a..b"),
        ("a..b=1", "must be key=a,b,c or key=a..b"),
        ("seed=", "gives no value"),
        ("seed=1,,2", "is not a list of YAML values"),
        ("seed=1],[2", "is not a list of YAML values"),
        ("seed=[1", "is not a list of YAML values"),
        ("seed=5..1", "5..1 must go up"),
        (f"seed=1..{MOST + 1}", f"by at most {MOST} values"),
        ("seed=1..99999999999999", f"by at most {MOST} values"),
    ],
)
def test_what_is_no_list_is_refused(text, said):
    with pytest.raises(StudyError) as refused:
        parse_vary(text)
    assert str(refused.value).startswith(f"--vary {text}: ")
    assert said in str(refused.value)
