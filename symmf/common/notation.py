"""The glossary: every symbol, its meaning, its shape, its names in code.

=======  ==========  ==========================================  ===================
symbol   shape       meaning                                     authors' code
=======  ==========  ==========================================  ===================
n                    number of samples                           n
m                    number of features
k                    number of columns of H = clusters           k
X        (n, m)      data, one sample per row                    data
A        (n, n)      similarity of samples, symmetric            X
D        (n, n)      diagonal of the row sums of A               D
L        (n, n)      graph Laplacian D - A                       L
M        (n, n)      A - laplacian_weight L, what is factored    X_reg
H        (n, k)      factor, M ~ H H^T; its rows are clustered   H, U
P        (n, k)      second factor of a split, M ~ H P^T         P, V
R        (n, n)      residual H H^T - M
G        (k, k)      H^T H
f(H)                 ||M - H H^T||_F^2                           losses
E                    f(H) / ||M||_F^2                            twice their ``err``
sigma                ||H H^T - M||_2                             norm(H*H'-X)
h2                   ||H||_2^2 = ||G||_2                         norm(H'*H)
L_i                  4 sigma + 8 h2, curvature at H_i            4 * (theirs)
t                    step on the gradient, step_scale / L_i      alpha / 4
=======  ==========  ==========================================  ===================

The paper writes lambda for two different things. Here ``laplacian_weight`` is the one
in M = A - lambda L (``lambda`` in YAML files and on the command line), and ``coupling``
is the one in ||M - H P^T||_F^2 + lambda ||H - P||_F^2.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
LabelArray: TypeAlias = npt.NDArray[np.int64]
# A dense array or a scipy sparse matrix; scipy ships no types for the latter.
AnyMatrix: TypeAlias = Any
