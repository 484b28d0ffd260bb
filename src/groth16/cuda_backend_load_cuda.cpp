// CudaBackend with parameters from a file.
#include "circuit/packed_form.hpp"
#include "groth16/cuda_backend.hpp"
#include "groth16/device_params.hpp"
#include "groth16/setup.hpp"
#include "srs/params_file.hpp"

namespace cuzk {

Result<std::unique_ptr<CudaBackend>> CudaBackend::create_from_file(const gpu::Device& device,
                                                                   const CompiledCircuit& circuit,
                                                                   const ByteSource& params, DeviceParamsLoader& loader,
                                                                   const CudaBackendOptions& options,
                                                                   Progress& progress) {
  // A file that cannot be right costs no device memory.
  CUZK_ASSIGN(const SrsShape shape, inspect_params(params, srs_shape(circuit)));
  CUZK_ASSIGN(VerifyingKey vk, read_params_vk(params));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(gpu::Stream stream, device.make_stream());
  std::unique_ptr<CudaBackend> out(new CudaBackend(device, std::move(stream)));
  const PackedQueries queries = packed_queries(circuit);
  CUZK_TRY(out->reserve(packed_form(circuit), queries, shape, circuit, options));
  CUZK_ASSIGN(out->srs_, DeviceSrs::allocate(shape, queries, circuit.num_bits, out->srs_options(options), out->memory_,
                                             out->stream_));
  CUZK_TRY(out->stream_.synchronize());  // the loader has streams of its own
  CUZK_TRY(loader.load(params, shape, queries, out->srs_, progress));
  CUZK_TRY(out->srs_.finish(out->stream_));
  out->vk_ = std::move(vk);
  return Result<std::unique_ptr<CudaBackend>>(std::move(out));
}

}  // namespace cuzk
