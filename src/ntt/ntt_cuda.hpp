// Transforms over Fr on a CUDA device, in place, and the quotient polynomial. Plain C++; built with CUZK_CUDA only.
//
// A transform and its inverse have one element order on each side: natural for coefficients in, bit-reversed for values
// out, and back. Neither restores the order, and the quotient needs none restored.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream.hpp"
#include "ntt/ntt_plan.hpp"

namespace cuzk {

namespace ntt {
struct PassArguments;
struct TwiddleTables;
}  // namespace ntt

// Element order of the values at w^j (or 7*w^j): value j at place j, or at the place with j's bits reversed.
enum class Order : uint8_t { kNatural, kBitReversed };

// The group of 2^k-th roots of unity with twiddles on the device. Spans are device memory of size() canonical elements
// in Montgomery form; work is put on `stream`, of the device of the tables, and results are ready when the stream has
// passed. Immutable after create(), so safe to use on several streams. Errors: those of the launches.
class DeviceDomain {
 public:
  static constexpr unsigned kMaxLog2Size = ntt::DevicePlan::kMaxLog2Size;

  // What create() allocates in the reservation: 66 MiB for 2^27.
  static uint64_t table_bytes(unsigned log2_size);
  // Computes the tables on the device; log2_size must be <= kMaxLog2Size. They are ready for work on `stream`, and for
  // other streams once that has passed.
  static Result<DeviceDomain> create(unsigned log2_size, gpu::Reservation& memory, const gpu::Stream& stream);

  unsigned log2_size() const { return plan_.log2_size(); }
  size_t size() const { return size_t{1} << log2_size(); }

  // Coefficients in natural order -> values at w^j, bit-reversed.
  Status forward(std::span<Fr> values, const gpu::Stream& stream) const;
  // The same at 7*w^j, at the same cost.
  Status coset_forward(std::span<Fr> values, const gpu::Stream& stream) const;
  // Values at w^j, bit-reversed -> coefficients in natural order (1/m included).
  Status inverse(std::span<Fr> values, const gpu::Stream& stream) const;
  Status coset_inverse(std::span<Fr> values, const gpu::Stream& stream) const;
  // From either order to the other; two passes of memory traffic and no arithmetic.
  Status bit_reverse(std::span<Fr> values, const gpu::Stream& stream) const;

  // a := the coefficients of h = (a*b - c)/(x^m - 1), natural order, from values on the domain in `order`; see
  // compute_h in quotient.hpp. c empty: of h = (a*b)/(x^m - 1) as if c were zero, for parameters into which c is
  // folded: 5 transforms instead of 6. b and c end with unspecified contents.
  Status quotient(std::span<Fr> a, std::span<Fr> b, std::span<Fr> c, Order order, const gpu::Stream& stream) const;

 private:
  enum Kind : unsigned { kForward, kCosetForward, kInverse, kCosetInverse, kKinds };
  // A direction's tables, in this order in one buffer: level twiddles (two Fr each), low and high powers, coset
  // factors, roots.
  struct Sizes {
    size_t levels, low, high, factors, roots;
    size_t total() const { return levels + low + high + factors + roots; }
  };
  explicit DeviceDomain(unsigned log2_size) : plan_(log2_size) {}
  static Sizes sizes(const ntt::DevicePlan& plan);
  ntt::TwiddleTables tables(Kind kind) const;
  Status fill(Kind kind, const gpu::Stream& stream) const;
  // `finish`: the last pass writes canonical elements; `scale`: divided by m.
  Status run(Kind kind, std::span<Fr> values, bool finish, bool scale, const gpu::Stream& stream) const;

  ntt::DevicePlan plan_;
  gpu::DeviceBuffer<Fr> buffer_;  // the tables of all kinds, one after the other
};

}  // namespace cuzk
