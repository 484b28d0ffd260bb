// Square roots in Fp and Fp2 (p = 3 mod 4). Not constant time: for decoding public points.
#pragma once

#include <optional>

#include "field/fp.hpp"
#include "field/fp2.hpp"

namespace cuzk {

// x^((p-3)/4): the shared exponentiation of sqrt and the quadratic character. About 460 multiplications.
Fp pow_p_minus_3_over_4(const Fp& x);

// A square root of x, or nothing where x is not a square. Which of the two roots is unspecified.
std::optional<Fp> sqrt(const Fp& x);
std::optional<Fp2> sqrt(const Fp2& x);

}  // namespace cuzk
