"""Batches: the same rows from arrays, Parquet and CSV files, and one clear error for bad ones."""

from __future__ import annotations

import decimal
import itertools
import mmap
import multiprocessing.shared_memory
import os
import pickle
import subprocess
import sys
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from gegenbauer import GegenbauerRegressor
from gegenbauer.batches import ArrayBatches, TableBatches, as_batches
from gegenbauer.cli.messages import data_rows
from gegenbauer.errors import Rows, StreamError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(n_rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.standard_normal(n_rows),
            "b": rng.integers(0, 9, n_rows),
            "y": np.array(["no", "yes", "who, me"], dtype=object)[rng.integers(0, 3, n_rows)],
        }
    )


def write(frame: pd.DataFrame, name: str, **options) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".csv"):
        frame.to_csv(name, index=False, **options)
    else:
        frame.to_parquet(name, index=False, **options)


def write_folder(ending: str, lengths=(250, 0, 130, 77)) -> pd.DataFrame:
    """Write files into the folder "data"; return all of their rows."""
    parts = [table(n_rows, seed) for seed, n_rows in enumerate(lengths)]
    for number, part in enumerate(parts):
        options = {"row_group_size": 40} if ending == "parquet" else {}
        write(part, f"data/part-{number}.{ending}", **options)
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def refused(*arguments, read: bool = True, **options) -> str:
    """Read batches that cannot be read, or cannot even be looked at; return the error."""

    def use() -> None:
        source = TableBatches(*arguments, **options)
        assert read
        list(source.start())

    with pytest.raises(StreamError) as caught:
        use()
    return str(caught.value)


def assert_same(batches, others) -> None:
    for batch, other in itertools.zip_longest(batches, others):
        assert batch.where == other.where
        assert np.array_equal(batch.X, other.X)
        assert np.array_equal(batch.y, other.y)
        assert (batch.sample_weight is None) == (other.sample_weight is None)
        if batch.sample_weight is not None:
            assert np.array_equal(batch.sample_weight, other.sample_weight)


def test_errors_carry_their_rows(folder):
    """Counted from 0, which their text notes; the command line counts from 1."""
    write(pd.DataFrame({"a": [1.0, np.nan], "y": [1, 2]}), "t.csv")
    with pytest.raises(StreamError) as caught:
        list(TableBatches("t.csv", "y").start())
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        where = error.where
        assert (where.source, where.first, where.last) == ("t.csv", 1, 1)
        assert str(error) == f"row 1 of t.csv (counted from 0): {error.reason}"
        assert error.reason.startswith("column 'a' holds no value (blank, ")
        assert where.counted_from(1) == "row 2 of t.csv"
        assert data_rows(where) == "data row 2 of t.csv (header not counted)"
    assert str(StreamError("no rows", Rows("t.csv"))) == "t.csv: no rows"
    assert str(StreamError("it is gone")) == "it is gone"


# ---- arrays --------------------------------------------------------------------------


class TestArrays:
    def test_slices(self, rng):
        X, y, weight = rng.random((25, 3)), rng.random(25), rng.random(25)
        source = ArrayBatches(X, y, weight, batch_size=10)
        assert source.n_rows == 25
        batches = list(source.start())
        assert [batch.where for batch in batches] == [
            "rows 0 to 9", "rows 10 to 19", "rows 20 to 24"
        ]  # fmt: skip
        assert np.array_equal(np.concatenate([batch.X for batch in batches]), X)
        assert np.array_equal(np.concatenate([batch.y for batch in batches]), y)
        assert np.array_equal(np.concatenate([b.sample_weight for b in batches]), weight)
        assert all(np.shares_memory(batch.X, X) for batch in batches)
        assert list(source.start(3)) == []
        assert_same(source.start(2), batches[2:])

    def test_default_is_65536_rows(self):
        source = ArrayBatches(np.zeros((65537, 1)), np.zeros(65537))
        assert [len(batch.y) for batch in source.start()] == [65536, 1]

    def test_tables_and_lists(self):
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
        source = ArrayBatches(frame, pd.Series(["u", "v", "w"], index=[7, 8, 9]), batch_size=2)
        batches = list(source.start())
        assert batches[0].X.columns.tolist() == ["a"]
        assert [batch.y.tolist() for batch in batches] == [["u", "v"], ["w"]]
        assert len(list(ArrayBatches([[1.0], [2.0]], [1, 2], batch_size=1).start())) == 2

    @pytest.mark.parametrize("mode", ["r", "r+", "c"])
    def test_memory_map(self, folder, rng, mode):
        X = rng.random((1000, 4))
        np.save("X.npy", X)
        mapped = np.load("X.npy", mmap_mode=mode)
        if mode == "c":
            mapped[0, 0] = X[0, 0] = 5.0  # in memory alone, and not to be lost
        source = ArrayBatches(mapped, np.zeros(1000), batch_size=300)
        for _ in range(2):
            assert np.array_equal(np.concatenate([batch.X for batch in source.start()]), X)

    @pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="POSIX only")
    @pytest.mark.parametrize(
        "kind",
        ["anonymous", "shared", "copy", "private", "file", "read", "shared memory",
         "memmap r", "memmap r+", "memmap w+", "memmap c", "view of memmap c", "buffer"],
    )  # fmt: skip
    def test_no_memory_is_lost(self, folder, rng, kind):
        """What was written into a map is there after it was read as batches, again and again."""
        n = 4096
        values = rng.random((n, 2))
        Path("X").write_bytes(values.tobytes())
        written = True
        shared, file = None, os.open("X", os.O_RDWR)
        if kind in ("anonymous", "shared", "buffer"):
            flags = mmap.MAP_ANONYMOUS | (mmap.MAP_SHARED if kind == "shared" else mmap.MAP_PRIVATE)
            root = mmap.mmap(-1, values.nbytes, flags=flags)
            X = np.ndarray((n, 2), buffer=root)
            if kind == "buffer":
                X = np.frombuffer(memoryview(root)).reshape(n, 2)
        elif kind == "shared memory":
            shared = multiprocessing.shared_memory.SharedMemory(create=True, size=values.nbytes)
            X = np.ndarray((n, 2), buffer=shared.buf)
        elif "memmap" in kind:
            X = np.memmap("X", mode=kind.split()[-1], shape=(n, 2), dtype=float)
            X = np.asarray(X)[:] if kind.startswith("view") else X
            written = X.flags.writeable
        elif kind == "private":
            root = mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE)
            X = np.ndarray((n, 2), buffer=root)
        else:
            access = {"copy": mmap.ACCESS_COPY, "file": mmap.ACCESS_WRITE, "read": mmap.ACCESS_READ}
            root = mmap.mmap(file, 0, access=access[kind])
            X = np.ndarray((n, 2), buffer=root)
            written = kind != "read"
        if written:
            values += 10
            X[:] = values
        y = X[:, 0]
        source = ArrayBatches(X, y, batch_size=300)
        for _ in range(2):
            batches = list(source.start())
            assert np.array_equal(np.concatenate([batch.X for batch in batches]), values)
            assert np.array_equal(np.concatenate([batch.y for batch in batches]), values[:, 0])
        model = GegenbauerRegressor(n_terms=3).fit_stream(source)
        assert model.scaling_.lower.tolist() == values.min(axis=0).tolist()
        assert np.array_equal(X, values)
        os.close(file)
        if shared is not None:
            del X, y, source, batches
            shared.close()
            shared.unlink()

    @pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux only")
    def test_memory_map_is_given_back(self, folder):
        """Else a file larger than memory would look like a process that is."""
        code = """
import numpy as np
from pathlib import Path
from gegenbauer.batches import ArrayBatches

def mapped():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile:"))

np.save("X.npy", np.ones((1_000_000, 8)))  # 64 MB
X = np.load("X.npy", mmap_mode="r")
before, most = mapped(), 0
for batch in ArrayBatches(X, np.zeros(len(X)), batch_size=100_000).start():
    assert batch.X.sum() == batch.X.size
    most = max(most, mapped() - before)
print(most)
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert int(done.stdout) < 20_000  # kB, of 6400 a batch and what the system reads ahead

    def test_fingerprint(self, rng):
        X, y = rng.random((100, 2)), rng.random(100)

        def mark(X, y, n=2, **options):
            return ArrayBatches(X, y, **{"batch_size": 30, **options}).fingerprint(n)

        first = mark(X, y)
        assert first == mark(X.copy(), y)
        assert first == mark(np.vstack([X, X]), np.concatenate([y, y]))  # rows appended
        assert len({first, mark(X, y, 1), mark(X, y, batch_size=31), mark(X, y + 1), mark(X + 1, y),
                    mark(X.astype(np.float32), y), mark(X[:, :1], y),
                    mark(X, y, sample_weight=y)}) == 8  # fmt: skip

    @pytest.mark.parametrize(
        ("X", "y", "weight", "message"),
        [
            ([1.0, 2.0], [1, 2], None, r"X must be a matrix .* got shape \(2,\); a single input"),
            ([[1.0], [2.0]], [1], None, "y must have one entry for each of the 2 rows of X"),
            ([[1.0], [2.0]], [1, 2], [1.0], "sample_weight must have one entry for each"),
            ([[1.0], [2.0]], [1, 2], 1.0, "sample_weight must have one entry for each"),
            (np.zeros((0, 2)), [], None, "X must have at least one row"),
            ([[1.0]], None, None, "y must hold the targets"),
        ],
    )
    def test_refuses(self, X, y, weight, message):
        with pytest.raises(ValueError, match=message):
            ArrayBatches(X, y, weight)

    def test_refuses_sizes(self):
        with pytest.raises(ValueError, match="`batch_size` must be at least 1"):
            ArrayBatches([[1.0]], [1], batch_size=0)
        with pytest.raises(ValueError, match="`n_batches` must be at least 0"):
            ArrayBatches([[1.0]], [1]).start(-1)


# ---- iterables -----------------------------------------------------------------------


class TestIterables:
    @staticmethod
    def items(n=4):
        return [(np.full((k + 1, 2), k), np.full(k + 1, k)) for k in range(n)]

    def test_rows_are_named(self):
        batches = list(as_batches(self.items()).start())
        assert [batch.where for batch in batches] == [
            "batch 0 (row 0)", "batch 1 (rows 1 to 2)", "batch 2 (rows 3 to 5)",
            "batch 3 (rows 6 to 9)",
        ]  # fmt: skip
        assert [batch.y.tolist() for batch in batches] == [[0], [1, 1], [2, 2, 2], [3, 3, 3, 3]]

    def test_rows_of_unknown_number(self):
        batches = as_batches([(iter([]), 1), ([[0.0]], 1)]).start()
        assert [batch.where for batch in batches] == ["batch 0", "batch 1"]

    def test_weights(self):
        items = [([[0.0]], [1], [0.5]), [[[0.0]], [1]]]
        batches = list(as_batches(items).start())
        assert [batch.sample_weight for batch in batches] == [[0.5], None]

    def test_skips(self):
        everything = list(as_batches(self.items()).start())
        for n in range(6):
            assert_same(as_batches(self.items()).start(n), everything[n:])
            assert_same(as_batches(iter(self.items())).start(n), everything[n:])

    def test_lists_begin_again(self):
        source = as_batches(self.items())
        assert_same(source.start(), source.start())

    def test_generators_do_not(self):
        source = as_batches(iter(self.items()))
        next(source.start())
        with pytest.raises(StreamError, match=r"batch 0 is gone: a generator .* yields each batch"):
            source.start()
        assert next(source.start(2)).where == "batch 2 (rows 3 to 5)"

    def test_fingerprint_before_and_after(self):
        """One that resumes takes it before it reads, and no batch may be lost by that."""
        running = as_batches(iter(self.items()))
        batches = running.start()
        marks = [running.fingerprint(0)]
        for _ in batches:
            marks.append(running.fingerprint(len(marks)))
        assert len(set(marks)) == 5
        for n, mark in enumerate(marks):
            for again in (as_batches(iter(self.items())), as_batches(self.items())):
                assert again.fingerprint(n) == mark
                assert len(list(again.start(n))) == 4 - n
        assert as_batches(self.items()[::-1]).fingerprint(2) != marks[2]

    @pytest.mark.parametrize(
        ("item", "what"), [(np.zeros((2, 2)), "ndarray"), ((1,), "tuple of 1"), (None, "NoneType")]
    )
    def test_refuses_items(self, item, what):
        batches = as_batches([(np.zeros((2, 2)), np.zeros(2)), item]).start()
        next(batches)
        with pytest.raises(TypeError, match=rf"batch 1 must be a tuple \(X, y\) .* got {what}$"):
            next(batches)

    @pytest.mark.parametrize(
        ("value", "advice"),
        [
            ((np.zeros((2, 2)), np.zeros(2)), r"got tuple: pass ArrayBatches\(X, y\) for arrays"),
            (np.zeros((2, 2)), r"got ndarray: pass ArrayBatches\(X, y\), which takes memory maps"),
            (pd.DataFrame({"a": [1]}), r"pass ArrayBatches\(table\[inputs\], table\[target\]\)"),
            ("t.csv", r"got str: pass TableBatches\(paths, target='name of a column'\)"),
            (Path("t.csv"), "pass TableBatches"),
            ({1: 2}, "got dict: pass ArrayBatches, TableBatches or an iterable of tuples"),
            (7, "got int: pass ArrayBatches, TableBatches or an iterable of tuples"),
        ],
    )
    def test_refuses_values(self, value, advice):
        with pytest.raises(TypeError, match=advice):
            as_batches(value)

    def test_sources_pass(self):
        source = ArrayBatches([[1.0]], [1])
        assert as_batches(source) is source
        other = as_batches([])
        assert as_batches(other) is other


# ---- tables --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "csv"])
class TestTables:
    def test_all_rows_in_order(self, folder, ending):
        expected = write_folder(ending)
        source = TableBatches("data", "y", batch_size=100)
        assert source.inputs == ("a", "b")
        assert source.files == tuple(f"part-{k}.{ending}" for k in range(4))
        assert source.n_rows == (457 if ending == "parquet" else None)
        batches = list(source.start())
        assert source.n_rows == 457
        assert [batch.where for batch in batches] == [
            f"rows {rows} of part-{number}.{ending}"
            for number, rows in [(0, "0 to 99"), (0, "100 to 199"), (0, "200 to 249"),
                                 (2, "0 to 99"), (2, "100 to 129"), (3, "0 to 76")]
        ]  # fmt: skip
        X = pd.concat([batch.X for batch in batches], ignore_index=True)
        pd.testing.assert_frame_equal(X, expected[["a", "b"]].astype(float), check_exact=True)
        y = np.concatenate([batch.y for batch in batches])
        assert y.dtype == object
        assert y.tolist() == expected["y"].tolist()
        # What the estimators read without a copy.
        assert all(batch.X.to_numpy().flags.f_contiguous for batch in batches)

    def test_from_any_batch_on(self, folder, ending):
        write_folder(ending)
        source = TableBatches("data", "y", batch_size=100)
        everything = list(source.start())
        for n in range(8):
            fresh = TableBatches("data", "y", batch_size=100)
            assert_same(fresh.start(n), everything[n:])
            assert_same(source.start(n), everything[n:])

    @hypothesis.given(
        lengths=st.lists(st.integers(0, 12), min_size=1, max_size=4).filter(any),
        batch_size=st.integers(1, 15),
        data=st.data(),
    )
    @hypothesis.settings(max_examples=25)
    def test_boundaries_do_not_depend_on_the_start(
        self, tmp_path_factory, ending, lengths, batch_size, data
    ):
        place = tmp_path_factory.mktemp("any")
        for number, n_rows in enumerate(lengths):
            options = {} if ending == "csv" else {"row_group_size": data.draw(st.integers(1, 5))}
            write(table(n_rows, number), f"{place}/{number}.{ending}", **options)
        source = TableBatches(place, "y", batch_size=batch_size)
        everything = list(source.start())
        expected = [-(-n_rows // batch_size) for n_rows in lengths]
        assert len(everything) == sum(expected)
        assert sum(len(batch.y) for batch in everything) == sum(lengths)
        n = data.draw(st.integers(0, len(everything) + 1))
        assert_same(TableBatches(place, "y", batch_size=batch_size).start(n), everything[n:])

    def test_fingerprint(self, folder, ending):
        write_folder(ending)

        def source(**options):
            return TableBatches("data", "y", **{"batch_size": 100, **options})

        running = source()
        marks = [running.fingerprint(0)]
        for _ in running.start():
            marks.append(running.fingerprint(len(marks)))
        assert len(set(marks)) == 7
        for n, mark in enumerate(marks):
            assert source().fingerprint(n) == mark
        assert source(batch_size=99).fingerprint(1) != marks[1]
        assert source(ignore=["b"]).fingerprint(1) != marks[1]
        write(table(5), f"data/part-9.{ending}")
        assert source().fingerprint(6) == marks[6]
        # of the file that was begun, what was read counts: the rest may be repaired
        write(table(131, 2), f"data/part-2.{ending}")
        assert source().fingerprint(3) == marks[3]
        assert source().fingerprint(6) != marks[6]
        begun = table(131, 2)
        begun.loc[120, "b"] = 7.0
        write(begun, f"data/part-2.{ending}")
        first_of_it = source().fingerprint(4)
        begun.loc[125, "b"] = 9.0
        write(begun, f"data/part-2.{ending}")
        assert source().fingerprint(4) == first_of_it
        assert source().fingerprint(6) != first_of_it

    def test_which_files(self, folder, ending):
        for name in ("b", "a/z", "a/c/x", ".hidden", "_temporary/x", "a/_SUCCESS"):
            write(table(3), f"data/{name}.{ending}")
        Path("data/notes.txt").touch()
        names = [f"{name}.{ending}" for name in ("a/c/x", "a/z", "b")]
        assert list(TableBatches("data", "y").files) == names
        assert list(TableBatches(Path("data"), "y").files) == names
        several = TableBatches([f"data/b.{ending}", Path("data/a")], "y")
        assert list(several.files) == [f"data/{name}.{ending}" for name in ("b", "a/c/x", "a/z")]
        assert TableBatches(f"data/b.{ending}", "y").files == (f"b.{ending}",)
        Path("data/notes.txt").unlink()  # a dataset would take it for a table
        data = pa.dataset.dataset("data", format=ending)
        dataset = TableBatches(data, "y")
        assert sorted(dataset.files) == names
        with pytest.raises(TypeError, match="pass TableBatches"):
            as_batches(data)

    def test_choice_of_columns(self, folder, ending):
        frame = table(20).assign(w=np.arange(20), y2=np.arange(20) / 7)
        write(frame, f"t.{ending}")
        source = TableBatches(f"t.{ending}", "y2", ignore=["y"], sample_weight="w")
        (batch,) = source.start()
        assert batch.X.columns.tolist() == ["a", "b"]
        assert np.array_equal(batch.y, frame["y2"])
        assert np.array_equal(batch.sample_weight, np.arange(20.0))
        (batch,) = TableBatches(f"t.{ending}", "y", inputs=["w", "a"]).start()
        assert np.array_equal(batch.X, frame[["w", "a"]])
        assert batch.sample_weight is None

    def test_order_of_columns_may_differ(self, folder, ending):
        write(table(5), f"data/1.{ending}")
        write(table(5)[["y", "b", "a"]], f"data/2.{ending}")
        first, second = TableBatches("data", "y").start()
        pd.testing.assert_frame_equal(first.X, second.X)
        assert np.array_equal(first.y, second.y)

    @pytest.mark.parametrize(
        ("values", "as_labels", "dtype"),
        [
            ([3, 1, 2], None, np.int64),
            ([3, 1, 2], True, np.int64),
            ([3, 1, 2], False, np.float64),
            ([0.5, 1.0, 2.0], None, np.float64),
            ([0.0, 1.0, 2.0], True, np.float64),
            ([True, False, True], None, bool),
            ([True, False, True], False, np.float64),
            (["u", "v", "w"], None, object),
            (["1", "True", "0.5"], None, object),
        ],
    )
    def test_types_of_targets(self, folder, ending, values, as_labels, dtype):
        write(pd.DataFrame({"a": [0.5, 1.5, 2.5], "y": values}), f"t.{ending}")
        (batch,) = TableBatches(f"t.{ending}", "y", as_labels=as_labels).start()
        assert batch.y.dtype == dtype
        assert batch.y.tolist() == values

    def test_true_and_false_are_one_and_zero(self, folder, ending):
        write(pd.DataFrame({"a": [True, False], "y": [0.5, 1.5]}), f"t.{ending}")
        (batch,) = TableBatches(f"t.{ending}", "y").start()
        assert batch.X["a"].tolist() == [1.0, 0.0]

    def test_whole_and_decimal_numbers_are_numbers(self, folder, ending):
        """One file happens to hold whole numbers only."""
        write(pd.DataFrame({"a": [1, 2], "y": [1, 2]}), f"data/1.{ending}")
        write(pd.DataFrame({"a": [0.5, 2.5], "y": [0.5, 1.5]}), f"data/2.{ending}")
        first, second = TableBatches("data", "y", as_labels=False).start()
        assert (first.y.tolist(), second.y.tolist()) == ([1.0, 2.0], [0.5, 1.5])
        assert (first.X["a"].tolist(), second.X["a"].tolist()) == ([1.0, 2.0], [0.5, 2.5])

    # ---- refusals --------------------------------------------------------------------

    def test_missing_column_in_one_file(self, folder, ending):
        write(table(9), f"data/1.{ending}")
        write(table(7).rename(columns={"a": "A "}), f"data/2.{ending}")
        assert refused("data", "y", read=False) == (
            f"2.{ending}: there is no column 'a' as in 1.{ending}; did you mean 'A '?"
        )

    def test_new_column_in_one_file(self, folder, ending):
        write(table(9), f"data/1.{ending}")
        write(table(7).assign(new=1.0), f"data/2.{ending}")
        assert f"there is no column 'new' as in 2.{ending}; name it in `ignore`" in refused(
            "data", "y", read=False
        )
        assert len(list(TableBatches("data", "y", ignore=["b"], inputs=["a"]).start())) == 2

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": "ys"}, "there is no column 'ys' for `target`; did you mean 'y'?"),
            (
                {"target": "species"},
                "there is no column 'species' for `target`; it has 'a', 'b', 'y'",
            ),
            (
                {"target": "y", "inputs": ["a", "bb"]},
                "no column 'bb' for `inputs`; did you mean 'b'?",
            ),
            ({"target": "y", "ignore": ["z"]}, "there is no column 'z' for `ignore`; it has"),
            ({"target": "y", "sample_weight": "z"}, "there is no column 'z' for `sample_weight`"),
            ({"target": "y", "ignore": ["y"]}, "'y' is both `target` and in `ignore`; give it"),
            ({"target": "y", "inputs": ["a", "a"]}, "column 'a' is used twice"),
            ({"target": "y", "inputs": ["a", "y"]}, "column 'y' is used twice"),
            ({"target": "y", "sample_weight": "y"}, "column 'y' is used twice"),
            ({"target": "y", "ignore": ["a", "b"]}, "t.*: no column is left as an input"),
            (
                {"target": "y", "separator": "ab"},
                "`separator` must be one character of ASCII, got 'ab'",
            ),
            ({"target": "y", "batch_size": 0}, "`batch_size` must be at least 1, got 0"),
        ],
    )
    def test_wrong_options(self, folder, ending, options, message):
        write(table(9), f"t.{ending}")
        with pytest.raises(ValueError, match=message):
            TableBatches(f"t.{ending}", **options)

    def test_names_not_a_name(self, folder, ending):
        write(table(9), f"t.{ending}")
        with pytest.raises(
            TypeError, match=r"`inputs` must be a sequence of names, got a str: \['a"
        ):
            TableBatches(f"t.{ending}", "y", inputs="a")

    def test_inputs_that_are_no_numbers(self, folder, ending):
        write(table(4).assign(day=["Monday"] * 4), f"t.{ending}")
        assert refused(f"t.{ending}", "y", read=False) == (
            f"row 0 of t.{ending} (counted from 0): column 'day' holds text, such as 'Monday', and "
            "an input must hold numbers; make it numbers, take text for categories by "
            "`mixed=True`, or leave the column out by "
            "`ignore=['day']`"
        )

    def test_target_for_regression(self, folder, ending):
        write(table(4), f"t.{ending}")
        assert "column 'y', the target, holds text" in refused(
            f"t.{ending}", "y", as_labels=False, read=False
        )

    def test_decimal_classes(self, folder, ending):
        write(pd.DataFrame({"a": [1, 2, 3], "y": [1.0, 2.0, 2.5]}), f"t.{ending}")
        assert refused(f"t.{ending}", "y", as_labels=True) == (
            f"row 2 of t.{ending} (counted from 0): column 'y', the target, holds 2.5, which "
            "is no class; a regressor takes decimal numbers"
        )

    @pytest.mark.parametrize("column", ["a", "b", "y", "w"])
    def test_missing_values(self, folder, ending, column):
        frame = table(250).assign(w=1.0)
        write(frame, f"data/1.{ending}")
        frame.loc[217, column] = None
        write(frame, f"data/2.{ending}")
        assert refused("data", "y", sample_weight="w", batch_size=100) == (
            f"row 217 of 2.{ending} (counted from 0): column '{column}' holds no value (blank, NA, "
            "None or the like); repair or remove the row"
            + f", or leave the column out by `ignore=['{column}']`"
            * (column in "ab")
        )

    def test_missing_values_elsewhere_do_not_matter(self, folder, ending):
        write(table(9).assign(gap=[np.nan, *[0.5] * 8]), f"t.{ending}")
        assert len(list(TableBatches(f"t.{ending}", "y", ignore=["gap"]).start())) == 1

    def test_infinity(self, folder, ending):
        write(pd.DataFrame({"a": [1.0, -np.inf], "y": [1, 2]}), f"t.{ending}")
        assert refused(f"t.{ending}", "y").startswith(
            f"row 1 of t.{ending} (counted from 0): column 'a' holds infinity; repair or "
            "remove the row"
        )

    def test_columns_of_one_name(self, folder, ending):
        if ending == "csv":
            Path("t.csv").write_text("a,a,y\n1,2,3\n")
        else:
            columns = [pa.array([1.0]), pa.array([2.0]), pa.array([3.0])]
            pq.write_table(pa.Table.from_arrays(columns, ["a", "a", "y"]), "t.parquet")
        assert "there are several columns 'a'; give every column a name of its own" in refused(
            f"t.{ending}", "y", read=False
        )

    def test_no_rows_at_all(self, folder, ending):
        for number in range(2):
            write(table(0), f"data/{number}.{ending}")
        assert refused("data", "y", read=False) == (
            f"0.{ending}: no rows, nor in the 1 others; a table needs one row a sample"
        )

    def test_empty_file(self, folder, ending):
        Path(f"t.{ending}").touch()
        assert refused(f"t.{ending}", "y", read=False).startswith(f"t.{ending}")

    def test_no_such_file(self, folder, ending):
        with pytest.raises(FileNotFoundError, match=f"t.{ending} does not exist; check the path"):
            TableBatches(f"t.{ending}", "y")

    def test_same_file_twice(self, folder, ending):
        write(table(3), f"data/t.{ending}")
        with pytest.raises(ValueError, match="is given twice, and its rows would count twice"):
            TableBatches(["data", f"data/../data/t.{ending}"], "y")


class TestPlaces:
    def test_empty_folder(self, folder):
        with pytest.raises(
            ValueError, match=r"the folder .* holds no files that end in \.csv, \.tsv, \.jsonl"
        ):
            TableBatches(folder, "y")
        with pytest.raises(ValueError, match="`paths` is empty"):
            TableBatches([], "y")

    def test_other_endings(self, folder):
        Path("t.txt").touch()
        with pytest.raises(ValueError, match=r"t\.txt must end in \.csv, \.tsv, \.jsonl"):
            TableBatches("t.txt", "y")

    def test_mixed_formats(self, folder):
        write(table(3), "data/1.csv")
        write(table(3), "data/2.parquet")
        with pytest.raises(ValueError, match=r"all of one format, got 1\.csv and 2\.parquet"):
            TableBatches("data", "y")

    def test_neither_path_nor_dataset(self):
        with pytest.raises(TypeError, match=r"`paths` must be a file, a folder, .* got int"):
            TableBatches(7, "y")

    def test_dataset_in_memory(self):
        with pytest.raises(ValueError, match="a dataset must be of Parquet, Arrow, CSV or JSON"):
            TableBatches(pa.dataset.dataset(pa.table({"a": [1.0], "y": [1.0]})), "y")

    @pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
    def test_without_the_extra(self, missing):
        code = (
            f"import sys; sys.modules[{missing!r}] = None; "
            "from gegenbauer.batches import ArrayBatches, TableBatches; "
            "list(ArrayBatches([[1.0]], [1]).start()); TableBatches('t.csv', 'y')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert "run pip install 'gegenbauer[table]'" in done.stderr.splitlines()[-1]


class TestParquet:
    def test_types_of_inputs(self, folder):
        n = 20
        frame = pd.DataFrame(
            {
                "nullable": pd.array([1, 2] * 10, dtype="Int32"),
                "small": np.arange(n, dtype=np.int8),
                "half": np.arange(n, dtype=np.float16),
                "decimal": [decimal.Decimal(k) / 8 for k in range(n)],
                "category": pd.Categorical([5, 7] * 10),
                "dotted.name": np.arange(n) / 4,
                "dotted": np.arange(n) / 2,
                "y": pd.Categorical(["u", "v"] * 10),
            }
        )
        write(frame, "t.parquet")
        (batch,) = TableBatches("t.parquet", "y").start()
        assert set(batch.X.dtypes) == {np.dtype(float)}
        assert batch.X.to_numpy().tolist() == frame.iloc[:, :-1].astype(float).to_numpy().tolist()
        assert batch.y.tolist() == ["u", "v"] * 10
        (batch,) = TableBatches("t.parquet", "y", inputs=["dotted"]).start()
        assert batch.X["dotted"].tolist() == frame["dotted"].tolist()
        (batch,) = TableBatches("t.parquet", "category", ignore=["y"]).start()
        assert batch.y.dtype == np.int64
        assert batch.y.tolist() == [5, 7] * 10

    @pytest.mark.parametrize("name", [None, "id"])
    def test_index_of_pandas_is_no_input(self, folder, name):
        """As it is none when pandas reads the file."""
        frame = table(9).sample(frac=1, random_state=0).rename_axis(name)
        frame.to_parquet("t.parquet")
        assert len(pq.read_schema("t.parquet").names) == 4
        assert TableBatches("t.parquet", "y").inputs == ("a", "b")
        frame.to_parquet("data.parquet", index=False)
        both = TableBatches(["t.parquet", "data.parquet"], "y")
        first, second = both.start()
        assert np.array_equal(first.X, second.X)

    def test_single_precision_stays(self, folder):
        frame = table(9)[["a", "y"]].astype({"a": np.float32})
        write(frame, "data/1.parquet")
        (batch,) = TableBatches("data", "y").start()
        assert batch.X["a"].dtype == np.float32
        write(frame.astype({"a": np.float64}), "data/2.parquet")
        assert {b.X["a"].dtype for b in TableBatches("data", "y").start()} == {np.dtype(float)}

    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            (np.array([2**63 + 5, 1], dtype=np.uint64), np.uint64),
            (np.array([200, 1], dtype=np.uint8), np.int64),
            (np.array([0.5, 1], dtype=np.float32), np.float64),
        ],
    )
    def test_types_of_targets(self, folder, values, dtype):
        write(pd.DataFrame({"a": [1.0, 2.0], "y": values}), "t.parquet")
        (batch,) = TableBatches("t.parquet", "y").start()
        assert batch.y.dtype == dtype
        assert batch.y.tolist() == values.tolist()

    @pytest.mark.parametrize(
        ("column", "values", "message"),
        [
            ("a", ["1"] * 3, "column 'a' holds text, but numbers in 1.parquet"),
            ("a", pd.to_datetime(["2026-01-01"] * 3), "holds dates or times, but numbers in 1.par"),
            ("y", [1] * 3, "column 'y' holds numbers, but text in 1.parquet"),
            ("y", [True] * 3, "column 'y' holds true and false, but text in 1.parquet"),
            ("b", [None] * 3, "'b' has no values; fill it, or leave the column out by "),
            ("b", [[1]] * 3, "column 'b' holds lists or objects"),
        ],
    )
    def test_types_that_change(self, folder, column, values, message):
        write(table(3), "data/1.parquet")
        write(table(3).drop(columns=column).assign(**{column: values}), "data/2.parquet")
        error = refused("data", "y", read=False)
        assert error.startswith("2.parquet: ")
        assert message in error

    def test_target_of_another_kind(self, folder):
        frame = table(3).assign(day=pd.to_datetime(["2026-01-01"] * 3))
        write(frame, "t.parquet")
        assert refused("t.parquet", "day", ignore=["y"], read=False) == (
            "t.parquet: column 'day', the target, holds dates or times; choose a "
            "column of text, numbers, or true and false"
        )

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
    def test_truncated(self, folder, share):
        write(table(100), "data/1.parquet")
        write(table(100), "data/2.parquet")
        whole = Path("data/2.parquet").read_bytes()
        Path("data/2.parquet").write_bytes(whole[: int(share * len(whole))])
        error = refused("data", "y", read=False)
        assert error.startswith("2.parquet: cannot be read: ")
        assert error.endswith(
            "the file may be truncated, damaged or of another kind: write it anew"
        )

    def test_damaged(self, folder):
        """What comes before it is read, and the error names the rest."""
        write(table(100_000), "t.parquet", row_group_size=20_000, compression="zstd")
        group = pq.read_metadata("t.parquet").row_group(3).column(0)
        data = bytearray(Path("t.parquet").read_bytes())
        begin = group.dictionary_page_offset or group.data_page_offset
        data[begin : begin + 2000] = bytes(2000)
        Path("t.parquet").write_bytes(data)
        batches = TableBatches("t.parquet", "y", batch_size=10_000).start()
        read = [next(batches).where for _ in range(6)]
        assert read[-1] == "rows 50000 to 59999 of t.parquet"
        with pytest.raises(
            StreamError, match=r"^rows 60000 on of t\.parquet \(counted from 0\): cannot be read: "
        ):
            next(batches)

    def test_file_that_changes_while_it_is_read(self, folder):
        write(table(100), "t.parquet")
        source = TableBatches("t.parquet", "y")
        write(table(60), "t.parquet")
        with pytest.raises(StreamError, match=r"rows 60 on of t\.parquet .* should have 100 rows"):
            list(source.start())

    def test_groups_of_rows_before_the_start_are_not_read(self, folder):
        write(table(1000), "t.parquet", row_group_size=100)
        metadata = pq.read_metadata("t.parquet")
        data = bytearray(Path("t.parquet").read_bytes())
        end = metadata.row_group(4).column(0).file_offset or (
            metadata.row_group(4).column(0).data_page_offset
        )
        data[4:end] = bytes(end - 4)
        Path("t.parquet").write_bytes(data)
        source = TableBatches("t.parquet", "y", batch_size=100)
        batches = list(source.start(5))
        assert [len(batch.y) for batch in batches] == [100] * 5
        assert np.array_equal(batches[0].X["a"], table(1000)["a"][500:600])


class TestCsv:
    def test_as_pandas_reads_it(self, folder):
        text = '\ufeff\na, b ,"c\nd", y\r\n1, 2.5,3 ,"u, v"\r\n\r\n-1e3,inf,0, w\r\n'
        Path("t.csv").write_bytes(text.encode().replace(b"inf", b"7"))
        (batch,) = TableBatches("t.csv", "y").start()
        expected = pd.read_csv("t.csv", skipinitialspace=True)
        assert batch.X.columns.tolist() == expected.columns.tolist()[:3] == ["a", "b ", "c\nd"]
        assert batch.X.to_numpy().tolist() == [[1.0, 2.5, 3.0], [-1000.0, 7.0, 0.0]]
        assert batch.y.tolist() == expected["y"].tolist() == ["u, v", "w"]

    def test_columns_without_a_name(self, folder):
        table(5).to_csv("t.csv")
        assert TableBatches("t.csv", "y").inputs == ("Unnamed: 0", "a", "b")

    @pytest.mark.parametrize("separator", [";", "\t", "|"])
    def test_separator(self, folder, separator):
        write(table(9), "t.csv", sep=separator)
        (batch,) = TableBatches("t.csv", "y", separator=separator).start()
        assert np.array_equal(batch.X, table(9)[["a", "b"]])
        assert refused("t.csv", "y", read=False).endswith(f"; give `separator={separator!r}`")

    @pytest.mark.parametrize("word", ["NA", "", "None", "nan", "null", "N/A", '""'])
    def test_missing_values(self, folder, word):
        Path("t.csv").write_text(f"a,y\n1,u\n{word},v\n")
        assert refused("t.csv", "y").startswith(
            "row 1 of t.csv (counted from 0): column 'a' holds no value (blank,"
        )
        Path("t.csv").write_text(f"a,y\n1,u\n2,{word}\n")
        assert refused("t.csv", "y").startswith(
            "row 1 of t.csv (counted from 0): column 'y' holds no value (blank,"
        )

    def test_first_rows_that_lack_values(self, folder):
        Path("t.csv").write_text("a,b,y\n,1,u\n,2,v\n")
        assert refused("t.csv", "y").startswith(
            "row 0 of t.csv (counted from 0): column 'a' holds no value (blank,"
        )
        (batch,) = TableBatches("t.csv", "y", ignore=["a"]).start()
        assert batch.X["b"].tolist() == [1.0, 2.0]

    def test_text_in_a_later_row(self, folder, monkeypatch):
        """Beyond the rows by which the types are chosen."""
        monkeypatch.setattr("gegenbauer.batches.csv_text._BLOCK", 4096)
        lines = [f"{k / 8},{k},{k % 2}" for k in range(3000)]
        for number, message in [
            (0, "column 'a' holds 'x', but numbers in rows before; give it one type in all rows"),
            (1, "column 'b' holds 'x', but numbers in rows before; give it one type in all rows"),
            (2, "column 'y' holds 'x', but whole numbers in rows before; give it one type"),
        ]:
            fields = lines[2345].split(",")
            fields[number] = "x"
            text = "\n".join(["a,b,y", *lines[:2345], ",".join(fields), *lines[2346:], ""])
            Path("t.csv").write_text(text)
            assert refused("t.csv", "y").startswith(
                f"row 2345 of t.csv (counted from 0): {message}"
            )

    def test_decimal_number_in_a_later_row(self, folder, monkeypatch):
        monkeypatch.setattr("gegenbauer.batches.csv_text._BLOCK", 4096)
        text = "a,y\n" + "".join(f"{k},{k}\n" for k in range(3000)) + "3000,0.5\n"
        Path("t.csv").write_text(text)
        assert refused("t.csv", "y").startswith(
            "row 3000 of t.csv (counted from 0): column 'y' holds '0.5', but "
        )
        batches = list(TableBatches("t.csv", "y", as_labels=False).start())
        assert batches[-1].y[-1] == 0.5

    def test_text_in_another_file(self, folder):
        write(table(9), "data/1.csv")
        write(table(9).assign(a="word"), "data/2.csv")
        assert refused("data", "y").startswith(
            "row 0 of 2.csv (counted from 0): column 'a' holds 'word', but num"
        )

    @pytest.mark.parametrize(
        ("line", "reason"),
        [("1,2", "expected 3 columns, got 2"), ("1,2,3,4", "expected 3 columns, got 4")],
    )
    def test_wrong_number_of_fields(self, folder, line, reason):
        Path("t.csv").write_text("a,b,y\n" + "1,2,3\n" * 500 + line + "\n" + "1,2,3\n" * 10)
        assert refused("t.csv", "y") == (
            f"row 500 of t.csv (counted from 0): {reason}; repair that line, or give "
            "`separator` if it is not ','"
        )

    def test_no_text(self, folder):
        Path("t.csv").write_bytes(b"a,y\n1,u\n2,\xff\n")
        assert refused("t.csv", "y").startswith(
            "row 1 of t.csv (counted from 0): this is not UTF-8 text (it holds the byte 0xff); "
            "save the file as CSV"
        )
        Path("t.csv").write_bytes(b"a\xff,y\n1,u\n2,v\n")
        assert refused("t.csv", "y").startswith(
            "t.csv: this is not UTF-8 text (it holds the byte 0xff); save the file"
        )

    @hypothesis.given(
        data=st.one_of(
            st.binary(max_size=200),
            st.text(alphabet='ay,;\n"\t0123456789.-e\x00 ', max_size=100).map(
                lambda text: b"a,y\n" + text.encode()
            ),
        ),
        ending=st.sampled_from(["csv", "parquet"]),
    )
    @hypothesis.settings(max_examples=60)
    def test_any_file(self, tmp_path_factory, data, ending):
        """Batches or one clear error."""
        path = tmp_path_factory.getbasetemp() / f"fuzzed.{ending}"
        path.write_bytes(data)
        try:
            for batch in TableBatches(path, "y").start():
                assert np.isfinite(batch.X.to_numpy()).all()
        except StreamError as error:
            message = str(error)
        else:
            message = "fuzzed"
        assert "fuzzed" in message


def test_a_part_of_a_batch_counts_its_rows_as_the_whole_does():
    values = np.arange(12.0)
    source = ArrayBatches(values[:, np.newaxis], values, 1.0 + values, batch_size=6)
    _, last = source.start()
    part = last.part(np.array([True, False, False, True, False, True]))
    assert part.X[:, 0].tolist() == part.y.tolist() == [6.0, 9.0, 11.0]
    assert part.sample_weight.tolist() == [7.0, 10.0, 12.0]
    assert part.where == last.where == "rows 6 to 11"
    assert [str(part.where.row(k)) for k in range(3)] == ["row 6", "row 9", "row 11"]
    assert str(part.where.counted_from(1).row(2)) == "row 12"
    assert str(pickle.loads(pickle.dumps(part.where)).row(1)) == "row 9"
