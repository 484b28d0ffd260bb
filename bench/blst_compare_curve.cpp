// Points and pairings next to blst's, in one process: each pair of rows is ours, then blst's, on the same operands.
// Built only where CUZK_BLST_DIR names a built blst (its bindings/blst.h and libblst.a).
#include <benchmark/benchmark.h>
#include <blst.h>

#include <bit>
#include <cstring>
#include <vector>

#include "curve/check.hpp"
#include "curve/encoding.hpp"
#include "pairing/pairing.hpp"

namespace cuzk {
namespace {

// The layouts are the same: Montgomery limbs to the same radix, infinity as (0, 0).
template <class Theirs, class Ours>
Theirs theirs(const Ours& ours) {
  return std::bit_cast<Theirs>(ours);
}

G1Jacobian some_g1() { return G1Jacobian::from_affine(G1Curve::generator()).dbl().dbl() + G1Curve::generator(); }
G2Jacobian some_g2() { return G2Jacobian::from_affine(G2Curve::generator()).dbl().dbl() + G2Curve::generator(); }

template <class Op>
void rows(const char* name, Op ours, const char* blst_name, auto blst) {
  benchmark::RegisterBenchmark(name, [ours](benchmark::State& state) mutable {
    for (auto _ : state) ours();
  });
  benchmark::RegisterBenchmark(blst_name, [blst](benchmark::State& state) mutable {
    for (auto _ : state) blst();
  });
}
#define CUZK_ROWS(name, ours, blst) rows("cuzk/" name, ours, "blst/" name, blst)

void register_additions() {
  const auto p1 = some_g1(), q1 = p1.dbl();
  const auto a1 = p1.to_affine();
  const auto p2 = some_g2(), q2 = p2.dbl();
  const auto a2 = p2.to_affine();
  CUZK_ROWS(
      "g1_double", [p = q1]() mutable { benchmark::DoNotOptimize(p = p.dbl()); },
      [p = theirs<blst_p1>(q1)]() mutable { blst_p1_double(&p, &p); });
  CUZK_ROWS("g1_add", ([p = q1, p1]() mutable { benchmark::DoNotOptimize(p = p + p1); }),
            ([p = theirs<blst_p1>(q1), q = theirs<blst_p1>(p1)]() mutable { blst_p1_add_or_double(&p, &p, &q); }));
  CUZK_ROWS("g1_add_affine", ([p = q1, a1]() mutable { benchmark::DoNotOptimize(p = p + a1); }),
            ([p = theirs<blst_p1>(q1), q = theirs<blst_p1_affine>(a1)]() mutable {
              blst_p1_add_or_double_affine(&p, &p, &q);
            }));
  CUZK_ROWS(
      "g2_double", [p = q2]() mutable { benchmark::DoNotOptimize(p = p.dbl()); },
      [p = theirs<blst_p2>(q2)]() mutable { blst_p2_double(&p, &p); });
  CUZK_ROWS("g2_add", ([p = q2, p2]() mutable { benchmark::DoNotOptimize(p = p + p2); }),
            ([p = theirs<blst_p2>(q2), q = theirs<blst_p2>(p2)]() mutable { blst_p2_add_or_double(&p, &p, &q); }));
  CUZK_ROWS("g2_add_affine", ([p = q2, a2]() mutable { benchmark::DoNotOptimize(p = p + a2); }),
            ([p = theirs<blst_p2>(q2), q = theirs<blst_p2_affine>(a2)]() mutable {
              blst_p2_add_or_double_affine(&p, &p, &q);
            }));
}

void register_multiplications() {
  const auto p1 = some_g1();
  const auto p2 = some_g2();
  const Fr k = -Fr::from_u64(3).inverse();
  const auto bytes = k.to_bytes_le();
  CUZK_ROWS("g1_multiply", ([p1, k] { benchmark::DoNotOptimize(p1.mul(k)); }), ([p = theirs<blst_p1>(p1), bytes] {
              blst_p1 out;
              blst_p1_mult(&out, &p, bytes.data(), 255);
              benchmark::DoNotOptimize(out);
            }));
  CUZK_ROWS("g2_multiply", ([p2, k] { benchmark::DoNotOptimize(p2.mul(k)); }), ([p = theirs<blst_p2>(p2), bytes] {
              blst_p2 out;
              blst_p2_mult(&out, &p, bytes.data(), 255);
              benchmark::DoNotOptimize(out);
            }));
  const auto a1 = p1.to_affine();
  const auto a2 = p2.to_affine();
  CUZK_ROWS(
      "g1_in_subgroup", [a1] { benchmark::DoNotOptimize(is_in_subgroup(a1)); },
      [a = theirs<blst_p1_affine>(a1)] { benchmark::DoNotOptimize(blst_p1_affine_in_g1(&a)); });
  CUZK_ROWS(
      "g2_in_subgroup", [a2] { benchmark::DoNotOptimize(is_in_subgroup(a2)); },
      [a = theirs<blst_p2_affine>(a2)] { benchmark::DoNotOptimize(blst_p2_affine_in_g2(&a)); });
}

template <class A, class Bytes>
auto reader(PointError (*read)(std::span<const uint8_t>, PointCheck, A&), const Bytes& bytes) {
  return [read, bytes] {
    A out;
    benchmark::DoNotOptimize(read(bytes, PointCheck::kOnCurve, out));
    benchmark::DoNotOptimize(out);
  };
}
template <class A, class Bytes>
auto blst_reader(BLST_ERROR (*read)(A*, const byte*), const Bytes& bytes) {
  return [read, bytes] {
    A out;
    benchmark::DoNotOptimize(read(&out, bytes.data()));
    benchmark::DoNotOptimize(out);
  };
}

void register_readers() {
  const auto a1 = some_g1().to_affine();
  const auto a2 = some_g2().to_affine();
  CUZK_ROWS("g1_decompress", reader<G1Affine>(read_compressed, compress(a1)),
            blst_reader<blst_p1_affine>(blst_p1_uncompress, compress(a1)));
  CUZK_ROWS("g2_decompress", reader<G2Affine>(read_compressed, compress(a2)),
            blst_reader<blst_p2_affine>(blst_p2_uncompress, compress(a2)));
  CUZK_ROWS("g1_uncompressed", reader<G1Affine>(read_uncompressed, encode_uncompressed(a1)),
            blst_reader<blst_p1_affine>(blst_p1_deserialize, encode_uncompressed(a1)));
  CUZK_ROWS("g2_uncompressed", reader<G2Affine>(read_uncompressed, encode_uncompressed(a2)),
            blst_reader<blst_p2_affine>(blst_p2_deserialize, encode_uncompressed(a2)));
}

void register_pairings() {
  const auto p = some_g1().to_affine();
  const auto q = some_g2().to_affine();
  const auto bp = theirs<blst_p1_affine>(p);
  const auto bq = theirs<blst_p2_affine>(q);
  const auto prepared = std::vector<G2Prepared>(1, G2Prepared(q));
  const auto miller = [p, prepared] { return miller_loop(std::span<const G1Affine>(&p, 1), prepared); };
  std::vector<blst_fp6> lines(G2Prepared::kLines);
  blst_precompute_lines(lines.data(), &bq);
  const auto blst_miller = [bp, lines] {
    blst_fp12 out;
    blst_miller_loop_lines(&out, lines.data(), &bp);
    return out;
  };
  CUZK_ROWS(
      "prepare_lines", [q] { benchmark::DoNotOptimize(G2Prepared(q)); },
      ([bq, lines]() mutable { blst_precompute_lines(lines.data(), &bq); }));
  CUZK_ROWS(
      "miller_loop_prepared", [miller] { benchmark::DoNotOptimize(miller()); },
      [blst_miller] { benchmark::DoNotOptimize(blst_miller()); });
  CUZK_ROWS(
      "final_exponentiation", [f = miller()] { benchmark::DoNotOptimize(final_exponentiation(f)); },
      [f = blst_miller()] {
        blst_fp12 out;
        blst_final_exp(&out, &f);
        benchmark::DoNotOptimize(out);
      });
  CUZK_ROWS("pairing", ([p, q] { benchmark::DoNotOptimize(pairing(p, q)); }), ([bp, bq] {
              blst_fp12 f, out;
              blst_miller_loop(&f, &bq, &bp);
              blst_final_exp(&out, &f);
              benchmark::DoNotOptimize(out);
            }));
}

const bool kRegistered = [] {
  register_additions();
  register_multiplications();
  register_readers();
  register_pairings();
  return true;
}();

}  // namespace
}  // namespace cuzk
