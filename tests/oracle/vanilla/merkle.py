"""Roots from paths, and the choice of what to hash when only a sample is wanted."""
import random

from .graph import sha_node
from .parse import require
from .poseidon import node


def climb(proof, hash_node, levels=None):
    """The nodes above the leaf, level by level, as the path gives them."""
    nodes, current = [], proof.leaf
    for siblings, position in proof.path[:levels]:
        children = list(siblings)
        children.insert(position, current)
        current = hash_node(children)
        nodes.append(current)
    return nodes


def poseidon_node(children):
    return node(tuple(int.from_bytes(c, "little") for c in children)).to_bytes(32, "little")


def data_node(children):
    return sha_node(*children)


def check_root(proof, hash_node):
    root = climb(proof, hash_node)[-1]
    require(root == proof.root, proof.where, f"the path leads to the root {root.hex()}, not to {proof.root.hex()}")


def check_index(proof, index):
    require(proof.index() == index, proof.where, f"opens the leaf {proof.index()}, not {index}")


def check_comm_r(comm_c, comm_r_last, comm_r, where, name="comm_r"):
    hashed = poseidon_node([comm_c, comm_r_last])
    require(hashed == comm_r, where, f"comm_c and comm_r_last hash to {hashed.hex()}, but {name} is {comm_r.hex()}")


class Sample:
    """Which of many equal things are hashed: all, or `count` of each list, chosen by a seed; the first and the last are
    always among them."""

    def __init__(self, count=None, seed=1):
        self.count, self.random = count, random.Random(seed)

    def of(self, total):
        if self.count is None or total <= self.count:
            return range(total)
        chosen = {0, total - 1}
        while len(chosen) < max(self.count, 1) and self.count > 2:
            chosen.add(self.random.randrange(total))
        return sorted(chosen)[:max(self.count, 1)]
