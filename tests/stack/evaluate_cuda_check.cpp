// Expansion and matrix products of every kind of circuit on the device against the CPU form, with times.
//
// Usage: cuzk_evaluate_cuda_check [--small | CIRCUIT_ID ...] [--json FILE]. Exit status 1 on a difference, 2 where CUDA
// fails.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "circuit/assignment.hpp"
#include "circuit/packed_form.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "gpu/device.hpp"
#include "gpu/timing.hpp"
#include "matrix/matrix.hpp"
#include "matrix/matrix_cuda.hpp"
#include "support/block_circuit.hpp"
#include "support/check_results.hpp"
#include "support/synthetic_circuits.hpp"

namespace {

using namespace cuzk;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Timing {
  double expand_ms = 0;
  double matrix_ms[3] = {};
};

class Check {
 public:
  Check(gpu::Device& device, gpu::Stream& stream, gpu::Event& begin, gpu::Event& end, int repeats)
      : device_(device), stream_(stream), begin_(begin), end_(end), repeats_(repeats) {}

  // Lines of JSON, one a circuit.
  std::vector<std::string> lines;
  uint64_t wrong = 0;

  Status run(const test::SyntheticCircuit& made) {
    const CompiledCircuit& circuit = made.circuit;
    const size_t rows = size_t{1} << circuit.log2_domain();
    auto start = std::chrono::steady_clock::now();
    const PackedSystem system = packed_form(circuit);
    const double pack_s = seconds_since(start);
    start = std::chrono::steady_clock::now();
    const uint64_t resident = DeviceSystem::resident_bytes(system);
    CUZK_ASSIGN(gpu::Reservation memory, device_.reserve(resident, gpu::Placement::kLow));
    CUZK_ASSIGN(const DeviceSystem resident_system, DeviceSystem::upload(system, memory, stream_));
    const double upload_s = seconds_since(start);
    if (memory.used_bytes() > resident) fail("the resident form takes more than it declares");

    const uint64_t words = made.witness.bits.words().size();
    CUZK_ASSIGN(gpu::Reservation scratch,
                device_.reserve(gpu::Reservation::bytes_for<uint64_t>(words + 1) +
                                    gpu::Reservation::bytes_for<Fr>(system.num_fields + size_t{1}) +
                                    gpu::Reservation::bytes_for<Fr>(system.num_values) +
                                    3 * gpu::Reservation::bytes_for<Fr>(rows),
                                gpu::Placement::kHigh));
    CUZK_ASSIGN(auto bits, scratch.allocate<uint64_t>(words, stream_));
    CUZK_ASSIGN(auto fields, scratch.allocate<Fr>(system.num_fields, stream_));
    CUZK_ASSIGN(auto values, scratch.allocate<Fr>(system.num_values, stream_));
    gpu::DeviceBuffer<Fr> out[3];
    for (auto& buffer : out) {
      CUZK_ASSIGN(buffer, scratch.allocate<Fr>(rows, stream_));
      CUZK_TRY(gpu::fill_bytes(buffer.data(), 0xa5, rows * sizeof(Fr), stream_));  // poison
    }
    CUZK_TRY(gpu::fill_bytes(values.data(), 0xa5, values.size() * sizeof(Fr), stream_));
    CUZK_TRY(gpu::copy_to_device(bits.span(), made.witness.bits.words(), stream_));
    CUZK_TRY(gpu::copy_to_device<Fr>(fields.span(), made.witness.fields, stream_));
    CUZK_TRY(gpu::copy_to_device<Fr>(values.span().first(system.num_inputs), made.witness.inputs, stream_));

    Timing timing;
    CUZK_ASSIGN(timing.expand_ms,
                median_ms([&] { return resident_system.expand(bits.span(), fields.span(), values.span(), stream_); }));
    const DeviceWitness witness{bits.span(), values.span()};
    for (unsigned m = 0; m < 3; ++m) {
      CUZK_ASSIGN(timing.matrix_ms[m], median_ms([&] {
                    return resident_system.multiply(m, witness, out[m].span(), RowOrder::kNatural, stream_);
                  }));
    }
    CUZK_TRY(compare(made, system, values.span(), out));
    CUZK_TRY(compare_unsatisfied(made, resident_system, bits.span(), fields.span(), values.span(), out));
    char line[700];
    std::snprintf(
        line, sizeof line,
        "{\"circuit\": \"%s\", \"constraints\": %u, \"terms\": %llu, \"bits\": %u, \"values\": %u, \"hashes\": %zu, "
        "\"batches\": %zu, \"resident_bytes\": %llu, \"pack_s\": %.3f, \"upload_s\": %.3f, \"expand_ms\": %.3f, "
        "\"a_ms\": %.3f, \"b_ms\": %.3f, \"c_ms\": %.3f}",
        made.id.c_str(), circuit.num_constraints, static_cast<unsigned long long>(circuit.num_terms()),
        circuit.num_bits, system.num_values, system.jobs.size(), system.batches.size(),
        static_cast<unsigned long long>(resident), pack_s, upload_s, timing.expand_ms, timing.matrix_ms[0],
        timing.matrix_ms[1], timing.matrix_ms[2]);
    std::printf("%s\n", line);
    std::fflush(stdout);
    lines.push_back(line);
    return {};
  }

 private:
  void fail(const std::string& what) {
    std::printf("wrong: %s\n", what.c_str());
    ++wrong;
  }

  template <class Launch>
  Result<double> median_ms(Launch&& launch) {
    CUZK_ASSIGN(const std::vector<double> times,
                gpu::time_runs(stream_, begin_, end_, 0, repeats_, std::forward<Launch>(launch)));
    return times[times.size() / 2];
  }

  Status compare(const test::SyntheticCircuit& made, const PackedSystem& system, std::span<const Fr> values,
                 const gpu::DeviceBuffer<Fr> (&out)[3]) {
    const CompiledCircuit& circuit = made.circuit;
    CUZK_ASSIGN(const std::vector<Fr> aux, expand_witness(circuit, made.witness));
    std::vector<Fr> host(values.size());
    CUZK_TRY(gpu::copy_to_host(std::span(host), values, stream_));
    CUZK_TRY(stream_.synchronize());
    uint64_t differ = 0;
    for (uint32_t i = 0; i < circuit.num_inputs; ++i) differ += host[i] != made.witness.inputs[i];
    for_each_packed_run(circuit, [&](uint32_t first, uint32_t count, PackedPlace place) {
      if (place.is_bit()) return;
      for (uint32_t i = 0; i < count; ++i) differ += host[place.index() + i] != aux[first + i];
    });
    if (differ != 0)
      fail(made.id + ": " + std::to_string(differ) + " of " + std::to_string(system.num_values) + " values");
    const BlockMatrix matrices[] = {circuit.a(), circuit.b(), circuit.c()};
    const Coefficients coefficients(circuit.coefficients);
    std::vector<Fr> expected(out[0].size());
    host.resize(expected.size());
    for (size_t m = 0; m < 3; ++m) {
      multiply(matrices[m], coefficients, made.witness.inputs, aux, expected);
      if (m == 0) put_input_rows(made.witness.inputs, circuit.num_constraints, expected);
      CUZK_TRY(gpu::copy_to_host(std::span(host), std::span<const Fr>(out[m].span()), stream_));
      CUZK_TRY(stream_.synchronize());
      differ = 0;
      for (size_t i = 0; i < host.size(); ++i) differ += host[i] != expected[i];
      if (differ != 0) fail(made.id + ": " + std::to_string(differ) + " rows of " + "ABC"[m]);
    }
    return {};
  }

  // The witness as it is satisfies; with a changed bit and a changed field, device and host name the same row.
  Status compare_unsatisfied(const test::SyntheticCircuit& made, const DeviceSystem& system, std::span<uint64_t> bits,
                             std::span<Fr> fields, std::span<Fr> values, const gpu::DeviceBuffer<Fr> (&out)[3]) {
    const auto first = [&] {
      return system.first_unsatisfied_row(out[0].span(), out[1].span(), out[2].span(), RowOrder::kNatural, stream_);
    };
    CUZK_ASSIGN(const auto none, first());
    if (none) fail(made.id + ": row " + std::to_string(*none) + " counts as violated");
    if (made.circuit.num_constraints > 3'000'000) return {};  // the host's search takes long
    PackedWitness changed = made.witness;
    changed.bits.words()[changed.bits.size() / 128] ^= 1;
    if (!changed.fields.empty()) changed.fields[changed.fields.size() / 2] += Fr::one();
    CUZK_TRY(gpu::copy_to_device<uint64_t>(bits, changed.bits.words(), stream_));
    CUZK_TRY(gpu::copy_to_device<Fr>(fields, changed.fields, stream_));
    CUZK_TRY(system.expand(bits, fields, values, stream_));
    for (unsigned m = 0; m < 3; ++m)
      CUZK_TRY(system.multiply(m, {bits, values}, out[m].span(), RowOrder::kNatural, stream_));
    CUZK_ASSIGN(const std::optional<uint64_t> found, first());
    CUZK_ASSIGN(const std::vector<Fr> aux, expand_witness(made.circuit, changed));
    const std::optional<uint32_t> expected = first_unsatisfied(made.circuit, changed.inputs, aux);
    if (!expected || !found || *found != *expected) fail(made.id + ": the first violated row");
    return {};
  }

  gpu::Device& device_;
  gpu::Stream& stream_;
  gpu::Event &begin_, &end_;
  int repeats_;
};

test::SyntheticCircuit block_circuit() {
  Recorder recorder;
  test::block_circuit(recorder, 40);
  PackedWriter writer;
  test::block_circuit(writer, 40);
  return {"blocks", recorder.finish(), writer.finish()};
}

Status check(bool small, const std::vector<std::string>& ids, const std::string& json, uint64_t& wrong) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {small ? uint64_t{256} << 20 : 0}));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  CUZK_ASSIGN(gpu::Event begin, device.make_event());
  CUZK_ASSIGN(gpu::Event end, device.make_event());
  Check checks(device, stream, begin, end, small ? 1 : 7);
  CUZK_TRY(checks.run(block_circuit()));
  for (const std::string& id : ids) {
    const auto start = std::chrono::steady_clock::now();
    const test::SyntheticCircuit made = test::synthetic_circuit(id);
    std::printf("%s: made in %.1f s\n", id.c_str(), seconds_since(start));
    std::fflush(stdout);
    CUZK_TRY(checks.run(made));
  }
  wrong = checks.wrong;
  if (json.empty()) return {};
  return test::write_check_results(json, devices[0].name, checks.wrong, checks.lines);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> ids;
  std::string json;
  bool small = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") == 0) {
      small = true;
    } else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      ids.push_back(argv[i]);
    }
  }
  if (ids.empty() && !small) {
    ids = {"winning-2k", "window-2k", "snap-2k", "porep-2k", "winning-32g", "porep-32g", "snap-32g", "window-32g"};
  }
  uint64_t wrong = 0;
  const Status status = check(small, ids, json, wrong);
  if (!status.ok()) {
    std::printf("%s\n", status.error().describe().c_str());
    return 2;
  }
  std::printf("evaluate: %llu wrong\n", static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
