// `cuzk bench stress`: many clients at once, some of which change their mind.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "base/random.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/daemon/bench_client.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

using Clock = std::chrono::steady_clock;

struct StressOptions {
  BenchOptions bench;
  uint32_t clients = 8, jobs = 10;  // jobs of each client
  uint32_t cancel_percent = 10;
  bool mixed_priorities = false;
  std::string evict;  // circuit
  uint32_t evict_every = 10;
};

struct Tally {
  size_t completed = 0, verified = 0, cancelled = 0, failed = 0, wrong = 0, call_errors = 0, refusals = 0,
         evictions = 0;
  std::vector<double> seconds;               // of completed ones
  std::map<std::string, size_t> complaints;  // texts of what went wrong

  void add(const Tally& other) {
    completed += other.completed;
    verified += other.verified;
    cancelled += other.cancelled;
    failed += other.failed;
    wrong += other.wrong;
    call_errors += other.call_errors;
    refusals += other.refusals;
    evictions += other.evictions;
    seconds.insert(seconds.end(), other.seconds.begin(), other.seconds.end());
    for (const auto& [text, count] : other.complaints) complaints[text] += count;
  }
};

constexpr auto kRefusalPause = std::chrono::milliseconds(50);
constexpr int kMostRefusals = 1200;  // a minute of them for one job

// One client: a connection, and one job after the other.
class StressClient {
 public:
  StressClient(const StressOptions& options, v1::SubmitProofRequest request, ReplyVerifier& verifier, uint64_t seed)
      : options_(options), request_(std::move(request)), verifier_(verifier), random_(seed) {}

  Tally run(const ClientOptions& connection, uint32_t number) {
    for (uint32_t i = 0; i < options_.jobs; ++i) {
      if (client_ == nullptr) {
        Result<std::unique_ptr<Client>> connected = Client::connect(connection);
        if (!connected.ok()) {
          complain(connected.error());
          continue;
        }
        client_ = std::move(connected).value();
      }
      one_job();
      if (!options_.evict.empty() && number == 0 && (i + 1) % options_.evict_every == 0) evict();
    }
    return std::move(tally_);
  }

 private:
  void complain(const Error& error) {
    if (error.error_class == ErrorClass::kBadProof) {
      ++tally_.wrong;
    } else {
      ++tally_.call_errors;
      client_ = nullptr;  // the next job connects anew
    }
    ++tally_.complaints[error.describe()];
  }

  void evict() {
    const auto evicted =
        client_ == nullptr ? Result<v1::EvictSrsResponse>(v1::EvictSrsResponse()) : client_->evict(options_.evict);
    if (evicted.ok() && evicted->was_loaded()) ++tally_.evictions;
    // In use is as good an answer.
    if (!evicted.ok() && evicted.error().error_class != ErrorClass::kResource) complain(evicted.error());
  }

  void one_job() {
    const Result<std::string> id = make_job_id();
    if (!id.ok()) return complain(id.error());
    request_.set_request_id(*id);
    if (options_.mixed_priorities) request_.set_priority(static_cast<v1::Priority>(1 + random_() % 4));
    const bool cancel = random_() % 100 < options_.cancel_percent;
    for (int refusals = 0; refusals < kMostRefusals; ++refusals) {
      const Result<ProofReply> reply = cancel ? submit_and_cancel() : prove_and_check(*client_, request_, verifier_);
      if (reply.ok()) return count(*reply, cancel);
      if (reply.error().error_class != ErrorClass::kResource || refusals + 1 == kMostRefusals) {
        return complain(reply.error());
      }
      ++tally_.refusals;
      std::this_thread::sleep_for(kRefusalPause);
    }
  }

  Result<ProofReply> submit_and_cancel() {
    ProofReply reply;
    CUZK_TRY(client_->submit(request_));
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 300));
    CUZK_TRY(client_->cancel(request_.request_id()));
    CUZK_ASSIGN(reply.response, client_->await(request_.request_id()));
    if (reply.response.status() == v1::AwaitProofResponse::COMPLETED) {
      CUZK_ASSIGN(reply.verdict, verifier_.check(reply.response.proof()));
    }
    return reply;
  }

  void count(const ProofReply& reply, bool cancel) {
    const v1::AwaitProofResponse& r = reply.response;
    if (r.status() == v1::AwaitProofResponse::COMPLETED) {
      ++tally_.completed;
      if (reply.verdict.verified) ++tally_.verified;
      if (!cancel) tally_.seconds.push_back(reply.wall_seconds);
    } else if (cancel && r.status() == v1::AwaitProofResponse::CANCELLED) {
      ++tally_.cancelled;
    } else {
      ++tally_.failed;
      ++tally_.complaints[std::string(status_name(r.status())) + ": " + r.error_message()];
    }
  }

  const StressOptions& options_;
  v1::SubmitProofRequest request_;
  ReplyVerifier& verifier_;
  std::mt19937_64 random_;
  std::unique_ptr<Client> client_;
  Tally tally_;
};

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f ms", seconds * 1000);
  return text;
}

Outcome describe(const StressOptions& options, Tally& tally, double seconds) {
  std::sort(tally.seconds.begin(), tally.seconds.end());
  const auto quantile = [&](double q) {
    if (tally.seconds.empty()) return 0.0;
    return tally.seconds[static_cast<size_t>(q * static_cast<double>(tally.seconds.size() - 1) + 0.5)];
  };
  Outcome outcome;
  std::string& text = outcome.text;
  const auto line = [&](const std::string& name, const char* key, size_t value) {
    text += "\n" + name + std::string(15 - name.size(), ' ') + std::to_string(value);
    outcome.json[key] = value;
  };
  text = "=== Stress Summary ===";
  line("clients:", "clients", options.clients);
  line("jobs:", "jobs", size_t{options.clients} * options.jobs);
  line("completed:", "completed", tally.completed);
  line("verified:", "verified", tally.verified);
  line("cancelled:", "cancelled", tally.cancelled);
  line("failed:", "failed", tally.failed);
  line("wrong proofs:", "wrong_proofs", tally.wrong);
  line("call errors:", "call_errors", tally.call_errors);
  line("refusals:", "refusals", tally.refusals);
  line("evictions:", "evictions", tally.evictions);
  char pace[48];
  std::snprintf(pace, sizeof pace, "%.1fs, %.2f proofs/s", seconds, static_cast<double>(tally.completed) / seconds);
  text += std::string("\ntotal time:    ") + pace;
  text += "\nwall time:     median " + milliseconds(quantile(0.5)) + ", 99 % " + milliseconds(quantile(0.99)) +
          ", most " + milliseconds(quantile(1));
  outcome.json["stress_seconds"] = seconds;
  outcome.json["wall_ms"] = {
      {"median", quantile(0.5) * 1000}, {"p99", quantile(0.99) * 1000}, {"most", quantile(1) * 1000}};
  outcome.json["complaints"] = Json::object();
  for (const auto& [complaint, count] : tally.complaints) {
    text += "\n  " + std::to_string(count) + " times: " + printable(complaint);
    outcome.json["complaints"][complaint] = count;
  }
  if (tally.wrong > 0) {
    outcome.status = exit_status(ErrorClass::kBadProof);
  } else if (tally.call_errors > 0) {
    outcome.status = exit_status(ErrorClass::kIo);
  } else if (tally.failed > 0) {
    outcome.status = kExitJobFailed;
  }
  return outcome;
}

Result<Outcome> run_stress(const StressOptions& options, Console& console) {
  CUZK_ASSIGN(Submission job, read_job(options.bench.job, console.progress()));
  const v1::SubmitProofRequest request = wire_request(job);
  ReplyVerifier verifier(std::move(job), options.bench.verify);
  CUZK_ASSIGN(const auto first, connect(options.bench.connect, kDefaultBenchAddress, console));
  CUZK_ASSIGN(const ClientOptions connection, client_options(options.bench.connect, kDefaultBenchAddress));
  std::array<uint64_t, 1> seed{};
  CUZK_TRY(os_random({reinterpret_cast<uint8_t*>(seed.data()), sizeof seed}));
  const auto start = Clock::now();
  std::vector<Tally> tallies(options.clients);
  {
    const ScopedStage stage(console.progress(), "stress");
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < options.clients; ++i) {
      threads.emplace_back(
          [&, i] { tallies[i] = StressClient(options, request, verifier, seed[0] + i).run(connection, i); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  Tally sum;
  for (const Tally& tally : tallies) sum.add(tally);
  return describe(options, sum, std::chrono::duration<double>(Clock::now() - start).count());
}

}  // namespace

void add_stress_command(CommandLine& line, CLI::App* bench, const std::shared_ptr<BenchGroup>& group) {
  const auto options = std::make_shared<StressOptions>();
  CLI::App* command =
      line.add(bench, "stress", "Many clients at once: jobs, cancellations, evictions; every proof is verified",
               "  cuzk bench stress -t winning --registered-proof 0 --vanilla v.json --randomness HEX --clients 32 \\\n"
               "      --jobs 500 --cancel-percent 10 --evict winning-2k\n",
               [options, group](Console& console) {
                 StressOptions complete = *options;
                 complete.bench = group->complete(complete.bench);
                 return run_stress(complete, console);
               });
  add_bench_options(command, options->bench);
  command->add_option("--clients", options->clients, "Clients at once; default 8")->check(CLI::Range(1U, 4096U));
  command->add_option("--jobs", options->jobs, "Jobs of each; default 10")->check(CLI::Range(1U, 1'000'000U));
  command->add_option("--cancel-percent", options->cancel_percent, "How many are cancelled; default 10")
      ->check(CLI::Range(0U, 100U));
  command->add_flag("--mixed-priorities", options->mixed_priorities, "Gives each job a random priority");
  command->add_option("--evict", options->evict, "Circuit that is evicted again and again");
  command->add_option("--evict-every", options->evict_every, "After how many jobs of the first client; default 10")
      ->check(CLI::Range(1U, 1'000'000U));
}

}  // namespace cuzk::app
