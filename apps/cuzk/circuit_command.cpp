#include <array>

#include "base/hex.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/parameters.hpp"
#include "filecoin/porep_prove.hpp"
#include "filecoin/post_circuit.hpp"
#include "srs/layout.hpp"

namespace cuzk::app {
namespace {

struct CircuitOptions {
  std::string id;
  uint32_t challenges = 0, sectors = 0;  // 0: as many as a partition has
};

const char* long_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "PoRep";
    case ProofKind::kSnap: return "SnapDeals update";
    case ProofKind::kWindow: return "Window PoSt";
    case ProofKind::kWinning: return "Winning PoSt";
  }
  return "?";
}

Json counts_json(const CircuitSpec& spec) {
  const CircuitCounts counts = spec.counts();
  return {{"circuit", std::string(spec.id())},
          {"kind", std::string(to_string(spec.kind()))},
          {"sector_bytes", spec.sector_bytes()},
          {"partitions", spec.partitions()},
          {"inputs", counts.inputs},
          {"aux", counts.aux},
          {"constraints", counts.constraints},
          {"log2_domain", counts.log2_domain()}};
}

// What only one kind of circuit has: for the text, and as keys.
std::string details(const CircuitSpec& spec, Json& json) {
  if (const auto* porep = std::get_if<const PorepShape*>(&spec.shape())) {
    json["layers"] = (*porep)->layers;
    json["partitions_non_interactive"] = (*porep)->partitions_ni;
    return ", " + std::to_string((*porep)->layers) + " layers";
  }
  if (const auto* post = std::get_if<const PostShape*>(&spec.shape())) {
    json["sectors_per_partition"] = (*post)->max_real_sectors();
    return " over " + grouped((*post)->max_real_sectors()) + " sector(s)";
  }
  return "";
}

Result<Outcome> info(const CircuitOptions& options) {
  CUZK_ASSIGN(const CircuitSpec* spec, circuit_by_id(options.id));
  const CircuitCounts counts = spec->counts();
  const uint64_t params_bytes = params_file_bytes(counts.srs_shape());
  const std::string stem = spec->parameter_file_stem();
  Outcome outcome;
  outcome.json = counts_json(*spec);
  const std::string more = details(*spec, outcome.json);
  outcome.json["challenges_per_partition"] = spec->challenges();
  outcome.json["a_aux_density"] = counts.a_aux_density;
  outcome.json["b_input_density"] = counts.b_input_density;
  outcome.json["b_aux_density"] = counts.b_aux_density;
  outcome.json["witness_bits"] = counts.bits;
  outcome.json["witness_fields"] = counts.fields;
  outcome.json["proof_bytes"] = 192 * spec->partitions();
  outcome.json["published"] = spec->published();
  outcome.json["params_file"] = stem + ".params";
  outcome.json["params_bytes"] = params_bytes;
  outcome.json["vk_file"] = stem + ".vk";
  outcome.text = std::string(spec->id()) + ": " + long_name(spec->kind()) + " of " +
                 std::string(spec->sector_size_name()) + " sectors, " + std::to_string(spec->partitions()) +
                 " partition(s) of " + grouped(spec->challenges()) + " challenges" + more + "\n  constraints  " +
                 grouped(counts.constraints) + "\n  aux wires    " + grouped(counts.aux) + "\n  inputs       " +
                 grouped(counts.inputs) + " (ONE included)\n  domain       2^" + std::to_string(counts.log2_domain()) +
                 "\n  parameters   " + stem + ".params (" + human_bytes(params_bytes) + ")" +
                 (spec->published() ? "" : "\n               (a test size: none were ever published)");
  return outcome;
}

Result<Outcome> list() {
  Outcome outcome;
  Json circuits = Json::array();
  for (const CircuitSpec& spec : circuit_specs()) {
    circuits.push_back(counts_json(spec));
    if (!outcome.text.empty()) outcome.text += '\n';
    const std::string id(spec.id());
    outcome.text += id + std::string(14 - std::min<size_t>(13, id.size()), ' ') + grouped(spec.counts().constraints) +
                    " constraints a partition, " + std::to_string(spec.partitions()) + " partition(s)";
  }
  outcome.json = {{"circuits", circuits}};
  return outcome;
}

// The digest of the whole circuit, or of one with fewer challenges or sectors; `size` says of how many.
Result<CircuitSummary> digest_of(const CircuitOptions& options, const CircuitSpec& spec, Console& console,
                                 std::string& size) {
  const auto* porep = std::get_if<const PorepShape*>(&spec.shape());
  const auto* post = std::get_if<const PostShape*>(&spec.shape());
  if (options.challenges != 0 && porep == nullptr) {
    return Error(ErrorClass::kUsage, "--challenges is for PoRep circuits; PoSt circuits have --sectors");
  }
  if (options.sectors != 0 && (post == nullptr || options.sectors > (*post)->sectors)) {
    return Error(ErrorClass::kUsage, "--sectors is for PoSt circuits, and at most those that the circuit has");
  }
  if (options.challenges != 0) {
    size = std::to_string(options.challenges) + " challenge(s)";
    return porep_digest(**porep, options.challenges, console.progress());
  }
  if (options.sectors != 0) {
    size = std::to_string(options.sectors) + " sector(s)";
    return post_digest(**post, options.sectors, console.progress());
  }
  size = std::to_string(spec.challenges()) + " challenge(s)";
  return spec.digest(console.progress());
}

Result<Outcome> digest(const CircuitOptions& options, Console& console) {
  CUZK_ASSIGN(const CircuitSpec* spec, circuit_by_id(options.id));
  std::string size;
  CUZK_ASSIGN(const CircuitSummary result, digest_of(options, *spec, console, size));
  Outcome outcome;
  outcome.text = to_hex(result.r1cs_digest) + "  " + std::string(spec->id()) + ", " + size + ": " +
                 grouped(result.num_constraints) + " constraints, " + grouped(result.num_aux) + " aux, " +
                 std::to_string(result.num_inputs) + " inputs; densities a_aux " + grouped(result.a_aux_density) +
                 ", b_input " + grouped(result.b_input_density) + ", b_aux " + grouped(result.b_aux_density);
  outcome.json = {{"circuit", std::string(spec->id())}};
  if (options.sectors != 0) {
    outcome.json["sectors"] = options.sectors;
  } else {
    outcome.json["challenges"] = options.challenges != 0 ? options.challenges : spec->challenges();
  }
  outcome.json["digest"] = to_hex(result.r1cs_digest);
  outcome.json["inputs"] = result.num_inputs;
  outcome.json["aux"] = result.num_aux;
  outcome.json["constraints"] = result.num_constraints;
  outcome.json["a_aux_density"] = result.a_aux_density;
  outcome.json["b_input_density"] = result.b_input_density;
  outcome.json["b_aux_density"] = result.b_aux_density;
  return outcome;
}

}  // namespace

void add_circuit_commands(CommandLine& line) {
  CLI::App* group = line.add_group("circuit", "Looks at circuits");
  const auto options = std::make_shared<CircuitOptions>();
  line.add(group, "list", "Lists the circuits", "  cuzk circuit list\n", [](Console&) { return list(); });
  CLI::App* info_command = line.add(group, "info", "Tells the sizes of a circuit and the names of its parameter files",
                                    "  cuzk circuit info porep-32g\n  cuzk circuit info porep-2k --json\n",
                                    [options](Console&) { return info(*options); });
  CLI::App* digest_command =
      line.add(group, "digest", "Synthesises a circuit and tells the SHA-256 of its constraints, counts and densities",
               "  cuzk circuit digest porep-2k\n  cuzk circuit digest porep-32g --json\n"
               "  cuzk circuit digest porep-32g --challenges 1\n  cuzk circuit digest window-32g --sectors 1\n",
               [options](Console& console) { return digest(*options, console); });
  for (CLI::App* command : {info_command, digest_command}) {
    command
        ->add_option("circuit", options->id,
                     "porep-32g, snap-32g, window-32g, winning-32g, ...: see `cuzk circuit list`")
        ->required();
  }
  digest_command
      ->add_option("--challenges", options->challenges, "PoRep: challenges to synthesise; default: a partition's")
      ->check(CLI::Range(1U, 18U));
  digest_command->add_option("--sectors", options->sectors, "PoSt: sectors to synthesise; default: a partition's")
      ->check(CLI::Range(1U, 2349U));
}

}  // namespace cuzk::app
