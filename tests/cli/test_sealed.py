"""The development sealer and the vanilla proofs from sector files, against a sector sealed in Python
(tests/oracle/vanilla/sector.py): every file and every proof is the same, byte for byte. And sector files that are not
what they should be: each is refused with its path, and nothing is written."""
import base64
import json
import os
import shlex
import unittest

from generated import check, graph, sector
from harness import CORRUPT, CommandTest, INVALID, IO, NOT_FOUND, USAGE, cuzk

MINER, NUMBER = 1000, 42
TICKET, SEED = bytes(range(1, 33)), bytes(range(101, 133))
RANDOMNESS = bytes(range(7, 39))


def data_of(salt):
    return b"".join(int.to_bytes((i + 1) ** 9 * 0x1000003 + salt, 32, "little") for i in range(64))


def sealed(number=5, salt=3, sector_number=NUMBER):
    return sector.Sector(number, data_of(salt), graph.prover_id(MINER), sector_number, TICKET)


def cid(prefix, digest):
    return "b" + base64.b32encode(bytes.fromhex(prefix) + digest).decode().lower().rstrip("=")


def commdr(comm_d, comm_r):
    return f"d:{cid('0181e203922020', comm_d)} r:{cid('0182e20381e80220', comm_r)}\n"


def padded(raw):
    """fr32: 254 bits of the data, two zero bits, and so on."""
    bits = int.from_bytes(raw.ljust(2032, b"\0"), "little")
    return b"".join((bits >> 254 * i & ((1 << 254) - 1)).to_bytes(32, "little") for i in range(64))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class SealedTest(CommandTest):
    def seal(self, number=5, data=None, *more):
        path = self.file("data", data_of(3) if data is None else data)
        run = cuzk("bench", "seal", "--registered-proof", number, "--out", self.tmp / "store", "--data", path, "--miner-id",
                   MINER, "--sector-number", NUMBER, "--ticket", TICKET.hex(), "--porep-seed", SEED.hex(), "--json", *more)
        self.assert_ok(run)
        return run.json

    def write(self, made, name="s"):
        """The files of a sector made in Python; (replica, cache folder)."""
        replica, cache = self.tmp / f"{name}-replica", self.tmp / f"{name}-cache"
        replica.write_bytes(b"".join(made.replica))
        cache.mkdir()
        for file, content in made.files().items():
            (cache / file).write_bytes(content)
        return replica, cache

    def post(self, command, number, sectors, *more):
        """gen-vanilla over (number, comm_r, replica, cache) of each sector."""
        words = ["bench", "gen-vanilla", command, "--registered-proof", number, "--randomness", RANDOMNESS.hex(), "-o",
                 self.tmp / "vanilla.json", "--json", *more]
        for sector_number, comm_r, replica, cache in sectors:
            words += ["--sector-number", sector_number, "--comm-r", comm_r.hex(), "--sealed", replica, "--cache", cache]
        return cuzk(*words)

    def blobs(self):
        return [base64.b64decode(text, validate=True) for text in json.loads((self.tmp / "vanilla.json").read_text())]


class Sealer(SealedTest):
    def test_every_file(self):
        for number in (0, 5, 10):
            with self.subTest(number=number):
                said, expected = self.seal(number, None, "--force"), sealed(number)
                cache = contents(self.tmp / "store" / "cache" / f"s-t0{MINER}-{NUMBER}")
                wanted = expected.files()
                for name in wanted:
                    if name != "t_aux":
                        self.assertEqual(cache[name], wanted[name], name)
                self.assertEqual(set(cache), set(wanted))
                replica = self.tmp / "store" / "sealed" / f"s-t0{MINER}-{NUMBER}"
                self.assertEqual(replica.read_bytes(), b"".join(expected.replica))
                self.assertEqual((said["comm_d"], said["comm_r"], said["replica_id"]),
                                 (expected.comm_d.hex(), expected.comm_r.hex(), expected.replica_id.hex()))
                wrapper = json.loads((self.tmp / "store" / "c1.json").read_text())
                self.assertEqual(base64.b64decode(wrapper["Phase1Out"]), expected.c1(SEED))
                self.assertEqual((wrapper["SectorNum"], wrapper["SectorSize"]), (NUMBER, 2048))
                check(shlex.split(said["prove_command"])[2:-2])

    def test_padding(self):
        for raw in (b"", b"x", bytes(range(256)) * 7, os.urandom(2032), b"\xff" * 2032):
            said = self.seal(5, raw, "--force")
            made = sector.Sector(5, padded(raw), graph.prover_id(MINER), NUMBER, TICKET)
            self.assertEqual((said["comm_d"], said["comm_r"]), (made.comm_d.hex(), made.comm_r.hex()))

    def test_update(self):
        old, new = sealed(), data_of(77)
        update = sector.Update(old, new)
        self.seal()
        words = ["bench", "seal-update", "--dir", self.tmp / "store", "--miner-id", MINER, "--sector-number", NUMBER,
                 "--data", self.file("new", new), "--json"]
        run = cuzk(*words)
        self.assert_ok(run)
        name = f"s-t0{MINER}-{NUMBER}"
        self.assertEqual((self.tmp / "store" / "update" / name).read_bytes(), b"".join(update.replica))
        cache = contents(self.tmp / "store" / "update-cache" / name)
        for file, content in update.files().items():
            self.assertEqual(cache[file], content, file)
        self.assertEqual((run.json["comm_r_old"], run.json["comm_r_new"], run.json["comm_d_new"]),
                         (old.comm_r.hex(), update.comm_r_new.hex(), update.comm_d_new.hex()))
        made = cuzk(*shlex.split(run.json["vanilla_command"])[1:], "-o", self.tmp / "vanilla.json", "--json")
        self.assert_ok(made)
        self.assertEqual(self.blobs(), [update.partition_proof()])
        # Another time the files are there, and stay.
        self.assert_fails(cuzk(*words), USAGE, "--force")


class FromFiles(SealedTest):
    def test_winning(self):
        made = sealed()
        run = self.post("winning-post", 0, [(NUMBER, made.comm_r, *self.write(made))])
        self.assert_ok(run)
        self.assertEqual(self.blobs(), [made.post(RANDOMNESS, 66)])
        check(shlex.split(run.json["prove_command"])[2:-2])

    def test_window(self):
        """Two sectors, one of them updated; V1 in a later partition, and V1_1."""
        first, second = sealed(5, 3, 7), sealed(5, 4, 1 << 50)
        update = sector.Update(second, data_of(9))
        files = [(7, first.comm_r, *self.write(first)), (1 << 50, update.comm_r_new, *self.write(update, "u"))]
        for number, indices in ((5, (60, 70)), (10, (0, 0))):
            run = self.post("window-post", number, files, "--partition", 3)
            self.assert_ok(run)
            self.assertEqual(self.blobs(), [first.post(RANDOMNESS, 10, indices[0]),
                                            second.post(RANDOMNESS, 10, indices[1], update)])
            check(shlex.split(run.json["prove_command"])[2:-2])


class Damaged(SealedTest):
    def setUp(self):
        super().setUp()
        self.made = sealed()
        self.replica, self.cache = self.write(self.made)

    def refused(self, run, *words, codes=(CORRUPT, INVALID)):
        self.assertIn(run.code, codes, str(run))
        self.assert_fails(run, run.code, *words)
        self.assertFalse([n for n in self.files() if n.startswith("vanilla")], str(run))

    def run_post(self, comm_r=None, replica=None, cache=None, number=NUMBER):
        return self.post("winning-post", 0, [(number, comm_r or self.made.comm_r, replica or self.replica,
                                              cache or self.cache)])

    def test_lengths(self):
        for path in (self.replica, self.cache / "p_aux", self.cache / "sc-02-data-tree-r-last.dat", self.cache / "t_aux"):
            good = path.read_bytes()
            for name, bad in {"empty": b"", "cut": good[:-1], "a node less": good[:-32], "longer": good + b"\0",
                              "a node more": good + bytes(32), "twice": good * 2}.items():
                with self.subTest(path.name, length=name):
                    path.write_bytes(bad)
                    self.refused(self.run_post(), str(path))
            path.write_bytes(good)
        self.assert_ok(self.run_post())

    def test_contents(self):
        for path, at in ((self.replica, 0), (self.replica, 2047 - 31), (self.cache / "p_aux", 0),
                         (self.cache / "p_aux", 32), (self.cache / "sc-02-data-tree-r-last.dat", 5)):
            good = path.read_bytes()
            for name, bad in {"bit": good[:at] + bytes([good[at] ^ 1]) + good[at + 1:],
                              "not canonical": good[:at // 32 * 32] + b"\xff" * 32 + good[at // 32 * 32 + 32:]}.items():
                with self.subTest(path.name, at=at, change=name):
                    path.write_bytes(bad)
                    self.refused(self.run_post())
            path.write_bytes(good)

    def test_absent(self):
        for path in (self.replica, self.cache / "p_aux", self.cache / "sc-02-data-tree-r-last.dat"):
            good = path.read_bytes()
            path.unlink()
            with self.subTest(path.name):
                self.refused(self.run_post(), path.name, codes=(NOT_FOUND,))
            path.mkdir()
            with self.subTest(path.name, folder=True):
                self.refused(self.run_post(), path.name, codes=(IO, CORRUPT, INVALID))
            path.rmdir()
            path.write_bytes(good)
        self.refused(self.run_post(cache=self.tmp / "none"), "none", codes=(NOT_FOUND,))
        # Without t_aux everything follows from the sector's size.
        (self.cache / "t_aux").unlink()
        self.assert_ok(self.run_post())

    def test_another_sectors(self):
        other = sealed(5, 4, 43)
        replica, cache = self.write(other, "other")
        self.refused(self.run_post(replica=replica))
        self.refused(self.run_post(cache=cache), "comm_r")
        self.refused(self.run_post(comm_r=other.comm_r), "comm_r")
        self.refused(self.run_post(replica=replica, cache=cache), "comm_r")
        for bad in ("00" * 32, "ff" * 32, "", "0123", "zz" * 32, "baga6ea4seaq", "bagboea4b5abc" + "a" * 52):
            run = cuzk("bench", "gen-vanilla", "winning-post", "--registered-proof", 0, "--sector-number", NUMBER,
                       "--comm-r", bad, "--sealed", self.replica, "--cache", self.cache, "-o", self.tmp / "vanilla.json")
            self.refused(run, codes=(USAGE, INVALID, NOT_FOUND, CORRUPT))

    def test_updates(self):
        update = sector.Update(self.made, data_of(9))
        replica, cache = self.write(update, "u")

        def run(old_cid=self.made.comm_r, new_cid=update.comm_r_new, comm_d=update.comm_d_new, key=self.replica,
                key_cache=self.cache, new=replica, new_cache=cache):
            old_file = self.file("old", commdr(self.made.comm_d, old_cid))
            new_file = self.file("new", commdr(comm_d, new_cid))
            return cuzk("bench", "gen-vanilla", "snap-prove", "--registered-proof", 0, "--sector-number", NUMBER,
                        "--orig-commdr", old_file, "--update-commdr", new_file, "--sector-key", key,
                        "--sector-key-cache", key_cache, "--replica", new, "--replica-cache", new_cache, "-o", self.tmp / "vanilla.json")

        self.assert_ok(run())
        self.assertEqual(self.blobs(), [update.partition_proof()])
        (self.tmp / "vanilla.json").unlink()
        for name, bad in {"replicas swapped": {"key": replica, "new": self.replica}, "key twice": {"new": self.replica},
                          "caches swapped": {"key_cache": cache, "new_cache": self.cache},
                          "update twice": {"key": replica, "key_cache": cache},
                          "commitments swapped": {"old_cid": update.comm_r_new, "new_cid": self.made.comm_r},
                          "comm_d for comm_r": {"new_cid": update.comm_d_new}, "comm_r for comm_d":
                          {"comm_d": update.comm_r_new}}.items():
            with self.subTest(name):
                self.refused(run(**bad))
        tree = cache / "sc-02-data-tree-d.dat"
        good = tree.read_bytes()
        apex = 32 * (64 + 32 + 16)
        for name, bad in {"cut": good[:-1], "longer": good + b"\0", "apex leaf": good[:apex] + bytes(32) + good[apex + 32:],
                          "root": good[:-32] + bytes(32), "not canonical": b"\xff" * len(good)}.items():
            tree.write_bytes(bad)
            with self.subTest(tree=name):
                self.refused(run())
        # What no challenge opens is not looked at.
        challenges = graph.snap_challenges(int.from_bytes(update.comm_r_new, "little"), 0, 1, 10, 6)
        unseen = next(i for i in range(64) if i not in challenges and i ^ 1 not in challenges)
        tree.write_bytes(good[:32 * unseen] + bytes(32) + good[32 * unseen + 32:])
        self.assert_ok(run())
        self.assertEqual(self.blobs(), [update.partition_proof()])


if __name__ == "__main__":
    unittest.main()
