"""Inputs that `cuzk bench gen-vanilla` makes, and the independent checker (tests/oracle/check_vanilla.py) over them."""
import shlex
import sys

from harness import ROOT, cuzk

sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import check_vanilla  # noqa: E402 (the path comes first)
from vanilla import graph, sector  # noqa: E402, F401
from vanilla.parse import Invalid  # noqa: E402, F401

SIZES = ("2k", "8m", "512m", "32g", "64g")
COMMANDS = {"porep": "porep", "winning": "winning-post", "window": "window-post", "snap": "snap-prove"}
# Of every kind, the first numbers of its registered proofs; the five sizes follow.
FAMILIES = {"porep": (0, 5), "winning": (0,), "window": (5, 10), "snap": (0,)}


def generate(test, kind, number, *options, timeout=600):
    """The words of the `cuzk prove` command for a new input, but for --dir and --out, and what was said about it."""
    path = test.tmp / f"{kind}-{number}.json"
    run = cuzk("bench", "gen-vanilla", COMMANDS[kind], "--registered-proof", number, "-o", path, "--json", *options,
               timeout=timeout)
    test.assert_ok(run)
    words = shlex.split(run.json["prove_command"])
    test.assertEqual(words[:2], ["cuzk", "prove"])
    at = words.index("--out")
    return words[2:at] + words[at + 2:], run


def check(words, *options):
    """Checks the input; the public inputs of every partition. Raises Invalid."""
    return check_vanilla.check(check_vanilla.arguments([*words, *map(str, options)]))
