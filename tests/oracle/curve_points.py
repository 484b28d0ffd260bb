#!/usr/bin/env python3
"""Vectors for src/curve from integer arithmetic alone: affine chord-and-tangent formulas, no library.

Writes tests/golden/curve/points.txt (give another path as the argument). Deterministic: SHA-256 of a counter is the
only source of numbers. A line is: kind, group, then hex fields; points are in the uncompressed zcash form.
"""
import hashlib
import pathlib
import sys

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
X = -0xD201000000010000
H1 = (X - 1) ** 2 // 3
H2 = (X**8 - 4 * X**7 + 5 * X**6 - 4 * X**4 + 6 * X**3 - 4 * X**2 - 4 * X + 13) // 9
SMALL_FACTORS = {"g1": (3, 11, 10177, 859267, 52437899), "g2": (13, 23, 2713, 11953, 262069)}


class Fp:
    def __init__(self, v): self.v = v % P
    def __add__(self, o): return Fp(self.v + o.v)
    def __sub__(self, o): return Fp(self.v - o.v)
    def __mul__(self, o): return Fp(self.v * o.v)
    def __neg__(self): return Fp(-self.v)
    def __eq__(self, o): return self.v == o.v
    def inverse(self): return Fp(pow(self.v, -1, P))
    def larger(self): return self.v > (P - 1) // 2
    def bytes(self): return self.v.to_bytes(48, "big")
    def sqrt(self):
        s = Fp(pow(self.v, (P + 1) // 4, P))
        return s if s * s == self else None


class Fp2:
    def __init__(self, a, b): self.a, self.b = a % P, b % P
    def __add__(self, o): return Fp2(self.a + o.a, self.b + o.b)
    def __sub__(self, o): return Fp2(self.a - o.a, self.b - o.b)
    def __mul__(self, o): return Fp2(self.a * o.a - self.b * o.b, self.a * o.b + self.b * o.a)
    def __neg__(self): return Fp2(-self.a, -self.b)
    def __eq__(self, o): return (self.a, self.b) == (o.a, o.b)
    def inverse(self):
        n = pow(self.a * self.a + self.b * self.b, -1, P)
        return Fp2(self.a * n, -self.b * n)
    def larger(self): return self.b > (P - 1) // 2 or (self.b == 0 and self.a > (P - 1) // 2)
    def bytes(self): return self.b.to_bytes(48, "big") + self.a.to_bytes(48, "big")
    def power(self, e):
        out, base = Fp2(1, 0), self
        while e:
            if e & 1: out = out * base
            base, e = base * base, e >> 1
        return out
    def sqrt(self):
        # The root of unity way, unlike the engine's: x^((q+8)/16) times an eighth root of unity, q = p^2 = 9 mod 16.
        q = P * P
        assert q % 16 == 9
        t = self.power((q + 7) // 16)
        root8 = Fp2(1, 1).power((q - 1) // 8)  # u + 1 is no square, so this has order 8
        for _ in range(8):
            if t * t == self: return t
            t = t * root8
        return None


CURVES = {"g1": (Fp(4), Fp(0), H1 * R), "g2": (Fp2(4, 4), Fp2(0, 0), H2 * R)}


def add(a, b):
    if a is None: return b
    if b is None: return a
    if a[0] == b[0]:
        if a[1] == -b[1]: return None
        slope = (a[0] * a[0] + a[0] * a[0] + a[0] * a[0]) * (a[1] + a[1]).inverse()
    else:
        slope = (b[1] - a[1]) * (b[0] - a[0]).inverse()
    x = slope * slope - a[0] - b[0]
    return (x, slope * (a[0] - x) - a[1])


def mul(k, a):
    out = None
    while k:
        if k & 1: out = add(out, a)
        a, k = add(a, a), k >> 1
    return out


def encode(group, a):
    size = 96 if group == "g1" else 192
    if a is None: return (b"\x40" + bytes(size - 1)).hex()
    return (a[0].bytes() + a[1].bytes()).hex()


def compress(group, a):
    size = 48 if group == "g1" else 96
    if a is None: return (b"\xc0" + bytes(size - 1)).hex()
    out = bytearray(a[0].bytes())
    out[0] |= 0x80 | (0x20 if a[1].larger() else 0)
    return out.hex()


counter = 0


def number(below):
    global counter
    counter += 1
    digest = b"".join(hashlib.sha256(f"cuzk {counter} {i}".encode()).digest() for i in range(3))
    return int.from_bytes(digest, "big") % below


def coordinate(group): return Fp(number(P)) if group == "g1" else Fp2(number(P), number(P))


def random_point(group):
    """A point of the whole curve; in the subgroup with negligible probability."""
    b = CURVES[group][0]
    while True:
        x = coordinate(group)
        y = (x * x * x + b).sqrt()
        if y is not None: return (x, y if number(2) else -y)


def point_of_order(group, prime):
    order = CURVES[group][2]
    rest = order
    while rest % prime == 0: rest //= prime
    while True:
        a = mul(rest, random_point(group))
        if a is None: continue
        while mul(prime, a) is not None: a = mul(prime, a)
        return a


def cube_root(a):
    t, power = P * P - 1, 1
    while t % 3 == 0: t, power = t // 3, power * 3
    if not a.power((P * P - 1) // 3) == Fp2(1, 0): return None
    root = a.power(pow(3, -1, t))
    k = 1
    while Fp2(k, 1).power((P * P - 1) // 3) == Fp2(1, 0): k += 1
    generator = Fp2(k, 1).power(t)  # of the elements whose order is a power of three
    for _ in range(power):
        if root * root * root == a: return root
        root = root * generator


def points_with_y(ys):
    """Points of G2's curve with these y, which decide its sign by c0 alone or have no c0."""
    for y in ys:
        x = cube_root(y * y - CURVES["g2"][0])
        if x is not None: yield (x, y)


def lines(group):
    order = CURVES[group][2]
    cofactor = order // R
    wild = [random_point(group) for _ in range(4)]
    assert all(mul(order, a) is None for a in wild)
    tame = [mul(cofactor, a) for a in wild]
    assert all(a is not None and mul(R, a) is None for a in tame)
    torsion = [point_of_order(group, prime) for prime in SMALL_FACTORS[group]]
    if group == "g1": torsion.append((Fp(0), Fp(2)))
    special = []
    if group == "g2":
        real = list(points_with_y(Fp2(k if k % 2 else -k, 0) for k in range(1, 20)))
        imaginary = list(points_with_y(Fp2(0, k if k % 2 else -k) for k in range(1, 20)))
        assert len(real) >= 4 and len(imaginary) >= 4
        special = [b for a in real + imaginary for b in (a, (a[0], -a[1]))]
    for a in wild + tame + torsion + special + [None]:
        yield "compress", group, encode(group, a), compress(group, a)
    for a in wild + torsion: yield "member", group, encode(group, a), "0"
    for a in [add(tame[0], t) for t in torsion] + [mul(R, a) for a in wild]: yield "member", group, encode(group, a), "0"
    for a in tame + [None]: yield "member", group, encode(group, a), "1"
    pairs = list(zip(wild, tame)) + [(wild[0], wild[1]), (tame[0], tame[1]), (torsion[0], torsion[1])]
    pairs += [(a, a) for a in (wild[0], tame[0], torsion[0], torsion[-1])]
    pairs += [(a, (a[0], -a[1])) for a in (wild[0], tame[0], torsion[0])]
    pairs += [(None, wild[0]), (wild[0], None), (None, None)]
    for a, b in pairs: yield "add", group, encode(group, a), encode(group, b), encode(group, add(a, b))
    scalars = [0, 1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 2**64 - 1, 2**64, 2**128 - 1, 2**255 - 1, R - 1, R // 2, -X, X * X - 1]
    scalars += [number(R) for _ in range(6)]
    for i, k in enumerate(scalars):
        a = (wild + tame + torsion)[i % (8 + len(torsion))]
        yield "mul", group, encode(group, a), f"{k % R:064x}", encode(group, mul(k % R, a))
    for k in (R, R + 1, order - 1, order, number(order)):
        yield "mul_wide", group, encode(group, wild[0]), f"{k:0192x}", encode(group, mul(k, wild[0]))


def main():
    here = pathlib.Path(__file__).resolve().parent
    path = sys.argv[1] if len(sys.argv) > 1 else here.parent / "golden" / "curve" / "points.txt"
    with open(path, "w") as out:
        out.write("# Written by tests/oracle/curve_points.py\n")
        for group in ("g1", "g2"):
            for line in lines(group): out.write(" ".join(line) + "\n")


if __name__ == "__main__":
    main()
