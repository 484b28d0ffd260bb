// A proof computed from the trapdoor in the exponent: no parameters, no transforms, no multi-scalar multiplication.
// An independent check of all of them, from dense row evaluations and the textbook Lagrange formula.
#pragma once

#include <vector>

#include "circuit/compiled_circuit.hpp"
#include "field/fr.hpp"
#include "groth16/proof.hpp"
#include "groth16/toxic_waste.hpp"

namespace cuzk::test {

// The proof of the assignment (inputs with ONE, then all aux values) for that trapdoor and blinding.
inline Proof proof_from_trapdoor(const CompiledCircuit& circuit, const std::vector<Fr>& inputs,
                                 const std::vector<Fr>& aux, const ToxicWaste& toxic, const Fr& r, const Fr& s) {
  const Fr tau = toxic.tau.expose(), alpha = toxic.alpha.expose(), beta = toxic.beta.expose();
  const Fr delta = toxic.delta.expose();  // gamma cancels: ic is divided by it and paired with it
  const uint64_t m = uint64_t{1} << circuit.log2_domain();
  const Fr root = fr_root_of_unity().pow(uint64_t{1} << (32 - circuit.log2_domain()));
  // prod over k != j of (tau - w^k) / (w^j - w^k) = w^j * (tau^m - 1) / (m * (tau - w^j)).
  std::vector<Fr> lagrange;
  const Fr z = tau.pow(m) - Fr::one();
  for (uint64_t j = 0; j < circuit.rows(); ++j) {
    const Fr point = root.pow(j);
    lagrange.push_back(point * z * (Fr::from_u64(m) * (tau - point)).inverse());
  }
  const auto value = [&](uint32_t raw) {
    const Wire w{raw};
    return w.is_input() ? inputs[w.index()] : aux[w.index()];
  };
  // The polynomial of the matrix times the assignment at tau, and those of the inputs apart.
  std::vector<Fr> x_inputs(inputs.size());  // beta*A_i + alpha*B_i + C_i
  const auto evaluate = [&](const BlockMatrix& matrix, const Fr& factor) {
    Fr sum = Fr::zero();
    matrix.for_each_term([&](uint64_t row, uint32_t raw, uint32_t coefficient) {
      const Fr entry = circuit.coefficients[coefficient] * lagrange[row];
      sum += entry * value(raw);
      const Wire w{raw};
      if (w.is_input()) x_inputs[w.index()] += factor * entry;
    });
    return sum;
  };
  Fr a = evaluate(circuit.a(), beta);
  const Fr b = evaluate(circuit.b(), alpha);
  const Fr c = evaluate(circuit.c(), Fr::one());
  Fr x = Fr::zero();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Fr& row = lagrange[circuit.num_constraints + i];
    a += row * inputs[i];
    x_inputs[i] += beta * row;
    x += x_inputs[i] * inputs[i];
  }
  const Fr proof_a = alpha + a + r * delta;
  const Fr proof_b = beta + b + s * delta;
  const Fr delta_inverse = delta.inverse();
  const Fr proof_c = (beta * a + alpha * b + c - x) * delta_inverse + (a * b - c) * delta_inverse + s * proof_a +
                     r * proof_b - r * s * delta;
  return {G1Jacobian::from_affine(toxic.g1).mul(proof_a).to_affine(),
          G2Jacobian::from_affine(toxic.g2).mul(proof_b).to_affine(),
          G1Jacobian::from_affine(toxic.g1).mul(proof_c).to_affine()};
}

}  // namespace cuzk::test
