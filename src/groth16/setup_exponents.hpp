// Parameter generation up to the exponents of the points; who makes the points of them is a sink. Internal to groth16/.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "groth16/toxic_waste.hpp"
#include "msm/msm.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// Writes the exponents of points first .. first + out.size().
using ExponentFill = std::function<void(uint64_t first, std::span<Fr> out)>;

// Where the exponents go, section by section in file order. All are secret: copies are cleared.
class ExponentSink {
 public:
  virtual ~ExponentSink() = default;
  virtual Status begin(const SrsShape& shape, std::span<const Fr> ic) = 0;
  virtual Status section(Section section, uint64_t count, const ExponentFill& fill) = 0;
};

// As setup() of setup.hpp, with its errors.
Status setup_exponents(const CompiledCircuit& circuit, const ToxicWaste& toxic, ExponentSink& sink, Progress& progress);

// The verifying key; `g1`: multiples of toxic.g1.
VerifyingKey make_verifying_key(const ToxicWaste& toxic, std::span<const Fr> ic, const FixedBase<G1Curve>& g1);

}  // namespace cuzk
