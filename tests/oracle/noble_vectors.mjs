// Vectors for src/curve and src/pairing from @noble/curves, which shares no code with the engine.
//
//   cd tests/oracle && npm install --no-package-lock && node noble_vectors.mjs
//
// writes tests/golden/curve/noble_points.txt and tests/golden/pairing/noble_pairings.txt (or into the folder given as
// the argument). Deterministic: scalars are SHA-256 of a counter. Fields are hex, coordinates big-endian.
import { bls12_381 as bls } from '@noble/curves/bls12-381.js';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const golden = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', 'golden');
const r = bls.fields.Fr.ORDER;
const { Fp12 } = bls.fields;
const G1 = bls.G1.Point.BASE;
const G2 = bls.G2.Point.BASE;

let counter = 0;
const scalar = () => BigInt('0x' + createHash('sha256').update(`cuzk noble ${counter++}`).digest('hex')) % r;
const hex = (n) => n.toString(16).padStart(96, '0');
const times = (point, k) => (k % r === 0n ? point.constructor.ZERO : point.multiply(k % r));

// Both encodings of k*G, for k small, large and random.
const points = ['# Written by tests/oracle/noble_vectors.mjs: group, scalar, compressed, uncompressed'];
const scalars = [0n, 1n, 2n, 3n, 4n, 255n, 1n << 64n, r - 1n, r - 2n, (r - 1n) / 2n];
for (let i = 0; i < 22; i++) scalars.push(scalar());
for (const [name, base] of [['g1', G1], ['g2', G2]]) {
  for (const k of scalars) {
    const p = times(base, k);
    points.push(`point ${name} ${k.toString(16).padStart(64, '0')} ${p.toHex(true)} ${p.toHex(false)}`);
  }
}

// The twelve coefficients in Fp: c0.c0.c0, c0.c0.c1, c0.c1.c0, ... c1.c2.c1 of Fp12 = Fp6[w], Fp6 = Fp2[v], Fp2 = Fp[u].
const coefficients = (f) =>
  [f.c0, f.c1].flatMap((six) => [six.c0, six.c1, six.c2]).flatMap((two) => [hex(two.c0), hex(two.c1)]).join(' ');

const pairings = ['# Written by tests/oracle/noble_vectors.mjs'];
const cases = [[1n, 1n], [2n, 1n], [1n, 2n], [r - 1n, 1n], [1n, r - 1n], [6n, 35n]];
for (let i = 0; i < 6; i++) cases.push([scalar(), scalar()]);
pairings.push('# pairing, uncompressed G1, uncompressed G2, 12 coefficients of e(P, Q)');
const base = bls.pairing(G1, G2);
for (const [a, b] of cases) {
  const p = times(G1, a);
  const q = times(G2, b);
  const e = bls.pairing(p, q);
  if (!Fp12.eql(e, Fp12.pow(base, (a * b) % r))) throw new Error('noble is not bilinear');
  pairings.push(`pairing ${p.toHex(false)} ${q.toHex(false)} ${coefficients(e)}`);
}
pairings.push('# power, scalar, 12 coefficients of e(G1, G2)^scalar');
for (const k of [2n, r - 1n, scalar(), scalar()]) {
  pairings.push(`power ${k.toString(16).padStart(64, '0')} ${coefficients(Fp12.pow(base, k))}`);
}
pairings.push('# product, count, (G1, G2) pairs, 12 coefficients of the product of the pairings');
for (const count of [2, 3, 5]) {
  const pairs = Array.from({ length: count }, () => ({ g1: times(G1, scalar()), g2: times(G2, scalar()) }));
  const e = bls.pairingBatch(pairs);
  const text = pairs.map(({ g1, g2 }) => `${g1.toHex(false)} ${g2.toHex(false)}`).join(' ');
  pairings.push(`product ${count} ${text} ${coefficients(e)}`);
}
pairings.push('# final, 12 coefficients of an element of Fp12, 12 coefficients of its final exponentiation');
for (let i = 0; i < 3; i++) {
  const sixes = Array.from({ length: 12 }, () => (scalar() << 120n) | (scalar() >> 140n));
  const f = Fp12.fromBigTwelve(sixes);
  pairings.push(`final ${coefficients(f)} ${coefficients(Fp12.finalExponentiate(f))}`);
}

for (const [name, lines] of [['curve/noble_points.txt', points], ['pairing/noble_pairings.txt', pairings]]) {
  const path = join(golden, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.join('\n') + '\n');
}
