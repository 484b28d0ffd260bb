// Puts an engine together.
#pragma once

#include <memory>
#include <vector>

#include "base/memory_reserve.hpp"
#include "base/result.hpp"
#include "budget/host_budget.hpp"
#include "engine/clock.hpp"
#include "engine/engine.hpp"
#include "engine/executor.hpp"
#include "engine/observer.hpp"
#include "engine/options.hpp"
#include "engine/proof_service.hpp"
#include "queue/journal.hpp"
#include "worker/device.hpp"

namespace cuzk {

struct EngineParts {
  std::shared_ptr<HostBudget> budget;
  std::shared_ptr<ProofService> service;         // FilecoinProofService
  std::vector<std::unique_ptr<Device>> devices;  // ordinals as in info(), at least one
  std::unique_ptr<Executor> executor;            // ThreadExecutor
  std::shared_ptr<const Clock> clock;            // SystemClock
  std::unique_ptr<Journal> journal;              // none: detached jobs are lost at the end of the process
  std::shared_ptr<EngineObserver> observer;      // none: nobody is told
  // None: where memory runs out within a decision, the process ends.
  std::shared_ptr<MemoryReserve> reserve;
};

// The engine, with what the journal has taken up again: pending jobs wait in the queue, results can be asked for.
// Errors: those of Journal::recover(); damaged jobs are warnings to the observer, and forgotten.
//
// When it is destroyed, what is being done is waited for, devices included; nothing is called back any more. To end
// jobs in an orderly way drain() first.
Result<std::unique_ptr<Engine>> make_engine(EngineOptions options, EngineParts parts);

}  // namespace cuzk
