"""What Dask costs: a fit on a cluster beside the same sums in one process, and what is sent.

``python -m bench.dask_overhead`` prints three tables:

- the time of a fit by `gegenbauer.dask` on as many workers of one thread as there are processors,
  and that of ``partial_fit`` of the same partitions by as many threads in one process;
- size and times of partially fitted models: to write and read them as bytes, and to merge two of
  them whose boxes are the same, or differ so that both have to be expressed in a third;
- the time of a tree of merges over many workers, simulated from these figures.
"""

from __future__ import annotations

import argparse
import copy
import math
import pickle
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import gegenbauer
from gegenbauer.dask import GegenbauerRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

N_INPUTS, N_TERMS = 6, 500
MODELS = ((6, 500), (28, 435), (2, 1485))
FAN_INS = (2, 4, 8, 16)

# What is assumed of a cluster: bytes a second, seconds for a message, and of a scheduler for a task
BANDWIDTH, LATENCY, SCHEDULING = 1e9, 1e-3, 2e-4


def seconds(call: Callable[[], object], repeat: int) -> float:
    """Return the median time of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# --- Overhead -------------------------------------------------------------------------------------


def partition(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets of one partition."""
    X = np.random.default_rng(seed).uniform(size=(n_rows, N_INPUTS))
    return X, np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2]


def collection(n_partitions: int, n_rows: int) -> tuple[da.Array, da.Array]:
    """Return the same partitions as Dask arrays, made where they are needed."""

    def inputs(block_info: dict) -> np.ndarray:
        return partition(block_info[None]["chunk-location"][0], n_rows)[0]

    X = da.map_blocks(inputs, chunks=((n_rows,) * n_partitions, N_INPUTS), dtype=float)
    return X, da.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2]


def overhead(n_rows: int, n_partitions: int, n_workers: int, rounds: int) -> None:
    """Print the times of both, round by round, and the medians of their ratios."""
    size = n_rows // n_partitions
    parts = [partition(i, size) for i in range(n_partitions)]

    def plain() -> gegenbauer.GegenbauerRegressor:
        model = gegenbauer.GegenbauerRegressor(n_terms=N_TERMS, n_jobs=n_workers)
        return model.fit_stream(parts)

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = (client.persist(made) for made in collection(n_partitions, size))
        wait([X, y])
        print(
            f"{n_rows} rows in {n_partitions} partitions, m = {N_INPUTS}, L = {N_TERMS}: "
            f"{n_workers} workers of one thread, or {n_workers} threads"
        )
        print("of Dask and of one process: seconds, and seconds of processors")
        print(f"{'Dask':>8} {'plain':>8} {'ratio':>8} {'Dask':>9} {'plain':>8} {'ratio':>8}")
        ratios = []
        for number in range(rounds + 1):
            # another alpha is another key, so that Dask does not remember the result
            model = GegenbauerRegressor(n_terms=N_TERMS, alpha=2.0 ** -(12 + number))
            before = time.process_time() + sum(client.run(time.process_time).values())
            ours = seconds(lambda model=model: model.fit(X, y), 1)
            busy = time.process_time() + sum(client.run(time.process_time).values()) - before
            before = time.process_time()
            alone = seconds(plain, 1)
            busy_alone = time.process_time() - before
            if number:  # the first is for warming up
                ratios.append((ours / alone, busy / busy_alone))
                print(
                    f"{ours:7.2f}s {alone:7.2f}s {ours / alone:8.3f} "
                    f"{busy:8.2f}s {busy_alone:7.2f}s {busy / busy_alone:8.3f}"
                )
        medians = [statistics.median(column) for column in zip(*ratios, strict=True)]
        print(f"{'median':>17} {medians[0]:8.3f} {medians[1]:27.3f}\n")


# --- What is sent ---------------------------------------------------------------------------------


class Sending(NamedTuple):
    """Figures of a partially fitted model."""

    name: str
    n_bytes: int
    dump: float
    load: float
    merge: float
    merge_boxes: float


def measure_sending(n_features: int, n_terms: int, repeat: int = 15) -> Sending:
    """Measure a model of some rows, and its merge with another one."""

    def learned(seed: int, **options: object) -> gegenbauer.GegenbauerRegressor:
        X = np.random.default_rng(seed).uniform(0.01, 0.99, size=(2000, n_features))
        model = gegenbauer.GegenbauerRegressor(n_terms=n_terms, n_jobs=1, **options)
        return model.partial_fit(X, X[:, 0])

    one, other = learned(1), learned(2)
    box = [[0.0, 1.0]] * n_features
    alike = learned(1, bounds=box), learned(2, bounds=box)
    data = pickle.dumps(one)
    kind = type(one.statistics_).__name__.removesuffix("Statistics").lower()
    return Sending(
        f"m = {n_features}, L = {n_terms} ({kind})",
        len(data),
        seconds(lambda: pickle.dumps(one), repeat),
        seconds(lambda: pickle.loads(data), repeat),
        seconds(lambda: alike[0] + alike[1], repeat),
        seconds(lambda: copy.copy(one) + other, repeat),
    )


def print_sending(found: list[Sending]) -> None:
    print(
        f"{'partially fitted model':28} {'kB':>8} {'write':>9} {'read':>9} {'merge':>9} "
        f"{'2 boxes':>9}"
    )
    for row in found:
        times = " ".join(f"{1e3 * value:7.2f}ms" for value in row[2:])
        print(f"{row.name:28} {row.n_bytes / 1e3:8.1f} {times}")
    print()


# --- Many workers ---------------------------------------------------------------------------------


def tree(row: Sending, n_workers: int, fan_in: int) -> float:
    """Simulate merging one model of each worker, level by level.

    The merging worker has one of the models; it receives and reads the others one after another,
    which have been written at the same time, and merges them. All merges of a level run at once,
    and its tasks pass through the one scheduler one after another.
    """
    total, n = 0.0, n_workers
    while n > 1:
        tasks = math.ceil(n / fan_in)
        others = min(fan_in, n) - 1
        one = LATENCY + row.n_bytes / BANDWIDTH + row.load + row.merge_boxes
        total += row.dump + others * one + tasks * SCHEDULING
        n = tasks
    return total


def print_tree(found: list[Sending], n_workers: int) -> None:
    print(
        f"seconds of a tree of merges over {n_workers} workers, by the fan-in (assumed: "
        f"{BANDWIDTH / 1e9:g} GB/s, {LATENCY * 1e3:g} ms a message, {SCHEDULING * 1e3:g} ms of the "
        "scheduler a task)"
    )
    print(f"{'partially fitted model':28}" + "".join(f"{fan_in:9}" for fan_in in FAN_INS))
    for row in found:
        times = "".join(f"{tree(row, n_workers, fan_in):8.2f}s" for fan_in in FAN_INS)
        print(f"{row.name:28}{times}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--partitions", type=int, default=40)
    parser.add_argument("--workers", type=int, default=gegenbauer.default_threads())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulated", type=int, default=1000, help="workers of the simulation")
    given = parser.parse_args()
    if given.rounds:
        overhead(given.rows, given.partitions, given.workers, given.rounds)
    found = [measure_sending(*size) for size in MODELS]
    print_sending(found)
    print_tree(found, given.simulated)


if __name__ == "__main__":
    main()
