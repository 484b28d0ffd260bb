// What daemon and worker say arrives as it was said, and nothing else is taken for it.
#include "worker/protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <variant>

#include "worker/faults.hpp"
#include "worker/printable.hpp"
#include "worker/worker_main.hpp"

namespace cuzk {
namespace {

using Bytes = std::vector<uint8_t>;

std::vector<WorkerCommand> commands() {
  return {LoadTask{7, "porep-32g", "/p/v28.params", "/c/porep-32g.circuit", {4, uint64_t{1} << 28}},
          LoadTask{},
          UnloadTask{8, "winning-2k"},
          ProveTask{UINT64_MAX, "window-2k", kMostTogether},
          CancelTask{9},
          TaskWitness{7, 15},
          YieldTask{10}};
}

Error full_error() {
  Error error(ErrorClass::kCorrupt, "what");
  error.field = "h[17]";
  error.file = "/p/x.params";
  error.offset = 18;
  error.sector = 19;
  error.partition = 20;
  return error;
}

// As it comes back from among several.
Error short_error() {
  Error error = full_error();
  error.file.clear();
  return error;
}

std::vector<WorkerReply> replies() {
  PartitionProof proof;
  for (size_t i = 0; i < proof.proof.size(); ++i) proof.proof[i] = static_cast<uint8_t>(i * 7);
  proof.compute_ms = 1234;
  return {WorkerReady{kWorkerProtocolVersion, {3, "CPU, 2 threads", true, 1ULL << 40, 6, 5, 132, "GPU-1"}},
          WorkerUnusable{full_error()},
          WorkerBeat{1, 2, "sum h"},
          TaskLoaded{2, {3, 4, 5}},
          TaskUnloaded{6},
          TaskProved{7, {proof}},
          TaskProved{8, {proof, short_error(), proof}},
          TaskFailed{8, full_error()},
          TaskFailed{9, Error(ErrorClass::kUsage, "")}};
}

TEST(WorkerProtocol, CommandsArrive) {
  for (const WorkerCommand& command : commands()) {
    const auto read = decode_command(encode(command));
    ASSERT_TRUE(read.ok()) << command.index();
    EXPECT_TRUE(*read == command) << command.index();
  }
}

TEST(WorkerProtocol, RepliesArrive) {
  for (const WorkerReply& reply : replies()) {
    const auto read = decode_reply(encode(reply));
    ASSERT_TRUE(read.ok()) << reply.index();
    EXPECT_EQ(read->index(), reply.index());
    EXPECT_EQ(encode(*read), encode(reply)) << reply.index();
  }
  const auto failed = decode_reply(encode(WorkerReply(TaskFailed{8, full_error()})));
  const Error& error = std::get<TaskFailed>(*failed).error;
  EXPECT_EQ(error.describe(), full_error().describe());
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
  const auto ready = decode_reply(encode(replies()[0]));
  const DeviceInfo& device = std::get<WorkerReady>(*ready).device;
  EXPECT_EQ(device.name, "CPU, 2 threads");
  EXPECT_EQ(device.memory_total_bytes, 1ULL << 40);
  EXPECT_EQ(device.memory_usable_bytes, 6u);
  EXPECT_EQ(device.memory_free_bytes, 5u);
  EXPECT_EQ(device.multiprocessors, 132u);
  EXPECT_EQ(device.uuid, "GPU-1");
  EXPECT_TRUE(device.is_gpu);
}

// Each message, with one byte less or more, is none.
template <class Decode>
void expect_exact_length(const Bytes& packet, Decode decode) {
  for (size_t size = 0; size < packet.size(); ++size) {
    const auto cut = decode(std::span(packet).first(size));
    ASSERT_FALSE(cut.ok()) << size;
    ASSERT_EQ(cut.error().error_class, ErrorClass::kCorrupt);
  }
  Bytes longer = packet;
  longer.push_back(0);
  ASSERT_FALSE(decode(longer).ok());
}

TEST(WorkerProtocol, OtherLengthsAreRefused) {
  for (const WorkerCommand& command : commands()) expect_exact_length(encode(command), decode_command);
  for (const WorkerReply& reply : replies()) expect_exact_length(encode(reply), decode_reply);
}

TEST(WorkerProtocol, RepliesAreNoCommands) {
  for (const WorkerReply& reply : replies()) EXPECT_FALSE(decode_command(encode(reply)).ok());
  for (const WorkerCommand& command : commands()) EXPECT_FALSE(decode_reply(encode(command)).ok());
}

TEST(WorkerProtocol, WrongNumbersAreRefused) {
  Bytes magic = encode(commands()[3]);
  magic[0] ^= 1;
  EXPECT_FALSE(decode_command(magic).ok());
  Bytes type = encode(commands()[3]);
  type[4] = 6;
  EXPECT_FALSE(decode_command(type).ok());
  // The length of a text says more than there is, and more than there may be.
  for (const uint32_t length : {10u, 201u, 0x7fffffffu, 0xffffffffu}) {
    Bytes text = encode(WorkerCommand(ProveTask{1, "window-2k"}));
    std::copy_n(reinterpret_cast<const uint8_t*>(&length), 4, text.begin() + 16);
    EXPECT_FALSE(decode_command(text).ok()) << length;
  }
  for (const uint32_t multiples : {0u, kMostMultiples + 1, UINT32_MAX}) {
    EXPECT_FALSE(decode_command(encode(WorkerCommand(LoadTask{1, "c", "p", "f", {multiples, 0}}))).ok()) << multiples;
  }
  Bytes flag = encode(WorkerReply(WorkerReady{1, {}}));
  flag[20] = 2;  // after the head, the version, the ordinal and an empty name
  EXPECT_FALSE(decode_reply(flag).ok());
  Bytes error_class = encode(WorkerReply(TaskFailed{1, Error(kLastErrorClass, "x")}));
  EXPECT_TRUE(decode_reply(error_class).ok());
  ++error_class[16];
  EXPECT_FALSE(decode_reply(error_class).ok());
}

TEST(WorkerProtocol, FromOneWitnessToTheMostThatGoTogether) {
  const PartitionProof proof{};
  for (const uint32_t count : {0u, 1u, kMostTogether, kMostTogether + 1, UINT32_MAX}) {
    const bool good = count > 0 && count <= kMostTogether;
    EXPECT_EQ(decode_command(encode(WorkerCommand(ProveTask{1, "c", count}))).ok(), good) << count;
    if (count > 100) continue;
    EXPECT_EQ(decode_reply(encode(WorkerReply(TaskProved{1, Proofs(count, proof)}))).ok(), good) << count;
  }
  // Long errors of all of them are cut, and fit.
  Error error(ErrorClass::kUnsatisfied, std::string(100'000, 'm'));
  error.field = error.file = error.message;
  error.offset = error.sector = error.partition = 1;
  const Bytes packet = encode(WorkerReply(TaskProved{1, Proofs(kMostTogether, error)}));
  EXPECT_LE(packet.size(), kMostPacketBytes);
  const auto read = decode_reply(packet);
  ASSERT_TRUE(read.ok());
  const Error& last = std::get<TaskProved>(*read).proofs.back().error();
  EXPECT_EQ(last.error_class, ErrorClass::kUnsatisfied);
  EXPECT_EQ(last.message, std::string(kMostShortMessageBytes - 3, 'm') + "...");
  EXPECT_EQ(last.file, "");
}

TEST(WorkerProtocol, LongPacketsAreRefused) {
  EXPECT_FALSE(decode_command(Bytes(kMostPacketBytes + 1)).ok());
  // The longest that there can be are not.
  const std::string path(kMostPathBytes, 'x');
  const Bytes load = encode(WorkerCommand(LoadTask{1, std::string(kMostNameBytes, 'c'), path, path}));
  EXPECT_TRUE(decode_command(load).ok());
  EXPECT_FALSE(decode_command(encode(WorkerCommand(LoadTask{1, "c", path + "y", path}))).ok());
  Error error(ErrorClass::kIo, std::string(100'000, 'm'));
  error.field = error.file = error.message;
  const Bytes failed = encode(WorkerReply(TaskFailed{1, error}));
  EXPECT_LE(failed.size(), kMostPacketBytes);
  const auto read = decode_reply(failed);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<TaskFailed>(*read).error.message, std::string(kMostMessageBytes - 3, 'm') + "...");
}

// Seeds of the fuzzer that are no messages lead it nowhere.
TEST(WorkerProtocol, TheFuzzersSeedsAreMessages) {
  std::set<std::pair<bool, size_t>> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(CUZK_GOLDEN_DIR "/../../fuzz/corpus/worker_protocol")) {
    std::ifstream in(entry.path(), std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto command = decode_command(bytes);
    const auto reply = decode_reply(bytes);
    EXPECT_TRUE(command.ok() || reply.ok()) << entry.path();
    if (command.ok()) kinds.emplace(true, command->index());
    if (reply.ok()) kinds.emplace(false, reply->index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<WorkerCommand> + std::variant_size_v<WorkerReply>);
}

TEST(WorkerProtocol, RepliesArePrintable) {
  Bytes packet = encode(WorkerReply(WorkerBeat{1, 2, "sum h"}));
  packet[packet.size() - 2] = '\n';
  packet[packet.size() - 1] = 0xff;
  EXPECT_EQ(std::get<WorkerBeat>(*decode_reply(packet)).stage, "sum??");
}

TEST(WorkerProtocol, AnyChangeIsReadOrRefused) {
  std::mt19937_64 rng(1);
  size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes packet = encode(replies()[rng() % replies().size()]);
    for (uint64_t k = rng() % 4; k < 4; ++k) packet[rng() % packet.size()] = static_cast<uint8_t>(rng());
    if (rng() % 4 == 0) packet.resize(rng() % (packet.size() + 20));
    const auto reply = decode_reply(packet);
    if (!reply.ok()) continue;
    ++read;
    const auto again = decode_reply(encode(*reply));
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(encode(*again), encode(*reply));
  }
  EXPECT_GT(read, 1000u);
}

TEST(Printable, KeepsTextAndReplacesTheRest) {
  EXPECT_EQ(printable("sum h", 10), "sum h");
  EXPECT_EQ(printable("a\tb\r\x1b[2J\x7f", 20), "a?b??[2J?");
  EXPECT_EQ(printable("Grüße ✓ 😀", 40), "Grüße ✓ 😀");
  // Overlong, surrogate, beyond the last, cut, lone continuation.
  EXPECT_EQ(printable("\xc0\xaf|\xe0\x80\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x9c|\x80|\xff", 40),
            "??|???|???|????|??|?|?");
  EXPECT_EQ(printable("", 0), "");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abc...");
  EXPECT_EQ(printable("✓✓✓", 9), "✓✓✓");
  EXPECT_EQ(printable("✓✓✓✓", 9), "✓✓...");
  EXPECT_EQ(printable("✓✓✓✓", 10), "✓✓...");
  EXPECT_EQ(printable("abc", 2), "");
  for (size_t most = 0; most < 20; ++most) {
    const std::string once = printable("\xffGrüße ✓ 😀 und mehr", most);
    EXPECT_LE(once.size(), most);
    EXPECT_EQ(printable(once, most), once);
  }
}

TEST(WorkerFaults, Parse) {
  const auto plan = parse_faults("crash@3,slow@*=200,wrong-proof@0");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(*plan,
            (std::vector<PlannedFault>{{WorkerFault::kCrash, 3, {}},
                                       {WorkerFault::kSlow, PlannedFault::kEvery, std::chrono::milliseconds(200)},
                                       {WorkerFault::kWrongProof, 0, {}}}));
  EXPECT_TRUE(parse_faults("")->empty());
  for (const char* wrong :
       {"crash", "crash@", "crash@x", "crash@1=", "boom@1", "crash@-1", "crash@1 ", "slow@1=9999999999"}) {
    EXPECT_FALSE(parse_faults(wrong).ok()) << wrong;
  }
}

TEST(WorkerArguments, ArriveAsGiven) {
  WorkerOptions options;
  options.descriptor = 9;
  options.device = "cuda";
  options.ordinal = 3;
  options.threads = 17;
  options.niceness = -5;
  options.memory_bytes = 1ULL << 40;
  options.core_dumps = true;
  options.beat = std::chrono::milliseconds(77);
  options.faults = "crash@3";
  const auto read = read_arguments(to_arguments(options));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, options);
  const auto defaults = read_arguments(to_arguments(WorkerOptions{}));
  EXPECT_EQ(*defaults, WorkerOptions{});
}

TEST(WorkerArguments, OthersAreRefused) {
  using Arguments = std::vector<std::string>;
  for (const Arguments& wrong : {Arguments{},
                                 {"--device=cpu"},
                                 {"--fd=2"},
                                 {"--fd"},
                                 {"--fd=3", "--fd"},
                                 {"--fd=3", "cpu"},
                                 {"--fd=3x"},
                                 {"--fd=3", "--beat-ms=0"},
                                 {"--fd=3", "--threads=5000"},
                                 {"--fd=3", "--other=1"},
                                 {"--fd=3", "--core-dumps=2"}}) {
    const auto read = read_arguments(wrong);
    ASSERT_FALSE(read.ok()) << testing::PrintToString(wrong);
    EXPECT_EQ(read.error().error_class, ErrorClass::kUsage);
  }
}

}  // namespace
}  // namespace cuzk
