// Round constants and matrices of Poseidon over Fr, per arity.
//
// Source: Grassi, Khovratovich, Rechberger, Roy, Schofnegger, "Poseidon" (USENIX Security 2021), S-box x^5; the
// instance, the compressed constants and the sparse factorisation as in neptune 11 (round_constants.rs,
// preprocessing.rs, mds.rs).
#pragma once

#include <cstdint>
#include <vector>

#include "field/fr.hpp"

namespace cuzk {

inline constexpr unsigned kPoseidonMaxArity = 36;
inline constexpr unsigned kPoseidonFullRounds = 8;

struct PoseidonConstants {
  unsigned arity = 0;
  unsigned width = 0;  // t = arity + 1; element 0 of the state is the domain tag
  unsigned partial_rounds = 0;
  std::vector<Fr> raw;         // (8 + R_P) * t round constants
  std::vector<Fr> compressed;  // 8 * t + R_P constants of the fast permutation
  std::vector<Fr> mds;         // t x t, row-major, symmetric
  std::vector<Fr> pre_sparse;  // t x t, row-major
  std::vector<Fr> sparse;      // R_P times: w_hat (t elements), v_rest (arity elements)
};

// True for 2, 4, 8, 11, 16, 24, 36.
bool is_poseidon_arity(unsigned arity);

// R_P of an arity for which is_poseidon_arity() holds.
unsigned poseidon_partial_rounds(unsigned arity);

// The constants of an arity for which is_poseidon_arity() holds; computed at the first call (0.3 s for arity 36,
// milliseconds for the small ones), kept for ever. Thread-safe.
const PoseidonConstants& poseidon_constants(unsigned arity);

}  // namespace cuzk
