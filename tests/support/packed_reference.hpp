// Evaluates the packed form of a circuit on the host, term by term: what a device must compute.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "circuit/packed_witness.hpp"
#include "hash/poseidon.hpp"
#include "matrix/packed_system.hpp"

namespace cuzk::test {

class PackedReference {
 public:
  PackedReference(const PackedSystem& system, const PackedWitness& witness)
      : system_(system), witness_(witness), values_(system.num_values, unwritten()) {
    std::copy(witness.inputs.begin(), witness.inputs.end(), values_.begin());
    for (const PackedInstance& instance : system.instances) {
      for (const PackedFieldRun& run : system.blocks[instance.block].field_runs) {
        std::copy_n(witness.fields.begin() + instance.first_field + run.first_field, run.count,
                    values_.begin() + instance.first_value + run.first_value);
      }
    }
    for (const PackedHashBatch& batch : system.batches) {
      for (uint32_t i = 0; i < batch.num_jobs; ++i) hash(batch, system.jobs[batch.first_job + i]);
    }
  }

  // What values hold before they are computed, so that a hash that runs too early gives a wrong result.
  static Fr unwritten() { return Fr::from_u64(0x5eed5eed5eed); }
  const std::vector<Fr>& values() const { return values_; }
  Fr value(PackedPlace place) const {
    if (!place.is_bit()) return values_.at(place.index());
    return witness_.bits.get(place.index()) ? Fr::one() : Fr::zero();
  }

  std::vector<Fr> rows(size_t matrix) const {
    std::vector<Fr> out(system_.num_constraints);
    for (const PackedInstance& instance : system_.instances) {
      const PackedRows& rows = system_.blocks[instance.block].matrices[matrix];
      for (uint32_t row = 0; row < rows.num_rows(); ++row) {
        Fr sum = Fr::zero();
        for (uint32_t k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) {
          const Fr v = value(instance.place(rows.column[k], system_.ports.data()));
          if (!v.is_zero()) sum += system_.coefficients[rows.coefficient[k]] * v;
        }
        out.at(instance.first_row + row) = sum;
      }
    }
    return out;
  }

 private:
  void hash(const PackedHashBatch& batch, const PackedHashJob& job) {
    const PackedInstance& instance = system_.instances[job.instance];
    std::vector<Fr> preimage;
    for (uint32_t i = 0; i < batch.arity; ++i) {
      preimage.push_back(value(instance.place(system_.hash_inputs[job.first_input + i], system_.ports.data())));
    }
    poseidon_trace(preimage, batch.tag, std::span(values_).subspan(job.first_value, poseidon_trace_size(batch.arity)));
  }

  const PackedSystem& system_;
  const PackedWitness& witness_;
  std::vector<Fr> values_;
};

}  // namespace cuzk::test
