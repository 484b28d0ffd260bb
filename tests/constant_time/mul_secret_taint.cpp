// Shows that mul_secret neither branches on nor addresses by its scalar: MemorySanitizer follows the scalar, marked as
// uninitialised, through the portable field arithmetic and stops at the first branch or address that depends on it.
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
#ifdef CUZK_TAINT_MUL
  Jacobian<Curve> product = Jacobian<Curve>::from_affine(Curve::generator()).mul(secret);
#else
  Jacobian<Curve> product = mul_secret(Curve::generator(), secret);
#endif
  const bool followed = __msan_test_shadow(&product, sizeof product) != -1;  // else nothing was checked
  __msan_unpoison(&product, sizeof product);
  return followed && product == Jacobian<Curve>::from_affine(Curve::generator()).mul(scalar);
}

}  // namespace

int main() { return follow<G1Curve>() && follow<G2Curve>() ? 0 : 1; }
