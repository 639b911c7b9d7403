"""The report of the benchmarks: goals, runs that go on, sweeps, memory, text and plots."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bench_samples import World, case_of, result_of, run_of, settings

from bench import goals, memory, peers, recorder, results, runner, scaling, sweeps, table
from bench.cases import CASES
from bench.recorder import OtherRunError, Recorder
from bench.report import __main__ as command
from bench.report.document import MEMORY, Parts, document, title
from bench.runner import PEAK, CaseResult, Contestant, DeclinedError, Failure, Timing

ROOT = Path(__file__).parents[2]
S_SWEEP = sweeps.SWEEPS[0]


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


@pytest.fixture
def still(monkeypatch):
    """A machine that is described and measured in no time."""
    facts = run_of().facts
    monkeypatch.setattr(recorder.machine, "describe", lambda n_threads: dict(facts))
    peak = {"threads": 2, "flops": 1e10, "read_bandwidth": 8e9}
    monkeypatch.setattr(recorder.machine, "measure_peaks", lambda n, quick: [dict(peak)])
    return facts


def with_goals(result, **least):
    return dataclasses.replace(result, goals={**result.goals, **least})


class TestGoals:
    def test_of_a_peer_and_of_the_peak(self):
        # theirs / ours = 2; 1e9 flops in 1 s of a peak of 1e10
        run = run_of(with_goals(result_of(), peer=2.5, **{PEAK: 0.08}))
        missed, met = run.outcomes()
        assert (missed.against, missed.goal, missed.met) == ("peer", 2.5, False)
        assert (missed.found, missed.of_best) == pytest.approx((2.0, 2.0))
        assert missed.verdict == "MISSED by 20.0%"
        assert (met.against, met.of_best, met.verdict) == (PEAK, None, "met")
        assert met.found == pytest.approx(0.1)

    def test_a_goal_that_is_reached_exactly_is_met(self):
        (outcome,) = run_of(with_goals(result_of(), peer=2.0)).outcomes()
        assert outcome.met

    def test_json_and_table_report_it(self):
        run = run_of(with_goals(result_of(), peer=2.5, **{PEAK: 0.08}), result_of("free"))
        data = json.loads(json.dumps(results.to_json(run)))
        assert data["cases"][0]["goals"] == {"peer": 2.5, PEAK: 0.08}
        assert [outcome["met"] for outcome in data["cases"][0]["outcomes"]] == [False, True]
        assert data["cases"][1]["outcomes"] == []
        assert results.from_json(data) == run
        text = table.render(run)
        assert "goal: 2.50 against peer, found 2.00 (fastest calls 2.00): MISSED by 20.0%" in text
        assert "goal: 0.0800 of the peak, found 0.100: met" in text
        assert "Goals missed, of 2: toy / peer by 20.0%" in text
        assert "Goals missed" not in table.render(run_of(result_of()))

    def test_files_from_before_goals_can_be_read(self):
        data = results.to_json(run_of(result_of()))
        del data["cases"][0]["goals"], data["cases"][0]["absent"], data["cases"][0]["outcomes"]
        assert results.from_json(data) == run_of(result_of())

    @pytest.mark.parametrize("case", [case for case in CASES if case.goals], ids=lambda c: c.name)
    def test_goals_name_peers_of_their_case(self, case):
        contest = case.build(n_threads=1, **case.quick)
        peers_of_it = {c.name for c in contest.contestants[1:]}
        assert set(case.goals) <= peers_of_it | ({PEAK} if contest.flops else set())
        assert all(goal > 0 for goal in case.goals.values())

    def test_findings_are_of_cases(self):
        found = goals.findings()
        assert set(found) <= {case.name for case in CASES} | {MEMORY}
        assert all(isinstance(text, str) and text.strip() for text in found.values())


class TestDeclining:
    def decline(self):
        raise DeclinedError("no hands")

    def test_a_peer_may(self, world):
        case = case_of(
            world.contestant("ours", 1.0), Contestant("peer", "", self.decline), tolerance=1.0
        )
        case = dataclasses.replace(case, build=partial(self.without_check, case.build))
        result = runner.run_case(case, settings())
        assert [timing.name for timing in result.timings] == ["ours"]
        assert result.absent == {"peer": "no hands", "rival": "not installed"}
        assert "takes no part: peer: no hands" in table.render(run_of(result, result_of()))

    @staticmethod
    def without_check(build, **sizes):
        contest = build(**sizes)
        absent = {"rival": "not installed"}
        return dataclasses.replace(contest, check=lambda _: [], absent=absent)

    def test_ours_may_not(self, world):
        case = case_of(Contestant("ours", "", self.decline), world.contestant("peer", 1.0))
        with pytest.raises(DeclinedError):
            runner.run_case(case, settings())


class TestRecorder:
    def cases(self, world, *, second=None):
        a, b = world.contestant("a", 1.0), world.contestant("b", 2.0)
        run = world.contestant("c", 1.0).run if second is None else second
        return [case_of(a, b, name="first"), case_of(Contestant("c", "", run), b, name="second")]

    def test_goes_on_after_an_interrupt(self, world, still, tmp_path):
        def interrupt():
            raise KeyboardInterrupt

        path = tmp_path / "run.json"
        one = Recorder(settings(), path)
        first, second = self.cases(world, second=interrupt)
        done = one.run(first)
        with pytest.raises(KeyboardInterrupt):
            one.run(second)
        kept = results.read(path)
        assert kept.cases == (done,)
        assert kept.interrupted

        world.diary.clear()
        two = Recorder(settings(), path)
        assert [two.run(case).name for case in self.cases(world)] == ["first", "second"]
        assert "a" not in world.diary
        assert "c" in world.diary
        run = two.finish()
        assert run == results.read(path)
        assert run.cases[0] == done
        assert not run.interrupted

    def test_what_failed_is_run_again(self, world, still, tmp_path):
        def burst():
            raise RuntimeError("burst")

        path = tmp_path / "run.json"
        one = Recorder(settings(), path)
        found = [one.run(case) for case in self.cases(world, second=burst)]
        assert [type(result) for result in found] == [CaseResult, Failure]
        assert [failure.reason for failure in one.finish().failures] == ["RuntimeError: burst"]
        two = Recorder(settings(), path)
        assert all(type(two.run(case)) is CaseResult for case in self.cases(world))
        assert two.finish().failures == ()

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"git": {"commit": "feed", "modified": False, "changes": None}}, "git"),
            ({"git": {"commit": "c0ffee", "modified": True, "changes": "0123"}}, "git"),
            ({"isa": "avx512"}, "isa"),
            ({"environment": {"OPENBLAS_CORETYPE": "Haswell"}}, "environment"),
        ],
    )
    def test_other_circumstances_are_refused(self, world, still, tmp_path, change, named):
        path = tmp_path / "run.json"
        Recorder(settings(), path).finish()
        still.update(change)
        with pytest.raises(
            OtherRunError, match=f"another run.*{named}.*write elsewhere.*--no-resume"
        ):
            Recorder(settings(), path)
        Recorder(settings(), path, resume=False)  # is replaced

    def test_other_settings_are_refused(self, world, still, tmp_path):
        path = tmp_path / "run.json"
        Recorder(settings(), path).finish()
        with pytest.raises(OtherRunError, match="settings"):
            Recorder(settings(rounds=7), path)


class TestScaling:
    @pytest.mark.parametrize("power", [0.0, 1.0, 1.5, 3.0])
    def test_a_power_law_has_its_exponent(self, power):
        sizes = [10, 30, 100, 300, 1000]
        found = scaling.exponent(sizes, [2e-6 * size**power for size in sizes])
        assert found.value == pytest.approx(power, abs=1e-12)
        assert found.error == pytest.approx(0.0, abs=1e-12)
        assert (found.low, found.high) == (100, 1000)  # from the geometric mean up

    def test_the_error_is_that_of_a_regression(self, rng):
        sizes = np.geomspace(10, 1000, 40)
        seconds = sizes**2 * np.exp(0.1 * rng.standard_normal(40))
        found = scaling.exponent(sizes.tolist(), seconds.tolist())
        x, y = np.log(sizes[20:]), np.log(seconds[20:])
        (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
        residual = y - np.polyval(np.polyfit(x, y, 1), x)
        error = math.sqrt(covariance[0, 0] * (residual @ residual) / 18)
        assert (found.value, found.error) == pytest.approx((slope, error), rel=1e-9)

    def test_constant_costs_below_do_not_count(self):
        sizes = [10, 20, 1000, 2000, 4000]
        found = scaling.exponent(sizes, [1.0, 1.0, 1.0, 2.0, 4.0])
        assert found.value == pytest.approx(1.0)

    def test_few_points(self):
        assert scaling.exponent([5], [1.0]) is None
        found = scaling.exponent([5, 10], [1.0, 4.0])
        assert (found.value, found.error) == (pytest.approx(2.0), None)
        assert str(found) == "2.00"

    def test_series(self):
        late, early = point(100, absent={"b": "too slow", "c": "not there"}), point(10)
        early = dataclasses.replace(early, absent={"c": "not there"})
        late = dataclasses.replace(late, timings=late.timings[:1])
        ours, b = scaling.series([late, early], "S")
        assert (ours.name, ours.sizes, ours.ends) == ("ours", (10, 100), "")
        assert ours.medians == pytest.approx((10e-3, 100e-3))
        assert (b.sizes, b.ends) == ((10,), "at S = 100: too slow")
        assert scaling.never([late, early]) == {"c": "not there"}


def point(S, *, absent=None, ours=1e-3, other=4e-3, name="b"):
    """A point of the sweep of S, with times proportional to S."""
    sizes = {"S": S, "m": 4, "L": 495, "K": 1}
    result = result_of(f"S={S}", sizes=sizes)
    timings = tuple(
        Timing(who, "", 1, (0.9 * t * S, t * S, 1.1 * t * S), 0.9 * t * S)
        for who, t in (("ours", ours), (name, other))
    )
    return dataclasses.replace(result, timings=timings, absent=absent or {})


class TestSweeps:
    def test_ranges(self):
        by_name = {sweep.variable: sweep for sweep in sweeps.SWEEPS}
        assert list(by_name) == ["S", "L", "m", "K"]
        for variable, sweep in by_name.items():
            sizes = [p.sizes[variable] for p in sweep.points]
            assert sizes == sorted(set(sizes))
            others = [{**p.sizes, variable: 0, "L": 0} for p in sweep.points]
            assert all(other == others[0] for other in others)
        assert [by_name["S"].points[at].S for at in (0, -1)] == [1000, 10**7]
        assert [by_name["L"].points[at].L for at in (0, -1)] == [126, 3876]
        assert {p.L for p in by_name["m"].points} <= set(range(210, 253))
        assert [by_name["m"].points[at].m for at in (0, -1)] == [2, 20]
        assert [by_name["K"].points[at].K for at in (0, -1)] == [1, 30]

    def test_predicted_times(self):
        known = [point(10), point(100)]
        assert sweeps.predicted_seconds([], "b", "S", 1000) == 0.0
        assert sweeps.predicted_seconds(known[:1], "b", "S", 1000) == pytest.approx(3.6)
        assert sweeps.predicted_seconds(known, "b", "S", 1000) == pytest.approx(3.6)
        cubic = [point(10, other=1e-4), point(100, other=1e-2)]
        assert sweeps.predicted_seconds(cubic, "b", "S", 1000) == pytest.approx(900.0)

    def test_refusals(self, monkeypatch):
        monkeypatch.setattr(
            peers.Peer, "missing", property(lambda peer: "gone" * (peer.name == "GFDL"))
        )
        budget = sweeps.Budget(seconds=3.0, n_bytes=1e9)
        earlier = [point(1000, name="numpy", other=1e-3)]
        reason = sweeps.refusals(sweeps.Point(10_000, 4, 8, 1), "S", earlier, budget, peak=1e11)
        assert reason("ours", 9e9) == ""
        assert reason("scikit-learn", 0.5e9) == ""
        assert reason("GFDL", 0.0) == "gone"
        assert "2 GB" in reason("scikit-learn", 2e9)
        assert reason("numpy", 0.0) == "would take some 9 s, over 3 s"
        assert "S^3 / 3" in reason("ours, dual", 0.0)

    @pytest.mark.parametrize(
        ("name", "error", "declined"),
        [
            ("ours, dual", ValueError("not for this basis"), True),
            ("ours, dual", TypeError("a mistake"), False),
            ("numpy", TypeError("a mistake"), True),
        ],
    )
    def test_refusals_of_ours_are_no_faults(self, name, error, declined):
        def refuse():
            raise error

        with pytest.raises(DeclinedError if declined else type(error), match=str(error)):
            sweeps._declining(Contestant(name, "", refuse)).run()

    def test_an_engine_that_gives_way_takes_no_part(self, monkeypatch):
        solve = sweeps.solve_ridge
        monkeypatch.setattr(
            sweeps,
            "solve_ridge",
            lambda *a, engine, **rest: solve(*a, engine="primal", **rest),
        )
        problem = sweeps.data(S_SWEEP.quick[0])
        for engine in ("auto", "primal"):
            assert sweeps._ours(problem, engine, 1).weights.shape == (10, 1)
        with pytest.raises(DeclinedError, match="gave way to 'primal'"):
            sweeps._ours(problem, "dual", 1)

    def test_all_ways_are_there(self):
        problem = sweeps.data(S_SWEEP.quick[0])
        names = [contestant.name for contestant, _ in sweeps.contestants(problem, 1)]
        assert names[: len(sweeps.our_names())] == sweeps.our_names()
        assert names[0] == "ours"
        assert {"ours, primal", "ours, dual", "ours, estimator", "numpy", "GFDL"} <= set(names)

    @pytest.mark.parametrize("n_outputs", [1, 3])
    @pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
    def test_checks_of_peers_notice_wrong_weights(self, peer, n_outputs):
        if peer.missing:
            pytest.skip(peer.missing)
        problem = sweeps.data(sweeps.Point(100, 3, 2, n_outputs))
        linear = peer.open(peer.fit(problem))
        assert all(a.holds for a in peers.check(peer.name, linear, problem))
        spoilt = dataclasses.replace(linear, weights=np.asarray(linear.weights) * (1 + 1e-6))
        assert not all(a.holds for a in peers.check(peer.name, spoilt, problem))

    def test_checks_need_not_hold_all_features(self, monkeypatch):
        problem = sweeps.data(sweeps.Point(100, 3, 2, 1))
        numpy = peers.PEERS[0]
        linear = numpy.open(numpy.fit(problem))
        whole = peers.check("numpy", linear, problem)
        seen = []

        def features(X):
            seen.append(len(X))
            return linear.features(X)

        monkeypatch.setattr(peers, "BLOCK_BYTES", 8 * 10 * 30)
        parts = peers.check("numpy", peers.Linear(features, linear.weights), problem)
        assert seen == [30, 30, 30, 10]
        assert all(a.holds for a in [*whole, *parts])


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


class TestMemory:
    @needs_linux
    def test_an_array_is_seen(self, monkeypatch):
        size = 40_000_000
        grow = Contestant("ours", "", lambda: np.ones(size // 8))
        monkeypatch.setattr(memory, "contestants", lambda problem, n: [(grow, 0.0)])
        try:
            found = memory.peak_bytes_of("ours", memory.QUICK, 1)
        except memory.UnsupportedError as error:
            pytest.skip(str(error))
        assert found == pytest.approx(size, rel=0.1)

    @needs_linux
    def test_in_a_fresh_process(self):
        try:
            found = memory.measure("ours", memory.QUICK, 1)
        except memory.UnsupportedError as error:
            pytest.skip(str(error))
        assert 0 <= found < memory.GOAL

    @needs_linux
    def test_the_error_of_a_process_is_passed_on(self):
        with pytest.raises(memory.UnsupportedError, match="ValueError"):
            memory.measure("nobody", memory.QUICK, 1)

    def test_elsewhere_it_is_unsupported(self, monkeypatch, tmp_path):
        monkeypatch.setattr(memory, "STATUS", tmp_path / "none")
        with pytest.raises(memory.UnsupportedError, match="on Linux only"):
            memory.peak_bytes_of("ours", memory.QUICK, 1)

    def test_other_circumstances_are_refused(self, monkeypatch, tmp_path):
        path, found = tmp_path / "memory.json", [memory.Use("ours", {"L": 3}, 5.0)]
        memory.write(found, {"quick": True}, path)
        assert memory.read(path) == memory.read(path, {"quick": True}) == found
        with pytest.raises(OtherRunError, match="other settings"):
            memory.read(path, {"quick": False})
        monkeypatch.setattr(memory, "git_state", lambda: {"commit": "feed", "modified": False})
        with pytest.raises(OtherRunError, match="another commit"):
            memory.read(path, {"quick": True})

    def test_peers_are_extrapolated(self, monkeypatch):
        def measure(name, point, n_threads):
            if name == "GFDL":
                raise memory.UnsupportedError("not there")
            return 1000 + 16 * point.S * (name != "ours") + point.L

        monkeypatch.setattr(memory, "measure", measure)
        found = memory.uses(1, sweeps.Budget(n_bytes=0.0))
        assert (found[0].name, found[0].sizes["L"], found[0].n_bytes) == ("ours", 924, 1924)
        uses = {use.name: use for use in found[1:]}
        assert uses["ours"].n_bytes == 1000 + 462
        assert uses["numpy"].n_bytes == 16_001_462
        assert uses["numpy"].note == "extrapolated from 50,000 and 100,000 rows"
        assert (uses["GFDL"].n_bytes, uses["GFDL"].note) == (None, "not there")


def runs_with_goals():
    cases = [with_goals(result_of("toy"), peer=2.5), with_goals(result_of("good"), peer=1.5)]
    return run_of(*cases), run_of(*cases[:1], isa="avx512")


class TestDocument:
    def test_missed_goals_are_explained(self):
        run, other = runs_with_goals()
        use = memory.Use("ours", {"S": 9, "L": 600}, 150e6)
        text = document(Parts([run, other], uses=[use], why={"toy": "Too short a lever."}))
        assert f"| case | against | goal | {title(run)} | {title(other)} |" in text
        missed = "2.00 (2.00): MISSED by 20.0%"
        assert f"| toy | peer | 2.50 | {missed} | {missed} |" in text
        assert "| good | peer | 1.50 | 2.00 (2.00): met | not run |" in text
        section = text.split("### Missed, and why")[1].split("![")[0]
        toy, memory_line = section.strip().splitlines()
        assert toy.startswith("- **toy** / peer: avx2 (BLAS: Haswell): MISSED by 20.0%;")
        assert toy.endswith("Too short a lever.")
        assert memory_line.startswith(f"- **{MEMORY}**: 150.0 MB with 600 terms: MISSED by 50.0%")
        assert memory_line.endswith("The reason is not known.")
        for shown in (run, other):
            assert f"```\n{chr(10).join(table.body(shown)).strip()}\n```" in text

    def test_the_machine_is_described_once(self):
        run, other = runs_with_goals()
        text = document(Parts([run, other], sweeps=run_of(point(10), rounds=5)))
        assert text.count("Babbage, 2 of 4 cores") == 1
        # of further runs only what is not the same
        assert text.count("gegenbauer's ISA variant avx2") == text.count("ISA variant avx512") == 1
        assert text.count("9 rounds") == text.count("5 rounds") == 1
        first, second, third = text.split("## Goals")[0].split("```")[1::2]
        assert first.strip().splitlines() == list(table.head(run))
        assert second.strip() == "gegenbauer's ISA variant avx512; 2 thread(s) for everybody"
        assert third.strip().endswith("; 5 rounds")

    def test_nothing_missed(self):
        run = run_of(with_goals(result_of(), peer=1.0))
        assert "### Missed, and why\n\nNone.\n" in document(Parts([run]))

    def test_sweeps(self):
        gone = {"GFDL": "not there"}
        points = [point(10, absent=gone), point(100, absent=gone)]
        last = point(1000, absent={**gone, "b": "too slow"})
        points.append(dataclasses.replace(last, timings=last.timings[:1]))
        text = document(Parts(sweeps=run_of(*points)))
        assert "![Time against S](sweep-S.svg)" in text
        assert "| ours | 1.00 ± 0.00 | 10 to 1,000 | 1,000 | 1.00 s |  |  |" in text
        assert "| b | 1.00 | 10 to 100 | 100 | 400 ms | 4.00 | at S = 1,000: too slow |" in text
        assert "| GFDL |  |  | none |  |  | not there |" in text
        assert "sweep-L" not in text


class TestPlots:
    @pytest.fixture
    def plots(self):
        pytest.importorskip("matplotlib")
        from bench.report import plots

        return plots

    def test_a_sweep(self, plots):
        points = [point(S, name="numpy") for S in (10, 100, 1000)]
        last = point(10_000, absent={"numpy": "needs 9 GB"})
        points.append(dataclasses.replace(last, timings=last.timings[:1], others=0.3))
        (axes,) = plots.sweep_figure(S_SWEEP, points, run_of(*points)).axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "S (rows)"
        assert "seconds" in axes.get_ylabel()
        assert "m = 4, L = 495, K = 1" in axes.get_title()
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels[:2] == ["ours: 1.00 ± 0.00", "numpy: 1.00 ± 0.00"]
        assert len(labels) == 4
        assert labels[2].startswith("S L² flops at 10 GFLOP/s")
        assert labels[3].startswith("X read once at 9 GB/s")
        ours, numpy = (container.lines[0] for container in axes.containers)
        assert ours.get_xdata().tolist() == [10, 100, 1000, 10_000]
        assert ours.get_ydata() == pytest.approx([1e-2, 1e-1, 1.0, 10.0])
        assert numpy.get_ydata() == pytest.approx([4e-2, 4e-1, 4.0])
        lines = {line.get_label(): line for line in axes.lines}
        assert lines[labels[2]].get_ydata()[0] == pytest.approx(10 * 495**2 / 1e10)
        assert lines[labels[3]].get_ydata()[0] == pytest.approx(10 * 4 * 8 / 9e9)
        (end,) = (line for line in axes.lines if line.get_marker() == "x")
        assert (end.get_xdata()[0], end.get_ydata()[0]) == (1000, pytest.approx(4.0))
        notes = axes.figure.get_supxlabel()
        assert "numpy ends at S = 10,000: needs 9 GB" in notes
        assert "other programs took 10% of the processors or more at S = 10,000" in notes

    def test_cases(self, plots):
        run, other = runs_with_goals()
        figure = plots.cases_figure({title(run): run, title(other): other})
        (axes,) = figure.axes
        assert [t.get_text() for t in axes.get_yticklabels()] == ["toy / peer", "good / peer"]
        first, second = (container.lines[0] for container in axes.containers)
        assert first.get_xdata() == pytest.approx([2.0, 2.0])
        assert second.get_xdata() == pytest.approx([2.0])
        (goal,) = (line for line in axes.lines if line.get_label() == "goal")
        assert np.asarray(goal.get_xdata()).tolist() == [2.5, 1.5]

    def test_files_are_the_same_each_time(self, plots, tmp_path):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            points = [point(S) for S in (10, 100)]
            points = [dataclasses.replace(p, timings=p.timings[:1]) for p in points]
            figure = plots.sweep_figure(S_SWEEP, points, run_of(*points))
            assert plots.save(figure, tmp_path / folder, "plot").name == "plot.svg"
        a, b = ((tmp_path / folder / "plot.svg").read_text(encoding="utf-8") for folder in "ab")
        assert a == b
        assert "<dc:date>" not in a
        assert ">Whole fits, from X and Y to the weights" in a  # text is text, not outlines

    def test_contestants_look_different(self, plots):
        names = [*sweeps.our_names(), *(peer.name for peer in peers.PEERS)]
        looks = [tuple(plots.style(name).values())[:3] for name in names]
        assert len(set(looks)) == len(names)


class TestCommand:
    @pytest.mark.slow
    def test_quick_report(self, monkeypatch, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr(memory, "measure", lambda name, point, n_threads: 1000)
        cases = tmp_path / "cases.json"
        results.write(runs_with_goals()[0], cases)
        folder = tmp_path / "report"
        arguments = [str(folder), "--quick", "--threads", "1", "--cases", str(cases)]
        assert command.main([*arguments, "--sweep", "S"]) == 0, capsys.readouterr().err
        kept = results.read(folder / "sweeps.json")
        assert [case.name for case in kept.cases] == ["S=20", "S=50", "S=120"]
        for case in kept.cases:
            there = {timing.name for timing in case.timings}
            assert {"ours", "numpy", "scikit-learn"} <= there
            everybody = {*sweeps.our_names(), *(peer.name for peer in peers.PEERS)}
            assert there | set(case.absent) == everybody
        files = {"report.md", "memory.json", "sweeps.json", "cases.svg", "sweep-S.svg"}
        assert {path.name for path in folder.iterdir()} == files
        text = (folder / "report.md").read_text(encoding="utf-8")
        assert "QUICK" in text
        assert "**toy** / peer" in text

        capsys.readouterr()
        assert command.main([*arguments, "--sweep", "S"]) == 0  # goes on: nothing is left to do
        assert capsys.readouterr().err.count("is there") == 3
        text = (folder / "report.md").read_text(encoding="utf-8")  # peaks may have been higher
        (folder / "report.md").unlink()
        assert command.main([str(folder), "--read", "--cases", str(cases)]) == 0
        assert (folder / "report.md").read_text(encoding="utf-8") == text

    def test_without_matplotlib(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert command.main([str(tmp_path / "report"), "--read"]) == 2
        assert "matplotlib: pip install --group bench" in capsys.readouterr().err
        assert not (tmp_path / "report").exists()

    def test_wrong_files(self, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        assert command.main([str(tmp_path), "--read", "--cases", str(tmp_path / "none")]) == 2
        assert "none" in capsys.readouterr().err
