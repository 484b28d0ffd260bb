#!/usr/bin/env python3
"""Writes field.txt: expected results of field arithmetic, by Python integers.

Lines: <op> <operand coordinates...> <result coordinates...>, hexadecimal. Operations of fr/fp named *_mont are on stored
(Montgomery) limbs: mul_mont is a*b/R mod p. All others are on plain values. Coordinates of Fp12 are in the order
c0.c0.c0, c0.c0.c1, c0.c1.c0, ... c1.c2.c1.
"""
import random

R_MOD = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
P_MOD = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
rng = random.Random(20240611)
out = []


def emit(op, *values):
    out.append(" ".join([op] + ["%x" % v for v in values]))


def prime(name, p, limbs):
    r = 1 << (64 * limbs)
    ones = (1 << 64) - 1
    edge = [0, 1, 2, p - 1, p - 2, (p - 1) // 2, (p + 1) // 2, r % p, r * r % p, (1 << 64) - 1, 1 << 64]
    edge += [sum(ones << (64 * i) for i in range(limbs - 1))]  # every limb but the top all ones
    edge += [(p >> (64 * (limbs - 1)) << (64 * (limbs - 1))) - 1]  # top limb one less, the rest all ones
    edge += [sum(ones << (64 * i) for i in range(1, limbs - 1))]
    assert all(v < p for v in edge)
    pairs = [(a, b) for a in edge for b in edge] + [(rng.randrange(p), rng.randrange(p)) for _ in range(30)]
    r_inverse = pow(r, -1, p)
    for a, b in pairs:
        emit(name + "_mul_mont", a, b, a * b * r_inverse % p)
        emit(name + "_add_mont", a, b, (a + b) % p)
        emit(name + "_sub_mont", a, b, (a - b) % p)
    for a in edge + [rng.randrange(p) for _ in range(30)]:
        emit(name + "_inverse", a, pow(a, -1, p) if a else 0)
        emit(name + "_mont", a, a * r % p)
        emit(name + "_pow", a, 0x123456789ABCDEF0FEDCBA9876543210, pow(a, 0x123456789ABCDEF0FEDCBA9876543210, p))


# Fp2 as pairs, and Fp12 as six coefficients in w over Fp2 with w^6 = u + 1.
def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P_MOD, (a[0] * b[1] + a[1] * b[0]) % P_MOD)


def add2(a, b):
    return ((a[0] + b[0]) % P_MOD, (a[1] + b[1]) % P_MOD)


def mul12(a, b):
    wide = [(0, 0)] * 11
    for i in range(6):
        for j in range(6):
            wide[i + j] = add2(wide[i + j], mul2(a[i], b[j]))
    return [add2(wide[i], mul2((1, 1), wide[i + 6])) if i < 5 else wide[i] for i in range(6)]


def pow12(a, e):
    result = [(1, 0)] + [(0, 0)] * 5
    for bit in bin(e)[2:]:
        result = mul12(result, result)
        if bit == "1":
            result = mul12(result, a)
    return result


def flat(a):  # coefficients of w -> tower order
    return [x for i in (0, 2, 4, 1, 3, 5) for x in a[i]]


def random2():
    return (rng.randrange(P_MOD), rng.randrange(P_MOD))


def is_square(x):
    return pow(x, (P_MOD - 1) // 2, P_MOD) <= 1


prime("fr", R_MOD, 4)
prime("fp", P_MOD, 6)
edge2 = [(a, b) for a in (0, 1, P_MOD - 1) for b in (0, 1, P_MOD - 1)]
for a in edge2 + [random2() for _ in range(6)]:
    for b in edge2 + [random2()]:
        emit("fp2_mul", *a, *b, *mul2(a, b))
for _ in range(6):
    a = [random2() for _ in range(6)]
    b = [random2() for _ in range(6)]
    emit("fp12_mul", *flat(a), *flat(b), *flat(mul12(a, b)))
for power in (1, 2, 3):
    a = [random2() for _ in range(6)]
    emit("fp12_frobenius", power, *flat(a), *flat(pow12(a, P_MOD**power)))
for _ in range(10):
    a = rng.randrange(P_MOD)
    emit("fp_is_square", a, 1 if is_square(a) else 0)
    b = random2()
    emit("fp2_is_square", *b, 1 if is_square((b[0] ** 2 + b[1] ** 2) % P_MOD) else 0)

with open("field.txt", "w") as f:
    f.write("\n".join(out) + "\n")
