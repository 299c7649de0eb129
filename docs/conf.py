"""How Sphinx builds the documentation: ``scripts/docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT)]
# The gallery's numbers do not depend on the number of cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from symmf import __version__  # noqa: E402

project = "symmf"
author = "The symmf developers"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
]
if os.environ.get("SYMMF_DOCS_ONLINE"):
    # Links into other projects' pages need their inventories, hence a network.
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

exclude_patterns = [
    "_build",
    "_generated",
    "examples",
    "gallery/README.rst",
    "**/.ipynb_checkpoints",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "within_subsection_order": "gallery_order.ByLesson",
    "default_thumb_file": None,
}

html_theme = "pydata_sphinx_theme"
html_title = "symmf"
html_static_path = ["_static"]
html_css_files = ["symmf.css"]
html_extra_path = ["_extra"] if (ROOT / "docs" / "_extra").is_dir() else []
html_show_sourcelink = False
html_theme_options = {
    "show_nav_level": 2,
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# Pages without pages below them need no column for these.
html_sidebars = {
    page: []
    for page in (
        *("start", "concepts", "algorithms", "study", "speed", "audit"),
        *("faq", "whatsnew", "cite", "architecture", "contribute"),
    )
}
