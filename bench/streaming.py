"""Learning from streams: rows a second, memory, and how they grow: ``python -m bench.streaming``.

Every fit runs in a process of its own. Rows are made batch by batch from seeds, so that no more
than a batch is there; the time to make them is reported apart, and rates are of learning alone.
Peers learn from the same rows: SGDClassifier by ``partial_fit`` on the same features, which
GegenbauerFeatures makes, and LightGBM, which takes all rows at once, on as many as it is given.

Beside them the same terms are summed in five folds, from which lam, penalty and the like would be
chosen (``fit_stream`` of GegenbauerClassifierCV): what the pass costs more, and what the choice
behind it takes.

With ``--files GB`` the rows of the second problem lie in a folder of Parquet files of that size,
which is made and removed again; the rate then includes reading them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from bench.machine import ROOT, describe, warnings_about
from bench.scaling import exponent
from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    TableBatches,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    Batch = tuple[np.ndarray, np.ndarray]

BATCH_SIZE = 100_000
SETTINGS = {"m=6, L=500": (6, 500), "m=28, L=435": (28, 435)}
ROWS = (100_000, 1_000_000, 10_000_000, 100_000_000)
PEER_ROWS = 1_000_000
N_TEST = 100_000
OURS, SGD, LIGHTGBM = "gegenbauer", "SGDClassifier", "LightGBM"
FOLDS, N_FOLDS = "gegenbauer, 5 folds", 5
FILES, N_FILES = "gegenbauer, from Parquet", 8


def batch(number: int, m: int, n_rows: int = BATCH_SIZE) -> Batch:
    """Make a batch of two classes with a smooth, noisy boundary."""
    rng = np.random.default_rng([7, number])
    X = rng.random((n_rows, m))
    waves = np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] - X[:, -1] ** 2
    y = (waves + 0.3 * rng.standard_normal(n_rows) > 0.55).astype(np.int64)
    return X, y


class Stream:
    """So many rows in batches; it counts the seconds that making them took."""

    def __init__(self, n_rows: int, m: int) -> None:
        self.n_rows, self.m, self.seconds = n_rows, m, 0.0

    def __iter__(self) -> Iterator[Batch]:
        for number in range(-(-self.n_rows // BATCH_SIZE)):
            start = time.perf_counter()
            made = batch(number, self.m, min(BATCH_SIZE, self.n_rows - number * BATCH_SIZE))
            self.seconds += time.perf_counter() - start
            yield made


def make_files(folder: Path, n_bytes: float, m: int) -> int:
    """Write so many bytes of rows into Parquet files of a few large row groups; return the rows."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [*(f"x{t}" for t in range(m)), "y"]
    batches = int(n_bytes / (8 * (m + 1)) / BATCH_SIZE / N_FILES)
    kinds = [pa.float64()] * m + [pa.int64()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    for number in range(N_FILES):
        with parquet.ParquetWriter(folder / f"part-{number}.parquet", schema) as file:
            for first in range(number * batches, (number + 1) * batches, 5):
                made = [batch(k, m) for k in range(first, min(first + 5, (number + 1) * batches))]
                X, y = (np.concatenate(parts) for parts in zip(*made, strict=True))
                file.write_table(pa.table([*X.T, y], schema=schema), row_group_size=len(y))
    return batches * N_FILES * BATCH_SIZE


def learn_files(folder: str, n_terms: int, n_threads: int) -> dict[str, Any]:
    """Learn a folder in this process."""
    source = TableBatches(folder, "y")
    m = len(source.inputs)
    before = _kilobytes("VmRSS")
    start = time.perf_counter()
    model = GegenbauerClassifier(n_terms, n_jobs=n_threads).fit_stream(source)
    seconds = time.perf_counter() - start
    peak = _kilobytes("VmHWM")
    X, y = batch(10**9, m, N_TEST)
    score = model.score(DataFrame(X, columns=source.inputs), y)
    return {
        "who": FILES, "n_rows": model.n_samples_seen_, "m": m, "n_terms": n_terms,
        "n_threads": n_threads, "seconds": seconds, "making": 0.0, "choosing": 0.0, "score": score,
        "resident_before": 1024 * before, "peak": 1024 * peak,
    }  # fmt: skip


def learn(who: str, n_rows: int, m: int, n_terms: int, n_threads: int) -> dict[str, Any]:
    """Learn in this process."""
    test = batch(10**9, m, N_TEST)
    stream = Stream(n_rows, m)
    before = _kilobytes("VmRSS")
    choosing = 0.0
    start = time.perf_counter()
    if who == OURS:
        model = GegenbauerClassifier(n_terms, n_jobs=n_threads).fit_stream(stream)
        score = model.score(*test)
    elif who == FOLDS:
        ends = [start]  # of the batches
        model = GegenbauerClassifierCV(None, n_terms=n_terms, cv=N_FOLDS, n_jobs=n_threads)
        model.fit_stream(stream, callback=lambda *_: ends.append(time.perf_counter()))
        choosing = time.perf_counter() - ends[-1]
        score = model.score(*test)
    elif who == SGD:
        from sklearn.linear_model import SGDClassifier

        features = GegenbauerFeatures(n_terms, n_jobs=n_threads).fit(batch(0, m)[0])
        peer = SGDClassifier(random_state=0)
        for X, y in stream:
            peer.partial_fit(features.transform(X), y, classes=[0, 1])
        score = peer.score(features.transform(test[0]), test[1])
    else:
        from lightgbm import LGBMClassifier

        X, y = (np.concatenate(parts) for parts in zip(*stream, strict=True))
        start = time.perf_counter() - stream.seconds  # that of putting together is not its own
        peer = LGBMClassifier(n_jobs=n_threads, verbose=-1).fit(X, y)
        score = (peer.predict(test[0]) == test[1]).mean()
    seconds = time.perf_counter() - start - stream.seconds - choosing
    return {
        "who": who, "n_rows": n_rows, "m": m, "n_terms": n_terms, "n_threads": n_threads,
        "seconds": seconds, "making": stream.seconds, "choosing": choosing, "score": float(score),
        "resident_before": 1024 * before, "peak": 1024 * _kilobytes("VmHWM"),
    }  # fmt: skip


def _kilobytes(key: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def measure(*arguments: object, n_threads: int) -> dict[str, Any]:
    """Learn in a fresh process, whose libraries have so many threads."""
    threads = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-m", "bench.streaming", "--one", *map(str, arguments), str(n_threads)],
        cwd=ROOT, env={**os.environ, **threads}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(rows: tuple[int, ...], peer_rows: int, threads: tuple[int, ...]) -> list[dict[str, Any]]:
    """Measure everything, reporting each result as it comes."""
    found = []
    for m, n_terms in SETTINGS.values():
        for n_threads in threads:
            jobs = [(who, n) for who in (OURS, FOLDS) for n in rows]
            jobs += [(SGD, peer_rows), (LIGHTGBM, peer_rows)]
            for who, n_rows in jobs:
                try:
                    one = measure(who, n_rows, m, n_terms, n_threads=n_threads)
                except subprocess.CalledProcessError as error:
                    print(f"{who}: {(error.stderr.strip().splitlines() or ['killed'])[-1]}")
                    continue
                found.append(one)
                print(line(one), flush=True)
    return found


def run_files(gigabytes: float, threads: tuple[int, ...]) -> list[dict[str, Any]]:
    """Measure a folder of Parquet files, with so many threads each."""
    m, n_terms = SETTINGS["m=28, L=435"]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), 1e9 * gigabytes, m)
        for n_threads in threads:
            one = measure(FILES, folder, m, n_terms, n_threads=n_threads)
            found.append(one)
            print(line(one), flush=True)
    return found


def line(one: dict[str, Any]) -> str:
    """Return what was found, as a row of a table."""
    return (
        f"| m = {one['m']}, L = {one['n_terms']} | {one['who']} | {one['n_threads']} | "
        f"{one['n_rows']:,} | {one['seconds']:.3g} | {one['n_rows'] / one['seconds']:,.0f} | "
        f"{one['making']:.3g} | {one['choosing']:.3g} | {one['peak'] / 1e6:.0f} | "
        f"{(one['peak'] - one['resident_before']) / 1e6:.0f} | {one['score']:.4f} |"
    )


HEAD = (
    "| problem | who | threads | rows | learning, s | rows/s | making rows, s | choosing, s "
    "| peak, MB | "
    "of it beyond imports and test rows, MB | right |\n" + "|---" * 11 + "|"
)


def report(found: list[dict[str, Any]], n_threads: int) -> str:
    """Write tables, and by which power of the rows the time grows."""
    facts = describe(n_threads)
    lines = [HEAD, *map(line, found), ""]
    for name, (m, n_terms) in SETTINGS.items():
        for threads in sorted({one["n_threads"] for one in found}):
            ours = [
                (one["n_rows"], one["seconds"]) for one in found
                if (one["who"], one["m"], one["n_terms"], one["n_threads"])
                == (OURS, m, n_terms, threads)
            ]  # fmt: skip
            if len(ours) > 2:
                power = exponent(*zip(*ours, strict=True))
                lines.append(f"- {name}, {threads} thread(s): seconds grow as rows^{power}")
    state = facts["git"] or {"commit": "no commit"}
    lines += ["", f"{facts['machine']['processor']}, ISA variant {facts['isa']}, {state['commit']}"]
    return "\n".join([*lines, *warnings_about(facts)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=ROWS, help="of our streams")
    parser.add_argument("--peer-rows", type=float, default=PEER_ROWS, help="of those of peers")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--files", type=float, metavar="GB", help="a folder of Parquet files alone")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        who, *sizes = options.one
        if who == FILES:
            print(json.dumps(learn_files(sizes[0], int(sizes[2]), int(sizes[3]))))
            return
        n_rows, m, n_terms, n_threads = map(int, sizes)
        print(json.dumps(learn(who, n_rows, m, n_terms, n_threads)))
        return
    print(HEAD)
    if options.files:
        found = run_files(options.files, tuple(options.threads))
    else:
        rows = tuple(int(n) for n in options.rows)
        found = run(rows, int(options.peer_rows), tuple(options.threads))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print()
    print(report(found, max(options.threads)))


if __name__ == "__main__":
    main()
