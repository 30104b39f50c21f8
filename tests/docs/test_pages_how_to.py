"""The code blocks of the site's pages about tasks are executed."""

import pages
import pytest


@pytest.mark.parametrize("page", pages.pages("how_to"), ids=lambda page: page.stem)
def test_the_blocks_of_a_page_are_executed(page, tmp_path, monkeypatch, drawer_run):
    monkeypatch.chdir(tmp_path)
    pages.run_page(page, tmp_path, drawer_run)
