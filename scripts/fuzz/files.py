"""Damaged files of a user, read and clustered by ``symmf cluster``."""

from __future__ import annotations

import functools
import gzip
import io
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.fuzz.harness import Case
from scripts.fuzz.models import edited
from scripts.fuzz.mutate import DAMAGES, NUMBERS, TEXTS, damage, odd_path
from scripts.fuzz.numerics import odd_matrix
from scripts.fuzz.process import LOST

METHODS = ("symmf", "kmeans", "spectral", "symnmf", "nmf")


@functools.cache
def good_files() -> dict[str, bytes]:
    """Return a good file of every format, by name."""
    import h5py
    import numpy as np
    import pandas as pd
    from scipy import io as scipy_io
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.random((12, 5)).round(3)
    S = sparse.csr_matrix(np.where(X > 0.5, X, 0))
    G = np.abs(X @ X.T)
    y = np.arange(12) % 3
    files: dict[str, bytes] = {}

    def keep(name: str, write: Callable[[Any], object]) -> None:
        buffer = io.BytesIO()
        write(buffer)
        files[name] = buffer.getvalue()

    rows = [",".join(map(str, row)) for row in X]
    files["plain.csv"] = "\n".join(rows).encode()
    named = [f"id{i},{row},{c}" for i, (row, c) in enumerate(zip(rows, y, strict=True))]
    files["named.csv"] = "\n".join(["id,a,b,c,d,e,class", *named]).encode()
    files["t.tsv"] = "\n".join(row.replace(",", "\t") for row in rows).encode()
    files["semicolon.csv"] = "\n".join(
        row.replace(",", ";").replace(".", ",") for row in rows
    ).encode()
    files["quoted.csv"] = ('"a","b"\r\n"1","2"\r\n' + '"3","4,5"\r\n' * 3).encode()
    files["wide.csv"] = "\n".join(rows).encode("utf-16")
    files["edges.txt"] = "\n".join(
        f"{i} {(i * 7) % 12} 1.5" for i in range(24)
    ).encode()
    arrays = {"a": X, "f32": X.astype("f4"), "col": np.asfortranarray(X), "g": G,
              "big": X.astype(">f8"), "three": X.reshape(3, 4, 5),
              "o": X.astype(object)}  # fmt: skip
    for name, array in arrays.items():
        keep(f"{name}.npy", functools.partial(np.save, arr=array))
    keep("a.npz", lambda f: np.savez(f, X=X, y=y))
    keep("c.npz", lambda f: np.savez_compressed(f, X=X, y=y))
    for layout in ("csr", "csc", "bsr", "coo", "dia"):
        matrix = S.asformat(layout)
        keep(f"{layout}.npz", functools.partial(sparse.save_npz, matrix=matrix))
    keep("d.mat", lambda f: scipy_io.savemat(f, {"X": X, "y": y}))
    keep("z.mat", lambda f: scipy_io.savemat(f, {"X": X, "y": y}, do_compression=True))
    keep("s.mat", lambda f: scipy_io.savemat(f, {"X": S, "y": y}))
    keep("v4.mat", lambda f: scipy_io.savemat(f, {"X": X}, format="4"))
    cells = np.array(["a", 1.5, np.eye(2)], dtype=object)
    keep("cell.mat", lambda f: scipy_io.savemat(f, {"X": X, "c": cells, "s": {"t": 1}}))
    for name, matrix in (("a", X), ("s", S), ("sym", sparse.coo_matrix(G))):
        keep(f"{name}.mtx", functools.partial(scipy_io.mmwrite, a=matrix))
    files["z.mtx.gz"] = gzip.compress(files["s.mtx"])

    C = S.tocsc()
    for name in ("d.h5", "s73.mat"):
        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            file["y"] = y
            if name == "d.h5":
                file["X"] = X
            else:
                file["X/data"], file["X/ir"], file["X/jc"] = C.data, C.indices, C.indptr
                file["X"].attrs["MATLAB_sparse"] = np.uint64(12)
        files[name] = buffer.getvalue()
    frame = pd.DataFrame(X, columns=list("abcde"))
    keep("t.parquet", frame.to_parquet)
    keep("t.xlsx", lambda f: frame.to_excel(f, index=False))
    return files


def live(case: Case) -> None:
    """Damage a good file, or forge one, and cluster it."""
    rng, folder = case.rng, case.folder
    kind = rng.randrange(10)
    if kind == 0:
        suffix = rng.choice((".csv", ".npy", ".npz", ".mat", ".mtx", ".h5", ".txt", ""))
        path = folder / f"x{suffix}"
        odd_path(rng, path)
    else:
        makers = (_forged_csv, _forged_values) if kind <= 2 else (_damaged,)
        name, content = rng.choice(makers)(rng)
        path = folder / name
        path.write_bytes(content)
    words = ["cluster", path, "-k", rng.choice((2, 2, 3, 3, 1, 12, 50))]
    words += ["--method", rng.choice(METHODS)]
    words += rng.choice(
        ([], [], [], ["--precomputed"], ["--labels", "y"], ["--labels", "class"],
         ["--labels", "-1"], ["--variable", "X"], ["--out", "o.csv"])
    )  # fmt: skip
    ended = case.run(*words)
    if not ended.code and re.search(r"\b(nan|inf)\b", ended.text, re.IGNORECASE):
        case.blame(LOST, f"a result that is not finite:\n{ended.text[-500:]}")


def _damaged(rng: random.Random) -> tuple[str, bytes]:
    name = rng.choice(sorted(good_files()))
    content = good_files()[name]
    if name.endswith(".gz") and rng.random() < 0.5:
        return name, gzip.compress(damage(rng, gzip.decompress(content)))
    if name.endswith(".npz") and rng.random() < 0.6:
        return name, edited(rng, content, Path("MARKER"))
    return name, rng.choice(DAMAGES)(rng, content)


def _forged_csv(rng: random.Random) -> tuple[str, bytes]:
    odd = ("1", "2.5", "", "x", " ", '"', "1,5", "\t", "NA", "=1+1", "\0")
    cells = (*odd, *NUMBERS, *TEXTS)
    width = rng.randint(1, 5)
    lines = [
        ",".join(
            rng.choice(cells) if rng.random() < 0.1 else "1.5" for _ in range(width)
        )
        for _ in range(rng.randint(0, 30))
    ]
    encoding = rng.choice(("utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"))
    text = rng.choice(("\n", "\r\n", "\r")).join(lines)
    return rng.choice(("a.csv", "a.tsv", "a.txt")), text.encode(encoding, "replace")


def _forged_values(rng: random.Random) -> tuple[str, bytes]:
    """Return a good file of numbers that are hard to compute with."""
    import numpy as np

    buffer = io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(buffer, np.asarray(odd_matrix(rng)()), allow_pickle=True)
    return "a.npy", buffer.getvalue()
