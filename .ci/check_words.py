"""Fail where a file holds a word of words.txt, and name what to write instead."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# What others wrote, or what holds data alone; and the list with its tests.
EXEMPT = re.compile(
    r"\.ci/words\.txt|tests/python/test_words\.py|LICENSE.*|NOTICE"
    r"|tests/python/models/.*"  # files of older versions, which are kept as they are
    r"|bench/data/.*|.*\.(svg|json|csv|safetensors)"  # data and drawings
)
SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\w)_")  # the parts of a name


def read_words(path: Path) -> list[tuple[re.Pattern[str], str]]:
    """Return the expressions of the list, each with what to write instead."""
    lines = (line for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))
    pairs = (line.split(" -> ") for line in lines if line)
    return [
        (re.compile(rf"(?<![^\W_])(?:{word})\b".replace(" ", r"[\s#/*]+"), re.IGNORECASE), instead)
        for word, instead in pairs
    ]


def find_words(root: Path, words: list[tuple[re.Pattern[str], str]]) -> list[str]:
    """Return "file:line: word -> instead" for the files of the repository at `root`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=True)
    found = []
    for name in sorted(listed.stdout.split("\0")):
        if not (root / name).is_file() or EXEMPT.fullmatch(name):
            continue
        text = SPLIT.sub(" ", (root / name).read_text("utf-8"))
        for word, instead in words:
            for match in word.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {' '.join(match[0].split())} -> {instead}")
    return found


def main(root: Path) -> int:
    """Print what is found in the repository at `root`; return 1 if that is anything."""
    found = find_words(root, read_words(Path(__file__).with_name("words.txt")))
    print("\n".join(found) or "no old words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
