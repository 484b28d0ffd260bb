// sppark's transforms, by its own headers.
#include <ff/bls12-381.hpp>
// Its field first.
#include <ntt/ntt.cuh>

#include "peers/sppark.hpp"

namespace cuzk::peers {

void* sppark_stream() {
  const stream_t& stream = select_gpu(0);
  return static_cast<cudaStream_t>(stream);
}

bool sppark_ntt(void* values, unsigned log2_size, bool inverse, bool coset, bool bit_reversed_in) {
  try {
    NTT::Base_dev_ptr(select_gpu(0), static_cast<fr_t*>(values), log2_size,
                      bit_reversed_in ? NTT::InputOutputOrder::RN : NTT::InputOutputOrder::NR,
                      inverse ? NTT::Direction::inverse : NTT::Direction::forward,
                      coset ? NTT::Type::coset : NTT::Type::standard);
    return true;
  } catch (const cuda_error&) {
    return false;
  }
}

}  // namespace cuzk::peers
