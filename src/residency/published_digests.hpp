// The digests of the parameters that were published for Filecoin's networks.
#pragma once

#include <optional>
#include <string_view>

#include "filecoin/circuit_spec.hpp"

namespace cuzk {

struct PublishedDigest {
  std::string_view digest;  // as srs/digest.hpp makes it, of the .params file
  // Of a circuit that a public network verifies (sectors of 32 and 64 GiB): a proof with other parameters is worth
  // nothing. Networks of smaller sectors are for development, where parameters are often made anew (`cuzk setup`).
  bool binding = false;
};

// None where no parameters were published.
std::optional<PublishedDigest> published_digest(const CircuitSpec& circuit);

}  // namespace cuzk
