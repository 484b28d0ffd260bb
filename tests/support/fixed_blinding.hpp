// Fixed r and s, for tests that compare proofs with known bytes. Product code cannot make them.
#pragma once

#include "groth16/prove.hpp"

namespace cuzk {

struct BlindingForTests {
  static Blinding make(const Fr& r, const Fr& s) { return Blinding(Secret<Fr>(r), Secret<Fr>(s)); }
};

}  // namespace cuzk
