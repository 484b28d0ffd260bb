"""Poseidon over the BLS12-381 scalar field as Filecoin uses it, in Python integers: constants from the Grain register,
a plain permutation, and the same permutation with sparse matrices, about ten times as fast."""
from functools import lru_cache
from operator import mul

R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
FULL_ROUNDS = 8
PARTIAL_ROUNDS = {2: 55, 4: 56, 8: 57, 11: 57, 16: 59, 24: 59, 36: 60}
RANDOMNESS_TAG = 1 << 40  # of the hash that gives SnapDeals its phi, rho and challenges


def _grain(width, partial):
    """The bits of the register, filtered: of each pair, the second where the first is one."""
    state = []
    for value, bits in ((1, 2), (1, 4), (255, 12), (width, 12), (FULL_ROUNDS, 10), (partial, 10), ((1 << 30) - 1, 30)):
        state += [value >> (bits - 1 - i) & 1 for i in range(bits)]

    def step():
        bit = state[62] ^ state[51] ^ state[38] ^ state[23] ^ state[13] ^ state[0]
        del state[0]
        state.append(bit)
        return bit

    for _ in range(160):
        step()
    while True:
        keep = step()
        bit = step()
        if keep:
            yield bit


def round_constants(width, partial):
    bits = _grain(width, partial)
    constants = []
    while len(constants) < (FULL_ROUNDS + partial) * width:
        value = 0
        for _ in range(255):
            value = value << 1 | next(bits)
        if value < R:
            constants.append(value)
    return constants


def _times(a, b):
    return [[sum(x * y for x, y in zip(row, column)) % R for column in zip(*b)] for row in a]


def _apply(matrix, vector):
    return [sum(map(mul, row, vector)) % R for row in matrix]


def _inverse(matrix):
    size = len(matrix)
    work = [list(row) + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = next(j for j in range(i, size) if work[j][i])
        work[i], work[pivot] = work[pivot], work[i]
        scale = pow(work[i][i], -1, R)
        work[i] = [x * scale % R for x in work[i]]
        for j in range(size):
            if j != i and work[j][i]:
                factor = work[j][i]
                work[j] = [(x - factor * y) % R for x, y in zip(work[j], work[i])]
    return [row[size:] for row in work]


class Poseidon:
    """The hash of `arity` elements. The tag is the first element of the state."""

    def __init__(self, arity):
        self.arity, self.width, self.partial = arity, arity + 1, PARTIAL_ROUNDS[arity]
        width = self.width
        self.raw = round_constants(width, self.partial)
        self.matrix = [[pow(i + width + j, -1, R) for j in range(width)] for i in range(width)]
        self._compress_constants()
        self._factor_matrices()

    def _compress_constants(self):
        """The constants moved behind the S-boxes, those of partial rounds gathered in element 0."""
        width, half, partial = self.width, FULL_ROUNDS // 2, self.partial
        rounds = [self.raw[i:i + width] for i in range(0, len(self.raw), width)]
        back = _inverse(self.matrix)
        self.first = rounds[0]
        self.before = [_apply(back, rounds[i + 1]) for i in range(half - 1)]
        self.in_partial = []
        pending = rounds[half + partial]
        for i in range(partial):
            moved = _apply(back, pending)
            self.in_partial.insert(0, moved[0])
            moved[0] = 0
            pending = [(x + y) % R for x, y in zip(rounds[half + partial - i - 1], moved)]
        self.before.append(_apply(back, pending))
        self.after = [_apply(back, rounds[half + partial + i]) for i in range(1, half)]

    def compressed(self):
        return (self.first + sum(self.before, []) + self.in_partial + sum(self.after, []))

    def _factor_matrices(self):
        """The matrices of the partial rounds as products of sparse ones; the rest goes to the round before them."""
        size = self.width
        current, self.sparse = self.matrix, []
        for _ in range(self.partial):
            hat = [row[1:] for row in current[1:]]
            column = [row[0] for row in current[1:]]
            self.sparse.insert(0, ([current[0][0]] + _apply(_inverse(hat), column), current[0][1:]))
            wide = [[1] + [0] * (size - 1)] + [[0] + row for row in hat]
            current = _times(self.matrix, wide)
        self.pre_sparse = current
        self._tails = [(weights[1:], spread) for weights, spread in self.sparse]
        self._matrix_columns = [list(c) for c in zip(*self.matrix)]
        self._pre_sparse_columns = [list(c) for c in zip(*self.pre_sparse)]

    def plain(self, values, tag=None):
        """Section 2 of the specification: constants, S-boxes, matrix, round after round."""
        width, half = self.width, FULL_ROUNDS // 2
        state = [(1 << self.arity) - 1 if tag is None else tag, *values]
        for r in range(FULL_ROUNDS + self.partial):
            state = [x + c for x, c in zip(state, self.raw[r * width:(r + 1) * width])]
            if half <= r < half + self.partial:
                state[0] = pow(state[0], 5, R)
            else:
                state = [pow(x, 5, R) for x in state]
            state = _apply(self.matrix, state)
        return state[1]

    def __call__(self, values, tag=None):
        """The same value, faster."""
        state = [(1 << self.arity) - 1 if tag is None else tag, *values]
        if len(state) != self.width:
            raise ValueError(f"{len(values)} elements for a hash of {self.arity}")
        state = [x + c for x, c in zip(state, self.first)]
        last = len(self.before) - 1
        for i, constants in enumerate(self.before):
            state = [_fifth(x) + c for x, c in zip(state, constants)]
            columns = self._pre_sparse_columns if i == last else self._matrix_columns
            state = [sum(map(mul, column, state)) % R for column in columns]
        head, rest = state[0], state[1:]
        corner = self.matrix[0][0]  # the first weight of every sparse matrix
        for (weights, spread), constant in zip(self._tails, self.in_partial):
            head = _fifth(head) + constant
            new_head = (corner * head + sum(map(mul, weights, rest))) % R
            rest = [x + v * head for x, v in zip(rest, spread)]  # reduced once, after the last partial round
            head = new_head
        state = [head] + [x % R for x in rest]
        for constants in self.after:
            state = [_fifth(x) + c for x, c in zip(state, constants)]
            state = [sum(map(mul, column, state)) % R for column in self._matrix_columns]
        state = [_fifth(x) for x in state]
        return sum(map(mul, self._matrix_columns[1], state)) % R


def _fifth(x):
    square = x * x % R
    return square * square % R * x % R


@lru_cache(maxsize=None)
def poseidon(arity):
    return Poseidon(arity)


@lru_cache(maxsize=1 << 16)
def node(children):
    """A Merkle node of 2, 4 or 8 children (a tuple), or the hash of a column. Upper nodes recur, so they are kept."""
    return poseidon(len(children))(children)


def randomness(x, y):
    """The hash of SnapDeals for phi, rho and challenges."""
    return poseidon(2)((x, y), RANDOMNESS_TAG)
