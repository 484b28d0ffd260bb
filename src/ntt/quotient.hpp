// The quotient polynomial h = (a*b - c) / (x^m - 1) of the prover (Groth, "On the size of pairing-based non-interactive
// arguments" (2016); bellperson src/groth16/prover: execute_fft), in the fewest passes over memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "field/fr.hpp"
#include "ntt/ntt.hpp"

namespace cuzk {

// a := the size() coefficients of h, natural order, from the values of a, b, c on the domain; b and c end with
// unspecified contents (the vectors may have been exchanged). Each holds domain.size() elements. The last coefficient
// is zero exactly where a*b - c vanishes on the whole domain; the prover drops it.
// Costs seven transforms; each of a, b, c passes through memory three times, h twice more.
void compute_h(const Domain& domain, std::vector<Fr>& a, std::vector<Fr>& b, std::vector<Fr>& c);
// The most that making the domain and compute_h() allocate: its tables and a tile a thread, O(sqrt(size)).
uint64_t compute_h_scratch_bytes(unsigned log2_size, size_t threads);

}  // namespace cuzk
