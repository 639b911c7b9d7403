"""Run cases one after the other and keep each result as soon as it is there."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench import machine, results
from bench.runner import Disagreement, Failure, Settings, run_case

if TYPE_CHECKING:
    from pathlib import Path

    from bench.results import Run
    from bench.runner import Case, CaseResult


class OtherRunError(ValueError):
    """Results are there that were made by other code or in other circumstances."""


def circumstances(facts: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what must be equal for results to stand beside each other."""
    kept = {name: facts[name] for name in ("isa", "threads", "environment", "git")}
    return {**kept, "processor": facts["machine"]["processor"], "settings": settings}


class Recorder:
    """One run that grows.

    Parameters
    ----------
    settings : Settings
        How cases are timed.
    path : Path, optional
        Where the run is written after every case.
    resume : bool
        Go on with the run that `path` holds, if it holds one: its cases are not run again, those
        that failed are. Else it is replaced.

    Raises
    ------
    OtherRunError
        When the run in `path` is of another commit, ISA variant, processor, or of other settings.
    """

    def __init__(self, settings: Settings, path: Path | None = None, *, resume: bool = True):
        self.settings, self.path = settings, path
        self.date = datetime.now(UTC).isoformat(timespec="seconds")
        self.facts = machine.describe(settings.n_threads)
        self.done: list[CaseResult] = []
        self.failures: list[Failure] = []
        earlier = results.read(path) if resume and path is not None and path.exists() else None
        if earlier is not None:
            self._require_same(earlier)
            self.date, self.done = earlier.date, list(earlier.cases)
        self.warnings = machine.warnings_about(self.facts)
        for warning in self.warnings:
            print(f"WARNING: {warning}", file=sys.stderr)
        self.peaks = [] if earlier is None else list(earlier.peaks)
        self._measure_peaks()

    @classmethod
    def reading(cls, path: Path) -> Recorder:
        """Return the run that a file holds, of whatever commit; nothing is added to the file."""
        run = results.read(path)
        it = cls.__new__(cls)
        it.settings, it.path, it.date, it.facts = (
            Settings(**run.settings),
            None,
            run.date,
            run.facts,
        )
        it.done, it.failures = list(run.cases), list(run.failures)
        it.warnings, it.peaks = list(run.warnings), list(run.peaks)
        return it

    def _require_same(self, earlier: Run) -> None:
        there = circumstances(earlier.facts, earlier.settings)
        here = circumstances(self.facts, asdict(self.settings))
        other = [
            f"{name} {there[name]} -> {here[name]}" for name in here if there[name] != here[name]
        ]
        if other:
            raise OtherRunError(
                f"{self.path} holds results of another run ({'; '.join(other)}): remove it, write "
                "elsewhere, or replace it (--no-resume)"
            )

    def _measure_peaks(self) -> None:
        new = machine.measure_peaks(self.settings.n_threads, quick=self.settings.quick)
        self.peaks = machine.best_peaks(self.peaks, new) if self.peaks else new

    def run(self, case: Case) -> CaseResult | Failure:
        """Run a case unless its result is there; one that fails does not stop the others."""
        print(f"{case.name} ...", end=" ", file=sys.stderr, flush=True)
        for result in self.done:
            if result.name == case.name:
                print("is there", file=sys.stderr)
                return result
        try:
            result = run_case(case, self.settings)
        except Disagreement as error:
            return self._fail(Failure(case.name, str(error), error.agreements))
        except Exception as error:  # whatever a contestant does, the others shall run
            return self._fail(Failure(case.name, f"{type(error).__name__}: {error}"))
        self.done.append(result)
        print("done", file=sys.stderr)
        if self.path is not None:
            results.write(self.so_far(interrupted=True), self.path)
        return result

    def _fail(self, failure: Failure) -> Failure:
        self.failures.append(failure)
        print(f"FAILED: {failure.reason}", file=sys.stderr)
        return failure

    def finish(self, *, interrupted: bool = False) -> Run:
        """Measure the peaks once more, since clocks change and neighbours come and go, and end."""
        if not interrupted:
            self._measure_peaks()
        run = self.so_far(interrupted=interrupted)
        if self.path is not None:
            results.write(run, self.path)
        return run

    def so_far(self, *, interrupted: bool) -> Run:
        """Return the run as it is now."""
        return results.Run(
            date=self.date,
            facts=self.facts,
            settings=asdict(self.settings),
            warnings=tuple(self.warnings),
            peaks=tuple(self.peaks),
            cases=tuple(self.done),
            failures=tuple(self.failures),
            interrupted=interrupted,
        )
