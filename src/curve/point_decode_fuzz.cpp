// Any bytes may be given to the four point readers: they never crash, what they accept is on the curve and writes back
// to the same bytes, and a point that passes the subgroup check is killed by r.
#include <algorithm>
#include <cstdlib>

#include "curve/check.hpp"
#include "curve/encoding.hpp"

namespace {

using namespace cuzk;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Curve, class Encode>
void check(std::span<const uint8_t> bytes, Result<Affine<Curve>> (*read)(std::span<const uint8_t>, PointCheck),
           Encode encode) {
  const auto p = read(bytes, PointCheck::kOnCurve);
  const auto q = read(bytes, PointCheck::kSubgroup);
  if (!p.ok()) {
    require(!q.ok() && p.error().error_class == ErrorClass::kInvalidInput && !p.error().message.empty());
    return;
  }
  require(is_on_curve(*p));
  const auto again = encode(*p);
  require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  const bool killed = Jacobian<Curve>::from_affine(*p).mul(std::span<const uint64_t>(Fr::kModulus)).is_infinity();
  require(q.ok() == killed);
  require(!q.ok() || *q == *p);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  check<G1Curve>(bytes, decompress_g1, [](const G1Affine& p) { return compress(p); });
  check<G2Curve>(bytes, decompress_g2, [](const G2Affine& p) { return compress(p); });
  check<G1Curve>(bytes, decode_uncompressed_g1, [](const G1Affine& p) { return encode_uncompressed(p); });
  check<G2Curve>(bytes, decode_uncompressed_g2, [](const G2Affine& p) { return encode_uncompressed(p); });
  return 0;
}
