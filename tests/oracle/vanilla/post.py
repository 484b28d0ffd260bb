"""Winning and Window PoSt: one vanilla proof a sector."""
from .graph import post_challenge
from .merkle import check_comm_r, check_index, check_root, poseidon_node
from .parse import GIB, SECTOR_ORDER, Bincode, field_element, replica_tree, require

WINNING_CHALLENGES, WINDOW_CHALLENGES = 66, 10


class SectorProof:
    def __init__(self, data, name, challenges, sector_bytes):
        reader = Bincode(data, name)
        self.sector = reader.number(8, "sector number")
        reader.where = self.where = f"{name} sector {self.sector}"
        self.comm_r = reader.take(32, "comm_r")
        reader.count(1, "sector proofs")
        reader.count(challenges, "inclusion proofs")
        parts = replica_tree(sector_bytes)
        self.inclusions = [reader.merkle(parts, f"challenge {i}") for i in range(challenges)]
        self.comm_c, self.comm_r_last = reader.take(32, "comm_c"), reader.take(32, "comm_r_last")
        reader.end()
        for name in ("comm_r", "comm_c", "comm_r_last"):
            field_element(getattr(self, name), f"{self.where} {name}")
        require(any(self.comm_r), self.where, "comm_r is all zeros")


class Post:
    def __init__(self, kind, blobs, registered_proof, randomness, partition=0):
        numbers = range(5) if kind == "winning" else range(5, 15)
        require(registered_proof in numbers, "registered proof", f"{registered_proof} is not of {kind} PoSt")
        self.kind, self.randomness = kind, randomness
        field_element(randomness, "randomness")
        self.sector_bytes = SECTOR_ORDER[registered_proof % 5]
        self.by_position = registered_proof < 10  # V1: the challenges depend on the position in the partition
        self.slots = {32 * GIB: 2349, 64 * GIB: 2300}.get(self.sector_bytes, 2)
        self.partition = partition
        if kind == "winning":
            require(len(blobs) == 1, "vanilla proofs", f"{len(blobs)} of them, not 1")
        else:
            require(1 <= len(blobs) <= self.slots, "vanilla proofs", f"{len(blobs)} of them, not 1 to {self.slots}")
        count = WINNING_CHALLENGES if kind == "winning" else WINDOW_CHALLENGES
        self.sectors = [SectorProof(data, name, count, self.sector_bytes) for name, data in blobs]
        for before, after in zip(self.sectors, self.sectors[1:]):
            require(before.sector < after.sector, after.where,
                    f"after sector {before.sector}: the numbers have to increase")

    def challenges(self, position):
        """The challenges of the sector at this position."""
        count = len(self.sectors[position].inclusions)
        first = 0
        if self.kind == "window" and self.by_position:
            first = (self.partition * self.slots + position) * count
        return [post_challenge(self.randomness, self.sectors[position].sector, first + n, self.sector_bytes // 32)
                for n in range(count)]

    def check(self, sample):
        for position, sector in enumerate(self.sectors):
            for proof, challenge in zip(sector.inclusions, self.challenges(position)):
                check_index(proof, challenge)
                require(proof.root == sector.comm_r_last, proof.where, "its root is not comm_r_last")
        for position in sample.of(len(self.sectors)):
            sector = self.sectors[position]
            check_comm_r(sector.comm_c, sector.comm_r_last, sector.comm_r, sector.where)
            for proof in sector.inclusions:
                check_root(proof, poseidon_node)

    def public_inputs(self):
        inputs = []
        for position, sector in enumerate(self.sectors):
            comm_r, challenges = int.from_bytes(sector.comm_r, "little"), self.challenges(position)
            if self.kind == "winning":
                return [[value for challenge in challenges for value in (comm_r, challenge)]]
            inputs += [comm_r, *challenges]
        return [inputs + inputs[-(1 + WINDOW_CHALLENGES):] * (self.slots - len(self.sectors))]
