"""A fit goes on when a worker is killed in the middle; rows stay with the workers."""

from __future__ import annotations

import os
import signal
import time
import tracemalloc

import numpy as np
import pytest
from helpers.dask_processes import Cluster

from symmf import SymMF

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow

N, M, K, BLOCK = 4000, 120, 2, 250
GIVEN = {
    "similarity": "centred_cosine",
    "laplacian_weight": 0.1,
    "solver": "projected_gradient",
    "max_iter": 8,
    "tol": 0,
    "random_state": 0,
}


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.close()


def connected(cluster):
    """Return a client once both workers are there."""
    client = distributed.Client(cluster.address, timeout=60)
    while len(client.scheduler_info()["workers"]) < 2:
        time.sleep(0.05)
    return client


def two_groups(n, m):
    """Rows of two groups in blocks of 250, the same whenever they are made again."""

    def make_block(block_info=None):
        (first, last), _ = block_info[None]["array-location"]
        rows = np.random.default_rng(first).standard_normal((last - first, m))
        rows[::2, : m // 4] += 3
        rows[1::2, m // 4 : m // 2] += 3
        return rows

    chunks = ((BLOCK,) * (n // BLOCK), (m,))
    return da.map_blocks(make_block, chunks=chunks, dtype=float)


def test_a_worker_is_killed_in_mid_fit(cluster) -> None:
    doomed, _ = cluster.add_worker("--no-nanny"), cluster.add_worker("--no-nanny")
    X = two_groups(N, M)
    rows = X.compute(scheduler="synchronous")
    seen = []

    def kill_one(iteration) -> None:
        seen.append(iteration)
        if len(seen) == 3:
            os.kill(doomed.pid, signal.SIGKILL)

    with connected(cluster):
        far = SymMF(K, solver_options={"callback": kill_one}, **GIVEN).fit(X)
        placed = far.predict(X)
    assert doomed.wait() == -signal.SIGKILL
    assert len(seen) > 3
    near = SymMF(K, **GIVEN).fit(rows)
    np.testing.assert_allclose(far.H_ @ far.H_.T, near.H_ @ near.H_.T, atol=1e-8)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(placed, near.predict(rows))


def test_the_client_holds_n_times_k_numbers(cluster) -> None:
    cluster.add_worker("--no-nanny")
    cluster.add_worker("--no-nanny")
    with connected(cluster) as client:
        weigh(client, N, M)  # what is imported and remembered on first use
        received, peak = weigh(client, N, M)
        wider_received, wider_peak = weigh(client, N, 4 * M)
        longer_received, _ = weigh(client, 2 * N, M)
    # The factor of n x k came in one piece. Rows with four times the features bring no
    # more: had one block of them come as it is, it would be this much.
    assert received >= N * K * 8
    one_block = BLOCK * (4 * M) * 8
    assert wider_received - received < one_block
    assert wider_peak - peak < one_block
    # Twice the rows bring twice as much; a matrix of n x n would be four times.
    assert longer_received <= 2 * received


def weigh(client, n, m):
    """Fit and place; return the most bytes received at once and held at a time."""
    gather, received = client.gather, []

    def weighed(futures, *rest, **named):
        found = gather(futures, *rest, **named)
        received.append(sum(getattr(part, "nbytes", 0) for part in found))
        return found

    X = two_groups(n, m)
    client.gather = weighed
    tracemalloc.start()
    try:
        SymMF(K, **GIVEN).fit(X).predict(X)
        return max(received), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        client.gather = gather


def test_a_worker_is_killed_while_rows_are_placed(cluster, monkeypatch) -> None:
    from symmf.clustering.symmf import estimator

    doomed, _ = cluster.add_worker("--no-nanny"), cluster.add_worker("--no-nanny")
    X = two_groups(N, M)
    rows = X.compute(scheduler="synchronous")
    given = {"similarity_options": {"n_landmarks": 300}, "random_state": 0}
    near = SymMF(K, **given).fit(rows)
    factorize = estimator.factorize

    def factorize_and_kill(*args, **named):
        os.kill(doomed.pid, signal.SIGKILL)
        return factorize(*args, **named)

    monkeypatch.setattr(estimator, "factorize", factorize_and_kill)
    with connected(cluster):
        far = SymMF(K, **given).fit(X)
    assert doomed.wait() == -signal.SIGKILL
    np.testing.assert_array_equal(far.labels_, near.labels_)


def test_the_client_holds_drawn_rows_and_labels(cluster) -> None:
    cluster.add_worker("--no-nanny")
    given = {"similarity_options": {"n_landmarks": 20}, "random_state": 0}
    with connected(cluster) as client:
        X = two_groups(N, M)
        gather, received = client.gather, []

        def weighed(futures, *rest, **named):
            found = gather(futures, *rest, **named)
            received.append(sum(getattr(part, "nbytes", 0) for part in found))
            return found

        client.gather = weighed
        SymMF(K, **given).fit(X)
    # Ten rows for each landmark, and a whole number for each row.
    assert max(received) <= max(10 * 20 * M * 8, N * 8)
