#!/usr/bin/env python3
"""Checks of the tree's text: file and function lengths, tabs and trailing blanks, and that documents name only files
that exist.

Usage: check_text.py length|docs [ROOT]
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

MAX_LINES = 600
SLACK = 60  # "about 600": over MAX_LINES is listed, over MAX_LINES + SLACK fails
SOURCE_SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".mjs", ".cmake"}
# A path in a document: `dir/name.ext`, `dir/name/`, or the target of a relative link.
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TOP_LEVEL = ("src/", "apps/", "scripts/", "tests/", "docs/", "bench/", "fuzz/", "cmake/", "proto/", ".ci/", "models/",
             "packaging/", "web/")
PATH = re.compile(r"^[\w.\-/]+$")


def tracked(root):
    """Files that git knows or would take up; all files where this is no work tree."""
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                                 capture_output=True)
    if listing and listing.returncode == 0:
        return [root / name for name in listing.stdout.decode().split("\0") if name and (root / name).is_file()]
    return [p for p in root.rglob("*") if p.is_file() and "build" not in p.parts and ".git" not in p.parts
            and "node_modules" not in p.parts]


def check_length(root):
    findings = []
    files = [p for p in tracked(root) if p.suffix in SOURCE_SUFFIXES]
    for path in files:
        lines = path.read_text(errors="replace").splitlines()
        where = path.relative_to(root)
        if len(lines) > MAX_LINES:
            print(f"{where}: {len(lines)} lines")
        if len(lines) > MAX_LINES + SLACK:
            findings.append(f"{where}: more than {MAX_LINES + SLACK} lines; split it")
        for number, line in enumerate(lines, 1):
            if "\t" in line and path.suffix != ".sh":
                findings.append(f"{where}:{number}: tab")
            if line != line.rstrip():
                findings.append(f"{where}:{number}: blanks at the end of the line")
    return files, findings


def mentioned_paths(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for match in CODE_SPAN.finditer(text):
        for word in match.group(1).split():
            word = re.sub(r":\d+$", "", word.rstrip(",;:.").split("#")[0])
            # Rust paths are upstream's.
            if word.startswith(TOP_LEVEL) and PATH.match(word) and not word.endswith(".rs"):
                yield match.start(), word
    for match in LINK.finditer(text):
        target = match.group(1).split("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            yield match.start(), target


def check_docs(root):
    findings = []
    files = [p for p in tracked(root) if p.suffix == ".md"]
    for path in files:
        text = path.read_text()
        # Blanked fences keep line numbers.
        text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
        for position, word in mentioned_paths(text):
            candidates = [root / word, path.parent / word]
            # `field/fr.hpp` style mentions are relative to src/, as includes are.
            candidates.append(root / "src" / word)
            if not any(c.exists() for c in candidates):
                line = text.count("\n", 0, position) + 1
                findings.append(f"{path.relative_to(root)}:{line}: '{word}' does not exist")
        for position, word in source_mentions(text):
            if not (root / "src" / word).exists() and not (root / word).exists() and not (path.parent / word).exists():
                line = text.count("\n", 0, position) + 1
                findings.append(f"{path.relative_to(root)}:{line}: '{word}' does not exist")
    return files, findings


def source_mentions(text):
    """`module/file.hpp` in code spans, relative to src/."""
    for match in CODE_SPAN.finditer(text):
        for word in re.findall(r"[\w\-/]+/[\w\-.]+\.(?:hpp|cpp|cu|cuh|md|py|sh|mjs)\b", match.group(1)):
            if not word.startswith(TOP_LEVEL):
                yield match.start(), word


def main():
    checks = {"length": check_length, "docs": check_docs}
    if len(sys.argv) < 2 or sys.argv[1] not in checks:
        print(__doc__)
        return 2
    root = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parent.parent).resolve()
    files, findings = checks[sys.argv[1]](root)
    for finding in findings:
        print(finding)
    print(f"{len(files)} files, {len(findings)} findings")
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
