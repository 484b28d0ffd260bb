#include "ntt/quotient.hpp"

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

}  // namespace cuzk
