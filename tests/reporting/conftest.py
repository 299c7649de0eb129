"""One made-up study and its page for all tests that only read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.made_traces import full

from symmf.reporting.page.render import write_report
from symmf.reporting.results import Results, load_results


@pytest.fixture(scope="session")
def full_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with a bit of everything; nothing may be written to it."""
    return full(tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="session")
def full_results(full_folder: Path) -> Results:
    """Return what is in that folder."""
    return load_results(full_folder)


@pytest.fixture(scope="session")
def full_page(full_results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page made from that folder."""
    return write_report(full_results, tmp_path_factory.mktemp("page") / "report.html")
