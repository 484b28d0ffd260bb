#include <algorithm>
#include <utility>

#include "groth16/device_params.hpp"
#include "msm/decode_points_cuda.hpp"

namespace cuzk {

using gpu::DeviceBuffer;
using gpu::Reservation;

static_assert(PlaceCursor::kValue == PointTargets<G1Curve>::kSecond &&
              PlaceCursor::kValue == PointTargets<G2Curve>::kSecond);

// Chunks go to the slabs in turn. Each slab has its stream, so that one chunk is copied while another is converted.
class DeviceParamsLoader::Sink final : public PointSink {
 public:
  // Without `srs`, points are checked only.
  Sink(DeviceParamsLoader& loader, DeviceSrs* srs, PointCheck check) : loader_(loader), srs_(srs), check_(check) {}

  Status reserve() {
    CUZK_ASSIGN(memory_, loader_.device_.reserve(staging_bytes(), gpu::Placement::kHigh));
    for (size_t i = 0; i < kSlabs; ++i) {
      const gpu::Stream& stream = slab(i).stream;
      CUZK_ASSIGN(staging_[i].bytes, memory_.allocate<uint8_t>(kSlabBytes, stream));
      CUZK_ASSIGN(staging_[i].places, memory_.allocate<uint32_t>(kSlabPoints, stream));
      CUZK_ASSIGN(staging_[i].bad, memory_.allocate<unsigned long long>(1, stream));
      CUZK_TRY(gpu::fill_bytes(staging_[i].bad.data(), 0xff, sizeof(unsigned long long), stream));
    }
    return {};
  }

  Result<PointSink::Slab> next_slab() override {
    DeviceParamsLoader::Slab& next = slab(turn_);
    if (next.used) CUZK_TRY(next.copied.synchronize());
    return PointSink::Slab{next.bytes.span(), next.places.span()};
  }

  Status take(const PointChunk& chunk) override {
    if (srs_ == nullptr) {
      return chunk.section == Section::kBG2 ? convert<G2Curve>(chunk, {}) : convert<G1Curve>(chunk, {});
    }
    switch (chunk.section) {
      case Section::kH: return convert<G1Curve>(chunk, {srs_->h.span().subspan(chunk.first), {}});
      case Section::kL: return convert<G1Curve>(chunk, {srs_->l.bits.span(), srs_->l.values.span()});
      case Section::kA: return convert<G1Curve>(chunk, {srs_->a.bits.span(), srs_->a.values.span()});
      case Section::kBG1: return convert<G1Curve>(chunk, {srs_->b_g1.bits.span(), srs_->b_g1.values.span()});
      case Section::kBG2: return convert<G2Curve>(chunk, {srs_->b_g2.bits.span(), srs_->b_g2.values.span()});
      case Section::kIc: break;
    }
    return {};
  }

  Result<std::optional<uint64_t>> finish(Section) override {
    for (size_t i = 0; i < kSlabs; ++i) {
      CUZK_TRY(gpu::copy_to_host<unsigned long long>(loader_.bad_.span().subspan(i, 1), staging_[i].bad.span(),
                                                     slab(i).stream));
    }
    for (size_t i = 0; i < kSlabs; ++i) CUZK_TRY(slab(i).stream.synchronize());
    const unsigned long long lowest = std::min(loader_.bad_.data()[0], loader_.bad_.data()[1]);
    return lowest == kNoBadPoint ? std::nullopt : std::optional<uint64_t>(lowest);
  }

 private:
  struct Staging {
    DeviceBuffer<uint8_t> bytes;
    DeviceBuffer<uint32_t> places;
    DeviceBuffer<unsigned long long> bad;
  };
  DeviceParamsLoader::Slab& slab(size_t i) { return *loader_.slabs_[i]; }

  template <class Curve>
  Status convert(const PointChunk& chunk, const PointTargets<Curve>& targets) {
    DeviceParamsLoader::Slab& from = slab(turn_);
    const Staging& to = staging_[turn_];
    turn_ = (turn_ + 1) % kSlabs;
    const std::span<uint8_t> bytes = to.bytes.span().first(chunk.count * point_bytes(chunk.section));
    std::span<uint32_t> places;
    CUZK_TRY(gpu::copy_to_device<uint8_t>(bytes, from.bytes.span().first(bytes.size()), from.stream));
    if (srs_ != nullptr && chunk.section != Section::kH) {
      places = to.places.span().first(chunk.count);
      CUZK_TRY(gpu::copy_to_device<uint32_t>(places, from.places.span().first(places.size()), from.stream));
    }
    CUZK_TRY(from.copied.record(from.stream));
    from.used = true;
    return decode_points<Curve>(bytes, places, targets, check_, chunk.first, to.bad.data(), from.stream);
  }

  DeviceParamsLoader& loader_;
  DeviceSrs* srs_;
  PointCheck check_;
  Reservation memory_;
  std::array<Staging, kSlabs> staging_;
  size_t turn_ = 0;
};

Result<DeviceParamsLoader> DeviceParamsLoader::create(const gpu::Device& device) {
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(gpu::PinnedBuffer<unsigned long long> bad, device.allocate_pinned<unsigned long long>(kSlabs));
  DeviceParamsLoader out(device, std::move(bad));
  for (std::optional<Slab>& slab : out.slabs_) {
    CUZK_ASSIGN(gpu::PinnedBuffer<uint8_t> bytes, device.allocate_pinned<uint8_t>(PointSink::kSlabBytes));
    CUZK_ASSIGN(gpu::PinnedBuffer<uint32_t> places, device.allocate_pinned<uint32_t>(PointSink::kSlabPoints));
    CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
    CUZK_ASSIGN(gpu::Event copied, device.make_event());
    slab.emplace(Slab{std::move(bytes), std::move(places), std::move(stream), std::move(copied), false});
  }
  return Result<DeviceParamsLoader>(std::move(out));
}

uint64_t DeviceParamsLoader::staging_bytes() {
  return kSlabs *
         (Reservation::bytes_for<uint8_t>(PointSink::kSlabBytes) +
          Reservation::bytes_for<uint32_t>(PointSink::kSlabPoints) + Reservation::bytes_for<unsigned long long>(1));
}

Status DeviceParamsLoader::load(const ByteSource& source, const SrsShape& shape, const PackedQueries& queries,
                                DeviceSrs& srs, Progress& progress) {
  Sink sink(*this, &srs, PointCheck::kOnCurve);
  return stream(source, shape, &queries, PointCheck::kOnCurve, sink, progress);
}

Status DeviceParamsLoader::check(const ByteSource& source, const SrsShape& shape, PointCheck check,
                                 Progress& progress) {
  Sink sink(*this, nullptr, check);
  return stream(source, shape, nullptr, check, sink, progress);
}

Status DeviceParamsLoader::stream(const ByteSource& source, const SrsShape& shape, const PackedQueries* queries,
                                  PointCheck check, Sink& sink, Progress& progress) {
  CUZK_TRY(device_.make_current());
  CUZK_TRY(sink.reserve());
  Status loaded = stream_params(source, shape, queries, check, sink, progress);
  // Whatever was wrong, what is under way ends before its memory is given to others.
  for (std::optional<Slab>& slab : slabs_) {
    Status done = slab->stream.synchronize();
    slab->used = false;
    if (loaded.ok()) loaded = std::move(done);
  }
  return loaded;
}

}  // namespace cuzk
