"""``gegenbauer fit --stream``: learn a column of tables that need not fit into memory.

The tables are read twice or three times, in batches: the target alone, to choose the task as for a
table in memory; all columns, to learn; and once more, to predict the rows held out. Rows are held
out at random by their batch, so that nothing has to be remembered of them. What is learned from
them and from the others are two partially fitted models, and the one that is kept is their sum.
"""

from __future__ import annotations

import copy
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer._messages import Message
from gegenbauer.cli.foresight import announce
from gegenbauer.cli.messages import UserError, count, duration, listed, refusals
from gegenbauer.cli.output import Steps, print_pairs
from gegenbauer.cli.report import (
    describe_choice,
    describe_parameters,
    describe_solution,
    describe_terms,
)
from gegenbauer.cli.streaming import (
    MAX_FILES_SHOWN,
    Pace,
    open_training_tables,
    require_tables,
)
from gegenbauer.cli.tables import check_output
from gegenbauer.cli.training import (
    MIN_ROWS_A_PART,
    describe_accuracy,
    describe_data,
    describe_errors,
    describe_kept,
    keep,
    require_written,
    too_few_rows,
)
from gegenbauer.errors import StreamError
from gegenbauer.estimators._first_samples import look_at_first
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.inspection.correlation import MOST_LOOKED_AT
from gegenbauer.persistence.checkpoint import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.batches.arrays import Batch
    from gegenbauer.batches.tables import TableBatches
    from gegenbauer.cli.choices import Task
    from gegenbauer.estimators._categories import CategoryEncoder

__all__ = ["run"]

_MOST_NUMBERS = 2_000_000  # that are kept to look for outliers


def run(
    paths: Sequence[Path],
    *,
    target: str,
    task: Task,
    out: Path | None,
    parameters: dict[str, Any],
    ignored: Sequence[str],
    validation_fraction: float,
    seed: int,
    separator: str | None,
    checkpoint: Path | None,
    choose_alpha: bool,
) -> None:
    """Look at the target, learn from all batches, score rows held out, save and report.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders of tables, all CSV or all Parquet.
    target : str
        Name of the column to learn.
    task : Task
        What to learn; ``auto`` to decide by the column.
    out : Path or None
        Where to save the model.
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    ignored : sequence of str
        Columns that are no inputs.
    validation_fraction : float
        Share of the rows to hold out, from 0 (no validation) to below 1.
    seed : int
        Chooses these rows.
    separator : str or None
        Separator of a CSV file.
    checkpoint : Path or None
        Where to keep what was learned so far; there, an interrupted run goes on. Rows held out
        have a file of their own beside it.
    choose_alpha : bool
        Whether the penalty is chosen by generalised cross-validation, from the sums over the rows.

    Raises
    ------
    UserError
        Anything is wrong with the tables, the target, the parameters or the places of the files.
    """
    require_tables(paths)
    _check_outputs(out, checkpoint, paths)
    scores = validation_fraction > 0
    parts: list[_Part] = []
    n_steps = 3 + scores + (out is not None)
    with Steps(total=n_steps) as steps, _noting_interrupts(parts, checkpoint):
        source, chosen, looking = open_training_tables(
            paths, target=target, task=task, ignored=ignored, separator=separator, steps=steps
        )

        steps.begin("learning")
        start = time.perf_counter()
        estimator = (GegenbauerClassifier if chosen.classify else GegenbauerRegressor)(**parameters)
        with refusals(steps.warn):
            estimator, _, whole = look_at_first(estimator, source.start(), None)
            if not whole:  # what is learned before the error is not to be continued
                checkpoint = None
        announce(estimator, len(source.inputs), chosen.seen.n_rows, 1 + scores, steps, stream=True)
        split = _Split(validation_fraction, seed)
        parts += [_Part(estimator, rows, split) for rows in ("other", "held out")[: 1 + scores]]
        with refusals(steps.warn):
            spread = _SpreadRows(chosen.seen.n_rows, len(source.inputs), estimator._encoder)
            earlier = _learn(parts, source, checkpoint, Pace(steps, chosen.seen.n_rows), spread)
            for part in parts:
                _require_enough(part, parts, validation_fraction)
        learning = time.perf_counter() - start

        validation, predicting = "none, as requested", 0.0
        if scores:
            steps.begin("predicting the rows held out")
            start = time.perf_counter()
            with refusals(lambda _: None):  # the solve of all rows warns of the same
                trial = copy.copy(parts[0].model)
                if choose_alpha:  # by its own rows, so that the score is of those held out
                    trial.choose_alpha()
                validation = _score(trial, source, split, Pace(steps, chosen.seen.n_rows))
            predicting = time.perf_counter() - start
        steps.begin("solving")
        start = time.perf_counter()
        with refusals(steps.warn):
            model = sum(part.model for part in parts)
            model._warn_of_unseen()
            if not earlier:
                spread.warn_of_outliers(model)
            model = model.choose_alpha() if choose_alpha else model.refit()
        if choose_alpha:
            _warn_of_ends(model, steps)
        solving = time.perf_counter() - start
        kept = keep(model, out, steps)
    n_rows = chosen.seen.n_rows
    rows = str(n_rows)
    if scores:
        rows += f"; {parts[1].n_rows} held out to validate (at random, seed {seed})"
    if earlier:
        rows += f"; {earlier} were learned by an earlier run, recorded in {checkpoint}"
    times = [
        f"{duration(looking)} to look at the target",
        f"{duration(learning)} to learn",
        *([f"{duration(predicting)} to predict the rows held out"] if scores else []),
        f"{duration(solving)} to solve",
    ]
    print_pairs(
        [
            ("files", f"{len(source.files)}: {listed(source.files, MAX_FILES_SHOWN)}"),
            *describe_data(source.inputs, chosen, task, rows),
            ("terms", describe_terms(model)),
            ("parameters", describe_parameters(model)),
            *([("alpha", describe_choice(model))] if choose_alpha else []),
            ("solved by", describe_solution(model)),
            ("validation", validation),
            ("time", ", ".join(times)),
            ("model", describe_kept(n_rows, kept)),
        ]
    )
    require_written(model=kept)


def _check_outputs(out: Path | None, checkpoint: Path | None, sources: Sequence[Path]) -> None:
    """Refuse places of files where others are, or which are the same."""
    if out is not None:
        check_output(out, "model", sources=sources)
    if checkpoint is None:
        return
    check_output(checkpoint, "checkpoint", sources=sources)
    kept = checkpoint.resolve(), _of_held_out(checkpoint).resolve()
    if out is not None and out.resolve() in kept:
        raise UserError(
            f"--out {out} is where --checkpoint keeps what was learned; give another file"
        )


def _warn_of_ends(model: Any, steps: Steps) -> None:
    """Warn of a penalty at an end of those that were tried."""
    tried, scores = model.alpha_results_["alpha"], model.alpha_results_["score"]
    if model.alpha == tried.max():
        steps.warn(
            "the penalty chosen is the largest of those tried, which leaves next to nothing of "
            "the inputs: they may not separate the target from its noise"
        )
    if model.alpha == tried[np.isfinite(scores)].min():
        steps.warn(
            "the penalty chosen is the smallest of those tried that sums are exact enough for: "
            "more --n-terms or a smaller --alpha may predict better; of a table that fits into "
            "memory, gegenbauer tune tries smaller ones"
        )


# ---- learning ------------------------------------------------------------------------


def _of_held_out(checkpoint: Path) -> Path:
    """Return the file of the rows held out."""
    return checkpoint.with_name(f"{checkpoint.name}.held-out")


@dataclass(frozen=True)
class _Split:
    """Chooses the rows to hold out, by the number of their batch."""

    fraction: float
    seed: int

    def held_out(self, number: int, n_rows: int) -> NDArray[np.bool_]:
        rng = np.random.default_rng([self.seed, number])
        return np.asarray(rng.random(n_rows) < self.fraction)


@dataclass
class _Part:
    """A model of a part of the rows."""

    model: Any
    rows: str  # "held out", or "other"
    split: _Split
    n_done: int = 0  # batches
    n_saved: int = 0
    n_kept: int = 0  # rows that are in the checkpoint
    checkpoint: Checkpoint | None = None

    @property
    def n_rows(self) -> int:
        return 0 if self.model._statistics is None else int(self.model.n_samples_seen_)

    def resume(self, path: Path, source: TableBatches) -> None:
        """Go on with what an earlier run has learned, if there is a checkpoint."""
        if self.rows == "held out":
            path = _of_held_out(path)
        self.checkpoint = Checkpoint(path)
        found = self.checkpoint.read(self.model)
        if found is None:
            return
        self.model, self.n_done, fingerprint = found
        self.n_saved, self.n_kept = self.n_done, self.n_rows
        if fingerprint != self._fingerprint(source):
            raise UserError(
                f"--checkpoint {path} is of other tables or of another --validation-fraction or "
                "--seed; give the same ones, another --checkpoint, or remove the file"
            )

    def learn(self, batch: Batch, number: int) -> None:
        """Learn those rows of a batch that belong here, unless that is done."""
        if number < self.n_done:
            return
        mine = self.split.held_out(number, len(batch.y))
        mine = mine if self.rows == "held out" else ~mine
        if mine.any():
            self.model, _ = self.model._with_batch(batch.part(mine), None)
        self.n_done = number + 1

    def save(self, source: TableBatches) -> None:
        """Write the checkpoint, if there is anything new."""
        if self.checkpoint is not None and self.n_done > self.n_saved:
            self.checkpoint.write(self.model, self.n_done, self._fingerprint(source))
            self.n_saved, self.n_kept = self.n_done, self.n_rows

    def _fingerprint(self, source: TableBatches) -> str:
        marks = source.fingerprint(self.n_done), self.split.fraction, self.split.seed
        return " ".join(map(str, marks))


@dataclass
class _SpreadRows:
    """Rows, evenly spread, by which outliers are found as of a table in memory."""

    n_rows: int
    n_inputs: int
    encoder: CategoryEncoder
    seen: int = 0
    kept: list[NDArray[Any]] = field(default_factory=list)

    @property
    def step(self) -> int:
        most = max(1, min(MOST_LOOKED_AT, _MOST_NUMBERS // self.n_inputs))
        # of a part of the rows, those of the ends of all columns are two more
        return 1 if self.n_rows <= most else -(-self.n_rows // max(1, most - 2))

    def add(self, X: Any) -> None:
        rows = X.iloc[-self.seen % self.step :: self.step]
        numbers = self.encoder.encode(rows, allow_missing=True)
        self.kept.append(numbers.to_numpy())
        self.seen += len(X)

    def warn_of_outliers(self, model: Any) -> None:
        """Warn as a fit does, of a model that has learned all rows."""
        box = model.scaling_
        ends = [box.lower[np.newaxis], box.upper[np.newaxis]] if self.step > 1 else []
        model._warn_of_outliers(np.concatenate([*self.kept, *ends]))


def _learn(
    parts: list[_Part],
    source: TableBatches,
    checkpoint: Path | None,
    pace: Pace,
    spread: _SpreadRows,
) -> int:
    """Learn what an earlier run has not; return the number of rows that it has."""
    for part in parts:
        part.model._validate_params()
        part.model._require_sums_to_do()
        if checkpoint is not None:
            part.resume(checkpoint, source)
    first = min(part.n_done for part in parts)
    earlier = sum(part.n_rows for part in parts)
    pace.skip(earlier)
    try:
        for number, batch in enumerate(source.start(first), first):
            for part in parts:
                part.learn(batch, number)
            spread.add(batch.X)
            pace.advance(len(batch.y))
            if any(p.checkpoint is not None and p.checkpoint.is_due(p.model) for p in parts):
                for part in parts:
                    part.save(source)
    except StreamError as error:
        if checkpoint is None:
            raise
        reason = Message("{}. What was learned before is kept in {}", error.reason, checkpoint)
        raise StreamError(reason, error.where) from error
    finally:  # also after an error or an interrupt: what was learned is not lost
        for part in parts:
            part.save(source)
    return earlier


@contextmanager
def _noting_interrupts(parts: list[_Part], checkpoint: Path | None) -> Iterator[None]:
    """Note on an interrupt where that is kept which was learned."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        n_rows = sum(part.n_kept for part in parts)
        if n_rows:
            interrupt.add_note(
                f"what was learned of {count(n_rows, 'row')} is kept in {checkpoint}, and the same "
                "command goes on from there"
            )
        raise


def _require_enough(part: _Part, parts: list[_Part], fraction: float) -> None:
    n_rows = sum(each.n_rows for each in parts)
    if len(parts) > 1 and part.n_rows < MIN_ROWS_A_PART:
        raise too_few_rows(n_rows, fraction, by_chance=n_rows >= 2 * MIN_ROWS_A_PART)
    known = part.model._label_set
    if part.rows == "other" and known is not None and known.classes.size < 2:
        raise UserError(
            f"the {count(part.n_rows, 'row')} that are left for training hold a single class; "
            "give a smaller --validation-fraction, another --seed, or --validation-fraction 0 to "
            "fit without a score"
        )


# ---- the score -----------------------------------------------------------------------


def _score(model: Any, source: TableBatches, split: _Split, pace: Pace) -> str:
    """Predict the rows held out by a model that has not seen them, and is for this alone."""
    if model.out_of_range in ("warn", "error"):  # is for predictions, not for the score
        model.set_params(out_of_range="clip")
    scores = _Right() if is_classifier(model) else _Errors(model.penalize_constant)
    for number, batch in enumerate(source.start()):
        out = split.held_out(number, len(batch.y))
        if out.any():
            scores.add(batch.y[out], model.predict(batch.X[out]))
        scores.see(batch.y[~out])
        pace.advance(len(batch.y))
    return scores.text()


@dataclass
class _Right:
    """Counts predictions of classes that are right."""

    n_right: int = 0
    left: Counter[Any] = field(default_factory=Counter)  # rows by class, of those not held out
    out: Counter[Any] = field(default_factory=Counter)

    def add(self, y: NDArray[Any], predicted: NDArray[Any]) -> None:
        self.n_right += int(np.count_nonzero(y == predicted))
        self.out.update(_counts(y))

    def see(self, y: NDArray[Any]) -> None:
        self.left.update(_counts(y))

    def text(self) -> str:
        frequent = max(sorted(self.left), key=self.left.__getitem__)
        return describe_accuracy(
            self.n_right, self.out.total(), frequent, self.out[frequent] / self.out.total()
        )


def _counts(y: NDArray[Any]) -> dict[Any, int]:
    labels, counts = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


@dataclass
class _Errors:
    """Sums the squares of errors, and of differences from the mean."""

    penalized: bool  # the constant term
    n: int = 0
    mean: float = 0.0
    spread: float = 0.0
    squares: float = 0.0

    def add(self, y: NDArray[Any], predicted: NDArray[Any]) -> None:
        n, mean = y.size, float(y.mean())
        step = mean - self.mean
        total = self.n + n
        # the spreads of both parts about their own means, and that of the means
        self.spread += float(np.sum((y - mean) ** 2)) + step**2 * self.n * n / total
        self.mean += step * n / total
        self.squares += float(np.sum((y - predicted) ** 2))
        self.n = total

    def see(self, y: NDArray[Any]) -> None:
        """Do nothing: the errors are of the rows held out alone."""

    def text(self) -> str:
        # without any spread as scikit-learn has it
        r2 = 1.0 - self.squares / self.spread if self.spread else float(self.squares == 0)
        rmse, std = np.sqrt(self.squares / self.n), np.sqrt(self.spread / self.n)
        return describe_errors(
            r2, float(rmse), self.n, self.mean, float(std), penalized=self.penalized
        )
