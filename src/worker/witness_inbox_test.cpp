// Witnesses come out in the order in which they were put in, and nobody waits for what is not wanted any more.
#include "worker/witness_inbox.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <future>
#include <system_error>

#include "worker/shared_witness.hpp"

namespace cuzk {
namespace {

using namespace std::chrono_literals;

class Flags final : public Progress {
 public:
  void begin_stage(std::string_view, uint64_t, std::string_view) override {}
  void advance(uint64_t) override {}
  void end_stage() override {}
  bool stop_requested() const override { return stop; }
  bool yield_requested() const override { return yield; }
  std::atomic<bool> stop = false, yield = false;
};

PackedWitness witness(uint64_t number) {
  PackedWitness out;
  out.inputs = {Fr::one(), Fr::from_u64(number)};
  return out;
}
Descriptor shared(uint64_t number) { return std::move(share_witness(witness(number))).value(); }

TEST(WitnessInbox, GivesThemInOrder) {
  Flags flags;
  WitnessInbox inbox(3, flags);
  EXPECT_EQ(inbox.size(), 3u);
  EXPECT_TRUE(inbox.put(0, shared(10)));
  EXPECT_EQ(**inbox.get(0), witness(10));
  auto second = std::async(std::launch::async, [&] { return **inbox.get(1); });
  EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
  EXPECT_TRUE(inbox.put(1, shared(11)));
  EXPECT_EQ(second.get(), witness(11));
  EXPECT_TRUE(inbox.put(2, shared(12)));
  EXPECT_EQ(**inbox.get(2), witness(12));
}

TEST(WitnessInbox, RefusesOthers) {
  Flags flags;
  WitnessInbox inbox(2, flags);
  EXPECT_FALSE(inbox.put(1, shared(1)));
  EXPECT_TRUE(inbox.put(0, shared(0)));
  EXPECT_FALSE(inbox.put(0, shared(0)));
  EXPECT_FALSE(inbox.put(2, shared(2)));
  EXPECT_TRUE(inbox.put(1, Descriptor()));
  EXPECT_FALSE(inbox.put(2, shared(2)));
  EXPECT_TRUE(inbox.get(0).ok());
  const auto damaged = inbox.get(1);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().error_class, ErrorClass::kCorrupt);
}

TEST(WitnessInbox, WaitsForNothingThatIsNotWanted) {
  Flags flags;
  WitnessInbox inbox(3, flags);
  flags.yield = true;
  auto first = std::async(std::launch::async, [&] { return inbox.get(0).ok(); });
  inbox.wake();
  EXPECT_EQ(first.wait_for(20ms), std::future_status::timeout) << "the first is proved in any case";
  EXPECT_TRUE(inbox.put(0, shared(0)));
  EXPECT_TRUE(first.get());
  const auto second = inbox.get(1);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, nullptr);

  Flags others;
  WitnessInbox stopped(1, others);
  auto waits = std::async(std::launch::async, [&] { return stopped.get(0).error().error_class; });
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  others.stop = true;
  stopped.wake();
  EXPECT_EQ(waits.get(), ErrorClass::kCancelled);
}

// Threads with stacks that no machine has room for.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 47);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(WitnessInbox, ReadsThemOneByOneWhereThereIsNoThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers choose the stacks of threads";
#endif
  Flags flags;
  WitnessInbox inbox(3, flags);
  for (uint32_t k = 0; k < 3; ++k) EXPECT_TRUE(inbox.put(k, shared(k)));
  const NoMoreThreads none;
  EXPECT_THROW((void)std::async(std::launch::async, [] {}), std::system_error);
  for (uint32_t k = 0; k < 3; ++k) EXPECT_EQ(**inbox.get(k), witness(k));
}

TEST(WitnessInbox, CanGoWhileItReads) {
  Flags flags;
  WitnessInbox inbox(2, flags);
  EXPECT_TRUE(inbox.put(0, shared(0)));
  EXPECT_TRUE(inbox.get(0).ok());  // the next is being waited for
}

}  // namespace
}  // namespace cuzk
