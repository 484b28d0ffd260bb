#include "cuzk/verification.hpp"

#include <vector>

#include "srs/params_file.hpp"

namespace cuzk::app {

Result<VerifyingKey> read_verifying_key(const std::string& vk_file, const ParameterFiles& files) {
  if (!vk_file.empty()) return read_vk(vk_file);
  Result<VerifyingKey> vk = read_vk(files.vk);
  if (vk.ok() || vk.error().error_class != ErrorClass::kNotFound) return vk;
  Result<VerifyingKey> from_params = read_params_vk(files.params);
  if (!from_params.ok() && from_params.error().error_class == ErrorClass::kNotFound) return vk;
  return from_params;
}

Status verify_proofs(const PreparedVerifyingKey& vk, const ProofRequest& request, std::span<const Proof> proofs) {
  std::vector<std::vector<Fr>> inputs;
  for (uint32_t k = 0; k < proofs.size(); ++k) inputs.push_back(request.public_inputs(k));
  return verify_batch(vk, proofs, inputs);
}

}  // namespace cuzk::app
