"""Univariate polynomials, index sets, tensor features and the scaling of inputs, on arrays.

The mathematics is in ``cpp/include/gegenbauer/{polynomial,multi_index,tensor_basis}.hpp``; here
arguments are checked and the compiled core is called.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._arrays import (
    CLIP,
    as_matrix,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_out,
    check_threads,
    naming_columns,
    require_finite,
    require_memory,
    require_plain,
    shown,
)
from gegenbauer._dispatch import core
from gegenbauer.spectrum import Spectrum, as_spectrum, core_spectrum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer.spectrum import SpectrumLike

__all__ = ["InputScaling", "TensorBasis", "count_terms", "eval_gegenbauer"]

_MOST_KEPT_TERMS = 50_000

# Relative spacing of the coarsest numbers that are taken
_COARSEST = float(np.finfo(np.float32).eps)

INDEX_SETS = ("total_degree", "tensor", "hyperbolic_cross", "largest_weight")
ORDERS = ("grlex", "grlex_ascending", "grevlex")
DOMAINS = ((0.0, 1.0), (-1.0, 1.0))


def eval_gegenbauer(
    x: npt.ArrayLike, degree: int, lam: float, *, normalization: str = "raw"
) -> npt.NDArray[np.float64]:
    r"""Evaluate the Gegenbauer polynomials of all degrees up to `degree`.

    By the three-term recurrence (the paper's eq.gegenbauerrecurrence)

    .. math:: n C_n = 2 (n + \lambda - 1) x C_{n-1} - (n + 2 \lambda - 2) C_{n-2}.

    Parameters
    ----------
    x : array_like of real numbers, any shape
        Points; the polynomials are orthogonal on [-1, 1].
    degree : int
        Largest degree, 0 to 100000.
    lam : float
        Parameter lambda > -1/2. 1/2 gives Legendre polynomials, 1 Chebyshev's of the second kind.
        At 0 the limit of C_n / lambda is meant, (2/n) T_n with Chebyshev's T_n (n >= 1).
    normalization : {"raw", "orthonormal"}
        ``"orthonormal"`` divides by the norm for the probability density proportional to
        (1 - x^2)^(lam - 1/2), with a positive leading coefficient (for lam < 0 the raw polynomials
        of degree n >= 1 have a negative one).

    Returns
    -------
    ndarray of float64, shape ``x.shape + (degree + 1,)``
        Entry ``[..., n]`` is the polynomial of degree n.

    Raises
    ------
    ValueError
        For lam <= -1/2, points that are not finite, or values beyond the range of float64 (raw
        polynomials of large lam and degree, points far outside of [-1, 1]).

    Examples
    --------
    >>> from gegenbauer import eval_gegenbauer
    >>> eval_gegenbauer(0.3, 3, 0.5)
    array([ 1.    ,  0.3   , -0.365 , -0.3825])
    """
    degree = check_integer(degree, "degree", minimum=0)
    if degree > 100_000:
        raise ValueError(f"degree must be at most 100000, got {degree}")
    lam = check_number(lam, "lam", minimum=-0.5, open_below=True)
    check_choice(normalization, "normalization", ("raw", "orthonormal"))
    require_plain(x, "x")
    try:
        points = np.asarray(x)
    except ValueError:
        raise ValueError("x must be a rectangular array") from None
    if points.dtype == object:
        with naming_columns(x, "x"):
            points = points.astype(np.float64)
    if points.dtype.kind not in "fiub":
        raise TypeError(f"x must hold real numbers, got dtype {points.dtype}")
    require_memory(
        8.0 * points.size * (degree + 1), "the result", "lower degree or pass fewer points"
    )
    flat = np.ascontiguousarray(points, dtype=np.float64).ravel()
    if not np.isfinite(flat).all():
        raise ValueError("x must be finite, but holds NaN or infinity")
    values = core.eval_gegenbauer(flat, degree, lam, normalization)
    require_finite(values, "the polynomials have values", "x lies too far outside of [-1, 1]")
    return values.reshape(*points.shape, degree + 1)


def _set_arguments(
    n_features: object,
    n_terms: object,
    degree: object,
    index_set: object,
    max_interaction: object,
    order: object,
) -> dict[str, Any]:
    """Check what describes an index set; the result is what the core takes, but the spectrum."""
    checked_set = check_choice(index_set, "index_set", INDEX_SETS)
    degrees: list[int] = []
    single: int | None = None
    if degree is not None:
        if isinstance(degree, (list, tuple)) or (isinstance(degree, np.ndarray) and degree.ndim):
            degrees = [check_integer(d, "degree", minimum=0) for d in degree]
            if not degrees:
                raise ValueError("degree must not be empty: give one degree for each input")
        else:
            single = check_integer(degree, "degree", minimum=0)
    return {
        "n_inputs": check_integer(n_features, "n_features", minimum=1),
        "index_set": checked_set,
        "degree": single,
        "degrees": degrees,
        "n_terms": None if n_terms is None else check_integer(n_terms, "n_terms", minimum=1),
        "max_inputs": None
        if max_interaction is None
        else check_integer(max_interaction, "max_interaction", minimum=1),
        "order": check_choice(order, "order", ORDERS),
    }


def count_terms(
    n_features: int,
    *,
    n_terms: int | None = None,
    degree: int | Sequence[int] | None = None,
    index_set: str = "total_degree",
    max_interaction: int | None = None,
) -> int:
    """Count the terms of an index set without making it.

    Parameters
    ----------
    n_features, n_terms, degree, index_set, max_interaction
        As for `TensorBasis`; in ``index_set="largest_weight"`` every input counts as one that has
        a weight.

    Returns
    -------
    int
        Exact up to 2^63; beyond, the nearest float64 as an integer, at most 2^1024.

    Raises
    ------
    ValueError, TypeError
        For parameters that describe no set.

    Examples
    --------
    >>> from gegenbauer import count_terms
    >>> count_terms(33, degree=3)
    7140
    >>> count_terms(4, degree=2, max_interaction=1)
    9
    """
    arguments = _set_arguments(n_features, n_terms, degree, index_set, max_interaction, "grlex")
    parts = Spectrum.flat()._core(arguments["n_inputs"])  # any weights but zero make as many terms
    exact, approximate = core.count_terms(**arguments, spectrum=parts)
    if exact is not None:
        return exact
    return int(approximate) if np.isfinite(approximate) else 2**1024


class InputScaling:
    """Affine map of a box onto the domain of the polynomials, column by column.

    The core applies it on the fly, block by block: scaled data are never stored. `transform` is the
    same map in NumPy.

    Parameters
    ----------
    lower, upper : array_like, shape (n_features,)
        The box; finite, ``lower <= upper``.
    domain : {(0, 1), (-1, 1)}
        Where the box is mapped to.
    clip : bool
        Move entries outside of the box to its nearest face.
    constant : array_like of bool, shape (n_features,), optional
        Columns to ignore. By default those whose range is at most 8 times the float64 resolution
        of their magnitude. They are mapped to 0, which lies in both domains and is a zero of every
        polynomial of odd degree, whatever values come later.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import InputScaling
    >>> scaling = InputScaling.fit(np.array([[1.0, 7.0], [3.0, 7.0]]), domain=(-1, 1))
    >>> scaling.transform(np.array([[2.0, 9.0], [5.0, 7.0]]))
    array([[0., 0.],
           [1., 0.]])
    """

    __slots__ = ("_map", "clip", "domain", "is_constant", "lower", "upper")

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    domain: tuple[float, float]
    clip: bool
    is_constant: npt.NDArray[np.bool_]

    def __init__(
        self,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        *,
        domain: tuple[float, float] = (0.0, 1.0),
        clip: bool = True,
        constant: npt.ArrayLike | None = None,
    ) -> None:
        box = [
            as_matrix(side, name, one_dimensional=True, n_columns=1, keep_float32=False)[:, 0]
            for side, name in ((lower, "lower"), (upper, "upper"))
        ]
        self.lower, self.upper = (np.array(side) for side in box)
        if self.lower.shape != self.upper.shape:
            raise ValueError(
                f"lower and upper must have the same length, got {self.lower.size} and "
                f"{self.upper.size}"
            )
        if (self.lower > self.upper).any():
            column = int((self.lower > self.upper).argmax())
            raise ValueError(f"lower must not exceed upper, but does in column {column}")
        self.domain = _check_domain(domain)
        self.clip = check_flag(clip, "clip")
        half_range = 0.5 * self.upper - 0.5 * self.lower
        if constant is None:
            self.is_constant = _is_constant(self.lower, self.upper, np.finfo(np.float64).eps)
        else:
            require_plain(constant, "constant", wanted="one flag for each column")
            self.is_constant = np.array(constant, dtype=bool)
            if self.is_constant.shape != self.lower.shape:
                raise ValueError("constant must have one entry for each column")
            self.is_constant |= half_range == 0
        for array in (self.lower, self.upper, self.is_constant):
            array.flags.writeable = False
        low, high = self.domain
        self._map = core.BoxMap(
            (0.5 * self.lower).tolist(),
            np.where(self.is_constant, 1.0, half_range).tolist(),
            np.where(self.is_constant, 0.0, high - low).tolist(),
            np.where(self.is_constant, 0.0, low).tolist(),
            self.clip,
        )

    @classmethod
    def fit(
        cls,
        X: npt.ArrayLike,
        *,
        domain: tuple[float, float] = (0.0, 1.0),
        clip: bool = True,
    ) -> InputScaling:
        """Take the smallest box around the rows of X.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Finite real numbers.
        domain : {(0, 1), (-1, 1)}
            Where the box is mapped to.
        clip : bool
            Move entries outside of the box to its nearest face.

        Returns
        -------
        InputScaling
        """
        data = as_matrix(X, "X")
        lower = data.min(axis=0).astype(np.float64)
        upper = data.max(axis=0).astype(np.float64)
        constant = _is_constant(lower, upper, np.finfo(data.dtype).eps)
        return cls(lower, upper, domain=domain, clip=clip, constant=constant)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.lower.size

    def transform(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Map the rows of X, shape (n_samples, n_features), to the domain."""
        data = as_matrix(X, "X", n_columns=self.n_features).astype(np.float64)
        half_range = np.where(self.is_constant, 1.0, 0.5 * self.upper - 0.5 * self.lower)
        unit = (0.5 * data - 0.5 * self.lower) / half_range
        if self.clip:
            unit = unit.clip(0.0, 1.0)
        low, high = self.domain
        return np.where(self.is_constant, 0.0, low + (high - low) * unit)

    def outside(self, X: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell which rows of X, shape (n_samples, n_features), lie outside of the box.

        Constant columns have no box and are not looked at.
        """
        data = as_matrix(X, "X", n_columns=self.n_features)
        out = np.zeros(data.shape[0], dtype=bool)
        for column in np.flatnonzero(~self.is_constant):
            values = data[:, column]
            out |= (values < self.lower[column]) | (values > self.upper[column])
        return out

    def union(self, other: InputScaling, *, resolution: float | None = None) -> InputScaling:
        """Return the smallest box around two boxes of the same domain and clipping.

        Parameters
        ----------
        other : InputScaling
            Of as many columns.
        resolution : float, optional
            Relative spacing of the numbers that made the boxes, by default that of float64: columns
            are constant whose range is at most 8 times that of their magnitude, and that were
            before.

        Returns
        -------
        InputScaling
        """
        if not isinstance(other, InputScaling):
            raise TypeError(f"other must be an InputScaling, got {type(other).__name__}")
        mine = (self.n_features, self.domain, self.clip)
        if mine != (other.n_features, other.domain, other.clip):
            raise ValueError(
                f"boxes can be joined only if number of columns, domain and clip are the same; got "
                f"{self!r} and {other!r}"
            )
        lower = np.minimum(self.lower, other.lower)
        upper = np.maximum(self.upper, other.upper)
        eps = float(np.finfo(np.float64).eps) if resolution is None else resolution
        constant = self.is_constant & other.is_constant & _is_constant(lower, upper, eps)
        return InputScaling(lower, upper, domain=self.domain, clip=self.clip, constant=constant)

    def _opened(self) -> InputScaling:
        """Return the box without the flags of columns that are narrow, but have a range.

        They are mapped like the others, exactly: entries of a column so narrow are few numbers that
        are equally spaced. Wide columns that are to be ignored stay so, wherever their entries lie.
        """
        narrow = self.is_constant & (self.lower < self.upper)
        narrow &= _is_constant(self.lower, self.upper, _COARSEST)
        if not narrow.any():
            return self
        return InputScaling(
            self.lower, self.upper, domain=self.domain, clip=self.clip,
            constant=self.is_constant & ~narrow,
        )  # fmt: skip

    def _require_inside(self, wider: InputScaling) -> None:
        """Refuse a box that does not contain this one."""
        outside = (wider.lower > self.lower) | (wider.upper < self.upper)
        outside |= wider.is_constant & ~self.is_constant
        if outside.any():
            t = int(outside.argmax())
            raise ValueError(
                f"a box can only grow: column {t} has the range [{self.lower[t]:.6g}, "
                f"{self.upper[t]:.6g}], which [{wider.lower[t]:.6g}, {wider.upper[t]:.6g}] does "
                "not contain"
            )

    def _substitution(
        self, wider: InputScaling
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return scale and shift, column by column, from this domain to that of a wider box.

        A row that is mapped to u by this box is mapped to ``scale u + shift`` by the other, which
        must contain this one.
        """
        low, high = wider.domain
        half = np.where(wider.is_constant, 1.0, 0.5 * wider.upper - 0.5 * wider.lower)
        own_half = 0.5 * self.upper - 0.5 * self.lower
        scale = np.where(self.is_constant, 0.0, own_half / half)
        # where the lower end of this box comes to lie, or the middle of a constant column
        end = self.lower + np.where(self.is_constant, own_half, 0.0)
        shift = low + (high - low) * ((0.5 * end - 0.5 * wider.lower) / half) - scale * low
        alike = self.is_constant & wider.is_constant
        alike |= (self.lower == wider.lower) & (self.upper == wider.upper) & (scale == 1.0)
        return np.where(alike, 1.0, scale), np.where(alike, 0.0, shift)

    def _key(self) -> tuple[object, ...]:
        parts = (self.lower.tobytes(), self.upper.tobytes(), self.is_constant.tobytes())
        return (*parts, self.domain, self.clip)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputScaling) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments that make this scaling again; what the core keeps is not pickled."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "domain": self.domain,
            "clip": self.clip,
            "constant": self.is_constant,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"InputScaling(n_features={self.n_features}, domain={self.domain}, clip={self.clip})"


def _is_constant(
    lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64], resolution: float
) -> npt.NDArray[np.bool_]:
    half_range = 0.5 * upper - 0.5 * lower
    half_magnitude = 0.5 * np.maximum(np.abs(lower), np.abs(upper))
    return np.asarray(half_range <= 8 * float(resolution) * half_magnitude)


def _check_domain(domain: object) -> tuple[float, float]:
    try:
        low, high = (float(edge) for edge in domain)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        low, high = np.nan, np.nan
    if (low, high) not in DOMAINS:
        raise ValueError(f"domain must be (0, 1) or (-1, 1), got {shown(domain)}")
    return low, high


def _leaves_domain(data: npt.NDArray[Any], scaling: InputScaling | None) -> bool:
    """Tell whether some entry lies outside of the domain of the polynomials, once it is scaled."""
    if scaling is None:
        return bool(np.abs(data).max() > 1)
    return not scaling.clip and bool(scaling.outside(data).any())


def check_scaling(scaling: InputScaling | None, n_features: int, owner: str) -> Any:
    """Return the core's box of a scaling, after checking that it fits its owner."""
    if scaling is None:
        return None
    if not isinstance(scaling, InputScaling):
        raise TypeError(f"scaling must be an InputScaling, got {type(scaling).__name__}")
    if scaling.n_features != n_features:
        raise ValueError(
            f"scaling is for {scaling.n_features} inputs, but the {owner} has {n_features}"
        )
    return scaling._map


def _core_basis(arguments: dict[str, Any], lam: float) -> core.TensorBasis:
    """Return the core's basis, which keeps the plans that fits derive from it.

    Bases of ordinary size are made once for the last few parameters in use: cross-validation and
    repeated fits find their plans again. They never change, so threads may share them.
    """
    counted = {key: value for key, value in arguments.items() if key != "normalization"}
    exact, _ = core.count_terms(**counted)
    if exact is None or exact > _MOST_KEPT_TERMS:
        return core.TensorBasis(**arguments, lam=lam)
    frozen = {**arguments, "degrees": tuple(arguments["degrees"])}
    return _kept_basis(tuple(frozen.items()), lam)


@lru_cache(maxsize=8)
def _kept_basis(arguments: tuple[tuple[str, Any], ...], lam: float) -> core.TensorBasis:
    return core.TensorBasis(**dict(arguments), lam=lam)


class TensorBasis:
    """A set of tensor products of univariate Gegenbauer polynomials, in a fixed order.

    Term l is ``G_l(x) = g_{k_1}(x_1) ... g_{k_m}(x_m)`` with the multi-index ``indices[l]``
    (the paper's Gegenbauer elementary functions, eq.network-basis). Term 0 is the constant.

    Parameters
    ----------
    n_features : int
        Number of inputs m.
    n_terms : int, optional
        Keep the first `n_terms` terms of the set in its order (all of them if it has fewer).
    degree : int or sequence of m ints, optional
        Degree of the set; a sequence, one degree an input, is for ``index_set="tensor"`` and
        ``"largest_weight"``. When it is not given, the smallest degree whose set has `n_terms`
        terms. One of `n_terms` and `degree` is needed.
    lam : float
        Gegenbauer parameter, > -1/2.
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}
        ``sum k_t <= degree``; ``k_t <= degree[t]``; ``prod (k_t + 1) <= degree + 1``; or the
        `n_terms` terms of largest weight of a `spectrum` that is given, where no factor v_t(n)
        counts as more than one or than that of a lower degree. `degree` then bounds the total
        degree, or the degree of each input. Inputs of weight zero do not occur.
    max_interaction : int, optional
        At most so many inputs occur together in a term.
    order : {"grlex", "grlex_ascending", "grevlex"}
        Lower total degrees come first. Within one degree: larger degrees of earlier inputs first
        (20 11 02, as in scikit-learn's PolynomialFeatures); the reverse of that; or smaller degrees
        of later inputs first (200 110 020 101 011 002). ``"largest_weight"`` sets are ordered by
        weight, ties by grlex.
    spectrum : None, "orthonormal", (q, s), Spectrum or what one is made from
        Scale of the terms: raw polynomials (the paper's, ``Spectrum.paper(lam)``), orthonormal ones
        (``Spectrum.flat()``), orthonormal ones with the squared weight q n^(-2s) for every input
        that occurs with degree n, or any `Spectrum`. The attribute is a `Spectrum`.

    Raises
    ------
    ValueError, TypeError
        For parameters that describe no set, sets of more than 10^8 terms (counted, not made), and
        values beyond the range of float64.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> basis = TensorBasis(2, degree=2)
    >>> basis.indices.tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    >>> basis.term_names()
    ['1', 'C1(x0)', 'C1(x1)', 'C2(x0)', 'C1(x0) C1(x1)', 'C2(x1)']
    >>> basis.evaluate([[1.0, 0.5]]).round(4).tolist()
    [[1.0, 0.1, 0.05, 0.055, 0.005, -0.0238]]
    """

    def __init__(
        self,
        n_features: int,
        *,
        n_terms: int | None = None,
        degree: int | Sequence[int] | None = None,
        lam: float = 0.05,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        order: str = "grlex",
        spectrum: SpectrumLike = None,
    ) -> None:
        self.lam = check_number(lam, "lam", minimum=-0.5, open_below=True)
        self.spectrum: Spectrum = as_spectrum(spectrum, self.lam)
        arguments = _set_arguments(n_features, n_terms, degree, index_set, max_interaction, order)
        if arguments["index_set"] == "largest_weight" and spectrum is None:
            raise ValueError(
                "index_set='largest_weight' needs a spectrum that says what terms weigh, such as "
                "spectrum=(q, s) or spectrum=Spectrum.paper(lam)"
            )
        arguments |= core_spectrum(self.spectrum, self.lam, arguments["n_inputs"])
        self._plan = _core_basis(arguments, self.lam)
        self.n_features: int = arguments["n_inputs"]
        self.degree: int | tuple[int, ...] | None = arguments["degree"]
        if arguments["degrees"]:
            self.degree = tuple(arguments["degrees"])
        self.index_set: str = arguments["index_set"]
        self.max_interaction: int | None = arguments["max_inputs"]
        self.order: str = arguments["order"]
        self._n_terms_asked: int | None = arguments["n_terms"]
        self._complete = True

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_complete", False):
            raise AttributeError(f"a TensorBasis does not change: make another one to set {name}")
        super().__setattr__(name, value)

    @property
    def n_terms(self) -> int:
        """Number of terms L."""
        return int(self._plan.n_terms)

    @property
    def parents(self) -> npt.NDArray[np.int32]:
        """Parent of each term, shape (n_terms,): the term without one of its inputs; 0's is -1."""
        return self._plan.parents

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """Multi-indices, shape (n_terms, n_features)."""
        require_memory(
            4.0 * self.n_terms * self.n_features, "the dense index table", "use fewer terms"
        )
        table = np.zeros((self.n_terms, self.n_features), dtype=np.int32)
        for terms, inputs, degrees in self._factors():
            table[terms, inputs] = degrees
        return table

    def _factors(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield (terms, inputs, degrees) of one factor of every term that has so many."""
        parents, inputs, degrees = self._plan.parents, self._plan.inputs, self._plan.degrees
        terms: npt.NDArray[np.intp] = np.arange(1, self.n_terms)
        at = terms
        while at.size:
            yield terms, inputs[at], degrees[at]
            up = parents[at].astype(np.intp)
            terms, at = terms[up > 0], up[up > 0]

    @property
    def max_degree(self) -> int:
        """Largest degree of one input in any term."""
        return int(self._plan.degrees.max())

    def complete_degree(self) -> tuple[int, int]:
        """Find the last total degree whose terms are all there.

        Returns
        -------
        degree : int
            Largest d such that every multi-index of total degree up to d (with at most
            `max_interaction` inputs) belongs to the set.
        n_beyond : int
            Number of further terms.
        """
        totals = np.zeros(self.n_terms, dtype=np.int64)
        for terms, _, degrees in self._factors():
            totals[terms] += degrees
        cumulative = np.cumsum(np.bincount(totals))
        complete = 0
        for degree, count in enumerate(cumulative.tolist()):
            if count < count_terms(
                self.n_features, degree=degree, max_interaction=self.max_interaction
            ):
                break
            complete = degree
        return complete, self.n_terms - int(cumulative[complete])

    def term_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Name the terms readably.

        Parameters
        ----------
        names : sequence of n_features str, optional
            Names of the inputs; by default x0, x1, ...

        Returns
        -------
        list of n_terms str
            ``"1"``, ``"C1(x0)"``, ``"C2(x0) C1(x3)"``; ``Cn`` is the polynomial of degree n.
        """
        if names is None:
            names = [f"x{t}" for t in range(self.n_features)]
        elif len(names) != self.n_features:
            raise ValueError(f"names must have {self.n_features} entries, got {len(names)}")
        parents, inputs, degrees = (
            table.tolist() for table in (self._plan.parents, self._plan.inputs, self._plan.degrees)
        )
        out = ["1"]
        for term in range(1, self.n_terms):
            factors = []
            at = term
            while at > 0:
                factors.append((inputs[at], degrees[at]))
                at = parents[at]
            out.append(" ".join(f"C{n}({names[t]})" for t, n in sorted(factors)))
        return out

    def evaluate(
        self,
        X: npt.ArrayLike,
        *,
        scaling: InputScaling | None = None,
        out: npt.NDArray[Any] | None = None,
        order: str = "C",
        dtype: npt.DTypeLike = np.float64,
        n_threads: int | None = None,
    ) -> npt.NDArray[Any]:
        """Evaluate all terms: the activation matrix G (eqn.activatematrix_SOGNN).

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            float64 or float32 in any layout is read in place; other numbers are converted.
        scaling : InputScaling, optional
            Maps X to the domain; without it X is taken as it is.
        out : ndarray, shape (n_samples, n_terms), optional
            float64 or float32 array to write into, any layout.
        order : {"C", "F"}
            Layout of a fresh result.
        dtype : float64 or float32
            Type of a fresh result; computing is in float64.
        n_threads : int, optional
            By default what `gegenbauer.default_threads` says. The bits do not depend on it.

        Returns
        -------
        ndarray, shape (n_samples, n_terms)

        Raises
        ------
        ValueError, TypeError
            For X or `out` of wrong shape, type or content, and results beyond the range of their
            type, as far outside of the domain.
        """
        data = as_matrix(X, "X", n_columns=self.n_features)
        box = self._box(scaling)
        threads = check_threads(n_threads)
        shape = (data.shape[0], self.n_terms)
        if out is None:
            check_choice(order, "order", ("C", "F"))
            try:
                kind = np.dtype(dtype)
            except TypeError:
                raise TypeError(f"dtype must be float64 or float32, got {dtype!r}") from None
            if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
                raise TypeError(f"dtype must be float64 or float32, got {kind}")
            require_memory(
                float(kind.itemsize) * shape[0] * shape[1],
                f"a feature matrix of shape {shape}",
                "evaluate fewer rows at once, or use fewer terms",
            )
            out = np.empty(shape, dtype=kind, order="F" if order == "F" else "C")
        else:
            out = check_out(out, shape, ("float64", "float32"))
            if np.may_share_memory(out, data):
                raise ValueError("out must not share memory with X")
        self._plan.evaluate(data, box, out, threads)
        # Inside of the domain float64 holds every value, and so does float32 those of nearly every
        # basis; looking costs as much as making them.
        held = out.dtype == np.float64 or self._plan.fits_float32
        if not held or _leaves_domain(data, scaling):
            require_finite(
                out,
                "some results are",
                f"{CLIP}, or work in float64, or lower lam or degree",
            )
        return out

    def _box(self, scaling: InputScaling | None) -> Any:
        """Return the core's box of a scaling, after checking that it fits."""
        return check_scaling(scaling, self.n_features, "basis")

    def _parameters(self) -> dict[str, Any]:
        """Return the arguments that make this basis again."""
        return {
            "n_features": self.n_features,
            "n_terms": self._n_terms_asked,
            "degree": self.degree,
            "lam": self.lam,
            "index_set": self.index_set,
            "max_interaction": self.max_interaction,
            "order": self.order,
            "spectrum": self._spectrum_shorthand(),
        }

    def _spectrum_shorthand(self) -> SpectrumLike:
        """Return the shortest that stands for the spectrum here."""
        short = self.spectrum._shorthand(self.lam)
        return self.spectrum if short is None and self.index_set == "largest_weight" else short

    def __eq__(self, other: object) -> bool:
        """Compare the terms, in their order and with their weights, however they were asked for."""
        if not isinstance(other, TensorBasis):
            return False
        mine, others = (
            (basis.n_features, basis.n_terms, basis.lam, basis.spectrum) for basis in (self, other)
        )
        return mine == others and all(
            np.array_equal(getattr(self._plan, name), getattr(other._plan, name))
            for name in ("parents", "inputs", "degrees")
        )

    def __hash__(self) -> int:
        return hash((self.n_features, self.n_terms, self.lam))

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments that make this basis again; the core's plan is not pickled."""
        return self._parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        default = {
            "n_terms": None, "degree": None, "index_set": "total_degree",
            "max_interaction": None, "order": "grlex", "spectrum": None,
        }  # fmt: skip
        shown = {k: v for k, v in self._parameters().items() if k not in default or v != default[k]}
        n_features = shown.pop("n_features")
        rest = "".join(f", {key}={value!r}" for key, value in shown.items())
        return f"TensorBasis({n_features}{rest})"


def common_polynomials(basis: TensorBasis) -> tuple[TensorBasis, npt.NDArray[np.float64]]:
    """Write a basis as products of polynomials that all inputs share, and a weight for each term.

    Returns
    -------
    one : TensorBasis
        Of one input: the polynomials, up to the largest degree.
    weights : ndarray, shape (n_terms,)
        1 where the inputs of the basis share their polynomials as they are.
    """
    shared = basis.spectrum.n_features is None or basis.n_features == 1
    spectrum = basis.spectrum if shared else Spectrum.flat()
    one = TensorBasis(1, degree=basis.max_degree, lam=basis.lam, spectrum=spectrum)
    weights = np.ones(basis.n_terms) if shared else basis.spectrum.term_weights(basis.indices)
    return one, weights
