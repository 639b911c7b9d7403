"""The spectrum: the weight of every degree of every input.

From one spectrum come the weights of the terms of a :class:`TensorBasis`, its set of largest
weight, and the :class:`SpectrumKernel` of all terms with its derivatives. The mathematics is in
``cpp/include/gegenbauer/spectrum.hpp``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, Union

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message
from gegenbauer._validation import check_integer, check_number, require_plain
from gegenbauer.basis.levels import check_levels
from gegenbauer.basis.notebook import spectrum_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels

__all__ = [
    "COMPONENTS",
    "ComponentsLike",
    "GegenbauerDecay",
    "GeometricDecay",
    "PowerDecay",
    "Spectrum",
    "SpectrumLike",
    "as_spectrum",
    "core_spectrum",
]

# How errors name parts of parameters
_SMOOTHNESS, _RATIO = Message("`smoothness` (s)"), Message("`ratio` (r)")
_INTERACTION = Message("`interaction` (q)")
_Q_OF_SPECTRUM = Message("the interaction (q) of `spectrum`")
_S_OF_SPECTRUM = Message("the smoothness (s) of `spectrum`")


# --- Components -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerDecay:
    """Squared weights ``interaction * n**(-2 * smoothness)`` of the degrees n >= 1 of an input.

    Attributes
    ----------
    interaction : float or sequence of n_features floats
        q >= 0, for all inputs or for each; a sequence is kept as a tuple.
    smoothness : float
        s >= 0; at 0 all degrees have the same weight.

    See Also
    --------
    GeometricDecay : Weights that fall by the same ratio at each degree.
    GegenbauerDecay : The weights that the raw polynomials have.
    Spectrum : The weights of all degrees of all inputs.

    Examples
    --------
    >>> from gegenbauer import PowerDecay
    >>> PowerDecay([0.5, 0.25], smoothness=2)
    PowerDecay(interaction=(0.5, 0.25), smoothness=2)
    """

    interaction: float | Sequence[float] = 1.0
    smoothness: float = 1.0

    _kind: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _frozen(self.interaction))
        _part(self)  # which refuses what describes no weights

    def _parameter(self) -> float:
        return check_number(self.smoothness, _SMOOTHNESS, minimum=0)


@dataclass(frozen=True)
class GeometricDecay:
    """Squared weights ``interaction * ratio**(n - 1)`` of the degrees n >= 1 of an input.

    Attributes
    ----------
    interaction : float or sequence of n_features floats
        q >= 0, for all inputs or for each; a sequence is kept as a tuple.
    ratio : float
        r, between 0 and 1.

    See Also
    --------
    PowerDecay : Weights that fall as a power of the degree.
    GegenbauerDecay : The weights that the raw polynomials have.
    Spectrum : The weights of all degrees of all inputs.

    Examples
    --------
    >>> from gegenbauer import GeometricDecay
    >>> GeometricDecay([0.5, 0.25], ratio=0.3)
    GeometricDecay(interaction=(0.5, 0.25), ratio=0.3)
    """

    interaction: float | Sequence[float] = 1.0
    ratio: float = 0.5

    _kind: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _frozen(self.interaction))
        _part(self)  # which refuses what describes no weights

    def _parameter(self) -> float:
        r = check_number(self.ratio, _RATIO, minimum=0, open_below=True)
        if r >= 1:
            raise ValueError(Message("`ratio` (r) must lie between 0 and 1, got {}", r))
        return r


@dataclass(frozen=True)
class GegenbauerDecay:
    r"""Squared weights ``interaction * |C_n|**2`` with the norms of raw Gegenbauer polynomials.

    For the probability density proportional to (1 - x^2)^(lam - 1/2) on [-1, 1],

    .. math:: |C_n|^2 = \frac{\lambda}{n + \lambda} \frac{(2 \lambda)_n}{n!},

    and at lam = 0 the norm of the limit of C_n / lam, 2 / n^2. They fall with n for lam < 1.

    Attributes
    ----------
    interaction : float or sequence of n_features floats
        q >= 0, for all inputs or for each; a sequence is kept as a tuple.
    lam : float
        Gegenbauer parameter of the raw polynomials, > -1/2.

    See Also
    --------
    PowerDecay : Weights that fall as a power of the degree.
    GeometricDecay : Weights that fall by the same ratio at each degree.
    Spectrum : The weights of all degrees of all inputs.

    Examples
    --------
    >>> from gegenbauer import GegenbauerDecay, Spectrum
    >>> Spectrum(GegenbauerDecay(lam=0.5)).squared_weights(1, 3)[0] * [1, 3, 5, 7]
    array([1., 1., 1., 1.])
    """

    interaction: float | Sequence[float] = 1.0
    lam: float = 0.05

    _kind: ClassVar[str] = "gegenbauer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _frozen(self.interaction))
        _part(self)  # which refuses what describes no weights

    def _parameter(self) -> float:
        return check_number(self.lam, "lam", minimum=-0.5, open_below=True)


Component: TypeAlias = PowerDecay | GeometricDecay | GegenbauerDecay

_LARGEST = sys.float_info.max

COMPONENTS = (PowerDecay, GeometricDecay, GegenbauerDecay)


def _frozen(interaction: Any) -> Any:
    """Return a sequence as a tuple, so that components have a hash; anything else as it is."""
    if isinstance(interaction, np.ndarray):
        require_plain(interaction, "interaction")
        interaction = interaction.tolist()
    return tuple(interaction) if isinstance(interaction, list) else interaction


# --- Spectrum -------------------------------------------------------------------------------------


class Spectrum:
    r"""Squared weights v_t(n) of the degrees n >= 1 of each input t, a sum of components.

    A term with the multi-index k is the product of orthonormal polynomials of the inputs times

    .. math:: w_k = \prod_{t: k_t > 0} \sqrt{v_t(k_t)}.

    Of one spectrum are made

    - weighted terms: ``TensorBasis(n_features, degree=..., spectrum=spectrum)``;
    - the terms of largest weight: ``TensorBasis(n_features, n_terms=...,
      index_set="largest_weight", spectrum=spectrum)``;
    - the kernel of all terms: ``SpectrumKernel(n_features, spectrum)``, and its derivatives by the
      logarithms of the q: `SpectrumKernel.log_gradient`. Where the sum of all degrees diverges or
      needs too many of them, as that of `paper` does for lam > 0, ``max_degree`` ends it.

    It does not change, has a hash, and can be pickled. Wherever a spectrum is an argument, what
    it is made from will do.

    Parameters
    ----------
    components : (q, s), PowerDecay, GeometricDecay, GegenbauerDecay or a sequence of these
        Their sum is the spectrum; (q, s) stands for ``PowerDecay(q, s)``.
    levels : sequence of Levels or None, optional
        What each input has beside the polynomials, or in their place: the levels of a category, or
        whether a number is missing. None is an input that has none.

    Attributes
    ----------
    components : tuple of PowerDecay, GeometricDecay and GegenbauerDecay
        The parts.
    levels : tuple of Levels or None, or None
        As given; None where no input may be missing.

    Raises
    ------
    ValueError, TypeError
        For parameters out of their ranges and components for different numbers of inputs.

    See Also
    --------
    PowerDecay : Weights that fall as a power of the degree.
    GeometricDecay : Weights that fall by the same ratio at each degree.
    GegenbauerDecay : The weights that the raw polynomials have.
    learn_spectrum : Weights of the inputs, by gradients.

    Examples
    --------
    >>> from gegenbauer import GeometricDecay, PowerDecay, Spectrum, TensorBasis
    >>> spectrum = Spectrum([PowerDecay((1.0, 0.25), 2), GeometricDecay((0.0, 0.5), 0.1)])
    >>> spectrum.squared_weights(2, 2)
    array([[1.      , 1.      , 0.0625  ],
           [1.      , 0.75    , 0.065625]])
    >>> basis = TensorBasis(2, n_terms=4, index_set="largest_weight", spectrum=spectrum)
    >>> basis.indices.tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> spectrum.term_weights(basis.indices).round(3).tolist()
    [1.0, 1.0, 0.866, 0.866]
    """

    __slots__ = ("_parts", "components", "levels")

    components: tuple[Component, ...]
    levels: tuple[Levels | None, ...] | None
    _parts: tuple[_Part, ...]  # what the core takes

    def __init__(
        self, components: ComponentsLike, levels: Iterable[Levels | None] | None = None
    ) -> None:
        found = _as_components(components)
        if levels is None and isinstance(components, Spectrum):
            levels = components.levels
        known = None if levels is None else check_levels(levels)
        sizes = {len(c.interaction) for c in found if isinstance(c.interaction, tuple)}
        if len(sizes) > 1:
            raise ValueError(
                Message(
                    "the components of `spectrum` must have as many interactions (q) as each "
                    "other, one an input; got {}",
                    " and ".join(map(str, sorted(sizes))),
                )
            )
        if known is not None and sizes not in (set(), {len(known)}):
            raise ValueError(
                Message(
                    "`levels` must have one entry an input, as the interactions (q), of which "
                    "there are {}; got {}",
                    sizes.pop(),
                    len(known),
                )
            )
        object.__setattr__(self, "components", found)
        object.__setattr__(self, "levels", known)
        object.__setattr__(self, "_parts", tuple(map(_part, found)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Spectrum does not change: make another one to set {name}")

    @classmethod
    def paper(cls, lam: float = 0.05) -> Spectrum:
        """Return the spectrum of the paper's raw polynomials C_n^lam, their squared norms.

        On the polynomials of the same lam it makes the raw ones; ``spectrum=None`` means this.

        Parameters
        ----------
        lam : float
            Gegenbauer parameter of the raw polynomials, > -1/2.

        Returns
        -------
        Spectrum

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import Spectrum, TensorBasis
        >>> raw = TensorBasis(2, degree=3, lam=0.5)
        >>> raw == TensorBasis(2, degree=3, lam=0.5, spectrum=Spectrum.paper(0.5))
        True
        """
        return cls(GegenbauerDecay(1.0, lam))

    @classmethod
    def flat(cls) -> Spectrum:
        """Return the spectrum of weights of one; ``spectrum="orthonormal"`` means this.

        Returns
        -------
        Spectrum
        """
        return cls(PowerDecay(1.0, 0.0))

    @property
    def n_features(self) -> int | None:
        """Number of inputs, or None for a spectrum that is the same for all, however many."""
        for component in self.components:
            if isinstance(component.interaction, tuple):
                return len(component.interaction)
        return None if self.levels is None else len(self.levels)

    def interactions(self, n_features: int) -> Doubles:
        """Return all q.

        Parameters
        ----------
        n_features : int
            Number of inputs.

        Returns
        -------
        ndarray, shape (n_features, number of components)
        """
        parts = self._core(check_integer(n_features, "n_features", minimum=1))
        return np.column_stack([np.broadcast_to(q, n_features) for _, _, q in parts])

    def squared_weights(self, n_features: int, degree: int) -> Doubles:
        """Return the squared weights of the polynomials of all degrees.

        Parameters
        ----------
        n_features : int
            Number of inputs.
        degree : int
            Largest degree.

        Returns
        -------
        ndarray, shape (n_features, degree + 1)
            Entry ``[t, n]`` is v_t(n), and 1 for n = 0. Contrasts of levels have the sum of the q.

        Raises
        ------
        ValueError
            When the spectrum is one for another number of inputs.
        """
        n_features = check_integer(n_features, "n_features", minimum=1)
        degree = check_integer(degree, "degree", minimum=0)
        require_memory(8.0 * n_features * (degree + 1), "the weights", "lower degree")
        values: Doubles = core.squared_weights(n_features, self._core(n_features), degree)
        return values

    def term_weights(self, indices: npt.ArrayLike) -> Doubles:
        """Return the weights w_k of terms.

        Parameters
        ----------
        indices : array_like of int, shape (n_terms, n_features)
            Multi-indices k, such as `TensorBasis.indices`: degrees of polynomials, and for an input
            with levels numbers of its functions, contrasts first.

        Returns
        -------
        ndarray, shape (n_terms,)

        Raises
        ------
        ValueError, TypeError
            When the spectrum is one for another number of inputs, or indices are no multi-indices.
        """
        table = np.asarray(require_plain(indices, "indices", wanted="integers"))
        if table.ndim != 2 or table.dtype.kind not in "iu" or (table.size and table.min() < 0):
            raise ValueError(
                Message(
                    "`indices` must be an array of integers >= 0 of shape (n_terms, n_features), "
                    "got {} of shape {}",
                    table.dtype,
                    table.shape,
                )
            )
        m = table.shape[1]
        weights = np.sqrt(self._function_weights(m, int(table.max(initial=0))))
        out = np.ones(table.shape[0])
        for t in range(m):
            out *= weights[t, table[:, t]]
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spectrum):
            return False
        return (self.components, self.levels) == (other.components, other.levels)

    def __hash__(self) -> int:
        return hash((self.components, self.levels))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Spectrum, (self.components, self.levels))

    def __repr__(self) -> str:
        if self.levels is not None:
            with_levels = [t for t, one in enumerate(self.levels) if one is not None]
            return f"<{Spectrum(self.components)!r} with levels of inputs {with_levels}>"
        if len(self.components) > 1:
            return f"Spectrum([{', '.join(map(repr, self.components))}])"
        (only,) = self.components
        if self == Spectrum.flat():
            return "Spectrum.flat()"
        if isinstance(only, GegenbauerDecay) and self == Spectrum.paper(only.lam):
            return f"Spectrum.paper(lam={only.lam!r})"
        return f"Spectrum({self._pair() or only!r})"

    def _repr_html_(self) -> str:
        """Return a table of the weights, for notebooks."""
        return spectrum_html(self)

    def _of_input(self, t: int) -> Spectrum:
        """Return the spectrum of one input, for a basis or kernel of that alone."""
        return Spectrum(
            [
                replace(part, interaction=part.interaction[t])
                if isinstance(part.interaction, tuple)
                else part
                for part in self.components
            ],
            None if self.levels is None else [self.levels[t]],
        )

    @property
    def _n_contrasts(self) -> npt.NDArray[np.intp]:
        """Return how many contrasts of levels come before the polynomials of each input."""
        levels = self.levels or ()
        return np.array([0 if one is None else one.n_contrasts for one in levels], dtype=np.intp)

    def _function_weights(self, n_features: int, last: int) -> Doubles:
        """Return the squared weights of the functions 0..last of each input, 0 of what is none."""
        found = self.squared_weights(n_features, last)
        if self.levels is None:
            return found
        polynomials, q = found, self.interactions(n_features).sum(axis=1)
        found = np.zeros_like(polynomials)
        found[:, 0] = 1.0
        for t, (one, n) in enumerate(zip(self.levels, self._n_contrasts.tolist(), strict=True)):
            found[t, 1 : n + 1] = q[t]
            if one is None or not one.category:
                found[t, n + 1 :] = polynomials[t, 1 : last + 1 - n]
        return found

    def _pair(self) -> tuple[float, float] | None:
        """Return (q, s) if that is all there is to it."""
        ((kind, smoothness, interactions), *others) = self._parts
        plain = not others and kind == PowerDecay._kind
        if not plain or self.n_features is not None:
            return None
        return interactions[0], smoothness

    def _shorthand(self, lam: float) -> SpectrumLike:
        """Return the shortest that `as_spectrum` makes this of."""
        if self == Spectrum.paper(lam):
            return None
        return "orthonormal" if self == Spectrum.flat() else self._pair() or self

    def _core(self, n_features: int) -> tuple[_Part, ...]:
        """Return the components as the core takes them."""
        size = self.n_features
        if size not in (None, n_features):
            raise ValueError(
                Message(
                    "`interaction` (q) must be one number or {}, one an input; got {}",
                    n_features,
                    size,
                )
            )
        return self._parts


# What a spectrum is made of, and what stands for one
ComponentsLike: TypeAlias = Union["tuple[float, float] | Component | Sequence[Component]", Spectrum]

SpectrumLike: TypeAlias = Union['Literal["orthonormal"] | None', ComponentsLike]

# kind; s, r or lam; one q, or one an input
_Part: TypeAlias = tuple[str, float, tuple[float, ...]]


def _as_components(value: Any) -> tuple[Component, ...]:
    if isinstance(value, Spectrum):
        return value.components
    if isinstance(value, COMPONENTS):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, str):
        items = tuple(value)
        if len(items) == 2 and all(isinstance(item, Real) for item in items):
            q = check_number(items[0], _Q_OF_SPECTRUM, minimum=0)
            s = check_number(items[1], _S_OF_SPECTRUM, minimum=0)
            return (PowerDecay(q, s),)
        if items and all(isinstance(item, COMPONENTS) for item in items):
            return items
        if len(items) == 2 and isinstance(items[0], Iterable) and isinstance(items[1], Real):
            raise TypeError(
                Message(
                    "the q of a pair (q, s) as `spectrum` is one number, for all inputs; for one "
                    "an input write PowerDecay({!r}, {!r}), got {!r}",
                    items[0],
                    items[1],
                    value,
                )
            )
    raise TypeError(
        Message(
            "the components of `spectrum` must be a pair (q, s), a PowerDecay, GeometricDecay or "
            "GegenbauerDecay, or a sequence of these three; got {!r}",
            value,
        )
    )


def _part(component: Component) -> _Part:
    q = component.interaction if isinstance(component.interaction, tuple) else (
        component.interaction,
    )  # fmt: skip
    if not q:
        raise ValueError(Message("`interaction` (q) must be one number, or one an input; got none"))
    types = {*map(type, q)}
    if types <= {float, int} and all(0 <= value <= _LARGEST for value in q):
        checked = q if types == {float} else tuple(map(float, q))
    else:  # with an error, or numbers of another kind
        checked = tuple(check_number(value, _INTERACTION, minimum=0) for value in q)
    return component._kind, component._parameter(), checked


@functools.lru_cache(maxsize=16)  # each basis takes it twice, and it does not change
def _of_raw_polynomials(lam: float) -> Spectrum:
    return Spectrum.paper(lam)


def as_spectrum(value: object, lam: float) -> Spectrum:
    """Return a spectrum as one; None is that of raw polynomials."""
    if value is None:
        # of numbers of other types, which may be equal, each has its own
        return _of_raw_polynomials(lam) if type(lam) is float else Spectrum.paper(lam)
    if isinstance(value, str):
        if value != "orthonormal":
            raise ValueError(
                Message(
                    "`spectrum` must be None, 'orthonormal', a pair (q, s), a Spectrum or what one "
                    "is made from; got {!r}",
                    value,
                )
            )
        return Spectrum.flat()
    return value if isinstance(value, Spectrum) else Spectrum(value)  # type: ignore[arg-type]


def core_spectrum(spectrum: Spectrum, lam: float, n_features: int) -> dict[str, Any]:
    """Return the core's arguments: raw polynomials are evaluated as such, not as weighted ones."""
    raw = spectrum == _of_raw_polynomials(lam)
    return {
        "normalization": "raw" if raw else "orthonormal",
        "spectrum": spectrum._core(n_features),
    }
