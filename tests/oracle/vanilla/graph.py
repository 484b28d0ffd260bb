"""The StackedDRG graph, labels, and the challenges of every kind of proof, from hashlib and integers."""
import hashlib
from functools import lru_cache
from math import ceil, log2

from .poseidon import R, randomness

LABEL_PARENTS = 37
MASK32 = 0xFFFFFFFF


def trim(digest):
    """The digest with the two top bits of its last byte cleared, so that it is a field element."""
    return digest[:31] + bytes([digest[31] & 0x3F])


def sha_node(left, right):
    return trim(hashlib.sha256(left + right).digest())


def chacha_block(key, counter_words, rounds):
    """One block of ChaCha: 16 words. counter_words are words 12 to 15."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start += [int.from_bytes(key[i:i + 4], "little") for i in range(0, 32, 4)] + list(counter_words)
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & MASK32
            v = s[z] ^ s[x]
            s[z] = (v << turn | v >> (32 - turn)) & MASK32

    for _ in range(rounds // 2):
        quarter(0, 4, 8, 12), quarter(1, 5, 9, 13), quarter(2, 6, 10, 14), quarter(3, 7, 11, 15)
        quarter(0, 5, 10, 15), quarter(1, 6, 11, 12), quarter(2, 7, 8, 13), quarter(3, 4, 9, 14)
    return [(x + y) & MASK32 for x, y in zip(s, start)]


def _chacha8_u64(seed):
    block = 0
    while True:
        words = chacha_block(seed, (block & MASK32, block >> 32, 0, 0), 8)
        for i in range(0, 16, 2):
            yield words[i] | words[i + 1] << 32
        block += 1


def _keystream(key, offset, size):
    """Bytes of ChaCha20 with the nonce of synthetic challenges."""
    nonce = [int.from_bytes(b"synth-porep\0"[i:i + 4], "little") for i in (0, 4, 8)]
    first = offset // 64
    stream = b"".join(word.to_bytes(4, "little") for block in range(first, (offset + size + 63) // 64)
                      for word in chacha_block(key, [block, *nonce], 20))
    return stream[offset - 64 * first:][:size]


class Graph:
    """The graph of a registered seal proof (its number) over `nodes` nodes."""

    def __init__(self, number, nodes):
        self.nodes, self.version_1_0 = nodes, number < 5
        self.porep_id = number.to_bytes(8, "little") + bytes(24)
        self.drg_seed = hashlib.sha256(b"Filecoin_DRSample" + self.porep_id).digest()[:28]
        keys = hashlib.sha256(b"Filecoin_Feistel" + self.porep_id).digest()
        self.keys = [int.from_bytes(keys[i:i + 8], "little") for i in (0, 8, 16)]
        self.half_bits = 1
        while 4**self.half_bits < 8 * nodes:
            self.half_bits += 1

    @lru_cache(maxsize=None)
    def base_parents(self, node):
        if node < 2:
            return (0,) * 6
        draw = _chacha8_u64(self.drg_seed + node.to_bytes(4, "little"))
        metagraph = 5 * node
        buckets = ceil(log2(metagraph))
        sampled = []
        for _ in range(5):
            largest = min(metagraph, 2**(next(draw) % buckets + 1))
            smallest = max(2, largest // 2)
            distance = smallest + next(draw) % (largest - smallest + 1)
            parent = (metagraph - distance) // 5
            sampled.append(node - 1 if parent == node else parent)
        return (*sampled, node - 1) if self.version_1_0 else (node - 1, *sampled)

    def _feistel(self, x):
        mask = (1 << self.half_bits) - 1
        left, right = x >> self.half_bits, x & mask
        for key in self.keys:
            digest = hashlib.blake2b(right.to_bytes(8, "big") + key.to_bytes(8, "big")).digest()
            left, right = right, left ^ (int.from_bytes(digest[:8], "big") & mask)
        return left << self.half_bits | right

    @lru_cache(maxsize=None)
    def expander_parents(self, node):
        parents = []
        for i in range(8):
            x = self._feistel(8 * node + i)
            while x >= 8 * self.nodes:
                x = self._feistel(x)
            parents.append((x & MASK32) // 8 if self.version_1_0 else x // 8)
        return tuple(parents)


def label(replica_id, layer, node, parents):
    """The label of a node from the labels of its 37 parents (none for node 0)."""
    head = replica_id + layer.to_bytes(4, "big") + node.to_bytes(8, "big") + bytes(20)
    return trim(hashlib.sha256(head + b"".join(parents)).digest())


def cycled(parents):
    return [parents[i % len(parents)] for i in range(LABEL_PARENTS)]


def replica_id(prover_id, sector, ticket, comm_d, porep_id):
    return trim(hashlib.sha256(prover_id + sector.to_bytes(8, "big") + ticket + comm_d + porep_id).digest())


def prover_id(miner):
    """The identity of a miner: LEB128, padded with zeros."""
    out = bytearray()
    while True:
        out.append(miner & 0x7F | (0x80 if miner > 0x7F else 0))
        miner >>= 7
        if not miner:
            return bytes(out).ljust(32, b"\0")


def porep_challenges(feature, nodes, first, count, *, rid, comm_r, seed):
    """Challenges first .. first+count-1 of a sector. feature: "", "synthetic" or "non-interactive"."""
    def challenge(data):
        return int.from_bytes(data, "little") % (nodes - 1) + 1

    numbers = [j.to_bytes(4, "little") for j in range(first, first + count)]
    if feature == "":
        return [challenge(hashlib.sha256(rid + seed + j).digest()) for j in numbers]
    if feature == "non-interactive":
        name = b"filecoin.io|PoRep|1|NonInteractive|1"
        return [challenge(hashlib.sha256(name + rid + comm_r + j).digest()) for j in numbers]
    generation = hashlib.blake2b(rid + comm_r, digest_size=32,
                                 key=b"filecoin.io|PoRep|1|Synthetic|1|Generation").digest()
    selection = hashlib.blake2b(rid + seed, digest_size=32, key=b"filecoin.io|PoRep|1|Synthetic|1|Selection").digest()
    indices = [int.from_bytes(_keystream(selection, 4 * j, 4), "little") % min(nodes, 1 << 18)
               for j in range(first, first + count)]
    return [challenge(_keystream(generation, 32 * i, 32)) for i in indices]


def post_challenge(randomness_bytes, sector, index, nodes):
    digest = hashlib.sha256(randomness_bytes + sector.to_bytes(8, "little") + index.to_bytes(8, "little")).digest()
    return int.from_bytes(digest[:8], "little") % nodes


def snap_challenges(comm_r_new, partition, partitions, count, bits):
    """The challenges of one partition; bits: log2 of the nodes."""
    low_bits = bits - (partitions.bit_length() - 1)
    in_digest = 254 // low_bits
    digests = -(-count // in_digest)
    challenges = []
    for i in range(count):
        digest = randomness(comm_r_new, (partition * digests + i // in_digest) % R)
        low = digest >> (i % in_digest * low_bits) & ((1 << low_bits) - 1)
        challenges.append(low + (partition << low_bits))
    return challenges
