#include "groth16/cuda_backend.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "circuit/packed_form.hpp"
#include "groth16/device_setup.hpp"
#include "groth16/setup.hpp"
#include "matrix/select_cuda.hpp"
#include "msm/msm_cuda.hpp"
#include "msm/selected_cuda.hpp"

namespace cuzk {
namespace {

using gpu::DeviceBuffer;
using gpu::Reservation;
using gpu::Stream;

// A sum in device memory that the host finishes: that of the values, and that of the bits.
template <class Curve>
struct PendingSum {
  const MsmPlan* plan = nullptr;
  DeviceBuffer<Xyzz<Curve>> msm_sums, bit_sums;
  std::vector<Xyzz<Curve>> host_msm, host_bits;

  static uint64_t bytes(const MsmPlan& plan, size_t selected) {
    return Reservation::bytes_for<Xyzz<Curve>>(plan.sums()) + Reservation::bytes_for<Xyzz<Curve>>(selected);
  }
  // selected: points that the sum over bits leaves; 0 where there is none.
  Status allocate(const MsmPlan& for_plan, size_t selected, Reservation& memory, const Stream& stream) {
    plan = &for_plan;
    CUZK_ASSIGN(msm_sums, memory.allocate<Xyzz<Curve>>(plan->sums(), stream));
    CUZK_ASSIGN(bit_sums, memory.allocate<Xyzz<Curve>>(selected, stream));
    return {};
  }
  Status fetch(const Stream& stream) {
    host_msm.resize(msm_sums.size());
    host_bits.resize(bit_sums.size());
    CUZK_TRY(gpu::copy_to_host<Xyzz<Curve>>(std::span(host_msm), msm_sums.span(), stream));
    return gpu::copy_to_host<Xyzz<Curve>>(std::span(host_bits), bit_sums.span(), stream);
  }
  Jacobian<Curve> finish() const {
    Jacobian<Curve> out = msm_finish<Curve>(*plan, host_msm);
    if (!host_bits.empty()) out += selected_finish<Curve>(host_bits);
    return out;
  }
};

// What the sums over one index need beside the witness: scalars and bits in query order.
struct Selection {
  DeviceBuffer<Fr> scalars;
  DeviceBuffer<uint32_t> gathered;
  std::span<const uint32_t> bits;
};
uint64_t selection_bytes(const DeviceQueryIndex& index) {
  return Reservation::bytes_for<Fr>(index.num_values) +
         (index.all_bits ? 0 : Reservation::bytes_for<uint32_t>((index.num_bits + 31) / 32));
}

constexpr uint64_t kGranule = gpu::ArenaLayout::kGranularityBytes;

}  // namespace

// Device memory of one evaluation, beside that of the sums.
struct CudaBackend::Scratch {
  Reservation memory;
  DeviceBuffer<uint64_t> bits;
  DeviceBuffer<Fr> fields, values, a, b, c;
};

struct CudaBackend::Sums {
  PendingSum<G1Curve> h, l, a, b_g1;
  PendingSum<G2Curve> b_g2;

  static uint64_t bytes(const DeviceSrs& srs, unsigned multiprocessors) {
    const size_t selected = selected_sums<G1Curve>(multiprocessors);
    uint64_t total = PendingSum<G1Curve>::bytes(*srs.h_plan, 0);
    for (const auto* points : {&srs.l, &srs.a, &srs.b_g1}) {
      total += PendingSum<G1Curve>::bytes(*points->plan, selected);
    }
    return total + PendingSum<G2Curve>::bytes(*srs.b_g2.plan, selected_sums<G2Curve>(multiprocessors));
  }
  Status allocate(const DeviceSrs& srs, unsigned multiprocessors, Reservation& memory, const Stream& stream) {
    const size_t selected = selected_sums<G1Curve>(multiprocessors);
    CUZK_TRY(h.allocate(*srs.h_plan, 0, memory, stream));
    CUZK_TRY(l.allocate(*srs.l.plan, selected, memory, stream));
    CUZK_TRY(a.allocate(*srs.a.plan, selected, memory, stream));
    CUZK_TRY(b_g1.allocate(*srs.b_g1.plan, selected, memory, stream));
    return b_g2.allocate(*srs.b_g2.plan, selected_sums<G2Curve>(multiprocessors), memory, stream);
  }
};

// Everything that stays, and the larger of what is there before and after the quotient. Nothing that stays is allocated
// after something that goes, so no holes are left.
uint64_t CudaBackend::scratch_bytes() const {
  const uint64_t row_bytes = Reservation::bytes_for<Fr>(size_t{1} << domain_->log2_size());
  const uint64_t witness_bytes = Reservation::bytes_for<uint64_t>((system_->num_bits() + 63) / 64) +
                                 Reservation::bytes_for<Fr>(system_->num_fields()) +
                                 Reservation::bytes_for<Fr>(system_->num_values());
  const auto scratch = [](const MsmPlan& plan) { return Reservation::bytes_for<std::byte>(plan.scratch_bytes()); };
  const uint64_t sums =
      std::max({scratch(*srs_.h_plan), selection_bytes(srs_.l_index) + scratch(*srs_.l.plan),
                selection_bytes(srs_.a_index) + scratch(*srs_.a.plan),
                selection_bytes(srs_.b_index) + std::max(scratch(*srs_.b_g1.plan), scratch(*srs_.b_g2.plan))});
  constexpr uint64_t kEmptyBuffers = 24;  // take a granule each
  return Sums::bytes(srs_, static_cast<unsigned>(device_.info().multiprocessors)) + witness_bytes + row_bytes +
         std::max(2 * row_bytes, sums) + kEmptyBuffers * kGranule;
}

DeviceSrsOptions CudaBackend::srs_options(const CudaBackendOptions& options) const {
  return {static_cast<unsigned>(device_.info().multiprocessors), options.h_multiples};
}

// Takes the memory of all that is resident and copies the circuit.
Status CudaBackend::reserve(const PackedSystem& system, const PackedQueries& queries, const SrsShape& shape,
                            const CompiledCircuit& circuit, const CudaBackendOptions& options) {
  shape_ = shape;
  const uint64_t bytes = DeviceSystem::resident_bytes(system) + DeviceDomain::table_bytes(circuit.log2_domain()) +
                         DeviceSrs::resident_bytes(shape, queries, circuit.num_bits, srs_options(options)) + kGranule;
  CUZK_ASSIGN(memory_, device_.reserve(bytes, gpu::Placement::kLow));
  CUZK_ASSIGN(system_, DeviceSystem::upload(system, memory_, stream_));
  CUZK_ASSIGN(domain_, DeviceDomain::create(circuit.log2_domain(), memory_, stream_));
  return {};
}

Result<std::unique_ptr<CudaBackend>> CudaBackend::create(const gpu::Device& device, const CompiledCircuit& circuit,
                                                         const Srs& srs, const CudaBackendOptions& options) {
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(Stream stream, device.make_stream());
  std::unique_ptr<CudaBackend> out(new CudaBackend(device, std::move(stream)));
  const PackedQueries queries = packed_queries(circuit);
  CUZK_TRY(out->reserve(packed_form(circuit), queries, srs.shape(), circuit, options));
  CUZK_ASSIGN(out->srs_,
              DeviceSrs::upload(srs, queries, circuit.num_bits, out->srs_options(options), out->memory_, out->stream_));
  out->vk_ = srs.vk;
  return Result<std::unique_ptr<CudaBackend>>(std::move(out));
}

Result<std::unique_ptr<CudaBackend>> CudaBackend::create_with_setup(const gpu::Device& device,
                                                                    const CompiledCircuit& circuit,
                                                                    const ToxicWaste& toxic,
                                                                    const CudaBackendOptions& options,
                                                                    Progress& progress) {
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(Stream stream, device.make_stream());
  std::unique_ptr<CudaBackend> out(new CudaBackend(device, std::move(stream)));
  const PackedQueries queries = packed_queries(circuit);
  CUZK_TRY(out->reserve(packed_form(circuit), queries, srs_shape(circuit), circuit, options));
  CUZK_ASSIGN(DeviceParameters parameters, setup_on_device(circuit, toxic, queries, out->srs_options(options), device,
                                                           out->memory_, out->stream_, progress));
  out->vk_ = std::move(parameters.vk);
  out->srs_ = std::move(parameters.srs);
  return Result<std::unique_ptr<CudaBackend>>(std::move(out));
}

Status CudaBackend::keep(std::vector<Fr> ProofSteps::*member, std::span<const Fr> values) const {
  if (steps_ == nullptr) return {};
  std::vector<Fr>& to = steps_->*member;
  to.resize(values.size());
  CUZK_TRY(gpu::copy_to_host<Fr>(std::span(to), values, stream_));
  return stream_.synchronize();
}

Status CudaBackend::upload_witness(const PackedWitness& witness, Scratch& scratch) const {
  Reservation& memory = scratch.memory;
  CUZK_ASSIGN(scratch.bits, memory.allocate<uint64_t>(witness.bits.words().size(), stream_));
  CUZK_ASSIGN(scratch.values, memory.allocate<Fr>(system_->num_values(), stream_));
  CUZK_ASSIGN(scratch.fields, memory.allocate<Fr>(witness.fields.size(), stream_));
  CUZK_TRY(gpu::copy_to_device(scratch.bits.span(), witness.bits.words(), stream_));
  CUZK_TRY(gpu::copy_to_device<Fr>(scratch.values.span().first(witness.inputs.size()), witness.inputs, stream_));
  CUZK_TRY(gpu::copy_to_device<Fr>(scratch.fields.span(), witness.fields, stream_));
  CUZK_TRY(system_->expand(scratch.bits.span(), scratch.fields.span(), scratch.values.span(), stream_));
  CUZK_TRY(stream_.synchronize());
  return keep(&ProofSteps::values, scratch.values.span());
}

Status CudaBackend::evaluate_rows(Scratch& scratch) const {
  const DeviceWitness witness{scratch.bits.span(), scratch.values.span()};
  const size_t rows = domain_->size();
  CUZK_ASSIGN(scratch.a, scratch.memory.allocate<Fr>(rows, stream_));
  CUZK_ASSIGN(scratch.b, scratch.memory.allocate<Fr>(rows, stream_));
  CUZK_ASSIGN(scratch.c, scratch.memory.allocate<Fr>(rows, stream_));
  const std::span<Fr> a = scratch.a.span(), b = scratch.b.span(), c = scratch.c.span();
  CUZK_TRY(system_->multiply(0, witness, a, stream_));
  CUZK_TRY(system_->multiply(1, witness, b, stream_));
  CUZK_TRY(system_->multiply(2, witness, c, stream_));
  CUZK_ASSIGN(const std::optional<uint64_t> row, system_->first_unsatisfied_row(a, b, c, stream_));
  if (row) {
    const std::string name = "constraint " + std::to_string(*row);
    return Error(ErrorClass::kUnsatisfied, "the witness violates " + name).at_field(name);
  }
  CUZK_TRY(keep(&ProofSteps::a, a));
  CUZK_TRY(keep(&ProofSteps::b, b));
  return keep(&ProofSteps::c, c);
}

Status CudaBackend::evaluate_quotient(Scratch& scratch) const {
  CUZK_TRY(domain_->quotient(scratch.a.span(), scratch.b.span(), scratch.c.span(), Order::kNatural, stream_));
  scratch.b.release();
  scratch.c.release();
  CUZK_TRY(stream_.synchronize());
  return keep(&ProofSteps::h, scratch.a.span());
}

namespace {

template <class Curve>
Status enqueue_msm(std::span<const Affine<Curve>> points, std::span<const Fr> scalars, Reservation& memory,
                   const Stream& stream, const PendingSum<Curve>& out) {
  CUZK_ASSIGN(const auto scratch, memory.allocate<std::byte>(out.plan->scratch_bytes(), stream));
  return msm_enqueue<Curve>(*out.plan, points, scalars, out.msm_sums.span(), scratch.span(), stream);
}

template <class Curve>
Status enqueue_query(const DeviceQueryPoints<Curve>& points, const Selection& selection, Reservation& memory,
                     const Stream& stream, const PendingSum<Curve>& out) {
  CUZK_TRY(enqueue_msm<Curve>(points.values.span(), selection.scalars.span(), memory, stream, out));
  return selected_enqueue<Curve>(points.bits.span(), selection.bits, out.bit_sums.span(), stream);
}

Result<Selection> select(const DeviceQueryIndex& index, std::span<const uint64_t> bits, std::span<const Fr> values,
                         Reservation& memory, const Stream& stream) {
  Selection out;
  CUZK_ASSIGN(out.scalars, memory.allocate<Fr>(index.num_values, stream));
  CUZK_TRY(gather_values(values, index.values.span(), out.scalars.span(), stream));
  const size_t words = (index.num_bits + 31) / 32;
  if (index.all_bits) {
    out.bits = {reinterpret_cast<const uint32_t*>(bits.data()), words};
    return Result<Selection>(std::move(out));
  }
  CUZK_ASSIGN(out.gathered, memory.allocate<uint32_t>(words, stream));
  CUZK_TRY(gather_bits(bits, index.bits.span(), out.gathered.span(), stream));
  out.bits = out.gathered.span();
  return Result<Selection>(std::move(out));
}

}  // namespace

Result<ProofSums> CudaBackend::evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                                        Progress& progress, ProveReport& report) {
  if (!(srs.shape() == shape_ && srs.vk == vk_)) {
    return Error(ErrorClass::kInternal, "the device holds other parameters");
  }
  return evaluate(circuit, witness, progress, report);
}

Result<ProofSums> CudaBackend::evaluate(const CompiledCircuit& circuit, const PackedWitness& witness,
                                        Progress& progress, ProveReport& report) {
  if (circuit.num_aux + uint64_t{circuit.num_inputs} != system_->num_bits() + system_->num_values() ||
      circuit.num_constraints != system_->num_constraints()) {
    return Error(ErrorClass::kInternal, "the device holds another circuit");
  }
  CUZK_TRY(check_packed_witness(circuit, witness));
  CUZK_TRY(device_.make_current());
  const auto step = [&](std::string_view name, uint64_t units, std::string_view unit) {
    return StepTimer(report, progress, name, units, unit);
  };
  Scratch scratch;
  CUZK_ASSIGN(scratch.memory, device_.reserve(scratch_bytes(), gpu::Placement::kHigh));
  Reservation& memory = scratch.memory;
  Sums sums;
  CUZK_TRY(sums.allocate(srs_, static_cast<unsigned>(device_.info().multiprocessors), memory, stream_));
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("expand witness", circuit.num_aux, "wires");
    CUZK_TRY(upload_witness(witness, scratch));
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("matrices", circuit.num_terms(), "terms");
    CUZK_TRY(evaluate_rows(scratch));
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("quotient", domain_->size(), "rows");
    CUZK_TRY(evaluate_quotient(scratch));
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum h", shape_.h, "points");
    CUZK_TRY(enqueue_msm<G1Curve>(srs_.h.span(), scratch.a.span().first(shape_.h), memory, stream_, sums.h));
    CUZK_TRY(stream_.synchronize());
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum l", shape_.l, "points");
    CUZK_ASSIGN(const Selection chosen,
                select(srs_.l_index, scratch.bits.span(), scratch.values.span(), memory, stream_));
    CUZK_TRY(enqueue_query(srs_.l, chosen, memory, stream_, sums.l));
    CUZK_TRY(stream_.synchronize());
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum a", shape_.a, "points");
    CUZK_ASSIGN(const Selection chosen,
                select(srs_.a_index, scratch.bits.span(), scratch.values.span(), memory, stream_));
    CUZK_TRY(enqueue_query(srs_.a, chosen, memory, stream_, sums.a));
    CUZK_TRY(stream_.synchronize());
  }
  {
    CUZK_ASSIGN(const Selection chosen,
                select(srs_.b_index, scratch.bits.span(), scratch.values.span(), memory, stream_));
    {
      CUZK_TRY(check_wanted(progress));
      const auto timer = step("sum b_g1", shape_.b_g1, "points");
      CUZK_TRY(enqueue_query(srs_.b_g1, chosen, memory, stream_, sums.b_g1));
      CUZK_TRY(stream_.synchronize());
    }
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum b_g2", shape_.b_g2, "points");
    CUZK_TRY(enqueue_query(srs_.b_g2, chosen, memory, stream_, sums.b_g2));
    CUZK_TRY(stream_.synchronize());
  }
  CUZK_TRY(check_wanted(progress));
  const auto timer = step("finish sums", 5, "sums");
  peak_scratch_bytes_ = std::max(peak_scratch_bytes_, memory.peak_bytes());
  for (PendingSum<G1Curve>* sum : {&sums.h, &sums.l, &sums.a, &sums.b_g1}) CUZK_TRY(sum->fetch(stream_));
  CUZK_TRY(sums.b_g2.fetch(stream_));
  CUZK_TRY(stream_.synchronize());
  return ProofSums{sums.h.finish(), sums.l.finish(), sums.a.finish(), sums.b_g1.finish(), sums.b_g2.finish()};
}

}  // namespace cuzk
