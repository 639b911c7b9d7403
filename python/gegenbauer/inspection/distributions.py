"""What users give as distributions of the inputs of a model, as marginals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isfinite
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import shown
from gegenbauer.inspection._moments import moment_rule
from gegenbauer.inspection._quadrature import chebyshev_rule, legendre_rule, quantile_rule
from gegenbauer.inspection.marginals import FIXED, Marginal, Measure, of_levels
from gegenbauer.inspection.models import largest_indices, levels_of, spectrum_of
from gegenbauer.inspection.sample_marginals import known_marginals

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["NAMES", "marginals_of", "named_marginal"]

NAMES = ("empirical", "uniform", "chebyshev")

# Nodes that stand for a distribution where functions are no polynomials: kernels
_N_NODES = 400

# Largest degree whose means must have converged, where functions are no polynomials
_DEGREE = 60

# Nodes beyond which a Gauss rule has less than all digits of those in the box
_FAR = 10.0

# Values that a discrete distribution may have
_MOST_VALUES = 1e6

# What the probabilities of its values may differ from one by
_ROUNDING = 1e-9


def marginals_of(
    estimator: Any,
    function: Expansion,
    distribution: Any,
    *,
    inside: bool = False,
) -> list[Measure]:
    """Return the marginals of all inputs of a model.

    Parameters
    ----------
    estimator : estimator
        The model, which knows names and categories of its inputs, and the samples of its fit.
    function : TermExpansion, KernelExpansion or MeanExpansion
        What it has fitted, whose scaling has the policy for values out of range.
    distribution : str, distribution, mapping or sequence
        As `sobol_indices` takes it.
    inside : bool
        Whether what is clipped is left out, so that weights have a smaller sum.

    Raises
    ------
    ValueError, TypeError
        What is given is no distribution, or not one for these inputs.
    """
    given = _for_each(estimator, function.scaling.n_features, distribution)
    known = cache(lambda: known_marginals(estimator, function))
    scaling, levels = function.scaling, spectrum_of(function).levels
    degrees = largest_indices(function)
    found = []
    for t, one in enumerate(given):
        degree = None if degrees is None else degrees[t]
        level = None if levels is None else levels[t]
        source = _Source(estimator, scaling, t, level, degree, known, inside)
        found.append(source.marginal(one))
    return found


def named_marginal(
    name: str, domain: tuple[float, float], extent: float, degree: int | None
) -> Marginal:
    """Return the marginal "uniform" or "chebyshev" of a part of the domain around its middle.

    Means of products of two polynomials up to a degree are exact; None is for kernels.
    """
    low, high = domain
    rule = legendre_rule if name == "uniform" else chebyshev_rule
    nodes, weights = rule(_N_NODES if degree is None else degree + 1)
    return Marginal(low + (high - low) * 0.5 * (extent * nodes + 1.0), weights)


def _for_each(estimator: Any, n_features: int, distribution: Any) -> list[Any]:
    """Return what is given for each input."""
    if isinstance(distribution, Mapping) and not _is_discrete(distribution):
        names = getattr(estimator, "feature_names_in_", None)
        columns = range(n_features) if names is None else names.tolist()
        places = {name: t for t, name in enumerate(columns)}
        unknown = [name for name in distribution if name not in places]
        if unknown:
            raise ValueError(
                Message(
                    "`distribution` has {!r}, which is no input of the model; these are {}",
                    unknown[0],
                    shown([*columns]),
                )
            )
        found: list[Any] = ["empirical"] * n_features
        for name, one in distribution.items():
            found[places[name]] = one
        return found
    if isinstance(distribution, np.ndarray) and distribution.dtype.kind not in "biufc":
        distribution = distribution.tolist()  # of names, or of distributions
    if isinstance(distribution, Sequence) and not isinstance(distribution, (str, bytes)):
        if len(distribution) != n_features:
            raise ValueError(
                Message(
                    "`distribution` must have one entry for each of {} inputs, got {}",
                    n_features,
                    len(distribution),
                )
            )
        return [*distribution]
    if not isinstance(distribution, str) and not _has_one_input(distribution):
        raise TypeError(
            Message(
                "`distribution` must be one of {}, a mapping of values to probabilities, or have a "
                "method ppf, as the distributions of scipy.stats of one variable do, for all "
                "inputs or in a list with one for each: inputs are taken as independent, and no "
                "joint distribution can be given; got {}",
                ", ".join(map(repr, NAMES)),
                shown(distribution),
                ways="give samples as `background`",
            )
        )
    return [distribution] * n_features


def _has_one_input(given: Any) -> bool:
    """Whether what is given for all inputs can be the distribution of one."""
    return isinstance(given, Mapping) or any(
        callable(getattr(given, name, None)) for name in ("ppf", "icdf", "moment")
    )


def _some(nodes: Doubles, weights: Doubles, kept: npt.NDArray[np.bool_]) -> tuple[Doubles, Doubles]:
    """Return some nodes and their weights: of none that are kept, one without weight."""
    if not kept.any():
        return nodes[:1], np.zeros(1)
    return nodes[kept], weights[kept]


def _is_discrete(value: Any) -> bool:
    """Whether a mapping is one from values to probabilities."""
    return bool(value) and all(
        isinstance(share, Real) and not isinstance(share, bool) for share in value.values()
    )


class _Source:
    """Makes the marginal of one input of a model."""

    def __init__(
        self,
        estimator: Any,
        scaling: InputScaling,
        t: int,
        levels: Levels | None,
        degree: int | None,
        known: Callable[[], tuple[Measure, ...] | None],
        inside: bool,
    ) -> None:
        self.estimator, self.t, self.levels, self.degree = estimator, t, levels, degree
        self.known, self.inside = known, inside and scaling.clip
        self.fixed = bool(scaling.is_constant[t])
        self.is_category = levels is not None and levels.category
        self.domain = scaling.domain
        own = np.zeros(scaling.n_features, dtype=bool)
        own[t] = True
        self.scaling = scaling.some(own)

    @property
    def name(self) -> str:
        return str(self.estimator._column_name(self.t))

    def marginal(self, given: Any) -> Measure:
        if isinstance(given, str):
            if given not in NAMES:
                raise ValueError(
                    Message(
                        "`distribution` must be one of {} or a distribution of scipy.stats; got "
                        "{!r}",
                        ", ".join(map(repr, NAMES)),
                        given,
                    )
                )
            return self._named(given)
        if isinstance(given, Mapping):
            return self._discrete(given)
        if self.is_category:
            raise TypeError(
                Message(
                    "`distribution` of {}, a category, must be a mapping of its values to "
                    "probabilities or one of {}; got {}",
                    self.name,
                    ", ".join(map(repr, NAMES)),
                    type(given).__name__,
                )
            )
        if self.fixed:
            return FIXED
        return self._of_distribution(given)

    def _named(self, name: str) -> Measure:
        if self.is_category:
            if name == "empirical":
                return self._of_samples()
            assert self.levels is not None
            return of_levels(self.levels.shares)
        if self.fixed and (self.levels is None or name != "empirical"):
            return FIXED
        if name == "empirical":
            return self._of_samples()
        # some boxes are wider than the samples of the fit
        extent = 1.0 / (1.0 + 2.0 * self.estimator._margin)
        return named_marginal(name, self.domain, extent, self.degree)

    def _of_samples(self) -> Measure:
        found = self.known()
        if found is None:
            raise ValueError(
                Message(
                    "this model does not hold the marginals of its samples",
                    ways=["give samples as `background`", "give another `distribution`"],
                )
            )
        return found[self.t]

    def _discrete(self, given: Mapping[Any, Any]) -> Marginal:
        """Return the marginal of a mapping from values to probabilities."""
        if not _is_discrete(given):
            raise ValueError(
                Message(
                    "`distribution` of {} must map values to probabilities, got {}",
                    self.name,
                    shown(dict(given)),
                )
            )
        shares = np.array([float(share) for share in given.values()])
        if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
            raise ValueError(
                Message(
                    "`distribution` of {} must have probabilities that are not negative, with a "
                    "positive sum; got {}",
                    self.name,
                    shown(dict(given)),
                )
            )
        shares = shares / shares.sum()
        codes = self._codes([*given])
        return self._kept(codes, shares)

    def _codes(self, values: list[Any]) -> Doubles:
        """Return values of the input as the model takes them."""
        if self.is_category:
            return levels_of(self.estimator, self.t, values, "distribution")
        try:
            found = np.array([float(value) for value in values])
        except (TypeError, ValueError):
            raise TypeError(
                Message(
                    "`distribution` of {}, a number, must have numbers as values; got {}",
                    self.name,
                    shown(values),
                )
            ) from None
        if not np.isfinite(found).all():
            raise ValueError(
                Message("`distribution` of {} must have finite values, got {}", self.name, found)
            )
        return found

    def _scaled(self, values: npt.ArrayLike) -> Doubles:
        return self.scaling.transform(np.reshape(values, (-1, 1)))[:, 0]

    def _of_distribution(self, given: Any) -> Marginal:
        """Return the marginal of an object that has quantiles, as those of scipy.stats."""
        lower = getattr(given, "ppf", None) or getattr(given, "icdf", None)
        if lower is None and callable(getattr(given, "moment", None)):
            return self._of_moments(given)
        if lower is None or not callable(lower):
            raise TypeError(
                Message(
                    "`distribution` of {} must be one of {}, a mapping of values to "
                    "probabilities, or have a method ppf, as the distributions of scipy.stats do; "
                    "got {}",
                    self.name,
                    ", ".join(map(repr, NAMES)),
                    shown(given),
                    ways="give samples as `background`",
                )
            )
        upper = getattr(given, "isf", None) or getattr(given, "iccdf", None)
        self._require_parameters(lower)
        if hasattr(given, "pmf") and not hasattr(given, "icdf"):  # new ones have pmf all the same
            found = self._of_counts(given, lower)
            if found is not None:
                return found

        def quantiles(p: Doubles) -> Doubles:
            return self._finite(lower(p))

        def from_above(p: Doubles) -> Doubles:
            return self._finite(lower(1.0 - p) if upper is None else upper(p))

        low, high = self.domain

        def scale(x: Doubles) -> Doubles:
            return 2.0 * (self._scaled(x) - low) / (high - low) - 1.0

        degree = _DEGREE if self.degree is None else 2 * self.degree
        box = self.scaling
        faces = [float(box.lower[0]), float(box.upper[0])] if box.clip else []
        rule = quantile_rule(quantiles, from_above, scale, degree, faces)
        if rule is None:
            raise ValueError(
                Message(
                    "means of polynomials of degree {} under the `distribution` of {} do not "
                    "converge",
                    degree,
                    self.name,
                    ways=[
                        "set `out_of_range='clip'`",
                        "give a distribution with shorter tails"
                        if upper is not None
                        else "give it a method isf, which knows the upper tail",
                    ],
                )
            )
        nodes, weights = rule
        n_nodes = _N_NODES if self.degree is None else self.degree + 1
        if self.inside:
            nodes, weights = _some(nodes, weights, np.abs(nodes) < 1.0)
        found = Marginal(low + (high - low) * 0.5 * (nodes + 1.0), weights)
        return found if np.abs(nodes).max() > _FAR else found.condensed(n_nodes)

    def _of_moments(self, given: Any) -> Marginal:
        """Return the marginal of an object that has moments alone, for functions of low degree."""
        if self.degree is None:
            raise TypeError(
                Message(
                    "`distribution` of {} has moments but no quantiles, and no moments determine "
                    "the means of kernels of all terms",
                    self.name,
                    ways=["give an object with a method ppf", "fit with `n_terms`"],
                )
            )
        slope, offset = self._line()
        if self.scaling.clip:
            support = getattr(given, "support", None)
            ends = np.array(support() if callable(support) else (-np.inf, np.inf), dtype=float)
            if not (np.abs(slope * ends + offset) <= 1.0 + _ROUNDING).all():
                raise ValueError(
                    Message(
                        "`distribution` of {} has moments but no quantiles, and may have values "
                        "beyond the range of the fit, which are clipped: moments do not determine "
                        "what is beyond",
                        self.name,
                        ways=[
                            "give an object with a method ppf",
                            "give it a method support, of both ends",
                            "set `out_of_range='extrapolate'`",
                        ],
                    )
                )
        moments = [given.moment(k) for k in range(1, 2 * self.degree + 2)]
        moments = [one if isinstance(one, Rational) else float(one) for one in moments]
        rule = moment_rule(moments, slope, offset) if all(map(isfinite, moments)) else None
        if rule is None:
            raise ValueError(
                Message(
                    "the moments of the `distribution` of {} do not determine the means of "
                    "polynomials of degree {}: they have too few digits, or are those of no "
                    "distribution",
                    self.name,
                    2 * self.degree,
                    ways=[
                        "give an object with a method ppf",
                        "give moments as fractions.Fraction, which are exact",
                        "fit with a lower `degree`",
                    ],
                )
            )
        low, high = self.domain
        nodes, weights = rule
        return Marginal(low + (high - low) * 0.5 * (nodes + 1.0), weights)

    def _line(self) -> tuple[float, float]:
        """Return slope and offset of the scaling to [-1, 1], which is none of half ranks."""
        box = self.scaling.replace(clip=False)
        low, high = self.domain
        middle, half = (0.5 * (box.upper[0] + way * box.lower[0]) for way in (1, -1))
        places = middle + half * np.array([-1.0, 0.0, 0.5, 1.0])
        ends = 2.0 * (box.transform(places[:, np.newaxis])[:, 0] - low) / (high - low) - 1.0
        if not np.allclose(ends, [-1.0, 0.0, 0.5, 1.0], atol=1e-9):
            raise TypeError(
                Message(
                    "`distribution` of {}, which the model has by half ranks, has moments but no "
                    "quantiles",
                    self.name,
                    ways="give an object with a method ppf",
                )
            )
        return float(1.0 / half), float(-middle / half)

    def _kept(self, values: Doubles, shares: Doubles) -> Marginal:
        """Return values and their shares, those beyond the box where they count."""
        if self.inside:
            beyond = self.scaling.beyond(values[:, np.newaxis])[:, 0]
            values, shares = _some(values, shares, ~beyond)
        return Marginal(self._scaled(values), shares)

    def _finite(self, quantiles: Any) -> Doubles:
        found = np.asarray(quantiles, dtype=np.float64)
        if np.isnan(found).any():
            raise ValueError(Message("`distribution` of {} has quantiles that are NaN", self.name))
        limit = float(np.finfo(np.float64).max)
        return found.clip(-limit, limit)

    def _require_parameters(self, lower: Any) -> None:
        """Refuse distributions that are families."""
        try:
            lower(0.5)
        except TypeError as error:
            raise TypeError(
                Message(
                    "`distribution` of {} must have all of its parameters, as "
                    "scipy.stats.beta(2, 3) has; its quantiles fail: {}",
                    self.name,
                    str(error),
                )
            ) from None

    def _of_counts(self, given: Any, lower: Any) -> Marginal | None:
        """Return the marginal of a discrete distribution, None if values are no integers."""
        for k in range(1, 16):  # by steps, for quantiles of heavy tails take the whole memory
            first, last = (float(lower(p)) for p in (10.0**-k, 1.0 - 10.0**-k))
            if not last - first < _MOST_VALUES:
                raise ValueError(
                    Message("`distribution` of {} has more than a million values", self.name)
                )
        beyond = 1.0 + (last - first) // 2.0
        values = np.arange(first - beyond, last + beyond + 1.0)
        shares = np.asarray(given.pmf(values), dtype=np.float64)
        whole = float(shares.sum())
        if abs(whole - 1.0) > _ROUNDING:
            return None
        kept = shares > 0
        found = self._kept(values[kept], shares[kept] / whole)
        return found.condensed(_N_NODES if self.degree is None else self.degree + 1)
