"""The same factor from rows on a Dask cluster of two worker processes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import symmf
from symmf.similarity import build_similarity, regularise

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is absent")
from symmf.distributed.operators import DistributedGram  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),
]


@pytest.fixture(scope="module", autouse=True)
def client():
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            # Any free port: without an address 8787 is tried, which may be taken.
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        yield client


@pytest.fixture(scope="module")
def documents() -> sparse.csr_array:
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, (90, 40)).astype(float)
    dense[::7, :5] += 3
    return sparse.csr_array(dense)


def rows_of(*blocks):
    array, delayed = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    return array.concatenate(
        [
            array.from_delayed(
                delayed.delayed(block), block.shape, meta=sparse.csr_array((0, 0))
            )
            for block in blocks
        ]
    )


def test_equals_the_operator_in_memory(documents) -> None:
    far = DistributedGram(rows_of(documents[:30], documents[30:55], documents[55:]))
    near = build_similarity(documents, "centred_cosine")
    V = np.random.default_rng(1).standard_normal((90, 4))
    np.testing.assert_allclose(far.matmat(V), near.matmat(V), atol=1e-12)
    np.testing.assert_allclose(far.diagonal(), near.diagonal(), atol=1e-12)
    assert far.fro2 == pytest.approx(near.fro2, rel=1e-12)


def test_same_factor_to_rounding(documents) -> None:
    far = regularise(DistributedGram(rows_of(documents[:45], documents[45:])), 0.5)
    near = regularise(build_similarity(documents, "centred_cosine"), 0.5)
    H0 = np.random.default_rng(2).standard_normal((90, 3))
    fits = [
        symmf.factorize(M, 3, H0=H0, max_iter=25, tol=0, random_state=0)
        for M in (far, near)
    ]
    np.testing.assert_allclose(fits[0].H, fits[1].H, atol=1e-9)
    np.testing.assert_allclose(fits[0].error, fits[1].error, rtol=1e-9)
