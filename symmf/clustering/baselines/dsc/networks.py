"""The networks of deep subspace clustering and their training, in PyTorch.

PyTorch is an optional dependency: it is imported when a function here is called.
PyTorch's global generator is neither seeded nor left in another state.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symmf.clustering.baselines.dsc.affinity import closed_form_coefficients
from symmf.common.notation import FloatArray
from symmf.errors import InputError

if TYPE_CHECKING:
    import torch

CHANNELS = 15
HIDDEN, LATENT = 256, 20
C_START = 1e-8


class MissingTorchError(InputError, ImportError):
    """PyTorch is needed and cannot be imported."""


def require_torch() -> None:
    """Import PyTorch, or say how to install it."""
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise MissingTorchError(
            "Deep subspace clustering (DSC) needs PyTorch, which cannot be imported "
            f'({error}). Install it with: pip install "symmf[deep]"'
        ) from error


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the body on one thread of PyTorch, so that sums are added in one order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoencoder:
    """An encoder to flat latent rows and the decoder that mirrors it."""

    encoder: torch.nn.Sequential
    decoder: torch.nn.Sequential

    def parameters(self) -> list[torch.nn.Parameter]:
        """All weights and biases."""
        return [*self.encoder.parameters(), *self.decoder.parameters()]


def convolutional_autoencoder(
    image_shape: tuple[int, int, int], n_layers: int, generator: torch.Generator
) -> Autoencoder:
    """Halve the image ``n_layers`` times by 3 x 3 convolutions, ReLU after each.

    ``image_shape`` is (height, width, channels); inputs are channels first. The final
    ReLU makes every reconstruction nonnegative.
    """
    import torch
    from torch import nn

    height, width, inputs = image_shape
    encoder: list[nn.Module] = []
    decoder: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):  # layers fill themselves when made
        for _ in range(n_layers):
            down = nn.Conv2d(inputs, CHANNELS, 3, stride=2, padding=1)
            # An even side needs one more row or column to regain its length.
            padding = (1 - height % 2, 1 - width % 2)
            up = nn.ConvTranspose2d(
                CHANNELS, inputs, 3, stride=2, padding=1, output_padding=padding
            )
            encoder = [*encoder, _initialise(down, generator), nn.ReLU()]
            decoder = [_initialise(up, generator), nn.ReLU(), *decoder]
            height, width, inputs = (height + 1) // 2, (width + 1) // 2, CHANNELS
    # With signed weights the final ReLU can be dead for one of the four stride phases
    # from the start, and then stays dead.
    decoder[-2].get_parameter("weight").data.abs_()
    encoder = [*encoder, nn.Flatten()]
    decoder = [nn.Unflatten(1, (CHANNELS, height, width)), *decoder]
    return Autoencoder(encoder=nn.Sequential(*encoder), decoder=nn.Sequential(*decoder))


def dense_autoencoder(n_inputs: int, generator: torch.Generator) -> Autoencoder:
    """Fully connected, ReLU on the hidden layers, linear latent and output."""
    import torch
    from torch import nn

    def linear(inputs: int, outputs: int) -> nn.Module:
        return _initialise(nn.Linear(inputs, outputs), generator)

    with torch.random.fork_rng(devices=[]):
        encoder = [linear(n_inputs, HIDDEN), nn.ReLU(), linear(HIDDEN, LATENT)]
        decoder = [linear(LATENT, HIDDEN), nn.ReLU(), linear(HIDDEN, n_inputs)]
    return Autoencoder(encoder=nn.Sequential(*encoder), decoder=nn.Sequential(*decoder))


def _initialise(layer: torch.nn.Module, generator: torch.Generator) -> torch.nn.Module:
    """Glorot-uniform weights from ``generator``, zero biases."""
    from torch import nn

    nn.init.xavier_uniform_(layer.get_parameter("weight"), generator=generator)
    nn.init.zeros_(layer.get_parameter("bias"))
    return layer


def pretrain(
    network: Autoencoder,
    X: torch.Tensor,
    *,
    n_steps: int,
    batch_size: int,
    tol: float,
    learning_rate: float,
    generator: torch.Generator,
) -> int:
    """Fit the autoencoder alone, loss ½ ‖X − X̂‖² summed over a batch.

    Stops once ‖X − X̂‖² < ``tol`` ‖X‖² on all samples, looked at after every pass over
    the data, or after ``n_steps`` batches. Returns the number of steps taken.
    """
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)
    goal = tol * float(X.square().sum())
    step = 0
    while step < n_steps:
        order = torch.randperm(len(X), generator=generator)
        for batch in torch.split(order, batch_size)[: n_steps - step]:
            inputs = X[batch]
            optimizer.zero_grad()
            outputs = network.decoder(network.encoder(inputs))
            torch.autograd.backward(0.5 * (inputs - outputs).square().sum())
            optimizer.step()
            step += 1
        if goal > 0.0 and _reconstruction_error(network, X, batch_size) < goal:
            break
    return step


def _reconstruction_error(
    network: Autoencoder, X: torch.Tensor, batch_size: int
) -> float:
    import torch

    error = 0.0
    with torch.no_grad():
        for x in torch.split(X, batch_size):
            error += float((x - network.decoder(network.encoder(x))).square().sum())
    return error


def rescale_latent(network: Autoencoder, X: torch.Tensor) -> None:
    """Give the latent rows unit mean square norm without changing reconstructions.

    Needs linear layers at the end of the encoder and the start of the decoder.
    """
    import torch

    with torch.no_grad():
        scale = network.encoder(X).square().sum(dim=1).mean().sqrt()
        if scale > 0.0:
            for parameter in network.encoder[-1].parameters():
                parameter.div_(scale)
            network.decoder[0].get_parameter("weight").mul_(scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How the network and C are trained jointly: the weights of the loss, the steps."""

    n_steps: int
    lambda1: float
    lambda2: float
    regularizer: str = "l2"
    learning_rate: float = 1e-3
    closed_form_start: bool = False
    #: steps of C for one of the network; for training in rounds
    steps_per_round: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuned:
    """Coefficients, and loss and seconds before the first and after every step."""

    C: FloatArray
    loss: FloatArray
    seconds: FloatArray

    @classmethod
    def of(cls, C: torch.Tensor, loss: list[float], seconds: list[float]) -> FineTuned:
        """Take what was found, or say what to do when a loss is not finite."""
        if not np.isfinite(loss).all():
            raise InputError(
                "The loss of deep subspace clustering became infinite while training. "
                "Lower learning_rate, or scale X so that its entries are of order one."
            )
        return cls(C=C.numpy(), loss=np.array(loss), seconds=np.array(seconds))


def first_coefficients(
    network: Autoencoder, X: torch.Tensor, how: Training
) -> torch.Tensor:
    """Return C before the first step: nearly zero, or the minimiser for this Z."""
    import torch

    if how.closed_form_start:
        with torch.no_grad():
            Z = network.encoder(X).numpy()
        best = closed_form_coefficients(Z, how.lambda1, how.lambda2)
        C = torch.from_numpy(best).float()
    else:
        C = torch.full((len(X), len(X)), C_START)
    if how.regularizer == "l1":
        C.fill_diagonal_(0.0)
    return C


def fine_tune(network: Autoencoder, X: torch.Tensor, how: Training) -> FineTuned:
    """Train the autoencoder and the self-expression C jointly, all samples at once.

    The loss is ‖X − X̂‖² + λ₁ r(C) + (λ₂/2) ‖Z − CZ‖², sums over all entries, where the
    decoder is given CZ. r is the squared Frobenius norm (``"l2"``) or the sum of
    magnitudes with a diagonal held at zero (``"l1"``).
    """
    import torch

    C, l1 = first_coefficients(network, X, how), how.regularizer == "l1"
    C.requires_grad_()
    optimizer = torch.optim.Adam(
        [*network.parameters(), C], lr=how.learning_rate, fused=True
    )

    def coefficients() -> torch.Tensor:
        return C - torch.diag(C.diagonal()) if l1 else C

    def loss() -> torch.Tensor:
        Z, used = network.encoder(X), coefficients()
        expressed = used @ Z
        penalty = used.abs().sum() if l1 else used.square().sum()
        total: torch.Tensor = (
            (X - network.decoder(expressed)).square().sum()
            + how.lambda1 * penalty
            + 0.5 * how.lambda2 * (Z - expressed).square().sum()
        )
        return total

    losses: list[float] = []
    seconds: list[float] = []
    start = time.perf_counter()
    for _ in range(how.n_steps):
        seconds.append(time.perf_counter() - start)
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        optimizer.step()
        losses.append(float(value.detach()))
    seconds.append(time.perf_counter() - start)
    with torch.no_grad():
        losses.append(float(loss()))
        final = coefficients().detach()
    return FineTuned.of(final, losses, seconds)
