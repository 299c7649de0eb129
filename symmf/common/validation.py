"""The one place for "did you mean" and for checks of numbers and names.

Every check raises :class:`~symmf.errors.InputError` with a sentence that names the
parameter, what it may be and what was given.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

from symmf.errors import InputError


def nearest(word: object, known: Iterable[str]) -> str | None:
    """Return the known name most like ``word``, or None.

    Examples
    --------
    >>> nearest("Trails", ["seed", "trials"])
    'trials'
    """
    lower = {name.lower(): name for name in known}
    text = word if isinstance(word, str) else shown(word)
    found = difflib.get_close_matches(text.lower()[:200], list(lower), n=1)
    return lower[found[0]] if found else None


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " Did you mean ...?" with the nearest known name, or nothing.

    Examples
    --------
    >>> did_you_mean("nonegative", ["none", "nonnegative"])
    " Did you mean 'nonnegative'?"
    """
    near = nearest(word, known)
    return f" Did you mean {near!r}?" if near else ""


def unknown_name(kind: str, word: object, known: Iterable[str]) -> str:
    """Return the sentence for a name that is not in a registry.

    Examples
    --------
    >>> unknown_name("solver", "newtom", ["newton", "eigen"])
    "There is no solver 'newtom'. Did you mean 'newton'? Known: newton, eigen."
    """
    names = list(known)
    listed = f" Known: {', '.join(names)}." if names else " None is known."
    return f"There is no {kind} {shown(word)}.{did_you_mean(word, names)}{listed}"


def check_name(kind: str, word: object, known: Iterable[str]) -> str:
    """Return a name of a registry, or raise with the nearest one."""
    names = list(known)
    if not isinstance(word, str) or word not in names:
        raise InputError(unknown_name(kind, word, names))
    return word


def check_options(what: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Raise unless every option is one that ``what`` takes.

    ``what`` begins the sentence: "The similarity 'cosine_knn'".
    """
    for option in options:
        if option not in known:
            takes = f"It takes: {', '.join(known)}." if known else "It takes none."
            raise InputError(
                f"{what} has no option {option!r}.{did_you_mean(option, known)} {takes}"
            )


def option_names(build: Callable[..., Any], *, skip: int = 0) -> list[str]:
    """Return the names of the arguments of a builder after the first ``skip``."""
    return list(inspect.signature(build).parameters)[skip:]


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise unless the parameter is one of the names."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        names = ", ".join(repr(choice) for choice in known)
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise InputError(f"{name} is one of {names}, not {shown(value)}.{hint}")


def check_columns(X: Any) -> None:
    """Raise InputError if a frame has columns of no numbers, or of one name twice."""
    if not hasattr(X, "columns"):
        return
    names = [str(name) for name in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"Columns of X have the same name: {', '.join(twice)}.")
    words = []
    for name in X.columns:
        values = X[name].to_numpy()
        try:
            # numpy would make numbers of dates and of complex numbers, too.
            if values.dtype.kind in "cmM":
                raise TypeError
            values.astype(float)
        except (TypeError, ValueError):
            words.append(str(name))
    if words:
        raise InputError(
            f"Columns of X that are not all numbers: {', '.join(words)}. Drop them, or "
            "turn them into numbers, as symmf.features.MixedColumns does."
        )


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a finite real number, and not a word or a flag."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        # An integer too large for a float.
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is an integer (numpy's count), and not a flag."""
    return not isinstance(value, bool) and isinstance(value, numbers.Integral)


def check_number(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    whole: bool = False,
) -> None:
    """Raise unless the parameter is a finite number within its bounds.

    Parameters
    ----------
    name
        The parameter's name, as the user writes it.
    value
        What was given.
    least, above, most
        Bounds: value >= least, value > above, value <= most.
    whole
        Whether it must be an integer.

    Examples
    --------
    >>> check_number("tol", 1e-6, least=0)
    >>> check_number("k", 0, least=1, whole=True)
    Traceback (most recent call last):
    symmf.errors.InputError: k must be a whole number >= 1, not 0.
    """
    fits = is_whole(value) if whole else is_number(value)
    if fits and least <= value <= most and value > above:  # type: ignore[operator]
        return
    bounds = [f">= {least:,.12g}"] * (least > -math.inf)
    bounds += [f"> {above:,.12g}"] * (above > -math.inf)
    bounds += [f"<= {most:,.12g}"] * (most < math.inf)
    what = "a whole number" if whole else "a finite number"
    allowed = " ".join([what, " and ".join(bounds)]).strip()
    raise InputError(f"{name} must be {allowed}, not {shown(value)}.")


def check_number_or_name(
    name: str, value: object, names: Sequence[str], **bounds: Any
) -> None:
    """Raise unless the parameter is one of some names, or a number within bounds.

    Examples
    --------
    >>> check_number_or_name("step", "safe", ["safe"], above=0)
    >>> check_number_or_name("step", 0, ["safe"], above=0)
    Traceback (most recent call last):
    symmf.errors.InputError: step must be a finite number > 0, not 0.
    """
    if names and isinstance(value, str):
        check_choice(f"{name}, unless it is a number,", value, names)
    else:
        check_number(name, value, **bounds)


def shown(value: object) -> str:
    """Return ``repr(value)``, cut if it is long.

    Examples
    --------
    >>> shown("a"), shown(10**5000)
    ("'a'", 'a whole number of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > 1000:
        # Python refuses to write down very large ones.
        return f"a whole number of {value.bit_length()} bits"
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Nested too deeply, or with a whole number as above inside.
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]} ..."


def is_dask(X: Any) -> bool:
    """Tell whether X is a dask collection (array, data frame, delayed value)."""
    base = sys.modules.get("dask.base")
    return base is not None and bool(base.is_dask_collection(X))
