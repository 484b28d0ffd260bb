#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/hex.hpp"
#include "base/random.hpp"
#include "base/secret.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/device_option.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/read_file.hpp"
#include "groth16/device_setup_file.hpp"
#include "groth16/setup.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

using Seed = Secret<std::array<uint8_t, 32>>;

struct SetupOptions {
  std::string circuit;
  std::string directory;
  std::string seed;
  std::string seed_file;
  bool force = false;
  CacheOptions cache;
  std::string device = "auto";
};

Result<Seed> parse_seed(std::string text, const std::string& where) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  const auto bytes = from_hex(text);
  Seed seed;
  const bool sound = bytes && bytes->size() == seed.expose().size();
  if (sound) std::copy(bytes->begin(), bytes->end(), seed.expose().begin());
  secure_clear(text.data(), text.size());
  if (!sound) return Error(ErrorClass::kUsage, where + " must be 64 hexadecimal digits");
  return seed;
}

Result<Seed> choose_seed(const SetupOptions& options) {
  if (!options.seed.empty()) return parse_seed(options.seed, "--seed");
  if (!options.seed_file.empty()) {
    CUZK_ASSIGN(const PaddedBuffer content, read_any_file(options.seed_file, 4096));
    return parse_seed(std::string(content.bytes().begin(), content.bytes().end()), "the content of --seed-file");
  }
  Seed seed;
  CUZK_TRY(os_random(seed.expose()));
  return seed;
}

Status prepare_directory(const ParameterFiles& files, bool force) {
  std::error_code failure;
  std::filesystem::create_directories(files.directory, failure);
  if (failure) return Error(ErrorClass::kIo, "cannot make this folder: " + failure.message()).in_file(files.directory);
  for (const std::string& path : {files.params, files.vk}) {
    if (!force && std::filesystem::exists(path, failure)) {
      return Error(ErrorClass::kUsage, "exists already, and could be Filecoin's own; --force replaces it")
          .in_file(path);
    }
  }
  return {};
}

Status check_space(const std::string& directory, uint64_t needed_bytes) {
  struct statvfs info {};
  if (statvfs(directory.c_str(), &info) != 0) return {};
  const uint64_t free_bytes = uint64_t{info.f_bavail} * info.f_frsize;
  if (free_bytes >= needed_bytes) return {};
  return Error(ErrorClass::kResource, "the parameters take " + human_bytes(needed_bytes) + ", and the disk has " +
                                          human_bytes(free_bytes) + " left")
      .in_file(directory);
}

Result<Outcome> run_setup(const SetupOptions& options, Console& console) {
  CUZK_ASSIGN(const CircuitSpec* spec, circuit_by_id(options.circuit));
  CUZK_ASSIGN(const Seed seed, choose_seed(options));
  const bool reproducible = !options.seed.empty() || !options.seed_file.empty();
  CUZK_ASSIGN(const DeviceChoice device, find_device_option(options.device));
  CUZK_TRY(check_setup_memory(*spec));
  const ParameterFiles files = parameter_files(*spec, parameter_directory(options.directory));
  CUZK_TRY(prepare_directory(files, options.force));
  const SrsShape points = spec->counts().srs_shape();
  CUZK_TRY(check_space(files.directory, params_file_bytes(points) + vk_file_bytes(points.ic)));
  console.warn(
      "WARNING: parameters for DEVELOPMENT ONLY. Whoever knows the seed can forge proofs that these parameters "
      "accept;\n"
      "         Filecoin accepts no proof made with them. Real parameters come from Filecoin's ceremony.");

  CUZK_ASSIGN(const CachedCircuit loaded, load_circuit(*spec, options.cache, console));
  const CompiledCircuit& circuit = loaded.circuit;
  // The key last: where it is, the parameters are complete.
  std::filesystem::remove(files.vk);
  const ToxicWaste toxic = toxic_waste_from_seed(seed.expose());
  CUZK_ASSIGN(const VerifyingKey vk,
              device.gpu ? setup_to_file_on_gpu(*device.gpu, circuit, toxic, files.params, console.progress())
                         : setup_to_file(circuit, toxic, files.params, console.progress()));
  CUZK_TRY(write_vk(files.vk, vk));

  Outcome outcome;
  outcome.text = "wrote " + files.params + " (" + human_bytes(params_file_bytes(points)) + ")\nwrote " + files.vk +
                 " (" + human_bytes(vk_file_bytes(points.ic)) + ")\nfor development only, " +
                 (reproducible ? "reproducible from the seed" : "from a random seed that is forgotten now");
  outcome.json = {{"circuit", std::string(spec->id())},
                  {"development_only", true},
                  {"warning", "whoever knows the seed can forge proofs; Filecoin accepts no proof made with these"},
                  {"seed", reproducible ? "given" : "random, forgotten"},
                  {"params_file", files.params},
                  {"params_bytes", params_file_bytes(points)},
                  {"vk_file", files.vk},
                  {"vk_bytes", vk_file_bytes(points.ic)},
                  {"circuit_source", to_string(loaded.source)},
                  {"device", device.device}};
  return outcome;
}

}  // namespace

void add_setup_command(CommandLine& line) {
  const auto options = std::make_shared<SetupOptions>();
  CLI::App* command = line.add(nullptr, "setup", "Makes parameters from a seed, for development only",
                               "  cuzk setup --circuit porep-2k --dir D\n"
                               "  cuzk setup --circuit porep-2k --dir D --seed-file seed.hex --json\n",
                               [options](Console& console) { return run_setup(*options, console); });
  command->add_option("--circuit", options->circuit, "porep-2k, window-32g, ...: see `cuzk circuit list`")->required();
  command->add_option("--dir", options->directory,
                      "Folder for the files; default: $FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  CLI::Option* seed = command->add_option(
      "--seed", options->seed, "32 bytes as hexadecimal digits; default: random. Other users can see it: --seed-file");
  command->add_option("--seed-file", options->seed_file, "A file with those digits")->excludes(seed);
  add_cache_options(command, options->cache);
  add_device_option(command, options->device);
  command->add_flag("--force", options->force, "Replaces files that exist");
}

}  // namespace cuzk::app
