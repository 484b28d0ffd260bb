#include "residency/published_digests.hpp"

namespace cuzk {
namespace {

struct Row {
  std::string_view circuit, digest;
};

// The first 32 hexadecimal digits of the BLAKE2b-512 of each .params file.
// Source: filecoin-project/rust-fil-proofs parameters.json at 87348a749d80447d00c595af834a8ed73c09e4d9, "digest" of the
// file whose name is parameter_file_stem() + ".params".
constexpr Row kRows[] = {
    {"porep-2k", "434fb1338ecfaf0f59256f30dde4968f"},    {"porep-8m", "09e612e4eeb7a0eb95679a88404f960c"},
    {"porep-512m", "6c77597eb91ab936c1cef4cf19eba1b3"},  {"porep-32g", "6a388072a518cf46ebd661f5cc46900a"},
    {"porep-64g", "1801f8a6e1b00bceb00cc27314bb5ce3"},   {"snap-2k", "311f92a3e75036ced01b1c0025f1fa0c"},
    {"snap-8m", "5aedd2cf3e5c0a15623d56a1b43110ad"},     {"snap-512m", "c3ad7bb549470b82ad52ed070aebb4f4"},
    {"snap-32g", "1b3cfd761a961543f9eb273e435a06a2"},    {"snap-64g", "1a392e7b759fb18e036c7559b5ece816"},
    {"window-2k", "7610b9f82bfc88405b7a832b651ce2f6"},   {"window-8m", "c49499bb76a0762884896f9683403f55"},
    {"window-512m", "1a7d4a9c8a502a497ed92a54366af33f"}, {"window-32g", "2cf49eb26f1fee94c85781a390ddb4c8"},
    {"window-64g", "3810b7780ac0e299b22ae70f1f94c9bc"},  {"winning-2k", "82c88066be968bb550a05e30ff6c2413"},
    {"winning-8m", "700171ecf7334e3199437c930676af82"},  {"winning-512m", "827359440349fe8f5a016e7598993b79"},
    {"winning-32g", "d84f79a16fe40e9e25a36e2107bb1ba0"}, {"winning-64g", "2170a91ad5bae22ea61f2ea766630322"},
};

constexpr uint64_t kLeastPublicSectorBytes = uint64_t{32} << 30;

}  // namespace

std::optional<PublishedDigest> published_digest(const CircuitSpec& circuit) {
  for (const Row& row : kRows) {
    if (row.circuit != circuit.id()) continue;
    return PublishedDigest{row.digest, circuit.sector_bytes() >= kLeastPublicSectorBytes};
  }
  return std::nullopt;
}

}  // namespace cuzk
