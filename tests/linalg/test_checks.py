"""Index arrays of sparse matrices are checked before C code follows them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from symmf.errors import DataError
from symmf.linalg.checks import check_sparse


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("value", [-1, 99])
def test_indices_outside_of_the_matrix_are_refused(layout: str, value: int) -> None:
    X = sparse.csr_array(np.eye(4)).asformat(layout)
    check_sparse(X)
    (X.col if layout == "coo" else X.indices)[2] = value
    with pytest.raises(DataError, match="damaged"):
        check_sparse(X)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_pointers_out_of_order_are_refused(layout: str) -> None:
    X = sparse.csr_array(np.eye(4)).asformat(layout)
    X.indptr[1] = 3
    with pytest.raises(DataError, match="damaged"):
        check_sparse(X)
