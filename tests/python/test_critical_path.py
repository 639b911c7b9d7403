"""What loops would take on more processors than there are, from traces that are made up."""

from __future__ import annotations

import pytest

from bench import critical_path
from bench.critical_path import Costs, Loop, fastest, read, ready, seconds_of, shown, total

FREE = Costs(start=0.0, wake=0.0, round=0.0)
LINES = [
    "tiles.cpp:7 8 0.5 1e-1 2e-1 | 3e-1 | 1.2 0.01\n",
    "predict.cpp:9 1 1.5 2e-1 | 1.75 0.00\n",
    "predict.cpp:9 1 1.9 2e-1 |",  # the process has ended meanwhile
]


class TestRead:
    def test_rounds_and_times(self):
        first, second = read(LINES)
        assert first == Loop("tiles.cpp:7", 8, 0.5, ((0.1, 0.2), (0.3,)), 1.2, 0.01)
        assert second == Loop("predict.cpp:9", 1, 1.5, ((0.2,),), 1.75, 0.0)
        assert first.duration == pytest.approx(0.7)

    def test_a_round_without_items(self):
        (loop,) = read(["a.cpp:1 4 0.0 | 1.0 | | 1.5 0.0\n"])
        assert loop.rounds == ((), (1.0,), ())


class TestReady:
    def test_one_starts_all_of_a_few(self):
        assert ready(4, Costs(1.0, 10.0, 0.0)) == [3.0, 11.0, 12.0, 13.0]

    def test_those_start_others(self):
        found = ready(20, Costs(1.0, 10.0, 0.0))
        assert found[0] == 8.0  # has started 1 to 8
        assert found[1] == 11.0 + 8.0  # runs at 11 and has started 9 to 16
        assert found[9] == 11.0 + 1.0 + 10.0
        assert found[17] == 12.0 + 1.0 + 10.0
        assert max(ready(64, Costs())) < 64 * Costs().start


class TestSeconds:
    @pytest.mark.parametrize(
        ("n_threads", "seconds"),
        # 4 2 2 | 6, and 1 between items; with two threads 4 beside 2 and 2
        [(1, 15.0), (2, 4.0 + 6.0 + 1.0), (3, 4.0 + 6.0 + 1.0)],
    )
    def test_items_go_to_whoever_is_free(self, n_threads, seconds):
        loop = Loop("a", 8, 1.0, ((4.0, 2.0, 2.0), (6.0,)), 16.0)
        assert seconds_of(loop, n_threads, FREE) == pytest.approx(seconds)

    def test_the_order_of_items_counts(self):
        last, first = (
            Loop("a", 2, 0.0, (items,), 6.0) for items in ((1.0, 1.0, 4.0), (4.0, 1.0, 1.0))
        )
        assert seconds_of(last, 2, FREE) == 5.0
        assert seconds_of(first, 2, FREE) == 4.0

    def test_no_more_members_than_it_is_worth(self):
        loop = Loop("a", 2, 0.0, ((1.0,) * 4,), 4.0)
        assert seconds_of(loop, 64, FREE) == seconds_of(loop, 2, FREE) == 2.0

    def test_starting_and_rounds_cost(self):
        loop = Loop("a", 2, 0.0, ((3.0, 3.0), (2.0, 2.0)), 10.0)
        # the first has items from 1 to 4 and to 7, where the other would begin at 5
        assert seconds_of(loop, 2, Costs(1.0, 4.0, 0.5)) == pytest.approx(7.0 + 0.5 + 2.0 + 0.5)

    def test_what_is_outside_stays(self):
        loops = [Loop("a", 4, 0.0, ((1.0,) * 4,), 4.0)] * 2
        assert total(loops, 3.0, 1, FREE) == 11.0
        assert total(loops, 3.0, 4, FREE) == 5.0


class TestFastest:
    def test_the_least_of_each_item(self):
        runs = [
            [Loop("a", 4, 0.0, ((1.0, 9.0), ()), 10.5)],
            [Loop("a", 4, 7.0, ((5.0, 2.0), ()), 14.25)],
        ]
        (loop,) = fastest(runs)
        assert loop.rounds == ((1.0, 2.0), ())
        assert loop.duration == pytest.approx(1.0 + 2.0 + 0.25)

    def test_runs_that_differ(self):
        short, long = [Loop("a", 4, 0.0, ((1.0,),), 1.0)], [Loop("a", 4, 0.0, ((1.0, 1.0),), 2.0)]
        assert fastest([long, short]) == short


class TestShown:
    def test_speedups_and_what_takes_longest(self):
        loops = [
            Loop("even.cpp:1", 64, 0.0, ((1.0,) * 64,), 64.0),
            Loop("alone.cpp:2", 1, 64.0, ((2.0,),), 66.0),
        ]
        first, *places = shown("both", loops, 1.5, FREE).splitlines()
        times = [67.5 / (64.0 / n + 3.5) for n in critical_path.THREADS]
        assert first.split()[-len(times) :] == [f"{t:.1f}" for t in times]
        assert [place.split()[0] for place in places] == ["alone.cpp:2", "outside", "even.cpp:1"]
        assert "64.0 times as fast" in places[2]

    def test_a_core_that_writes_no_trace(self, monkeypatch, capsys):
        monkeypatch.setattr(critical_path, "WORKLOADS", {"31 penalties, 2000 x 8": None})
        monkeypatch.setattr(
            critical_path.subprocess, "run",
            lambda *_, **__: critical_path.subprocess.CompletedProcess([], 0, "[]", ""),
        )  # fmt: skip
        assert critical_path.main([]) == 1
        assert "GEGENBAUER_TRACE_LOOPS=ON" in capsys.readouterr().err
