"""What a daemon and its workers take, sampled while they work."""
import os
import threading
import time
from pathlib import Path


def tree(pid):
    """The process and all that came of it."""
    out = [pid]
    for one in out:
        try:
            tasks = os.listdir(f"/proc/{one}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                out += map(int, Path(f"/proc/{one}/task/{task}/children").read_text().split())
            except OSError:
                pass
    return out


def field(pid, file, name):
    for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def memory_of(pid):
    """Bytes; what is shared is divided among those who share it, where the kernel tells (to root, of a worker)."""
    try:
        return 1024 * field(pid, "smaps_rollup", "Pss")
    except OSError:
        return 1024 * field(pid, "status", "VmRSS")


def anonymous_of(pid):
    """Bytes that no file stands behind: the program and mapped circuits are not among them."""
    return 1024 * (field(pid, "status", "RssAnon") + field(pid, "status", "RssShmem"))


class Samples:
    """Samples of a process tree, taken by a thread until the block ends."""
    def __init__(self, pid, interval=0.25):
        self.pid, self.interval = pid, interval
        self.rows = []  # seconds, memory, anonymous memory, descriptors and threads of the first process
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.start = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def sample(self):
        memory = anonymous = 0
        for pid in tree(self.pid):
            try:
                memory += memory_of(pid)
                anonymous += anonymous_of(pid)
            except OSError:
                pass  # it has just ended
        return (time.monotonic() - self.start, memory, anonymous, len(os.listdir(f"/proc/{self.pid}/fd")),
                field(self.pid, "status", "Threads"))

    def run(self):
        while not self.over.wait(self.interval):
            try:
                self.rows.append(self.sample())
            except OSError:
                return

    def most(self, column):
        return max(row[column] for row in self.rows)

    def means(self, column, parts=4):
        """Of each part of the time."""
        size = max(1, len(self.rows) // parts)
        return [sum(row[column] for row in self.rows[i * size:(i + 1) * size]) / size for i in range(parts)]


SECONDS, MEMORY, ANONYMOUS, DESCRIPTORS, THREADS = range(5)
