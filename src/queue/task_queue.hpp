// The order of work at a stage: who is next, decided again for every partition.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "queue/job.hpp"

namespace cuzk {

// One partition of one job at one stage. Less is earlier: higher priority, then older job, then lower partition.
struct Task {
  Priority priority = Priority::kNormal;
  JobKey job = 0;
  uint32_t partition = 0;
  // What decides whether it can be done now, of the stage's own numbering (its circuit, its device). Tasks of a lane
  // can be done or cannot be done alike, so that a decision looks at the first of each lane and at no other.
  uint32_t lane = 0;

  friend std::strong_ordering operator<=>(const Task& a, const Task& b) {
    if (a.priority != b.priority) return b.priority <=> a.priority;
    if (a.job != b.job) return a.job <=> b.job;
    return a.partition <=> b.partition;
  }
  friend bool operator==(const Task& a, const Task& b) { return (a <=> b) == 0; }
};

// The tasks that wait at one stage. An engine has one for each stage. Deterministic; not thread safe; no member waits.
class TaskQueue {
 public:
  // A bug where (job, partition) is there already, or where tasks of the job have another priority. O(log n).
  void push(const Task& task);

  // The first of all. O(lanes).
  std::optional<Task> first() const;
  // The first of every lane, earliest first. For a decision: take the first that can be done; where memory is short,
  // whoever must not be overtaken ends the search. O(lanes log lanes).
  std::vector<Task> first_of_lanes() const;

  // The tasks of the same job and lane from this one on, in order, at most `most`. O(most * log n).
  std::vector<Task> of_job_from(const Task& task, size_t most) const;

  // False where it is not there. O(log n).
  bool remove(JobKey job, uint32_t partition);
  // All of a job: it ended. Returns how many. O(its tasks * log n).
  size_t remove_job(JobKey job);
  // All of a job go where the new priority puts them; nothing where there are none. O(its tasks * log n).
  void set_priority(JobKey job, Priority priority);

  bool contains(JobKey job, uint32_t partition) const;
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t size_of_lane(uint32_t lane) const;
  // All tasks in order; for status pages and tests. O(n log n).
  std::vector<Task> all() const;

 private:
  struct TasksOfJob {
    Priority priority = Priority::kNormal;
    std::map<uint32_t, uint32_t> lane_of_partition;
  };
  void erase_from_lane(const Task& task);

  std::map<uint32_t, std::set<Task>> lanes_;  // none of them empty
  std::map<JobKey, TasksOfJob> jobs_;         // none of them empty
  size_t size_ = 0;
};

}  // namespace cuzk
