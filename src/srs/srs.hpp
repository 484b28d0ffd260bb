// Groth16 parameters in memory: affine points, coordinates in Montgomery form, no point at infinity.
#pragma once

#include <cstdint>
#include <vector>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "srs/layout.hpp"

namespace cuzk {

struct VerifyingKey {
  G1Affine alpha_g1, beta_g1;
  G2Affine beta_g2, gamma_g2;
  G1Affine delta_g1;
  G2Affine delta_g2;
  std::vector<G1Affine> ic;  // one per input, ONE first

  friend bool operator==(const VerifyingKey&, const VerifyingKey&) = default;
};

struct Srs {
  VerifyingKey vk;
  std::vector<G1Affine> h;     // tau^i * Z(tau) / delta for i = 0 .. m-2
  std::vector<G1Affine> l;     // every auxiliary wire
  std::vector<G1Affine> a;     // every input, then the auxiliary wires that occur in A
  std::vector<G1Affine> b_g1;  // the inputs that occur in B, then the auxiliary wires that do
  std::vector<G2Affine> b_g2;  // the same in G2

  SrsShape shape() const { return {vk.ic.size(), h.size(), l.size(), a.size(), b_g1.size(), b_g2.size()}; }
};

// Memory of parameters of that shape.
constexpr uint64_t srs_bytes(const SrsShape& shape) {
  return sizeof(G1Affine) * (shape.ic + shape.h + shape.l + shape.a + shape.b_g1) + sizeof(G2Affine) * shape.b_g2;
}

}  // namespace cuzk
