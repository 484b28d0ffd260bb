"""PoRep: the commit phase 1 output of a sector."""
from dataclasses import dataclass

from . import graph
from .merkle import check_comm_r, check_index, check_root, data_node, poseidon_node
from .parse import (SECTOR_ORDER, SECTORS, GIB, data_tree, decode_base64, field_element, json_bytes, json_list,
                    json_merkle, member, parse_json, replica_tree, require)
from .poseidon import R

FAMILIES = ("V1", "V1_1", "V1_1_Feat_SyntheticPoRep", "V1_2_Feat_NonInteractivePoRep")
FEATURES = ("", "", "synthetic", "non-interactive")
REGISTERED = [f"StackedDrg{SECTORS[size][0]}{family}" for family in FAMILIES for size in SECTOR_ORDER]


class SealProof:
    """What the name of a registered seal proof says."""

    def __init__(self, name):
        require(name in REGISTERED, "registered_proof", f"{name!r} is none")
        self.number = REGISTERED.index(name)
        self.sector_bytes = SECTOR_ORDER[self.number % 5]
        self.feature = FEATURES[self.number // 5]
        large = self.sector_bytes >= 32 * GIB
        self.layers = 11 if large else 2
        self.challenges = 18 if large else 2
        self.partitions = 10 if large else 1
        if self.feature == "non-interactive":
            self.partitions = 126 if large else 13
        self.vanilla_tag = f"StackedDrg{SECTORS[self.sector_bytes][0]}V1"
        self.graph = graph.Graph(self.number, self.sector_bytes // 32)


@dataclass
class Column:
    index: int
    rows: list
    proof: object
    where: str


@dataclass
class Challenge:
    comm_d: object
    comm_r_last: object
    c_x: Column
    parents: list  # 6 base, then 8 expander
    labeling: list  # (parents, layer, node)
    encoding: tuple
    where: str


def _column(document, seal, where):
    column = member(document, "column", where)
    rows = [json_bytes(row, f"{where}.rows[{i}]") for i, row in
            enumerate(json_list(column, "rows", seal.layers, where))]
    for i, row in enumerate(rows):
        field_element(row, f"{where}.rows[{i}]")
    require(member(column, "_h", where) is None, where, "_h is not null")
    proof = json_merkle(member(document, "inclusion_proof", where), replica_tree(seal.sector_bytes),
                        f"{where}.inclusion_proof")
    return Column(member(column, "index", where, int), rows, proof, where)


def _labeling(document, where):
    parents = [json_bytes(p, f"{where}.parents[{i}]") for i, p in
               enumerate(json_list(document, "parents", graph.LABEL_PARENTS, where))]
    return parents, member(document, "layer_index", where, int), member(document, "node", where, int)


def _challenge(document, seal, where):
    columns = member(document, "replica_column_proofs", where)
    parents = [_column(column, seal, f"{where}.{key}[{i}]") for key, count in (("drg_parents", 6), ("exp_parents", 8))
               for i, column in enumerate(json_list(columns, key, count, where))]
    return Challenge(
        json_merkle(member(document, "comm_d_proofs", where), data_tree(seal.sector_bytes), f"{where}.comm_d_proofs"),
        json_merkle(member(document, "comm_r_last_proof", where), replica_tree(seal.sector_bytes),
                    f"{where}.comm_r_last_proof"),
        _column(member(columns, "c_x", where), seal, f"{where}.c_x"), parents,
        [_labeling(l, f"{where}.labeling_proofs[{i}]") for i, l in
         enumerate(json_list(document, "labeling_proofs", seal.layers, where))],
        _labeling(member(document, "encoding_proof", where), f"{where}.encoding_proof"), where)


class Porep:
    def __init__(self, data, where):
        document = parse_json(data, where)
        if isinstance(document, dict) and "Phase1Out" in document:
            self.stated_sector = member(document, "SectorNum", where, int)
            stated_size = member(document, "SectorSize", where, int)
            inner = decode_base64(member(document, "Phase1Out", where, str), f"{where}.Phase1Out")
            document, where = parse_json(inner, f"{where}.Phase1Out"), "Phase1Out"
        else:
            self.stated_sector = stated_size = None
        self.seal = SealProof(member(document, "registered_proof", where))
        require(stated_size in (None, self.seal.sector_bytes), "SectorSize",
                f"{stated_size}, but the proofs are of a sector of {self.seal.sector_bytes} bytes")
        for key in ("comm_r", "comm_d", "replica_id", "seed", "ticket"):
            setattr(self, key, json_bytes(member(document, key, where), key))
        for key in ("comm_r", "comm_d", "replica_id"):
            field_element(getattr(self, key), key)
        for key in ("comm_r", "comm_d") + (("seed",) if self.seal.feature != "non-interactive" else ()):
            require(any(getattr(self, key)), key, "all zeros")
        tagged = member(document, "vanilla_proofs", where, dict)
        require(list(tagged) == [self.seal.vanilla_tag], "vanilla_proofs",
                f"{list(tagged)}, not [{self.seal.vanilla_tag!r}]")
        partitions = json_list(tagged, self.seal.vanilla_tag, self.seal.partitions, "vanilla_proofs")
        self.partitions = []
        for k, challenges in enumerate(partitions):
            require(isinstance(challenges, list) and len(challenges) == self.seal.challenges, f"partition {k}",
                    f"not {self.seal.challenges} challenges")
            self.partitions.append([_challenge(c, self.seal, f"partition {k} challenge {i}")
                                    for i, c in enumerate(challenges)])

    def challenges(self, k):
        count = self.seal.challenges
        return graph.porep_challenges(self.seal.feature, self.seal.graph.nodes, count * k, count, rid=self.replica_id,
                                      comm_r=self.comm_r, seed=self.seed)

    def check(self, sample, miner=None, sector=None):
        if miner is not None:
            sector = self.stated_sector if sector is None else sector
            derived = graph.replica_id(graph.prover_id(miner), sector, self.ticket, self.comm_d,
                                       self.seal.graph.porep_id)
            require(derived == self.replica_id, "replica_id", f"{self.replica_id.hex()}, not {derived.hex()}")
        comm_c = self.partitions[0][0].c_x.proof.root
        comm_r_last = self.partitions[0][0].comm_r_last.root
        for k, partition in enumerate(self.partitions):
            for challenge, node in zip(partition, self.challenges(k)):
                self._check_form(challenge, node, comm_c, comm_r_last)
            for i in sample.of(len(partition)):
                self._check_hashes(partition[i])
        check_comm_r(comm_c, comm_r_last, self.comm_r, "the sector")

    def _check_form(self, c, node, comm_c, comm_r_last):
        """Indices and roots: everything but hashes."""
        for i, (_, layer, stated) in enumerate(c.labeling):
            require((layer, stated) == (i + 1, node), f"{c.where}.labeling_proofs[{i}]",
                    f"layer {layer} of node {stated}, not layer {i + 1} of {node}")
        require(c.encoding == c.labeling[-1], f"{c.where}.encoding_proof", "not the last labeling proof's content")
        check_index(c.comm_d, node)
        check_index(c.comm_r_last, node)
        nodes = [node, *self.seal.graph.base_parents(node), *self.seal.graph.expander_parents(node)]
        for column, index in zip([c.c_x, *c.parents], nodes):
            require(column.index == index, column.where, f"the column of node {column.index}, not {index}")
            check_index(column.proof, index)
            require(column.proof.root == comm_c, column.where, "another comm_c than the first")
        require(c.comm_d.root == self.comm_d, c.comm_d.where, "its root is not comm_d")
        require(c.comm_r_last.root == comm_r_last, c.comm_r_last.where, "another comm_r_last than the first")

    def _check_hashes(self, c):
        check_root(c.comm_d, data_node)
        check_root(c.comm_r_last, poseidon_node)
        for column in [c.c_x, *c.parents]:
            hashed = poseidon_node(column.rows)
            require(hashed == column.proof.leaf, column.where, "its rows do not hash to the leaf")
            check_root(column.proof, poseidon_node)
        node = c.labeling[0][2]
        for i in range(self.seal.layers):
            known = [p.rows[i] for p in c.parents[:6]] + ([p.rows[i - 1] for p in c.parents[6:]] if i else [])
            where = f"{c.where}.labeling_proofs[{i}]"
            require(c.labeling[i][0] == graph.cycled(known), where, "parents that are not the labels of the columns")
            label = graph.label(self.replica_id, i + 1, node, c.labeling[i][0])
            require(label == c.c_x.rows[i], where, f"the label is {label.hex()}, but c_x has {c.c_x.rows[i].hex()}")
        key, data = (int.from_bytes(x, "little") for x in (c.c_x.rows[-1], c.comm_d.leaf))
        require((key + data) % R == int.from_bytes(c.comm_r_last.leaf, "little"), c.comm_r_last.where,
                "its leaf is not the label plus the data")

    def public_inputs(self):
        return [self._public_inputs(k) for k in range(len(self.partitions))]

    def _public_inputs(self, k):
        inputs = [int.from_bytes(x, "little") for x in (self.replica_id, self.comm_d, self.comm_r)]
        for node in self.challenges(k):
            parents = self.seal.graph.base_parents(node) + self.seal.graph.expander_parents(node)
            inputs += [node, *parents, node, node, node]
        return inputs
