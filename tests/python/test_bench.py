"""The benchmarks: what they report of times that are known, what they refuse, and one quick run."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_samples import World, case_of, result_of, run_of, settings
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from bench import __main__ as command
from bench import comparison, machine, results, runner, streaming, table
from bench.cases import CASES
from bench.runner import Agreement, Contestant, Disagreement, Failure
from gegenbauer import reference
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.ridge import RidgeSolution

ROOT = Path(__file__).parents[2]
NAMES = [case.name for case in CASES]


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


class TestStatistics:
    @pytest.mark.parametrize(
        ("n", "low", "high", "coverage"),
        [
            (1, 1, 1, 0.0),
            (3, 1, 3, 0.75),
            (5, 1, 5, 0.9375),
            (6, 1, 6, 0.96875),
            (9, 2, 8, 0.9609375),
            (20, 6, 15, 0.9586105346679688),
        ],
    )
    def test_interval_of_the_median(self, n, low, high, coverage):
        found = runner.median_with_interval([float(v) for v in range(n, 0, -1)])
        assert (found.low, found.high) == (low, high)
        assert found.median == (n + 1) / 2
        assert found.coverage == pytest.approx(coverage, rel=1e-12)

    def test_interval_holds_the_median_as_often_as_stated(self, rng):
        samples = rng.exponential(size=(4000, 9))
        estimates = [runner.median_with_interval(row.tolist()) for row in samples]
        hits = np.mean([e.low <= math.log(2) <= e.high for e in estimates])
        assert hits == pytest.approx(estimates[0].coverage, abs=0.015)  # five standard errors

    def test_nothing_has_no_median(self):
        with pytest.raises(ValueError, match="empty"):
            runner.median_with_interval([])

    def test_ratios_are_of_the_same_round(self):
        """A machine that is slow for a while slows both, and the ratio stays."""
        ours = [1.0, 1.0, 8.0, 8.0, 1.0]
        found = runner.paired_ratio([3 * t for t in ours], ours)
        assert (found.low, found.median, found.high) == (3.0, 3.0, 3.0)

    def test_relative_iqr(self):
        assert runner.relative_iqr([10.0, 11.0, 9.0, 12.0, 8.0]) == pytest.approx(0.2)
        assert runner.relative_iqr([10.0]) == 0.0


class TestRunner:
    def test_contestants_take_turns_after_a_pause(self, world):
        case = case_of(*(world.contestant(name, 1.0) for name in "abc"))
        runner.run_case(case, settings())
        assert "".join(word for word in world.diary if len(word) == 1) == (
            "abc"  # for the check
            "abc"  # to warm up
            "abc"
            "bca"
            "cab"
        )
        assert set(world.diary[3::2]) == {"pause 0.5"}  # one before each, once they are timed

    def test_times(self, world):
        ours, peer = world.contestant("ours", 2.0), world.contestant("peer", [3.0, 5.0])
        result = runner.run_case(case_of(ours, peer, flops=8.0), settings(rounds=4))
        assert result.ours.seconds == (2.0,) * 4
        assert result.peers[0].seconds == (3.0, 5.0, 3.0, 5.0)
        assert result.ratio(result.peers[0]).median == 2.0
        assert result.ratio_of_best(result.peers[0]) == 1.5
        assert (result.sizes, result.flops) == ({"n": 4000}, 8.0)

    def test_short_runs_are_repeated(self, world):
        ours = world.contestant("ours", [1.0, 1.0, 1.0, 7.0, 1.0])
        result = runner.run_case(
            case_of(ours, world.contestant("peer", 4.0)), settings(rounds=2, batch_seconds=5.0)
        )
        assert [timing.calls for timing in result.timings] == [5, 1]
        assert result.ours.seconds == (1.0, 1.0)  # the median of the five

    def test_preparing_is_not_timed(self, world):
        def prepare():
            world.diary.append("prepare")
            world.now += 100.0

        ours = world.contestant("ours", 1.0, prepare=prepare)
        result = runner.run_case(case_of(ours, world.contestant("peer", 1.0)), settings())
        assert result.ours.seconds == (1.0,) * 3
        at = [i for i, word in enumerate(world.diary) if word == "ours"]
        assert [world.diary[i - 1] for i in at] == ["prepare"] * 5

    def test_part_of_the_work(self, world):
        peer = world.contestant("peer", 3.0, share=0.25)
        result = runner.run_case(case_of(world.contestant("ours", 1.0), peer), settings())
        assert result.ratio(result.peers[0]).median == 12.0
        assert result.ratio_of_best(result.peers[0]) == 12.0

    @pytest.mark.parametrize("wrong", [2.0, math.nan])
    def test_no_times_without_agreement(self, world, wrong):
        peer = world.contestant("peer", 1.0, result=wrong)
        with pytest.raises(Disagreement, match=r"peer: value: .* more than 0\.1") as caught:
            runner.run_case(case_of(world.contestant("ours", 1.0), peer), settings())
        assert world.diary == ["ours", "peer"]
        assert not caught.value.agreements[0].holds

    def test_quick_sizes(self, world):
        case = case_of(world.contestant("ours", 1.0), world.contestant("peer", 1.0))
        assert runner.run_case(case, settings(quick=True)).sizes == {"n": 4}

    def test_every_library_is_limited(self):
        from threadpoolctl import threadpool_info

        seen = []

        def run():
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            return 1.0

        case = case_of(Contestant("ours", "", run), Contestant("peer", "", run))
        runner.run_case(case, settings(pause=0.0))
        assert set(seen) == {1}

    def test_garbage_collection_comes_back(self, world):
        import gc

        def fails():
            world.diary.append("ours")
            if len(world.diary) > 3:
                assert not gc.isenabled()
                raise RuntimeError("broken")
            return 1.0

        assert gc.isenabled()
        case = case_of(Contestant("ours", "", fails), world.contestant("peer", 1.0))
        with pytest.raises(RuntimeError, match="broken"):
            runner.run_case(case, settings())
        assert gc.isenabled()

    def test_part_that_others_took(self, monkeypatch):
        monkeypatch.setattr(runner.os, "cpu_count", lambda: 4)
        assert runner._part_of_others((10.0, 1.0), (18.0, 3.0), 2.0) == 0.75
        assert runner._part_of_others((10.0, 1.0), (12.0, 3.1), 2.0) == 0.0
        assert runner._part_of_others((10.0, 1.0), (12.0, 3.0), 0.1) is None
        assert runner._part_of_others(None, (12.0, 3.0), 2.0) is None


class TestReport:
    def test_json_round_trip(self, tmp_path):
        failure = Failure("other", "disagrees", (Agreement("value", 1.0, 0.5),))
        run = run_of(result_of(), result_of("second", 3.0), failures=[failure])
        results.write(run, tmp_path / "run.json")
        assert results.read(tmp_path / "run.json") == run
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]

    def test_json_holds_everything(self):
        data = json.loads(json.dumps(results.to_json(run_of(result_of())), allow_nan=False))
        assert data["facts"]["machine"]["processor"] == "Babbage"
        assert data["facts"]["libraries"][0]["kernel"] == "Haswell"
        case = data["cases"][0]
        assert case["timings"][0]["median"] == 1.0
        assert case["ratios"]["peer"]["median"] == pytest.approx(2.0)
        assert case["ratios"]["peer"]["of_best"] == pytest.approx(2.0)

    @pytest.mark.parametrize("difference", [math.nan, math.inf])
    def test_what_json_cannot_hold(self, difference):
        failure = Failure("toy", "disagrees", (Agreement("value", difference, 1.0),))
        text = json.dumps(results.to_json(run_of(failures=[failure])), allow_nan=False)
        found = results.from_json(json.loads(text)).failures[0].agreements[0]
        assert math.isnan(found.difference)
        assert not found.holds

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("not JSON", "is not JSON"),
            ("[1, 2]", "no result of python -m bench"),
            ('{"schema": "other"}', "no result of python -m bench"),
            ('{"schema": "gegenbauer-bench", "schema_version": 99}', "version 99"),
            ('{"schema": "gegenbauer-bench", "schema_version": 1}', "damaged"),
        ],
    )
    def test_other_files_are_refused(self, tmp_path, text, message):
        path = tmp_path / "run.json"
        path.write_text(text)
        with pytest.raises(results.FormatError, match=message):
            results.read(path)

    def test_table(self):
        slow = result_of("slow", 1.0, 0.5)
        even = result_of("even", 1.0, 1.0)
        failure = Failure("odd", "results disagree", (Agreement("value", math.nan, 0.5),))
        text = table.render(run_of(result_of(), slow, even, failures=[failure]))
        lines = {" ".join(line.split()) for line in text.splitlines()}
        assert "WARNING: beware" in lines
        assert "BLAS of numpy: openblas 0.3, kernel Haswell" in lines
        assert (
            "measured peak, 2 thread(s): 10.0 GFLOP/s multiply-add, 9.0 GB/s read from memory"
            in lines
        )
        assert "toy (n=7): a toy" in lines
        assert "ours 1.00 s 1.0% 1.0 10% does ours" in lines
        assert "peer 2.00 s 1.0% 2.00 [2.00, 2.00] 2.00 faster 0.5 5% does peer" in lines
        assert "ok peer: value: 1e-15 (<= 1e-12)" in lines
        assert "not compared: colours" in lines
        assert "odd: FAILED, not timed: results disagree" in lines
        assert "NOT value: nan (<= 0.5)" in lines
        assert "Slower than a peer: slow / peer 0.500" in lines
        assert "Not distinguishable from a peer: even / peer 1.00" in lines

    def test_disturbed_cases_are_marked(self):
        text = table.render(run_of(result_of(others=0.25), result_of("slow", peer=0.5, others=0.1)))
        assert "other programs took 25% of the processors meanwhile" in text
        assert "faster?" in text
        assert "Slower than a peer: slow / peer 0.500?" in text

    def test_few_rounds_claim_nothing(self):
        text = table.render(run_of(result_of(n=3), rounds=3))
        assert "faster" not in text.split("what is timed")[1]
        assert "Too few rounds to decide: toy / peer 2.00" in text

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (12.345, "12.3 s "),
            (0.99996, "1.00 s "),
            (0.0123456, "12.3 ms"),
            (123e-6, "123 us"),
            (5e-8, "50.0 ns"),
        ],
    )
    def test_times_are_readable(self, seconds, text):
        assert table.seconds_text(seconds) == text


class TestComparison:
    def test_the_same_run_has_no_change(self):
        run = run_of(result_of())
        text = comparison.compare(run, run)
        assert "better: none" in text
        assert "worse: none" in text

    def test_changes_beyond_noise_are_flagged(self):
        old = run_of(result_of("a"), result_of("b"), result_of("c"), result_of("d", spread=0.4))
        new = run_of(
            result_of("a", ours=0.5),
            result_of("b", ours=2.0),
            result_of("c", ours=0.93),  # clear, but such things happen
            result_of("d", ours=0.7, spread=0.4),  # within the spread
        )
        text = comparison.compare(old, new)
        assert "better: a (our time), a (ratio to peer)" in text
        assert "worse: b (our time), b (ratio to peer)" in text
        changes = comparison.pair(old, new)
        assert changes[0].time().factor == pytest.approx(2.0)
        before, after, change = changes[0].ratios()["peer"]
        assert (before.median, after.median) == pytest.approx((2.0, 4.0))
        assert change.factor == pytest.approx(2.0)
        assert changes[2].time().verdict == ""
        # All rounds of d have the same ratio, so that one is sure; the times are not.
        assert changes[3].time().verdict == ""
        assert changes[3].ratios()["peer"][2].verdict == "better"

    def test_a_slow_machine_changes_times_but_no_ratios(self):
        old, new = run_of(result_of()), run_of(result_of(ours=2.0, peer=4.0))
        change = comparison.pair(old, new)[0]
        assert change.time().verdict == "worse"
        assert change.ratios()["peer"][2].verdict == ""

    @pytest.mark.parametrize("disturbed", [(0.5, 0.0), (0.0, 0.5)])
    def test_changes_that_may_be_of_others_are_marked(self, disturbed):
        old, new = (
            run_of(result_of(ours=t, others=o)) for t, o in zip((1, 2), disturbed, strict=True)
        )
        text = comparison.compare(old, new)
        assert "worse: none" in text
        assert "worse?: toy (our time), toy (ratio to peer)" in text

    def test_few_rounds_flag_nothing(self):
        old, new = (run_of(result_of(ours=t, n=3), rounds=3) for t in (1.0, 9.0))
        text = comparison.compare(old, new)
        assert "worse: none" in text
        assert "to flag a change the old run needs 5 rounds at least" in text

    def test_an_interval_holds_the_quotients(self):
        above, below = runner.Estimate(6.0, 5.0, 8.0, 0.96), runner.Estimate(2.0, 1.0, 4.0, 0.94)
        assert comparison.quotient(above, below) == comparison.Change(3.0, 1.25, 8.0, 0.94)

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (result_of("else"), "no case in common"),
            (result_of(sizes={"n": 8}), "sizes"),
            (result_of(peer_name="rival"), "contestants"),
        ],
    )
    def test_other_work_is_refused(self, other, message):
        with pytest.raises(comparison.IncomparableError, match=message):
            comparison.compare(run_of(result_of()), run_of(other))

    def test_other_circumstances_are_noted(self):
        old = run_of(result_of(), result_of("gone"))
        faster = old.facts["machine"] | {"processor": "Difference Engine"}
        new = run_of(
            result_of(),
            failures=[Failure("gone", "burst")],
            machine=faster,
            isa="avx512",
            threads=1,
            environment={"OPENBLAS_CORETYPE": "Haswell"},
            git=None,
        )
        text = comparison.compare(old, new)
        for note in (
            "other machine: Babbage, 2 of 4 cores -> Difference Engine",
            "other ISA variant: avx2 -> avx512",
            "other threads: 2 -> 1",
            "other environment: nothing special -> OPENBLAS_CORETYPE=Haswell",
            "a change reveals little of the code",
            "gone failed in the new run: burst",
            "only in the old run: gone",
            "new: no commit",
        ):
            assert note in text
        assert "other rounds" not in text
        assert "NOTE: other" not in comparison.compare(old, old)


class TestMachine:
    def test_facts(self):
        facts = machine.describe(1)
        assert facts["machine"]["processor"]
        assert 1 <= facts["machine"]["usable_cores"] <= facts["machine"]["cores"]
        assert facts["versions"]["numpy"] == np.__version__
        assert {library["kind"] for library in facts["libraries"]} >= {"blas"}
        assert all(library["threads"] == 1 for library in facts["libraries"])
        json.dumps(facts, allow_nan=False)

    def test_a_foreign_kernel_is_warned_of(self):
        facts = run_of(environment={"OPENBLAS_CORETYPE": "Haswell"}).facts
        (warning,) = machine.warnings_about(facts)
        assert "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python -m bench" in warning
        assert "Haswell" in warning

    def test_both_sides_may_be_held_to_the_same_isa_variant(self):
        held = {"OPENBLAS_CORETYPE": "Haswell", "GEGENBAUER_ISA": "avx2"}
        assert machine.warnings_about(run_of(environment=held).facts) == []

    def test_what_else_is_warned_of(self):
        facts = run_of(threads=8, load_average=3.0).facts
        threads, library, load = machine.warnings_about(facts)
        assert "8 threads share 2 cores" in threads
        assert "openblas uses 2 threads, not 8" in library
        assert "load average 3.0" in load
        assert machine.warnings_about(run_of().facts) == []

    def test_the_higher_peak_counts(self):
        low = [{"threads": 1, "flops": 1.0, "read_bandwidth": 9.0}]
        high = [{"threads": 1, "flops": 2.0, "read_bandwidth": 3.0}]
        assert machine.best_peaks(low, high) == [
            {"threads": 1, "flops": 2.0, "read_bandwidth": 9.0}
        ]

    def test_commit(self, tmp_path, monkeypatch):
        def git(*arguments):
            identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
            subprocess.run(
                ["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True
            )

        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        try:
            assert machine.git_state(tmp_path) is None
            git("init")
        except FileNotFoundError:
            pytest.skip("git is not installed")
        assert machine.git_state(tmp_path) is None  # no commit yet
        (tmp_path / "inner").mkdir()
        source = tmp_path / "inner" / "source"
        source.write_text("one")
        git("add", "--all")
        git("commit", "-m", "first")
        state = machine.git_state(tmp_path)
        assert len(state["commit"]) == 40
        assert state == {"commit": state["commit"], "modified": False, "changes": None}
        (tmp_path / "results.json").touch()
        assert machine.git_state(tmp_path) == state
        digests = set()
        for text in ("two", "three"):
            source.write_text(text)
            now = machine.git_state(tmp_path)
            assert now["commit"] == state["commit"]
            assert now["modified"]
            digests.add(now["changes"])
        assert len(digests) == 2
        assert machine.git_state(tmp_path / "inner") is None  # a source distribution in there

    def test_without_git(self, monkeypatch):
        monkeypatch.setenv("PATH", "")
        assert machine.git_state() is None


class TestCommand:
    def main(self, *arguments, cases=None):
        arguments = [str(argument) for argument in arguments]
        return command.main(arguments, *([] if cases is None else [cases]))

    def test_list(self):
        done = subprocess.run(
            [sys.executable, "-m", "bench", "--list"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert [line.split()[0] for line in done.stdout.splitlines()] == NAMES

    def test_selection(self, capsys):
        assert (
            self.main("--list", "--filter", "gram-*", "--filter", "iris", "--case", "predict") == 0
        )
        names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        chosen = [name for name in NAMES if name.startswith("gram-") or "iris" in name]
        assert names == [*chosen, "predict"]

    @pytest.mark.parametrize("option", ["--case", "--filter"])
    def test_unknown_cases(self, capsys, option):
        assert self.main(option, "no-such-case") == 2
        error = capsys.readouterr().err
        assert "no-such-case" in error
        assert "fit-iris" in error

    @pytest.mark.parametrize("option", ["--rounds", "--threads"])
    @pytest.mark.parametrize("value", ["0", "-1", "many"])
    def test_wrong_numbers(self, capsys, option, value):
        with pytest.raises(SystemExit) as caught:
            self.main(option, value)
        assert caught.value.code == 2
        assert "whole number" in capsys.readouterr().err

    def test_results_that_cannot_be_kept(self, capsys, tmp_path):
        assert self.main("--json", tmp_path / "nowhere" / "run.json") == 2
        assert "does not exist" in capsys.readouterr().err
        assert self.main("--json", tmp_path) == 2

    def test_a_failing_case_does_not_stop_the_others(self, world, capsys, tmp_path):
        def burst():
            raise RuntimeError("burst")

        a, b, wrong = (
            world.contestant("a", 1.0),
            world.contestant("b", 1.0),
            world.contestant("wrong", 1.0, result=5.0),
        )
        cases = [
            case_of(a, wrong, name="disagrees"),
            case_of(Contestant("a", "", burst), b, name="bursts"),
            case_of(a, b, name="fine"),
        ]
        path = tmp_path / "run.json"
        status = self.main("--quick", "--threads", 1, "--rounds", 5, "--json", path, cases=cases)
        assert status == 1
        out = capsys.readouterr().out
        assert "disagrees: FAILED, not timed: results disagree: wrong: value: 4" in out
        assert "bursts: FAILED, not timed: RuntimeError: burst" in out
        run = results.read(path)
        assert [case.name for case in run.cases] == ["fine"]
        assert [failure.name for failure in run.failures] == ["disagrees", "bursts"]
        assert world.diary.count("wrong") == 1
        assert run.settings["rounds"] == len(run.cases[0].ours.seconds) == 5

    def test_a_run_is_gone_on_with(self, world, tmp_path):
        cases = [case_of(world.contestant("a", 1.0), world.contestant("b", 1.0))]
        command_line = ["--quick", "--threads", 1, "--json", tmp_path / "run.json"]
        assert self.main(*command_line, cases=cases) == 0
        runs = world.diary.count("a")
        assert runs > 0
        assert self.main(*command_line, cases=cases) == 0
        assert world.diary.count("a") == runs
        assert self.main(*command_line, "--no-resume", cases=cases) == 0
        assert world.diary.count("a") == 2 * runs

    def test_an_interrupt_keeps_what_is_done(self, world, capsys):
        def interrupt():
            raise KeyboardInterrupt

        a, b = world.contestant("a", 1.0), world.contestant("b", 1.0)
        cases = [case_of(a, b), case_of(Contestant("a", "", interrupt), b, name="second")]
        assert self.main("--quick", "--threads", 1, cases=cases) == 130
        out = capsys.readouterr().out
        assert "toy (n=4)" in out
        assert "Interrupted" in out

    def test_results_are_printed_as_they_come(self, world, capsys):
        """A run that is killed has shown all that it had found."""
        printed = []

        def look():
            printed.append(capsys.readouterr().out)

        a, b = world.contestant("a", 1.0), world.contestant("b", 1.0)
        cases = [
            case_of(a, b),
            case_of(Contestant("a", "", lambda: 1 / 0), b, name="broken"),
            case_of(Contestant("a", "", look), b, name="third"),
        ]
        self.main("--quick", "--threads", 1, cases=cases)
        before = printed[0]
        assert before.count("Median of the rounds") == 1
        assert "toy (n=4)" in before
        assert "broken: FAILED" in before
        assert "third" not in before
        after = "".join(printed[1:]) + capsys.readouterr().out
        assert "Slower than a peer" in after
        assert "toy (n=4)" not in after

    def test_compare(self, capsys, tmp_path):
        for name, ours in (("old", 1.0), ("new", 0.5)):
            results.write(run_of(result_of(ours=ours)), tmp_path / f"{name}.json")
        results.write(run_of(result_of(sizes={"n": 1})), tmp_path / "other.json")
        old, new, other = (tmp_path / f"{name}.json" for name in ("old", "new", "other"))
        assert self.main("--compare", old, new) == 0
        assert "better: toy (our time), toy (ratio to peer)" in capsys.readouterr().out
        assert self.main("--compare", old, other) == 2
        assert "not the same case" in capsys.readouterr().err
        assert self.main("--compare", old, tmp_path / "none.json") == 2
        assert "none.json" in capsys.readouterr().err


def spoil(result, rng):
    """Change a result by a part in a million: numbers, weights, or a model that holds some."""
    if isinstance(result, np.ndarray):
        return result * (1 + 1e-6 * rng.standard_normal(result.shape))
    if isinstance(result, reference.Network):
        return result._replace(weights=spoil(result.weights, rng))
    if isinstance(result, Pipeline):
        spoil(result[-1], rng)
        return result
    if isinstance(result, Ridge):
        result.coef_ = spoil(result.coef_, rng)
        return result
    if isinstance(result, RidgeSolution):
        return dataclasses.replace(result, weights=spoil(result.weights, rng))
    if isinstance(result, tuple):
        return result[0], spoil(result[1], rng)
    found = result.expansion_
    wrong = dataclasses.replace(found, coef=spoil(found.coef, rng))
    if isinstance(result, StreamEstimator):
        result._solution = result._solution._replace(expansion=wrong)
    else:
        result.expansion_ = wrong
    return result


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_checks_notice_wrong_results(case, rng):
    contest = case.build(n_threads=1, **case.quick)
    results, _ = runner._first_runs(contest)
    assert all(agreement.holds for agreement in contest.check(results))
    for name, result in results.items():
        wrong = {**results, name: spoil(copy.deepcopy(result), rng)}
        assert not all(agreement.holds for agreement in contest.check(wrong)), name


@pytest.mark.slow  # all cases are built and checked above; this runs them three times
def test_quick_run_of_all_cases(tmp_path, capsys):
    path = tmp_path / "run.json"
    status = command.main(["--quick", "--threads", "1", "--json", str(path)])
    printed = capsys.readouterr()
    assert status == 0, printed.out
    run = results.read(path)
    assert [case.name for case in run.cases] == NAMES
    for case in run.cases:
        assert case.agreements
        assert case.ours.name == "ours"
        assert case.peers
        assert all(len(timing.seconds) == 3 for timing in case.timings)
        assert f"{case.name} (" in printed.out
        # Whoever times scikit-learn has checked something of its result.
        named = {agreement.what.split(":")[0] for agreement in case.agreements}
        assert {peer.name for peer in case.peers} <= named
    assert {case.name for case in run.cases if case.flops} == {
        name
        for name in NAMES
        if name.startswith(("gram", "kernel-float32", "threads", "cholesky", "solve"))
    }
    assert [peak["threads"] for peak in run.peaks] == [1]
    assert run.peak_flops() > 0
    assert comparison.compare(run, run)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read on Linux")
class TestStreaming:
    def test_measures_in_a_process_of_its_own(self, monkeypatch):
        ours = streaming.measure(streaming.OURS, 4000, 6, 30, n_threads=1)
        sgd, folds = (
            streaming.learn(who, n, 6, 30, 1)
            for who, n in ((streaming.SGD, 500), (streaming.FOLDS, 4000))
        )
        assert folds["choosing"] > 0 == sgd["choosing"]
        for one in (ours, sgd, folds):
            assert one["seconds"] > 0
            assert 0.5 < one["score"] <= 1
            assert one["peak"] > one["resident_before"] > 1e7
        monkeypatch.setattr(streaming, "SETTINGS", {"small": (6, 30)})
        here = [streaming.learn(streaming.OURS, n, 6, 30, 1) for n in (500, 1000)]
        text = streaming.report([*here, ours, sgd, folds], 1)
        assert "| m = 6, L = 30 | gegenbauer, 5 folds | 1 | 4,000 |" in text
        assert "| m = 6, L = 30 | gegenbauer | 1 | 4,000 |" in text
        assert "- small, 1 thread(s): seconds grow as rows^" in text

    def test_from_files(self, tmp_path):
        n_rows = streaming.make_files(tmp_path, 3.2e7, 4)
        assert n_rows == 800_000
        found = streaming.learn_files(str(tmp_path), 29, 1)
        assert (found["n_rows"], found["m"]) == (n_rows, 4)
        assert found["score"] > 0.7

    def test_rows_are_the_same_each_time(self):
        for a, b in zip(streaming.batch(3, 6, 50), streaming.batch(3, 6, 50), strict=True):
            np.testing.assert_array_equal(a, b)
        stream = streaming.Stream(250_000, 3)
        assert [len(y) for _, y in stream] == [100_000, 100_000, 50_000]
