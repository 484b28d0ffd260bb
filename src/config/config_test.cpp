#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/document.hpp"
#include "config/load.hpp"
#include "config/nearest.hpp"

namespace cuzk {
namespace {

LoadedConfig from_file(const std::string& text) { return load_config({.file_name = "c.toml", .file_text = text}); }
LoadedConfig from_environment(std::map<std::string, std::string> variables) {
  return load_config({.environment = std::move(variables)});
}

// "error c.toml:2:1: ..." of each finding, a line each.
std::string findings(const LoadedConfig& loaded) {
  std::string out;
  for (const ConfigFinding& f : loaded.findings) {
    out += (f.severity == ConfigFinding::Severity::kError ? "error " : "warning ") + f.text() + "\n";
  }
  return out;
}

TEST(Quantity, SizesAreReadAsWritten) {
  const std::map<std::string, uint64_t> sizes = {{"0", 0},
                                                 {"123", 123},
                                                 {"123B", 123},
                                                 {"1KiB", 1024},
                                                 {"1 KiB", 1024},
                                                 {" 2MiB ", 2097152},
                                                 {"50GiB", 50 * kGiB},
                                                 {"1TiB", 1024 * kGiB},
                                                 {"1.5GiB", kGiB + kGiB / 2},
                                                 {"0.1KiB", 102},
                                                 {"1KB", 1000},
                                                 {"1kB", 1000},
                                                 {"3MB", 3000000},
                                                 {"50GB", 50000000000},
                                                 {"1.25TB", 1250000000000},
                                                 {"8388607TiB", uint64_t{8388607} * 1024 * kGiB}};
  for (const auto& [text, bytes] : sizes) {
    const auto size = parse_size(text);
    ASSERT_TRUE(size.ok()) << text;
    EXPECT_EQ(size->bytes, bytes) << text;
    EXPECT_EQ(parse_size(format_size(*size))->bytes, bytes) << text;
  }
}

TEST(Quantity, WrongSizesAreRefused) {
  for (const char* text : {"",
                           " ",
                           "GiB",
                           "-1",
                           "-1GiB",
                           "1.5",
                           "1.GiB",
                           ".5GiB",
                           "1..5GiB",
                           "1,5GiB",
                           "1gib",
                           "1GiBs",
                           "1 G",
                           "1G",
                           "1e3",
                           "0x10",
                           "1 GiB GiB",
                           "8388608TiB",
                           "18446744073709551616",
                           "99999999999999999999GiB",
                           "inf",
                           "1\nGiB"}) {
    const auto size = parse_size(text);
    EXPECT_FALSE(size.ok()) << text;
    if (size.ok()) continue;
    EXPECT_EQ(size.error().error_class, ErrorClass::kInvalidInput);
  }
}

TEST(Quantity, Durations) {
  const std::map<std::string, int64_t> durations = {{"0", 0},          {"60", 60000},     {"5m", 300000},
                                                    {"300s", 300000},  {"1.5h", 5400000}, {"250ms", 250},
                                                    {"2d", 172800000}, {"0.5", 500},      {"1 m", 60000}};
  for (const auto& [text, ms] : durations) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration.ok()) << text;
    EXPECT_EQ(duration->count(), ms) << text;
    EXPECT_EQ(parse_duration(format_duration(*duration))->count(), ms) << text;
  }
  for (const char* text : {"", "m", "-5m", "5min", "5 minutes", "5M", "1m30s", "1.s", "99999999999999999999d"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
  EXPECT_EQ(format_duration(std::chrono::minutes(5)), "5m");
  EXPECT_EQ(format_duration(Duration(0)), "0ms");
  EXPECT_EQ(format_size({5 * kGiB}), "5GiB");
  EXPECT_EQ(format_size({1536 * kMiB}), "1536MiB");
  EXPECT_EQ(format_size({999}), "999");
}

TEST(Nearest, Distance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("listen", "lsiten"), 1U);
  EXPECT_EQ(edit_distance("listen", "listn"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(nearest_name("totl_budget", {"safety_margin", "total_budget"}), "total_budget");
  EXPECT_EQ(nearest_name("frobnicate", {"safety_margin", "total_budget"}), std::nullopt);
}

TEST(Document, PlacesAndKinds) {
  const TomlDocument document = read_toml("[b]\nx = 'y'\n\n[a]\n  k = [1, \"two\", 2024-01-01]\nf = 1.5\n[empty]\n");
  ASSERT_TRUE(document.syntax_error.empty());
  ASSERT_EQ(document.entries.size(), 4U);
  EXPECT_EQ(document.entries[0].path, (std::vector<std::string>{"b", "x"}));
  EXPECT_EQ(document.entries[1].line, 5U);
  EXPECT_EQ(document.entries[1].column, 3U);
  EXPECT_EQ(std::get<1>(document.entries[1].value).size(), 3U);
  EXPECT_TRUE(document.entries[3].is_table);
  const TomlDocument broken = read_toml("[a]\nx = \n");
  EXPECT_FALSE(broken.syntax_error.empty());
  // Where toml++ would run into undefined behaviour, which the fuzzer found.
  const TomlDocument misplaced = read_toml("a = 1 # \u00e4\nb = \"\\\"\u00e4\" \u024f = 2\n");
  EXPECT_EQ(misplaced.syntax_error, "a character that is not ASCII is outside of strings and comments");
  EXPECT_EQ(misplaced.error_line, 2U);
  EXPECT_EQ(misplaced.error_column, 12U);
  for (const char* good :
       {"a = '\u024f'", "a = \"\"\"\u024f\"\"\u024f\"\"\"\"\"", "\xef\xbb\xbf\"\u024f\" = '''\u024f'''"}) {
    EXPECT_EQ(read_toml(good).syntax_error, "") << good;
  }
  EXPECT_EQ(broken.error_line, 2U);
  EXPECT_EQ(toml_quoted("a\"b\\c\n\x7f"), "\"a\\\"b\\\\c\\u000A\\u007F\"");
}

TEST(Keys, TableIsSound) {
  std::set<std::string> names, variables, tables;
  std::string_view table;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(names.insert(std::string(key.name)).second) << key.name;
    EXPECT_TRUE(variables.insert(key.variable()).second) << key.name;
    EXPECT_EQ(std::count(key.name.begin(), key.name.end(), '.'), 1) << key.name;
    EXPECT_TRUE(key.doc.ends_with('.')) << key.name;
    const bool begins = key.table() != table;
    EXPECT_EQ(tables.insert(std::string(key.table())).second, begins) << "keys of a table stand together";
    table = key.table();
    if (key.use != KeyUse::kUsed) continue;
    // Each default is allowed, and comes back as what it was.
    const std::string line = "[" + std::string(key.table()) + "]\n" +
                             std::string(key.name.substr(key.name.find('.') + 1)) + " = " + toml_default(key);
    const LoadedConfig loaded = from_file(line);
    EXPECT_EQ(findings(loaded), "") << line;
    EXPECT_EQ(loaded.values.at(std::string(key.name)), toml_default(key));
  }
  EXPECT_EQ(config_key("memory.total_budget")->variable(), "CUZK_MEMORY_TOTAL_BUDGET");
  EXPECT_EQ(config_key("memory"), nullptr);
}

// Every key of the reference, as its example and documentation have them.
constexpr const char* kReferenceFile = R"([daemon]
listen = "0.0.0.0:9820"
status_listen = "0.0.0.0:9821"
[memory]
total_budget = "256GiB"
safety_margin = "8GB"
eviction_min_idle = "10m"
pinned_budget = "50GiB"
working_memory_budget = "80GiB"
[gpus]
devices = [0, 1]
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 8
partition_workers = 12
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 2
max_parallel_synthesis = 18
slot_size = 0
max_gpu_queue_depth = 8
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g"]
[logging]
level = "info"
format = "json"
)";

TEST(Load, ReferenceKeysMeanWhatTheyMeantThere) {
  const LoadedConfig loaded = from_file(kReferenceFile);
  EXPECT_TRUE(loaded.ok()) << findings(loaded);
  EXPECT_EQ(loaded.config.daemon_listen, std::vector<std::string>{"0.0.0.0:9820"});
  EXPECT_EQ(loaded.config.memory_total_budget->bytes, 256 * kGiB);
  EXPECT_EQ(loaded.config.memory_safety_margin.bytes, 8000000000U);
  EXPECT_EQ(loaded.config.memory_eviction_min_idle, std::chrono::minutes(10));
  EXPECT_EQ(loaded.config.gpus_devices.names, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(loaded.config.pipeline_max_gpu_queue_depth, 8U);
  EXPECT_EQ(loaded.config.logging_format, "json");
  std::string deprecated;
  for (const ConfigFinding& f : loaded.findings) {
    if (f.message.find("deprecated") != std::string::npos) deprecated += f.key + "@" + f.where + " ";
  }
  EXPECT_EQ(deprecated,
            "memory.pinned_budget@c.toml:8:1 memory.working_memory_budget@c.toml:9:1 "
            "synthesis.partition_workers@c.toml:20:1 srs.preload@c.toml:30:1 ");
  EXPECT_EQ(loaded.findings.size(), 4U + 8U);  // and what has no effect here
}

TEST(Load, DefaultsOfTheReference) {
  const LoadedConfig loaded = from_file("");
  EXPECT_EQ(findings(loaded), "");
  EXPECT_EQ(loaded.config.daemon_listen[0], "unix:///run/curio/cuzk.sock");
  EXPECT_EQ(loaded.config.memory_total_budget, std::nullopt);
  EXPECT_EQ(loaded.config.memory_safety_margin.bytes, 5 * kGiB);
  EXPECT_EQ(loaded.config.srs_param_cache, "/data/zk/params");
  EXPECT_EQ(loaded.config.daemon_status_listen, "");
}

TEST(Load, UnknownNamesAreRefusedWithPlaceAndSuggestion) {
  const std::map<std::string, std::string> cases = {
      {"[memory]\ntotal_budgt = '1GiB'",
       "c.toml:2:1: unknown key 'memory.total_budgt'; did you mean memory.total_budget?"},
      {"[memroy]\ntotal_budget = '1GiB'\nx = 1", "c.toml:2:1: unknown table [memroy]; did you mean [memory]?"},
      {"[server]\nlisten = 'x'", "c.toml:2:1: unknown table [server]; did you mean daemon.listen?"},
      {"listen = 'unix:///x'", "c.toml:1:1: unknown key 'listen'; did you mean daemon.listen?"},
      {"[srs]\ntotal_budget = '1GiB'", "c.toml:2:1: unknown key 'srs.total_budget'; did you mean memory.total_budget?"},
      {"[daemon]\nzzzzzz = 1", "c.toml:2:1: unknown key 'daemon.zzzzzz'"},
      {"daemon = 3", "c.toml:1:1: daemon is a table: write [daemon] and its keys below it"},
      {"[daemon.listen]\nx = 1", "c.toml:2:1: unknown key 'daemon.listen.x'"},
      {"[daemon.listen]", "c.toml:1:9: daemon.listen is no table: must be texts"},
  };
  for (const auto& [text, expected] : cases) {
    const LoadedConfig loaded = from_file(text);
    EXPECT_FALSE(loaded.ok()) << text;
    EXPECT_EQ(findings(loaded), "error " + expected + "\n") << text;
  }
  EXPECT_EQ(findings(from_file("[daemon]\n[memory]\n")), "");
}

TEST(Load, BadValuesAreRefused) {
  const std::map<std::string, std::string> cases = {
      {"[memory]\ntotal_budget = '1Gib'", "memory.total_budget: '1Gib' is no size"},
      {"[memory]\ntotal_budget = '1GiB '\neviction_min_idle = '5 minutes'", "'5 minutes' is no duration"},
      {"[memory]\ntotal_budget = 'Auto'", "'Auto' is no size"},
      {"[memory]\ntotal_budget = '1MiB'", "1MiB is too small: at least 64MiB"},
      {"[memory]\ntotal_budget = -5", "must be a size such as \"64GiB\", not a whole number"},
      {"[memory]\ntotal_budget = [1]", "not a list"},
      {"[memory]\neviction_min_idle = true", "must be a duration such as \"5m\", not a truth value"},
      {"[gpus]\ndevices = true", "must be a whole number, not a truth value"},
      {"[gpus]\ndevices = [-1]", "-1 is negative"},
      {"[gpus]\ndevices = [1024]", "1024 is too large"},
      {"[gpus]\ndevices = ['GPU-0a', '']", "has an empty item"},
      {"[gpus]\ndevices = ['1', 1]", "has 1 twice"},
      {"[gpus]\ndevices = [0, 0]", "has 0 twice"},
      {"[gpus]\ngpu_threads = -1", "-1 is negative"},
      {"[gpus]\ngpu_threads = 4097", "4097 is too large: at most 4096"},
      {"[gpus]\ngpu_threads = 1.5", "must be a whole number, not a decimal number"},
      {"[daemon]\nlisten = []", "daemon.listen names no address"},
      {"[daemon]\nlisten = ['']", "has an empty item"},
      {"[daemon]\nlisten = 1979-05-27", "not a date, a time or a table"},
      {"[daemon]\nsocket_mode = '999'", "'999' is no mode of three octal digits"},
      {"[daemon]\nsocket_mode = ''", "'' is no mode"},
      {"[daemon]\nallow_insecure = 'yes'", "must be true or false, not text"},
      {"[logging]\nlevel = 'wran'", "'wran' is none of trace, debug, info, warn, error; did you mean 'warn'?"},
      {"[tls]\nkey = 'k'", "c.toml:2: tls.key needs tls.certificate beside it"},
      {"[tls]\ncertificate = 'k'", "c.toml:2: tls.certificate needs tls.key beside it"},
      {"[tls]\nclient_ca = 'k'", "tls.client_ca needs tls.certificate"},
      {"[daemon]\nlisten = 'a'\nlisten = 'b'", "is no TOML"},
      {"[daemon\n", "c.toml:1:"},
      {"\xff\xfe", "is no TOML"},
  };
  for (const auto& [text, expected] : cases) {
    const LoadedConfig loaded = from_file(text);
    EXPECT_FALSE(loaded.ok()) << text;
    EXPECT_NE(findings(loaded).find(expected), std::string::npos) << text << "\n" << findings(loaded);
  }
}

TEST(Load, AllFindingsAtOnce) {
  const LoadedConfig loaded =
      from_file("[memory]\ntotal_budget = 'x'\n[daemon]\nlisen = 'y'\nmessage_limit = '3GiB'\n");
  EXPECT_EQ(loaded.findings.size(), 3U) << findings(loaded);
}

TEST(Load, Precedence) {
  ConfigSources sources{.file_name = "c.toml",
                        .file_text = "[memory]\nsafety_margin = '1GiB'\n[srs]\nparam_cache = '/file'\n",
                        .environment = {{"CUZK_MEMORY_SAFETY_MARGIN", "2GiB"},
                                        {"FIL_PROOFS_PARAMETER_CACHE", "/fil"},
                                        {"RUST_LOG", "DEBUG"}},
                        .flags = {{"memory.safety_margin", "3GiB"}}};
  LoadedConfig loaded = load_config(sources);
  EXPECT_EQ(loaded.config.memory_safety_margin.bytes, 3 * kGiB);
  EXPECT_EQ(loaded.origins.at("memory.safety_margin").text, "--memory.safety_margin");
  EXPECT_EQ(loaded.config.srs_param_cache, "/file");
  EXPECT_EQ(loaded.origins.at("srs.param_cache").text, "c.toml:4");
  EXPECT_EQ(loaded.config.logging_level, "debug");
  sources.flags.clear();
  loaded = load_config(sources);
  EXPECT_EQ(loaded.config.memory_safety_margin.bytes, 2 * kGiB);
  EXPECT_EQ(loaded.origins.at("memory.safety_margin").text, "CUZK_MEMORY_SAFETY_MARGIN");
  sources.environment.erase("CUZK_MEMORY_SAFETY_MARGIN");
  EXPECT_EQ(load_config(sources).config.memory_safety_margin.bytes, kGiB);
  sources.file_name.clear();
  loaded = load_config(sources);
  EXPECT_EQ(loaded.config.memory_safety_margin.bytes, 5 * kGiB);
  EXPECT_EQ(loaded.config.srs_param_cache, "/fil");
  EXPECT_EQ(loaded.origins.at("memory.safety_margin").text, "default");
}

TEST(Load, DevicesByNumberAndName) {
  const LoadedConfig loaded = from_file("[gpus]\ndevices = [2, 'GPU-1b2c3d4e', 'cpu']\n");
  EXPECT_EQ(findings(loaded), "");
  EXPECT_EQ(loaded.config.gpus_devices.names, (std::vector<std::string>{"2", "GPU-1b2c3d4e", "cpu"}));
  EXPECT_EQ(toml_value(loaded.config, *config_key("gpus.devices")), R"([2, "GPU-1b2c3d4e", "cpu"])");
  EXPECT_EQ(from_file("[gpus]\ndevices = 'cpu'\n").config.gpus_devices.names, std::vector<std::string>{"cpu"});
}

TEST(Load, Environment) {
  LoadedConfig loaded = from_environment({{"CUZK_DAEMON_LISTEN", "unix:///a,127.0.0.1:1"},
                                          {"CUZK_GPUS_DEVICES", "1,3"},
                                          {"CUZK_DAEMON_ALLOW_INSECURE", "true"},
                                          {"CUZK_GPU_THREADS", "4"},
                                          {"HOME", "/x"}});
  EXPECT_EQ(findings(loaded), "");
  EXPECT_EQ(loaded.config.daemon_listen, (std::vector<std::string>{"unix:///a", "127.0.0.1:1"}));
  EXPECT_EQ(loaded.config.gpus_devices.names, (std::vector<std::string>{"1", "3"}));
  EXPECT_TRUE(loaded.config.daemon_allow_insecure);
  EXPECT_EQ(loaded.config.gpus_gpu_threads, 4U);
  EXPECT_EQ(findings(from_environment({{"CUZK_GPUS_GPU_THREADS", "x"}})),
            "error environment variable CUZK_GPUS_GPU_THREADS: gpus.gpu_threads: must be a whole number, not 'x'\n");
  // Other programs' variables stop nothing.
  loaded = from_environment({{"RUST_LOG", "cuzk=debug,info"}});
  EXPECT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.config.logging_level, "info");
  EXPECT_EQ(loaded.findings.size(), 1U);
  EXPECT_EQ(
      findings(from_environment({{"CUZK_DAEMON_LISEN", "x"}})),
      "warning environment variable CUZK_DAEMON_LISEN: is not known and ignored; did you mean CUZK_DAEMON_LISTEN?\n");
  EXPECT_EQ(findings(from_environment({{"CUZK_DISABLE_PCE", "1"}})),
            "warning environment variable CUZK_DISABLE_PCE: has no effect here\n");
  EXPECT_EQ(findings(from_environment({{"CUZK_BINARY", "1"}, {"CUZK_CONFIG", "x"}})), "");
}

TEST(Print, GivesTheSameAgain) {
  const LoadedConfig loaded = from_file(kReferenceFile);
  const std::string printed = print_config(loaded, true);
  const LoadedConfig again = from_file(printed);
  EXPECT_TRUE(again.ok()) << findings(again) << printed;
  EXPECT_EQ(again.values, loaded.values);
  EXPECT_NE(printed.find("# c.toml:2\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# default\n"), std::string::npos);
  EXPECT_NE(printed.find("pinned_budget"), std::string::npos);
  EXPECT_EQ(print_config(from_file(""), false).find("pinned_budget"), std::string::npos);
  for (const ConfigKey& key : config_keys()) {
    EXPECT_NE(keys_markdown().find("| `" + std::string(key.name) + "` |"), std::string::npos);
  }
}

}  // namespace
}  // namespace cuzk
