"""What all experiments are given: how much to do, where results are kept, what the machine is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bench.recorder import Recorder
    from experiments.paper.store import Store
    from experiments.paper.trials import Plan

#: A piece of work that keeps its result, or finds it kept.
Job: TypeAlias = Callable[[], object]


@dataclass(frozen=True)
class Run:
    """One run of ``python -m experiments.paper``."""

    plan: Plan
    store: Store
    recorder: Recorder  #: of times side by side
