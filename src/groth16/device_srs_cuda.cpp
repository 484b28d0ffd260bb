#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "groth16/device_srs.hpp"
#include "msm/msm_cuda.hpp"

namespace cuzk {
namespace {

using gpu::Reservation;
using gpu::Stream;

// Points that are put in order at a time: 24 MiB in G1.
constexpr size_t kChunk = size_t{1} << 18;

template <class Curve>
constexpr MsmGroup kGroup = std::is_same_v<Curve, G1Curve> ? MsmGroup::kG1 : MsmGroup::kG2;

bool takes_all_bits(const PackedQuery& query, uint64_t num_bits) { return query.bits.size() == num_bits; }

Status upload_index(const PackedQuery& query, uint64_t num_bits, Reservation& memory, const Stream& stream,
                    DeviceQueryIndex& out) {
  out.all_bits = takes_all_bits(query, num_bits);
  out.num_bits = query.bits.size();
  out.num_values = query.values.size();
  const auto upload = [&](const std::vector<uint32_t>& from, gpu::DeviceBuffer<uint32_t>& to) -> Status {
    CUZK_ASSIGN(to, memory.allocate<uint32_t>(from.size(), stream));
    return gpu::copy_to_device<uint32_t>(to.span(), from, stream);
  };
  if (!out.all_bits) CUZK_TRY(upload(query.bits.index, out.bits));
  return upload(query.values.index, out.values);
}

template <class Curve>
Status allocate_points(const PackedQuery& query, const DeviceSrsOptions& options, Reservation& memory,
                       const Stream& stream, DeviceQueryPoints<Curve>& out) {
  CUZK_ASSIGN(out.bits, memory.allocate<Affine<Curve>>(query.bits.size(), stream));
  CUZK_ASSIGN(out.values, memory.allocate<Affine<Curve>>(query.values.size(), stream));
  MsmOptions plan;
  plan.multiprocessors = options.multiprocessors;
  plan.multiplier = msm_multiplier(options.multiplier, query.values.size());
  plan.prepared = true;
  CUZK_ASSIGN(out.plan, MsmPlan::make(kGroup<Curve>, query.values.size(), plan));
  return {};
}

template <class Curve>
Status upload_group(std::span<const Affine<Curve>> points, const PackedQuery::Group& group, const Stream& stream,
                    std::span<Affine<Curve>> out) {
  std::vector<Affine<Curve>> chunk;
  for (size_t begin = 0; begin < group.size(); begin += kChunk) {
    chunk.resize(std::min(kChunk, group.size() - begin));
    for (size_t i = 0; i < chunk.size(); ++i) chunk[i] = points[group.position[begin + i]];
    CUZK_TRY(gpu::copy_to_device<Affine<Curve>>(out.subspan(begin, chunk.size()), chunk, stream));
    CUZK_TRY(stream.synchronize());
  }
  return {};
}

template <class Curve>
Status upload_points(std::span<const Affine<Curve>> points, const PackedQuery& query, const Stream& stream,
                     const DeviceQueryPoints<Curve>& out) {
  CUZK_ASSERT(points.size() == query.bits.size() + query.values.size());
  CUZK_TRY(upload_group(points, query.bits, stream, out.bits.span()));
  return upload_group(points, query.values, stream, out.values.span());
}

}  // namespace

uint64_t DeviceSrs::resident_bytes(const SrsShape& shape, const PackedQueries& queries, uint64_t num_bits,
                                   const DeviceSrsOptions& options) {
  uint64_t total = Reservation::bytes_for<G1Affine>(shape.h * options.h_multiples);
  for (const PackedQuery* query : {&queries.l, &queries.a, &queries.b}) {
    if (!takes_all_bits(*query, num_bits)) total += Reservation::bytes_for<uint32_t>(query->bits.size());
    total += Reservation::bytes_for<uint32_t>(query->values.size());
    total += Reservation::bytes_for<G1Affine>(query->bits.size());
    total += Reservation::bytes_for<G1Affine>(query->values.size());
  }
  total += Reservation::bytes_for<G2Affine>(queries.b.bits.size());
  total += Reservation::bytes_for<G2Affine>(queries.b.values.size());
  constexpr uint64_t kBuffers = 15;  // an empty one takes a granule
  return total + kBuffers * gpu::ArenaLayout::kGranularityBytes;
}

Result<DeviceSrs> DeviceSrs::allocate(const SrsShape& shape, const PackedQueries& queries, uint64_t num_bits,
                                      const DeviceSrsOptions& options, Reservation& memory, const Stream& stream) {
  DeviceSrs out;
  CUZK_TRY(upload_index(queries.l, num_bits, memory, stream, out.l_index));
  CUZK_TRY(upload_index(queries.a, num_bits, memory, stream, out.a_index));
  CUZK_TRY(upload_index(queries.b, num_bits, memory, stream, out.b_index));
  CUZK_TRY(allocate_points(queries.l, options, memory, stream, out.l));
  CUZK_TRY(allocate_points(queries.a, options, memory, stream, out.a));
  CUZK_TRY(allocate_points(queries.b, options, memory, stream, out.b_g1));
  CUZK_TRY(allocate_points(queries.b, options, memory, stream, out.b_g2));
  MsmOptions plan;
  plan.multiprocessors = options.multiprocessors;
  plan.multiplier = msm_multiplier(options.multiplier, shape.h);
  plan.prepared = true;
  plan.table_multiples = options.h_multiples;
  plan.max_entries = options.h_max_entries;
  CUZK_ASSIGN(out.h_plan, MsmPlan::make(MsmGroup::kG1, shape.h, plan));
  CUZK_ASSIGN(out.h, memory.allocate<G1Affine>(out.h_plan->table_points(), stream));
  CUZK_TRY(stream.synchronize());
  return Result<DeviceSrs>(std::move(out));
}

Status DeviceSrs::finish(const Stream& stream) {
  if (h_plan->table_multiples() > 1) CUZK_TRY(msm_make_table<G1Curve>(*h_plan, h.span(), stream));
  if (h_plan->bases_are_prepared()) CUZK_TRY(msm_prepare(h.span(), stream));
  for (const DeviceQueryPoints<G1Curve>* query : {&l, &a, &b_g1}) {
    if (query->plan->bases_are_prepared()) CUZK_TRY(msm_prepare(query->values.span(), stream));
  }
  return stream.synchronize();
}

Result<DeviceSrs> DeviceSrs::upload(const Srs& srs, const PackedQueries& queries, uint64_t num_bits,
                                    const DeviceSrsOptions& options, Reservation& memory, const Stream& stream) {
  CUZK_ASSIGN(DeviceSrs out, allocate(srs.shape(), queries, num_bits, options, memory, stream));
  CUZK_TRY(upload_points<G1Curve>(srs.l, queries.l, stream, out.l));
  CUZK_TRY(upload_points<G1Curve>(srs.a, queries.a, stream, out.a));
  CUZK_TRY(upload_points<G1Curve>(srs.b_g1, queries.b, stream, out.b_g1));
  CUZK_TRY(upload_points<G2Curve>(srs.b_g2, queries.b, stream, out.b_g2));
  CUZK_TRY(gpu::copy_to_device<G1Affine>(out.h.span().first(srs.h.size()), srs.h, stream));
  CUZK_TRY(out.finish(stream));
  return Result<DeviceSrs>(std::move(out));
}

}  // namespace cuzk
