"""A 2 KiB sector sealed in Python: labels, trees and replica from data, and from them every kind of vanilla proof and
the files of the sector. What the engine's own sealer and generators make is compared with it."""
import json
from functools import cached_property

from . import graph
from .merkle import data_node, poseidon_node
from .porep import REGISTERED, SealProof
from .poseidon import R, randomness
from .snap import Shape


def _le(x):
    return x.to_bytes(32, "little")


def _int(data):
    return int.from_bytes(data, "little")


class Tree:
    """All rows of a tree, leaves first."""

    def __init__(self, leaves, arity, hash_node):
        self.arity, self.rows = arity, [list(leaves)]
        while len(self.rows[-1]) > 1:
            row = self.rows[-1]
            self.rows.append([hash_node(row[i:i + arity]) for i in range(0, len(row), arity)])

    @property
    def root(self):
        return self.rows[-1][0]

    def path(self, leaf):
        """(siblings, index) of every level."""
        elements = []
        for row in self.rows[:-1]:
            first, index = leaf - leaf % self.arity, leaf % self.arity
            children = row[first:first + self.arity]
            elements.append((children[:index] + children[index + 1:], index))
            leaf //= self.arity
        return elements

    def nodes(self):
        return b"".join(node for row in self.rows for node in row)

    def json_proof(self, leaf):
        path = [{"hashes": [list(h) for h in hashes], "index": index} for hashes, index in self.path(leaf)]
        return {"data": {"Single": {"root": list(self.root), "leaf": list(self.rows[0][leaf]), "path": {"path": path}}}}

    def bincode_proof(self, leaf):
        parts = [(0).to_bytes(4, "little"), self.root, self.rows[0][leaf], len(self.rows[1:]).to_bytes(8, "little")]
        for hashes, index in self.path(leaf):
            parts += [len(hashes).to_bytes(8, "little"), *hashes, index.to_bytes(8, "little")]
        return b"".join(parts)


class Sector:
    """A sector of one base tree and one partition. data: its bytes, each 32 of them a field element."""

    def __init__(self, number, data, prover_id, sector, ticket):
        self.number, self.seal = number, SealProof(REGISTERED[number])
        assert len(data) == self.seal.sector_bytes == 2048
        self.sector, self.ticket = sector, ticket
        nodes = range(len(data) // 32)
        self.data = [data[32 * i:32 * i + 32] for i in nodes]
        self.tree_d = Tree(self.data, 2, data_node)
        self.comm_d = self.tree_d.root
        self.replica_id = graph.replica_id(prover_id, sector, ticket, self.comm_d, self.seal.graph.porep_id)
        self.layers = []
        for layer in range(1, self.seal.layers + 1):
            labels = []
            for v in nodes:
                parents = [labels[p] for p in self._base(v)] if v else []
                if v and self.layers:
                    parents += [self.layers[-1][p] for p in self._expander(v)]
                labels.append(graph.label(self.replica_id, layer, v, graph.cycled(parents) if v else []))
            self.layers.append(labels)
        self.tree_c = Tree([poseidon_node([layer[v] for layer in self.layers]) for v in nodes], 8, poseidon_node)
        self.replica = [_le((_int(self.layers[-1][v]) + _int(self.data[v])) % R) for v in nodes]
        self.tree_r = Tree(self.replica, 8, poseidon_node)
        self.comm_c, self.comm_r_last = self.tree_c.root, self.tree_r.root

    def _base(self, v):
        return self.seal.graph.base_parents(v)

    def _expander(self, v):
        return self.seal.graph.expander_parents(v)

    @cached_property
    def comm_r(self):
        return poseidon_node([self.comm_c, self.comm_r_last])

    # ---- PoRep

    def _column(self, v):
        rows = [list(layer[v]) for layer in self.layers]
        return {"column": {"index": v, "rows": rows, "_h": None}, "inclusion_proof": self.tree_c.json_proof(v)}

    def _challenge(self, v):
        labeling = []
        for i, layer in enumerate(self.layers):
            parents = [layer[p] for p in self._base(v)]
            parents += [self.layers[i - 1][p] for p in self._expander(v)] if i else []
            labeling.append({"parents": [list(p) for p in graph.cycled(parents)], "layer_index": i + 1, "node": v})
        return {"comm_d_proofs": self.tree_d.json_proof(v), "comm_r_last_proof": self.tree_r.json_proof(v),
                "replica_column_proofs": {"c_x": self._column(v),
                                          "drg_parents": [self._column(p) for p in self._base(v)],
                                          "exp_parents": [self._column(p) for p in self._expander(v)]},
                "labeling_proofs": labeling, "encoding_proof": labeling[-1]}

    def c1(self, seed):
        """The output of commit phase 1, as serde_json writes it."""
        count = self.seal.challenges
        partitions = [[self._challenge(v) for v in graph.porep_challenges(
            self.seal.feature, len(self.data), count * k, count, rid=self.replica_id, comm_r=self.comm_r, seed=seed)]
            for k in range(self.seal.partitions)]
        document = {"registered_proof": REGISTERED[self.number],
                    "vanilla_proofs": {self.seal.vanilla_tag: partitions},
                    **{key: list(getattr(self, key)) for key in ("comm_r", "comm_d", "replica_id")},
                    "seed": list(seed), "ticket": list(self.ticket)}
        return json.dumps(document, separators=(",", ":")).encode()

    # ---- PoSt

    def post(self, randomness_bytes, count, first_index=0, updated=None):
        """The vanilla proof of a PoSt with `count` challenges; of the updated replica where one is given."""
        tree = updated.tree_r if updated else self.tree_r
        proofs = b"".join(tree.bincode_proof(graph.post_challenge(randomness_bytes, self.sector, first_index + n,
                                                                  len(self.data))) for n in range(count))
        comm_r = poseidon_node([self.comm_c, tree.root])
        return (self.sector.to_bytes(8, "little") + comm_r + (1).to_bytes(8, "little") + count.to_bytes(8, "little") +
                proofs + self.comm_c + tree.root)

    # ---- files

    def _t_aux(self):
        def store(name, nodes, discarded):
            return (bytes(8) + len(name).to_bytes(8, "little") + name.encode() + b"\1" + nodes.to_bytes(8, "little") +
                    discarded.to_bytes(8, "little"))

        labels = [store(f"layer-{i + 1}", len(layer), 0) for i, layer in enumerate(self.layers)]
        return (len(labels).to_bytes(8, "little") + b"".join(labels) + store("tree-d", 127, 0) +
                store("tree-r-last", 73, 1) + store("tree-c", 73, 0))

    def files(self):
        """Name in the cache folder: bytes. (The replica itself is not among them.)"""
        return {**{f"sc-02-data-layer-{i + 1}.dat": b"".join(layer) for i, layer in enumerate(self.layers)},
                "sc-02-data-tree-d.dat": self.tree_d.nodes(), "sc-02-data-tree-c.dat": self.tree_c.nodes(),
                "sc-02-data-tree-r-last.dat": b"".join(self.tree_r.rows[2]), "p_aux": self.comm_c + self.comm_r_last,
                "t_aux": self._t_aux()}


class Update:
    """New data in a sealed sector."""

    def __init__(self, old, data):
        self.old, self.shape = old, Shape(len(data))
        self.data = [data[32 * i:32 * i + 32] for i in range(len(data) // 32)]
        self.tree_d = Tree(self.data, 2, data_node)
        self.comm_d_new = self.tree_d.root
        phi = randomness(_int(self.comm_d_new), _int(old.comm_r))
        self.replica = [_le((_int(label) + _int(d) * randomness(phi, v >> self.shape.bits - self.shape.high_bits)) % R)
                        for v, (label, d) in enumerate(zip(old.replica, self.data))]
        self.tree_r = Tree(self.replica, 8, poseidon_node)
        self.comm_r_new = poseidon_node([old.comm_c, self.tree_r.root])

    def partition_proof(self):
        """The vanilla proof of the only partition."""
        apex = self.tree_d.rows[self.shape.below_apex]
        challenges = graph.snap_challenges(_int(self.comm_r_new), 0, 1, self.shape.challenges, self.shape.bits)
        return (self.old.comm_c + len(apex).to_bytes(8, "little") + b"".join(apex) +
                len(challenges).to_bytes(8, "little") +
                b"".join(tree.bincode_proof(c) for c in challenges
                         for tree in (self.old.tree_r, self.tree_d, self.tree_r)))

    def files(self):
        """Name in the update cache folder: bytes."""
        return {"sc-02-data-tree-d.dat": self.tree_d.nodes(),
                "sc-02-data-tree-r-last.dat": b"".join(self.tree_r.rows[2]),
                "p_aux": self.old.comm_c + self.tree_r.root}
