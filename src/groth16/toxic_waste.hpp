// The trapdoor of self-made parameters. Whoever knows it can prove anything: for development and tests only.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fr.hpp"

namespace cuzk {

// Move-only; the scalars are cleared on destruction.
struct ToxicWaste {
  Secret<Fr> tau, alpha, beta, gamma, delta;
  G1Affine g1 = G1Curve::generator();
  G2Affine g2 = G2Curve::generator();
};

// The same trapdoor for the same seed, on every machine; over the standard generators. With the seed known it is no
// secret, so the parameters prove nothing to anybody: for development.
//
// Each scalar is the 64-byte little-endian integer SHA-256(p || 0) || SHA-256(p || 1) modulo r, with
// p = "cuzk development parameters v1" || name || seed and name one of "tau", "alpha", "beta", "gamma", "delta". (A
// zero, which nobody will find, is replaced by one.)
ToxicWaste toxic_waste_from_seed(const std::array<uint8_t, 32>& seed);

// A trapdoor from the randomness of the operating system that nobody keeps. Still one machine's word: a ceremony is
// what makes parameters trustworthy. Errors: kIo.
Result<ToxicWaste> random_toxic_waste();

}  // namespace cuzk
