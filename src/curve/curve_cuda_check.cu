// Adds, doubles and normalises points on the device and compares every coordinate with the CPU form: ordinary operands
// and all pairs of infinite, equal, opposite and rescaled ones. Exit status 1 on a difference, 2 where CUDA fails.
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/field_test_support.cuh"

namespace {

using namespace cuzk;

template <class C>
struct Operands {
  Affine<C> affine;
  Jacobian<C> jacobian;
  Xyzz<C> xyzz;
};

// One kernel an operation: all in one take nvcc minutes.
#define OPERATIONS(X)                            \
  X(JacobianSum, p.jacobian + q.jacobian)        \
  X(JacobianMixedSum, p.jacobian + q.affine)     \
  X(JacobianTwice, p.jacobian.dbl())             \
  X(JacobianNormalised, p.jacobian.to_affine())  \
  X(JacobianEqual, p.jacobian == q.jacobian)     \
  X(XyzzSum, sum(p.xyzz, q.xyzz))                \
  X(XyzzMixedSum, sum(p.xyzz, q.affine))         \
  X(XyzzMixedDifference, sum(p.xyzz, -q.affine)) \
  X(XyzzTwice, p.xyzz.dbl())                     \
  X(AffineTwice, Xyzz<C>::dbl_affine(p.affine))  \
  X(XyzzToJacobian, p.xyzz.to_jacobian())        \
  X(XyzzNormalised, p.xyzz.to_affine())          \
  X(XyzzEqual, p.xyzz == q.xyzz)                 \
  X(AffineEqual, p.affine == q.affine)

template <class C, class Other>
CUZK_HD Xyzz<C> sum(Xyzz<C> a, const Other& b) {
  a.add(b);
  return a;
}

#define DEFINE(Name, expression)                                                                                    \
  template <class C>                                                                                                \
  struct Name {                                                                                                     \
    static constexpr const char* kName = #Name;                                                                     \
    CUZK_HD static auto compute(const Operands<C>& p, [[maybe_unused]] const Operands<C>& q) { return expression; } \
  };
OPERATIONS(DEFINE)

template <class C, template <class> class Operation>
__global__ void compute_kernel(const Operands<C>* p, const Operands<C>* q, decltype(Operation<C>::compute(*p, *q))* out,
                               size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = Operation<C>::compute(p[i], q[i]);
}

Fp random_fp(std::mt19937_64& rng) {
  for (;;) {
    Fp::Limbs limbs;
    for (auto& limb : limbs) limb = rng();
    limbs[Fp::kLimbs - 1] >>= 3;
    if (limbs::less(limbs, Fp::kModulus)) return Fp::from_montgomery(limbs);
  }
}
template <class F>
F random_element(std::mt19937_64& rng) {
  if constexpr (sizeof(F) == sizeof(Fp)) {
    return random_fp(rng);
  } else {
    const Fp c0 = random_fp(rng);
    return {c0, random_fp(rng)};
  }
}

// The same point in projective coordinates with other denominators.
template <class C>
Operands<C> rescaled(const Affine<C>& p, const typename C::Field& z, const typename C::Field& w) {
  Operands<C> out{p, Jacobian<C>::from_affine(p), Xyzz<C>::from_affine(p)};
  if (p.is_infinity()) return out;
  const auto z2 = z.square(), w2 = w.square();
  out.jacobian = {p.x * z2, p.y * (z2 * z), z};
  out.xyzz = {p.x * w2, p.y * (w2 * w), w2, w2 * w};
  return out;
}

template <class C>
void make_operands(size_t count, std::vector<Operands<C>>& p, std::vector<Operands<C>>& q) {
  using Field = typename C::Field;
  std::mt19937_64 rng(1);
  const Jacobian<C> generator = Jacobian<C>::from_affine(C::generator());
  std::vector<Operands<C>> edges;
  for (const auto& point : {Jacobian<C>::infinity(), generator, -generator, generator.dbl(), -generator.dbl()}) {
    const Affine<C> affine = point.to_affine();
    edges.push_back(rescaled(affine, Field::one(), Field::one()));
    edges.push_back(rescaled(affine, random_element<Field>(rng), random_element<Field>(rng)));
    edges.push_back(rescaled(affine, -Field::one(), -Field::one()));
  }
  for (const auto& a : edges) {
    for (const auto& b : edges) p.push_back(a), q.push_back(b);
  }
  const auto random_point = [&] {
    const std::array<uint64_t, 1> scalar = {rng()};
    return rescaled(generator.mul(scalar).to_affine(), random_element<Field>(rng), random_element<Field>(rng));
  };
  while (p.size() < count) p.push_back(random_point()), q.push_back(random_point());
}

template <class C, template <class> class Operation>
size_t differences(const std::vector<Operands<C>>& p, const std::vector<Operands<C>>& q, const Operands<C>* device_p,
                   const Operands<C>* device_q) {
  using Result = decltype(Operation<C>::compute(p[0], q[0]));
  const size_t total = p.size();
  const auto out = std::make_unique<Result[]>(total);
  Result* device_out = nullptr;
  CHECK_CUDA(cudaMalloc(&device_out, total * sizeof(Result)));
  CHECK_CUDA(cudaMemset(device_out, 0xa5, total * sizeof(Result)));
  compute_kernel<C, Operation><<<static_cast<unsigned>((total + 63) / 64), 64>>>(device_p, device_q, device_out, total);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(out.get(), device_out, total * sizeof(Result), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_out));
  size_t wrong = 0;
  for (size_t i = 0; i < total; ++i) {
    const Result expected = Operation<C>::compute(p[i], q[i]);
    wrong += std::memcmp(&out[i], &expected, sizeof(Result)) != 0;  // coordinates, not only points
  }
  std::printf("%s %s: %zu of %zu pairs differ\n", C::kName, Operation<C>::kName, wrong, total);
  return wrong;
}

template <class C>
size_t differences(size_t count) {
  std::vector<Operands<C>> p, q;
  make_operands<C>(count, p, q);
  const size_t total = p.size();
  Operands<C>*device_p = nullptr, *device_q = nullptr;
  CHECK_CUDA(cudaMalloc(&device_p, total * sizeof(Operands<C>)));
  CHECK_CUDA(cudaMalloc(&device_q, total * sizeof(Operands<C>)));
  CHECK_CUDA(cudaMemcpy(device_p, p.data(), total * sizeof(Operands<C>), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_q, q.data(), total * sizeof(Operands<C>), cudaMemcpyHostToDevice));
  size_t wrong = 0;
#define COUNT(Name, expression) wrong += differences<C, Name>(p, q, device_p, device_q);
  OPERATIONS(COUNT)
  CHECK_CUDA(cudaFree(device_p));
  CHECK_CUDA(cudaFree(device_q));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  // --small: few points, for runs under compute-sanitizer.
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const size_t count = small ? 0 : size_t{1} << 14;
  const size_t wrong = differences<G1Curve>(count) + differences<G2Curve>(count / 4);
  return wrong == 0 ? 0 : 1;
}
