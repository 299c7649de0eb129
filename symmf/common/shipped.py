"""Where shipped things are: the experiment files and the reference study.

In a checkout they are ``configs/`` and ``results/reference/``; a wheel carries copies
inside the package. This module alone knows, and nothing else assumes a checkout.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from symmf.common.validation import did_you_mean
from symmf.errors import ConfigError

# Folder of the package that the build fills; see setup.py.
FOLDER = "_shipped"
SUFFIX = ".yaml"


@cache
def packaged(package: str, name: str) -> Any:
    """Return what a YAML file of a package holds: texts and tables kept out of code."""
    import yaml

    path = resources.files(package).joinpath(name)
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def checkout() -> Path | None:
    """Return the root of the checkout the package runs from, or None."""
    root = Path(__file__).resolve().parents[2]
    # An installed package has neither of them.
    is_checkout = (root / "pyproject.toml").is_file() and (root / "configs").is_dir()
    return root if is_checkout else None


def _folder(in_checkout: str, in_package: str) -> Path:
    root = checkout()
    if root is not None:
        return root / in_checkout
    return Path(str(resources.files("symmf").joinpath(FOLDER, in_package)))


def configs_folder() -> Path:
    """Return the folder of the shipped experiment files."""
    return _folder("configs", "configs")


def reference_folder() -> Path:
    """Return the folder of the reference study; it may be missing."""
    return _folder("results/reference", "reference")


def config_names() -> list[str]:
    """Return the names of the shipped experiment files, quickstart first.

    Examples
    --------
    >>> config_names()[0]
    'quickstart'
    """
    names = {path.stem for path in configs_folder().glob(f"*{SUFFIX}")}
    return sorted(names, key=lambda name: (name != "quickstart", name))


def config_path(name: str) -> Path:
    """Return the file of a shipped config, or raise with the nearest name."""
    names = config_names()
    if name not in names:
        raise ConfigError(
            f"There is no shipped config {name!r}.{did_you_mean(name, names)} "
            "`symmf configs` lists them."
        )
    return configs_folder() / f"{name}{SUFFIX}"


def find_config(given: Path | str) -> Path:
    """Return the file meant by a path or by the name of a shipped config.

    A path wins: what lies in the user's folder is what the user sees.

    Raises
    ------
    ConfigError
        If there is neither; the sentence names what is near.

    Examples
    --------
    >>> find_config("quickstart").name
    'quickstart.yaml'
    """
    path, text = Path(given), str(given)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):
        raise ConfigError(f"{text!r} is not the name of a file.") from None
    names = config_names()
    # `symmf run configs/coil20.yaml` is what one types outside a checkout, too.
    name = path.stem if path.suffix == SUFFIX else text
    plain = path.parent == Path() or path.parent == Path("configs")
    if plain and name in names:
        return configs_folder() / f"{name}{SUFFIX}"
    raise ConfigError(
        f"There is no file {text} and no shipped config of that name."
        f"{did_you_mean(name, names)} `symmf configs` lists them."
    )
