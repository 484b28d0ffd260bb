#include "groth16/device_memory.hpp"

#include <algorithm>

#include "groth16/params_stream.hpp"
#include "msm/msm_plan.hpp"
#include "ntt/ntt_plan.hpp"
#include "srs/srs.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Small arrays, and the granules that each allocation is rounded up to.
constexpr uint64_t kRoundings = 4 * kMiB;

// Twiddles of four transforms (ntt/ntt_cuda.cu); two elements a level's twiddle.
uint64_t domain_bytes(unsigned log2_size) {
  const ntt::DevicePlan plan(log2_size);
  const uint64_t levels = 2 * std::max<uint64_t>(16, uint64_t{1} << plan.table_levels());
  const uint64_t powers = plan.generates() ? (uint64_t{1} << ntt::kLowExponentBits) +
                                                 (uint64_t{1} << (log2_size - 1 - ntt::kLowExponentBits))
                                           : 0;
  return 4 * sizeof(Fr) * (levels + powers);
}

// The rows of the blocks have the size that they have in the compiled circuit. Hashes are listed for each instance: 12
// bytes and 4 for each of up to 11 inputs, and the shortest has 240 wires.
uint64_t system_bytes(const CircuitSizes& circuit) {
  const uint64_t derived = circuit.aux - circuit.bits - circuit.fields;
  return circuit.compiled_bytes + derived / 4;
}

// Positions of bits and values in query order. l takes all bits in order.
uint64_t index_bytes(const CircuitSizes& circuit) {
  return sizeof(uint32_t) * (circuit.l_others() + circuit.inputs + circuit.a_aux + circuit.b_inputs + circuit.b_aux);
}

// Of the sums over the values and over the bits of a query, which do not overlap, and of what they leave. Of witnesses
// that are begun together, any number may be ended with, so the largest of these counts.
struct SumMemory {
  uint64_t over_values = 0, over_bits = 0, results = 0;
};

Result<SumMemory> sum_memory(MsmGroup group, uint64_t values, uint64_t bits, unsigned multiprocessors,
                             unsigned witnesses, const DeviceTables& tables = {}) {
  MsmOptions options;
  options.table_multiples = tables.h_multiples;
  options.max_entries = tables.h_max_entries;
  options.multiprocessors = multiprocessors;
  options.prepared = true;
  const uint64_t point = group == MsmGroup::kG1 ? sizeof(G1Xyzz) : sizeof(G2Xyzz);
  SumMemory out;
  // Which of them the device takes is not known here; they differ by a few percent.
  for (const MsmMultiplier multiplier : {MsmMultiplier::kInteger, MsmMultiplier::kHybrid}) {
    options.multiplier = multiplier;
    CUZK_ASSIGN(const MsmPlan plan, MsmPlan::make(group, values, options));
    out.over_values = std::max(out.over_values, plan.scratch_bytes() + values * sizeof(Fr));
    out.results = std::max(out.results, witnesses * point * plan.sums());
  }
  if (bits == 0) return out;
  uint64_t sums = 0;
  for (unsigned ended = 1; ended <= witnesses; ++ended) {
    CUZK_ASSIGN(const MsmPlan selection, MsmPlan::make_selection(group, bits, ended, options));
    out.over_bits = std::max(out.over_bits, selection.scratch_bytes() + ended * (bits / 8 + sizeof(uint64_t)));
    sums = selection.sums();
  }
  out.results += point * sums;
  return out;
}

}  // namespace

Result<DeviceMemory> device_memory(const CircuitSizes& circuit, unsigned multiprocessors, unsigned witnesses,
                                   const DeviceTables& tables) {
  const SrsShape srs = circuit.srs_shape();
  DeviceMemory out;
  out.resident_bytes = srs_bytes(srs) + index_bytes(circuit) + system_bytes(circuit) +
                       domain_bytes(circuit.log2_domain()) + kRoundings +
                       (tables.h_multiples - 1) * srs.h * sizeof(G1Affine);
  SumMemory sums;
  const auto add = [&](MsmGroup group, uint64_t values, uint64_t bits, const DeviceTables& with = {}) -> Status {
    CUZK_ASSIGN(const SumMemory sum, sum_memory(group, values, bits, multiprocessors, witnesses, with));
    sums.over_values = std::max(sums.over_values, sum.over_values);
    sums.over_bits = std::max(sums.over_bits, sum.over_bits);
    sums.results += sum.results;
    return {};
  };
  const uint64_t a_bits = std::min(circuit.bits, circuit.a_aux), b_bits = std::min(circuit.bits, circuit.b_aux);
  const uint64_t row = circuit.domain() * sizeof(Fr);
  CUZK_TRY(add(MsmGroup::kG1, srs.h, 0, tables));
  CUZK_TRY(add(MsmGroup::kG1, circuit.l_others(), circuit.bits));
  CUZK_TRY(add(MsmGroup::kG1, circuit.a_others(), a_bits));
  CUZK_TRY(add(MsmGroup::kG1, circuit.b_others(), b_bits));
  CUZK_TRY(add(MsmGroup::kG2, circuit.b_others(), b_bits));
  // As CudaBackend::scratch_bytes(). The scalars of h are a row.
  const uint64_t values = sizeof(Fr) * (circuit.fields + circuit.inputs + circuit.aux - circuit.bits);
  const uint64_t proving = witnesses * (circuit.bits / 8 + sizeof(uint64_t)) + sums.results +
                           std::max(values + std::max(3 * row, sums.over_values), sums.over_bits) + kRoundings;
  // A plan for fewer values than the most that there may be can be a little larger.
  constexpr uint64_t kLoading = 64 * kMiB;  // the slabs' copies (groth16/device_params.hpp)
  out.scratch_bytes = std::max(proving + proving / 32, kLoading);
  return out;
}

DeviceTables choose_tables(const CircuitSizes& circuit, unsigned multiprocessors, uint64_t usable_bytes,
                           uint32_t h_multiples) {
  constexpr unsigned kLog2LargeDomain = 22;
  constexpr uint32_t kMostChosen = 3;
  const uint64_t most_bytes = usable_bytes / 10 * 8;
  const auto fits = [&](const DeviceTables& tables, uint64_t bytes) {
    const Result<DeviceMemory> memory = device_memory(circuit, multiprocessors, 1, tables);
    return memory.ok() && memory->resident_bytes + memory->scratch_bytes <= bytes;
  };
  if (circuit.log2_domain() < kLog2LargeDomain) return {};
  DeviceTables out;
  out.h_multiples = h_multiples == 0 ? kMostChosen : std::min(h_multiples, kMostMultiples);
  while (out.h_multiples > 1 && !fits(out, h_multiples == 0 ? most_bytes : usable_bytes)) --out.h_multiples;
  for (const uint64_t entries : {uint64_t{1} << 28, uint64_t{1} << 27}) {
    if (fits({out.h_multiples, entries}, most_bytes)) return {out.h_multiples, entries};
  }
  return out;
}

DeviceHostMemory device_host_memory(const CircuitSizes& circuit, unsigned witnesses) {
  constexpr uint64_t kDriver = 200 * kMiB;  // the libraries of the driver and the context: 141 MB measured on an H200
  constexpr uint64_t kPinned = 2 * (PointSink::kSlabBytes + 4 * PointSink::kSlabPoints);
  const SrsShape srs = circuit.srs_shape();
  DeviceHostMemory out;
  out.process_bytes = kDriver + kPinned;
  // The circuit, its columns once more in packed form, and two numbers for each point of l, a and b.
  out.load_bytes = 2 * system_bytes(circuit) + 2 * sizeof(uint32_t) * (srs.l + srs.a + srs.b_g1);
  out.prove_bytes = (witnesses + 1) * circuit.witness_bytes();
  return out;
}

}  // namespace cuzk
