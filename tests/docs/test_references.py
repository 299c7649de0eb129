"""What the documentation points at is there, without a build (test_build.py has that).

Links and their anchors, included files, roles such as ``{func}``, the names of the API
reference, and the markup of their docstrings.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import docutils.core
import docutils.nodes
import pytest
from docutils.parsers.rst import Directive, directives, roles
from numpydoc.docscrape_sphinx import get_doc_object

from scripts.docs_pages import PAGES as GENERATED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("guides/*.md")])
API = (DOCS / "api.rst").read_text(encoding="utf-8")
#: made when the documentation is built: by scripts/docs_pages, Sphinx and the gallery
MADE = {f"_generated/{name}.md" for name in GENERATED} | {"_generated/framework.png"}
MADE |= {
    f"auto_gallery/{example.stem}.rst" for example in DOCS.glob("gallery/plot_*.py")
}
MADE.add("auto_gallery/index.rst")


def text_of(page: Path) -> str:
    """Return a page without its blocks of code, and with what it includes of ours."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"```\{include\} (\.\./[A-Z]+\.md)\n```", text):
        text += (page.parent / name).read_text(encoding="utf-8")
    return re.sub(r"^```(?!\{).*?^```", "", text, flags=re.S | re.M)


def anchors(page: Path) -> set[str]:
    """Return the anchors that headings and labels of a page make."""
    text = text_of(page)
    labels = set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))
    headings = re.findall(r"^#{1,3} (.+)$", text, re.M)
    words = (re.sub(r"[^\w\- ]", "", title.lower()) for title in headings)
    return labels | {each.strip().replace(" ", "-") for each in words}


def public_names() -> list[str]:
    """Return what the API reference lists, by full name."""
    found, module = [], ""
    for line in API.splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif re.fullmatch(r"   ~?[A-Za-z_][\w.]*", line):
            found.append(f"{module}.{line.strip().removeprefix('~')}")
    return found


def public_object(name: str) -> object:
    """Import the module that a name is in, and take the name from it."""
    parts = name.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def hops() -> list[str]:
    """Return the functions that the walks of ARCHITECTURE.md go through."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walks = text.split("## Two walkthroughs")[1].split("\n## ")[0]
    blocks = re.findall(r"^```text\n(.*?)^```", walks, re.S | re.M)
    lines = [line.strip() for block in blocks for line in block.splitlines() if line]
    # A remark follows after two spaces or more.
    code = [re.split(r"  +", line)[0].replace(" (below)", "") for line in lines]
    return [hop for part in code for hop in part.split(" > ")]


def test_walks_go_through_functions_that_exist() -> None:
    homes = ("symmf", "symmf.experiment", "symmf.reporting", "symmf.clustering")
    modules = {".".join(hop.split(".")[:-1]) for hop in hops() if "." in hop}

    def exists(hop: str) -> bool:
        near = [f"{home}.{hop}" for home in homes]
        # A function without its module is in one that was named, or a class of it.
        near += [f"{home}.{module}.{hop}" for home in homes for module in modules]
        for name in near:
            with contextlib.suppress(ModuleNotFoundError, AttributeError):
                return public_object(name) is not None
        return False

    assert [hop for hop in hops() if not exists(hop)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_pictures_of_a_page_are_there(page: Path) -> None:
    text = text_of(page)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    links += [f"{name}.md" for name in re.findall(r"\{doc\}`([\w/.]+)`", text)]
    assert [link for link in links if "://" not in link and dead(page, link)] == []


def dead(page: Path, link: str) -> bool:
    """Tell whether a link of a page leads nowhere."""
    target, _, anchor = link.partition("#")
    where = (page.parent / target).resolve()
    if where.is_relative_to(DOCS) and str(where.relative_to(DOCS)) in MADE:
        return False
    # What comes from README and its like is relative to the project's folder.
    there = next((p for p in (where, ROOT / target) if p.exists()), None)
    if target and there is None:
        return True
    return bool(anchor) and anchor not in anchors(there if target and there else page)


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = set()
    for index in (DOCS / "index.md", DOCS / "guides" / "index.md"):
        text = index.read_text(encoding="utf-8")
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.S):
            entries = re.findall(r"^(?:.* <)?([\w/]+)>?$", tree, re.M)
            listed |= {(index.parent / entry).resolve() for entry in entries}
    known = {page.with_suffix("") for page in PAGES} | {DOCS / "api"}
    assert listed - known == {DOCS / "auto_gallery" / "index"}
    assert known - listed == {DOCS / "index"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_includes_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    pattern = r"```\{(?:literal)?include\} (\S+)((?:\n:[\w-]+:.*)*)"
    for name, options in re.findall(pattern, text):
        target = (page.parent / name).resolve()
        if target.is_relative_to(DOCS) and str(target.relative_to(DOCS)) in MADE:
            continue
        content = target.read_text(encoding="utf-8")
        for mark in re.findall(r":(?:start-after|end-before): (.+)", options):
            assert mark in content, f"{page.name}: {mark}"


@pytest.mark.parametrize("page", [*PAGES, DOCS / "api.rst"], ids=lambda page: page.stem)
def test_names_in_a_text_are_in_the_reference(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"[{:](?:func|class|meth|mod)[}:]`~?([\w.]+)`", text)
    listed = {id(public_object(name)) for name in public_names()}
    for name in named:
        assert id(public_object(name)) in listed, name


class Only(Directive):
    """What Sphinx leaves out of HTML."""

    optional_arguments = 1
    has_content = True

    def run(self) -> list[docutils.nodes.Node]:
        return []


@pytest.fixture(scope="module")
def _sphinx_roles():
    """Let docutils take the roles of Sphinx for emphasis."""
    directives.register_directive("only", Only)
    for name in ("func", "class", "meth", "mod", "attr", "data", "obj", "ref", "term"):
        roles.register_generic_role(name, docutils.nodes.emphasis)


@pytest.mark.usefixtures("_sphinx_roles")
@pytest.mark.parametrize("name", public_names())
def test_docstrings_of_public_names_are_sound(name: str) -> None:
    thing = public_object(name)
    assert inspect.getdoc(thing), f"{name} has no docstring"
    documented = [thing]
    if inspect.isclass(thing):
        members = inspect.getmembers(thing, inspect.isfunction)
        documented += [
            member
            for key, member in members
            if not key.startswith("_")
            and member.__module__.startswith("symmf")
            and member.__doc__
        ]
    assert not isinstance(thing, ModuleType)
    for each in documented:
        text = str(get_doc_object(each, config={"show_class_members": False}))
        # Raises at the first thing that docutils warns of.
        docutils.core.publish_doctree(
            text,
            settings_overrides={
                "halt_level": 2,
                "report_level": 2,
                "warning_stream": False,
            },
        )
