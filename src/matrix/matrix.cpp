#include "matrix/matrix.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/assert.hpp"
#include "base/secret.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Rows a task evaluates: about 20,000 terms, long against the cost of handing out a task.
constexpr size_t kRowGrain = 4096;
constexpr size_t kCheckGrain = 8192;

}  // namespace

Coefficients::Coefficients(std::span<const Fr> values) : values_(values), kinds_(values.size(), Kind::kOther) {
  const Fr minus_one = -Fr::one();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_one()) kinds_[i] = Kind::kOne;
    if (values[i] == minus_one) kinds_[i] = Kind::kMinusOne;
  }
}

Fr row_value(const BlockRows& rows, uint32_t row, const Coefficients& coefficients, const InstanceValues& values) {
  Fr sum = Fr::zero();
  for (uint32_t k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) {
    const Fr& value = values[rows.column[k]];
    if (value.is_zero()) continue;
    const uint32_t c = rows.coefficient[k];
    switch (coefficients.kind(c)) {
      case Coefficients::Kind::kOne: sum += value; break;
      case Coefficients::Kind::kMinusOne: sum -= value; break;
      case Coefficients::Kind::kOther:
        sum += value.is_one() ? coefficients.value(c) : coefficients.value(c) * value;
        break;
    }
  }
  return sum;
}

void multiply(const BlockMatrix& matrix, const Coefficients& coefficients, std::span<const Fr> inputs,
              std::span<const Fr> aux, std::span<Fr> out) {
  CUZK_ASSERT(out.size() >= matrix.num_rows);
  parallel_for(out.size(), kRowGrain, [&](size_t begin, size_t end) {
    const uint64_t last = std::min<uint64_t>(end, matrix.num_rows);
    for_each_part(matrix.instances, &BlockInstance::first_row, matrix.num_rows, begin, last,
                  [&](const BlockInstance& instance, uint32_t from, uint32_t to) {
                    const InstanceValues values(instance, matrix.ports, inputs, aux);
                    const BlockRows& rows = matrix.rows(instance);
                    for (uint32_t row = from; row < to; ++row) {
                      out[uint64_t{instance.first_row} + row] = row_value(rows, row, coefficients, values);
                    }
                  });
    for (size_t i = std::max<uint64_t>(begin, last); i < end; ++i) out[i] = Fr::zero();
  });
}

void put_input_rows(std::span<const Fr> inputs, uint64_t first_row, std::span<Fr> a) {
  CUZK_ASSERT(first_row <= a.size() && inputs.size() <= a.size() - first_row);
  std::copy(inputs.begin(), inputs.end(), a.begin() + static_cast<std::ptrdiff_t>(first_row));
}

std::optional<uint64_t> first_unsatisfied_row(std::span<const Fr> a, std::span<const Fr> b, std::span<const Fr> c) {
  CUZK_ASSERT(a.size() == b.size() && b.size() == c.size());
  std::atomic<uint64_t> first{a.size()};
  parallel_for(a.size(), kCheckGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (a[i] * b[i] == c[i]) continue;
      uint64_t seen = first.load(std::memory_order_relaxed);
      while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  if (first.load() == a.size()) return std::nullopt;
  return first.load();
}

namespace {

// One instance, or one of several parts that share its aux wires and, for what they all write, its rows.
struct TransposedTask {
  const BlockInstance* instance;
  uint32_t num_aux, num_inputs, num_ports;
  uint32_t part, parts;
};

class Transposed {
 public:
  Transposed(const BlockMatrix& matrix, const Coefficients& coefficients, std::span<const Fr> row_values,
             std::span<Fr> inputs, std::span<Fr> aux, std::span<const TransposedTask> tasks)
      : matrix_(matrix), coefficients_(coefficients), row_values_(row_values), inputs_(inputs), aux_(aux) {
    size_t ports = 0;
    for (const TransposedTask& task : tasks) ports += task.num_ports;
    late_.reserve(ports);  // growing would leave copies behind that are not cleared
  }

  // Disjoint for the aux wires that are the instance's own; everything else goes through `shared`.
  void run(const TransposedTask& task) {
    const BlockInstance& instance = *task.instance;
    const BlockRows& m = matrix_.rows(instance);
    const uint32_t low = share(task.num_aux, task.part, task.parts),
                   high = share(task.num_aux, task.part + 1, task.parts);
    const uint32_t own_begin = share(m.num_rows(), task.part, task.parts);
    const uint32_t own_end = share(m.num_rows(), task.part + 1, task.parts);
    std::vector<Fr> shared(size_t{1} + task.num_inputs + task.num_ports);
    Fr* const own_aux = aux_.data() + instance.first_aux;
    for (uint32_t row = 0; row < m.num_rows(); ++row) {
      const Fr& value = row_values_[uint64_t{instance.first_row} + row];
      const bool own_row = row >= own_begin && row < own_end;
      for (uint32_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k) {
        const Column column = m.column[k];
        const uint32_t index = column.index();
        if (column.kind() == Column::Kind::kAux) {
          if (index >= low && index < high) accumulate(own_aux[index], m.coefficient[k], value);
        } else if (own_row) {
          const uint32_t at = column.kind() == Column::Kind::kOne     ? 0
                              : column.kind() == Column::Kind::kInput ? 1 + index
                                                                      : 1 + task.num_inputs + index;
          accumulate(shared[at], m.coefficient[k], value);
        }
      }
    }
    add_shared(task, shared);
    secure_clear(shared.data(), shared.size() * sizeof(Fr));
  }

  // Adds what add_shared() put off.
  void finish() {
    for (const Late& late : late_) aux_[late.wire] += late.sum;
    secure_clear(late_.data(), late_.size() * sizeof(Late));
  }

 private:
  static uint32_t share(uint32_t count, uint32_t part, uint32_t parts) {
    return static_cast<uint32_t>(uint64_t{count} * part / parts);
  }
  void accumulate(Fr& sum, uint32_t c, const Fr& value) const {
    switch (coefficients_.kind(c)) {
      case Coefficients::Kind::kOne: sum += value; break;
      case Coefficients::Kind::kMinusOne: sum -= value; break;
      case Coefficients::Kind::kOther: sum += coefficients_.value(c) * value; break;
    }
  }
  // A port may be a wire that another task owns and writes at this moment, so these sums wait for the end.
  void add_shared(const TransposedTask& task, std::span<const Fr> shared) {
    const BlockInstance& instance = *task.instance;
    const std::lock_guard<std::mutex> lock(mutex_);
    inputs_[0] += shared[0];
    for (uint32_t i = 0; i < task.num_inputs; ++i) inputs_[instance.first_input + i] += shared[1 + i];
    for (uint32_t i = 0; i < task.num_ports; ++i) {
      const uint32_t wire = matrix_.ports[instance.first_port + i];
      const Fr& sum = shared[1 + task.num_inputs + i];
      if (wire & kInputWireFlag) {
        inputs_[wire & ~kInputWireFlag] += sum;
      } else {
        late_.push_back({wire, sum});
      }
    }
  }

  struct Late {
    uint32_t wire;
    Fr sum;
  };
  const BlockMatrix& matrix_;
  const Coefficients& coefficients_;
  std::span<const Fr> row_values_;
  std::span<Fr> inputs_, aux_;
  std::mutex mutex_;
  std::vector<Late> late_;
};

std::vector<TransposedTask> transposed_tasks(const BlockMatrix& matrix, size_t num_inputs, size_t num_aux) {
  const uint64_t total = std::max<uint64_t>(1, matrix.num_terms());
  const size_t threads = parallel_threads();
  std::vector<TransposedTask> tasks;
  for (size_t i = 0; i < matrix.instances.size(); ++i) {
    const BlockInstance& instance = matrix.instances[i];
    const bool last = i + 1 == matrix.instances.size();
    const auto length = [&](uint32_t BlockInstance::*first, size_t end) {
      return static_cast<uint32_t>((last ? end : matrix.instances[i + 1].*first) - instance.*first);
    };
    TransposedTask task{&instance,
                        length(&BlockInstance::first_aux, num_aux),
                        length(&BlockInstance::first_input, num_inputs),
                        length(&BlockInstance::first_port, matrix.ports.size()),
                        0,
                        1};
    const uint64_t terms = matrix.rows(instance).num_terms();
    task.parts = static_cast<uint32_t>(std::clamp<uint64_t>((terms * threads + total - 1) / total, 1, threads));
    for (; task.part < task.parts; ++task.part) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace

void multiply_transposed(const BlockMatrix& matrix, const Coefficients& coefficients, std::span<const Fr> row_values,
                         std::span<Fr> inputs, std::span<Fr> aux) {
  CUZK_ASSERT(row_values.size() >= matrix.num_rows && !inputs.empty());
  const std::vector<TransposedTask> tasks = transposed_tasks(matrix, inputs.size(), aux.size());
  Transposed product(matrix, coefficients, row_values, inputs, aux, tasks);
  parallel_for(tasks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) product.run(tasks[i]);
  });
  product.finish();
}

}  // namespace cuzk
