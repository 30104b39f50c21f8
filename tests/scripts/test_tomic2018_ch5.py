import pytest
from rich.console import Console
from script_modules import loaded_script

from simbench.errors import SkillError


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/ch5.py") as module:
        yield module


def test_only_recordings_without_a_table_are_studied(script, monkeypatch, tmp_path):
    given = [{"task": task, "actor": 1, "session": 2019} for task in script.THESIS_TASKS]
    studied = []

    def read_rows(path, console):
        if path == tmp_path / "given":
            return given
        return [{"path": path}]

    monkeypatch.setattr(script, "read_rows", read_rows)
    monkeypatch.setattr(script, "run_study", lambda function, items, *rest, **more: studied.extend(items))
    rows = script.optimised([2019], [tmp_path / "given"], tmp_path, 1, Console())
    assert rows == [*given, {"path": tmp_path / "optimised_2019" / "table.parquet"}]
    assert {item.varied["task"] for item in studied} == {script.UNSEEN}
    assert [item.varied["actor"] for item in studied] == list(range(1, 16))
    with pytest.raises(SkillError, match="session 2019, which --sessions does not name"):
        script.optimised([2018], [tmp_path / "given"], tmp_path, 1, Console())
