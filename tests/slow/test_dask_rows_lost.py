"""A fit goes on when a worker is killed in the middle; rows stay with the workers."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from dask_processes import Cluster

from symmf import SymMF

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.close()


def test_a_worker_is_killed_in_mid_fit(cluster) -> None:
    n, m, k = 4000, 120, 2

    def make_block(block_info=None):
        """Rows of two groups; the same whenever they are made again."""
        (first, last), _ = block_info[None]["array-location"]
        rows = np.random.default_rng(first).standard_normal((last - first, m))
        rows[::2, : m // 4] += 3
        rows[1::2, m // 4 : m // 2] += 3
        return rows

    doomed, _ = cluster.add_worker("--no-nanny"), cluster.add_worker("--no-nanny")
    X = da.map_blocks(make_block, chunks=((250,) * 16, (m,)), dtype=float)
    rows = X.compute(scheduler="synchronous")
    seen = []

    def kill_one(iteration) -> None:
        seen.append(iteration)
        if len(seen) == 3:
            os.kill(doomed.pid, signal.SIGKILL)

    given = {
        "similarity": "centred_cosine",
        "laplacian_weight": 0.1,
        "solver": "projected_gradient",
        "max_iter": 8,
        "tol": 0,
        "random_state": 0,
    }
    gathered = []
    with distributed.Client(cluster.address, timeout=60) as client:
        while len(client.scheduler_info()["workers"]) < 2:
            time.sleep(0.05)
        gather = client.gather

        def weigh(futures, *rest, **named):
            found = gather(futures, *rest, **named)
            gathered.append(sum(getattr(part, "nbytes", 0) for part in found))
            return found

        client.gather = weigh
        far = SymMF(k, callback=kill_one, **given).fit(X)
        placed = far.predict(X)
    assert doomed.wait() == -signal.SIGKILL
    assert len(seen) > 3
    near = SymMF(k, **given).fit(rows)
    np.testing.assert_allclose(far.H_ @ far.H_.T, near.H_ @ near.H_.T, atol=1e-8)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(placed, near.predict(rows))
    # What came to the client at once: n numbers for each of k columns, or of twice as
    # many where eigenvalues are estimated. The rows are n x m, m = 60 k.
    assert any(size == n * k * 8 for size in gathered)
    assert max(gathered) <= 2 * n * k * 8
