#include <array>

#include "base/hex.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/parameters.hpp"

namespace cuzk::app {
namespace {

struct CircuitOptions {
  std::string id;
  uint32_t challenges = 0;  // 0: as many as a partition has
};

Json counts_json(const PorepShape& shape, const CircuitCounts& counts) {
  return {{"circuit", std::string(shape.circuit_id)},
          {"inputs", counts.inputs},
          {"aux", counts.aux},
          {"constraints", counts.constraints},
          {"log2_domain", counts.log2_domain()}};
}

Result<Outcome> info(const CircuitOptions& options) {
  CUZK_ASSIGN(const PorepShape* shape, shape_by_circuit_id(options.id));
  const CircuitCounts counts = porep_circuit_counts(*shape, shape->challenges);
  const std::string stem = porep_parameter_file_stem(*shape);
  Outcome outcome;
  outcome.json = counts_json(*shape, counts);
  outcome.json["sector_bytes"] = shape->sector_bytes();
  outcome.json["layers"] = shape->layers;
  outcome.json["partitions"] = shape->partitions;
  outcome.json["challenges_per_partition"] = shape->challenges;
  outcome.json["proof_bytes"] = 192 * shape->partitions;
  outcome.json["published"] = shape->published;
  outcome.json["params_file"] = stem + ".params";
  outcome.json["vk_file"] = stem + ".vk";
  outcome.text = std::string(shape->circuit_id) + ": PoRep of " + std::string(shape->name) + " sectors, " +
                 std::to_string(shape->partitions) + " partition(s) of " + std::to_string(shape->challenges) +
                 " challenges, " + std::to_string(shape->layers) + " layers\n  constraints  " +
                 grouped(counts.constraints) + "\n  aux wires    " + grouped(counts.aux) + "\n  inputs       " +
                 grouped(counts.inputs) + " (ONE included)\n  domain       2^" + std::to_string(counts.log2_domain()) +
                 "\n  parameters   " + stem + ".params" +
                 (shape->published ? "" : "\n               (a test size: none were ever published)");
  return outcome;
}

Result<Outcome> list() {
  Outcome outcome;
  Json circuits = Json::array();
  for (const PorepShape& shape : porep_shapes()) {
    const CircuitCounts counts = porep_circuit_counts(shape, shape.challenges);
    circuits.push_back(counts_json(shape, counts));
    if (!outcome.text.empty()) outcome.text += '\n';
    const std::string id(shape.circuit_id);
    outcome.text += id + std::string(12 - std::min<size_t>(11, id.size()), ' ') + grouped(counts.constraints) +
                    " constraints a partition, " + std::to_string(shape.partitions) + " partition(s)";
  }
  outcome.json = {{"circuits", circuits}};
  return outcome;
}

Result<Outcome> digest(const CircuitOptions& options, Console& console) {
  CUZK_ASSIGN(const PorepShape* shape, shape_by_circuit_id(options.id));
  const uint32_t challenges = options.challenges == 0 ? shape->challenges : options.challenges;
  const CircuitSummary result = porep_digest(*shape, challenges, console.progress());
  Outcome outcome;
  outcome.text = to_hex(result.r1cs_digest) + "  " + std::string(shape->circuit_id) + ", " +
                 std::to_string(challenges) + " challenge(s): " + grouped(result.num_constraints) + " constraints, " +
                 grouped(result.num_aux) + " aux, " + std::to_string(result.num_inputs) + " inputs; densities a_aux " +
                 grouped(result.a_aux_density) + ", b_input " + grouped(result.b_input_density) + ", b_aux " +
                 grouped(result.b_aux_density);
  outcome.json = {{"circuit", std::string(shape->circuit_id)},
                  {"challenges", challenges},
                  {"digest", to_hex(result.r1cs_digest)},
                  {"inputs", result.num_inputs},
                  {"aux", result.num_aux},
                  {"constraints", result.num_constraints},
                  {"a_aux_density", result.a_aux_density},
                  {"b_input_density", result.b_input_density},
                  {"b_aux_density", result.b_aux_density}};
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
               "  cuzk circuit digest porep-32g --challenges 1\n",
               [options](Console& console) { return digest(*options, console); });
  for (CLI::App* command : {info_command, digest_command}) {
    command->add_option("circuit", options->id, "porep-2k, porep-8m, porep-512m, porep-32g, porep-64g, ...")
        ->required();
  }
  digest_command->add_option("--challenges", options->challenges, "Challenges to synthesise; default: a partition's")
      ->check(CLI::Range(1U, 18U));
}

}  // namespace cuzk::app
