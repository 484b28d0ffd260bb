#include "groth16/cuda_backend.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "circuit/packed_form.hpp"
#include "groth16/device_setup.hpp"
#include "groth16/setup.hpp"
#include "matrix/select_cuda.hpp"
#include "msm/msm_cuda.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

using gpu::DeviceBuffer;
using gpu::Reservation;
using gpu::Stream;

uint64_t scratch_bytes_of(const MsmPlan& plan) { return Reservation::bytes_for<std::byte>(plan.scratch_bytes()); }

// The sums of some witnesses over the points of one query, in device memory; the host finishes them. The points that
// bits select are added up for all witnesses in one pass.
template <class Curve>
struct QuerySums {
  static constexpr MsmGroup kGroup = std::is_same_v<Curve, G1Curve> ? MsmGroup::kG1 : MsmGroup::kG2;
  const MsmPlan* values_plan = nullptr;
  std::optional<MsmPlan> bits_plan;  // none where the query has no points of bits
  DeviceBuffer<Xyzz<Curve>> values, bits;
  std::vector<Xyzz<Curve>> host_values, host_bits;

  static Result<QuerySums> make(const MsmPlan& plan, size_t num_bits, unsigned witnesses, unsigned multiprocessors) {
    QuerySums out;
    out.values_plan = &plan;
    if (num_bits == 0) return Result<QuerySums>(std::move(out));
    MsmOptions options;
    options.multiprocessors = multiprocessors;
    CUZK_ASSIGN(out.bits_plan, MsmPlan::make_selection(kGroup, num_bits, witnesses, options));
    return Result<QuerySums>(std::move(out));
  }
  uint64_t bytes(unsigned witnesses) const {
    return Reservation::bytes_for<Xyzz<Curve>>(witnesses * values_plan->sums()) +
           Reservation::bytes_for<Xyzz<Curve>>(bits_plan ? bits_plan->sums() : 0);
  }
  Status allocate(unsigned witnesses, Reservation& memory, const Stream& stream) {
    CUZK_ASSIGN(values, memory.allocate<Xyzz<Curve>>(witnesses * values_plan->sums(), stream));
    CUZK_ASSIGN(bits, memory.allocate<Xyzz<Curve>>(bits_plan ? bits_plan->sums() : 0, stream));
    return {};
  }
  std::span<Xyzz<Curve>> values_of(size_t witness) const {
    return values.span().subspan(witness * values_plan->sums(), values_plan->sums());
  }
  // From now on it is for the first witnesses only.
  Status cut(unsigned witnesses, unsigned multiprocessors) {
    if (!bits_plan || bits_plan->witnesses() == witnesses) return {};
    MsmOptions options;
    options.multiprocessors = multiprocessors;
    CUZK_ASSIGN(bits_plan, MsmPlan::make_selection(kGroup, bits_plan->bases(), witnesses, options));
    return {};
  }
  std::span<Xyzz<Curve>> bits_span() const { return bits.span().first(bits_plan ? bits_plan->sums() : 0); }
  Status fetch(unsigned witnesses, const Stream& stream) {
    const std::span<Xyzz<Curve>> from = values.span().first(witnesses * values_plan->sums());
    host_values.resize(from.size());
    host_bits.resize(bits_span().size());
    CUZK_TRY(gpu::copy_to_host<Xyzz<Curve>>(std::span(host_values), from, stream));
    return gpu::copy_to_host<Xyzz<Curve>>(std::span(host_bits), bits_span(), stream);
  }
  Jacobian<Curve> finish(unsigned witness) const {
    const size_t sums = values_plan->sums();
    const std::span<const Xyzz<Curve>> own = std::span(host_values).subspan(witness * sums, sums);
    Jacobian<Curve> out = msm_finish<Curve>(*values_plan, own);
    if (bits_plan) out += selection_finish<Curve>(*bits_plan, host_bits, witness);
    return out;
  }
};

constexpr uint64_t kGranule = gpu::ArenaLayout::kGranularityBytes;

}  // namespace

// Device memory of an evaluation, beside that of the sums.
struct CudaBackend::Scratch {
  Reservation memory;
  DeviceBuffer<uint64_t> bits;  // of all witnesses, words_of_bits() each
  DeviceBuffer<Fr> fields, values, a, b, c;
};

struct CudaBackend::Sums {
  QuerySums<G1Curve> h, l, a, b_g1;
  QuerySums<G2Curve> b_g2;

  static Result<Sums> make(const DeviceSrs& srs, unsigned witnesses, unsigned multiprocessors) {
    Sums out;
    const auto make = [&]<class Curve>(QuerySums<Curve>& sums, const MsmPlan& plan, size_t num_bits) -> Status {
      CUZK_ASSIGN(sums, QuerySums<Curve>::make(plan, num_bits, witnesses, multiprocessors));
      return {};
    };
    CUZK_TRY(make(out.h, *srs.h_plan, 0));
    CUZK_TRY(make(out.l, *srs.l.plan, srs.l_index.num_bits));
    CUZK_TRY(make(out.a, *srs.a.plan, srs.a_index.num_bits));
    CUZK_TRY(make(out.b_g1, *srs.b_g1.plan, srs.b_index.num_bits));
    CUZK_TRY(make(out.b_g2, *srs.b_g2.plan, srs.b_index.num_bits));
    return Result<Sums>(std::move(out));
  }
  template <class Each>
  Status for_each(Each each) {
    for (QuerySums<G1Curve>* sums : {&h, &l, &a, &b_g1}) CUZK_TRY(each(*sums));
    return each(b_g2);
  }
};

uint64_t CudaBackend::words_of_bits() const { return (system_->num_bits() + 63) / 64; }

// Everything that stays, and the largest of what is there until the quotient, for the sums over values, and for those
// over bits, of all or of the first witnesses. Nothing that stays is allocated after something that goes, so no holes
// are left.
Result<uint64_t> CudaBackend::scratch_bytes(unsigned witnesses) const {
  CUZK_ASSIGN(Sums sums, Sums::make(srs_, witnesses, multiprocessors()));
  uint64_t stays = Reservation::bytes_for<uint64_t>(witnesses * words_of_bits());
  uint64_t over_bits = 0;
  CUZK_TRY(sums.for_each([&](const auto& query) -> Status {
    stays += query.bytes(witnesses);
    return {};
  }));
  for (unsigned ended = witnesses; ended > 0; --ended) {
    const auto gathered = [&](const DeviceQueryIndex& index) -> uint64_t {
      if (index.all_bits || index.num_bits == 0) return 0;
      return Reservation::bytes_for<uint64_t>(ended * ((index.num_bits + 63) / 64));
    };
    uint64_t adding = 0;
    CUZK_TRY(sums.for_each([&](auto& query) -> Status {
      Status cut = query.cut(ended, multiprocessors());
      if (cut.ok() && query.bits_plan) adding = std::max(adding, scratch_bytes_of(*query.bits_plan));
      return cut;
    }));
    over_bits = std::max(over_bits,
                         adding + std::max({gathered(srs_.l_index), gathered(srs_.a_index), gathered(srs_.b_index)}));
  }

  const uint64_t row_bytes = Reservation::bytes_for<Fr>(domain_->size());
  const uint64_t witness_bytes =
      Reservation::bytes_for<Fr>(system_->num_fields()) + Reservation::bytes_for<Fr>(system_->num_values());
  const auto scalars = [](const DeviceQueryIndex& index) { return Reservation::bytes_for<Fr>(index.num_values); };
  const uint64_t over_values = std::max(
      {row_bytes + scratch_bytes_of(*srs_.h_plan), scalars(srs_.l_index) + scratch_bytes_of(*srs_.l.plan),
       scalars(srs_.a_index) + scratch_bytes_of(*srs_.a.plan),
       scalars(srs_.b_index) + std::max(scratch_bytes_of(*srs_.b_g1.plan), scratch_bytes_of(*srs_.b_g2.plan))});
  constexpr uint64_t kEmptyBuffers = 24;  // take a granule each
  return stays + std::max(witness_bytes + std::max(3 * row_bytes, over_values), over_bits) + kEmptyBuffers * kGranule;
}

DeviceSrsOptions CudaBackend::srs_options(const CudaBackendOptions& options) const {
  return {multiprocessors(), options.h_multiples, options.h_max_entries, msm_multiplier(device_.info())};
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

Status CudaBackend::keep_rows(std::vector<Fr> ProofSteps::*member, std::span<const Fr> rows) const {
  CUZK_TRY(keep(member, rows));
  if (steps_ == nullptr) return {};
  std::vector<Fr>& to = steps_->*member;
  const unsigned bits = domain_->log2_size();
  for (size_t i = 0; i < to.size(); ++i) {
    size_t reversed = 0;
    for (unsigned bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
    if (i < reversed) std::swap(to[i], to[reversed]);
  }
  return {};
}

Status CudaBackend::upload_witness(const PackedWitness& witness, std::span<uint64_t> bits, Scratch& scratch) const {
  Reservation& memory = scratch.memory;
  CUZK_ASSIGN(scratch.values, memory.allocate<Fr>(system_->num_values(), stream_));
  CUZK_ASSIGN(scratch.fields, memory.allocate<Fr>(witness.fields.size(), stream_));
  CUZK_TRY(gpu::copy_to_device(bits, witness.bits.words(), stream_));
  CUZK_TRY(gpu::copy_to_device<Fr>(scratch.values.span().first(witness.inputs.size()), witness.inputs, stream_));
  CUZK_TRY(gpu::copy_to_device<Fr>(scratch.fields.span(), witness.fields, stream_));
  CUZK_TRY(system_->expand(bits, scratch.fields.span(), scratch.values.span(), stream_));
  CUZK_TRY(stream_.synchronize());
  return keep(&ProofSteps::values, scratch.values.span());
}

// Rows are made in the order in which the quotient takes them.
Status CudaBackend::evaluate_rows(std::span<const uint64_t> bits, Scratch& scratch) const {
  constexpr RowOrder kOrder = RowOrder::kBitReversed;
  const DeviceWitness witness{bits, scratch.values.span()};
  const size_t rows = domain_->size();
  CUZK_ASSIGN(scratch.a, scratch.memory.allocate<Fr>(rows, stream_));
  CUZK_ASSIGN(scratch.b, scratch.memory.allocate<Fr>(rows, stream_));
  CUZK_ASSIGN(scratch.c, scratch.memory.allocate<Fr>(rows, stream_));
  const std::span<Fr> a = scratch.a.span(), b = scratch.b.span(), c = scratch.c.span();
  CUZK_TRY(system_->multiply(0, witness, a, kOrder, stream_));
  CUZK_TRY(system_->multiply(1, witness, b, kOrder, stream_));
  CUZK_TRY(system_->multiply(2, witness, c, kOrder, stream_));
  CUZK_ASSIGN(const std::optional<uint64_t> row, system_->first_unsatisfied_row(a, b, c, kOrder, stream_));
  if (row) {
    const std::string name = "constraint " + std::to_string(*row);
    return Error(ErrorClass::kUnsatisfied, "the witness violates " + name).at_field(name);
  }
  CUZK_TRY(keep_rows(&ProofSteps::a, a));
  CUZK_TRY(keep_rows(&ProofSteps::b, b));
  return keep_rows(&ProofSteps::c, c);
}

Status CudaBackend::evaluate_quotient(Scratch& scratch) const {
  CUZK_TRY(domain_->quotient(scratch.a.span(), scratch.b.span(), scratch.c.span(), Order::kBitReversed, stream_));
  scratch.b.release();
  scratch.c.release();
  CUZK_TRY(stream_.synchronize());
  return keep(&ProofSteps::h, scratch.a.span());
}

namespace {

template <class Curve>
Status enqueue_msm(const MsmPlan& plan, std::span<const Affine<Curve>> points, std::span<const Fr> scalars,
                   std::span<Xyzz<Curve>> sums, Reservation& memory, const Stream& stream) {
  CUZK_ASSIGN(const auto scratch, memory.allocate<std::byte>(plan.scratch_bytes(), stream));
  return msm_enqueue<Curve>(plan, points, scalars, sums, scratch.span(), stream);
}

// bits: of all witnesses, in query order.
template <class Curve>
Status enqueue_selection(const QuerySums<Curve>& query, std::span<const Affine<Curve>> points,
                         std::span<const uint64_t> bits, Reservation& memory, const Stream& stream) {
  if (!query.bits_plan) return {};
  CUZK_ASSIGN(const auto scratch, memory.allocate<std::byte>(query.bits_plan->scratch_bytes(), stream));
  return selection_enqueue<Curve>(*query.bits_plan, points, bits, query.bits_span(), scratch.span(), stream);
}

// The bits of a query, in its order: what select() gathers, or all bits as they are.
struct SelectedBits {
  DeviceBuffer<uint64_t> gathered;
  std::span<const uint64_t> bits;
};
Result<SelectedBits> select_bits(const DeviceQueryIndex& index, std::span<const uint64_t> bits, unsigned witnesses,
                                 Reservation& memory, const Stream& stream) {
  SelectedBits out;
  out.bits = bits;
  if (index.all_bits || index.num_bits == 0) return Result<SelectedBits>(std::move(out));
  const size_t words = (index.num_bits + 63) / 64, words_before = bits.size() / witnesses;
  CUZK_ASSIGN(out.gathered, memory.allocate<uint64_t>(witnesses * words, stream));
  for (size_t w = 0; w < witnesses; ++w) {
    const std::span<uint32_t> to(reinterpret_cast<uint32_t*>(out.gathered.data() + w * words),
                                 (index.num_bits + 31) / 32);
    CUZK_TRY(gather_bits(bits.subspan(w * words_before, words_before), index.bits.span(), to, stream));
  }
  out.bits = out.gathered.span();
  return Result<SelectedBits>(std::move(out));
}

}  // namespace

Result<ProofSums> CudaBackend::evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                                        Progress& progress, ProveReport& report) {
  if (!(srs.shape() == shape_ && srs.vk == vk_)) {
    return Error(ErrorClass::kInternal, "the device holds other parameters");
  }
  const PackedWitness* const only = &witness;
  CUZK_ASSIGN(const std::vector<ProofSums> sums, evaluate(circuit, std::span(&only, 1), progress, report));
  return sums[0];
}

Status CudaBackend::evaluate_values(size_t number, Scratch& scratch, Sums& sums, Progress& progress,
                                    ProveReport& report) const {
  Reservation& memory = scratch.memory;
  {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, "sum h", shape_.h, "points");
    CUZK_TRY(enqueue_msm<G1Curve>(*srs_.h_plan, srs_.h.span(), scratch.a.span().first(shape_.h),
                                  sums.h.values_of(number), memory, stream_));
    CUZK_TRY(stream_.synchronize());
    scratch.a.release();
  }
  const auto sum = [&](const DeviceQueryIndex& index, const auto& queries) -> Status {
    DeviceBuffer<Fr> scalars;
    CUZK_ASSIGN(scalars, memory.allocate<Fr>(index.num_values, stream_));
    CUZK_TRY(gather_values(scratch.values.span(), index.values.span(), scalars.span(), stream_));
    return queries(scalars.span());
  };
  const auto one = [&]<class Curve>(const char* name, const DeviceQueryPoints<Curve>& points,
                                    const QuerySums<Curve>& query, std::span<const Fr> scalars) -> Status {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, name, scalars.size(), "points");
    CUZK_TRY(enqueue_msm<Curve>(*points.plan, points.values.span(), scalars, query.values_of(number), memory, stream_));
    return stream_.synchronize();
  };
  CUZK_TRY(sum(srs_.l_index, [&](auto scalars) { return one("sum l", srs_.l, sums.l, scalars); }));
  CUZK_TRY(sum(srs_.a_index, [&](auto scalars) { return one("sum a", srs_.a, sums.a, scalars); }));
  return sum(srs_.b_index, [&](auto scalars) -> Status {
    CUZK_TRY(one("sum b_g1", srs_.b_g1, sums.b_g1, scalars));
    return one("sum b_g2", srs_.b_g2, sums.b_g2, scalars);
  });
}

Status CudaBackend::evaluate_bits(Scratch& scratch, Sums& sums, unsigned witnesses) const {
  Reservation& memory = scratch.memory;
  const std::span<const uint64_t> bits = scratch.bits.span().first(witnesses * words_of_bits());
  const auto select = [&](const DeviceQueryIndex& index) {
    return select_bits(index, bits, witnesses, memory, stream_);
  };
  {
    CUZK_ASSIGN(const SelectedBits chosen, select(srs_.l_index));
    CUZK_TRY(enqueue_selection<G1Curve>(sums.l, srs_.l.bits.span(), chosen.bits, memory, stream_));
  }
  {
    CUZK_ASSIGN(const SelectedBits chosen, select(srs_.a_index));
    CUZK_TRY(enqueue_selection<G1Curve>(sums.a, srs_.a.bits.span(), chosen.bits, memory, stream_));
  }
  CUZK_ASSIGN(const SelectedBits chosen, select(srs_.b_index));
  CUZK_TRY(enqueue_selection<G1Curve>(sums.b_g1, srs_.b_g1.bits.span(), chosen.bits, memory, stream_));
  CUZK_TRY(enqueue_selection<G2Curve>(sums.b_g2, srs_.b_g2.bits.span(), chosen.bits, memory, stream_));
  return stream_.synchronize();
}

// One witness up to its sums over values. False where it is not the first and is left to another evaluation: there is
// to be no more, or it is wrong.
Result<bool> CudaBackend::evaluate_witness(const CompiledCircuit& circuit, WitnessSource& witnesses, unsigned number,
                                           Scratch& scratch, Sums& sums, Progress& progress,
                                           ProveReport& report) const {
  const auto end_before = [&](Error error) -> Result<bool> {
    if (number == 0) return error;
    return false;
  };
  if (number > 0 && progress.yield_requested()) return false;
  const Result<const PackedWitness*> witness = witnesses.get(number);
  if (!witness.ok()) return end_before(witness.error());
  if (*witness == nullptr) return end_before(Error(ErrorClass::kInternal, "there is no witness"));
  if (const Status fits = check_packed_witness(circuit, **witness); !fits.ok()) return end_before(fits.error());
  const std::span<uint64_t> bits = scratch.bits.span().subspan(number * words_of_bits(), words_of_bits());
  {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, "expand witness", circuit.num_aux, "wires");
    CUZK_TRY(upload_witness(**witness, bits, scratch));
  }
  {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, "matrices", circuit.num_terms(), "terms");
    if (Status rows = evaluate_rows(bits, scratch); !rows.ok()) {
      if (rows.error().error_class != ErrorClass::kUnsatisfied) return std::move(rows).error();
      for (auto* buffer : {&scratch.fields, &scratch.values, &scratch.a, &scratch.b, &scratch.c}) buffer->release();
      return end_before(std::move(rows).error());
    }
  }
  {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, "quotient", domain_->size(), "rows");
    CUZK_TRY(evaluate_quotient(scratch));
  }
  CUZK_TRY(evaluate_values(number, scratch, sums, progress, report));
  scratch.fields.release();
  scratch.values.release();
  return true;
}

Result<std::vector<ProofSums>> CudaBackend::evaluate(const CompiledCircuit& circuit, WitnessSource& witnesses,
                                                     unsigned most, Progress& progress, ProveReport& report) {
  if (circuit.num_aux + uint64_t{circuit.num_inputs} != system_->num_bits() + system_->num_values() ||
      circuit.num_constraints != system_->num_constraints()) {
    return Error(ErrorClass::kInternal, "the device holds another circuit");
  }
  CUZK_TRY(device_.make_current());
  most = std::min(most, witnesses.size());
  CUZK_ASSIGN(const uint64_t scratch_bytes, this->scratch_bytes(most));
  CUZK_ASSIGN(Sums sums, Sums::make(srs_, most, multiprocessors()));
  Scratch scratch;
  CUZK_ASSIGN(scratch.memory, device_.reserve(scratch_bytes, gpu::Placement::kHigh));
  CUZK_TRY(sums.for_each([&](auto& query) { return query.allocate(most, scratch.memory, stream_); }));
  CUZK_ASSIGN(scratch.bits, scratch.memory.allocate<uint64_t>(most * words_of_bits(), stream_));
  unsigned count = 0;
  for (; count < most; ++count) {
    CUZK_ASSIGN(const bool evaluated, evaluate_witness(circuit, witnesses, count, scratch, sums, progress, report));
    if (!evaluated) break;
  }
  CUZK_TRY(sums.for_each([&](auto& query) { return query.cut(count, multiprocessors()); }));
  {
    CUZK_TRY(check_wanted(progress));
    const StepTimer timer(report, progress, "sum bits", 4 * system_->num_bits(), "points");
    CUZK_TRY(evaluate_bits(scratch, sums, count));
  }
  CUZK_TRY(check_wanted(progress));
  const StepTimer timer(report, progress, "finish sums", 5 * count, "sums");
  peak_scratch_bytes_ = std::max(peak_scratch_bytes_, scratch.memory.peak_bytes());
  CUZK_TRY(sums.for_each([&](auto& query) { return query.fetch(count, stream_); }));
  CUZK_TRY(stream_.synchronize());
  std::vector<ProofSums> out(count);
  // By kind too: a sum over G2 takes as long as the others together.
  parallel_for(2 * count, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto number = static_cast<unsigned>(i / 2);
      ProofSums& to = out[number];
      if (i % 2 == 0) {
        to.b_g2 = sums.b_g2.finish(number);
      } else {
        to.h = sums.h.finish(number);
        to.l = sums.l.finish(number);
        to.a = sums.a.finish(number);
        to.b_g1 = sums.b_g1.finish(number);
      }
    }
  });
  return Result<std::vector<ProofSums>>(std::move(out));
}

Result<std::vector<ProofSums>> CudaBackend::evaluate(const CompiledCircuit& circuit,
                                                     std::span<const PackedWitness* const> witnesses,
                                                     Progress& progress, ProveReport& report) {
  std::vector<ProofSums> out;
  while (out.size() < witnesses.size()) {
    WitnessList rest(witnesses.subspan(out.size()));
    CUZK_ASSIGN(const std::vector<ProofSums> sums, evaluate(circuit, rest, rest.size(), progress, report));
    out.insert(out.end(), sums.begin(), sums.end());
  }
  return Result<std::vector<ProofSums>>(std::move(out));
}

}  // namespace cuzk
