#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "telemetry/escape.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/names.hpp"
#include "telemetry/status_json.hpp"
#include "telemetry/telemetry_observer.hpp"

namespace cuzk {
namespace {

using Json = nlohmann::json;

class LogFile {
 public:
  LogFile() {
    std::string name = testing::TempDir() + "cuzk-log-XXXXXX";
    directory_ = mkdtemp(name.data());
    options.file = directory_ + "/log";
    options.level = LogLevel::kDebug;
  }
  ~LogFile() { std::filesystem::remove_all(directory_); }
  std::unique_ptr<Log> open() { return Log::open(options).value(); }
  std::vector<std::string> lines() const {
    std::ifstream file(options.file);
    std::vector<std::string> out;
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }
  LogOptions options;

 private:
  std::string directory_;
};

TEST(Escape, LeavesPrintableTextAndEscapesTheRest) {
  EXPECT_EQ(escaped("porep-1000-1"), "porep-1000-1");
  EXPECT_EQ(escaped("wdpost-1-0-[1 2 3]", ","), "wdpost-1-0-[1 2 3]");
  EXPECT_EQ(escaped("a,b", ","), "a\\x2cb");
  EXPECT_EQ(escaped("a,b"), "a,b");
  EXPECT_EQ(escaped("a\nTIMELINE,0,GPU_END,x,y\r", ","), "a\\x0aTIMELINE\\x2c0\\x2cGPU_END\\x2cx\\x2cy\\x0d");
  EXPECT_EQ(escaped("\\x0a"), "\\x5cx0a");  // an escape of the client's is no escape of ours
  EXPECT_EQ(escaped(std::string("\0\x1b[31m\x7f", 7)), "\\x00\\x1b[31m\\x7f");
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae");
  EXPECT_EQ(escaped("abcdef", "", 3), "abc...");
  EXPECT_EQ(escaped("abc", "", 3), "abc");
  EXPECT_EQ(escaped(""), "");
}

TEST(Log, TextLinesHaveTimeLevelMessageAndFields) {
  LogFile file;
  {
    const auto log = file.open();
    log->write(
        LogLevel::kInfo, "job finished",
        {{"job_id", std::string("a b\"\n")}, {"ms", uint64_t{5}}, {"ok", true}, {"x", 1.5}, {"e", std::string()}});
  }
  ASSERT_EQ(file.lines().size(), 1u);
  EXPECT_TRUE(std::regex_match(
      file.lines()[0],
      std::regex(
          R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info job finished job_id="a b\\x22\\x0a" ms=5 ok=true x=1.5 e="")")))
      << file.lines()[0];
}

TEST(Log, JsonLinesParse) {
  LogFile file;
  file.options.json = true;
  {
    const auto log = file.open();
    log->write(LogLevel::kError, "m", {{"job_id", std::string("\"},\n\xff")}, {"n", ~uint64_t{0}}, {"b", false}});
  }
  ASSERT_EQ(file.lines().size(), 1u);
  const Json line = Json::parse(file.lines()[0]);
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "m");
  EXPECT_EQ(line["job_id"], "\"},\\x0a\\xff");
  EXPECT_EQ(line["n"], ~uint64_t{0});
  EXPECT_EQ(line["b"], false);
  EXPECT_EQ(line["time"].get<std::string>().size(), 24u);
}

TEST(Log, LevelsFilterAndRawLinesDoNot) {
  LogFile file;
  file.options.level = LogLevel::kWarn;
  {
    const auto log = file.open();
    log->write(LogLevel::kInfo, "no");
    log->write(LogLevel::kWarn, "yes");
    log->raw_line("RAW {} %v");
  }
  ASSERT_EQ(file.lines().size(), 2u);
  EXPECT_EQ(file.lines()[1], "RAW {} %v");
  EXPECT_EQ(log_level_by_name("warning"), LogLevel::kWarn);
  EXPECT_EQ(log_level_by_name("trace"), LogLevel::kDebug);
  EXPECT_FALSE(log_level_by_name("loud"));
}

TEST(Log, FileThatCannotBeOpenedIsAnError) {
  const auto log = Log::open({.file = "/dev/null/log"});
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().error_class, ErrorClass::kIo);
}

// name{labels} -> value, and the type of every family.
struct Parsed {
  std::map<std::string, double> values;
  std::map<std::string, std::string> types;
};

Parsed parse_metrics(const std::string& text) {
  Parsed out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name, type;
      words >> name >> type;
      EXPECT_TRUE(out.types.emplace(name, type).second) << name << " twice";
    } else if (!line.starts_with("#")) {
      const size_t blank = line.rfind(' ');
      EXPECT_NE(blank, std::string::npos);
      EXPECT_TRUE(out.values.emplace(line.substr(0, blank), std::strtod(line.c_str() + blank, nullptr)).second) << line;
    }
  }
  return out;
}

EngineStatus sample_status() {
  EngineStatus status;
  status.uptime_seconds = 12.5;
  status.ready = true;
  status.budget_bytes = 1000;
  status.used_bytes = 400;
  status.budget_origin = "memory.total_budget";
  status.used_by = {{"requests", 100}, {"witness", 300}};
  status.reserve_bytes = 64, status.reserve_left_bytes = 60, status.reserve_uses = 8;
  status.queue_depth = 3;
  status.max_witnesses = 2;
  status.active_witnesses = 1;
  status.refused = 4;
  status.kinds[index_of(ProofKind::kPorep)] = {
      .accepted = 14, .completed = 7, .failed = 1, .cancelled = 2, .pending = 3, .running = 1};
  status.kinds[index_of(ProofKind::kWinning)] = {.completed = 2, .expired = 5};
  JobStatus running{.key = 9, .job_id = "porep-1000-1", .kind = ProofKind::kPorep, .state = JobState::kRunning};
  running.started_seconds_ago = 2.0;
  running.age_seconds = 3.0;
  running.partitions = {{PartitionState::kDone, 10, 20},    {PartitionState::kVerifying, 11, 21},
                        {PartitionState::kDevice, 12, {}},  {PartitionState::kReady, 13, {}},
                        {PartitionState::kWitness, {}, {}}, {PartitionState::kPending, {}, {}},
                        {PartitionState::kFailed, 5, {}}};
  JobStatus queued{.key = 10, .job_id = "\xff\"<x>", .kind = ProofKind::kSnap, .priority = Priority::kLow};
  status.jobs = {running, queued};
  DeviceStatus gpu{.info = {0, "NVIDIA H200", true, 150, 50}, .state = DeviceState::kProving};
  gpu.job_id = "porep-1000-1", gpu.kind = ProofKind::kPorep, gpu.partition = 2, gpu.busy_seconds = 0.5;
  DeviceStatus cpu{.info = {1, "CPU, 2 threads", false, 0, 0}, .state = DeviceState::kRestarting};
  cpu.restarts = 2;
  cpu.wrong_proofs = 7;
  cpu.distrusted = 1;
  status.devices = {gpu, cpu};
  status.resident = {{"window-32g", 0, 60, 6, 1.5, 0, true}};
  return status;
}

TEST(Metrics, HasTheReferencesNamesTypesAndLabels) {
  Metrics metrics;
  JobResult completed;
  completed.state = JobState::kCompleted;
  completed.times.total_ms = 1500;
  metrics.count_job(ProofKind::kPorep, completed);
  completed.times.total_ms = 500;
  metrics.count_job(ProofKind::kPorep, completed);
  JobResult failed;
  failed.times.total_ms = 9000;
  metrics.count_job(ProofKind::kPorep, failed);

  const Parsed parsed = parse_metrics(metrics.text(sample_status(), "1"));
  const std::map<std::string, std::string> types = {{"cuzk_proofs_completed_total", "counter"},
                                                    {"cuzk_proofs_failed_total", "counter"},
                                                    {"cuzk_uptime_seconds", "gauge"},
                                                    {"cuzk_queue_depth", "gauge"},
                                                    {"cuzk_proofs_completed", "counter"},
                                                    {"cuzk_proofs_failed", "counter"},
                                                    {"cuzk_proof_duration_seconds", "summary"},
                                                    {"cuzk_running_jobs", "gauge"},
                                                    {"cuzk_gpu_workers", "gauge"}};
  for (const auto& [name, type] : types) {
    ASSERT_TRUE(parsed.types.contains(name)) << name;
    EXPECT_EQ(parsed.types.at(name), type) << name;
  }
  const auto value = [&](const std::string& name) {
    EXPECT_TRUE(parsed.values.contains(name)) << name;
    return parsed.values.contains(name) ? parsed.values.at(name) : -1;
  };
  EXPECT_EQ(value("cuzk_proofs_completed_total"), 9);
  EXPECT_EQ(value("cuzk_proofs_failed_total"), 1);
  EXPECT_EQ(value("cuzk_uptime_seconds"), 12.5);
  EXPECT_EQ(value("cuzk_queue_depth"), 3);
  EXPECT_EQ(value("cuzk_memory_emergency_bytes{state=\"total\"}"), 64);
  EXPECT_EQ(value("cuzk_memory_emergency_bytes{state=\"left\"}"), 60);
  EXPECT_EQ(value("cuzk_memory_shortages_total"), 8);
  EXPECT_EQ(value("cuzk_running_jobs"), 1);
  EXPECT_EQ(value("cuzk_gpu_workers"), 2);
  for (const char* kind : {"porep_c2", "snap_update", "window_post", "winning_post"}) {
    const std::string label = std::string("{proof_kind=\"") + kind + "\"}";
    value("cuzk_proofs_completed" + label);
    value("cuzk_proofs_failed" + label);
    value("cuzk_proof_duration_seconds_sum" + label);
  }
  EXPECT_EQ(value("cuzk_proofs_completed{proof_kind=\"porep_c2\"}"), 7);
  EXPECT_EQ(value("cuzk_jobs_accepted_total{proof_kind=\"porep_c2\"}"), 14);
  EXPECT_EQ(value("cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"}"), 2);
  EXPECT_EQ(value("cuzk_proof_duration_seconds_sum{proof_kind=\"porep_c2\"}"), 2);
  EXPECT_EQ(value("cuzk_job_duration_seconds_count{outcome=\"failed\",proof_kind=\"porep_c2\"}"), 1);
  EXPECT_EQ(value("cuzk_device_up{device=\"1\"}"), 0);
  EXPECT_EQ(value("cuzk_device_restarts_total{device=\"1\"}"), 2);
  EXPECT_EQ(value("cuzk_device_wrong_proofs_total{device=\"1\"}"), 7);
  EXPECT_EQ(value("cuzk_device_distrusted_total{device=\"1\"}"), 1);
  EXPECT_EQ(value("cuzk_ready"), 1);
}

TEST(Metrics, FollowPrometheusNamingRules) {
  Metrics metrics;
  metrics.count_stage(ProofKind::kSnap, Stage::kDevice, 30);
  metrics.count_call("Prove", "OK", 0.003);
  metrics.count_load(5);
  metrics.count_eviction();
  const Parsed parsed = parse_metrics(metrics.text(sample_status(), "1"));
  // The reference's two have no _total.
  const std::set<std::string> exempt = {"cuzk_proofs_completed", "cuzk_proofs_failed"};
  for (const auto& [name, type] : parsed.types) {
    EXPECT_TRUE(std::regex_match(name, std::regex("cuzk_[a-z_]+"))) << name;
    EXPECT_TRUE(type != "counter" || exempt.contains(name) || name.ends_with("_total")) << name;
    EXPECT_TRUE(type == "counter" || !name.ends_with("_total")) << name;
    EXPECT_TRUE(type != "histogram" || name.ends_with("_seconds")) << name;
    EXPECT_EQ(name.find("_ms"), std::string::npos) << name;
  }
  // Buckets are cumulative, and the last is the count.
  double last = 0;
  int buckets = 0;
  for (const char* bound : {"0.005", "0.01", "0.025", "0.05", "0.1", "900", "+Inf"}) {
    const auto found = std::find_if(parsed.values.begin(), parsed.values.end(), [&](const auto& entry) {
      return entry.first.starts_with("cuzk_stage_duration_seconds_bucket") &&
             entry.first.find("le=\"" + std::string(bound) + "\"") != std::string::npos;
    });
    if (found == parsed.values.end()) continue;
    ++buckets;
    EXPECT_GE(found->second, last);
    last = found->second;
  }
  EXPECT_GE(buckets, 3);
  EXPECT_EQ(last, 1);
}

TEST(Metrics, ReasonsThatKeepChangingDoNotGrowIt) {
  Metrics metrics;
  for (int i = 0; i < 1000; ++i) metrics.count_refusal(ProofKind::kPorep, "reason " + std::to_string(i));
  const Parsed parsed = parse_metrics(metrics.text({}, "1"));
  size_t series = 0;
  double total = 0;
  for (const auto& [name, value] : parsed.values) {
    if (!name.starts_with("cuzk_refusals_total")) continue;
    ++series;
    total += value;
  }
  EXPECT_EQ(series, 33u);
  EXPECT_EQ(total, 1000);
}

TEST(StatusJson, HasTheReferencesKeys) {
  const Json json = Json::parse(status_json(sample_status(), "0.1"));
  EXPECT_EQ(json["uptime_secs"], 12.5);
  EXPECT_EQ(json["memory"]["total_bytes"], 1000);
  EXPECT_EQ(json["memory"]["used_bytes"], 400);
  EXPECT_EQ(json["memory"]["available_bytes"], 600);
  EXPECT_EQ(json["synthesis"]["max_concurrent"], 2);
  EXPECT_EQ(json["synthesis"]["active"], 1);
  ASSERT_EQ(json["pipelines"].size(), 1u);
  const Json& pipeline = json["pipelines"][0];
  EXPECT_EQ(pipeline["job_id"], "porep-1000-1");
  EXPECT_EQ(pipeline["proof_kind"], "porep-c2");
  EXPECT_EQ(pipeline["started_secs_ago"], 2.0);
  EXPECT_EQ(pipeline["total_partitions"], 7);
  EXPECT_EQ(pipeline["partitions_done"], 2);
  const char* states[] = {"done", "done", "gpu", "synth_done", "synthesizing", "pending", "failed"};
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(pipeline["partitions"][i]["index"], i);
    EXPECT_EQ(pipeline["partitions"][i]["state"], states[i]);
  }
  EXPECT_EQ(pipeline["partitions"][0]["synth_ms"], 10);
  EXPECT_EQ(pipeline["partitions"][0]["gpu_ms"], 20);
  EXPECT_TRUE(pipeline["partitions"][5]["gpu_ms"].is_null());
  EXPECT_EQ(json["gpu_workers"][0]["worker_id"], 0);
  EXPECT_EQ(json["gpu_workers"][0]["state"], "proving");
  EXPECT_EQ(json["gpu_workers"][0]["current_job"], "porep-1000-1");
  EXPECT_EQ(json["gpu_workers"][0]["current_partition"], 2);
  EXPECT_EQ(json["gpu_workers"][0]["busy_secs"], 0.5);
  EXPECT_EQ(json["gpu_workers"][1]["gpu_ordinal"], 1);
  EXPECT_EQ(json["gpu_workers"][1]["state"], "idle");
  EXPECT_EQ(json["gpu_workers"][1]["device_state"], "restarting");
  EXPECT_TRUE(json["gpu_workers"][1]["current_job"].is_null());
  EXPECT_EQ(json["allocations"]["srs"][0]["circuit_id"], "wpost-32g");
  EXPECT_EQ(json["allocations"]["srs"][0]["bytes"], 60);
  EXPECT_EQ(json["allocations"]["srs"][0]["evictable"], true);
  EXPECT_EQ(json["allocations"]["pce"][0]["bytes"], 6);
  EXPECT_EQ(json["allocations"]["pce"][0]["last_used_secs_ago"], 1.5);
  EXPECT_EQ(json["counters"]["total_completed"], 9);
  EXPECT_EQ(json["counters"]["total_failed"], 1);
  EXPECT_EQ(json["counters"]["completed_by_kind"]["winning-post"], 2);
  EXPECT_EQ(json["counters"]["failed_by_kind"]["porep-c2"], 1);
  EXPECT_EQ(json["counters"]["queue_depth"], 3);
  EXPECT_EQ(json["memory"]["emergency_bytes"], 64);
  EXPECT_EQ(json["memory"]["emergency_left_bytes"], 60);
  EXPECT_EQ(json["memory"]["shortages"], 8);
  for (const char* key :
       {"synth_in_flight", "provers_in_flight", "aux_in_flight", "shells_in_flight", "pending_handles"}) {
    EXPECT_TRUE(json["buffers"][key].is_number_unsigned()) << key;
  }
  EXPECT_EQ(json["buffers"]["synth_in_flight"], 1);
  EXPECT_EQ(json["buffers"]["provers_in_flight"], 2);
  ASSERT_EQ(json["queued"].size(), 1u);
  EXPECT_EQ(json["queued"][0]["priority"], "low");
}

TEST(StatusJson, IsBoundedAndKeepsUnfinishedJobs) {
  EngineStatus status;
  for (int i = 0; i < 5000; ++i) {
    JobStatus job{.job_id = "queued"};
    status.jobs.push_back(job);
    job.job_id = "finished", job.state = JobState::kCompleted, job.started_seconds_ago = 1;
    status.jobs.push_back(job);
  }
  JobStatus running{.job_id = "running", .state = JobState::kRunning};
  running.started_seconds_ago = 1;
  status.jobs.push_back(running);
  const Json json = Json::parse(status_json(status, "1"));
  EXPECT_EQ(json["pipelines"].size(), 1000u);
  EXPECT_EQ(json["pipelines"][0]["job_id"], "running");
  EXPECT_EQ(json["queued"].size(), 100u);
}

TEST(StatusJson, OfNothing) {
  const Json json = Json::parse(status_json({}, ""));
  EXPECT_EQ(json["pipelines"], Json::array());
  EXPECT_EQ(json["gpu_workers"], Json::array());
  EXPECT_EQ(json["allocations"]["srs"], Json::array());
  EXPECT_EQ(json["ready"], false);
}

TEST(TelemetryObserver, WritesTheReferencesTimeline) {
  LogFile file;
  Metrics metrics;
  {
    const auto log = file.open();
    TelemetryObserver observer(*log, metrics, true);
    StageEvent event{.key = 1, .job_id = "evil,id\nTIMELINE", .kind = ProofKind::kPorep, .stage = Stage::kWitness};
    event.partition = 3;
    observer.on_stage_begin(event);
    event.ms = 12;
    observer.on_stage_end(event, nullptr);
    observer.on_ready(event);
    event.stage = Stage::kDevice, event.device = 1, event.ms = 0;
    observer.on_picked_up(event);
    observer.on_stage_begin(event);
    event.ms = 34;
    observer.on_stage_end(event, nullptr);
    const Error error(ErrorClass::kDeviceFault, "gone");
    observer.on_stage_end(event, &error);
    event.stage = Stage::kVerify;
    observer.on_stage_begin(event);
    observer.on_stage_end(event, nullptr);
    StageEvent whole{.key = 2, .job_id = "w", .kind = ProofKind::kWinning, .stage = Stage::kWitness};
    observer.on_stage_begin(whole);
    observer.on_stage_end(whole, nullptr);
    observer.on_ready(whole);
  }
  std::vector<std::string> found;
  for (const std::string& line : file.lines()) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex(R"(TIMELINE,\d+,([A-Z_]+,[^,]+,.*))"))) found.push_back(match[1]);
  }
  const std::string id = "evil\\x2cid\\x0aTIMELINE";
  EXPECT_EQ(found, (std::vector<std::string>{
                       "SYNTH_START," + id + ",partition=3", "SYNTH_END," + id + ",partition=3,synth_ms=12",
                       "GPU_QUEUE," + id + ",partition=3", "GPU_PICKUP," + id + ",worker=1,partition=3",
                       "GPU_START," + id + ",worker=1,partition=3", "GPU_END," + id + ",worker=1,partition=3,gpu_ms=34",
                       "SYNTH_START,w,kind=winning-post", "SYNTH_END,w,synth_ms=0", "GPU_QUEUE,w,monolithic"}));
}

// Of partitions that were taken together it is told at the end which of them were begun.
TEST(TelemetryObserver, WhatBeganEarlierHasThatTimeInTheTimeline) {
  LogFile file;
  Metrics metrics;
  const auto start = std::chrono::steady_clock::now();
  int64_t most = 0;  // that the time may be at the end
  {
    const auto log = file.open();
    TelemetryObserver observer(*log, metrics, true);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    StageEvent event{.key = 1, .job_id = "j", .kind = ProofKind::kPorep, .stage = Stage::kDevice};
    event.partition = 3, event.device = 1;
    observer.on_picked_up(event);
    for (const uint64_t ms : {0, 200, 1'000'000}) {
      event.ms = ms;
      observer.on_stage_begin(event);
    }
    most = (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(1);
  }
  std::vector<int64_t> times;
  for (const std::string& line : file.lines()) times.push_back(std::stoll(line.substr(line.find(',') + 1)));
  ASSERT_EQ(times.size(), 4u);
  EXPECT_GE(times[0], 300);
  EXPECT_GE(times[1], times[0]);
  EXPECT_GE(times[2], times[0] - 200);
  EXPECT_LE(times[2], most - 200);
  EXPECT_EQ(times[3], 0);
}

TEST(TelemetryObserver, LogsEachEventOnOneLineOfJson) {
  LogFile file;
  file.options.json = true;
  Metrics metrics;
  {
    const auto log = file.open();
    TelemetryObserver observer(*log, metrics, false);
    observer.on_submitted(1, "id\n", ProofKind::kSnap, Priority::kHigh, 5);
    observer.on_refused(ProofKind::kSnap, "queue-full");
    JobResult result;
    result.job_id = "id\n";
    result.error = Error(ErrorClass::kResource, "no memory");
    observer.on_finished(1, ProofKind::kSnap, result);
    observer.on_loaded("porep-2k", 0, 5, 6);
    observer.on_evicted("porep-2k", 0, 5, "idle");
    observer.on_device_fault(0, Error(ErrorClass::kDeviceFault, "gone"));
    observer.on_wrong_proof(1, "id\n", 2, 0);
    observer.on_warning(Error(ErrorClass::kIo, "slow disk"));
    observer.on_memory_short(60, 64);
    observer.on_memory_back();
    observer.on_stage_begin({.stage = Stage::kWitness});  // no timeline wanted
  }
  std::vector<Json> lines;
  for (const std::string& line : file.lines()) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[8]["left_bytes"], 60);
  EXPECT_EQ(lines[9]["message"], "memory is there again: jobs are taken");
  EXPECT_EQ(lines[0]["message"], "job submitted");
  EXPECT_EQ(lines[0]["job_id"], "id\\x0a");
  EXPECT_EQ(lines[0]["priority"], "high");
  EXPECT_EQ(lines[2]["error_class"], "resource");
  EXPECT_EQ(lines[2]["retry_helps"], true);
  EXPECT_EQ(lines[5]["level"], "error");
}

TEST(TelemetryObserver, ThreadsDoNotMixLines) {
  LogFile file;
  Metrics metrics;
  {
    const auto log = file.open();
    TelemetryObserver observer(*log, metrics, true);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) observer.on_ready({.job_id = "job", .partition = 1});
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(log->dropped(), 0u);
  }
  EXPECT_EQ(file.lines().size(), 2000u);
  for (const std::string& line : file.lines()) EXPECT_TRUE(line.ends_with(",GPU_QUEUE,job,partition=1")) << line;
}

}  // namespace
}  // namespace cuzk
