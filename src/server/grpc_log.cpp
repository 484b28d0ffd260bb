#include "server/grpc_log.hpp"

#include <grpc/support/log.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace cuzk {
namespace {

// gRPC calls a plain function, so it is kept for the process who wants to know.
struct Routes {
  std::mutex mutex;
  std::vector<const GrpcLogRoute::Sink*> sinks;
};
Routes& routes() {
  static auto* const kRoutes = new Routes;  // gRPC's threads may log while the process ends
  return *kRoutes;
}

void write_line(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_DEBUG) return;
  Routes& all = routes();
  const std::lock_guard lock(all.mutex);
  if (all.sinks.empty()) return;
  const bool notice = line->severity == GPR_LOG_SEVERITY_INFO;
  (*all.sinks.back())(notice ? LogLevel::kDebug : LogLevel::kWarn, "gRPC",
                      {{"what", std::string(line->message)},
                       {"source", std::string(line->file)},
                       {"line", static_cast<uint64_t>(line->line)}});
}

}  // namespace

GrpcLogRoute::GrpcLogRoute(const Sink& log) : log_(log) {
  Routes& all = routes();
  const std::lock_guard lock(all.mutex);
  all.sinks.push_back(&log_);
  gpr_set_log_function(write_line);
}

GrpcLogRoute::~GrpcLogRoute() {
  Routes& all = routes();
  const std::lock_guard lock(all.mutex);
  all.sinks.erase(std::find(all.sinks.begin(), all.sinks.end(), &log_));
  if (all.sinks.empty()) gpr_set_log_function(nullptr);
}

}  // namespace cuzk
