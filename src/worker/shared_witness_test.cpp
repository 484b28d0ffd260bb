// A witness reaches another process as it is; what is not exactly one is refused.
#include "worker/shared_witness.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace cuzk {
namespace {

PackedWitness example(size_t bits) {
  PackedWitness witness;
  witness.inputs = {Fr::one(), Fr::from_u64(2), -Fr::one()};
  witness.fields = {Fr::from_u64(5), Fr::zero()};
  for (size_t i = 0; i < bits; ++i) witness.bits.push_back(i % 3 == 0 || i + 1 == bits);
  return witness;
}

uint64_t number_at(const std::vector<uint8_t>& bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
void set_number(std::vector<uint8_t>& bytes, size_t offset, uint64_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void expect_refused(const std::vector<uint8_t>& bytes, const char* why) {
  const auto read = decode_witness(bytes);
  ASSERT_FALSE(read.ok()) << why;
  EXPECT_EQ(read.error().error_class, ErrorClass::kCorrupt) << why;
}

TEST(SharedWitness, ArrivesAsItIs) {
  for (const size_t bits : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{100'000}}) {
    const PackedWitness witness = example(bits);
    const auto memory = share_witness(witness);
    ASSERT_TRUE(memory.ok());
    const auto read = read_shared_witness(memory->get());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, witness) << bits;
  }
  const auto empty = share_witness({});
  EXPECT_EQ(*read_shared_witness(empty->get()), PackedWitness{});
}

TEST(SharedWitness, CannotBeChanged) {
  const auto memory = share_witness(example(100));
  EXPECT_NE(ftruncate(memory->get(), 8), 0);
  EXPECT_NE(pwrite(memory->get(), "x", 1, 0), 1);
  EXPECT_EQ(mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, memory->get(), 0), MAP_FAILED);
  EXPECT_NE(fcntl(memory->get(), F_ADD_SEALS, 0), 0);
  EXPECT_NE(fcntl(memory->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedWitness, OtherDescriptorsAreRefused) {
  const auto refused = [](int fd) {
    const auto read = read_shared_witness(fd);
    return !read.ok() && read.error().error_class == ErrorClass::kCorrupt;
  };
  EXPECT_TRUE(refused(-1));
  const Descriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(refused(file.get()));
  const std::vector<uint8_t> bytes = encode_witness(example(100));
  const Descriptor memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(memory.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(refused(memory.get()));
  // Whoever could still shorten it could end this process by it.
  ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW), 0);
  EXPECT_TRUE(refused(memory.get()));
  ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL), 0);
  EXPECT_FALSE(refused(memory.get()));
  const Descriptor empty(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(fcntl(empty.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL), 0);
  EXPECT_TRUE(refused(empty.get()));
}

TEST(SharedWitness, LengthsAreHeldAgainstTheBytes) {
  const std::vector<uint8_t> good = encode_witness(example(100));
  ASSERT_TRUE(decode_witness(good).ok());
  for (size_t size = 0; size < good.size(); ++size) expect_refused({good.begin(), good.begin() + size}, "cut");
  std::vector<uint8_t> longer = good;
  longer.push_back(0);
  expect_refused(longer, "longer");
  set_number(longer, 8, longer.size());
  expect_refused(longer, "longer, as it says");
  for (const size_t offset : {16, 24, 32}) {
    const uint64_t count = number_at(good, offset);
    for (const uint64_t wrong :
         {count + 1000, uint64_t{0}, UINT64_MAX, UINT64_MAX / 32, UINT64_MAX - 63, uint64_t{1} << 59}) {
      std::vector<uint8_t> bytes = good;
      set_number(bytes, offset, wrong);
      expect_refused(bytes, "count");
    }
  }
  std::vector<uint8_t> magic = good;
  magic[0] ^= 1;
  expect_refused(magic, "magic");
}

TEST(SharedWitness, ValuesAreChecked) {
  const std::vector<uint8_t> good = encode_witness(example(100));
  const size_t fields = 40 + 3 * 32;
  std::vector<uint8_t> modulus = good;
  std::memcpy(modulus.data() + fields, Fr::kModulus.data(), 32);
  const auto read = decode_witness(modulus);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().field, "fields[0]");
  std::vector<uint8_t> input = good;
  std::memset(input.data() + 40 + 2 * 32, 0xff, 32);
  EXPECT_EQ(decode_witness(input).error().field, "inputs[2]");
  std::vector<uint8_t> bits = good;
  bits.back() |= 0x80;
  EXPECT_EQ(decode_witness(bits).error().field, "bits");
}

}  // namespace
}  // namespace cuzk
