"""Levels of inputs: the values of a category, and whether a number is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message
from gegenbauer._validation import (
    as_matrix,
    check_flag,
    check_integer,
    check_number,
    check_sequence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["Levels", "as_samples", "check_levels", "core_levels"]

# What the sum of shares may differ from one by
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Levels:
    r"""The levels that an input has, with their shares of the samples.

    In the kernel of all terms an input with levels has the factor

    .. math:: 1 + \sum_{n \ge 1} v_t(n) \phi_n(x) \phi_n(z) + q_t \kappa(l, l'),
        \qquad \kappa(l, l') =
        \frac{[l = l'] - p_l - p_{l'} + \sum p^2}{1 - \sum p^2},

    where p are the shares and q_t is the sum of the interactions of the input: the effects of all
    levels are alike a priori, have a mean of zero over the samples, and one weight. A category has
    this part alone; a number has the levels "given" and "missing", and where it is missing its
    polynomials are 0.

    In a finite set of terms an input with levels has the functions of `contrasts`, each with the
    squared weight q_t, before its polynomials: their products sum to :math:`\kappa`.

    Attributes
    ----------
    shares : tuple of float
        Of the samples, one a level, not negative, with a sum of one. Of a number two: given,
        missing.
    category : bool
        Whether the entries of X are levels, numbered from 0 in the order of the shares, and NaN
        where the level is none of these: the factor is 1 then, as for the mean of all levels. Else
        they are numbers, and NaN where they are missing.

    See Also
    --------
    Spectrum : The weights of all degrees of all inputs.
    InputScaling : The map of inputs to the domain of the polynomials.
    gegenbauer.reference.level_contrasts : Functions of categories.

    Examples
    --------
    >>> from gegenbauer import InputScaling, PowerDecay, Spectrum
    >>> from gegenbauer.basis import Levels, SpectrumKernel
    >>> spectrum = Spectrum(PowerDecay(0.5, 2), levels=[Levels((0.5, 0.25, 0.25))])
    >>> box = InputScaling([0.0], [2.0], domain=(-1, 1))  # of three levels
    >>> SpectrumKernel(1, spectrum)([[0.0], [1.0], [2.0]], scaling=box)
    array([[1.3, 0.7, 0.7],
           [0.7, 1.7, 0.9],
           [0.7, 0.9, 1.7]])
    """

    shares: tuple[float, ...]
    category: bool = True

    def __post_init__(self) -> None:
        found = tuple(
            check_number(p, "shares", minimum=0)
            for p in check_sequence(self.shares, "shares", "shares of levels")
        )
        total = sum(found)
        if not total > 0:
            raise ValueError(Message("`shares` must have a positive sum, one share a level"))
        if abs(total - 1.0) > _ROUNDING:  # so that shares of a file are those that were saved
            found = tuple(p / total for p in found)
        object.__setattr__(self, "shares", found)
        if not check_flag(self.category, "category") and len(found) != 2:
            raise ValueError(
                Message(
                    "`shares` of a number are two, of samples where it is given and where it is "
                    "missing; got {}",
                    len(found),
                )
            )

    @property
    def varies(self) -> bool:
        """Whether samples may differ in the input.

        They do not in a category of which they have one level alone, and in a number that is always
        missing.
        """
        if self.category:
            return sum(share > 0 for share in self.shares) > 1
        return self.shares[0] > 0

    @property
    def n_contrasts(self) -> int:
        """Number of contrasts: one less than levels; 0 if all samples are of one level."""
        spread = sum(p * (1.0 - p) for p in self.shares)
        return len(self.shares) - 1 if spread > 0 else 0

    def contrasts(self, n_contrasts: int | None = None) -> Doubles:
        r"""Return functions of the level with a mean of zero, uncorrelated over the samples.

        .. math:: \kappa(l, l') = \sum_k c_k(l) c_k(l'), \qquad
            c_k(l) = \frac{h_k' (e_l - p)}{\sqrt{1 - \sum p^2}}

        with the eigenvectors h_k of the covariance of :math:`e_l` among the vectors of sum zero.
        They stand by falling variance over the samples, and all variances sum to one. In each the
        levels it sets apart from the others have a positive value, of equal shares the later one.

        Parameters
        ----------
        n_contrasts : int, optional
            How many of the first; by default all.

        Returns
        -------
        ndarray, shape (n_levels, n_contrasts)

        Raises
        ------
        ValueError, TypeError
            There are not so many.

        Examples
        --------
        >>> from gegenbauer.basis import Levels
        >>> Levels((0.5, 0.25, 0.25)).contrasts().round(6)
        array([[ 0.774597,  0.      ],
               [-0.774597, -0.894427],
               [-0.774597,  0.894427]])
        """
        most = self.n_contrasts
        n = most if n_contrasts is None else check_integer(n_contrasts, "n_contrasts", minimum=0)
        if n > most:
            raise ValueError(Message("`n_contrasts` must be at most {}, got {}", most, n))
        require_memory(16.0 * len(self.shares) * n, "the contrasts", "take fewer of them")
        found: Doubles = core.level_contrasts(self.shares, n)
        return found

    @classmethod
    def of_codes(
        cls,
        codes: npt.NDArray[np.float64],
        n_levels: int,
        weight: npt.NDArray[np.float64] | None = None,
    ) -> Self:
        """Count the samples of each level.

        Parameters
        ----------
        codes : ndarray, shape (n_samples,)
            Levels of the samples, from 0.
        n_levels : int
            Number of levels.
        weight : ndarray, shape (n_samples,), optional
            How many samples each counts as.

        Returns
        -------
        Levels
        """
        counts = np.bincount(codes.astype(np.intp), weights=weight, minlength=n_levels)
        return cls(tuple((counts / counts.sum()).tolist()))

    @classmethod
    def of_missing(
        cls, missing: npt.NDArray[np.bool_], weight: npt.NDArray[np.float64] | None = None
    ) -> Self:
        """Count the samples in which a number is missing.

        Parameters
        ----------
        missing : ndarray of bool, shape (n_samples,)
            Whether it is.
        weight : ndarray, shape (n_samples,), optional
            How many samples each counts as.

        Returns
        -------
        Levels
        """
        share = float(np.average(missing, weights=weight))
        return cls((1.0 - share, share), category=False)


def check_levels(levels: Iterable[Levels | None]) -> tuple[Levels | None, ...]:
    """Return the levels of all inputs, None for those that have none."""
    found = tuple(check_sequence(levels, "levels", "Levels or None, one for each input"))
    for entry in found:
        if entry is not None and not isinstance(entry, Levels):
            raise TypeError(
                Message(
                    "`levels` must hold a Levels or None for each input, got {}",
                    type(entry).__name__,
                )
            )
    if not found:
        raise ValueError(Message("`levels` must hold a Levels or None for each input, got none"))
    return found


def core_levels(
    levels: tuple[Levels | None, ...] | None,
) -> tuple[tuple[tuple[float, ...], bool], ...]:
    """Return them as the core takes them: shares, and whether the input holds numbers."""
    if levels is None:
        return ()
    return tuple(((), True) if one is None else (one.shares, not one.category) for one in levels)


def as_samples(X: object, name: str, model: Any, *, check_finite: bool = True) -> npt.NDArray[Any]:
    """Return the samples of a basis or kernel as a matrix, with NaN if its spectrum has levels."""
    missing = model.spectrum.levels is not None
    return as_matrix(
        X, name, n_columns=model.n_features, check_finite=check_finite, allow_missing=missing
    )
