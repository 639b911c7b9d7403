"""Tensor products of univariate functions over an index set.

The mathematics is in ``cpp/include/gegenbauer/{polynomial,levels,multi_index,tensor_basis}.hpp``;
here arguments are checked and the compiled core is called.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Setting, Ways
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import (
    CLIP,
    check_choice,
    check_number,
    check_out,
    check_threads,
    require_finite,
)
from gegenbauer.basis.index_sets import (
    MOST_TERMS,
    count_terms,
    require_degree,
    require_few_terms,
    set_arguments,
)
from gegenbauer.basis.levels import as_samples, core_levels
from gegenbauer.basis.notebook import basis_html
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.spectrum import Spectrum, as_spectrum, core_spectrum
from gegenbauer.errors import message_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.spectrum import SpectrumLike

__all__ = ["MAX_TERMS", "TensorBasis", "check_basis", "common_polynomials", "require_room"]

_MOST_KEPT_TERMS = 50_000

# What the core makes at most
MAX_TERMS = 100_000_000

# Of which polynomials of any degree are small
_MILD_LAM = 0.05


def _leaves_domain(data: npt.NDArray[Any], scaling: InputScaling | None) -> bool:
    """Return whether some entry, once scaled, lies outside of the domain of the polynomials."""
    if scaling is None:
        return not bool((np.abs(data) <= 1).all())  # NaN lies outside, too
    return not scaling.clip and bool(scaling.outside(data).any())


def require_room(n_terms: int) -> None:
    """Refuse a basis whose table of terms cannot fit into memory."""
    if n_terms > MAX_TERMS:  # of which the core has an error of its own
        return
    require_memory(
        32.0 * n_terms, f"a basis of {n_terms} terms", Ways("lower", "`n_terms`", "`degree`")
    )


def _require_room_for_contrasts(levels: tuple[tuple[Any, bool], ...], n_terms: int) -> None:
    """Refuse a basis whose contrasts of categories cannot fit into memory."""
    sizes = [len(shares) for shares, _ in levels]
    require_memory(
        16.0 * sum(size * min(size, n_terms) for size in sizes),
        f"the contrasts of up to {max(sizes, default=0)} levels",
        Ways.of([Ways("lower", "`n_terms`", "`degree`"), "join levels"]),
    )


def _require_few_terms(arguments: dict[str, Any]) -> None:
    """Refuse too many terms before they are listed."""
    n_terms, degree = arguments["n_terms"], arguments["degrees"] or arguments["degree"]
    if n_terms is not None and n_terms <= MOST_TERMS:
        return
    exact, approximate = core.count_terms(**arguments)
    count = approximate if exact is None else exact
    whole = degree is None or count == n_terms  # so many are there, and not fewer
    given = Setting("n_terms", str(n_terms)) if whole else Setting("degree", str(degree))
    require_few_terms(count, given)


def _core_basis(arguments: dict[str, Any], lam: float) -> core.TensorBasis:
    """Return the core's basis, which keeps the plans that fits derive from it.

    Bases of ordinary size are made once for the last few parameters in use: cross-validation and
    repeated fits find their plans again. They never change, so threads may share them.
    """
    counted = {key: value for key, value in arguments.items() if key != "normalization"}
    exact, _ = core.count_terms(**counted)
    if exact is not None:
        require_room(exact)
        _require_room_for_contrasts(arguments["levels"], exact)
    if exact is None or exact > _MOST_KEPT_TERMS:
        return core.TensorBasis(**arguments, lam=lam)
    frozen = {**arguments, "degrees": tuple(arguments["degrees"])}
    return _kept_basis(tuple(frozen.items()), lam)


@lru_cache(maxsize=8)
def _kept_basis(arguments: tuple[tuple[str, Any], ...], lam: float) -> core.TensorBasis:
    return core.TensorBasis(**dict(arguments), lam=lam)


def _ways_into_range(arguments: dict[str, Any], lam: float) -> Ways:
    """Advise how terms that float64 does not hold come into its range: what alone is enough."""
    raw = arguments["normalization"] == "raw"
    flat, mild = (
        arguments | core_spectrum(one, _MILD_LAM, arguments["n_inputs"])
        for one in (Spectrum.flat(), Spectrum.paper(_MILD_LAM))
    )
    number = "degree" if arguments["n_terms"] is None else "n_terms"
    trials = [(Message("`{}`", number), {**arguments, "n_terms": 2}, lam)]
    if lam > _MILD_LAM:
        trials.insert(0, (Message("`lam`"), mild if raw else arguments, _MILD_LAM))
    if not raw:
        trials.append((Message("the q of `spectrum`"), flat, lam))
    lower = [what for what, changed, other in trials if _is_within_range(changed, other)]
    if lower and lower[0].parameters == ("lam",):
        lower[0] = Message("`lam` (to {:g} or less)", _largest_lam(arguments, lam))
    ways = (
        Ways("lower", *lower)
        if lower
        else Ways("lower all of", *(what for what, *_ in trials), last=", ")
    )
    works = raw and _is_within_range(flat, lam)
    return Ways.of([ways, "use `spectrum='orthonormal'`"]) if works else ways


def _largest_lam(arguments: dict[str, Any], lam: float) -> float:
    """Return a power of ten that is as far as `lam` may go, if the spectrum stays."""
    raw = arguments["normalization"] == "raw"

    def is_within_range(exponent: int) -> bool:
        other = 10.0**exponent
        spectrum = core_spectrum(Spectrum.paper(other), other, arguments["n_inputs"])
        return _is_within_range(arguments | spectrum if raw else arguments, other)

    low, high = math.floor(math.log10(_MILD_LAM)), math.ceil(math.log10(lam))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_within_range(middle) else (low, middle)
    return 10.0**low


def _is_within_range(arguments: dict[str, Any], lam: float) -> bool:
    try:
        _core_basis(arguments, lam)
    except ValueError:
        return False
    return True


class TensorBasis(FormerNames):
    """A set of tensor products of univariate Gegenbauer polynomials, in a fixed order.

    Term l is ``G_l(x) = g_{k_1}(x_1) ... g_{k_m}(x_m)`` with the multi-index ``indices[l]``
    (the paper's Gegenbauer elementary functions, eq.network-basis). Term 0 is the constant.

    Where the spectrum has levels, degrees count the functions of an input: a category has the
    contrasts of its levels, ``g_1`` to those of the last; a number that may be missing first the
    contrast of given and missing, then its polynomials from degree 1 on, 0 where it is missing (see
    `Levels.contrasts`). Samples hold NaN for a missing number or an unknown level; the levels of a
    category lie at equal distances from -1 to 1. The sum over all terms is the `SpectrumKernel`
    with the same `lam`.

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
        degree, or the degree of each input. Inputs of weight zero do not occur. A contrast of
        levels counts with its variance over the samples, where that of a polynomial is one.
    max_interaction : int, optional
        At most so many inputs occur together in a term.
    term_order : {"grlex", "grlex_ascending", "grevlex"}
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

    See Also
    --------
    GegenbauerFeatures : The terms as a transformer.
    SpectrumKernel : All terms there are.
    solve_ridge : The fit itself, for one penalty.

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

    _complete = False  # whether nothing is to change any more

    @refuse_old_names
    def __init__(
        self,
        n_features: int,
        *,
        n_terms: int | None = None,
        degree: int | Sequence[int] | None = None,
        lam: float = 0.05,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        term_order: str = "grlex",
        spectrum: SpectrumLike = None,
    ) -> None:
        self.lam = check_number(lam, "lam", minimum=-0.5, open_below=True)
        self.spectrum: Spectrum = as_spectrum(spectrum, self.lam)
        arguments = set_arguments(
            n_features, n_terms, degree, index_set, max_interaction, term_order
        )
        if arguments["index_set"] == "largest_weight" and spectrum is None:
            raise ValueError(
                Message(
                    "`index_set='largest_weight'` needs a spectrum, the weights of the terms",
                    ways=Ways("", "`spectrum=(q, s)`", "`spectrum=Spectrum.paper(lam)`"),
                    joint=", such as ",
                )
            )
        arguments |= core_spectrum(self.spectrum, self.lam, arguments["n_inputs"])
        arguments["levels"] = core_levels(self.spectrum.levels)
        counted = {key: value for key, value in arguments.items() if key != "normalization"}
        require_degree(counted)
        _require_few_terms(counted)
        try:
            self._plan = _core_basis(arguments, self.lam)
        except ValueError as error:  # the core advises as if it knew what brought the terms there
            message = message_of(error)
            if "lam" not in message.ways.parameters():
                raise
            ways = _ways_into_range(arguments, self.lam)
            raise ValueError(Message("{}", message.report, ways=ways)) from None
        self.n_features: int = arguments["n_inputs"]
        self.degree: int | tuple[int, ...] | None = arguments["degree"]
        if arguments["degrees"]:
            self.degree = tuple(arguments["degrees"])
        self.index_set: str = arguments["index_set"]
        self.max_interaction: int | None = arguments["max_inputs"]
        self.term_order: str = arguments["order"]
        self._n_terms_requested: int | None = arguments["n_terms"]
        self._complete = True

    def __setattr__(self, name: str, value: object) -> None:
        if self._complete:
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
        """Largest degree of one input in any term; of an input with levels, of its functions."""
        return int(self._plan.degrees.max())

    @property
    def max_degrees(self) -> npt.NDArray[np.int32]:
        """Largest degree of each input in any term, shape (n_features,)."""
        return self._max_degrees

    @cached_property
    def _max_degrees(self) -> npt.NDArray[np.int32]:
        found = np.zeros(self.n_features, dtype=np.int32)
        # every factor is the last one of some term, of the part of a term up to it
        np.maximum.at(found, self._plan.inputs[1:], self._plan.degrees[1:])
        found.flags.writeable = False
        return found

    @property
    def max_polynomial_degree(self) -> int:
        """Largest degree of a polynomial in any term: contrasts of levels have none."""
        if self.spectrum.levels is None:
            return self.max_degree
        contrasts = [
            0 if one is None else self.max_degree if one.category else one.n_contrasts
            for one in self.spectrum.levels
        ]
        # term 0 has no input
        degrees = self._plan.degrees[1:] - np.array(contrasts)[self._plan.inputs[1:]]
        return int(degrees.max(initial=0))

    def count_by_degree(self) -> npt.NDArray[np.intp]:
        """Count the terms by their total degree and by how many inputs they have.

        Returns
        -------
        ndarray of int, shape (largest total degree + 1, largest number of inputs + 1)

        Examples
        --------
        >>> from gegenbauer import TensorBasis
        >>> TensorBasis(2, degree=2).count_by_degree().tolist()  # 1; x, y; x^2, y^2 and xy
        [[1, 0, 0], [0, 2, 0], [0, 2, 1]]
        """
        totals, n_inputs = np.zeros((2, self.n_terms), dtype=np.int64)
        for terms, _, degrees in self._factors():
            totals[terms] += degrees
            n_inputs[terms] += 1
        shape = int(totals.max()) + 1, int(n_inputs.max()) + 1
        places = totals * shape[1] + n_inputs
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)

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
        cumulative = np.cumsum(self.count_by_degree().sum(axis=1))
        complete = 0
        for degree, count in enumerate(cumulative.tolist()):
            if count < count_terms(
                self.n_features, degree=degree, max_interaction=self.max_interaction,
                levels=self.spectrum.levels,
            ):  # fmt: skip
                break
            complete = degree
        return complete, self.n_terms - int(cumulative[complete])

    def term_names(
        self, names: Sequence[str] | None = None, *, terms: Iterable[int] | None = None
    ) -> list[str]:
        """Name the terms readably.

        Parameters
        ----------
        names : sequence of n_features str, optional
            Names of the inputs; by default x0, x1, ...
        terms : iterable of int, optional
            Which terms; by default all.

        Returns
        -------
        list of str, one a term
            ``"1"``, ``"C1(x0)"``, ``"C2(x0) C1(x3)"``; ``Cn`` is the polynomial of degree n. Of an
            input with levels, ``"level2(x1)"`` is the second contrast of a category, and
            ``"missing(x2)"`` that of a number.
        """
        if names is None:
            names = [f"x{t}" for t in range(self.n_features)]
        elif len(names) != self.n_features:
            raise ValueError(
                Message("`names` must have {} entries, got {}", self.n_features, len(names))
            )
        tables = self._plan.parents, self._plan.inputs, self._plan.degrees
        if terms is None:
            terms, tables = range(self.n_terms), tuple(table.tolist() for table in tables)
        parents, inputs, degrees = tables
        found = []
        for term in terms:
            factors = []
            at = int(term)
            while at > 0:
                factors.append((int(inputs[at]), int(degrees[at])))
                at = int(parents[at])
            found.append(
                " ".join(f"{self._function_name(t, n)}({names[t]})" for t, n in sorted(factors))
                or "1"
            )
        return found

    def _function_name(self, t: int, n: int) -> str:
        """Name function n of input t: a polynomial by its degree, or a contrast of levels."""
        levels = None if self.spectrum.levels is None else self.spectrum.levels[t]
        if levels is None:
            return f"C{n}"
        if levels.category:
            return f"level{n}"
        n -= levels.n_contrasts
        return f"C{n}" if n > 0 else "missing"

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
            By default `gegenbauer.default_threads()`. The result does not depend on it.

        Returns
        -------
        ndarray, shape (n_samples, n_terms)

        Raises
        ------
        ValueError, TypeError
            For X or `out` of wrong shape, type or content, and results beyond the range of their
            type, as far outside of the domain.
        """
        data = as_samples(X, "X", self)
        box = self._box(scaling)
        threads = check_threads(n_threads)
        shape = (data.shape[0], self.n_terms)
        if out is None:
            check_choice(order, "order", ("C", "F"))
            try:
                kind = np.dtype(dtype)
            except TypeError:
                raise TypeError(
                    Message("`dtype` must be float64 or float32, got {!r}", dtype)
                ) from None
            if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
                raise TypeError(Message("`dtype` must be float64 or float32, got {}", kind))
            require_memory(
                float(kind.itemsize) * shape[0] * shape[1],
                f"a feature matrix of shape {shape}",
                "evaluate fewer samples at once, or use fewer terms",
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
                Ways.of([CLIP, Ways.of(["work in float64", Ways("lower", "`lam`", "`degree`")])]),
            )
        return out

    def _box(self, scaling: InputScaling | None) -> Any:
        """Return the core's box of a scaling, after checking that it fits."""
        box = check_scaling(scaling, self.n_features, "basis")
        if scaling is None or scaling.domain == (-1.0, 1.0):
            return box
        for t, one in enumerate(self.spectrum.levels or ()):
            if one is not None and one.category and scaling._ends[0][t] != -1.0:
                raise ValueError(
                    Message(
                        "the levels of categories lie at equal distances from -1 to 1: the scaling "
                        "must have `domain=(-1, 1)`, or column {} among its `categories`; got "
                        "domain={}",
                        t,
                        scaling.domain,
                    )
                )
        return box

    def _parameters(self) -> dict[str, Any]:
        """Return the arguments that make this basis again."""
        return {
            "n_features": self.n_features,
            "n_terms": self._n_terms_requested,
            "degree": self.degree,
            "lam": self.lam,
            "index_set": self.index_set,
            "max_interaction": self.max_interaction,
            "term_order": self.term_order,
            "spectrum": self._spectrum_shorthand(),
        }

    def _spectrum_shorthand(self, *, without_levels: bool = False) -> SpectrumLike:
        """Return the shortest that stands for the spectrum here."""
        spectrum = Spectrum(self.spectrum.components) if without_levels else self.spectrum
        short = spectrum._shorthand(self.lam)
        return spectrum if short is None and self.index_set == "largest_weight" else short

    def __eq__(self, other: object) -> bool:
        """Compare the terms, in their order and with their weights, however they were requested."""
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
            "max_interaction": None, "term_order": "grlex", "spectrum": None,
        }  # fmt: skip
        shown = {k: v for k, v in self._parameters().items() if k not in default or v != default[k]}
        n_features = shown.pop("n_features")
        rest = "".join(f", {key}={value!r}" for key, value in shown.items())
        return f"TensorBasis({n_features}{rest})"

    def _repr_html_(self) -> str:
        """Return a table of how many terms there are of each total degree, for notebooks."""
        return basis_html(self)


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


def check_basis(basis: object, name: str = "basis", *, kinds: str = "a TensorBasis") -> TensorBasis:
    """Return the basis, or refuse what is none, nor another of the kinds that are taken."""
    if not isinstance(basis, TensorBasis):
        raise TypeError(Message("`{}` must be {}, got {}", name, kinds, type(basis).__name__))
    return basis
