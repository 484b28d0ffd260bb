// Shows that mul_secret neither branches on nor addresses by its operands: MemorySanitizer follows them, marked as
// uninitialised, through the portable field arithmetic and stops at the first branch or address that depends on them.
// Built and run by run.sh; -DCUZK_TAINT_MUL makes it call the variable-time multiplication, which must be caught.
#include <sanitizer/msan_interface.h>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "curve/mul_secret.hpp"

namespace {

using namespace cuzk;

template <class Curve>
bool follow() {
  const Fr scalar = -Fr::from_u64(3).inverse();
  Fr secret = scalar;
  __msan_poison(&secret, sizeof secret);
  Jacobian<Curve> point = Jacobian<Curve>::from_affine(Curve::generator()).dbl();
  const Jacobian<Curve> expected = point.mul(scalar);
#ifdef CUZK_TAINT_MUL
  Jacobian<Curve> product = point.mul(secret);
#else
  __msan_poison(&point, sizeof point);
  Jacobian<Curve> product = mul_secret(point, secret);
#endif
  const bool followed = __msan_test_shadow(&product, sizeof product) != -1;  // else nothing was checked
  __msan_unpoison(&product, sizeof product);
  return followed && product == expected;
}

}  // namespace

int main() { return follow<G1Curve>() && follow<G2Curve>() ? 0 : 1; }
