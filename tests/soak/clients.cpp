#include "soak/clients.hpp"

#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <thread>

#include "client/client.hpp"
#include "groth16/proof.hpp"
#include "soak/small_proofs.hpp"

namespace cuzk::soak {
namespace {

using namespace std::chrono_literals;
using Answer = v1::AwaitProofResponse;

// A client that is refused comes again.
constexpr auto kRefusalPause = 20ms;
constexpr int kMostRefusals = 1500;

class OneClient {
 public:
  OneClient(const ClientsOptions& options, const PreparedVerifyingKey& key, uint32_t number)
      : options_(options), key_(key), number_(number), random_(options.seed * 1000 + number) {}

  Tally run(const std::function<void()>& on_job) {
    ClientOptions connection;
    connection.address = options_.addresses[number_ % options_.addresses.size()];
    if (!connection.address.starts_with("unix:")) connection.address = "http://" + connection.address;
    Result<std::unique_ptr<Client>> connected = Client::connect(connection);
    if (!connected.ok()) {
      complain("connect", connected.error());
      return std::move(tally_);
    }
    client_ = std::move(*connected);
    for (job_ = 0; job_ < options_.jobs; ++job_) {
      one_job();
      if (number_ == 0 && job_ % 16 == 15) change_what_is_loaded();
      on_job();
    }
    while (!later_.empty()) collect();
    return std::move(tally_);
  }

 private:
  struct Job {
    uint64_t number;
    v1::SubmitProofRequest request;
  };
  struct Ends {
    bool cancelled = false, expired = false, failed = false;  // beside completed
  };

  Job new_job() {
    Job job;
    job.number = random_();
    Submission submission = submission_of(random_() % 2 == 0 ? ProofKind::kWindow : ProofKind::kWinning, job.number);
    submission.request_id = "client-" + std::to_string(number_) + "-" + std::to_string(job_);
    job.request = wire_request(submission);
    job.request.set_priority(static_cast<v1::Priority>(random_() % 5));
    return job;
  }

  void one_job() {
    Job job = new_job();
    const uint64_t way = random_() % 100;
    if (way < 50) {
      prove(job);
    } else if (way < 65) {
      submit_and_await(job);
    } else if (way < 75) {
      cancel(job);
    } else if (way < 80) {
      expire(job);
    } else if (way < 84) {
      job.request.set_vanilla_proofs(0, "no number");
      const std::optional<Answer> answer = proved(job);
      if (answer) end(job, *answer, {.failed = true});
      if (answer && answer->status() == Answer::COMPLETED) complain("a malformed request was proved");
    } else if (way < 90) {
      repeat(job);
    } else if (way < 94) {
      same_id_other_content(job);
    } else if (way < 97) {
      go_away(job);
    } else {
      if (submitted(job)) later_.push_back(job);
      if (later_.size() > 4) collect();
    }
  }

  void prove(const Job& job) {
    if (const std::optional<Answer> answer = proved(job)) end(job, *answer, {});
  }

  void submit_and_await(const Job& job) {
    if (!submitted(job)) return;
    std::optional<Answer> answer = awaited(job);
    if (!answer) return;
    end(job, *answer, {});
    // Its end is its end.
    if (random_() % 4 != 0) return;
    const std::optional<Answer> again = awaited(job);
    if (again && (again->status() != answer->status() || again->proof() != answer->proof())) {
      complain("a second answer differs from the first");
    }
  }

  void cancel(const Job& job) {
    if (!submitted(job)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 30'000));
    (void)unless_refused("cancel", [&] { return client_->cancel(id(job)); });
    if (const std::optional<Answer> answer = awaited(job)) end(job, *answer, {.cancelled = true});
  }

  void expire(Job& job) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto deadline =
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count() + static_cast<int64_t>(random_() % 60);
    job.request.set_deadline_unix_ms(static_cast<uint64_t>(deadline));
    if (!submitted(job)) return;
    if (const std::optional<Answer> answer = awaited(job)) end(job, *answer, {.expired = true});
  }

  // Twice the same is one job.
  void repeat(const Job& job) {
    if (!submitted(job)) return;
    const auto again = client_->submit(job.request);
    if (!again.ok()) {
      if (again.error().error_class != ErrorClass::kResource) complain("submit again", again.error());
    } else if ((!again->attached() && !options_.memory_fails) || again->job_id() != id(job)) {
      complain("the same request became another job");
    } else {
      ++tally_.attached;
    }
    const std::optional<Answer> first = proved(job), second = awaited(job);
    if (first) end(job, *first, {});
    const bool both = first && second && !is_for_memory(*first) && !is_for_memory(*second);
    if (both && first->proof() != second->proof()) complain("one job gave two proofs");
  }

  // Two jobs, whose proofs must not be mixed up.
  void same_id_other_content(const Job& job) {
    Job other = new_job();
    if (!submitted(job)) return;
    if (const std::optional<Answer> answer = proved(other)) {
      end(other, *answer, {});
    }
    // The id's newest job is the other one: this answer is known by its content alone.
    if (const std::optional<Answer> answer = proved(job)) end(job, *answer, {});
  }

  // The job is taken or not; where it is, it is proved, or cancelled when nobody came back.
  void go_away(const Job& job) {
    const auto gone = client_->prove(job.request, std::chrono::milliseconds(1 + random_() % 20));
    if (gone.ok()) return end(job, *gone, {.cancelled = true, .expired = true});
    if (gone.error().error_class != ErrorClass::kResource) complain("prove in a hurry", gone.error());
    ++tally_.unknown;
  }

  void collect() {
    const Job job = later_.front();
    later_.pop_front();
    auto answer = client_->await(id(job));
    for (int i = 0; i < kMostRefusals && options_.memory_fails && is_resource(answer); ++i) {
      answer = client_->await(id(job));
    }
    if (answer.ok()) return end(job, *answer, {});
    if (answer.error().error_class != ErrorClass::kNotFound) complain("await", answer.error());
    ++tally_.unknown;
  }

  void change_what_is_loaded() {
    const char* circuit = random_() % 2 == 0 ? kWindow : kWinning;
    const auto evicted = client_->evict(circuit);
    if (evicted.ok() && evicted->was_loaded()) ++tally_.evictions;
    if (!evicted.ok() && evicted.error().error_class != ErrorClass::kResource) complain("evict", evicted.error());
    const auto loaded = client_->preload(circuit);
    if (loaded.ok()) ++tally_.preloads;
    if (!loaded.ok() && loaded.error().error_class != ErrorClass::kResource) complain("preload", loaded.error());
  }

  static const std::string& id(const Job& job) { return job.request.request_id(); }

  template <class Answered>
  static bool is_resource(const Answered& answer) {
    return !answer.ok() && answer.error().error_class == ErrorClass::kResource;
  }

  template <class Call>
  auto unless_refused(const char* what, const Call& call) -> std::optional<std::decay_t<decltype(*call())>> {
    for (int refusals = 0; refusals < kMostRefusals; ++refusals) {
      auto answer = call();
      if (answer.ok()) return std::move(*answer);
      if (answer.error().error_class != ErrorClass::kResource) {
        complain(what, answer.error());
        return std::nullopt;
      }
      ++tally_.refusals;
      std::this_thread::sleep_for(kRefusalPause);
    }
    complain(std::string(what) + ": refused for too long");
    return std::nullopt;
  }
  bool submitted(const Job& job) {
    const auto answer = unless_refused("submit", [&] { return client_->submit(job.request); });
    if (!answer) return false;
    if (answer->job_id() != id(job)) complain("another id");
    return true;
  }
  std::optional<Answer> proved(const Job& job) {
    return unless_refused("prove", [&] { return client_->prove(job.request); });
  }
  std::optional<Answer> awaited(const Job& job) {
    return unless_refused("await", [&] { return client_->await(id(job)); });
  }

  // The daemon had no memory for the job, and says that a retry may help.
  bool is_for_memory(const Answer& answer) const {
    return options_.memory_fails && answer.status() == Answer::FAILED && answer.error_class() == "resource" &&
           answer.retry_helps();
  }

  void end(const Job& job, const Answer& answer, const Ends& allowed) {
    if (is_for_memory(answer)) {
      ++tally_.failed;
      ++tally_.for_memory;
      return;
    }
    if (answer.job_id() != id(job)) complain("an answer for " + answer.job_id());
    switch (answer.status()) {
      case Answer::COMPLETED:
        ++tally_.completed;
        if (verifies(job, answer.proof())) {
          ++tally_.proofs;
        } else {
          complain("a proof that does not verify");
        }
        return;
      case Answer::CANCELLED:
        ++tally_.cancelled;
        if (!allowed.cancelled) complain("cancelled: " + answer.error_message());
        return;
      case Answer::TIMEOUT:
        ++tally_.expired;
        if (!allowed.expired || answer.unfinished()) complain("expired: " + answer.error_message());
        return;
      case Answer::FAILED:
        ++tally_.failed;
        if (!allowed.failed || answer.error_class() != "invalid-input") complain("failed: " + answer.error_message());
        return;
      default: complain("an answer without a state");
    }
  }
  bool verifies(const Job& job, const std::string& bytes) const {
    const Result<Proof> proof = decode_proof({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    return proof.ok() && verify(key_, *proof, public_inputs(job.number)).ok();
  }

  void complain(const std::string& what) { ++tally_.complaints[what]; }
  void complain(const std::string& what, const Error& error) { complain(what + ": " + error.describe()); }

  const ClientsOptions& options_;
  const PreparedVerifyingKey& key_;
  const uint32_t number_;
  uint32_t job_ = 0;
  std::mt19937_64 random_;
  std::unique_ptr<Client> client_;
  std::deque<Job> later_;  // submitted, to be awaited some time
  Tally tally_;
};

}  // namespace

void Tally::add(const Tally& other) {
  completed += other.completed;
  cancelled += other.cancelled;
  expired += other.expired;
  failed += other.failed;
  for_memory += other.for_memory;
  unknown += other.unknown;
  proofs += other.proofs;
  attached += other.attached;
  evictions += other.evictions;
  preloads += other.preloads;
  refusals += other.refusals;
  for (const auto& [text, count] : other.complaints) complaints[text] += count;
}

Tally run_clients(const ClientsOptions& options, const VerifyingKey& key, const std::function<void()>& on_job) {
  const PreparedVerifyingKey prepared(key);
  std::vector<Tally> tallies(options.clients);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < options.clients; ++i) {
    threads.emplace_back([&, i] { tallies[i] = OneClient(options, prepared, i).run(on_job); });
  }
  for (std::thread& thread : threads) thread.join();
  Tally sum;
  for (const Tally& tally : tallies) sum.add(tally);
  return sum;
}

}  // namespace cuzk::soak
