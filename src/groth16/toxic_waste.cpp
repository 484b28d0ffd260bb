#include "groth16/toxic_waste.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/random.hpp"
#include "groth16/scalar.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr std::string_view kDomain = "cuzk development parameters v1";

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Fr expand(std::string_view name, const std::array<uint8_t, 32>& seed) {
  std::array<uint8_t, 64> wide{};
  for (uint8_t half = 0; half < 2; ++half) {
    Sha256 hash;
    hash.update(bytes_of(kDomain));
    hash.update(bytes_of(name));
    hash.update(seed);
    hash.update(std::span(&half, 1));
    const auto digest = hash.finish();
    std::copy(digest.begin(), digest.end(), wide.begin() + 32 * half);
  }
  const Fr scalar = fr_from_wide_bytes(wide);
  secure_clear(wide.data(), wide.size());
  return scalar.is_zero() ? Fr::one() : scalar;
}

}  // namespace

ToxicWaste toxic_waste_from_seed(const std::array<uint8_t, 32>& seed) {
  ToxicWaste out;
  out.tau = Secret(expand("tau", seed));
  out.alpha = Secret(expand("alpha", seed));
  out.beta = Secret(expand("beta", seed));
  out.gamma = Secret(expand("gamma", seed));
  out.delta = Secret(expand("delta", seed));
  return out;
}

Result<ToxicWaste> random_toxic_waste() {
  std::array<uint8_t, 32> seed{};
  CUZK_TRY(os_random(seed));
  ToxicWaste out = toxic_waste_from_seed(seed);
  secure_clear(seed.data(), seed.size());
  return out;
}

}  // namespace cuzk
