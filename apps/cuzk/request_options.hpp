// The options that say what is to be proved, for `prove` and `verify`; those of the reference's bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "cuzk/command_line.hpp"
#include "filecoin/proof_request.hpp"

namespace cuzk::app {

struct RequestOptions {
  std::string kind;
  std::string c1;
  std::string vanilla;
  std::string registered_proof;  // number or name
  std::optional<uint64_t> sector, miner_id;
  std::optional<uint32_t> partition;
  std::string randomness, comm_r_old, comm_r_new, comm_d_new;  // hexadecimal
};
enum class RequestUse {
  kProve,
  kVerify,
  kSubmit,  // to a daemon: as the reference's bench, with -t and --type for --kind
};

void add_request_options(CLI::App* command, RequestOptions& options, RequestUse use);

// The kind of that name, in any case. Errors: kUsage, with those that there are.
Result<ProofKind> parse_kind(const std::string& text);

// Reads what the options name, and refuses what contradicts itself: everything that can be seen without hashing, and
// with --miner-id the replica id. Errors: kUsage where an option is missing or belongs to another kind; kNotFound, kIo;
// kInvalidInput with the field. To verify an update its vanilla proofs are not needed; without --vanilla the request
// has none, and only public_inputs() may be asked of it.
Result<ProofRequest> read_request(const RequestOptions& options, RequestUse use, Progress& progress);

// What is to be said of a request in JSON.
void describe_request(const ProofRequest& request, Json& json);

}  // namespace cuzk::app
