// The table of compiled circuits against compiled circuits: all of PoRep.
#include <gtest/gtest.h>

#include "filecoin/compiled_figures.hpp"

namespace cuzk {
namespace {

TEST(CompiledFigures, AreThoseOfPorep) {
  for (const CircuitSpec& spec : circuit_specs()) {
    const CompiledFigures figures = compiled_figures(spec);
    EXPECT_GT(figures.terms, 0u) << spec.id();
    if (spec.kind() != ProofKind::kPorep) continue;
    const CompiledCircuit circuit = spec.compile();
    EXPECT_EQ(figures.terms, circuit.num_terms()) << spec.id();
    EXPECT_EQ(figures.bytes, circuit.bytes()) << spec.id();
  }
}

}  // namespace
}  // namespace cuzk
