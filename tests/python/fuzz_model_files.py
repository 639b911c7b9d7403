"""Hostile model files by the thousand: all kinds, changed at random, with a right checksum.

    python tests/python/fuzz_model_files.py 1000
    python tests/python/fuzz_model_files.py 100000 --first 1000

Change ``i`` of a given count is always the same. Each changed file is loaded, and where it is
accepted the model does all that it can. A file is a fault if

- `load` raises anything but ModelFileError, or takes more than a second of processor time, or the
  process grows by more than ten times the file and 64 MB;
- anything that the model does raises an error that is no ValueError, takes more than a second, or
  gives NaN or an infinity in silence;
- the model cannot be saved and loaded again.

The exit status is 1 if there was any. A crash ends the program; the file that did it is left at the
place that is named at the start.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import json
import math
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import test_persistence as kinds

import gegenbauer
from gegenbauer.persistence import _format

SPARE_BYTES = 64 * 2**20
SECONDS = 1.0

NUMBERS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 1e16, 1e154, 1e160, 1e308, -1e308, 1.7976931348623157e308,
    1e-154, 1e-308, 5e-324, -5e-324, np.inf, -np.inf, np.nan,
]  # fmt: skip
INTEGERS = [0, 1, 2, 3, -1, 7, 255, 256, 1000, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1,
            2**63, 2**64, 10**18, -(10**18), 10**30, 10**308, 10**400]  # fmt: skip
POWER = {"kind": "PowerDecay", "interaction": 0.5, "smoothness": 2.0}
VALUES = [
    None, True, False, "", "a", "nan", "inf", "auto", "object", "<U1", "<U999999", "x" * 300,
    "\ud800", "\0", [], [0], [1, 2], [[]], [[0, 1], [0, 1]], [["a", 1.0]], [None], {}, {"a": 1},
    {"components": []}, {"components": [POWER]}, {"components": [POWER] * 300}, POWER, [POWER] * 3,
    {"kind": "PowerDecay", "interaction": [0.0, 0.0], "smoothness": 3.0},
    {"kind": "PowerDecay", "interaction": [1e308, 1e-308], "smoothness": 1e-300},
    {"kind": "PowerDecay", "interaction": 1.0, "smoothness": 3.2},
    {"kind": "GeometricDecay", "interaction": 1e300, "ratio": 0.9999999999999999},
    {"kind": "GegenbauerDecay", "interaction": 1.0, "lam": -0.4999}, "orthonormal",
    "total_degree", "tensor", "hyperbolic_cross", "largest_weight", "grevlex", "moments", "kernel",
    "gram", "clip", "warn", "error", "extrapolate",
]  # fmt: skip
RAW_JSON = [
    "NaN", "Infinity", "1e999", "-0", "1E5", "01", "9" * 19, "9" * 400, '{"a":1,"a":2}', "[" * 3000,
    '"\\ud800"', "1e-400", "", "//",
]  # fmt: skip


def good_files(folder: Path) -> dict[str, bytes]:
    """Return one good file of each kind, and those of former releases."""
    models = {kind: kinds.fitted(kind) for kind in kinds.KINDS}
    models |= {f"search-{kind}": kinds.fitted_search(kind) for kind in kinds.SEARCHES}
    models |= {kind: kinds.partially_fitted(kind) for kind in kinds.HALVES}
    X = np.random.default_rng(7).random((30, 2))
    learned = gegenbauer.GegenbauerClassifier(n_terms=6, engine="moments")
    models["moments"] = learned.fit_stream([(X, np.array(["a", "b", "c"])[np.arange(30) % 3])])
    gram = gegenbauer.GegenbauerRegressor(n_terms=6, engine="primal").partial_fit(X, X)
    models["chosen"] = copy.copy(gram).choose_alpha()
    models["forgotten"] = gram.forget(X, X)
    models["multilabel-stream"] = gegenbauer.GegenbauerClassifier(
        n_terms=5, bounds=[(0, 1), (0, 1)]
    ).fit_stream([(X, (X > 0.5).astype(int))])
    M = np.where(np.arange(30)[:, np.newaxis] % 5 == [0, 9], np.nan, X)
    M[:, 1] = np.arange(30) % 3  # levels of numbers, so that any number is one of them
    for name, kind in (("regressor", "Regressor"), ("classifier", "Classifier")):
        mixed = getattr(gegenbauer, f"Gegenbauer{kind}")(n_terms=8, categorical_features=[1])
        y = X[:, 0] if name == "regressor" else np.arange(30) % 3
        models[f"{name}-mixed-terms"] = mixed.fit(M, y)
        models[f"{name}-mixed-stream"] = copy.copy(mixed).fit_stream([(M, y)])
    features = gegenbauer.GegenbauerFeatures(n_terms=8, categorical_features=[1])
    models["features-mixed"] = features.fit(M)
    files = {}
    for name, model in models.items():
        gegenbauer.save(model, folder / "good")
        files[name] = (folder / "good").read_bytes()
    checkpoint = gegenbauer.Checkpoint(folder / "run")
    gegenbauer.GegenbauerClassifier(n_terms=4).fit_stream(
        [(X[:9], np.zeros(9, int)), (X[9:], np.arange(21) % 3)], checkpoint=checkpoint
    )
    files["checkpoint"] = checkpoint.path.read_bytes()
    for release in kinds.RELEASES:
        for path in sorted(release.glob("*.safetensors")):
            if path.stat().st_size < 100_000:
                files[f"{release.name}-{path.stem}"] = path.read_bytes()
    return files


class File:
    """A model file taken apart, which can be put together again whatever is in it."""

    def __init__(self, raw: bytes) -> None:
        n_header = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + n_header])
        self.entries = header.pop("__metadata__")
        self.parameters = json.loads(self.entries.pop("parameters"))
        self.fitted = json.loads(self.entries.pop("fitted"))
        self.tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            data = raw[8 + n_header + begin : 8 + n_header + end]
            self.tensors[name] = [entry["dtype"], entry["shape"], data]
        self.replaced: list[tuple[str, str]] = []  # in the texts of JSON

    def seal(self) -> bytes:
        """Put the file together, with the checksum that it must have."""
        texts = {"parameters": json.dumps(self.parameters), "fitted": json.dumps(self.fitted)}
        for key, (old, new) in zip(texts, self.replaced, strict=False):
            texts[key] = texts[key].replace(old, new, 1)
        entries = self.entries | texts
        entries["checksum"] = checksum(entries, self.tensors)
        header, data = {"__metadata__": entries}, b""
        for name, (dtype, shape, part) in self.tensors.items():
            offsets = [len(data), len(data) + len(part)]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
            data += part
        return join(json.dumps(header).encode(), data)


def join(header: bytes, data: bytes) -> bytes:
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data


def checksum(entries: dict, tensors: dict) -> str:
    """Return the right checksum, as far as there can be one."""
    arrays = {}
    for name, (dtype, shape, data) in tensors.items():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            arrays[name] = np.frombuffer(data, _format.DTYPES[dtype]).reshape(shape)
    try:
        return _format.checksum_of(entries, arrays)
    except (TypeError, ValueError, AttributeError):
        return "0" * 32


class Changer:
    """Change files at random."""

    def __init__(self, files: dict[str, bytes], number: int) -> None:
        self.random = np.random.default_rng([number, 20260101])
        self.files = files
        self.kind = self.choose(sorted(files))

    def choose(self, values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def changed(self) -> bytes:
        raw = self.files[self.kind]
        if self.chance(0.15):
            return self.bytes_changed(raw)
        file = File(raw)
        for _ in range(self.choose([1, 1, 1, 2, 4])):
            self.choose([self.entry, self.entry, self.numbers, self.numbers, self.tensor,
                         self.graft, self.shrink])(file)  # fmt: skip
        if self.chance(0.05):
            self.text(file)
        return file.seal()

    def bytes_changed(self, raw: bytes) -> bytes:
        """Change bytes anywhere; the checksum is put right if the header is still one."""
        bad = bytearray(raw)
        for _ in range(self.choose([1, 1, 2, 5])):
            place = int(self.random.integers(len(bad)))
            action = self.choose(["flip", "set", "cut", "repeat", "mark"])
            if action == "flip":
                bad[place] ^= 1 << int(self.random.integers(8))
            elif action == "set":
                bad[place] = int(self.random.integers(256))
            elif action == "cut":
                del bad[place : place + self.choose([1, 8])]
            elif action == "repeat":
                bad[place:place] = bad[place : place + self.choose([1, 3])]
            else:
                bad[place] = self.choose(list(b'0123456789-.eE[]{}",:'))
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
            return File(bytes(bad)).seal()
        return bytes(bad)

    def value(self, old):
        """Return another value of the header, often one that is near."""
        if self.chance(0.5):
            if isinstance(old, bool):
                return not old
            if isinstance(old, int):
                as_float = float(old) if abs(old) < 2**1000 else math.inf
                return self.choose([old + 1, old - 1, -old, 2 * old, as_float, str(old)])
            if isinstance(old, float):
                return self.choose([-old, 2 * old, old * 1e300, old * 1e-300, 1 / (old or 1.0)])
            if isinstance(old, str):
                return self.choose([old + "x", old[1:], old * 2])
            if isinstance(old, list):
                return self.choose([old[1:], old[::-1], old + old, [*old, None], [old]])
        new = self.choose([*VALUES, *INTEGERS, *[x for x in NUMBERS if np.isfinite(x)]])
        return copy.deepcopy(new)

    def entry(self, file: File) -> None:
        """Change, remove, add or move an entry of the header."""
        where = self.choose([file.parameters, file.fitted, file.fitted, file.entries])
        while isinstance(where, (dict, list)) and where:
            key = self.choose(sorted(where)) if isinstance(where, dict) else (
                int(self.random.integers(len(where)))
            )  # fmt: skip
            inner = where[key]
            if isinstance(inner, (dict, list)) and inner and self.chance(0.8):
                where = inner
                continue
            action = self.random.random()
            if action < 0.08:
                del where[key]
            elif action < 0.12 and isinstance(where, dict):
                where[f"{key}_"] = inner
            elif action < 0.2:
                where[key] = copy.deepcopy(where[self.choose(list(where))]) if isinstance(
                    where, dict
                ) else where[0]  # fmt: skip
            else:
                where[key] = self.value(inner)
            return

    def text(self, file: File) -> None:
        """Change the text of JSON itself."""
        old = self.choose(["1", "0", "null", "true", "2", "}", '"'])
        file.replaced = [(old, self.choose(RAW_JSON)) for _ in range(2)]

    def numbers(self, file: File) -> None:
        """Change numbers of a tensor, one, some or all of them."""
        name = self.choose(sorted(file.tensors))
        dtype, _, data = file.tensors[name]
        if dtype not in _format.DTYPES or not data:
            return
        with contextlib.suppress(ValueError):
            array = np.frombuffer(data, _format.DTYPES[dtype]).copy()
            some = self.random.integers(array.size, size=self.choose([1, 1, 2, array.size]))
            with np.errstate(all="ignore"):
                if array.dtype.kind == "f" and self.chance(0.4):
                    array *= self.choose([-1, 0, 1e10, 1e150, 1e300, 1e-150, 1e-300])
                elif array.dtype.kind == "f":
                    array[some] = [self.choose(NUMBERS) for _ in some]
                elif array.dtype.kind == "b":
                    array.view(np.uint8)[some] = self.choose([0, 1, 2, 255])
                else:
                    array[some] = np.array(self.choose(INTEGERS[:10])).astype(array.dtype)
            if self.chance(0.1):
                array = self.choose([array[::-1], np.sort(array)])
            file.tensors[name][2] = array.tobytes()

    def tensor(self, file: File) -> None:
        """Change the description of a tensor, or remove, add, copy or exchange one."""
        name, other = (self.choose(sorted(file.tensors)) for _ in range(2))
        dtype, shape, data = file.tensors[name]
        action = self.choose(["shape", "dtype", "remove", "add", "copy", "exchange", "empty"])
        if action == "shape":
            file.tensors[name][1] = self.choose(
                [[], [0], shape[::-1], [1, *shape], [*shape, 1], [-1], [10**17], [2**32, 2**32],
                 [0, 2**62], [10**18] * 60, [True], [1.0], None, "3"]
            )  # fmt: skip
        elif action == "dtype":
            file.tensors[name][0] = self.choose([*_format.DTYPES, "BF16", "C64", "", None, 3])
        elif action == "remove" and len(file.tensors) > 1:
            del file.tensors[name]
        elif action == "add":
            file.tensors[f"{name}x"] = [dtype, shape, data]
        elif action == "copy":
            file.tensors[other] = [dtype, shape, data]
        elif action == "exchange":
            file.tensors[name], file.tensors[other] = file.tensors[other], file.tensors[name]
        elif action == "empty":
            file.tensors[name][1:] = [[0] * len(shape or []), b""]

    def graft(self, file: File) -> None:
        """Take something over from a file of another kind."""
        other = File(self.files[self.choose(sorted(self.files))])
        if self.chance(0.5):
            name = self.choose(sorted(other.tensors))
            file.tensors[name] = other.tensors[name]
            return
        mine, others = self.choose(
            [(file.parameters, other.parameters), (file.fitted, other.fitted),
             (file.entries, other.entries)]
        )  # fmt: skip
        key = self.choose(sorted(others))
        mine[key] = others[key]

    def shrink(self, file: File) -> None:
        """Change one size in all tensors that have it, so that their shapes still agree."""
        sizes = sorted({size for _, shape, _ in file.tensors.values() for size in shape or ()
                        if isinstance(size, int)})  # fmt: skip
        if not sizes:
            return
        old, step = self.choose(sizes), self.choose([-1, 1])
        for tensor in file.tensors.values():
            with contextlib.suppress(ValueError, TypeError, KeyError, IndexError):
                array = np.frombuffer(tensor[2], _format.DTYPES[tensor[0]]).reshape(tensor[1])
                for axis, size in enumerate(array.shape):
                    if size == old:
                        keep = [*range(size + min(step, 0)), *[0] * max(step, 0)]
                        array = array.take(keep, axis=axis)
                tensor[1:] = [list(array.shape), array.tobytes()]


class TooSlowError(Exception):
    """What the watchdog raises."""


def _bark(*_: object) -> None:
    raise TooSlowError


@contextlib.contextmanager
def watchdog():
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def uses(model, path: Path):
    """Return all that a loaded model can do, by name; each returns numbers, or None."""
    m = model.n_features_in_
    X = np.random.default_rng(1).uniform(-0.5, 1.5, size=(5, m))
    rows = X
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    found = {
        name: lambda name=name: getattr(model, name)(X)
        for name in ("transform", "decision_function", "predict_proba")
        if hasattr(model, name)
    }
    if hasattr(model, "predict"):
        # labels are no numbers
        found["predict"] = lambda: (
            model.predict(X) if not hasattr(model, "classes_") else model.predict(X) is None
        )
    if hasattr(model, "predict_interval"):
        known = np.isfinite(model.noise_variance_)  # infinite where it could not be estimated
        found["std"] = lambda: np.where(
            known, np.reshape(model.predict(X, return_std=True)[1], (5, -1)), 0.0
        )
        found["interval"] = lambda: np.nan_to_num(
            np.array(model.predict_interval(X)), nan=np.nan, posinf=0.0, neginf=0.0
        )
    if hasattr(model, "loo_predictions_") and hasattr(model, "classes_"):
        found["left out"] = lambda: np.nan_to_num(model.loo_probabilities_)
    if hasattr(model, "basis_") and not hasattr(model, "transform"):
        found["sobol"] = lambda: np.nan_to_num(gegenbauer.sobol_indices(model).total)
    if hasattr(model, "statistics_"):
        n = model.statistics_.n_outputs

        def learn():
            if not hasattr(model, "partial_fit"):  # balanced classes cannot be learned in batches
                return None
            if not hasattr(model, "classes_"):
                y = rows[:, [0] * n] if not model._y_was_flat else rows[:, 0]
            elif model.multilabel_:
                y = (rows[:, [0] * n] > 0.5).astype(int)
            else:
                y = model.classes_[np.arange(5) % n]
            more = copy.copy(model).partial_fit(X, y)
            more.forget(X, y)
            return (more + model).statistics_._packed()

        found["learn"] = learn
        found["choose"] = lambda: copy.copy(model).choose_alpha().term_coef_

    def save():
        gegenbauer.save(model, path)
        gegenbauer.load(path)

    found["save"] = save
    return found


def faults(path: Path) -> tuple[str, list[str]]:
    """Return whether a file was accepted, and all that is wrong."""
    before, allowed = peak(), 10 * path.stat().st_size + SPARE_BYTES
    try:
        with watchdog():
            model = gegenbauer.load(path)
    except gegenbauer.errors.ModelFileError:
        wrong = ["load: too much memory"] if peak() - before > allowed else []
        return "refused", wrong
    except BaseException as error:
        return "refused", [f"load: {type(error).__name__} {error}"[:200]]
    wrong = ["load: too much memory"] if peak() - before > allowed else []
    for name, use in uses(model, path.with_name("again")).items():
        try:
            with watchdog():
                numbers = use()
        except ValueError as error:
            if name == "save":
                wrong.append(f"save: {error}"[:200])
        except BaseException as error:
            wrong.append(f"{name}: {type(error).__name__} {error}"[:200])
        else:
            if numbers is not None and not np.isfinite(np.asarray(numbers, dtype=float)).all():
                wrong.append(f"{name}: NaN or infinity in silence")
    return "accepted", wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="number of changed files")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.fsync = lambda _: None  # none of these files is to outlive the program
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _bark)
    totals: Counter[str] = Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "changed.safetensors")
        files = good_files(Path(folder))
        print(f"{options.count} changes of {len(files)} files, one after another in {path}")
        for name, raw in files.items():
            path.write_bytes(raw)
            if faults(path) != ("accepted", []):
                print(f"the good file {name}: {faults(path)}")
                totals["faults"] += 1
        for number in range(options.first, options.first + options.count):
            changer = Changer(files, number)
            path.write_bytes(changer.changed())
            outcome, wrong = faults(path)
            totals[outcome] += 1
            totals["faults"] += len(wrong)
            for fault in wrong:
                print(f"change {number} of {changer.kind}: {fault}", flush=True)
    print(
        f"{totals['accepted']} accepted, {totals['refused']} refused, {totals['faults']} faults "
        f"in {time.monotonic() - start:.0f} s"
    )
    return 1 if totals["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
