"""Toy cases, results and runs, and a clock that stands still, for the tests of the benchmarks."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path

import numpy as np

# The benchmarks are no part of the installed package.
sys.path.append(str(Path(__file__).parents[2]))

from bench import results, runner
from bench.runner import Agreement, Case, CaseResult, Contest, Contestant, Settings, Timing


class World:
    """A clock that only contestants move, and a diary of what they did."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.diary = []
        self.slowness = 1.0
        monkeypatch.setattr(runner, "perf_counter", lambda: self.now)
        monkeypatch.setattr(runner, "sleep", lambda seconds: self.diary.append(f"pause {seconds}"))

    def contestant(self, name, seconds, *, result=1.0, **options):
        durations = itertools.cycle(seconds if isinstance(seconds, list) else [seconds])

        def run():
            self.diary.append(name)
            self.now += next(durations) * self.slowness
            return result

        return Contestant(name, f"does {name}", run, **options)


def case_of(*contestants, tolerance=0.1, name="toy", flops=None, shows="a toy", **sizes):
    def check(results):
        first = results[contestants[0].name]
        return [
            Agreement(f"{c.name}: value", abs(results[c.name] - first), tolerance)
            for c in contestants[1:]
        ]

    def build(*, n_threads, **given):
        assert n_threads == 1
        return Contest(given, contestants, check, flops=flops)

    return Case(name, shows, build, sizes or {"n": 4000}, {"n": 4})


def settings(**options):
    return Settings(**{"n_threads": 1, "rounds": 3, "pause": 0.5, "batch_seconds": 0.0} | options)


def result_of(
    name="toy", ours=1.0, peer=2.0, *, n=9, spread=0.01, sizes=None, peer_name="peer", others=0.0
):
    noise = np.linspace(1 - spread, 1 + spread, n)
    timings = tuple(
        Timing(who, f"does {who}", 1, tuple((seconds * noise).tolist()), seconds * (1 - spread))
        for who, seconds in (("ours", ours), (peer_name, peer))
    )
    agreements = (Agreement(f"{peer_name}: value", 1e-15, 1e-12),)
    sizes = {"n": 7} if sizes is None else sizes
    return CaseResult(name, "a toy", sizes, 1e9, "colours", agreements, timings, others)


def run_of(*cases, failures=(), rounds=9, **facts):
    return results.Run(
        date="2026-01-02T03:04:05+00:00",
        facts={
            "machine": {
                "processor": "Babbage",
                "cores": 4,
                "usable_cores": 2,
                "memory_bytes": 2**34,
                "system": "Brass-1",
            },
            "isa": "avx2",
            "threads": 2,
            "libraries": [
                {
                    "kind": "blas",
                    "name": "openblas",
                    "belongs_to": "numpy",
                    "version": "0.3",
                    "kernel": "Haswell",
                    "threads": 2,
                }
            ],
            "versions": {"python": "3.11", "gegenbauer": "0.1.0"},
            "environment": {},
            "git": {"commit": "0123456789abcdef", "modified": False},
            "load_average": 0.0,
        }
        | facts,
        settings=dataclasses.asdict(Settings(2, rounds)),
        warnings=("beware",),
        peaks=(
            {"threads": 1, "flops": 5e9, "read_bandwidth": 8e9},
            {"threads": 2, "flops": 1e10, "read_bandwidth": 9e9},
        ),
        cases=cases,
        failures=tuple(failures),
    )
