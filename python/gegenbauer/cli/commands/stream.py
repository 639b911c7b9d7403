"""``gegenbauer fit --stream``: learn a column of tables that need not fit into memory.

The tables are read twice or three times, in batches: the target alone, to choose the task as for a
table in memory; all columns, to learn; and once more, to predict the rows held out. Rows are held
out at random by their batch, so that nothing has to be remembered of them. What is learned from
them and from the others are two partially fitted models, and the one that is kept is their sum.
"""

from __future__ import annotations

import copy
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer._messages import Message
from gegenbauer.batches.arrays import digest_of
from gegenbauer.cli.files import check_output
from gegenbauer.cli.foresight import announce
from gegenbauer.cli.lines import (
    NO_VALIDATION,
    describe_data,
    model_line,
    rows_line,
    times_line,
)
from gegenbauer.cli.messages import DataError, UserError, count, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.parameters import in_options
from gegenbauer.cli.report import (
    choice_line,
    parameters_line,
    solution_line,
    terms_line,
)
from gegenbauer.cli.stream_scores import ErrorSums, RightCount
from gegenbauer.cli.streaming import (
    Pace,
    files_line,
    open_training_tables,
    require_tables,
)
from gegenbauer.cli.training import MIN_ROWS_A_PART, too_few_rows
from gegenbauer.cli.written import keep, require_written
from gegenbauer.errors import ModelFileError, StreamError, message_of
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
    from gegenbauer.cli.training import Source
    from gegenbauer.estimators._categories import CategoryEncoder

__all__ = ["run"]

_MOST_NUMBERS = 2_000_000  # that are kept to look for outliers

# What the parts of a fingerprint are of, when they differ
_MARKS = (
    "other tables (or another --na or --decimal)",
    "another --target",
    "other inputs (see --ignore)",
    "another --weight",
    "another --validation-fraction",
    "another --seed",
)


def run(
    paths: Sequence[Path],
    wanted: Source,
    *,
    out: Path | None,
    parameters: dict[str, Any],
    validation_fraction: float,
    seed: int,
    checkpoint: Path | None,
    choose_alpha: bool,
) -> None:
    """Look at the target, learn from all batches, score rows held out, save and report.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders of tables, all of one format.
    wanted : Source
        What is learned from them, and how they are written.
    out : Path or None
        Where to save the model.
    parameters : dict
        Parameters of the estimator that differ from its defaults.
    validation_fraction : float
        Share of the rows to hold out, from 0 (no validation) to below 1.
    seed : int
        Chooses these rows.
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
        source, chosen, looking = open_training_tables(paths, wanted, steps)

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

        validation, predicting = NO_VALIDATION, 0.0
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
    text, n_out = str(n_rows), parts[1].n_rows if scores else 0
    if scores:
        text += f"; {n_out} held out to validate (at random, seed {seed})"
    if earlier:
        text += f"; {earlier} were learned by an earlier run, recorded in {checkpoint}"
    rows = rows_line(n_rows, text, held_out=n_out, learned_before=earlier)
    times = {"target": (looking, "to look at the target"), "learn": (learning, "to learn")}
    if scores:
        times["validation_predict"] = predicting, "to predict the rows held out"
    print_pairs(
        [
            files_line(source),
            *describe_data(source.inputs, chosen, wanted.task, rows),
            terms_line(model),
            parameters_line(model),
            *([choice_line(model)] if choose_alpha else []),
            solution_line(model),
            validation,
            times_line(**times, solve=(solving, "to solve")),
            model_line(n_rows, kept),
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
        try:
            found = self.checkpoint.read(self.model)
        except ModelFileError as error:
            reason = in_options(message_of(error)).rstrip(".")
            raise DataError(
                f"--checkpoint {reason}; give another file, or remove this one to begin anew"
            ) from error
        if found is None:
            return
        self.model, self.n_done, fingerprint = found
        self.n_saved, self.n_kept = self.n_done, self.n_rows
        self._require_same(path, fingerprint, source)

    def _require_same(self, path: Path, fingerprint: str, source: TableBatches) -> None:
        """Refuse to go on with other rows than those that an earlier run has learned."""
        now = self._fingerprint(source)
        if fingerprint == now:
            return
        marks = [part.split(" ") for part in (fingerprint, now)]
        differ = [what for what, *pair in zip(_MARKS, *marks, strict=False) if pair[0] != pair[1]]
        if len(marks[0]) != len(marks[1]):
            differ = ["another kind of run"]
        elif {*differ} & {*_MARKS[1:4]}:  # columns, of which the tables' own mark is, too
            differ = differ[1:]
        raise UserError(
            f"--checkpoint {path} is of {' and '.join(differ)}; give the same, another "
            "--checkpoint, or remove the file to begin anew"
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
        marks = (
            source.fingerprint(self.n_done),
            *(digest_of([columns]) for columns in (source.target, source.inputs)),
            digest_of([source.sample_weight]),
            self.split.fraction,
            self.split.seed,
        )
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
        raise DataError(
            f"the {count(part.n_rows, 'row')} that are left for training hold a single class; "
            "give a smaller --validation-fraction, another --seed, or --validation-fraction 0 to "
            "fit without a score"
        )


# ---- the score -----------------------------------------------------------------------


def _score(model: Any, source: TableBatches, split: _Split, pace: Pace) -> Line:
    """Predict the rows held out by a model that has not seen them, and is for this alone."""
    if model.out_of_range in ("warn", "error"):  # is for predictions, not for the score
        model.set_params(out_of_range="clip")
    weighted = source.sample_weight is not None
    scores = (
        RightCount(weighted)
        if is_classifier(model)
        else ErrorSums(model.penalize_constant, weighted)
    )
    for number, batch in enumerate(source.start()):
        out = split.held_out(number, len(batch.y))
        weight = batch.sample_weight if weighted else np.ones(len(batch.y))
        if out.any():
            scores.add(batch.y[out], model.predict(batch.X[out]), weight[out])
        scores.see(batch.y[~out])
        pace.advance(len(batch.y))
    if scores.weight == 0:
        raise DataError(
            "the rows held out have no weight at all; give another --seed, or "
            "--validation-fraction 0 to fit without a score"
        )
    return scores.line()
