"""The documentation builds without a warning: pages, links and the API reference.

It takes minutes; test_references.py looks at the same without a build. The examples of
the gallery are not run here: ``scripts/docs`` does that.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_pages_links_and_api_reference_build_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_gallery", reason="needs the extra docs")
    # Pages of names that are gone would be warned about.
    shutil.rmtree(ROOT / "docs" / "api", ignore_errors=True)
    out = tmp_path / "html"
    sphinx = [
        *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E"),
        *("-D", "plot_gallery=0", "-d", str(tmp_path / "doctrees")),
        *("-b", "html", str(ROOT / "docs"), str(out)),
    ]
    for command in ([sys.executable, "-m", "scripts.docs_pages"], sphinx):
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    assert (out / "api" / "symmf.SymMF.html").is_file()
