#!/usr/bin/env python3
"""Writes ntt.txt: transforms over Fr by the defining sums, with Python integers.

Lines: <name> <log2 size> <values...>, hexadecimal: input, forward, coset_forward (of input), and for the quotient the
inputs quotient_a, quotient_b, quotient_c (values on the domain) and quotient_h, by polynomial arithmetic: interpolation
in Lagrange form, schoolbook product, exact long division by x^m - 1 (of a*b - c, whose remainder is zero).
"""
import random

R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
G = 7
W32 = pow(G, (R - 1) >> 32, R)
rng = random.Random("cuzk ntt vectors")


def evaluate(coefficients, x):
    out = 0
    for c in reversed(coefficients):
        out = (out * x + c) % R
    return out


def interpolate(values, w):
    m = len(values)
    inv_m = pow(m, -1, R)
    return [sum(v * pow(w, -i * j, R) for j, v in enumerate(values)) * inv_m % R for i in range(m)]


with open("ntt.txt", "w") as f:
    def put(name, k, values):
        print(name, format(k, "x"), *(format(v, "x") for v in values), file=f)

    for k in (0, 1, 2, 3, 5, 6, 7, 8):
        m = 1 << k
        w = pow(W32, 1 << (32 - k), R)
        x = [rng.randrange(R) for _ in range(m)]
        x[0], x[-1] = R - 1, 1
        put("input", k, x)
        put("forward", k, [evaluate(x, pow(w, j, R)) for j in range(m)])
        put("coset_forward", k, [evaluate(x, G * pow(w, j, R) % R) for j in range(m)])
        a = [rng.randrange(R) for _ in range(m)]
        b = [rng.randrange(R) for _ in range(m)]
        c = [u * v % R for u, v in zip(a, b)]
        pa, pb, pc = interpolate(a, w), interpolate(b, w), interpolate(c, w)
        product = [0] * (2 * m)
        for i, u in enumerate(pa):
            for j, v in enumerate(pb):
                product[i + j] = (product[i + j] + u * v) % R
        for i, u in enumerate(pc):
            product[i] = (product[i] - u) % R
        h = [0] * m  # product = h * (x^m - 1): from the top
        for i in reversed(range(m, 2 * m)):
            h[i - m] = product[i]
            product[i - m] = (product[i - m] + product[i]) % R
        assert all(v == 0 for v in product[:m])
        put("quotient_a", k, a)
        put("quotient_b", k, b)
        put("quotient_c", k, c)
        put("quotient_h", k, h)
