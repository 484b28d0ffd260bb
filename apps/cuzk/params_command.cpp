#include <filesystem>

#include "cuzk/command_line.hpp"
#include "cuzk/device_option.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/parameters.hpp"
#include "groth16/device_params_check.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

struct ParamsOptions {
  std::string file;
  std::string circuit;
  std::string directory;
  bool quick = false;
  bool subgroup = false;
  std::string device = "auto";
};

// The file to look at, and what is known about it.
struct Target {
  std::string path;
  const CircuitSpec* circuit = nullptr;  // nullptr: any circuit's
  bool is_vk = false;
};

Result<Target> resolve(const ParamsOptions& options, Console& console) {
  Target target;
  if (!options.circuit.empty()) {
    CUZK_ASSIGN(target.circuit, circuit_by_id(options.circuit));
    const ParameterFiles files = parameter_files(*target.circuit, parameter_directory(options.directory));
    hint_at_parameters(console, *target.circuit, files);
    target.path = files.params;
  }
  if (!options.file.empty()) target.path = options.file;
  if (target.path.empty()) return Error(ErrorClass::kUsage, "name a FILE, or a circuit with --circuit");
  target.is_vk = target.path.ends_with(".vk");
  return target;
}

Json shape_json(const SrsShape& shape) {
  Json json = Json::object();
  for (const Section section : kSections) json[to_string(section)] = shape.count(section);
  return json;
}

std::string shape_text(const SrsShape& shape) {
  std::string text;
  for (const Section section : kSections) {
    text += "\n  " + std::string(to_string(section)) + std::string(6 - std::string(to_string(section)).size(), ' ') +
            grouped(shape.count(section)) + " points at offset " + grouped(section_offset(shape, section));
  }
  return text;
}

Result<uint64_t> checked_length(const std::string& path) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return source->size();
}

Result<Outcome> inspect_vk(const Target& target) {
  CUZK_ASSIGN(const VerifyingKey vk, read_vk(target.path));
  CUZK_ASSIGN(const uint64_t bytes, checked_length(target.path));
  Outcome outcome;
  outcome.text =
      target.path + ": verifying key, " + human_bytes(bytes) + ", " + grouped(vk.ic.size()) + " inputs (ONE included)";
  outcome.json = {{"file", target.path}, {"bytes", bytes}, {"kind", "vk"}, {"points", {{"ic", vk.ic.size()}}}};
  return outcome;
}

Result<Outcome> inspect(const ParamsOptions& options, Console& console) {
  CUZK_ASSIGN(const Target target, resolve(options, console));
  if (target.is_vk) return inspect_vk(target);
  CUZK_ASSIGN(const SrsShape shape, inspect_params(target.path));
  CUZK_ASSIGN(const uint64_t bytes, checked_length(target.path));
  Outcome outcome;
  outcome.text = target.path + ": parameters, " + human_bytes(bytes) + shape_text(shape);
  outcome.json = {{"file", target.path}, {"bytes", bytes}, {"kind", "params"}, {"points", shape_json(shape)}};
  return outcome;
}

// The key at the head of the parameters and the .vk file beside them must be the same.
Status check_vk_beside(const std::string& params_path, const VerifyingKey& vk, bool* present) {
  const std::string vk_path = std::filesystem::path(params_path).replace_extension(".vk").string();
  std::error_code ignored;
  *present = std::filesystem::exists(vk_path, ignored);
  if (!*present) return {};
  CUZK_ASSIGN(const VerifyingKey beside, read_vk(vk_path));
  if (beside == vk) return {};
  return Error(ErrorClass::kCorrupt, "the verifying key differs from the one in " + params_path).in_file(vk_path);
}

// Every point, on a device; the key of the file.
Result<VerifyingKey> check_points(const std::string& path, const SrsShape& shape, const ParamsReadOptions& read,
                                  const std::string& device_name, Console& console) {
  CUZK_ASSIGN(const DeviceChoice device, find_device_option(device_name));
  if (!device.gpu) {
    CUZK_TRY(check_parameters_memory(shape));
    CUZK_ASSIGN(Srs srs, read_params(path, read, console.progress()));
    return std::move(srs.vk);
  }
  CUZK_ASSIGN(const auto source, open_file_source(path));
  CUZK_ASSIGN(VerifyingKey vk, read_params_vk(*source));
  CUZK_TRY(check_params_on_gpu(*device.gpu, *source, shape, read.check, console.progress()));
  return vk;
}

Result<Outcome> check(const ParamsOptions& options, Console& console) {
  CUZK_ASSIGN(const Target target, resolve(options, console));
  if (target.is_vk) {
    CUZK_ASSIGN(Outcome outcome, inspect_vk(target));
    outcome.text += ": sound";
    outcome.json["checked"] = "subgroup";
    return outcome;
  }
  ParamsReadOptions read;
  read.check = options.subgroup ? PointCheck::kSubgroup : PointCheck::kOnCurve;
  if (target.circuit != nullptr) read.expected = target.circuit->counts().srs_shape();
  CUZK_ASSIGN(const SrsShape shape, inspect_params(target.path, read.expected));
  VerifyingKey vk;
  if (options.quick) {
    CUZK_ASSIGN(vk, read_params_vk(target.path));
  } else {
    CUZK_ASSIGN(vk, check_points(target.path, shape, read, options.device, console));
  }
  bool vk_beside = false;
  CUZK_TRY(check_vk_beside(target.path, vk, &vk_beside));
  const std::string checked = options.quick      ? "length and verifying key"
                              : options.subgroup ? "every point, subgroups included"
                                                 : "every point on its curve";
  Outcome outcome;
  outcome.text = target.path + ": sound (" + checked + (vk_beside ? ", same key as the .vk file beside it)" : ")");
  outcome.json = {{"file", target.path},
                  {"bytes", params_file_bytes(shape)},
                  {"points", shape_json(shape)},
                  {"checked", options.quick      ? "length"
                              : options.subgroup ? "subgroup"
                                                 : "on-curve"},
                  {"vk_file_agrees", vk_beside ? Json(true) : Json(nullptr)}};
  if (target.circuit != nullptr) outcome.json["circuit"] = std::string(target.circuit->id());
  return outcome;
}

void add_target_options(CLI::App* command, ParamsOptions& options) {
  command->add_option("file", options.file, "A .params or .vk file")->type_name("FILE");
  command->add_option("--circuit", options.circuit, "The circuit it must fit; without FILE, also names the file");
  command->add_option("--dir", options.directory,
                      "Folder of the parameters; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
}

}  // namespace

void add_params_commands(CommandLine& line) {
  CLI::App* group = line.add_group("params", "Looks at parameter files");
  const auto options = std::make_shared<ParamsOptions>();
  CLI::App* inspect_command =
      line.add(group, "inspect", "Tells what is in a .params or .vk file, reading its head only",
               "  cuzk params inspect --circuit porep-2k --dir D\n  cuzk params inspect some.params --json\n",
               [options](Console& console) { return inspect(*options, console); });
  add_target_options(inspect_command, *options);
  CLI::App* check_command = line.add(group, "check", "Checks a .params or .vk file: length, counts, every point",
                                     "  cuzk params check --circuit porep-2k --dir D\n"
                                     "  cuzk params check --circuit porep-2k --dir D --subgroup --device auto\n"
                                     "  cuzk params check some.params --quick\n",
                                     [options](Console& console) { return check(*options, console); });
  add_target_options(check_command, *options);
  CLI::Option* quick = check_command->add_flag("--quick", options->quick, "Only length, counts and verifying key");
  check_command
      ->add_flag("--subgroup", options->subgroup, "Also that every point is in the prime-order subgroup (slow)")
      ->excludes(quick);
  add_device_option(check_command, options->device);
}

}  // namespace cuzk::app
