"""Joint training of network and self-expression at a fraction of the products.

The loss is that of
:func:`symmf.clustering.baselines.dsc.networks.fine_tune`. What makes it
cheap: the latent rows are written in their leading directions, the network takes one
step for several of C, and everything is done block of rows by block of rows, each of
which stays in the cache.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from symmf.clustering.baselines.dsc.networks import (
    Autoencoder,
    FineTuned,
    Training,
    first_coefficients,
)

if TYPE_CHECKING:
    import torch

# Leading directions of the latent rows: on COIL-20 half as many ended at a loss higher
# by less than half a percent.
RANK = 128
# Rows of C, and images, that the cache holds with what is worked out from them.
_ROWS, _IMAGES = 128, 256


def train_in_rounds(
    network: Autoencoder, X: torch.Tensor, how: Training, generator: torch.Generator
) -> FineTuned:
    r"""Train the autoencoder and C jointly; the network moves once in a round.

    With :math:`R = ZQ` for the leading directions Q of the latent rows and
    :math:`E = CR`, the gradients are

    .. math::
        G &= \nabla_E \|X - \hat X(EQ^T)\|_F^2 + \lambda_2 (E - R), \\
        \nabla_C &= G R^T + \lambda_1 r'(C), \qquad
        \nabla_R = C^T G + \lambda_2 (R - E) .

    In a round the network takes one step, ``steps_per_round`` times as long, and C that
    many, for which the gradient of the reconstruction is held. The part of Z outside Q
    counts as not expressed. With one step a round and no more latent numbers than
    ``RANK`` this is joint training as published, to rounding.
    """
    import torch

    C, lambda2 = first_coefficients(network, X, how), how.lambda2
    blocks = _Blocks(C, how)
    optimizer = torch.optim.Adam(
        network.parameters(), lr=how.steps_per_round * how.learning_rate, fused=True
    )
    losses: list[float] = []
    seconds: list[float] = []
    start = time.perf_counter()
    done, Q = 0, None
    while True:
        seconds.append(time.perf_counter() - start)
        optimizer.zero_grad()
        with torch.no_grad():
            Z = torch.cat([network.encoder(x) for x in torch.split(X, _IMAGES)])
            Q = _leading_directions(Z, Q, generator)
            R = Z if Q is None else Z @ Q
            E = C @ R
        error, pull = _reconstruction(network, X, E, Q)
        unexpressed = float((R - E).square().sum())
        if Q is not None:
            unexpressed += float(Z.square().sum() - R.square().sum())
        losses.append(error + blocks.penalty() + 0.5 * lambda2 * unexpressed)
        if done >= how.n_steps:
            break
        G = pull + lambda2 * (E - R)
        slope = torch.addmm(lambda2 * (R - E), C.T, G)
        if Q is not None:
            # What lies outside Q adds lambda2 / 2 (||Z||^2 - ||R||^2) to the loss.
            slope = torch.addmm(lambda2 * Z, slope - lambda2 * R, Q.T)
        parts = zip(torch.split(X, _IMAGES), torch.split(slope, _IMAGES), strict=True)
        for x, part in parts:
            torch.autograd.backward(network.encoder(x), part)
        optimizer.step()
        few = min(how.steps_per_round, how.n_steps - done)
        blocks.step(few, R, G, pull)
        done += few
    return FineTuned.of(C, losses, seconds)


def _reconstruction(
    network: Autoencoder, X: torch.Tensor, E: torch.Tensor, Q: torch.Tensor | None
) -> tuple[float, torch.Tensor]:
    """Return ‖X − X̂(EQᵀ)‖² and its gradient in E; the decoder's is added to its own."""
    import torch

    error, gradients = 0.0, []
    parts = zip(torch.split(X, _IMAGES), torch.split(E, _IMAGES), strict=True)
    for x, some in parts:
        e = some.detach().requires_grad_()
        value = (x - network.decoder(e if Q is None else e @ Q.T)).square().sum()
        torch.autograd.backward(value)
        assert e.grad is not None
        error += float(value.detach())
        gradients.append(e.grad)
    return error, torch.cat(gradients)


class _Blocks:
    """C in blocks of rows, each with its own moments: a row needs no other row."""

    def __init__(self, C: torch.Tensor, how: Training) -> None:
        import torch

        self.C, self.lambda1, self.lambda2 = C, how.lambda1, how.lambda2
        self.is_l1 = how.regularizer == "l1"
        self.blocks = torch.split(C, _ROWS)
        # Weight decay adds the gradient of the squared norm.
        decay = 0.0 if self.is_l1 else 2.0 * how.lambda1
        self.optimizers = [
            torch.optim.Adam(
                [block], lr=how.learning_rate, weight_decay=decay, fused=True
            )
            for block in self.blocks
        ]

    def penalty(self) -> float:
        """Return λ₁ r(C)."""
        import torch

        if self.is_l1:
            return self.lambda1 * float(torch.linalg.vector_norm(self.C, 1))
        return self.lambda1 * float(torch.linalg.vector_norm(self.C)) ** 2

    def step(
        self, n_steps: int, R: torch.Tensor, G: torch.Tensor, pull: torch.Tensor
    ) -> None:
        """Take steps for a fixed R; G is the gradient in E at the first of them."""
        for number, (block, optimizer) in enumerate(
            zip(self.blocks, self.optimizers, strict=True)
        ):
            first = number * _ROWS
            here = slice(first, first + len(block))
            for step in range(n_steps):
                slope = G[here]
                if step > 0:
                    slope = pull[here] + self.lambda2 * (block @ R - R[here])
                block.grad = slope @ R.T
                if self.is_l1:
                    block.grad.add_(block.sign(), alpha=self.lambda1)
                    block.grad.diagonal(offset=first).zero_()
                optimizer.step()
            block.grad = None


def _leading_directions(
    Z: torch.Tensor, Q: torch.Tensor | None, generator: torch.Generator
) -> torch.Tensor | None:
    """Return orthonormal directions of the rows of Z; None if it has few columns.

    By subspace iteration: two products from a random start, one from what was found in
    the round before.
    """
    import torch

    p = Z.shape[1]
    if p <= RANK:
        return None
    if Q is None:
        Q = torch.randn(p, RANK, generator=generator)
        Q = torch.linalg.qr(Z.T @ (Z @ Q)).Q
    basis: torch.Tensor = torch.linalg.qr(Z.T @ (Z @ Q)).Q
    return basis
