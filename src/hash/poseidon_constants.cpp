#include "hash/poseidon_constants.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <span>

#include "base/assert.hpp"

namespace cuzk {
namespace {

struct Instance {
  unsigned arity;
  unsigned partial_rounds;
};
// 128 bits of security with neptune's margin (round_numbers.rs); 8 full rounds each.
constexpr std::array<Instance, 7> kInstances = {{{2, 55}, {4, 56}, {8, 57}, {11, 57}, {16, 59}, {24, 59}, {36, 60}}};

using Vector = std::vector<Fr>;

// A square matrix, row-major.
struct Matrix {
  size_t n;
  Vector entries;
  explicit Matrix(size_t size) : n(size), entries(size * size) {}
  Fr& at(size_t i, size_t j) { return entries[i * n + j]; }
  const Fr& at(size_t i, size_t j) const { return entries[i * n + j]; }
};

// The LFSR of the Grain stream cipher, which turns the instance's parameters into "nothing up my sleeve" bits.
class Grain {
 public:
  Grain(unsigned width, unsigned partial_rounds) {
    size_t at = 0;
    auto field = [&](uint64_t value, int bits) {
      for (int i = bits - 1; i >= 0; --i) state_[at++] = value >> i & 1;
    };
    field(1, 2);     // prime field
    field(1, 4);     // x^5; the paper's tables say 0, neptune says 1
    field(255, 12);  // bits of the modulus
    field(width, 12);
    field(kPoseidonFullRounds, 10);
    field(partial_rounds, 10);
    field((uint64_t{1} << 30) - 1, 30);
    for (int i = 0; i < 160; ++i) step();
  }

  // A uniform element: 255 bits, most significant first, drawn again while they are not below the modulus.
  Fr next_element() {
    for (;;) {
      Fr::Limbs plain{};
      for (size_t i = 255; i-- > 0;) plain[i / 64] |= uint64_t{output_bit()} << (i % 64);
      if (const auto element = Fr::from_plain_checked(plain)) return *element;
    }
  }

 private:
  bool step() {
    auto s = [&](size_t i) { return static_cast<bool>(state_[(head_ + i) % 80]); };
    const bool bit = s(62) ^ s(51) ^ s(38) ^ s(23) ^ s(13) ^ s(0);
    state_[head_] = bit;
    head_ = (head_ + 1) % 80;
    return bit;
  }
  // Bits come in pairs; the second one is output where the first is set.
  bool output_bit() {
    while (!step()) step();
    return step();
  }

  std::bitset<80> state_;
  size_t head_ = 0;
};

// x with a x = b by Gaussian elimination, for every right-hand side; `a` must be regular.
Matrix invert(Matrix a) {
  const size_t n = a.n;
  Matrix inverse(n);
  for (size_t i = 0; i < n; ++i) inverse.at(i, i) = Fr::one();
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    while (pivot < n && a.at(pivot, column).is_zero()) ++pivot;
    CUZK_ASSERT(pivot < n);
    for (size_t j = 0; j < n && pivot != column; ++j) {
      std::swap(a.at(pivot, j), a.at(column, j));
      std::swap(inverse.at(pivot, j), inverse.at(column, j));
    }
    const Fr scale = a.at(column, column).inverse();
    for (size_t j = 0; j < n; ++j) {
      a.at(column, j) *= scale;
      inverse.at(column, j) *= scale;
    }
    for (size_t i = 0; i < n; ++i) {
      if (i == column || a.at(i, column).is_zero()) continue;
      const Fr factor = a.at(i, column);
      for (size_t j = 0; j < n; ++j) {
        a.at(i, j) -= factor * a.at(column, j);
        inverse.at(i, j) -= factor * inverse.at(column, j);
      }
    }
  }
  return inverse;
}

// x with a x = b; `a` must be regular.
Vector solve(Matrix a, Vector b) {
  const size_t n = a.n;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    while (pivot < n && a.at(pivot, column).is_zero()) ++pivot;
    CUZK_ASSERT(pivot < n);
    for (size_t j = column; j < n && pivot != column; ++j) std::swap(a.at(pivot, j), a.at(column, j));
    std::swap(b[pivot], b[column]);
    const Fr scale = a.at(column, column).inverse();
    for (size_t i = column + 1; i < n; ++i) {
      const Fr factor = a.at(i, column) * scale;
      for (size_t j = column + 1; j < n; ++j) a.at(i, j) -= factor * a.at(column, j);
      b[i] -= factor * b[column];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; ++j) b[i] -= a.at(i, j) * b[j];
    b[i] *= a.at(i, i).inverse();
  }
  return b;
}

Vector multiply(const Matrix& a, const Vector& v) {
  Vector out(a.n);
  for (size_t i = 0; i < a.n; ++i) {
    for (size_t j = 0; j < a.n; ++j) out[i] += a.at(i, j) * v[j];
  }
  return out;
}

// Cauchy matrix 1 / (i + (t + j)).
Matrix make_mds(size_t t) {
  Matrix m(t);
  for (size_t i = 0; i < t; ++i) {
    for (size_t j = 0; j < t; ++j) m.at(i, j) = Fr::from_u64(i + t + j).inverse();
  }
  return m;
}

// Moves the constants of each round behind the S-boxes of the round before, and those of the partial rounds through
// the linear layers onto element 0 (preprocessing.rs:10).
Vector compress_constants(const Vector& raw, const Matrix& mds, unsigned partial_rounds) {
  const size_t t = mds.n, half = kPoseidonFullRounds / 2;
  const Matrix inverse = invert(mds);
  auto round_constants = [&](size_t round) {
    const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(round * t);
    return Vector(begin, begin + static_cast<std::ptrdiff_t>(t));
  };
  Vector out;
  auto append = [&](const Vector& v) { out.insert(out.end(), v.begin(), v.end()); };
  append(round_constants(0));
  for (size_t i = 1; i < half; ++i) append(multiply(inverse, round_constants(i)));
  Vector acc = round_constants(half + partial_rounds), partial;
  for (size_t i = 0; i < partial_rounds; ++i) {
    Vector inverted = multiply(inverse, acc);
    partial.push_back(inverted[0]);
    inverted[0] = Fr::zero();
    acc = round_constants(half + partial_rounds - i - 1);
    for (size_t j = 0; j < t; ++j) acc[j] += inverted[j];
  }
  append(multiply(inverse, acc));
  out.insert(out.end(), partial.rbegin(), partial.rend());
  for (size_t i = 1; i < half; ++i) append(multiply(inverse, round_constants(half + partial_rounds + i)));
  return out;
}

// Factors the dense matrices of the partial rounds into one dense matrix before them (pre_sparse) and sparse ones
// (mds.rs:127).
void factor_to_sparse(const Matrix& mds, PoseidonConstants& out) {
  const size_t t = mds.n, n = t - 1;
  Matrix current = mds;  // its own transpose
  std::vector<Vector> reversed;
  for (unsigned round = 0; round < out.partial_rounds; ++round) {
    Matrix hat(n);
    Vector w(n), sparse(t + n);
    for (size_t i = 0; i < n; ++i) {
      w[i] = current.at(i + 1, 0);
      sparse[t + i] = current.at(0, i + 1);
      for (size_t j = 0; j < n; ++j) hat.at(i, j) = current.at(i + 1, j + 1);
    }
    sparse[0] = current.at(0, 0);
    const Vector w_hat = solve(hat, w);
    for (size_t i = 0; i < n; ++i) sparse[i + 1] = w_hat[i];
    reversed.push_back(std::move(sparse));
    // current := mds * diag(1, hat)
    for (size_t i = 0; i < t; ++i) {
      current.at(i, 0) = mds.at(i, 0);
      for (size_t j = 0; j < n; ++j) {
        Fr sum = Fr::zero();
        for (size_t k = 0; k < n; ++k) sum += mds.at(i, k + 1) * hat.at(k, j);
        current.at(i, j + 1) = sum;
      }
    }
  }
  out.pre_sparse = current.entries;
  for (size_t round = reversed.size(); round-- > 0;) {
    out.sparse.insert(out.sparse.end(), reversed[round].begin(), reversed[round].end());
  }
}

PoseidonConstants make_constants(const Instance& instance) {
  PoseidonConstants out;
  out.arity = instance.arity;
  out.width = instance.arity + 1;
  out.partial_rounds = instance.partial_rounds;
  Grain grain(out.width, out.partial_rounds);
  const size_t count = size_t{kPoseidonFullRounds + out.partial_rounds} * out.width;
  out.raw.reserve(count);
  for (size_t i = 0; i < count; ++i) out.raw.push_back(grain.next_element());
  const Matrix mds = make_mds(out.width);
  out.mds = mds.entries;
  out.compressed = compress_constants(out.raw, mds, out.partial_rounds);
  factor_to_sparse(mds, out);
  return out;
}

template <size_t kIndex>
const PoseidonConstants& constants_at() {
  static const PoseidonConstants constants = make_constants(kInstances[kIndex]);
  return constants;
}

}  // namespace

bool is_poseidon_arity(unsigned arity) {
  for (const Instance& instance : kInstances) {
    if (instance.arity == arity) return true;
  }
  return false;
}

unsigned poseidon_partial_rounds(unsigned arity) {
  for (const Instance& instance : kInstances) {
    if (instance.arity == arity) return instance.partial_rounds;
  }
  CUZK_ASSERT(!"not a Poseidon arity");
  return 0;
}

const PoseidonConstants& poseidon_constants(unsigned arity) {
  switch (arity) {
    case 2: return constants_at<0>();
    case 4: return constants_at<1>();
    case 8: return constants_at<2>();
    case 11: return constants_at<3>();
    case 16: return constants_at<4>();
    case 24: return constants_at<5>();
    default: CUZK_ASSERT(arity == 36); return constants_at<6>();
  }
}

}  // namespace cuzk
