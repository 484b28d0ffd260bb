#include "config/keys.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "config/document.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kDay = 86'400'000;

const std::vector<ConfigKey>& table() {
  static const std::vector<ConfigKey> keys = {
      // daemon
      {.name = "daemon.listen",
       .member = &Config::daemon_listen,
       .doc = "Where gRPC is served, one address or several: `unix:///path` or `host:port` (`[::1]:9820` for IPv6).",
       .short_flag = "-l,--listen"},
      {.name = "daemon.status_listen",
       .member = &Config::daemon_status_listen,
       .doc = "`host:port` of the HTTP pages `/status`, `/metrics`, `/livez`, `/readyz`; empty for none."},
      {.name = "daemon.status_allow_origin",
       .member = &Config::daemon_status_allow_origin,
       .doc = "`Access-Control-Allow-Origin` of these pages; the reference always sends `*`. Empty for none."},
      {.name = "daemon.socket_mode",
       .member = &Config::daemon_socket_mode,
       .doc = "Permissions of the Unix sockets, in octal digits."},
      {.name = "daemon.allow_insecure",
       .member = &Config::daemon_allow_insecure,
       .doc = "Whether to serve an address that other machines can reach without TLS. Without this it is refused."},
      {.name = "daemon.message_limit",
       .member = &Config::daemon_message_limit,
       .doc = "The longest request that is taken. A 32 GiB PoRep has 51 MB.",
       .min = kMiB,
       .max = 2047 * kMiB},
      {.name = "daemon.max_uploads",
       .member = &Config::daemon_max_uploads,
       .doc =
           "Requests that are received at once; beyond them slow ones give way, and calls are refused, to be retried.",
       .min = 1,
       .max = 1024},
      {.name = "daemon.drain_timeout",
       .member = &Config::daemon_drain_timeout,
       .doc = "How long SIGTERM waits for running work. What is not done then is cancelled, or left to the journal.",
       .max = kDay},
      {.name = "daemon.state_directory",
       .member = &Config::daemon_state_directory,
       .doc = "Folder of the journal, in which submitted jobs outlive the process; no other daemon may use it. Empty: "
              "the one that systemd gives (`StateDirectory=`), and without it there is no journal."},
      // tls, auth
      {.name = "tls.certificate",
       .member = &Config::tls_certificate,
       .doc = "PEM file of the server's certificate chain. With `tls.key` it turns on TLS on every TCP address."},
      {.name = "tls.key", .member = &Config::tls_key, .doc = "PEM file of its private key."},
      {.name = "tls.client_ca",
       .member = &Config::tls_client_ca,
       .doc = "PEM file of the authorities whose clients are let in; empty: clients need no certificate."},
      {.name = "auth.tokens",
       .member = &Config::auth_tokens,
       .doc = "File of lines `ROLE TOKEN`, the role being `reader`, `submitter` or `admin`. With it TCP clients must "
              "send a token, or with `tls.client_ca` show a certificate that a line `ROLE certificate:NAME` names; "
              "empty: none is asked for."},
      // memory
      {.name = "memory.total_budget",
       .member = &Config::memory_total_budget,
       .doc = "Host memory for everything the daemon holds. `auto`: the least of physical memory and the limits of the "
              "control group and the process, less `memory.safety_margin`. A larger value than these is cut to them.",
       .min = 64 * kMiB},
      {.name = "memory.safety_margin",
       .member = &Config::memory_safety_margin,
       .doc = "What `auto` leaves to others; at most a quarter of the limit."},
      {.name = "memory.eviction_min_idle",
       .member = &Config::memory_eviction_min_idle,
       .doc = "How long parameters and circuits stay after their last use, even if the memory is wanted.",
       .max = 365 * kDay},
      {.name = "memory.pinned_budget",
       .member = &Config::unused_text,
       .doc = "Part of `memory.total_budget`.",
       .use = KeyUse::kDeprecated},
      {.name = "memory.working_memory_budget",
       .member = &Config::unused_text,
       .doc = "Part of `memory.total_budget`.",
       .use = KeyUse::kDeprecated},
      // gpus
      {.name = "gpus.devices",
       .member = &Config::gpus_devices,
       .doc =
           "GPUs to use, by number (CUDA's order, after CUDA_VISIBLE_DEVICES) or UUID, or `cpu`; empty: all GPUs, and "
           "where there is none the CPU.",
       .max = 1023},
      {.name = "gpus.gpu_threads",
       .member = &Config::gpus_gpu_threads,
       .doc = "Threads of each device's worker process; 0: all processors.",
       .max = 4096,
       .other_variable = "CUZK_GPU_THREADS"},
      {.name = "gpus.max_group",
       .member = &Config::gpus_max_group,
       .doc =
           "Partitions of one job that a GPU proves together, at most; 0: 10. More important work goes before the next "
           "of them all the same.",
       .max = 16},
      {.name = "gpus.h_multiples",
       .member = &Config::gpus_h_multiples,
       .doc =
           "Multiples of the points of h that a GPU keeps of large circuits, 1 to 4: memory for speed. 0: up to 3, as "
           "leave a fifth of its memory; 1 where several large circuits are to stay loaded side by side.",
       .max = 4},
      {.name = "gpus.gpu_workers_per_device",
       .member = &Config::unused_number,
       .doc = "A device has one worker process, which needs no second one to be kept busy.",
       .use = KeyUse::kNoEffect,
       .reference_default = "2"},
      // scheduler
      {.name = "scheduler.max_jobs",
       .member = &Config::scheduler_max_jobs,
       .doc = "Unfinished jobs that are taken; one more is refused, to be retried.",
       .min = 1,
       .max = 1'000'000},
      {.name = "scheduler.max_bytes",
       .member = &Config::scheduler_max_bytes,
       .doc = "Bytes of their requests likewise.",
       .min = kMiB},
      {.name = "scheduler.abandoned_after",
       .member = &Config::scheduler_abandoned_after,
       .doc = "A job of `Prove` is cancelled when nobody has waited for it for this long: time to connect again.",
       .max = kDay},
      {.name = "scheduler.max_batch_size",
       .member = &Config::unused_number,
       .doc = "See `gpus.max_group`.",
       .use = KeyUse::kNoEffect,
       .reference_default = "1"},
      {.name = "scheduler.max_batch_wait_ms",
       .member = &Config::unused_number,
       .doc = "Nothing waits for a batch.",
       .use = KeyUse::kNoEffect,
       .reference_default = "10000"},
      {.name = "scheduler.sort_by_type",
       .member = &Config::unused_flag,
       .doc = "The order is by priority, then age. The reference never reads it either.",
       .use = KeyUse::kNoEffect,
       .reference_default = "true"},
      // results
      {.name = "results.keep",
       .member = &Config::results_keep,
       .doc = "Results of finished jobs that are kept for `AwaitProof` and repeated requests.",
       .max = 1'000'000},
      {.name = "results.max_bytes",
       .member = &Config::results_max_bytes,
       .doc = "Bytes of them likewise; the oldest go first.",
       .min = kMiB},
      {.name = "results.keep_for",
       .member = &Config::results_keep_for,
       .doc = "How long each is kept.",
       .max = 365 * kDay},
      // synthesis, pipeline
      {.name = "synthesis.threads",
       .member = &Config::synthesis_threads,
       .doc = "Threads of the daemon itself; 0: all processors.",
       .max = 4096},
      {.name = "synthesis.partition_workers",
       .member = &Config::unused_number,
       .doc = "Memory decides how many partitions are worked on.",
       .use = KeyUse::kDeprecated},
      {.name = "pipeline.max_parallel_synthesis",
       .member = &Config::pipeline_max_parallel_synthesis,
       .doc =
           "Threads that check input, make witnesses and verify, at most; 0: 18. One more is kept for `CRITICAL` jobs.",
       .max = 4096},
      {.name = "pipeline.max_gpu_queue_depth",
       .member = &Config::pipeline_max_gpu_queue_depth,
       .doc = "Witnesses that are made ahead for each device and priority; 0: 2. For jobs of several partitions as "
              "many as `gpus.max_group`, while memory is free.",
       .max = 4096},
      {.name = "pipeline.enabled",
       .member = &Config::unused_flag,
       .doc = "There is no other way to prove than partition by partition.",
       .use = KeyUse::kNoEffect,
       .reference_default = "true"},
      {.name = "pipeline.synthesis_lookahead",
       .member = &Config::unused_number,
       .doc = "See `pipeline.max_gpu_queue_depth`. The reference only logs it.",
       .use = KeyUse::kNoEffect,
       .reference_default = "1"},
      {.name = "pipeline.synthesis_concurrency",
       .member = &Config::unused_number,
       .doc = "See `pipeline.max_parallel_synthesis`.",
       .use = KeyUse::kNoEffect,
       .reference_default = "1"},
      {.name = "pipeline.slot_size",
       .member = &Config::unused_number,
       .doc = "See `pipeline.max_parallel_synthesis`. The reference cannot reach what it is for.",
       .use = KeyUse::kNoEffect,
       .reference_default = "0"},
      // srs, residency
      {.name = "srs.param_cache",
       .member = &Config::srs_param_cache,
       .doc = "Folder of the parameter files.",
       .other_variable = "FIL_PROOFS_PARAMETER_CACHE",
       .other_before_file = false},
      {.name = "srs.check_digests",
       .member = &Config::srs_check_digests,
       .doc =
           "Whether parameters of a circuit whose digest Filecoin publishes must have it. Turn off for parameters made "
           "by `cuzk setup`."},
      {.name = "srs.preload",
       .member = &Config::unused_list,
       .doc = "Use `residency.preload`.",
       .use = KeyUse::kDeprecated},
      {.name = "residency.preload",
       .member = &Config::residency_preload,
       .doc =
           "Circuits whose parameters are loaded at the start, such as `winning-32g`; the daemon is ready after that."},
      {.name = "residency.cache_directory",
       .member = &Config::residency_cache_directory,
       .doc = "Folder of compiled circuits and remembered digests. Empty: the one that systemd gives "
              "(`CacheDirectory=`), else `cuzk` in `XDG_CACHE_HOME`, else `~/.cache/cuzk`.",
       .other_variable = "CUZK_CACHE_DIR"},
      // worker
      {.name = "worker.niceness",
       .member = &Config::worker_niceness,
       .doc = "Added to the workers' niceness, so that they leave the processors to others.",
       .max = 19},
      // logging
      {.name = "logging.level",
       .member = &Config::logging_level,
       .doc = "What is logged: this and what is worse.",
       .choices = {"trace", "debug", "info", "warn", "error"},
       .other_variable = "RUST_LOG",
       .short_flag = "--log-level"},
      {.name = "logging.format",
       .member = &Config::logging_format,
       .doc = "Lines for people, or one JSON object a line.",
       .choices = {"text", "json"}},
      {.name = "logging.timeline",
       .member = &Config::logging_timeline,
       .doc = "Whether `TIMELINE,...` lines are written, as the reference writes them."},
      {.name = "logging.file",
       .member = &Config::logging_file,
       .doc = "File of the log, kept in turn with `.1`, `.2` and so on behind its name; empty: standard error."},
      {.name = "logging.max_file_size",
       .member = &Config::logging_max_file_size,
       .doc = "Size at which a new one is begun.",
       .min = 1024},
      {.name = "logging.max_files",
       .member = &Config::logging_max_files,
       .doc = "How many are kept.",
       .min = 1,
       .max = 1000},
  };
  return keys;
}

std::string joined(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() > 1 ? ", " : "") + item;
  return out + "]";
}

}  // namespace

std::string ConfigKey::variable() const {
  std::string out = "CUZK_";
  for (const char c : name) out += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

std::string ConfigKey::type_name() const {
  if (!choices.empty()) {
    std::string out;
    for (const std::string_view choice : choices) out += (out.empty() ? "" : ", ") + std::string(choice);
    return out;
  }
  static constexpr const char* kNames[] = {"text",         "true or false", "number", "size",
                                           "size or auto", "duration",      "texts",  "numbers or texts"};
  return kNames[member.index()];
}

std::span<const ConfigKey> config_keys() { return table(); }

const ConfigKey* config_key(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &ConfigKey::name);
  return found == table().end() ? nullptr : &*found;
}

std::string toml_value(const Config& config, const ConfigKey& key) {
  return std::visit(Overloaded{
                        [&](std::string Config::*m) { return toml_quoted(config.*m); },
                        [&](bool Config::*m) { return std::string(config.*m ? "true" : "false"); },
                        [&](uint64_t Config::*m) { return std::to_string(config.*m); },
                        [&](Size Config::*m) { return toml_quoted(format_size(config.*m)); },
                        [&](std::optional<Size> Config::*m) {
                          return toml_quoted(config.*m ? format_size(*(config.*m)) : std::string("auto"));
                        },
                        [&](Duration Config::*m) { return toml_quoted(format_duration(config.*m)); },
                        [&](std::vector<std::string> Config::*m) {
                          std::vector<std::string> items;
                          for (const std::string& item : config.*m) items.push_back(toml_quoted(item));
                          return items.size() == 1 ? items[0] : joined(items);
                        },
                        [&](DeviceNames Config::*m) {
                          std::vector<std::string> items;
                          for (const std::string& item : (config.*m).names) {
                            const bool number = item.find_first_not_of("0123456789") == std::string::npos;
                            items.push_back(number ? item : toml_quoted(item));
                          }
                          return joined(items);
                        },
                    },
                    key.member);
}

std::string toml_default(const ConfigKey& key) {
  if (key.use == KeyUse::kUsed) return toml_value(Config(), key);
  return std::string(key.reference_default);
}

}  // namespace cuzk
