#include "engine/filecoin_proof_service.hpp"

#include <algorithm>
#include <utility>

#include "engine/read_submission.hpp"
#include "filecoin/proof_request.hpp"
#include "format/post_vanilla_format.hpp"
#include "format/snap_vanilla_format.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/device_memory.hpp"
#include "groth16/memory.hpp"
#include "groth16/verify.hpp"
#include "residency/circuit_sizes.hpp"
#include "srs/params_file.hpp"

namespace cuzk {
namespace {

// What a worker process takes besides what it loads: the program, its threads.
constexpr uint64_t kProcessBytes = uint64_t{8} << 20;
// Of reading a request: bytes of it that are there at the same time, in quarters of its own. PoRep's wrapper is copied,
// its base64 decoded and parsed; the others are parsed from where they lie.
constexpr uint64_t kPorepCheckQuarters = 10, kOtherCheckQuarters = 5;
constexpr uint64_t kCheckBytes = uint64_t{4} << 20;

// Values, nodes and indices of the vanilla proofs.
uint64_t bytes_of(const PorepC1& c1) {
  uint64_t bytes = sizeof(PorepC1);
  for (const PorepPartition& partition : c1.partitions) {
    const PorepChallengeLayout& layout = partition.layout();
    bytes += uint64_t{partition.challenges()} *
             (uint64_t{layout.total_values} * sizeof(Fr) + PorepChallengeLayout::kTotalIndices * sizeof(uint64_t) +
              uint64_t{layout.total_parents()} * sizeof(NodeBytes));
  }
  return bytes;
}

uint64_t bytes_of(const SnapInput& snap) {
  return sizeof(SnapInput) + snap.partitions.size() * (snap_partition_bytes(*snap.shape) + sizeof(SnapPartition));
}

// With the hashes that its check has left.
uint64_t bytes_of(const PostInput& post) {
  const uint64_t hashes = uint64_t{post.vanilla.sectors()} * post.vanilla.shape().paths_per_sector() *
                          post.vanilla.shape().tree.levels() * sizeof(Fr);
  return sizeof(PostInput) + post.vanilla.sectors() * (post_sector_proof_bytes(post.vanilla.shape()) + 256) + hashes;
}

class FilecoinWork final : public JobWork {
 public:
  FilecoinWork(ProofRequest request, std::shared_ptr<CircuitStore> store)
      : request_(std::move(request)),
        store_(std::move(store)),
        bytes_(std::visit([](const auto& input) { return bytes_of(input); }, request_.input())) {}

  const CircuitSpec& circuit() const override { return request_.circuit(); }
  uint32_t partitions() const override { return request_.partitions(); }
  uint64_t bytes() const override { return bytes_; }

  Result<PackedWitness> witness(uint32_t k) const override {
    PackedWitness witness = request_.witness(k);
    const std::vector<Fr> inputs = request_.public_inputs(k);
    if (std::equal(witness.inputs.begin() + 1, witness.inputs.end(), inputs.begin(), inputs.end())) return witness;
    return Error(ErrorClass::kInternal, "the witness has other public inputs than a verifier computes");
  }

  Status check(uint32_t k) const override { return request_.check(k); }

  Result<std::vector<uint32_t>> wrong_proofs(std::span<const ProofBytes> proofs) const override {
    CUZK_ASSIGN(const std::shared_ptr<const PreparedVerifyingKey> key, store_->verifying_key(request_.circuit()));
    std::vector<uint32_t> wrong, numbers;
    std::vector<Proof> decoded;
    std::vector<std::vector<Fr>> inputs;
    for (uint32_t k = 0; k < proofs.size(); ++k) {
      Result<Proof> proof = decode_proof(proofs[k]);
      if (!proof.ok()) {
        wrong.push_back(k);
        continue;
      }
      numbers.push_back(k);
      decoded.push_back(*proof);
      inputs.push_back(request_.public_inputs(k));
    }
    if (decoded.empty()) return wrong;
    const Status all = verify_batch(*key, decoded, inputs);
    if (all.ok()) return wrong;
    if (all.error().error_class != ErrorClass::kBadProof) return all.error();
    for (size_t i = 0; i < decoded.size(); ++i) {
      if (!verify(*key, decoded[i], inputs[i]).ok()) wrong.push_back(numbers[i]);
    }
    std::sort(wrong.begin(), wrong.end());
    return wrong;
  }

 private:
  const ProofRequest request_;
  const std::shared_ptr<CircuitStore> store_;
  const uint64_t bytes_;
};

}  // namespace

RequestNeeds FilecoinProofService::request_needs(const Submission& submission) const {
  RequestNeeds needs;
  needs.circuit = circuit_of_submission(submission);
  const uint64_t bytes = submission.bytes();
  const bool porep = submission.kind == ProofKind::kPorep;
  // PoSt's hashes, one a level, come to the openings; eight siblings a level are there already.
  needs.held = bytes + bytes / 4;
  needs.check_scratch = kCheckBytes + bytes / 4 * (porep ? kPorepCheckQuarters : kOtherCheckQuarters);
  return needs;
}

FilecoinProofService::FilecoinProofService(std::shared_ptr<CircuitStore> store, uint32_t device_threads,
                                           uint32_t h_multiples)
    : store_(std::move(store)), h_multiples_(h_multiples) {
  for (const CircuitSpec& circuit : circuit_specs()) {
    const CircuitSizes sizes = sizes_of(circuit);
    Needs needs;
    needs.witness = {sizes.witness_bytes(), sizes.bits / 8};  // bits are copied once
    needs.on_cpu.parameters = srs_bytes(sizes.srs_shape());
    needs.on_cpu.circuit = sizes.compiled_bytes;
    needs.on_cpu.load_scratch = kProcessBytes + read_params_scratch_bytes(device_threads);
    needs.on_cpu.prove_scratch = kProcessBytes + peak_bytes(CpuBackend::memory(sizes, device_threads)) +
                                 sizes.witness_bytes();  // the device's own copy
    needs_.push_back(needs);
  }
}

size_t FilecoinProofService::index_of(const CircuitSpec& circuit) const {
  return static_cast<size_t>(&circuit_spec_of(circuit.shape()) - circuit_specs().data());
}

// On the host a GPU's worker keeps nothing of a circuit; its process is counted while it works.
const std::vector<DeviceNeeds>& FilecoinProofService::on_gpu(const DeviceInfo& device, uint32_t together) const {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceNeeds>& known = on_gpu_[{device.multiprocessors, device.memory_usable_bytes, together}];
  if (!known.empty()) return known;
  std::vector<DeviceNeeds> all;  // known once it is complete: memory may run out before
  for (const CircuitSpec& circuit : circuit_specs()) {
    const CircuitSizes sizes = sizes_of(circuit);
    const DeviceHostMemory host = device_host_memory(sizes, together);
    DeviceNeeds needs;
    needs.tables = choose_tables(sizes, device.multiprocessors, device.memory_usable_bytes, h_multiples_);
    const Result<DeviceMemory> memory = device_memory(sizes, device.multiprocessors, together, needs.tables);
    needs.load_scratch = host.process_bytes + host.load_bytes;
    needs.prove_scratch = host.process_bytes + host.prove_bytes;
    needs.device_resident = memory.ok() ? memory->resident_bytes : UINT64_MAX / 4;
    needs.device_scratch = memory.ok() ? memory->scratch_bytes : UINT64_MAX / 4;
    all.push_back(needs);
  }
  known = std::move(all);
  return known;
}

WitnessNeeds FilecoinProofService::witness_needs(const CircuitSpec& circuit) const {
  return needs_[index_of(circuit)].witness;
}

DeviceNeeds FilecoinProofService::device_needs(const CircuitSpec& circuit, const DeviceInfo& device,
                                               uint32_t together) const {
  const Needs& needs = needs_[index_of(circuit)];
  if (device.is_gpu) {
    // Maps keep their elements where they are.
    return on_gpu(device, together)[index_of(circuit)];
  }
  DeviceNeeds out = needs.on_cpu;
  out.prove_scratch += (together - 1) * needs.witness.witness;  // on their way to the device
  return out;
}

Result<std::shared_ptr<const JobWork>> FilecoinProofService::read(const Submission& submission) const {
  CUZK_ASSIGN(ProofRequest request, read_submission(submission));
  return std::shared_ptr<const JobWork>(std::make_shared<FilecoinWork>(std::move(request), store_));
}

Result<CircuitFiles> FilecoinProofService::prepare(const CircuitSpec& circuit, Progress& progress) {
  return store_->prepare(circuit, progress);
}

}  // namespace cuzk
