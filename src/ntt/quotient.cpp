#include "ntt/quotient.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "ntt/engine.hpp"

namespace cuzk {

void compute_h(const Domain& domain, std::vector<Fr>& a, std::vector<Fr>& b, std::vector<Fr>& c) {
  CUZK_ASSERT(a.size() == domain.size() && b.size() == domain.size() && c.size() == domain.size());
  const Fr inverse_z = domain.z_on_coset().inverse();
  const ntt::Engine* engine = domain.engine();
  if (engine == nullptr) {
    for (auto* v : {&a, &b, &c}) {
      domain.inverse(*v);
      domain.coset_forward(*v);
    }
    for (size_t i = 0; i < a.size(); ++i) a[i] = (a[i] * b[i] - c[i]) * inverse_z;
    return domain.coset_inverse(a);
  }
  // The inverse transforms leave bit-reversed coefficients and the coset transforms start from them, so no order is
  // restored between them, and their row halves are one pass.
  const Fr one = Fr::one();
  for (auto* v : {&a, &b, &c}) {
    engine->columns_ct(ntt::Root::kInverse, false, v->data());
    engine->rows_to_coset(v->data(), v == &a ? engine->product_factor() : one);
  }
  engine->columns_quotient(a.data(), b.data(), c.data());
  engine->rows_ct_natural(ntt::Root::kInverse, ntt::Scale::kInverseCoset, a.data(), b.data(), inverse_z);
  a.swap(b);
}

uint64_t compute_h_scratch_bytes(unsigned log2_size, size_t threads) {
  if (log2_size < ntt::kMinEngineLog2) return 0;
  // A number of the vector form has five limbs of 52 bits, a twiddle as many bytes for each lane that it serves.
  constexpr uint64_t kWideBytes = 40, kTileWidth = 8;
  const uint64_t rows = uint64_t{1} << log2_size / 2, columns = uint64_t{1} << (log2_size - log2_size / 2);
  const uint64_t tables = 2 * (columns / 2 * kWideBytes + rows * sizeof(Fr)) +         // of the two roots
                          2 * (columns * kWideBytes + rows * sizeof(Fr)) + 64 * 1024;  // of the two cosets
  const uint64_t tile = std::max(3 * rows, columns) * kTileWidth * kWideBytes;
  return tables + (std::min<uint64_t>(threads, columns / kTileWidth) + 1) * tile;
}

}  // namespace cuzk
