// Verifies Groth16 proofs with @noble/curves, which shares no code with the engine.
//
//   cd tests/oracle && npm install --no-package-lock
//   node verify_groth16.mjs VK PROOF INPUTS [--mutations]
//
// VK: a .vk file, or a .params file, whose head is one. PROOF: n * 192 bytes. INPUTS: text; a line per public input
// (without ONE), hexadecimal, big-endian; an empty line between the inputs of two proofs; # begins a comment line.
// Exit status: 0 every proof is accepted, 1 a proof is refused, 2 a file cannot be understood.
//
// --mutations: then also checks that every proof is refused with any byte of it changed (every byte, one bit each), with
// any input increased by one, and with an input more or less. Exit status 1 where one of these is accepted.
import { bls12_381 as bls } from '@noble/curves/bls12-381.js';
import { readFileSync } from 'node:fs';

const { Fp12 } = bls.fields;
const r = bls.fields.Fr.ORDER;
const G1 = bls.G1.Point;
const G2 = bls.G2.Point;
const PROOF_BYTES = 192;

class Malformed extends Error {}

// A finite point of the prime-order subgroup.
function point(group, bytes, name) {
  let p;
  try {
    p = group.fromBytes(bytes);
    p.assertValidity();
  } catch (error) {
    throw new Malformed(`${name}: ${error.message}`);
  }
  if (p.is0() || !p.isTorsionFree()) throw new Malformed(`${name}: identity, or not in the subgroup`);
  return p;
}

function parseKey(bytes) {
  const fields = [['alpha_g1', G1], ['beta_g1', G1], ['beta_g2', G2], ['gamma_g2', G2], ['delta_g1', G1], ['delta_g2', G2]];
  const key = {};
  let offset = 0;
  for (const [name, group] of fields) {
    const size = group === G1 ? 96 : 192;
    key[name] = point(group, bytes.subarray(offset, offset + size), name);
    offset += size;
  }
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset, false);
  offset += 4;
  if (bytes.length < offset + 96 * count || count === 0) throw new Malformed('ic does not fit the file');
  key.ic = Array.from({ length: count }, (_, i) =>
    point(G1, bytes.subarray(offset + 96 * i, offset + 96 * (i + 1)), `ic[${i}]`));
  key.alphaBeta = bls.pairing(key.alpha_g1, key.beta_g2);
  return key;
}

function parseInputs(text) {
  const groups = [[]];
  for (const line of text.split('\n').map((l) => l.trim())) {
    if (line.startsWith('#')) continue;
    if (line === '') {
      groups.push([]);
      continue;
    }
    if (!/^(0x)?[0-9a-fA-F]{1,64}$/.test(line)) throw new Malformed(`not a hexadecimal number: ${line}`);
    const value = BigInt('0x' + line.replace(/^0x/, ''));
    if (value >= r) throw new Malformed(`not below the group order: ${line}`);
    groups.at(-1).push(value);
  }
  return groups.filter((group) => group.length > 0);
}

// True where the proof is accepted; anything malformed in the proof is a refusal.
function accepts(key, bytes, inputs) {
  if (inputs.length + 1 !== key.ic.length) return false;
  let a, b, c;
  try {
    a = point(G1, bytes.subarray(0, 48), 'a');
    b = point(G2, bytes.subarray(48, 144), 'b');
    c = point(G1, bytes.subarray(144, 192), 'c');
  } catch (error) {
    if (error instanceof Malformed) return false;
    throw error;
  }
  let sum = key.ic[0];
  inputs.forEach((x, i) => {
    if (x !== 0n) sum = sum.add(key.ic[i + 1].multiplyUnsafe(x));
  });
  // e(A, B) * e(-sum, gamma) * e(-C, delta) = e(alpha, beta)
  const pairs = [{ g1: a, g2: b }, { g1: c.negate(), g2: key.delta_g2 }];
  if (!sum.is0()) pairs.push({ g1: sum.negate(), g2: key.gamma_g2 });
  return Fp12.eql(bls.pairingBatch(pairs), key.alphaBeta);
}

// Names of the changes under which the proof is still accepted.
function acceptedMutations(key, bytes, inputs) {
  const accepted = [];
  for (let i = 0; i < PROOF_BYTES; i++) {
    const changed = Uint8Array.from(bytes);
    changed[i] ^= 1 << (i % 8);
    if (accepts(key, changed, inputs)) accepted.push(`byte ${i}`);
  }
  inputs.forEach((x, i) => {
    if (accepts(key, bytes, inputs.map((y, j) => (j === i ? (y + 1n) % r : y)))) accepted.push(`input ${i}`);
  });
  if (accepts(key, bytes, inputs.slice(0, -1))) accepted.push('one input less');
  if (accepts(key, bytes, [...inputs, 0n])) accepted.push('one input more');
  return accepted;
}

function main(args) {
  const files = args.filter((argument) => !argument.startsWith('--'));
  const flags = args.filter((argument) => argument.startsWith('--'));
  if (files.length !== 3 || flags.some((flag) => flag !== '--mutations')) {
    console.error('usage: node verify_groth16.mjs VK PROOF INPUTS [--mutations]');
    return 2;
  }
  const key = parseKey(readFileSync(files[0]));
  const proofs = readFileSync(files[1]);
  const inputs = parseInputs(readFileSync(files[2], 'utf8'));
  if (proofs.length === 0 || proofs.length !== PROOF_BYTES * inputs.length) {
    throw new Malformed(`${proofs.length} bytes of proofs for ${inputs.length} lists of public inputs`);
  }
  let bad = 0;
  inputs.forEach((x, i) => {
    const proof = proofs.subarray(PROOF_BYTES * i, PROOF_BYTES * (i + 1));
    if (!accepts(key, proof, x)) {
      console.log(`proof ${i}: refused`);
      bad++;
      return;
    }
    console.log(`proof ${i}: accepted`);
    if (!flags.includes('--mutations')) return;
    const accepted = acceptedMutations(key, proof, x);
    console.log(accepted.length === 0 ? `proof ${i}: refused with every change` : `proof ${i}: ACCEPTED with ${accepted.join(', ')}`);
    bad += accepted.length;
  });
  return bad === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  console.error(`verify_groth16: ${error.message}`);
  process.exitCode = error instanceof Malformed || error.code !== undefined ? 2 : 3;
}
