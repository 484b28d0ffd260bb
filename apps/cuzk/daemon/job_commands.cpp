#include "base/atomic_file.hpp"
#include "config/quantity.hpp"
#include "cuzk/daemon/client_options.hpp"
#include "cuzk/daemon/daemon_commands.hpp"
#include "cuzk/daemon/job_input.hpp"
#include "cuzk/daemon/reply_output.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

struct SubmitOptions {
  ConnectOptions connect;
  JobOptions job;
};

Result<Outcome> run_submit(const SubmitOptions& options, Console& console) {
  CUZK_ASSIGN(const Submission job, read_job(options.job, console.progress()));
  CUZK_ASSIGN(const auto client, connect(options.connect, kDefaultAddress, console));
  CUZK_ASSIGN(const v1::SubmitProofResponse response, client->submit(wire_request(job)));
  Outcome outcome;
  outcome.text = printable(response.job_id());
  outcome.json["job_id"] = response.job_id();
  outcome.json["queue_position"] = response.queue_position();
  outcome.json["attached"] = response.attached();
  return outcome;
}

struct AwaitOptions {
  ConnectOptions connect;
  JobOptions job;  // the id, and perhaps the input
  VerifyOptions verify;
  std::string timeout, out;
};

// The proof is checked where the caller says what it is a proof of.
Result<ReplyVerifier::Verdict> check_awaited(const AwaitOptions& options, const std::string& proof, Console& console) {
  if (options.job.request.kind.empty()) {
    return ReplyVerifier::Verdict{false, "the request was not given (--type and its input)"};
  }
  CUZK_ASSIGN(Submission job, read_job(options.job, console.progress()));
  return ReplyVerifier(std::move(job), options.verify).check(proof);
}

Status write_proof(const std::string& path, const std::string& proof) {
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(path));
  CUZK_TRY(out.write({reinterpret_cast<const uint8_t*>(proof.data()), proof.size()}));
  return out.commit();
}

Result<Outcome> run_await(const AwaitOptions& options, Console& console) {
  uint64_t timeout_ms = 0;
  if (!options.timeout.empty()) {
    const Result<Duration> timeout = parse_duration(options.timeout);
    if (!timeout.ok()) return Error(ErrorClass::kUsage, "--timeout: " + timeout.error().message);
    timeout_ms = std::max<uint64_t>(1, static_cast<uint64_t>(timeout->count()));
  }
  CUZK_ASSIGN(const auto client, connect(options.connect, kDefaultAddress, console));
  console.hint(ErrorClass::kNotFound,
               "the daemon keeps results for a time and a number: results.keep_for, results.keep");
  ProofReply reply;
  {
    const ScopedStage stage(console.progress(), "waiting for the proof");
    CUZK_ASSIGN(reply.response, client->await(options.job.job_id, timeout_ms));
  }
  reply.wall_seconds = console.progress().elapsed_seconds();
  if (reply.response.status() == v1::AwaitProofResponse::COMPLETED) {
    CUZK_ASSIGN(reply.verdict, check_awaited(options, reply.response.proof(), console));
    if (!options.out.empty()) CUZK_TRY(write_proof(options.out, reply.response.proof()));
  }
  Outcome outcome = describe_reply(reply);
  if (outcome.status == kExitOk && !options.out.empty()) {
    outcome.text += "\nwritten:   " + options.out;
    outcome.json["proof_file"] = options.out;
  }
  return outcome;
}

struct CancelOptions {
  ConnectOptions connect;
  std::string job_id;
};

Result<Outcome> run_cancel(const CancelOptions& options, Console& console) {
  CUZK_ASSIGN(const auto client, connect(options.connect, kDefaultAddress, console));
  CUZK_ASSIGN(const v1::CancelProofResponse response, client->cancel(options.job_id));
  if (!response.found() && !response.was_running()) {
    return Error(ErrorClass::kNotFound, "there is no unfinished job '" + options.job_id + "'");
  }
  Outcome outcome;
  outcome.text = printable(options.job_id) +
                 (response.was_running() ? " was running and stops at its next stage" : " was queued and is cancelled");
  outcome.json["job_id"] = options.job_id;
  outcome.json["was_running"] = response.was_running();
  return outcome;
}

void add_submit(CommandLine& line) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command =
      line.add(nullptr, "submit", "Gives the daemon a job and returns its id; it is proved whether or not one waits",
               "  cuzk submit -t porep --c1 c1.json --miner-id 1000 --sector-num 7\n"
               "  cuzk submit -t winning --registered-proof 3 --vanilla v.json --randomness HEX --deadline 90s\n",
               [options](Console& console) { return run_submit(*options, console); });
  add_connect_options(command, options->connect, kDefaultAddress);
  add_job_options(command, options->job, true);
}

void add_await(CommandLine& line) {
  const auto options = std::make_shared<AwaitOptions>();
  CLI::App* command =
      line.add(nullptr, "await", "Waits for a job and shows its proof; with the job's input the proof is verified",
               "  cuzk await JOB --out proof.bin\n"
               "  cuzk await JOB --timeout 30s --json\n"
               "  cuzk await JOB -t porep --c1 c1.json --miner-id 1000 --sector-num 7 --dir D\n",
               [options](Console& console) { return run_await(*options, console); });
  command->add_option("job", options->job.job_id, "Id of the job")->required();
  command->add_option("--timeout", options->timeout, "How long to wait, such as 30s; default: until it has ended");
  command->add_option("--out", options->out, "Where the proof goes: 192 bytes a partition");
  add_connect_options(command, options->connect, kDefaultAddress);
  add_verify_options(command, options->verify);
  add_job_options(command, options->job, false);
  command->get_option("--type")->required(false);
}

}  // namespace

void add_job_commands(CommandLine& line) {
  add_submit(line);
  add_await(line);
  const auto options = std::make_shared<CancelOptions>();
  CLI::App* cancel = line.add(nullptr, "cancel", "Ends every unfinished job of an id", "  cuzk cancel JOB\n",
                              [options](Console& console) { return run_cancel(*options, console); });
  cancel->add_option("job", options->job_id, "Id of the job")->required();
  add_connect_options(cancel, options->connect, kDefaultAddress);
}

}  // namespace cuzk::app
