"""Learning from samples that come in batches: statistics that add, and the solve when it is needed.

All that a fit needs to know of its samples are sums over them
(:mod:`gegenbauer.ridge.statistics`), so that batches may come in any order, be taken away again,
and be learned in different places. Nothing has to be known beforehand: when the range of the inputs
or the set of classes grows, the sums are expressed in the new ones, exactly. Weights are solved for
at their first use after a change.
"""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from gegenbauer._locks import exclusive
from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._rows import Rows, row
from gegenbauer._validation import and_more, check_number
from gegenbauer.batches.iterables import as_batches
from gegenbauer.errors import StreamError, StreamOrderWarning, message_of, stacklevel
from gegenbauer.estimators._base import MAX_LISTED, TARGETS_ADVICE, InputEstimator, advising
from gegenbauer.estimators._categories import CategoryEncoder
from gegenbauer.estimators._labels import column_names
from gegenbauer.estimators._merging import require_mergeable, same_values
from gegenbauer.estimators._mixed_inputs import have_gaps
from gegenbauer.estimators._outside import Outside
from gegenbauer.estimators._progress import RowProgress
from gegenbauer.estimators._solution import SolvedEstimator
from gegenbauer.estimators._stream_run import StreamRun
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.selection._penalty_from_sums import penalty_from_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.ridge.solve import RidgeSolution
    from gegenbauer.ridge.statistics._base import Coding
    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["StreamEstimator"]

# Parameters that do not count in the sums over samples: partially fitted models may differ in them.
_OF_THE_SOLVE = {"alpha", "penalize_constant", "solver", "precision", "engine", "n_jobs"}


class StreamEstimator(SolvedEstimator):
    """An estimator that may learn from batches, beside ``fit``. See the module.

    Subclasses define how targets are summed: regression as they are, classification by indicators
    of the classes, whose order and number may change, and from which the codes +1 and -1 follow.
    """

    alpha: float
    penalize_constant: bool
    engine: str
    solver: str
    n_out_of_range_: int
    _y_was_flat: bool
    _summed_with: dict[str, Any]

    # The sums, if the model has learned by sums
    _statistics: Statistics | None = None

    # The box of the first samples of a stream, if levels were found among them, until it is used
    _first_box: InputScaling | None = None

    # Samples of unknown levels since the last warning, by column
    _unseen: Mapping[int, int] = MappingProxyType({})

    # What lay outside of bounds since the last warning
    _outside: Outside = Outside()

    # What a checkpoint was written behind: a number of batches and their fingerprint
    _position: list[Any] | None = None

    # ---- what subclasses define -----------------------------------------------------

    def _encode_batch(
        self, y: Any, weight: Doubles | None, names: NDArray[Any] | None, *, grow: bool
    ) -> tuple[Doubles, Doubles | None]:
        """Return what is to be summed (S, K), and the weights; may change ``statistics_``.

        ``names`` are those of the columns of y, if it came with some.
        """
        raise NotImplementedError

    def _no_sums(self, n_outputs: int, box: InputScaling) -> Statistics:
        """Return the sums over no samples."""
        kind = choose_statistics(self.basis_, engine=self.engine)
        return kind(self.basis_, n_outputs, scaling=box)

    def _coding(self) -> Coding | None:
        """Return how the targets of the solve follow from what was summed."""
        return None

    def _align(self, other: Self) -> tuple[Statistics, Statistics]:
        """Make the statistics of both alike in their outputs; ``self`` is the sum to be."""
        return self.statistics_, other.statistics_

    def _keep_solution(self, solution: RidgeSolution, *, flat: bool) -> None:
        """Set the attributes that the solve finds."""
        raise NotImplementedError

    def _require_whole(self) -> None:
        """Refuse what all batches together have shown to be wrong."""

    def _look_at_sums(self) -> None:
        """Warn of what the sums show of the targets, once weights are solved for."""

    # ---- state -------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name == "partial_fit":  # which is there, but not now: report why
            try:
                self._can_go_on()
            except ValueError as error:
                text = Message("no partial_fit here: {}", message_of(error))
                raise AttributeError(text, name=name) from None
        return super().__getattr__(name)

    def __sklearn_is_fitted__(self) -> bool:
        return self._solution is not None or self._statistics is not None

    @property
    def statistics_(self) -> Statistics:
        """Sums over the samples, of a model that was learned by sums."""
        if self._statistics is None:
            raise self._lacks("statistics_", "it was not learned by partial_fit or fit_stream")
        return self._statistics

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples in the sums."""
        return self.statistics_.n_samples

    def _require_statistics(self) -> None:
        if self._statistics is None:
            raise ValueError(
                f"this {type(self).__name__} holds no statistics of its samples, which partial_fit "
                "and fit_stream keep and fit does not (nor a model that was saved without them)"
            )

    def _solve_statistics(self) -> None:
        if self.statistics_.n_samples == 0:
            raise ValueError("all samples were forgotten again: learn others by partial_fit")
        with advising(TARGETS_ADVICE):
            try:
                solution = self.statistics_._solve(
                    self.alpha, self._coding(), bool(self.penalize_constant), self._n_threads()
                )
            except np.linalg.LinAlgError as error:
                raise np.linalg.LinAlgError(
                    Message(
                        "{}",
                        message_of(error).report,
                        ways=[
                            Message(
                                "raise `alpha` (now {:g})",
                                float(self.alpha),
                                ways="by `refit()` since the samples are gone",
                                joint=", ",
                            ),
                            "choose it by `choose_alpha()`",
                        ],
                    )
                ) from None
        flat = self._y_was_flat and solution.weights.shape[1] == 1
        self._keep_solution(solution, flat=flat)
        self._look_at_sums()

    def _require_sums_to_do(self) -> bool:
        """Refuse parameters that need all samples at once."""
        if self.engine in ("dual", "kernel"):
            raise ValueError(
                Message(
                    "`engine={!r}` needs all samples at once; for batches it must be "
                    "'auto', 'primal' or 'moments'",
                    self.engine,
                )
            )
        if self.solver == "orthogonal":
            raise ValueError(
                Message(
                    "`solver='orthogonal'` needs all samples at once; for batches it must be "
                    "'auto' or 'cholesky'"
                )
            )
        return True

    def _can_go_on(self) -> bool:
        """Refuse ``partial_fit`` where there are no sums to add to."""
        if self._statistics is None and self._solution is not None:
            raise ValueError(
                f"this {type(self).__name__} was learned by fit, or saved without its statistics, "
                "so there are no sums to add samples to: begin a new one with partial_fit or "
                "fit_stream"
            )
        return self._require_sums_to_do()

    # ---- learning ----------------------------------------------------------------

    def _take_in_one(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        """Add a batch that comes by itself to the sums."""
        outside, seen = self._n_outside_and_seen()
        self._take_in(X, y, sample_weight, classes)
        self._warn_of_unseen()
        self._warn_of_outside(since=(outside, seen))

    def _take_in(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, grow: bool = False
    ) -> None:
        """Add a batch to the sums; without ``grow``, classes have to be announced."""
        first, known = self._statistics is None, self._first_box is not None
        if not first:
            self._require_same_parameters()
        self._announce(classes, grow=grow)
        names = column_names(y)
        X, y, weight, places = self._rows_of_batch(X, y, sample_weight, reset=first)
        counts = places.size > 0
        if counts:
            targets, weight = self._encode_batch(y, weight, names, grow=grow)
            counts = weight is None or bool(weight.any())
        if first:
            self._summed_with = self._sum_parameters()
            if not counts and not known:
                self._encoder, self._levels = CategoryEncoder(), None
            elif not known:
                X = self._find_levels(X, weight)
            self._set_basis(X.shape[1])
        if not counts:  # of rows of no weight nothing is learned
            return
        self._note_unseen(X)
        box = self._given_box(X.shape[1])
        if first:
            start = box or self._first_box or self._box_around(X)
            if known:  # and it is used
                del self._first_box
            statistics = self._no_sums(targets.shape[1], start)
            self.n_out_of_range_ = 0
        else:
            statistics = copy.copy(self.statistics_)
        if box is not None:
            self.scaling_ = box
            self._note_outside(X, box)
        grow_box = box is None and (known or not first)  # the first rows have made it
        with advising(TARGETS_ADVICE):
            statistics.update(
                X, targets, sample_weight=weight, widen=grow_box, n_threads=self._n_threads()
            )
        self._set_statistics(statistics)

    def _note_outside(self, X: NDArray[Any], box: InputScaling) -> None:
        """Count the samples outside of bounds, or refuse them if the policy requires it."""
        if self.out_of_range == "error":
            InputEstimator._apply_range_policy(self, X)
        found = Outside.of(X, box)
        if found.n_outside and self.out_of_range == "warn":
            self._outside = self._outside.joined(found)
        self.n_out_of_range_ += found.n_outside

    def _n_outside_and_seen(self) -> tuple[int, int]:
        """Return how many samples were outside of bounds, and how many there were."""
        if self._statistics is None:
            return 0, 0
        return self.n_out_of_range_, self.n_samples_seen_

    def _warn_of_outside(self, since: tuple[int, int] = (0, 0)) -> None:
        """Warn of samples outside of bounds, once, without those that there were before."""
        n_outside, n_samples = (
            now - before for now, before in zip(self._n_outside_and_seen(), since, strict=True)
        )
        if n_outside and self.out_of_range == "warn":
            self._outside.warn_of_stream(n_outside, n_samples, self.scaling_, self._column_name)
        if self._outside.n_outside:
            del self._outside

    def _set_basis(self, n_features: int) -> None:
        self.basis_ = self._make_basis(n_features)
        self.n_terms_ = int(self.basis_.n_terms)

    # ---- levels of inputs ----------------------------------------------------------

    def _know(
        self, encoder: CategoryEncoder, levels: tuple[Levels | None, ...], box: InputScaling
    ) -> None:
        """Take note of the levels of the first samples, and of their box."""
        self._encoder, self._levels, self._first_box = encoder, levels, box

    def _rows_of_batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Return the samples of a batch that count, as ``_rows_that_count``.

        Whether a number may be missing is settled by the first samples.
        """
        X, y, weight, places = self._rows_that_count(
            X, y, sample_weight, reset=reset, complete=False
        )
        settled = not (reset and self._first_box is None)
        if not settled or (self._levels is None and not have_gaps(X)):
            return X, y, weight, places
        missing = np.isnan(X)
        for t, one in enumerate(self._levels or (None,) * X.shape[1]):
            if one is None and missing[:, t].any():
                wrong, what, others = missing[:, t], "has no value", "all of them had one"
            elif one is not None and not one.category and not (one.varies or missing[:, t].all()):
                wrong, what, others = ~missing[:, t], "has a value", "none of them had one"
            else:
                continue
            raise ValueError(
                Message(
                    "{} {} in {}, but of the first samples, which show where numbers are missing, "
                    "{}: shuffle the stream, or fill in what is missing",
                    self._column_name(t),
                    what,
                    row(int(places[int(wrong.argmax())])),
                    others,
                )
            )
        return X, y, weight, places

    def _note_unseen(self, X: NDArray[Any]) -> None:
        """Count the samples of levels that are not known."""
        columns = self._encoder.columns
        counts = np.count_nonzero(np.isnan(X[:, columns]), axis=0)
        self._add_unseen(dict(zip(columns.tolist(), counts.tolist(), strict=True)))

    def _add_unseen(self, counts: Mapping[int, int]) -> None:
        """Add numbers of samples of unknown levels, by column."""
        total = +(Counter(self._unseen) + Counter(counts))  # of those above 0
        if total:
            self._unseen = dict(total)

    def _warn_of_unseen(self) -> None:
        """Warn of levels that came after the first samples, once."""
        unseen = self._unseen
        if not unseen:
            return
        del self._unseen
        parts = [f"{self._column_name(t)} in {n} of them" for t, n in sorted(unseen.items())]
        found = ", ".join(parts[:MAX_LISTED]) + and_more(len(parts) - MAX_LISTED, "column")
        warnings.warn(
            "some samples have levels that none of the first samples had, which show what levels "
            f"there are: {found}. They count as the mean of all levels: shuffle the stream",
            StreamOrderWarning,
            stacklevel=stacklevel(),
        )

    def _sum_parameters(self) -> dict[str, Any]:
        """Return the parameters that count in the sums over samples."""
        given = self.get_params(deep=False)
        return {name: value for name, value in given.items() if name not in _OF_THE_SOLVE}

    def _require_same_parameters(self) -> None:
        now = self._sum_parameters()
        for name, before in self._summed_with.items():
            if not same_values(now[name], before):
                raise ValueError(
                    Message(
                        "`{}` was {!r} when the first rows were learned and is {!r} now",
                        name,
                        before,
                        now[name],
                        ways=["set it back", "begin a new estimator (clone)"],
                    )
                )

    def _set_statistics(self, statistics: Statistics) -> None:
        assert statistics.scaling is not None
        self._statistics = statistics
        self.scaling_ = statistics.scaling
        self._forget_solution()

    def _announce(self, classes: Any, *, grow: bool) -> None:
        """Take note of the classes there are, in classification."""

    def _take_out(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Subtract a batch from the sums."""
        self._require_statistics()
        self._require_same_parameters()
        names = column_names(y)
        X, y, weight, places = self._rows_of_batch(X, y, sample_weight, reset=False)
        if places.size == 0:
            return
        outside = self.scaling_.outside(X, rounded=True)
        if self.bounds is None and outside.any():
            raise ValueError(
                Message(
                    "{} lies outside of the range of all rows seen, so that it cannot be one of "
                    "them; forget takes samples that were learned before",
                    row(int(places[int(outside.argmax())])),
                )
            )
        targets, weight = self._encode_batch(y, weight, names, grow=False)
        if weight is not None and not weight.any():
            return
        part = type(self.statistics_).from_data(
            self.basis_, X, targets, sample_weight=weight, scaling=self.scaling_,
            n_threads=self._n_threads(),
        )  # fmt: skip
        self._set_statistics(self.statistics_ - part)
        if self.bounds is not None:
            self.n_out_of_range_ -= int(np.count_nonzero(outside))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take samples away again that were learned by ``partial_fit`` or ``fit_stream``.

        The sums are as if the samples had never come, up to rounding. The range of the inputs and
        the set of classes stay as they are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs of the samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Their weights, as they came.

        Returns
        -------
        estimator
            The estimator itself. When the call fails, it stays as it was.

        Raises
        ------
        ValueError
            Samples cannot be among those learned: there are more of them, or of more weight, or
            they lie outside of the range of all samples seen; or the estimator was learned by
            ``fit``. More than that sums cannot show: take care to forget what was learned, once.
        """
        return self._on_copy("_take_out", X, y, sample_weight)

    def _fit_stream(
        self,
        batches: Any,
        *,
        classes: Any = None,
        checkpoint: Any = None,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
    ) -> Self:
        self._validate_params()
        self._require_sums_to_do()
        if not (checkpoint is None or hasattr(checkpoint, "is_due")):
            raise TypeError(
                Message(
                    "`checkpoint` must be a gegenbauer.Checkpoint, such as Checkpoint(path), got "
                    "{}",
                    type(checkpoint).__name__,
                )
            )
        run = StreamRun(self._unfitted(), batches, classes, checkpoint)
        with RowProgress(
            run.n_samples, done=run.n_done, verbose=verbose, callback=callback
        ) as progress:
            learned = run.learn(progress)
        learned._warn_of_unseen()
        learned._warn_of_outside()
        with exclusive(self):
            self._become(learned)
        return self

    def _with_batch(self, batch: Any, classes: Any) -> tuple[Self, int]:
        """Return a copy that has learned a batch too, and its samples; errors name the batch."""
        work = copy.copy(self)
        if self._statistics is None:  # what is wrong with parameters is not the rows' fault
            shape: tuple[int, ...] = getattr(batch.X, "shape", ())
            if len(shape) == 2 and min(shape) > 0:
                work._make_basis(shape[1])
        try:
            n_rows = int(_num_samples(batch.X))
            if n_rows:
                work._take_in(batch.X, batch.y, batch.sample_weight, classes, grow=classes is None)
        except MemoryError:  # which is no fault of theirs, either
            raise
        except (ValueError, TypeError) as error:
            raise StreamError(_placed(error, batch.where), batch.where) from error
        return work, n_rows

    # ---- merging -----------------------------------------------------------------

    def __add__(self, other: object) -> Self:
        """Return a model of the samples of both partially fitted models."""
        if type(other) is not type(self):
            return NotImplemented
        result, another = copy.copy(self), copy.copy(other)  # others may learn meanwhile
        for one, remaining in ((result, another), (another, result)):
            if not one.__sklearn_is_fitted__():  # nothing learned yet
                return remaining
            one._require_statistics()
        result._require_alike(another)
        mine, others = result._align(another)
        result._set_statistics(mine + others)
        result.n_out_of_range_ += another.n_out_of_range_
        result._add_unseen(another._unseen)
        outside = result._outside.joined(another._outside)
        if outside.n_outside:  # of workers, which leave the warning to who merges them
            result._outside = outside
        return result

    def __radd__(self, other: object) -> Self:
        """Return a copy for 0, with which `sum` begins."""
        return copy.copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def _require_alike(self, other: Self) -> None:
        """Refuse a merge of models whose sums are of different things."""
        require_mergeable(self, other)

    # ---- the penalty, after all samples -----------------------------------------------

    @refuse_old_names
    def refit(self, alpha: float | None = None) -> Self:
        """Solve for the weights again, from the sums over all samples learned so far.

        Parameters
        ----------
        alpha : float or None, default=None
            A new penalty, which becomes the parameter ``alpha``; None for the present one.

        Returns
        -------
        estimator
            The estimator itself. When the call fails, it stays as it was.

        Raises
        ------
        ValueError
            The estimator was learned by ``fit``, or alpha is negative.
        numpy.linalg.LinAlgError
            alpha is too small for float64.
        """
        return self._on_copy("_refit", alpha)

    def _refit(self, alpha: float | None) -> None:
        self._require_statistics()
        if alpha is not None:
            self.alpha = check_number(alpha, "alpha", minimum=0)
        self._forget_solution()
        self._solve_statistics()

    @refuse_old_names
    def choose_alpha(self, alphas: Any = None, *, held_out: Any = None) -> Self:
        """Choose the penalty from the sums, all samples being gone, and solve for the weights.

        The score of an alpha is its generalised cross-validation, or the squared error in samples
        that are held out. Classes count as their codes +1 and -1.

        Parameters
        ----------
        alphas : array-like of positive numbers or None, default=None
            Penalties to choose from; None for the paper's 2^-30, 2^-29, ..., 2^30.
        held_out : iterable of batches or None, default=None
            Batches as `fit_stream` takes them, of samples that were not learned, such as
            ``[(X, y)]``.

        Returns
        -------
        estimator
            The estimator itself, whose parameter ``alpha`` is the one chosen; what was tried is in
            ``alpha_results_``: "alpha" and "score" (n_alphas,), the larger the better, and minus
            infinity where alpha is too small for the accuracy of sums. When the call fails, it
            stays as it was.

        Raises
        ------
        ValueError
            The estimator was learned by ``fit``; alphas are not positive, or all of them too
            small; or ``held_out`` is not of the same inputs and classes.
        """
        return self._on_copy("_choose_alpha", alphas, held_out)

    def _choose_alpha(self, alphas: Any, held_out: Any) -> None:
        self._require_statistics()
        chosen, results = penalty_from_sums(
            self.statistics_, self._coding(), alphas,
            held_out=None if held_out is None else partial(self._judge, held_out),
            penalize_constant=bool(self.penalize_constant), n_threads=self._n_threads(),
        )  # fmt: skip
        self._refit(chosen)
        self._solution = self._solved()._replace(alpha_results=results)

    def _judge(self, held_out: Any) -> Statistics:
        """Sum samples that are held out: within the present range, and of the present classes."""
        judge = copy.copy(self)
        empty = type(self.statistics_)(
            self.basis_, self.statistics_.n_outputs, scaling=self.scaling_
        )
        for batch in as_batches(held_out, "held_out").start():
            if _num_samples(batch.X):
                try:
                    X, y, weight, places = judge._rows_of_batch(
                        batch.X, batch.y, batch.sample_weight, reset=False
                    )
                    if places.size == 0:
                        continue
                    names = column_names(batch.y)
                    targets, weight = judge._encode_batch(y, weight, names, grow=False)
                    empty.update(X, targets, sample_weight=weight, n_threads=self._n_threads())
                except (ValueError, TypeError) as error:
                    reason = _placed(error, batch.where)
                    raise StreamError(reason, f"held_out, {batch.where}") from error
        if empty.n_samples == 0:
            raise ValueError("held_out has no samples")
        return empty


def _placed(error: Exception, where: str) -> Message:
    """Return what is wrong with a batch, with its rows counted as those of its source are."""

    def place(rows: Rows) -> Rows:
        first = 0 if rows.first is None else rows.first
        return where.row(first) if isinstance(where, Rows) else Rows("these", first, rows.last)

    return message_of(error).with_rows(place)
