// Reader and writer of the C1 JSON, the output of PoRep's seal commit phase 1.
//
// Wrapper (lotus and curio): {"SectorNum":int,"Phase1Out":"<base64 of the inner document>","SectorSize":int}.
// Inner document: serde_json of SealCommitPhase1Output (rust-filecoin-proofs-api seal.rs); Go writes the same with
// other key orders. Both forms are read; which one it is follows from the keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "filecoin/porep_vanilla.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk {

// The longest document that is read: non-interactive proofs of 64 GiB sectors have about 650 MB of base64.
inline constexpr uint64_t kMaxPorepC1Bytes = uint64_t{2} << 30;
// The longest one that begins so: 1 MiB where that is no object, enough to say what it is.
uint64_t max_porep_c1_bytes(std::span<const uint8_t> head);

// Reads the wrapper or the bare inner document. Keys may come in any order, unknown ones are ignored ("_h" too),
// repeated ones refused. Guaranteed afterwards: every count, arity and variant is that of the registered proof, every
// field element is canonical, path indices are below their arity and nodes below the sector's, layer indices are 1..L,
// the challenge's node is one number, SectorSize and the vanilla_proofs tag agree with the registered proof, comm_d,
// comm_r and seed are not all zero, all comm_d proofs have the root comm_d, and all tree C (tree R) proofs of the file
// have one root. Not checked: hashes; see validate_porep_vanilla. Errors: kInvalidInput with the field's path, the
// partition, and the offset in `document` (of the base64 group, inside the wrapper). 51 MB take about 0.2 s.
Result<PorepC1> read_porep_c1(const PaddedBuffer& document);
// As above, from bytes without padding; copies them.
Result<PorepC1> read_porep_c1(std::span<const uint8_t> document);

// The registered proof that a document, wrapper or bare, names in its first 16 KiB, where everybody writes it; nullptr
// where it does not. A guess before all of it is read: a document with the keys of both forms may turn out to be of
// another one. Microseconds.
const RegisteredSealProof* porep_c1_proof_in_head(std::span<const uint8_t> document);

// The inner document as serde_json writes it: compact, upstream's key order, "_h":null present.
std::string write_porep_c1_inner(const PorepC1& c1);
// The wrapper around an inner document, as Go writes it.
std::string write_porep_c1_wrapper(std::span<const uint8_t> inner, uint64_t sector_number, uint64_t sector_bytes);

}  // namespace cuzk
