"""SnapDeals: one vanilla proof a partition of the updated sector."""
from .graph import sha_node, snap_challenges
from .merkle import check_comm_r, check_index, check_root, climb, data_node, poseidon_node
from .parse import KIB, MIB, SECTOR_ORDER, Bincode, data_tree, field_element, replica_tree, require
from .poseidon import R, randomness


class Shape:
    """The numbers that belong to a sector size."""

    def __init__(self, sector_bytes):
        self.bits = (sector_bytes // 32).bit_length() - 1
        if sector_bytes == 2 * KIB:
            self.partitions, self.challenges, self.high_bits, self.apex_bits, self.h_select = 1, 10, 1, 3, 1
        elif sector_bytes == 8 * MIB:
            self.partitions, self.challenges, self.high_bits, self.apex_bits, self.h_select = 4, 10, 10, 7, 8
        else:
            self.partitions, self.challenges, self.high_bits, self.apex_bits, self.h_select = 16, 86, 10, 7, 8
        self.partition_bits = self.partitions.bit_length() - 1
        self.below_apex = self.bits - self.partition_bits - self.apex_bits  # levels from a leaf to an apex leaf


class PartitionProof:
    def __init__(self, data, name, k, sector_bytes, shape):
        self.k, self.where = k, f"{name} partition {k}"
        reader = Bincode(data, self.where)
        self.comm_c = reader.take(32, "comm_c")
        field_element(self.comm_c, f"{self.where} comm_c")
        reader.count(1 << shape.apex_bits, "apex leaves")
        self.apex = [reader.take(32, f"apex leaf {i}") for i in range(1 << shape.apex_bits)]
        for i, leaf in enumerate(self.apex):
            field_element(leaf, f"{self.where} apex leaf {i}")
        reader.count(shape.challenges, "challenge proofs")
        replica, plain = replica_tree(sector_bytes), data_tree(sector_bytes)
        self.challenges = [(reader.merkle(replica, f"challenge {i} old replica"),
                            reader.merkle(plain, f"challenge {i} new data"),
                            reader.merkle(replica, f"challenge {i} new replica")) for i in range(shape.challenges)]
        reader.end()


class Snap:
    """A request; of all partitions, or of one alone (`only`)."""

    def __init__(self, blobs, registered_proof, comm_r_old, comm_r_new, comm_d_new, only=None):
        require(registered_proof in range(5), "registered proof", f"{registered_proof} is not of an update")
        sector_bytes = SECTOR_ORDER[registered_proof]
        self.shape = Shape(sector_bytes)
        self.comm_r_old, self.comm_r_new, self.comm_d_new = comm_r_old, comm_r_new, comm_d_new
        self.comms = [field_element(value, name) for name, value in
                      (("comm_r_old", comm_r_old), ("comm_d_new", comm_d_new), ("comm_r_new", comm_r_new))]
        numbers = range(self.shape.partitions) if only is None else [only]
        require(set(numbers) <= set(range(self.shape.partitions)), "partition", f"{only} is none")
        require(len(blobs) == len(numbers), "vanilla proofs", f"{len(blobs)} of them, not {len(numbers)}")
        self.partitions = [PartitionProof(data, name, k, sector_bytes, self.shape)
                           for k, (name, data) in zip(numbers, blobs)]

    def challenges(self, k):
        return snap_challenges(self.comms[2], k, self.shape.partitions, self.shape.challenges, self.shape.bits)

    def check(self, sample):
        comm_c = self.partitions[0].comm_c
        phi = randomness(self.comms[1], self.comms[0])
        for partition in self.partitions:
            require(partition.comm_c == comm_c, partition.where, "another comm_c than the first partition")
            root_old, root_new = partition.challenges[0][0].root, partition.challenges[0][2].root
            check_comm_r(comm_c, root_old, self.comm_r_old, partition.where, "comm_r_old")
            check_comm_r(comm_c, root_new, self.comm_r_new, partition.where, "comm_r_new")
            self._check_apex(partition)
            for (old, plain, new), challenge in zip(partition.challenges, self.challenges(partition.k)):
                for proof, root, name in ((old, root_old, "comm_r_old"), (plain, self.comm_d_new, "comm_d_new"),
                                          (new, root_new, "comm_r_new")):
                    check_index(proof, challenge)
                    require(proof.root == root, proof.where, f"not the root that {name} stands for")
                self._check_encoding(phi, challenge, old, plain, new)
            for i in sample.of(len(partition.challenges)):
                for proof, hash_node in zip(partition.challenges[i], (poseidon_node, data_node, poseidon_node)):
                    check_root(proof, hash_node)

    def _check_apex(self, partition):
        """The apex tree leads to comm_d_new by the last siblings, and every data path runs through it."""
        shape = self.shape
        rows = [partition.apex]
        while len(rows[-1]) > 1:
            rows.append([sha_node(*pair) for pair in zip(rows[-1][::2], rows[-1][1::2])])
        last = [element[0][0] for element in partition.challenges[0][1].path[shape.bits - shape.partition_bits:]]
        node = rows[-1][0]
        for level, sibling in enumerate(last):
            node = sha_node(sibling, node) if partition.k >> level & 1 else sha_node(node, sibling)
        require(node == self.comm_d_new, partition.where, "the apex leaves do not lead to comm_d_new")
        for (_, plain, _), challenge in zip(partition.challenges, self.challenges(partition.k)):
            below = climb(plain, data_node, shape.below_apex)
            position = challenge >> shape.below_apex & ((1 << shape.apex_bits) - 1)
            require((below or [plain.leaf])[-1] == partition.apex[position], plain.where,
                    f"does not lead to apex leaf {position}")
            for level in range(shape.apex_bits):
                sibling = plain.path[shape.below_apex + level][0][0]
                require(sibling == rows[level][position >> level ^ 1], plain.where,
                        f"its sibling {level} levels above the apex leaves is not the apex tree's")
            require([element[0][0] for element in plain.path[shape.bits - shape.partition_bits:]] == last, plain.where,
                    "its last siblings are not those of challenge 0")

    def _check_encoding(self, phi, challenge, old, plain, new):
        high = challenge >> (self.shape.bits - self.shape.high_bits)
        rho = randomness(phi, high)
        expected = (int.from_bytes(old.leaf, "little") + int.from_bytes(plain.leaf, "little") * rho) % R
        require(expected == int.from_bytes(new.leaf, "little"), new.where,
                "its leaf is not the old one plus the data times rho")

    def public_inputs(self):
        return [[p.k | self.shape.h_select << self.shape.partition_bits, *self.comms] for p in self.partitions]
