// Deterministic random values for synthetic inputs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/assert.hpp"
#include "field/fr.hpp"
#include "filecoin/porep.hpp"
#include "hash/chacha.hpp"

namespace cuzk {

// Values of everything that an input leaves free. All are below 2^254, so they are canonical field elements and nodes
// of tree D alike. Equal keys give equal values.
class FreeValues {
 public:
  explicit FreeValues(const NodeBytes& key) : rng_(key) {}
  NodeBytes next() {
    NodeBytes out;
    for (size_t i = 0; i < kNodeBytes; i += 8) {
      const uint64_t word = rng_.next_u64();
      for (size_t j = 0; j < 8; ++j) out[i + j] = static_cast<uint8_t>(word >> (8 * j));
    }
    trim_to_fr(out);
    return out;
  }
  Fr next_fr() {
    const std::optional<Fr> element = Fr::from_bytes_le(next());
    CUZK_ASSERT(element.has_value());
    return *element;
  }

 private:
  ChaCha8Rng rng_;
};

}  // namespace cuzk
