"""The checker of vanilla proofs (check_vanilla.py) against known values of upstream, the vectors that upstream's own
verifiers accepted, and damaged copies of these, which it must refuse."""
import contextlib
import hashlib
import io
import json
import random
import tempfile
import unittest
from pathlib import Path

import check_vanilla
from vanilla import graph
from vanilla.parse import Invalid
from vanilla.porep import Porep
from vanilla.poseidon import node, poseidon, randomness
from vanilla.merkle import Sample
from vanilla.post import Post
from vanilla.sector import Sector, Update
from vanilla.snap import Snap

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
ALL = Sample()


def sha_of(numbers):
    return hashlib.sha256(b"".join(x.to_bytes(32, "little") for x in numbers)).hexdigest()


def vector(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def post_request(name, change=lambda blobs: blobs, **fields):
    about = vector(name)
    blobs = [(s["file"], bytearray((GOLDEN / s["file"]).read_bytes())) for s in about["sectors"]]
    return Post(about["kind"], change(blobs), fields.get("registered_proof", about["registered_post_proof"]),
                fields.get("randomness", bytes.fromhex(about["randomness"])), fields.get("partition", 0))


def snap_request(name, change=lambda blobs: blobs, **fields):
    about = vector(name)
    comms = {key: fields.get(key, bytes.fromhex(about[key])) for key in ("comm_r_old", "comm_r_new", "comm_d_new")}
    blobs = [(about["file"], bytearray((GOLDEN / about["file"]).read_bytes()))]
    return Snap(change(blobs), about["registered_update_proof"] if "registered_update_proof" in about else 3,
                only=fields.get("only", about["partition_k"]), **comms)


def porep_document():
    return json.loads((GOLDEN / "c1-2kib.json").read_text())


def check_porep(document, **fields):
    request = Porep(json.dumps(document).encode(), "c1")
    request.check(ALL, **fields)
    return request


def flipped(bit):
    """Changes one bit of the blobs, counted through all of them."""
    def change(blobs):
        at = bit // 8
        for _, data in blobs:
            if at < len(data):
                data[at] ^= 1 << bit % 8
                return blobs
            at -= len(data)
        raise AssertionError("no such bit")
    return change


class KnownValues(unittest.TestCase):
    def test_poseidon(self):
        known = {}
        for line in (GOLDEN / "poseidon" / "constants.txt").read_text().splitlines():
            if not line.startswith("#"):
                arity, name, value = line.split()
                known[int(arity), name] = value
        self.assertGreater(len(known), 100)
        for arity in (2, 4, 8, 11):
            hash_, ordinal = poseidon(arity), list(range(1, arity + 1))
            self.assertEqual(sha_of(hash_.raw), known[arity, "raw_sha256"])
            self.assertEqual(sha_of(hash_.compressed()), known[arity, "compressed_sha256"])
            self.assertEqual(f"{hash_(ordinal):064x}", known[arity, "hash_from_1"])
            self.assertEqual(hash_.plain(ordinal), hash_(ordinal))
            numbers = [random.Random(arity).getrandbits(254) for _ in range(arity)]
            self.assertEqual(hash_.plain(numbers), hash_(numbers))
        self.assertEqual(node((1, 2)), poseidon(2)((1, 2)))
        self.assertEqual(f"{randomness(1, 2):064x}", "702c879bafdb05ab3018f4fbc1d4c74854af845cdbb6bb53e40d5f9cb5e92f3c")

    def test_parents(self):
        # porep.md 3.3: number, nodes, node, base parents, expander parents
        for number, nodes, v, base, expander in (
                (0, 64, 10, (6, 9, 2, 5, 8, 9), (44, 41, 23, 36, 14, 19, 4, 28)),
                (5, 64, 0, (0,) * 6, (4, 9, 60, 1, 14, 26, 26, 4)),
                (5, 64, 63, (62, 15, 42, 62, 61, 62), (0, 15, 30, 30, 28, 42, 49, 38)),
                (10, 64, 10, (9, 8, 6, 9, 6, 0), (52, 22, 49, 20, 53, 5, 27, 31)),
                (3, 1 << 30, (1 << 29) + 1,
                 (536861054, 529946396, 531563247, 372695688, 536782480, 536870912),
                 (328393179, 342698291, 366223815, 98282549, 509997231, 239795397, 286058309, 247437817)),
                (8, 1 << 30, (1 << 30) - 1,
                 (1073741822, 1073258530, 440642413, 663190843, 1073741654, 1073741786),
                 (307718517, 715446084, 558280128, 265147410, 110937796, 626719228, 201839602, 653041812)),
                (9, 1 << 31, (1 << 31) - 1,
                 (2147483646, 2147483645, 2147473607, 2147483646, 2147483609, 1322413322),
                 (319537050, 259923117, 180788485, 1838730986, 786079656, 319786570, 1561782586, 1183784015))):
            tried = graph.Graph(number, nodes)
            self.assertEqual(tried.base_parents(v), base)
            self.assertEqual(tried.expander_parents(v), expander)

    def test_challenges(self):
        ids = {"rid": (55).to_bytes(32, "little"), "comm_r": (101).to_bytes(32, "little"), "seed": b"\1" * 32}
        # porep.md 6, partition 9 of 18 challenges each: the first three
        for feature, nodes, expected in (("", 64, [34, 49, 58]), ("synthetic", 64, [50, 30, 30]),
                                         ("non-interactive", 64, [54, 23, 27]),
                                         ("", 1 << 30, [308443813, 674935807, 347159416]),
                                         ("synthetic", 1 << 30, [1010608941, 437036237, 601271567]),
                                         ("non-interactive", 1 << 30, [175510242, 1068193751, 477854145])):
            self.assertEqual(graph.porep_challenges(feature, nodes, 9 * 18, 3, **ids), expected)
        rand = bytes(range(32))
        self.assertEqual([graph.post_challenge(rand, 12345, n, 64) for n in range(4)], [59, 29, 24, 10])
        self.assertEqual([graph.post_challenge(rand, 1, n, 1 << 30) for n in range(2)], [1071472686, 661541706])
        comm_r = bytes.fromhex("101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c")
        comm_r = int.from_bytes(comm_r, "little")
        self.assertEqual(graph.snap_challenges(comm_r, 1, 4, 10, 18)[:5], [78878, 130797, 112892, 93994, 78379])
        self.assertEqual(graph.snap_challenges(comm_r, 15, 16, 86, 30)[:2], [1038629497, 1053983614])
        self.assertEqual(graph.snap_challenges(comm_r, 15, 16, 86, 31)[4], 2147167623)

    def test_ids(self):
        derived = graph.replica_id(b"\x09" * 32, 7, b"\1" * 32, b"\4" * 32, graph.Graph(5, 64).porep_id)
        self.assertEqual(derived[::-1].hex(), "32f62eaa8b052e8a5394c540f2e8cd47c5630b3dc86bb3c8f2272cfc5481e2fe")
        self.assertEqual(graph.prover_id(1000)[:3], b"\xe8\x07\0")
        self.assertEqual(graph.prover_id(0), bytes(32))
        # porep.md 10.3: the first labels of a 2 KiB sector
        rid = bytes.fromhex("7e49afa520343b89e97483fc455af4d432d5fc2627d9e9e9dca04be4af615406")
        zero = graph.label(rid, 1, 0, [])
        self.assertEqual(zero.hex(), "3edd9f07d7e63d9e280cc21ed0169b5c3d883874cbecf787a8dc724f656cd111")
        self.assertEqual(graph.label(rid, 1, 1, graph.cycled([zero] * 6)).hex(),
                         "bf4d1605aa3a9e8a498fe44bb0d5ae911ec1581a8580c7c546db2ae06621ef07")


class Vectors(unittest.TestCase):
    def test_posts(self):
        for name in ("winning-2KiB", "winning-32GiB", "window-2KiB-v1", "window-2KiB-v1_1", "window-2KiB-v1_1-padded",
                     "window-32GiB-v1_1"):
            with self.subTest(name):
                request, about = post_request(name), vector(name)
                request.check(ALL)
                (inputs,) = request.public_inputs()
                self.assertEqual(len(inputs) + 1, about["num_inputs_with_one"])
                self.assertEqual(sha_of([1, *inputs]), about["sha256_input_assignment"])
                for position, sector in enumerate(about["sectors"]):
                    self.assertEqual(request.challenges(position), sector["challenges"])

    def test_snaps(self):
        for name in ("snap-2KiB-k0", "snap-32GiB-k0"):
            with self.subTest(name):
                request, about = snap_request(name), vector(name)
                request.check(Sample(3) if "32" in name else ALL)
                (inputs,) = request.public_inputs()
                self.assertEqual(sha_of([1, *inputs]), about["sha256_input_assignment"])
                self.assertEqual(request.challenges(0), about["challenges"])

    def test_porep(self):
        request = check_porep(porep_document())
        nodes = [18, 17, 16, 17, 17, 16, 0, 53, 41, 53, 47, 32, 31, 4, 38, 18, 18, 18,
                 2, 1, 1, 1, 0, 1, 0, 30, 28, 55, 63, 63, 36, 37, 36, 2, 2, 2]
        (inputs,) = request.public_inputs()
        self.assertEqual(inputs[3:], nodes)
        self.assertEqual(sha_of([1, *inputs]), "fdd35d368ed1c09a29052ea51f6cff32a3bb7bb1f9e004540aeeca0b6d67bc1c")

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "inputs"
            words = ["--kind", "porep", "--input", str(GOLDEN / "c1-2kib.json"), "--public-inputs",
                     str(written)]
            self.assertEqual(self.command(words), (0, "valid: porep, 1 partition(s), 39 public inputs\n"))
            self.assertEqual(written.read_text().splitlines()[3], "12")
            code, output = self.command([*words, "--miner-id", "1000", "--sector", "7"])
            self.assertEqual((code, output[:21]), (1, "invalid: replica_id: "))

    @staticmethod
    def command(words):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            return check_vanilla.main(words), output.getvalue()


class Sealed(unittest.TestCase):
    """The sealer in Python against upstream's vector, and what it makes against the checker."""
    DATA = b"".join((i * 0x010203040506 + 1).to_bytes(32, "little") for i in range(64))

    def sector(self, number):
        return Sector(number, self.DATA, b"\x09" * 32, 7, b"\1" * 32)

    def test_vector(self):
        sector = self.sector(5)
        self.assertEqual(sector.c1(b"\2" * 32), (GOLDEN / "c1-2kib.json").read_bytes().strip())
        self.assertEqual(hashlib.sha256(b"".join(sector.replica)).hexdigest(),
                         "25fc975224137136187d35fa17f0263d3e09128c231866df93b4137cb9c2837c")

    def test_everything_made_is_valid(self):
        for number, partitions in ((0, 1), (10, 1), (15, 13)):
            request = Porep(self.sector(number).c1(b"\2" * 32), "c1")
            request.check(ALL)
            self.assertEqual(len(request.public_inputs()), partitions)
        sector, rand = self.sector(5), b"\5" * 32
        update = Update(sector, self.DATA[1024:] + self.DATA[:1024])
        Post("winning", [("p", sector.post(rand, 66))], 0, rand).check(ALL)
        Post("window", [("p", sector.post(rand, 10, first_index=40))], 5, rand, partition=2).check(ALL)
        Post("window", [("p", sector.post(rand, 10, updated=update))], 10, rand).check(ALL)
        Snap([("p", update.partition_proof())], 0, sector.comm_r, update.comm_r_new, update.comm_d_new).check(ALL)


class Damage(unittest.TestCase):
    """No changed bit passes, wherever it is, and nothing but Invalid comes of it."""

    def refused(self, build, *words):
        with self.assertRaises(Invalid) as caught:
            request = build()
            request.check(ALL)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_bits_of_posts(self):
        choose = random.Random(7)
        for name, bytes_ in (("window-2KiB-v1", 2 * 5680), ("window-2KiB-v1_1", 2 * 5680), ("winning-2KiB", 36816)):
            for bit in [choose.randrange(8 * bytes_) for _ in range(40)]:
                with self.subTest(name, bit=bit):
                    self.refused(lambda: post_request(name, flipped(bit)))

    def test_bits_of_snap(self):
        choose = random.Random(8)
        for bit in [choose.randrange(8 * 15064) for _ in range(60)]:
            with self.subTest(bit=bit):
                self.refused(lambda: snap_request("snap-2KiB-k0", flipped(bit)))

    def test_numbers_of_porep(self):
        """One number anywhere in the document, the ticket apart, which only the replica id depends on."""
        places = []

        def walk(value, place):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(inner, (dict, list)):
                    walk(inner, (*place, key))
                elif type(inner) is int and place[0] != "ticket":
                    places.append((*place, key))

        walk(porep_document(), ())
        self.assertGreater(len(places), 20000)
        choose = random.Random(9)
        for place in choose.sample(places, 60):
            document = porep_document()
            at = document
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] ^= 1
            with self.subTest(place=place), self.assertRaises(Invalid):
                check_porep(document)

    def test_named_faults(self):
        swap = lambda blobs: blobs[::-1]
        self.refused(lambda: post_request("window-2KiB-v1_1", swap), "sector 5", "increase")
        self.refused(lambda: post_request("window-2KiB-v1_1", lambda b: [b[0], b[0]]), "increase")
        self.refused(lambda: post_request("window-2KiB-v1_1", lambda b: []), "0 of them")
        self.refused(lambda: post_request("window-2KiB-v1_1", lambda b: b * 2), "4 of them")
        self.refused(lambda: post_request("window-2KiB-v1_1", lambda b: [(b[0][0], b[0][1][:-1])]), "past the end")
        self.refused(lambda: post_request("window-2KiB-v1_1", lambda b: [(b[0][0], b[0][1] + b"\0")]), "after the end")
        self.refused(lambda: post_request("window-2KiB-v1_1", registered_proof=5), "sector 9 challenge 0")
        self.refused(lambda: post_request("window-2KiB-v1", partition=1), "sector 5 challenge 0")
        self.refused(lambda: post_request("window-2KiB-v1", randomness=b"\xff" * 32), "randomness")
        self.refused(lambda: post_request("winning-2KiB", registered_proof=5), "not of winning")
        self.refused(lambda: snap_request("snap-2KiB-k0", lambda b: []), "0 of them")
        about = vector("snap-2KiB-k0")
        for key, other in (("comm_r_old", "comm_r_new"), ("comm_d_new", "comm_r_old"), ("comm_r_new", "comm_r_old")):
            self.refused(lambda: snap_request("snap-2KiB-k0", **{key: bytes.fromhex(about[other])}), key)
        self.refused(lambda: snap_request("snap-32GiB-k0", only=1), "partition 1")
        document = porep_document()
        for key in ("comm_r", "comm_d", "replica_id", "seed"):
            with self.subTest(key), self.assertRaises(Invalid):
                check_porep({**document, key: document["comm_d" if key == "comm_r" else "comm_r"]})
        with self.assertRaises(Invalid):
            check_porep({**document, "registered_proof": "StackedDrg2KiBV1"})


if __name__ == "__main__":
    unittest.main()
