// Parameter files on a CUDA device against the CPU's reader: every point as it lies in device memory, every kind of
// damage with the same error, proofs from a loaded file, parameters made on the device byte for byte, and the memory
// that device_memory() foretells.
//
// Usage: cuzk_params_cuda_check [--small | CIRCUIT_ID ...] [--json FILE]. Exit status 1 on a difference, 2 where
// something fails.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/cuda_backend.hpp"
#include "groth16/device_memory.hpp"
#include "groth16/device_params.hpp"
#include "groth16/device_setup_file.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "srs/params_file.hpp"
#include "srs/srs_test_support.hpp"
#include "support/block_circuit.hpp"
#include "support/check_results.hpp"
#include "support/synthetic_circuits.hpp"

namespace {

using namespace cuzk;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A query of `count` points, each in one group or the other.
PackedQuery random_query(uint32_t count, std::mt19937_64& rng) {
  PackedQuery query;
  for (uint32_t i = 0; i < count; ++i) {
    PackedQuery::Group& group = rng() % 3 == 0 ? query.values : query.bits;
    group.index.push_back(static_cast<uint32_t>(group.position.size()));
    group.position.push_back(i);
  }
  return query;
}

class ParamsCheck {
 public:
  ParamsCheck(const gpu::DeviceInfo& info, gpu::Device device, gpu::Stream stream, DeviceParamsLoader loader)
      : info_(info), device_(std::move(device)), stream_(std::move(stream)), loader_(std::move(loader)) {}

  uint64_t wrong = 0;
  std::vector<std::string> lines;  // of JSON

  Status run(bool small, const std::vector<std::string>& ids) {
    CUZK_TRY(check_points({2, 255, 300, 290, 280, 280}));
    if (!small) {
      // More than a slab in every section, and two in some.
      CUZK_TRY(check_points({2, (1 << 20) - 1, 900'000, 700'000, 300'000, 300'000}));
    }
    CUZK_TRY(check_damage());
    CUZK_TRY(check_subgroup());
    CUZK_TRY(check_circuit(block_circuit(small ? 2 : 40), true));
    for (const std::string& id : ids) CUZK_TRY(check_circuit(test::synthetic_circuit(id), false));
    return {};
  }

 private:
  void expect(bool right, const std::string& what) {
    if (right) return;
    std::printf("wrong: %s\n", what.c_str());
    ++wrong;
  }

  struct Loaded {
    gpu::Reservation memory;
    DeviceSrs srs;
  };
  Result<Loaded> load(const ByteSource& source, const SrsShape& shape, const PackedQueries& queries) {
    NoProgress quiet;
    const DeviceSrsOptions options{static_cast<unsigned>(info_.multiprocessors), 1};
    Loaded out;
    const uint64_t bits = queries.l.bits.size();
    CUZK_ASSIGN(out.memory,
                device_.reserve(DeviceSrs::resident_bytes(shape, queries, bits, options) + 256, gpu::Placement::kLow));
    CUZK_ASSIGN(out.srs, DeviceSrs::allocate(shape, queries, bits, options, out.memory, stream_));
    // What a load leaves out shows.
    for (const auto* points : {&out.srs.l, &out.srs.a, &out.srs.b_g1}) {
      CUZK_TRY(gpu::fill_bytes(points->bits.data(), 0xa5, points->bits.span().size_bytes(), stream_));
      CUZK_TRY(gpu::fill_bytes(points->values.data(), 0xa5, points->values.span().size_bytes(), stream_));
    }
    CUZK_TRY(stream_.synchronize());
    CUZK_TRY(loader_.load(source, shape, queries, out.srs, quiet));
    return Result<Loaded>(std::move(out));
  }

  template <class Curve>
  Result<bool> matches(const PackedQuery& query, const DeviceQueryPoints<Curve>& device,
                       const std::vector<Affine<Curve>>& expected) {
    bool same = true;
    const auto compare = [&](const PackedQuery::Group& group, std::span<const Affine<Curve>> points) -> Status {
      std::vector<Affine<Curve>> host(points.size());
      CUZK_TRY(gpu::copy_to_host<Affine<Curve>>(std::span(host), points, stream_));
      CUZK_TRY(stream_.synchronize());
      for (size_t i = 0; i < host.size(); ++i) same = same && host[i] == expected[group.position[i]];
      return {};
    };
    CUZK_TRY(compare(query.bits, device.bits.span()));
    CUZK_TRY(compare(query.values, device.values.span()));
    return same;
  }

  Status check_points(const SrsShape& shape) {
    std::mt19937_64 rng(7);
    const Srs srs = test::make_srs(shape);
    NoProgress quiet;
    const test::TemporaryDirectory folder;
    CUZK_TRY(write_params(folder.file("p"), srs, quiet));
    CUZK_ASSIGN(const auto file, open_file_source(folder.file("p")));
    const PackedQueries queries{random_query(static_cast<uint32_t>(shape.l), rng),
                                random_query(static_cast<uint32_t>(shape.a), rng),
                                random_query(static_cast<uint32_t>(shape.b_g1), rng)};
    const auto start = Clock::now();
    CUZK_ASSIGN(const Loaded loaded, load(*file, shape, queries));
    const double seconds = seconds_since(start);
    const double bytes = static_cast<double>(params_file_bytes(shape));
    std::printf("points: %.0f bytes in %.4f s, %.2f GB/s\n", bytes, seconds, bytes / seconds * 1e-9);
    lines.push_back("{\"load_bytes\": " + std::to_string(params_file_bytes(shape)) +
                    ", \"load_ms\": " + std::to_string(seconds * 1e3) + "}");
    std::vector<G1Affine> h(shape.h);
    CUZK_TRY(gpu::copy_to_host<G1Affine>(std::span(h), loaded.srs.h.span().first(h.size()), stream_));
    CUZK_TRY(stream_.synchronize());
    expect(h == srs.h, "the points of h");
    CUZK_ASSIGN(const bool l, matches<G1Curve>(queries.l, loaded.srs.l, srs.l));
    CUZK_ASSIGN(const bool a, matches<G1Curve>(queries.a, loaded.srs.a, srs.a));
    CUZK_ASSIGN(const bool b_g1, matches<G1Curve>(queries.b, loaded.srs.b_g1, srs.b_g1));
    CUZK_ASSIGN(const bool b_g2, matches<G2Curve>(queries.b, loaded.srs.b_g2, srs.b_g2));
    expect(l, "the points of l");
    expect(a, "the points of a");
    expect(b_g1, "the points of b_g1");
    expect(b_g2, "the points of b_g2");
    return {};
  }

  // The error of the CPU's reader, for every kind of damage in every section.
  Status check_damage() {
    std::mt19937_64 rng(8);
    const SrsShape shape{2, 63, 70, 60, 50, 50};
    NoProgress quiet;
    const test::TemporaryDirectory folder;
    CUZK_TRY(write_params(folder.file("p"), test::make_srs(shape), quiet));
    const Bytes good = test::read_bytes(folder.file("p"));
    const PackedQueries queries{random_query(70, rng), random_query(60, rng), random_query(50, rng)};
    const auto compare = [&](const Bytes& bytes, const std::string& what) {
      const MemorySource source(bytes);
      const auto expected = read_params(source, {.expected = shape}, quiet);
      const auto found = load(source, shape, queries);
      const bool same = !expected.ok() && !found.ok() && found.error().describe() == expected.error().describe() &&
                        found.error().error_class == expected.error().error_class;
      expect(same, what + ": " + (found.ok() ? "nothing" : found.error().describe()) + ", not " +
                       (expected.ok() ? "nothing" : expected.error().describe()));
    };
    struct Damage {
      const char* what;
      std::function<void(std::span<uint8_t> point)> make;
    };
    const std::vector<Damage> kinds = {
        {"infinity", [](auto p) { std::fill(p.begin(), p.end(), uint8_t{0}), p[0] = 0x40; }},
        {"infinity with other bits", [](auto p) { p[0] |= 0x40; }},
        {"zeros", [](auto p) { std::fill(p.begin(), p.end(), uint8_t{0}); }},
        {"the compressed flag", [](auto p) { p[0] |= 0x80; }},
        {"the sign flag", [](auto p) { p[0] |= 0x20; }},
        {"x beyond p", [](auto p) { std::fill_n(p.begin(), 48, uint8_t{0xff}), p[0] = 0x1f; }},
        {"y beyond p", [](auto p) { std::fill_n(p.begin() + static_cast<long>(p.size() / 2), 48, uint8_t{0xff}); }},
        {"the last coefficient beyond p", [](auto p) { std::fill_n(p.end() - 48, 48, uint8_t{0xff}); }},
        {"off the curve", [](auto p) { p[p.size() - 1] ^= 1; }},
    };
    for (const Section section : {Section::kH, Section::kL, Section::kA, Section::kBG1, Section::kBG2}) {
      const uint64_t size = point_bytes(section);
      for (const Damage& kind : kinds) {
        for (const uint64_t at : {uint64_t{0}, shape.count(section) / 2, shape.count(section) - 1}) {
          Bytes bytes = good;
          kind.make(std::span(bytes).subspan(section_offset(shape, section) + at * size, size));
          compare(bytes, std::string(kind.what) + " in " + to_string(section) + "[" + std::to_string(at) + "]");
        }
      }
    }
    Bytes two = good;
    for (const auto& [section, at] : {std::pair{Section::kA, 40}, {Section::kA, 17}, {Section::kBG2, 0}}) {
      two[section_offset(shape, section) + static_cast<uint64_t>(at) * point_bytes(section) + 95] ^= 1;
    }
    compare(two, "the first of three");
    Bytes cut = good;
    cut.resize(cut.size() - 100);
    expect(!load(MemorySource(cut), shape, queries).ok(), "a file that ends early");
    return {};
  }

  // Points on the curve that are not of order r are taken, and refused where subgroups are asked for, with the error of
  // the CPU's reader.
  Status check_subgroup() {
    const SrsShape shape{2, 63, 70, 60, 50, 50};
    NoProgress quiet;
    const test::TemporaryDirectory folder;
    CUZK_TRY(write_params(folder.file("p"), test::make_srs(shape), quiet));
    const Bytes good = test::read_bytes(folder.file("p"));
    expect(loader_.check(MemorySource(good), shape, PointCheck::kSubgroup, quiet).ok(), "points of the subgroup");
    for (const Section section : {Section::kH, Section::kL, Section::kA, Section::kBG1, Section::kBG2}) {
      Bytes bytes = good;
      const Bytes outsider =
          section == Section::kBG2 ? test::point_outside_subgroup<G2Curve>() : test::point_outside_subgroup<G1Curve>();
      const uint64_t at = section_offset(shape, section) + 31 * point_bytes(section);
      std::copy(outsider.begin(), outsider.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      const MemorySource source(bytes);
      const std::string name = to_string(section);
      expect(loader_.check(source, shape, PointCheck::kOnCurve, quiet).ok(), name + ": a point of the curve");
      const auto expected = read_params(source, {.expected = shape, .check = PointCheck::kSubgroup}, quiet);
      const Status found = loader_.check(source, shape, PointCheck::kSubgroup, quiet);
      expect(!found.ok() && !expected.ok() && found.error().describe() == expected.error().describe(),
             name + ": a point outside the subgroup: " + (found.ok() ? "nothing" : found.error().describe()));
    }
    return {};
  }

  Status check_circuit(const test::SyntheticCircuit& made, bool with_setup) {
    NoProgress quiet;
    ProveReport ignored;
    const test::TemporaryDirectory folder;
    const std::string path = folder.file("p");
    const ToxicWaste toxic = toxic_waste_from_seed({1});
    auto start = Clock::now();
    CUZK_ASSIGN(const VerifyingKey vk, setup_to_file_on_gpu(info_, made.circuit, toxic, path, quiet));
    const double setup_seconds = seconds_since(start);
    CUZK_ASSIGN(const auto file, open_file_source(path));
    start = Clock::now();
    CUZK_ASSIGN(const auto backend, CudaBackend::create_from_file(device_, made.circuit, *file, loader_, {}, quiet));
    const double load_seconds = seconds_since(start);
    expect(backend->vk() == vk, made.id + ": the verifying key");
    start = Clock::now();
    const PackedWitness* const witnesses[] = {&made.witness};
    CUZK_ASSIGN(const std::vector<ProofSums> all, backend->evaluate(made.circuit, witnesses, quiet, ignored));
    const ProofSums& sums = all.front();
    CUZK_ASSIGN(const Blinding blinding, Blinding::random());
    CUZK_TRY(finish_proof(backend->vk(), sums, made.witness.inputs, blinding, quiet, ignored));
    const double prove_seconds = seconds_since(start);
    const auto tell = [&](unsigned together) {
      return device_memory(sizes_of(made.circuit), static_cast<unsigned>(info_.multiprocessors), together);
    };
    CUZK_ASSIGN(const DeviceMemory told, tell(1));
    const auto compare = [&](uint64_t is, uint64_t was_told, const char* what) {
      expect(is <= was_told,
             made.id + ": " + what + " takes " + std::to_string(is) + " bytes, told " + std::to_string(was_told));
    };
    compare(backend->resident_bytes(), told.resident_bytes, "what is resident");
    CUZK_ASSIGN(const uint64_t scratch, backend->scratch_bytes());
    compare(scratch, told.scratch_bytes, "a proof");
    for (unsigned together = 2; together <= MsmPlan::kMaxWitnesses; ++together) {
      CUZK_ASSIGN(const uint64_t taken, backend->scratch_bytes(together));
      CUZK_ASSIGN(const DeviceMemory told_of_all, tell(together));
      compare(taken, told_of_all.scratch_bytes, "proofs together");
    }
    lines.push_back("{\"circuit\": \"" + made.id + "\", \"setup_ms\": " + std::to_string(setup_seconds * 1e3) +
                    ", \"file_bytes\": " + std::to_string(file->size()) + ", \"load_ms\": " +
                    std::to_string(load_seconds * 1e3) + ", \"prove_ms\": " + std::to_string(prove_seconds * 1e3) +
                    ", \"resident_bytes\": " + std::to_string(backend->resident_bytes()) + ", \"resident_told\": " +
                    std::to_string(told.resident_bytes) + ", \"scratch_bytes\": " + std::to_string(scratch) +
                    ", \"scratch_told\": " + std::to_string(told.scratch_bytes) + "}");
    std::printf("%s\n", lines.back().c_str());
    std::fflush(stdout);
    if (!with_setup) return {};
    CUZK_TRY(setup_to_file(made.circuit, toxic, folder.file("cpu"), quiet));
    expect(test::read_bytes(path) == test::read_bytes(folder.file("cpu")), "parameters made on the device");
    CUZK_ASSIGN(const Srs srs, read_params(path, {}, quiet));
    CUZK_ASSIGN(const ProofSums expected, CpuBackend().evaluate(made.circuit, srs, made.witness, quiet, ignored));
    expect(sums.h == expected.h && sums.l == expected.l && sums.a == expected.a && sums.b_g1 == expected.b_g1 &&
               sums.b_g2 == expected.b_g2,
           "sums over parameters from a file");
    return check_tables(made, *file, sums);
  }

  // Memory given for speed: as it was told, and the same sums.
  Status check_tables(const test::SyntheticCircuit& made, const ByteSource& file, const ProofSums& expected) {
    NoProgress quiet;
    ProveReport ignored;
    for (const DeviceTables& tables : {DeviceTables{2, 0}, DeviceTables{3, 1 << 16}, DeviceTables{kMostMultiples, 0}}) {
      CUZK_ASSIGN(const auto backend, CudaBackend::create_from_file(device_, made.circuit, file, loader_,
                                                                    {tables.h_multiples, tables.h_max_entries}, quiet));
      CUZK_ASSIGN(const DeviceMemory told,
                  device_memory(sizes_of(made.circuit), static_cast<unsigned>(info_.multiprocessors), 1, tables));
      CUZK_ASSIGN(const uint64_t scratch, backend->scratch_bytes());
      expect(backend->resident_bytes() <= told.resident_bytes && scratch <= told.scratch_bytes,
             made.id + ": memory with " + std::to_string(tables.h_multiples) + " multiples");
      const PackedWitness* const witnesses[] = {&made.witness};
      CUZK_ASSIGN(const std::vector<ProofSums> all, backend->evaluate(made.circuit, witnesses, quiet, ignored));
      expect(all.front().h == expected.h,
             made.id + ": the sum h by " + std::to_string(tables.h_multiples) + " multiples");
    }
    return {};
  }

  static test::SyntheticCircuit block_circuit(size_t instances) {
    Recorder recorder;
    test::block_circuit(recorder, instances);
    PackedWriter writer;
    test::block_circuit(writer, instances);
    return {"blocks", recorder.finish(), writer.finish()};
  }

  const gpu::DeviceInfo info_;
  const gpu::Device device_;
  const gpu::Stream stream_;
  DeviceParamsLoader loader_;
};

Status check(bool small, const std::vector<std::string>& ids, const std::string& json, uint64_t& wrong) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  // The device that setup_to_file_on_gpu() opens needs room beside it.
  const uint64_t arena = small ? uint64_t{1} << 30 : devices[0].memory_bytes / 2;
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {arena, 0}));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  CUZK_ASSIGN(DeviceParamsLoader loader, DeviceParamsLoader::create(device));
  ParamsCheck checks(devices[0], device, std::move(stream), std::move(loader));
  CUZK_TRY(checks.run(small, ids));
  wrong = checks.wrong;
  if (json.empty()) return {};
  return test::write_check_results(json, devices[0].name, checks.wrong, checks.lines);
}

}  // namespace

int main(int argc, char** argv) {
  bool small = false;
  std::vector<std::string> ids;
  std::string json;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--small") {
      small = true;
    } else if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else {
      ids.push_back(argument);
    }
  }
  if (!small && ids.empty()) ids = {"winning-2k", "window-2k", "winning-32g"};
  uint64_t wrong = 0;
  const Status status = check(small, ids, json, wrong);
  if (!status.ok()) {
    std::printf("%s\n", status.error().describe().c_str());
    return 2;
  }
  std::printf("params: %llu wrong\n", static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
