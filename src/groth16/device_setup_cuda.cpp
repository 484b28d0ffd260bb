#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "groth16/device_setup.hpp"
#include "groth16/setup_exponents.hpp"
#include "msm/fixed_base_cuda.hpp"

namespace cuzk {
namespace {

using gpu::DeviceBuffer;
using gpu::Reservation;
using gpu::Stream;

// Points made at a time.
constexpr size_t kBatch = size_t{1} << 21;

// Cleared when it goes: exponents tell the trapdoor.
class SecretBatch {
 public:
  explicit SecretBatch(size_t size) : values_(size) {}
  ~SecretBatch() { secure_clear(values_.data(), values_.size() * sizeof(Fr)); }
  SecretBatch(const SecretBatch&) = delete;
  SecretBatch& operator=(const SecretBatch&) = delete;
  std::span<Fr> first(size_t size) { return std::span(values_).first(size); }

 private:
  std::vector<Fr> values_;
};

class DevicePointMaker final : public ExponentSink {
 public:
  DevicePointMaker(const ToxicWaste& toxic, const PackedQueries& queries, uint64_t num_bits,
                   const DeviceSrsOptions& options, const gpu::Device& device, Reservation& memory,
                   const Stream& stream)
      : toxic_(toxic),
        queries_(queries),
        num_bits_(num_bits),
        options_(options),
        device_(device),
        memory_(memory),
        stream_(stream),
        batch_(kBatch),
        group_(kBatch) {}

  Status begin(const SrsShape& shape, std::span<const Fr> ic) override {
    out.shape = shape;
    out.vk = make_verifying_key(toxic_, ic, FixedBase<G1Curve>(toxic_.g1, ic.size()));
    CUZK_ASSIGN(out.srs, DeviceSrs::allocate(shape, queries_, num_bits_, options_, memory_, stream_));
    CUZK_ASSIGN(scratch_, device_.reserve(setup_scratch_bytes(), gpu::Placement::kHigh));
    CUZK_ASSIGN(g1_, DeviceFixedBase<G1Curve>::create(toxic_.g1, scratch_, stream_));
    CUZK_ASSIGN(g2_, DeviceFixedBase<G2Curve>::create(toxic_.g2, scratch_, stream_));
    CUZK_ASSIGN(exponents_, scratch_.allocate<Fr>(kBatch, stream_));
    CUZK_ASSIGN(sums_, scratch_.allocate<G2Xyzz>(kBatch, stream_));
    return {};
  }

  Status section(Section section, uint64_t count, const ExponentFill& fill) override {
    switch (section) {
      case Section::kH: return make_h(count, fill);
      case Section::kL: return make(queries_.l, out.srs.l, count, fill);
      case Section::kA: return make(queries_.a, out.srs.a, count, fill);
      case Section::kBG1: return make(queries_.b, out.srs.b_g1, count, fill);
      case Section::kBG2: return make(queries_.b, out.srs.b_g2, count, fill);
      case Section::kIc: break;
    }
    return {};
  }

  Status finish() {
    CUZK_TRY(gpu::fill_bytes(exponents_.data(), 0, kBatch * sizeof(Fr), stream_));
    return out.srs.finish(stream_);
  }

  DeviceParameters out;

 private:
  Status make_h(uint64_t count, const ExponentFill& fill) {
    for (uint64_t first = 0; first < count; first += kBatch) {
      const std::span<Fr> exponents = batch_.first(std::min<uint64_t>(kBatch, count - first));
      fill(first, exponents);
      CUZK_TRY(multiply<G1Curve>(exponents, out.srs.h.span().subspan(first, exponents.size())));
    }
    return {};
  }

  template <class Curve>
  Status make(const PackedQuery& query, const DeviceQueryPoints<Curve>& points, uint64_t count,
              const ExponentFill& fill) {
    size_t bits = 0, values = 0;
    for (uint64_t first = 0; first < count; first += kBatch) {
      const std::span<Fr> exponents = batch_.first(std::min<uint64_t>(kBatch, count - first));
      fill(first, exponents);
      CUZK_TRY(make_group<Curve>(query.bits, first, exponents, bits, points.bits.span()));
      CUZK_TRY(make_group<Curve>(query.values, first, exponents, values, points.values.span()));
    }
    return {};
  }
  // The points of the group from number `next` on whose positions are among those of `exponents`.
  template <class Curve>
  Status make_group(const PackedQuery::Group& group, uint64_t first, std::span<const Fr> exponents, size_t& next,
                    std::span<Affine<Curve>> points) {
    const size_t begin = next;
    const std::span<Fr> chosen = group_.first(exponents.size());
    for (; next < group.size() && group.position[next] < first + exponents.size(); ++next) {
      chosen[next - begin] = exponents[group.position[next] - first];
    }
    return multiply<Curve>(chosen.first(next - begin), points.subspan(begin, next - begin));
  }

  template <class Curve>
  Status multiply(std::span<const Fr> exponents, std::span<Affine<Curve>> points) {
    if (exponents.empty()) return {};
    const std::span<Fr> on_device = exponents_.span().first(exponents.size());
    CUZK_TRY(gpu::copy_to_device<Fr>(on_device, exponents, stream_));
    const std::span<Xyzz<Curve>> sums(reinterpret_cast<Xyzz<Curve>*>(sums_.data()), exponents.size());
    if constexpr (std::is_same_v<Curve, G1Curve>) {
      CUZK_TRY(g1_->multiply(on_device, points, sums, stream_));
    } else {
      CUZK_TRY(g2_->multiply(on_device, points, sums, stream_));
    }
    return stream_.synchronize();
  }

  const ToxicWaste& toxic_;
  const PackedQueries& queries_;
  const uint64_t num_bits_;
  const DeviceSrsOptions options_;
  const gpu::Device& device_;
  Reservation& memory_;
  const Stream& stream_;
  SecretBatch batch_, group_;
  Reservation scratch_;
  std::optional<DeviceFixedBase<G1Curve>> g1_;
  std::optional<DeviceFixedBase<G2Curve>> g2_;
  DeviceBuffer<Fr> exponents_;
  DeviceBuffer<G2Xyzz> sums_;
};

}  // namespace

uint64_t setup_scratch_bytes() {
  return DeviceFixedBase<G1Curve>::table_bytes() + DeviceFixedBase<G2Curve>::table_bytes() +
         Reservation::bytes_for<Fr>(kBatch) + Reservation::bytes_for<G2Xyzz>(kBatch);
}

Result<DeviceParameters> setup_on_device(const CompiledCircuit& circuit, const ToxicWaste& toxic,
                                         const PackedQueries& queries, const DeviceSrsOptions& options,
                                         const gpu::Device& device, Reservation& memory, const Stream& stream,
                                         Progress& progress) {
  CUZK_TRY(device.make_current());
  DevicePointMaker maker(toxic, queries, circuit.num_bits, options, device, memory, stream);
  CUZK_TRY(setup_exponents(circuit, toxic, maker, progress));
  CUZK_TRY(maker.finish());
  return Result<DeviceParameters>(std::move(maker.out));
}

}  // namespace cuzk
