// Runs every pair of rows "cuzk/NAME", "blst/NAME" with its repetitions interleaved at random among all rows, and
// prints the medians and their ratio. Takes Google Benchmark's options (--benchmark_filter=fp ...), and --json=FILE for the
// table as JSON.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

// Keeps the time of every repetition; prints nothing itself.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        failed_ = true;
      } else if (run.run_type == Run::RT_Iteration) {
        const double scale = 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit);
        // Rows of several operations an iteration count them as items.
        const auto items = run.counters.find("operations");
        const double operations = items == run.counters.end() ? 1 : items->second.value;
        // Rows of several threads ask for wall time; the others are then not disturbed by what else runs.
        const bool wall = run.run_name.time_type == "real_time";
        const double time = wall ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
        times_[run.run_name.function_name].push_back(time * scale / operations);
      }
    }
  }
  bool failed() const { return failed_; }

  struct Row {
    std::string name;
    double ours_ns, theirs_ns;
  };
  std::vector<Row> rows() {
    std::vector<Row> out;
    for (const auto& [name, unused] : times_) {
      if (name.rfind("cuzk/", 0) != 0) continue;
      const auto theirs = times_.find("blst/" + name.substr(5));
      if (theirs != times_.end()) out.push_back({name.substr(5), median(times_[name]), median(theirs->second)});
    }
    return out;
  }

 private:
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  std::map<std::string, std::vector<double>> times_;
  bool failed_ = false;
};

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  std::string json;
  std::vector<std::string> words = {argv[0], "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=9", "--benchmark_min_time=0.02"};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--json=", 0) == 0) {
      json = word.substr(7);
    } else {
      words.push_back(word);
    }
  }
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  const auto rows = collector.rows();
  std::printf("%-32s %14s %14s %8s\n", "median of repetitions", "cuzk ns", "blst ns", "ratio");
  for (const auto& row : rows) {
    std::printf("%-32s %14.2f %14.2f %8.3f\n", row.name.c_str(), row.ours_ns, row.theirs_ns, row.ours_ns / row.theirs_ns);
  }
  if (!json.empty()) {
    std::ofstream out(json);
    out << "{\"cpu\": \"" << cpu_model() << "\", \"rows\": [\n";
    for (size_t i = 0; i < rows.size(); ++i) {
      out << "  {\"name\": \"" << rows[i].name << "\", \"cuzk_ns\": " << rows[i].ours_ns
          << ", \"blst_ns\": " << rows[i].theirs_ns << ", \"ratio\": " << rows[i].ours_ns / rows[i].theirs_ns << "}"
          << (i + 1 < rows.size() ? ",\n" : "\n");
    }
    out << "]}\n";
    if (!out.flush()) {
      std::fprintf(stderr, "%s: cannot be written\n", json.c_str());
      return 1;
    }
  }
  return collector.failed() ? 1 : 0;
}
