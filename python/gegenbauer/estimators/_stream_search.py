"""Automatic model selection on a stream: one pass, then everything is chosen.

The pass keeps sums over each of some folds and an even draw of the samples (`FoldSums`). Which
terms are worth a sum is seen by the first samples; of these terms all that follows is a choice:
moments are those of Chebyshev polynomials, whatever the weights of the terms and `lam` are
(`normal_equations`). The spectrum is learned on the draw, and the number of its terms, `lam` and
the penalty are those of the smallest loss of the samples held out, all by subtraction of sums.
"""

from __future__ import annotations

import copy
import warnings
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import check_flag
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import StreamOrderWarning, stacklevel
from gegenbauer.estimators._draw import folds_of_places
from gegenbauer.estimators._fold_sums import FoldSums, Summed, summed_terms
from gegenbauer.estimators._grids import given_spectrum
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.estimators._progress import Log, Progress, RowProgress
from gegenbauer.estimators._samples import Samples, search_places
from gegenbauer.estimators._stream_run import StreamRun
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.estimators._sums_search import (
    WIDE_ALPHAS,
    SumsRegression,
    SumsSearch,
    splits_of_folds,
)
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.ridge.cost import default_landmarks
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics
from gegenbauer.ridge.statistics.other_terms import normal_equations, terms_within
from gegenbauer.selection.spectrum_search import ALPHAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.estimators._categories import CategoryEncoder
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.ridge.landmarks import Landmarks
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.gram import GramStatistics
    from gegenbauer.selection.candidates import Loss
    from gegenbauer.selection.fold_fits import FoldFits

__all__ = ["StreamClassification", "StreamRegression", "StreamSearch"]

# Folds, unless `cv` gives their number
_FOLDS = 5

# Share of the weight of the terms of a spectrum, but of the constant, that must have been summed
_LEAST_SHARE = 0.9

# Share of the values of an input beyond the box of landmarks from which on it is reported
_MANY_CLIPPED = 0.01

# Shares of the largest number of terms that are tried
_SHARES = (0.125, 0.25, 0.5, 1.0)


# ---- the pass ------------------------------------------------------------------------


class _FoldStream(StreamEstimator):
    """An estimator of streams whose sums are those over each fold. It solves for nothing."""

    _search: StreamSearch
    _report: Callable[[str], None]

    @property
    def _takes_levels(self) -> bool:
        return self._search.takes_levels

    @property
    def _way_to_levels(self) -> Message | None:
        return self._search._way_to_levels

    def _make_basis(self, n_features: int) -> TensorBasis:
        return self._search.usual_basis(n_features)

    def _know(
        self, encoder: CategoryEncoder, levels: tuple[Levels | None, ...], box: InputScaling
    ) -> None:
        super()._know(encoder, levels, box)
        self._search.know(encoder, levels)

    def _no_sums(self, n_outputs: int, box: InputScaling) -> Any:
        multilabel = self._label_set is not None and self._label_set.multilabel
        return FoldSums(
            self._search.n_folds, n_outputs, box,
            partial(self._search.terms_to_sum, multilabel), self._report,
            margin=self._search.with_margin if self.bounds is None else None,
        )  # fmt: skip


class _RealFolds(_FoldStream, GegenbauerRegressor):
    pass


class _ClassFolds(_FoldStream, GegenbauerClassifier):
    pass


# Errors of scikit-learn name the class, which the caller knows as that of the search
_RealFolds.__name__, _ClassFolds.__name__ = "GegenbauerRegressorCV", "GegenbauerClassifierCV"


class _First(NamedTuple):
    """The first samples, given what is summed of their targets, and their box."""

    X: NDArray[Any]
    Y: Doubles
    weight: Doubles | None
    box: InputScaling
    multilabel: bool

    @property
    def n_outputs(self) -> int:
        return int(self.Y.shape[1])


class _Candidate(NamedTuple):
    """A basis that is judged, its sums over each fold, and the penalties to choose from."""

    spectrum: Spectrum | None
    of_first: bool  # whether the spectrum is that of the first samples, not of the draw
    engine: str  # that its sums came from
    folds: list[Any]  # GramStatistics or LandmarkStatistics
    alphas: Doubles

    @property
    def basis(self) -> TensorBasis | Landmarks:
        found: TensorBasis | Landmarks = self.folds[0].basis
        return found


# ---- the choice ----------------------------------------------------------------------


class StreamSearch(SumsSearch):
    """An automatic estimator that is fitted to a stream; its state serves the plain one."""

    stream_results_: dict[str, NDArray[Any]]
    n_samples_seen_: int

    _folding: type[_FoldStream]

    # While it is being fitted
    _with_landmarks: bool
    _n_searched: int

    def search_stream(
        self,
        batches: Any,
        *,
        classes: Any = None,
        landmarks: bool = False,
        verbose: bool | int,
        callback: Callable[[int, int | None], None] | None,
        announce: Callable[[str], None] | None = None,
    ) -> Self:
        """Take one pass over the batches, and choose the model.

        Parameters
        ----------
        batches, classes, landmarks, verbose, callback
            As for ``fit_stream``.
        announce : callable or None
            Called with a sentence on the memory of the sums, before they begin.
        """
        self._with_landmarks = check_flag(landmarks, "landmarks")
        self._require_sums_to_do()

        log = Log(verbose=verbose)

        def report(text: str) -> None:
            if announce is not None:
                announce(text)
            log(text)

        run = StreamRun(self._folds_to_be(report), batches, classes, None)
        with RowProgress(run.n_samples, verbose=verbose, callback=callback) as rows:
            learned = run.learn(rows)
        learned._warn_of_unseen()
        learned._warn_of_outside()
        with Progress(None, 2, verbose=verbose) as progress:
            self._choose(learned, progress)
        return self

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return _FOLDS if self.cv is None else int(self.cv)

    def _require_sums_to_do(self) -> None:
        """Refuse parameters that need all samples at once."""
        if not (self.cv is None or isinstance(self.cv, Integral)):
            raise ValueError(
                Message(
                    "for a stream, `cv` must be a number of folds or None for {}, since samples "
                    "are dealt to folds as they come; got {!r}",
                    _FOLDS,
                    self.cv,
                )
            )
        if self.max_seconds is not None:
            raise ValueError(
                Message(
                    "for a stream, `max_seconds` must be None, since it takes as long as one pass "
                    "over the batches does; got {!r}",
                    self.max_seconds,
                    ways="leave `max_seconds` out",
                )
            )
        self._require_numbers_on_paper()
        if self._with_landmarks:
            self._require_all_terms()
        if self.scoring is not None:
            raise ValueError(
                Message(
                    "for a stream, `scoring` must be None, since the samples are gone when models "
                    "are judged: regression by squared errors, classes by log-loss; got {!r}",
                    self.scoring,
                )
            )

    def _require_all_terms(self) -> None:
        """Refuse parameters that landmarks do not have."""
        wrong = None
        if self._on_paper:
            wrong = "spectrum", Message("give `spectrum`")
        elif self.n_terms is not None:
            wrong = "n_terms", Message("leave `n_terms` out")
        elif self.out_of_range == "extrapolate":  # where the sum of all terms has no value
            wrong = "out_of_range", Message("set `out_of_range` to 'clip' or 'warn'")
        if wrong is not None:
            name, way = wrong
            raise ValueError(
                Message(
                    "with `landmarks=True`, `{}` must not be {!r}, since landmarks are of a kernel "
                    "of all terms",
                    name,
                    getattr(self, name),
                    ways=[way, "set `landmarks=False`"],
                )
            )

    def _folds_to_be(self, report: Callable[[str], None]) -> _FoldStream:
        given = self.get_params(deep=False)
        parameters = {"class_weight": given["class_weight"]} if "class_weight" in given else {}
        folds = self._folding(
            bounds=self.bounds if self._has_given_bounds else None,
            domain=(0, 1) if self._on_paper else (-1, 1),
            categorical_features=self.categorical_features if self.takes_levels else None,
            missing=self.missing if self.takes_levels else "error",
            out_of_range=self.out_of_range, n_jobs=self.n_jobs, **parameters,
        )  # fmt: skip
        folds._search, folds._report = self, report
        folds._validate_params()
        folds._require_sums_to_do()
        return folds

    def with_margin(self, tight: InputScaling) -> InputScaling:
        """Return the box that inputs get whose range is that of a tight one."""
        return self._with_levels(self._with_margin(tight))

    @property
    def takes_levels(self) -> bool:
        """Whether inputs may be categories, and numbers missing."""
        return not self._on_paper

    def know(self, encoder: CategoryEncoder, levels: tuple[Levels | None, ...] | None) -> None:
        """Take note of the levels of the first samples."""
        self._encoder, self._levels = encoder, levels

    # ---- terms -------------------------------------------------------------------

    def usual_basis(self, n_features: int) -> TensorBasis:
        """Return the terms of largest number that are known before any sample."""
        grid = self._basis_grid()
        if grid is not None:
            return TensorBasis(n_features, n_terms=max(grid[1]), lam=grid[0][0])
        return self._largest(n_features, self._given_spectrum(n_features), self._n_terms_of(None))

    def _given_spectrum(self, n_features: int) -> Spectrum:
        """Return the spectrum that is given, or what serves while nothing is known."""
        if isinstance(self.spectrum, str):
            return Spectrum((1.0 / n_features, 2.0), self._levels)
        return given_spectrum(self.spectrum, n_features, self._levels)

    def _n_terms_of(self, n_samples: int | None) -> int:
        """Return the largest number of terms; of few samples not more than they are."""
        if self.n_terms is not None:
            return int(self.n_terms)  # type: ignore[arg-type]
        most = super(SumsSearch, self)._default_n_terms(None)  # type: ignore[arg-type]
        return most if n_samples is None else min(most, n_samples)

    @staticmethod
    def _largest(n_features: int, spectrum: Spectrum, n_terms: int) -> TensorBasis:
        return TensorBasis(
            n_features, n_terms=n_terms, lam=0.0, index_set="largest_weight", spectrum=spectrum
        )

    def terms_to_sum(
        self,
        multilabel: bool,
        X: NDArray[Any],
        Y: Doubles,
        weight: Doubles | None,
        box: InputScaling,
    ) -> tuple[list[Summed], float]:
        """Choose what is summed, by the first samples; refuse what leaves no room to choose.

        Moments cost so little that twice as many terms are summed as the model may have: the
        spectrum of all samples may give others the largest weight than that of the first ones.
        """
        m, K = X.shape[1], Y.shape[1]
        grid = self._basis_grid()
        first = _First(X, Y, weight, box, multilabel)
        if self._with_landmarks:
            return self._landmarks_to_sum(first)
        most = max(grid[1]) if grid is not None else self._n_terms_of(len(X))
        size = most + K
        # matrices of all folds, of all others, of all the terms that were summed, and of a solve
        n_bytes = self._bytes_to_choose(
            size, f"{size} terms and outputs", Ways("lower", "`n_terms`", "`cv`")
        )
        if grid is not None:
            bases = [TensorBasis(m, n_terms=max(grid[1]), lam=lam) for lam in np.unique(grid[0])]
            return summed_terms(bases, K), n_bytes
        if not isinstance(self.spectrum, str):
            return summed_terms([self._largest(m, self._given_spectrum(m), most)], K), n_bytes
        spectrum, _ = self._first_spectrum(first)
        twice = self._largest(m, spectrum, 2 * most)
        if choose_statistics(twice, K) is MomentStatistics:
            return summed_terms([twice], K), n_bytes
        return summed_terms([self._largest(m, spectrum, most)], K), n_bytes

    def _bytes_to_choose(self, size: int, what: str, advice: Ways) -> float:
        """Return the memory of the choice by matrices of some size; refuse what does not fit."""
        n_bytes = 8.0 * size * size * (3 * self.n_folds + 4)
        what = f"the choice by the normal equations of {what} in {self.n_folds} folds"
        require_memory(n_bytes, what, advice)
        return n_bytes

    def _landmarks_to_sum(self, first: _First) -> tuple[list[Summed], float]:
        """Learn the spectrum on the first samples, and choose landmarks among them."""
        n, m = first.X.shape
        spectrum, self._n_searched = self._given_spectrum(m), 0
        if isinstance(self.spectrum, str):
            spectrum, self._n_searched = self._first_spectrum(first)
        n_landmarks = min(default_landmarks(n), n)
        n_bytes = self._bytes_to_choose(
            n_landmarks + 1 + first.n_outputs,
            f"{n_landmarks} landmarks and {first.n_outputs} outputs", Ways("lower", "`cv`"),
        )  # fmt: skip
        landmarks, places = choose_landmarks(
            SpectrumKernel(m, spectrum), first.X, n_landmarks, sample_weight=first.weight,
            scaling=first.box, n_threads=self._n_threads(),
        )  # fmt: skip
        self._centres = first.X[places]
        return [Summed(landmarks, LandmarkStatistics, (0.0,))], n_bytes

    def _first_spectrum(self, first: _First) -> tuple[Spectrum, int]:
        """Learn a spectrum on some of the first samples; return their number as well."""
        K = first.n_outputs
        labels = LabelSet.of_columns(K, None) if first.multilabel else LabelSet(np.arange(K))
        learner = self._unfitted()
        learner.know(self._encoder, self._levels)
        spectrum = learner._spectrum_of(first.X, first.Y, first.weight, first.box, labels, None)
        return spectrum, learner.n_search_samples_

    def _spectrum_of(
        self,
        X: NDArray[Any],
        Y: Doubles,
        weight: Doubles | None,
        box: InputScaling,
        labels: LabelSet,
        progress: Progress | None,
    ) -> Spectrum:
        """Learn a spectrum on some of the samples, given what is summed of their targets."""
        self.scaling_, self.surface_, self.n_search_samples_ = box, {}, 0
        T = self._targets_of(Y, labels)
        if T is not None:
            data, _ = Samples.merge(X, T, weight, weight)
            if data.n >= 2:
                data = self._standardised(data)
                few = data.take(search_places(data, int(self.search_samples), self._stratified))
                self.n_search_samples_ = few.n
                with Progress(None, 1) as silent:
                    return self._learn(few, None, progress or silent)[0]
        return self._given_spectrum(X.shape[1])

    def _targets_of(self, Y: Doubles, labels: LabelSet) -> Doubles | None:
        """Return the targets that a spectrum is learned for; None if there is nothing to learn."""
        raise NotImplementedError

    def _coding_of_sums(self) -> Coding:
        """Return how the targets of the solve follow from what was summed."""
        raise NotImplementedError

    def _raw_targets(self, Y: Doubles) -> Doubles:
        """Return the targets of the draw before they are standardised."""
        raise NotImplementedError

    def _drawn_targets(self, Y: Doubles) -> NDArray[Any]:
        """Return the targets of the draw as they came."""
        raise NotImplementedError

    def _keep_kind(self, learned: Any) -> None:
        """Take note of the kind of targets."""
        raise NotImplementedError

    # ---- after the pass ------------------------------------------------------------

    def _choose(self, learned: Any, progress: Progress) -> None:
        self.n_features_in_ = learned.n_features_in_
        names = getattr(learned, "feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self._keep_kind(learned)
        sums = copy.copy(learned.statistics_)
        n_folds, n_threads = self.n_folds, self._n_threads()
        if sums.n_samples < n_folds:
            raise ValueError(
                Message(
                    "{} folds need at least {} samples of positive weight, got {}",
                    n_folds,
                    n_folds,
                    sums.n_samples,
                    ways=Ways("give", "more", "a smaller `cv`", last=", or "),
                )
            )
        sums.begin(n_threads)
        draw = sums.draw
        self.n_samples_seen_ = sums.n_samples
        weight = draw.weight if sums.weighted else None
        if weight is not None:
            self._look_at_weights(weight)
        spectra: list[Spectrum | None] = [None]
        if self._with_landmarks:
            self._warn_of_clipped(sums)
            self.surface_, self.n_search_samples_ = {}, self._n_searched
        elif isinstance(self.spectrum, str):
            with progress.stage("spectrum", n_steps=None):
                labels = LabelSet(np.arange(1)) if self._label_set is None else self._label_set
                found = self._spectrum_of(draw.X, draw.y, weight, sums.scaling, labels, progress)
            spectra = [found, sums.summed[0].basis.spectrum]
        elif self.spectrum is not None:
            spectra = [sums.summed[0].basis.spectrum]
            self.surface_, self.n_search_samples_ = {}, 0
        self.scaling_, self.n_clipped_ = sums.scaling, sums.n_clipped
        self.alternatives_ = {}
        self._look_at_inputs(draw.X)
        fold_of = folds_of_places(draw.place, n_folds)
        data, splits = Samples.merge(
            draw.X, self._raw_targets(draw.y), weight, splits=splits_of_folds(fold_of, n_folds)
        )
        data = self._standardised(data)
        self._fold_of = np.empty(data.n, dtype=np.intp)
        self._fold_of[data.back] = fold_of  # those of different folds are not merged
        loss = self._make_loss(data, splits)
        self._all_terms, self._weighted = self._with_landmarks, not self._on_paper
        with progress.stage("terms and alpha", n_steps=None):
            left_out = self._best_of_all(sums, spectra, data, loss, progress)
        self._warn_of_choice(data, loss, splits, left_out.outputs, self._basis_grid())
        self._complete(data, left_out)
        self.loo_targets_ = self._drawn_targets(draw.y)
        self.loo_weights_ = draw.weight if sums.weighted else None
        del self._fold_of
        self._forget_sums()

    def _forget_sums(self) -> None:
        super()._forget_sums()
        if self._with_landmarks:
            del self._n_searched
        del self._with_landmarks

    def _warn_of_clipped(self, sums: FoldSums) -> None:
        """Warn where many values lie beyond the range of the first samples, which is the box."""
        column = int(sums.n_clipped.argmax())
        share = sums.n_clipped[column] / sums.n_samples
        if self._has_given_bounds or share < _MANY_CLIPPED:
            return
        warnings.warn(
            Message(
                "{:.1%} of the values of {} lie beyond the range of the first samples, from which "
                "landmarks have their box, and count as its nearest end",
                share,
                self._column_name(column),
                ways=["shuffle the stream", "leave out `landmarks`"],
            ),
            StreamOrderWarning,
            stacklevel=stacklevel(),
        )

    def _best_of_all(
        self,
        sums: FoldSums,
        spectra: list[Spectrum | None],
        data: Samples,
        loss: Loss,
        progress: Progress,
    ) -> LeftOut:
        """Judge all candidates, and fit the best; of equals the one that comes first."""
        coding = self._coding_of_sums()
        best: tuple[FoldFits, Doubles, _Candidate] | None = None
        tried: dict[str, list[Any]] = {
            name: [] for name in ("lam", "n_terms", "of_first", "alpha", "score")
        }
        scores = []
        for candidate in self._candidates(sums, spectra, data):
            basis, alphas = candidate.basis, candidate.alphas
            progress.step(f"{basis.n_terms} terms")
            self._require_outputs(data, alphas.size, basis.n_terms)
            if self._with_landmarks:
                assert candidate.spectrum is not None
                self.spectra_ = (candidate.spectrum,)
                fits = self._fits_of_landmarks(candidate.folds, alphas, data, loss, coding)
                alphas = fits.alphas
            else:
                fits = self._fold_fits(candidate.folds, alphas, coding)
            losses = self._losses(fits, data, loss)
            at = int(np.argmin(losses))
            row = (basis.lam, basis.n_terms, candidate.of_first, alphas[at], -losses[at])
            for name, value in zip(tried, row, strict=True):
                tried[name].append(value)
            scores.append(-losses)
            if best is None or losses.min() < best[1].min():
                best = fits, losses, candidate
        assert best is not None
        fits, losses, chosen = best
        self.stream_results_ = {name: np.array(values) for name, values in tried.items()}
        self.spectra_ = () if chosen.spectrum is None else (chosen.spectrum,)
        self.lam_ = chosen.basis.lam
        grid = self._basis_grid()
        if grid is not None:
            lams, sizes = np.unique(grid[0]), np.unique(grid[1])
            self.n_search_samples_ = data.n
            self.surface_ = {
                "lam": lams, "n_terms": sizes, "alpha": fits.alphas,
                "score": np.reshape(scores, (lams.size, sizes.size, -1)),
            }  # fmt: skip
        left_out = self._keep_best(fits, losses, data, coding)
        self.engine_ = chosen.engine
        return left_out

    def _candidates(
        self, sums: FoldSums, spectra: list[Spectrum | None], data: Samples
    ) -> Iterator[_Candidate]:
        """Yield bases, those of fewer terms first; each is the beginning of the next."""
        m, given, grid = data.X.shape[1], self._alpha_grid(), self._basis_grid()
        if self._with_landmarks:
            found = sums.summed[0].basis
            alphas = self._alphas_of_landmarks(found, data)
            yield _Candidate(found.spectrum, True, "landmarks", sums.folds[0], alphas)
            return
        if grid is not None:
            sizes = np.unique(grid[1]).tolist()
            for lam in np.unique(grid[0]).tolist():
                at = next(k for k, one in enumerate(sums.summed) if lam in one.lams)
                whole = TensorBasis(m, n_terms=sizes[-1], lam=lam)
                folds = self._normal_equations(sums.folds[at], whole)
                for size in sizes:
                    basis = TensorBasis(m, n_terms=size, lam=lam)
                    some = self._normal_equations(folds, basis)
                    yield _Candidate(
                        None, False, sums.summed[at].kind._engine, some,
                        WIDE_ALPHAS if given is None else given,
                    )  # fmt: skip
            return
        most = self._n_terms_of(sums.n_samples)
        complete = False
        for number, spectrum in enumerate(spectra):
            assert spectrum is not None
            if complete:  # and the spectrum of the first samples has nothing to add
                return
            whole = self._largest(m, spectrum, most)
            there = terms_within(whole, sums.summed[0].basis)
            known = there.size if there.all() else int(there.argmin())
            complete = known == whole.n_terms
            if number == 0 and not complete:
                _warn_of_order(whole, sums.summed[0].basis)
            whole = self._largest(m, spectrum, known)
            folds = self._normal_equations(sums.folds[0], whole)
            alphas = np.array(ALPHAS) * self._level(whole, data) if given is None else given
            shares = _SHARES if self.n_terms is None else (1.0,)
            for size in sorted({max(1, int(share * known)) for share in shares}):
                some = self._normal_equations(folds, self._largest(m, spectrum, size))
                yield _Candidate(spectrum, number > 0, sums.summed[0].kind._engine, some, alphas)

    def _normal_equations(self, folds: Any, basis: TensorBasis) -> list[GramStatistics]:
        """Return the sums over each fold as those of some terms."""
        n_threads = self._n_threads()
        return [normal_equations(fold, basis, n_threads=n_threads) for fold in folds]


def _warn_of_order(basis: TensorBasis, summed: TensorBasis) -> None:
    """Warn where much of the weight of a basis is in terms that were not summed."""
    squares = basis.spectrum.term_weights(basis.indices) ** 2
    there = terms_within(basis, summed)
    share = float(squares[1:][there[1:]].sum() / squares[1:].sum())
    if share < _LEAST_SHARE:
        warnings.warn(
            Message(
                "the terms that were summed hold {:.0%} of the weight that the spectrum of all "
                "samples gives to its terms, since the first samples of the stream are unlike the "
                "others",
                share,
                ways=["shuffle the stream", "give `spectrum`"],
            ),
            StreamOrderWarning,
            stacklevel=stacklevel(),
        )


class StreamRegression(StreamSearch, SumsRegression):
    """Of real targets, judged by the squared errors of all samples held out."""

    _folding = _RealFolds

    _center: Doubles

    def _keep_kind(self, learned: Any) -> None:
        self._y_was_flat = learned._y_was_flat

    def _targets_of(self, Y: Doubles, labels: LabelSet) -> Doubles | None:  # noqa: ARG002
        return Y

    def _raw_targets(self, Y: Doubles) -> Doubles:
        return Y

    def _coding_of_sums(self) -> Coding:
        return np.diag(1.0 / self._unit), -self._center / self._unit

    def _drawn_targets(self, Y: Doubles) -> NDArray[Any]:
        return Y[:, 0] if self._y_was_flat else Y


class StreamClassification(StreamSearch):
    """Of classes, judged by the log-loss of the outputs of the draw held out."""

    _folding = _ClassFolds

    multilabel_: bool
    _label_set: LabelSet | None

    def _keep_kind(self, learned: Any) -> None:
        self._label_set = learned._label_set
        self._known_coding()  # a single class is an error
        self._y_was_flat = not self.multilabel_ and self.classes_.size == 2

    def _known_coding(self) -> Coding:
        assert self._label_set is not None
        return self._label_set.coding(type(self).__name__)

    def _targets_of(self, Y: Doubles, labels: LabelSet) -> Doubles | None:
        if not labels.multilabel:
            there = np.flatnonzero(Y.any(axis=0))  # a class that none of these has teaches nothing
            if there.size < 2:
                return None
            Y, labels = Y[:, there], LabelSet(np.arange(there.size))
        self._label_set = labels if self._label_set is None else self._label_set
        matrix, offset = labels.coding(type(self).__name__)
        return Y @ matrix + offset

    def _raw_targets(self, Y: Doubles) -> Doubles:
        matrix, offset = self._known_coding()
        return Y @ matrix + offset

    def _coding_of_sums(self) -> Coding:
        return self._known_coding()

    def _drawn_targets(self, Y: Doubles) -> NDArray[Any]:
        return Y.astype(np.intp) if self.multilabel_ else self.classes_[Y.argmax(axis=1)]
