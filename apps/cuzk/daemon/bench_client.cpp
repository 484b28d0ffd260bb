// `cuzk bench single`, `batch`, `status`, `preload`, `metrics`: the reference's bench, with proofs that are checked and
// exit statuses that tell.
#include "cuzk/daemon/bench_client.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <numeric>
#include <thread>

#include "cuzk/daemon/control_commands.hpp"
#include "cuzk/daemon/daemon_commands.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string fixed(double value, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

Result<Outcome> run_single(const BenchOptions& options, Console& console) {
  CUZK_ASSIGN(Submission job, read_job(options.job, console.progress()));
  if (job.request_id.empty()) {
    CUZK_ASSIGN(job.request_id, make_job_id());
  }
  const v1::SubmitProofRequest request = wire_request(job);
  ReplyVerifier verifier(std::move(job), options.verify);
  CUZK_ASSIGN(const auto client, connect(options.connect, kDefaultBenchAddress, console));
  ProofReply reply;
  {
    const ScopedStage stage(console.progress(), "proving");
    CUZK_ASSIGN(reply, prove_and_check(*client, request, verifier));
  }
  return describe_reply(reply);
}

struct Attempt {
  bool done = false;
  std::optional<Error> error;  // of the call
  ProofReply reply;
};

// N times the same job under other ids, `concurrency` at once. Attempts are filled in any order; `finished` is told of
// each.
class Batch {
 public:
  Batch(const BenchOptions& options, ClientOptions client, v1::SubmitProofRequest request, ReplyVerifier& verifier)
      : client_options_(std::move(client)),
        request_(std::move(request)),
        verifier_(verifier),
        attempts_(options.count) {
    const uint32_t threads = std::min(std::max(1U, options.concurrency), options.count);
    for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Batch() {
    for (std::thread& thread : threads_) thread.join();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const Attempt& wait_for(size_t i) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return attempts_[i].done; });
    return attempts_[i];
  }

 private:
  void run() {
    std::unique_ptr<Client> client;
    for (size_t i = next_++; i < attempts_.size(); i = next_++) {
      Attempt attempt = prove_one(client);
      attempt.done = true;
      const std::lock_guard lock(mutex_);
      attempts_[i] = std::move(attempt);
      finished_.notify_all();
    }
  }

  Attempt prove_one(std::unique_ptr<Client>& client) {
    Attempt attempt;
    Result<ProofReply> reply = [&]() -> Result<ProofReply> {
      if (client == nullptr) {
        CUZK_ASSIGN(client, Client::connect(client_options_));
      }
      v1::SubmitProofRequest request = request_;
      CUZK_ASSIGN(*request.mutable_request_id(), make_job_id());
      return prove_and_check(*client, request, verifier_);
    }();
    if (reply.ok()) {
      attempt.reply = std::move(reply).value();
    } else {
      attempt.error = std::move(reply).error();
      client = nullptr;
    }
    return attempt;
  }

  const ClientOptions client_options_;
  const v1::SubmitProofRequest request_;
  ReplyVerifier& verifier_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Attempt> attempts_;
  std::vector<std::thread> threads_;
};

struct Spread {
  double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  size_t count = 0;
  void add(double value) {
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
    ++count;
  }
  double average() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  std::string text() const {
    return "avg=" + fixed(average(), 1) + "s min=" + fixed(least, 1) + "s max=" + fixed(most, 1) + "s";
  }
  Json json() const { return {{"average", average()}, {"least", count == 0 ? 0 : least}, {"most", most}}; }
};

struct BatchSummary {
  size_t completed = 0, failed = 0, verified = 0;
  Spread wall, prove;
  int status = kExitOk;  // of the worst: a wrong proof before an error of a call before a failed job
  std::string unverified;

  void worse(int other) {
    const auto rank = [](int s) {
      return s == exit_status(ErrorClass::kBadProof) ? 3 : s >= kExitJobFailed ? 1 : s > 0 ? 2 : 0;
    };
    if (rank(other) > rank(status)) status = other;
  }
  void add(const Attempt& attempt) {
    const bool good = !attempt.error && reply_status(attempt.reply.response) == kExitOk;
    if (!good) {
      ++failed;
      return worse(attempt.error ? exit_status(attempt.error->error_class) : reply_status(attempt.reply.response));
    }
    ++completed;
    if (attempt.reply.verdict.verified) {
      ++verified;
    } else {
      unverified = attempt.reply.verdict.text;
    }
    wall.add(attempt.reply.wall_seconds);
    prove.add(static_cast<double>(attempt.reply.response.gpu_compute_ms()) / 1000);
  }
};

std::string attempt_line(size_t i, size_t count, const Attempt& attempt) {
  const std::string place = "  [" + std::to_string(i + 1) + "/" + std::to_string(count) + "] ";
  if (attempt.error) return place + "ERROR — " + printable(attempt.error->describe());
  const v1::AwaitProofResponse& r = attempt.reply.response;
  std::string line = place + status_name(r.status()) + " — " + fixed(attempt.reply.wall_seconds, 1) +
                     "s (prove=" + std::to_string(r.gpu_compute_ms()) +
                     " ms, queue=" + std::to_string(r.queue_wait_ms()) + " ms)";
  if (reply_status(r) != kExitOk) line += ": " + printable(r.error_message());
  return line;
}

std::string summary_text(const BatchSummary& s, double seconds) {
  std::string text = "\n=== Batch Summary ===\ntotal time:    " + fixed(seconds, 1) +
                     "s\ncompleted:     " + std::to_string(s.completed) +
                     "\nfailed:        " + std::to_string(s.failed);
  if (s.completed == 0) return text;
  const auto done = static_cast<double>(s.completed);
  text += "\nwall time:     " + s.wall.text() + "\nprove time:    " + s.prove.text() +
          "\nthroughput:    " + fixed(done / seconds * 60, 3) + " proofs/min (" + fixed(seconds / done, 1) +
          "s/proof)\nverified:      " + std::to_string(s.verified);
  if (s.verified < s.completed) text += " of " + std::to_string(s.completed) + ": " + s.unverified;
  return text;
}

Result<Outcome> run_batch(const BenchOptions& options, Console& console) {
  CUZK_ASSIGN(Submission job, read_job(options.job, console.progress()));
  const v1::SubmitProofRequest request = wire_request(job);
  ReplyVerifier verifier(std::move(job), options.verify);
  // So that a daemon that is not there is told at once, and once.
  CUZK_ASSIGN(const auto first, connect(options.connect, kDefaultBenchAddress, console));
  CUZK_ASSIGN(const ClientOptions client, client_options(options.connect, kDefaultBenchAddress));
  console.say("=== Batch Benchmark ===\nproof type:  " + options.job.request.kind + "\ncount:       " +
              std::to_string(options.count) + "\nconcurrency: " + std::to_string(options.concurrency) + "\n");
  const auto start = std::chrono::steady_clock::now();
  BatchSummary summary;
  Outcome outcome;
  outcome.json["proofs"] = Json::array();
  {
    Batch batch(options, client, request, verifier);
    for (size_t i = 0; i < options.count; ++i) {
      const Attempt& attempt = batch.wait_for(i);
      console.say(attempt_line(i, options.count, attempt));
      summary.add(attempt);
      outcome.json["proofs"].push_back(attempt.error ? Json{{"status", "ERROR"},
                                                            {"error", attempt.error->describe()},
                                                            {"error_class", to_string(attempt.error->error_class)}}
                                                     : reply_json(attempt.reply, false));
    }
  }
  const double seconds = seconds_since(start);
  outcome.status = summary.status;
  outcome.text = summary_text(summary, seconds);
  outcome.json["count"] = options.count;
  outcome.json["concurrency"] = options.concurrency;
  outcome.json["batch_seconds"] = seconds;
  outcome.json["completed"] = summary.completed;
  outcome.json["failed"] = summary.failed;
  outcome.json["verified"] = summary.verified;
  outcome.json["wall_seconds"] = summary.wall.json();
  outcome.json["prove_seconds"] = summary.prove.json();
  return outcome;
}

void add_single_and_batch(CommandLine& line, CLI::App* bench, const std::shared_ptr<BenchGroup>& group) {
  const auto single = std::make_shared<BenchOptions>();
  CLI::App* command =
      line.add(bench, "single", "Has one proof made by the daemon, and verifies it",
               "  cuzk bench single -t porep --c1 c1.json\n"
               "  cuzk bench -a unix:///run/curio/cuzk.sock single -t winning --registered-proof 3 \\\n"
               "      --vanilla v.json --randomness HEX --json\n",
               [single, group](Console& console) { return run_single(group->complete(*single), console); });
  add_bench_options(command, *single);
  const auto batch = std::make_shared<BenchOptions>();
  command = line.add(bench, "batch", "Has the same proof made several times, and reports the throughput",
                     "  cuzk bench batch -t porep --c1 c1.json --count 10 --concurrency 2\n",
                     [batch, group](Console& console) { return run_batch(group->complete(*batch), console); });
  add_bench_options(command, *batch);
  command->add_option("-c,--count", batch->count, "Proofs to make; default 3")->check(CLI::Range(1U, 1'000'000U));
  command->add_option("-j,--concurrency", batch->concurrency, "How many at once; default 1")
      ->check(CLI::Range(1U, 1024U));
}

void add_questions(CommandLine& line, CLI::App* bench, const std::shared_ptr<BenchGroup>& group) {
  const auto status = std::make_shared<StatusOptions>();
  CLI::App* command = line.add(bench, "status", "Shows what the daemon does and holds", "  cuzk bench status\n",
                               [status, group](Console& console) {
                                 StatusOptions options = *status;
                                 options.connect = group->complete(options.connect);
                                 return run_status(options, kDefaultBenchAddress, console);
                               });
  add_connect_options(command, status->connect, kDefaultBenchAddress);
  const auto preload = std::make_shared<CircuitOptions>();
  command = line.add(bench, "preload", "Loads a circuit's parameters onto every device",
                     "  cuzk bench preload -c porep-32g\n", [preload, group](Console& console) {
                       CircuitOptions options = *preload;
                       options.connect = group->complete(options.connect);
                       return run_preload(options, kDefaultBenchAddress, console);
                     });
  command->add_option("-c,--circuit-id", preload->circuit, "Circuit, such as porep-32g or wpost-32g")->required();
  add_connect_options(command, preload->connect, kDefaultBenchAddress);
  const auto metrics = std::make_shared<ConnectOptions>();
  command = line.add(bench, "metrics", "Shows the daemon's metrics in Prometheus' text format",
                     "  cuzk bench metrics\n", [metrics, group](Console& console) {
                       return run_metrics(group->complete(*metrics), kDefaultBenchAddress, console);
                     });
  add_connect_options(command, *metrics, kDefaultBenchAddress);
}

}  // namespace

Result<ProofReply> prove_and_check(Client& client, const v1::SubmitProofRequest& request, ReplyVerifier& verifier) {
  ProofReply reply;
  const auto start = std::chrono::steady_clock::now();
  CUZK_ASSIGN(reply.response, client.prove(request));
  reply.wall_seconds = seconds_since(start);
  if (reply.response.status() == v1::AwaitProofResponse::COMPLETED) {
    CUZK_ASSIGN(reply.verdict, verifier.check(reply.response.proof()));
  }
  return reply;
}

ConnectOptions BenchGroup::complete(ConnectOptions options) const {
  if (options.address.empty()) options.address = address;
  return options;
}

BenchOptions BenchGroup::complete(BenchOptions options) const {
  options.connect = complete(options.connect);
  return options;
}

void add_bench_options(CLI::App* command, BenchOptions& options) {
  add_connect_options(command, options.connect, kDefaultBenchAddress);
  add_job_options(command, options.job, true);
  add_verify_options(command, options.verify);
}

void add_bench_client_commands(CommandLine& line, CLI::App* bench) {
  const auto group = std::make_shared<BenchGroup>();
  bench->add_option("-a,--addr", group->address, "Address of the daemon, for the commands that ask one");
  bench->add_option("--log-level", group->log_level, "Taken for the reference's sake; there is no log");
  add_single_and_batch(line, bench, group);
  add_stress_command(line, bench, group);
  add_questions(line, bench, group);
}

}  // namespace cuzk::app
