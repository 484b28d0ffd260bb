#include "worker/shared_witness.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace cuzk {
namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<Fr> && sizeof(Fr) == 32);

constexpr uint64_t kMagic = 0x73656e7469776b63;  // "ckwitnes"
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

struct Header {
  uint64_t magic = kMagic;
  uint64_t bytes = 0;
  uint64_t inputs = 0, bits = 0, fields = 0;
};

constexpr uint64_t words_of(uint64_t bits) { return bits / 64 + (bits % 64 != 0); }

Header header_of(const PackedWitness& witness) {
  Header header;
  header.inputs = witness.inputs.size();
  header.bits = witness.bits.size();
  header.fields = witness.fields.size();
  header.bytes = sizeof header + sizeof(Fr) * (header.inputs + header.fields) + 8 * words_of(header.bits);
  return header;
}

std::array<std::span<const uint8_t>, 4> parts_of(const Header& header, const PackedWitness& witness) {
  const auto bytes = [](const void* data, size_t size) { return std::span(static_cast<const uint8_t*>(data), size); };
  const std::span<const uint64_t> words = witness.bits.words();
  return {bytes(&header, sizeof header), bytes(witness.inputs.data(), sizeof(Fr) * witness.inputs.size()),
          bytes(witness.fields.data(), sizeof(Fr) * witness.fields.size()), bytes(words.data(), words.size_bytes())};
}

Error system_error(const char* what, int number) {
  const bool resource = number == ENOMEM || number == ENOSPC || number == EMFILE || number == ENFILE;
  return {resource ? ErrorClass::kResource : ErrorClass::kIo,
          std::string(what) + " of a witness for a worker failed: " + std::strerror(number)};
}

Status write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return system_error("writing the memory", done == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Error corrupt(std::string what) { return {ErrorClass::kCorrupt, "the shared witness " + std::move(what)}; }

struct Mapping {
  void* data = MAP_FAILED;
  size_t size = 0;
  // Private: before Linux 6.7 a shared mapping of memory sealed against writing is refused even for reading.
  Mapping(int fd, size_t bytes) : data(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0)), size(bytes) {}
  ~Mapping() {
    if (data != MAP_FAILED) munmap(data, size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

// `count` elements from the front of `bytes`, which has them.
Result<std::vector<Fr>> take_elements(std::span<const uint8_t>& bytes, uint64_t count, const char* name) {
  std::vector<Fr> out(count);
  for (uint64_t i = 0; i < count; ++i) {
    Fr::Limbs limbs;
    std::memcpy(limbs.data(), bytes.data() + i * sizeof(Fr), sizeof limbs);
    if (!limbs::less(limbs, Fr::kModulus)) {
      const std::string at = std::string(name) + "[" + std::to_string(i) + "]";
      return corrupt("has an element that is not below the modulus").at_field(at);
    }
    out[i] = Fr::from_montgomery(limbs);
  }
  bytes = bytes.subspan(count * sizeof(Fr));
  return out;
}

}  // namespace

Result<Descriptor> share_witness(const PackedWitness& witness) {
  Descriptor memory(memfd_create("cuzk-witness", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system_error("making the memory", errno);
  const Header header = header_of(witness);
  for (const std::span<const uint8_t> part : parts_of(header, witness)) CUZK_TRY(write_all(memory.get(), part));
  if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return system_error("sealing the memory", errno);
  return memory;
}

Result<PackedWitness> read_shared_witness(int descriptor) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  struct stat status {};
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(descriptor, &status) != 0) {
    return corrupt("is not sealed memory");
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size < sizeof(Header)) return corrupt("has no header");
  const Mapping mapping(descriptor, size);
  if (mapping.data == MAP_FAILED) return system_error("mapping the memory", errno);
  return decode_witness({static_cast<const uint8_t*>(mapping.data), size});
}

Result<PackedWitness> decode_witness(std::span<const uint8_t> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return corrupt("has no header");
  std::memcpy(&header, bytes.data(), sizeof header);
  // Bounds first, so that the sum below cannot overflow.
  const uint64_t most = bytes.size() / 8;
  if (header.magic != kMagic || header.inputs > most || header.fields > most || header.bits / 64 > most ||
      header.bytes != bytes.size() ||
      sizeof header + sizeof(Fr) * (header.inputs + header.fields) + 8 * words_of(header.bits) != bytes.size()) {
    return corrupt("has another length than its header says");
  }
  bytes = bytes.subspan(sizeof header);
  PackedWitness witness;
  CUZK_ASSIGN(witness.inputs, take_elements(bytes, header.inputs, "inputs"));
  CUZK_ASSIGN(witness.fields, take_elements(bytes, header.fields, "fields"));
  witness.bits = BitVector(header.bits);
  const std::span<uint64_t> words = witness.bits.words();
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size_bytes());
  if (header.bits % 64 != 0 && words.back() >> (header.bits % 64) != 0) {
    return corrupt("has bits beyond its last").at_field("bits");
  }
  return witness;
}

std::vector<uint8_t> encode_witness(const PackedWitness& witness) {
  const Header header = header_of(witness);
  std::vector<uint8_t> out;
  out.reserve(header.bytes);
  for (const std::span<const uint8_t> part : parts_of(header, witness)) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace cuzk
