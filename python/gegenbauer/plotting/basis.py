"""The univariate polynomials of a basis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._messages import Message, Setting
from gegenbauer._validation import as_matrix, check_integer
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.plotting._axes import get_axes

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["BasisDisplay"]


class BasisDisplay:
    """The univariate polynomials of a basis.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
        Points.
    values : ndarray, shape (n_points, n_degrees)
        Polynomials of degree 0, 1, ...

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list of matplotlib lines
        One for each degree.

    See Also
    --------
    gegenbauer_vander : The polynomials of one input.
    TensorBasis : A finite set of terms.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.plotting import BasisDisplay
    >>> basis = TensorBasis(1, degree=3, lam=0.5)
    >>> display = BasisDisplay.from_basis(basis, degree=2, domain=(-1, 1))
    >>> display.values[-1].round(9).tolist()  # at the end of the domain
    [1.0, 1.0, 1.0]
    """

    def __init__(self, x: Doubles, values: Doubles) -> None:
        self.x = x
        self.values = values

    @classmethod
    def from_basis(
        cls,
        basis: TensorBasis,
        *,
        degree: int = 5,
        domain: tuple[float, float] = (0.0, 1.0),
        feature: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw the polynomials that the terms of a basis are products of.

        Parameters
        ----------
        basis : TensorBasis
            Gives lam and the spectrum.
        degree : int
            Highest degree to draw.
        domain : tuple of two floats
            From where to where.
        feature : int
            Of which input, where the spectrum is not the same for all.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        BasisDisplay
        """
        if not isinstance(basis, TensorBasis):
            raise TypeError(Message("`basis` must be a TensorBasis, got {}", type(basis).__name__))
        degree = check_integer(degree, "degree", minimum=0)
        feature = check_integer(feature, "feature", minimum=0)
        if feature >= basis.n_features:
            raise ValueError(
                Message("`feature` must be below {}, got {}", basis.n_features, feature)
            )
        ends = as_matrix(domain, Setting("domain"), n_rows=2, n_columns=1, one_dimensional=True)
        x = np.linspace(ends[0, 0], ends[1, 0], 401)
        spectrum = basis.spectrum._of_input(feature)
        one = TensorBasis(1, degree=degree, lam=basis.lam, spectrum=spectrum)
        return cls(x, one.evaluate(x[:, np.newaxis])).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            As for ``ax.plot``.

        Returns
        -------
        BasisDisplay
            Itself.
        """
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.plot(self.x, column, label=f"degree {n}", **options)[0]
            for n, column in enumerate(self.values.T)
        ]
        self.ax_.set(xlabel="x", ylabel="polynomial")
        self.ax_.legend()
        return self
