"""Reading: field elements, bincode, JSON, and the Merkle proofs and requests in them. Nothing is checked here but form;
every error says what stood where."""
import base64
import binascii
import json
from dataclasses import dataclass

from .poseidon import R

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# bytes of the sector: name, shape (base, sub, top arity), base levels
SECTORS = {
    2 * KIB: ("2KiB", (8, 0, 0), 2),
    8 * MIB: ("8MiB", (8, 0, 0), 6),
    512 * MIB: ("512MiB", (8, 0, 0), 8),
    32 * GIB: ("32GiB", (8, 8, 0), 9),
    64 * GIB: ("64GiB", (8, 8, 2), 9),
}
SECTOR_ORDER = sorted(SECTORS)


class Invalid(Exception):
    """What is wrong and where."""


def require(condition, where, what):
    if not condition:
        raise Invalid(f"{where}: {what}")


def field_element(data, where):
    value = int.from_bytes(data, "little")
    require(value < R, where, f"{data.hex()} is not below the modulus")
    return value


@dataclass
class MerkleProof:
    leaf: bytes
    root: bytes
    path: list  # of (siblings, index), from the leaf upwards
    where: str

    def index(self):
        """The index of the leaf that the path states."""
        index, scale = 0, 1
        for siblings, position in self.path:
            index += position * scale
            scale *= len(siblings) + 1
        return index


def replica_tree(sector_bytes):
    """The parts of a path in tree C or R, each the arities of its levels: the base tree, then what stands above it."""
    _, (base, sub, top), levels = SECTORS[sector_bytes]
    return [[base] * levels] + [[arity] for arity in (sub, top) if arity]


def data_tree(sector_bytes):
    """The same of tree D, which is binary."""
    return [[2] * (sector_bytes // 32 - 1).bit_length()]


KINDS = ("Single", "Sub", "Top")


def _built(kind, paths, parts, leaf, root, where):
    """Puts a proof together where its kind and lengths are those of the tree."""
    expected = KINDS[len(parts) - 1]
    require(kind == expected, where, f"a proof of kind {kind}, not {expected}")
    require([len(p) for p in paths] == [len(p) for p in parts], where,
            f"paths of {[len(p) for p in paths]} elements, not {[len(p) for p in parts]}")
    path = [element for part in paths for element in part]
    for level, ((siblings, position), arity) in enumerate(zip(path, [arity for part in parts for arity in part])):
        here = f"{where} level {level}"
        require(len(siblings) == arity - 1, here, f"{len(siblings)} siblings, not {arity - 1}")
        require(0 <= position < arity, here, f"index {position} of {arity} children")
        for i, sibling in enumerate(siblings):
            field_element(sibling, f"{here} sibling {i}")
    field_element(leaf, f"{where} leaf")
    field_element(root, f"{where} root")
    return MerkleProof(leaf, root, path, where)


# ---- bincode


class Bincode:
    def __init__(self, data, where):
        self.data, self.at, self.where = data, 0, where

    def take(self, size, what):
        if len(self.data) - self.at < size:
            raise Invalid(f"{self.where}: {what} at byte {self.at} goes past the end ({len(self.data)} bytes)")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size, what):
        return int.from_bytes(self.take(size, what), "little")

    def count(self, expected, what):
        got = self.number(8, f"number of {what}")
        require(got == expected, self.where, f"{got} {what}, not {expected}")

    def end(self):
        require(self.at == len(self.data), self.where, f"{len(self.data) - self.at} bytes after the end")

    def merkle(self, parts, where):
        kind = self.number(4, f"{where}: kind of the proof")
        require(kind < 3, self.where, f"{where}: kind of proof {kind}")
        if kind == 0:
            root, leaf = self.take(32, "root"), self.take(32, "leaf")
            paths = [self._path(where)]
        else:
            paths = [self._path(where) for _ in range(kind + 1)]
            root, leaf = self.take(32, "root"), self.take(32, "leaf")
        return _built(KINDS[kind], paths, parts, leaf, root, f"{self.where} {where}")

    def _path(self, where):
        count = self.number(8, f"{where}: path length")
        require(count <= 64, self.where, f"{where}: a path of {count} elements")
        path = []
        for _ in range(count):
            siblings = self.number(8, f"{where}: number of siblings")
            require(siblings <= 64, self.where, f"{where}: {siblings} siblings")
            hashes = [self.take(32, f"{where}: sibling") for _ in range(siblings)]
            path.append((hashes, self.number(8, f"{where}: index")))
        return path


# ---- JSON


def _unique(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        require(keys.count(key) == 1, "JSON", f"the key {key!r} stands twice")
    return dict(pairs)


def _refuse_number(text):
    raise Invalid(f"JSON: the number {text}")


def parse_json(data, where):
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_float=_refuse_number,
                          parse_constant=_refuse_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{where}: not JSON: {error}") from None


def member(document, key, where, kind=None):
    require(isinstance(document, dict), where, "not an object")
    require(key in document, where, f"no {key}")
    value = document[key]
    if kind is not None:
        require(isinstance(value, kind) and not (kind is int and isinstance(value, bool)), f"{where}.{key}",
                f"not {'a list' if kind is list else 'a string' if kind is str else 'a whole number'}")
    return value


def json_list(document, key, count, where):
    values = member(document, key, where, list)
    require(len(values) == count, f"{where}.{key}", f"{len(values)} elements, not {count}")
    return values


def json_bytes(value, where):
    """32 bytes as a list of 32 numbers."""
    try:
        require(len(value) == 32 and not any(type(x) is bool for x in value), where, "not a list of 32 bytes")
        return bytes(value)
    except (TypeError, ValueError):
        raise Invalid(f"{where}: not a list of 32 bytes") from None


def json_merkle(document, parts, where):
    data = member(document, "data", where)
    require(isinstance(data, dict) and len(data) == 1, f"{where}.data", "not an object of one key")
    (kind, body), = data.items()
    names = {"Single": ["path"], "Sub": ["base_proof", "sub_proof"], "Top": ["base_proof", "sub_proof", "top_proof"]}
    require(kind in names, where, f"a proof of kind {kind!r}")
    paths = [_json_path(member(body, name, where), f"{where}.{name}") for name in names[kind]]
    leaf, root = (json_bytes(member(body, name, where), f"{where}.{name}") for name in ("leaf", "root"))
    return _built(kind, paths, parts, leaf, root, where)


def _json_path(document, where):
    path = []
    for level, element in enumerate(member(document, "path", where, list)):
        here = f"{where}[{level}]"
        hashes = [json_bytes(h, f"{here}.hashes[{i}]") for i, h in enumerate(member(element, "hashes", here, list))]
        path.append((hashes, member(element, "index", here, int)))
    return path


# ---- files


def decode_base64(text, where):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"{where}: not base64: {error}") from None
    require(base64.b64encode(data).decode() == text, where, "base64 that is not in its shortest form")
    return data


def read_blobs(paths):
    """The vanilla proofs of the files: a JSON list of base64 strings, or the bytes of one proof; (name, bytes) each."""
    blobs = []
    for path in paths:
        data = path.read_bytes()
        if data.lstrip()[:1] != b"[":
            blobs.append((path.name, data))
            continue
        values = parse_json(data, path.name)
        for i, text in enumerate(values):
            where = f"{path.name}[{i}]"
            require(isinstance(text, str), where, "not a string")
            blobs.append((where, decode_base64(text, where)))
    return blobs
