// What the daemon is told: every value, with its default. config/keys.hpp gives each its name, meaning and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/quantity.hpp"

namespace cuzk {

// GPUs by number or UUID, or the CPU: "0", "GPU-1b2c3d4e", "cpu".
struct DeviceNames {
  std::vector<std::string> names;
};

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

struct Config {
  std::vector<std::string> daemon_listen = {"unix:///run/curio/cuzk.sock"};
  std::string daemon_status_listen;
  std::string daemon_status_allow_origin;
  std::string daemon_socket_mode = "0660";
  bool daemon_allow_insecure = false;
  Size daemon_message_limit{256 * kMiB};
  uint64_t daemon_max_uploads = 32;
  Duration daemon_drain_timeout = std::chrono::seconds(60);
  std::string daemon_state_directory;

  std::string tls_certificate, tls_key, tls_client_ca;
  std::string auth_tokens;

  std::optional<Size> memory_total_budget;  // none: "auto"
  Size memory_safety_margin{5 * kGiB};
  Duration memory_eviction_min_idle = std::chrono::minutes(5);

  DeviceNames gpus_devices;  // empty: all GPUs, and where there is none the CPU
  uint64_t gpus_gpu_threads = 0;
  uint64_t gpus_max_group = 0;
  uint64_t gpus_h_multiples = 0;

  uint64_t scheduler_max_jobs = 4096;
  Size scheduler_max_bytes{8 * kGiB};
  Duration scheduler_abandoned_after = std::chrono::seconds(60);
  uint64_t results_keep = 1000;
  Size results_max_bytes{64 * kMiB};
  Duration results_keep_for = std::chrono::hours(1);

  uint64_t synthesis_threads = 0;
  uint64_t pipeline_max_parallel_synthesis = 18;
  uint64_t pipeline_max_gpu_queue_depth = 0;

  std::string srs_param_cache = "/data/zk/params";
  bool srs_check_digests = true;
  std::vector<std::string> residency_preload;
  std::string residency_cache_directory;

  uint64_t worker_niceness = 0;

  std::string logging_level = "info";
  std::string logging_format = "text";
  bool logging_timeline = true;
  std::string logging_file;
  Size logging_max_file_size{100'000'000};
  uint64_t logging_max_files = 5;

  // What the reference has and this daemon has no use for is checked, told of, and lands here.
  std::string unused_text;
  uint64_t unused_number = 0;
  bool unused_flag = false;
  std::vector<std::string> unused_list;
};

}  // namespace cuzk
