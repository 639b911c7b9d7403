"""A run as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bench.goals import outcomes_of
from bench.runner import (
    LEAST_CONFIDENCE,
    PEAK,
    Estimate,
    Failure,
    median_with_interval,
    relative_iqr,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.goals import Outcome
    from bench.results import Run
    from bench.runner import Agreement, CaseResult

MUCH = 0.1  # part of the processors' time that others may take before a case counts as disturbed

COLUMNS = (
    f"  {'':<16}{'median':>10}{'IQR':>7}{'ratio':>10} {'interval':<17}{'of best':<9}{'ours':<8}"
    f"{'GFLOP/s':>8}{'peak':>7}  what is timed"
)


def seconds_text(seconds: float) -> str:
    """Write a time with three digits."""
    for factor, unit in ((1.0, "s "), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 0.9995:
            return f"{three_digits(seconds * factor)} {unit}"
    return f"{three_digits(seconds * 1e9)} ns"


def three_digits(value: float) -> str:
    rounded = float(f"{value:.3g}")
    digits = max(0, 2 - math.floor(math.log10(rounded))) if rounded > 0 else 2
    return f"{rounded:.{digits}f}"


def disturbed(case: CaseResult) -> bool:
    """Whether other programs took so much of the processors that medians are doubtful."""
    return case.others is not None and case.others >= MUCH


def verdict(ratio: Estimate) -> str:
    """Name in a word what a ratio theirs / ours means for ours, with regard to its interval."""
    if ratio.coverage < LEAST_CONFIDENCE:
        return "unsure"
    if ratio.high < 1.0:
        return "slower"
    return "faster" if ratio.low > 1.0 else "equal"


def head(run: Run) -> Iterator[str]:
    """Describe where and how a run was made and what is wrong with it, line by line."""
    facts, settings = run.facts, run.settings
    machine, versions = facts["machine"], facts["versions"]
    memory = machine["memory_bytes"]
    yield (
        f"{machine['processor']}, {machine['usable_cores']} of {machine['cores']} cores"
        + (f", {memory / 2**30:.0f} GiB" if memory else "")
        + f"; {machine['system']}"
    )
    yield f"gegenbauer's ISA variant {facts['isa']}; {facts['threads']} thread(s) for everybody"
    for library in facts["libraries"]:
        if library["kind"] != "blas":  # OpenMP is in the file
            continue
        described = " ".join(str(library[key]) for key in ("name", "version") if library[key])
        kernel = f", kernel {library['kernel']}" if library["kernel"] else ""
        yield f"BLAS of {library['belongs_to']}: {described}{kernel}"
    yield ", ".join(f"{name} {version}" for name, version in versions.items())
    git = facts["git"]
    commit = "no commit" if git is None else git["commit"][:12] + " modified" * git["modified"]
    yield (
        f"{commit}; {run.date}; {settings['rounds']} rounds"
        + ("; QUICK: tiny sizes, times mean nothing" if settings["quick"] else "")
    )
    for peak in run.peaks:
        yield (
            f"measured peak, {peak['threads']} thread(s): {peak['flops'] / 1e9:.1f} GFLOP/s "
            f"multiply-add, {peak['read_bandwidth'] / 1e9:.1f} GB/s read from memory"
        )
    yield from (f"WARNING: {warning}" for warning in run.warnings)


def _case_lines(case: CaseResult, peak: float | None) -> Iterator[str]:
    sizes = " ".join(f"{name}={size}" for name, size in case.sizes.items())
    yield f"{case.name} ({sizes}): {case.shows}"
    doubt = "?" if disturbed(case) else ""
    if doubt:
        yield f"  other programs took {case.others:.0%} of the processors meanwhile"
    for timing in case.timings:
        median = median_with_interval(timing.seconds).median
        line = f"  {timing.name:<16}{seconds_text(median):>10}{relative_iqr(timing.seconds):>7.1%}"
        if timing is case.ours:
            line += " " * 45
        else:
            ratio = case.ratio(timing)
            interval = f"[{three_digits(ratio.low)}, {three_digits(ratio.high)}]"
            line += f"{three_digits(ratio.median):>10} {interval:<17}"
            line += f"{three_digits(case.ratio_of_best(timing)):<9}{verdict(ratio) + doubt:<8}"
        if case.flops is None:
            line += " " * 15
        else:
            rate = case.flops / median
            share = "" if peak is None else f"{rate / peak:.0%}"
            line += f"{rate / 1e9:>8.1f}{share:>7}"
        yield f"{line}  {timing.does}".rstrip()
    for agreement in case.agreements:
        yield f"    {_agreement_text(agreement)}"
    if case.not_compared:
        yield f"    not compared: {case.not_compared}"
    for name, why in case.absent.items():
        yield f"    takes no part: {name}: {why}"
    for outcome in outcomes_of(case, peak):
        yield f"    goal: {goal_text(outcome)}{doubt}"


def goal_text(outcome: Outcome) -> str:
    """Write a goal, what was found and the verdict, in one line."""
    of_best = "" if outcome.of_best is None else f" (fastest calls {three_digits(outcome.of_best)})"
    of_what = "of the peak" if outcome.against == PEAK else f"against {outcome.against}"
    return (
        f"{three_digits(outcome.goal)} {of_what}, found {three_digits(outcome.found)}{of_best}: "
        f"{outcome.verdict}"
    )


def _agreement_text(agreement: Agreement) -> str:
    sign = "ok" if agreement.holds else "NOT"
    return f"{sign} {agreement.what}: {agreement.difference:.2g} (<= {agreement.tolerance:.2g})"


def render(run: Run) -> str:
    """Write a run as text."""
    return "\n".join([*head(run), *body(run)])


def body(run: Run) -> list[str]:
    """Write what a run found, line by line."""
    lines = [] if not run.cases else explanation(run.cases)
    for result in (*run.cases, *run.failures):
        lines += result_lines(result, run.peak_flops())
    return [*lines, *ending(run)]


def explanation(cases: Sequence[CaseResult]) -> list[str]:
    """Name what the columns are."""
    coverage = min(case.ratio(peer).coverage for case in cases for peer in case.peers)
    return [
        "",
        "Median of the rounds and interquartile range relative to it. Ratio = theirs / ours,",
        f"above 1 ours is faster: the median over rounds, an interval of {coverage:.0%}",
        "confidence, and that of the fastest calls. GFLOP/s count the result alone, not how",
        "it was found, beside their share of the measured multiply-add peak. A question mark:",
        f"other programs took {MUCH:.0%} of the processors or more, and the word is doubtful.",
        "",
        COLUMNS,
    ]


def result_lines(result: CaseResult | Failure, peak: float | None) -> list[str]:
    """Write what one case found."""
    if isinstance(result, Failure):
        return [
            "",
            f"{result.name}: FAILED, not timed: {result.reason}",
            *(f"    {_agreement_text(agreement)}" for agreement in result.agreements),
        ]
    return ["", *_case_lines(result, peak)]


def ending(run: Run) -> list[str]:
    """Write what all cases together show."""
    lines = ["", *_conclusion(run)] if run.cases else []
    if run.interrupted:
        lines += ["", "Interrupted: the other cases were not run."]
    return lines


def _conclusion(run: Run) -> Iterator[str]:
    for word, text in (
        ("slower", "Slower than a peer"),
        ("equal", "Not distinguishable from a peer"),
        ("unsure", "Too few rounds to decide"),
    ):
        found = [
            f"{case.name} / {peer.name} {three_digits(case.ratio(peer).median)}"
            + "?" * disturbed(case)
            for case in run.cases
            for peer in case.peers
            if verdict(case.ratio(peer)) == word
        ]
        if found or word == "slower":
            yield f"{text}: {', '.join(found) or 'nowhere'}"
    judged = run.outcomes()
    if judged:
        missed = [
            f"{o.case} / {o.against} by {1 - o.found / o.goal:.1%}" for o in judged if not o.met
        ]
        yield f"Goals missed, of {len(judged)}: {', '.join(missed) or 'none'}"
