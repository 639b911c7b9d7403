"""The text of the report, in Markdown."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench import memory
from bench.goals import findings
from bench.peers import PEERS
from bench.runner import PEAK
from bench.scaling import never, series
from bench.sweeps import OURS, SWEEPS, points_of
from bench.table import body, head, seconds_text, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.goals import Outcome
    from bench.memory import Use
    from bench.results import Run
    from bench.runner import CaseResult
    from bench.sweeps import Sweep

MEMORY = "peak-memory"  # the key of its finding


@dataclass(frozen=True)
class Parts:
    """What there is to report; each may be missing."""

    cases: Sequence[Run] = ()  #: of several ISA variants, the main one first
    sweeps: Run | None = None
    uses: Sequence[Use] = ()
    why: Mapping[str, str] = field(default_factory=findings)


def title(run: Run) -> str:
    """Name a run by its ISA variant and by the kernel that BLAS chose."""
    kernels = sorted({lib["kernel"] for lib in run.facts["libraries"] if lib["kernel"]})
    return f"{run.facts['isa']} (BLAS: {', '.join(kernels) or 'unknown'})"


def document(parts: Parts) -> str:
    """Write the whole report."""
    lines = ["# gegenbauer beside its peers", ""]
    lines += _circumstances(parts)
    lines += [*_goals(parts), *_cases(parts.cases)]
    if parts.sweeps is not None:
        lines += _sweeps(parts.sweeps)
    lines += [*_memory(parts.uses), *_peers()]
    for run in parts.cases:
        lines += [f"## All cases: {title(run)}", "", "```", "\n".join(body(run)).strip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _circumstances(parts: Parts) -> Iterator[str]:
    """Describe the machine, and of every further run only what is not the same."""
    runs = [(f"Cases, {title(run)}", run) for run in parts.cases]
    if parts.sweeps is not None:
        runs.append(("Whole fits", parts.sweeps))
    shown: set[str] = set()
    for name, run in runs:
        new = [line for line in head(run) if line not in shown]
        shown.update(new)
        yield from (f"{name}:", "", "```", *new, "```", "")


def row(*cells: str) -> str:
    """Write a row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def heading(*cells: str) -> list[str]:
    """Write the head of a table."""
    return [row(*cells), row(*("---" for _ in cells))]


def section(name: str, text: str) -> list[str]:
    """Write a heading and a paragraph."""
    return [name, "", *textwrap.wrap(" ".join(text.split()), 120), ""]


# --- Goals ----------------------------------------------------------------------------------------


def _goals(parts: Parts) -> Iterator[str]:
    found = [{(o.case, o.against): o for o in run.outcomes()} for run in parts.cases]
    keys = list(dict.fromkeys(key for one in found for key in one))
    use = judged_use(parts.uses)
    if not keys and use is None:
        return
    yield from section(
        "## Goals", "Ratios are theirs / ours, medians; in brackets that of the fastest calls."
    )
    yield from heading(
        "case", "against", "goal", *([title(run) for run in parts.cases] or ["found"])
    )
    for key in keys:
        there = [one.get(key) for one in found]
        goal = next(outcome.goal for outcome in there if outcome is not None)
        against = "share of the peak" if key[1] == PEAK else key[1]
        yield row(key[0], against, three_digits(goal), *map(_outcome, there))
    if use is not None:
        others = [""] * (len(parts.cases) - 1)
        yield row(
            MEMORY,
            "bytes beside X and Y",
            f"under {_megabytes(memory.GOAL)}",
            _memory_verdict(use),
            *others,
        )
    yield ""
    missed = dict.fromkeys(key for one in found for key in one if not one[key].met)
    lines = []
    for key in missed:
        by = "; ".join(
            f"{title(run)}: {one[key].verdict}"
            for run, one in zip(parts.cases, found, strict=True)
            if key in one
        )
        lines.append(f"- **{key[0]}** / {key[1]}: {by}. {_why(parts, key[0])}")
    if use is not None and not _memory_met(use):
        lines.append(f"- **{MEMORY}**: {_memory_verdict(use)}. {_why(parts, MEMORY)}")
    yield from ("### Missed, and why", "", *(lines or ["None."]), "")


def _why(parts: Parts, name: str) -> str:
    return parts.why.get(name, "The reason is not known.").strip()


def _outcome(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not run"
    best = "" if outcome.of_best is None else f" ({three_digits(outcome.of_best)})"
    return f"{three_digits(outcome.found)}{best}: {outcome.verdict}"


def _cases(runs: Sequence[Run]) -> Iterator[str]:
    if runs:
        yield from ("![Ratios of all cases, and the goals](cases.svg)", "")
    for run in runs:
        if run.failures:
            yield from (f"Failed, {title(run)}:", "")
            yield from (
                f"- {failure.name}: {failure.reason.splitlines()[0]}" for failure in run.failures
            )
            yield ""


# --- Sweeps ---------------------------------------------------------------------------------------


def _sweeps(run: Run) -> Iterator[str]:
    yield from section(
        "## Whole fits",
        """From X and Y to the weights, all sizes but one fixed, terms of complete total degree. The
        exponent p of cost = c size^p is fitted by least squares to the logarithms of the upper half
        of a contestant's range (three points at least), with its standard error. Dotted is the time
        of S L^2 flops, which any Gram matrix by products takes at the measured peak; only ways
        that form no such product can lie below.""",
    )
    for sweep in SWEEPS:
        points = points_of(run, sweep)
        if points:
            yield from _sweep(sweep, points)
    for failure in run.failures:
        yield from (f"Failed: {failure.name}: {failure.reason.splitlines()[0]}", "")


def _sweep(sweep: Sweep, points: Sequence[CaseResult]) -> Iterator[str]:
    variable = sweep.variable
    yield from (
        f"### {variable}: {sweep.shows}",
        "",
        f"![Time against {variable}](sweep-{variable}.svg)",
        "",
    )
    yield from heading(
        "contestant",
        "exponent",
        "fitted to",
        "largest",
        "time there",
        "ours is faster there by",
        "ends",
    )
    found = series(points, variable)
    ours = next(one for one in found if one.name == OURS)
    times = dict(zip(ours.sizes, ours.medians, strict=True))
    for one in found:
        power, largest, seconds = one.exponent, one.sizes[-1], one.medians[-1]
        fitted = "" if power is None else f"{power.low:,} to {power.high:,}"
        ratio = "" if one is ours else three_digits(seconds / times[largest])
        yield row(
            one.name,
            str(power or ""),
            fitted,
            f"{largest:,}",
            seconds_text(seconds).strip(),
            ratio,
            one.ends,
        )
    yield from (row(name, "", "", "none", "", "", why) for name, why in never(points).items())
    yield ""


# --- Memory and peers -----------------------------------------------------------------------------


def judged_use(uses: Sequence[Use]) -> Use | None:
    """Return the measurement that the goal is about: ours, with the most terms."""
    ours = [use for use in uses if use.name == OURS and use.n_bytes is not None]
    return max(ours, key=lambda use: use.sizes["L"], default=None)


def _megabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def _memory_met(use: Use) -> bool:
    return use.n_bytes is not None and use.n_bytes < memory.GOAL


def _memory_verdict(use: Use) -> str:
    assert use.n_bytes is not None
    verdict = "met" if _memory_met(use) else f"MISSED by {use.n_bytes / memory.GOAL - 1:.1%}"
    return f"{_megabytes(use.n_bytes)} with {use.sizes['L']} terms: {verdict}"


def _memory(uses: Sequence[Use]) -> Iterator[str]:
    if not uses:
        return
    yield from section(
        "## Memory of a fit",
        """The rise of the resident memory during a fit, each in a process of its own that holds X
        and Y and has fitted a small problem before.""",
    )
    yield from heading("contestant", "sizes", "beside X and Y", "note")
    for use in uses:
        sizes = ", ".join(f"{name} = {size:,}" for name, size in use.sizes.items())
        found = "not measured" if use.n_bytes is None else _megabytes(use.n_bytes)
        yield row(use.name, sizes, found, use.note)
    yield ""


def _peers() -> Iterator[str]:
    yield from section(
        "## Peers",
        """All have L unknowns an output and the penalty 2^-12. Compared before timing: NumPy's
        predictions with ours; of every peer the number of terms, and that its weights solve the
        normal equations of its own features.""",
    )
    yield from heading("peer", "here", "what is timed", "what differs")
    for peer in PEERS:
        there = peer.missing
        yield row(
            peer.name, f"not available: {there}" if there else peer.version, peer.does, peer.differs
        )
    yield ""
