#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "groth16/device_setup_file.hpp"
#include "groth16/setup_exponents.hpp"
#include "msm/fixed_base_cuda.hpp"
#include "srs/params_file.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

using gpu::DeviceBuffer;
using gpu::Reservation;

// Points made at a time.
constexpr size_t kBatch = size_t{1} << 20;

uint64_t device_bytes() {
  return DeviceFixedBase<G1Curve>::table_bytes() + DeviceFixedBase<G2Curve>::table_bytes() +
         Reservation::bytes_for<Fr>(kBatch) + Reservation::bytes_for<G2Xyzz>(kBatch) +
         Reservation::bytes_for<G2Affine>(kBatch);
}

class FilePointMaker final : public ExponentSink {
 public:
  FilePointMaker(const gpu::Device& device, const gpu::Stream& stream, const ToxicWaste& toxic, std::string path,
                 Progress& progress)
      : device_(device), stream_(stream), toxic_(toxic), path_(std::move(path)), progress_(progress) {}
  // Exponents tell the trapdoor.
  ~FilePointMaker() override { secure_clear(batch_.data(), batch_.size() * sizeof(Fr)); }
  FilePointMaker(const FilePointMaker&) = delete;
  FilePointMaker& operator=(const FilePointMaker&) = delete;

  Status begin(const SrsShape& shape, std::span<const Fr> ic) override {
    vk_ = make_verifying_key(toxic_, ic, FixedBase<G1Curve>(toxic_.g1, ic.size()));
    CUZK_ASSIGN(ParamsWriter writer, ParamsWriter::create(path_, vk_, shape));
    writer_.emplace(std::move(writer));
    CUZK_ASSIGN(memory_, device_.reserve(device_bytes(), gpu::Placement::kHigh));
    CUZK_ASSIGN(g1_, DeviceFixedBase<G1Curve>::create(toxic_.g1, memory_, stream_));
    CUZK_ASSIGN(g2_, DeviceFixedBase<G2Curve>::create(toxic_.g2, memory_, stream_));
    CUZK_ASSIGN(exponents_, memory_.allocate<Fr>(kBatch, stream_));
    CUZK_ASSIGN(sums_, memory_.allocate<G2Xyzz>(kBatch, stream_));
    CUZK_ASSIGN(points_, memory_.allocate<G2Affine>(kBatch, stream_));
    counter_.emplace(progress_, "parameters", shape.h + shape.l + shape.a + shape.b_g1 + shape.b_g2, "points");
    return {};
  }

  Status section(Section section, uint64_t count, const ExponentFill& fill) override {
    if (section == Section::kBG2) return make<G2Curve>(section, count, fill, *g2_);
    return make<G1Curve>(section, count, fill, *g1_);
  }

  Result<VerifyingKey> finish() {
    CUZK_TRY(gpu::fill_bytes(exponents_.data(), 0, kBatch * sizeof(Fr), stream_));
    CUZK_TRY(stream_.synchronize());
    CUZK_TRY(writer_->finish());
    return std::move(vk_);
  }

 private:
  // While the device makes a batch the last one is written.
  template <class Curve>
  Status make(Section section, uint64_t count, const ExponentFill& fill, const DeviceFixedBase<Curve>& base) {
    std::array<std::vector<Affine<Curve>>, 2> made;
    for (uint64_t first = 0, turn = 0; first < count; first += kBatch, turn ^= 1) {
      const size_t size = std::min<uint64_t>(kBatch, count - first);
      batch_.resize(kBatch);
      fill(first, std::span(batch_).first(size));
      const std::span<Fr> exponents = exponents_.span().first(size);
      const std::span<Affine<Curve>> points(reinterpret_cast<Affine<Curve>*>(points_.data()), size);
      const std::span<Xyzz<Curve>> sums(reinterpret_cast<Xyzz<Curve>*>(sums_.data()), size);
      CUZK_TRY(gpu::copy_to_device<Fr>(exponents, std::span<const Fr>(batch_).first(size), stream_));
      CUZK_TRY(base.multiply(exponents, points, sums, stream_));
      CUZK_TRY(append(section, made[turn ^ 1]));
      made[turn].resize(size);
      CUZK_TRY(gpu::copy_to_host<Affine<Curve>>(std::span(made[turn]), points, stream_));
      CUZK_TRY(stream_.synchronize());
      made[turn ^ 1].clear();
    }
    for (const std::vector<Affine<Curve>>& last : made) CUZK_TRY(append(section, last));
    return {};
  }
  template <class Point>
  Status append(Section section, const std::vector<Point>& points) {
    if (points.empty()) return {};
    CUZK_TRY(writer_->append(section, std::span<const Point>(points)));
    counter_->add(points.size());
    return {};
  }

  const gpu::Device& device_;
  const gpu::Stream& stream_;
  const ToxicWaste& toxic_;
  const std::string path_;
  Progress& progress_;
  VerifyingKey vk_;
  std::optional<ParamsWriter> writer_;
  std::optional<ProgressCounter> counter_;
  std::vector<Fr> batch_;
  Reservation memory_;
  std::optional<DeviceFixedBase<G1Curve>> g1_;
  std::optional<DeviceFixedBase<G2Curve>> g2_;
  DeviceBuffer<Fr> exponents_;
  DeviceBuffer<G2Xyzz> sums_;
  DeviceBuffer<G2Affine> points_;
};

}  // namespace

Result<VerifyingKey> setup_to_file_on_gpu(const gpu::DeviceInfo& gpu, const CompiledCircuit& circuit,
                                          const ToxicWaste& toxic, const std::string& path, Progress& progress) {
  CUZK_ASSIGN(const gpu::Device device, gpu::Device::open(gpu, {.bytes = device_bytes() + (uint64_t{1} << 20)}));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(const gpu::Stream stream, device.make_stream());
  FilePointMaker maker(device, stream, toxic, path, progress);
  CUZK_TRY(setup_exponents(circuit, toxic, maker, progress));
  return maker.finish();
}

}  // namespace cuzk
