#include "queue/task_queue.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace cuzk {

void TaskQueue::push(const Task& task) {
  TasksOfJob& of_job = jobs_[task.job];
  CUZK_ASSERT(of_job.lane_of_partition.empty() || of_job.priority == task.priority);
  of_job.priority = task.priority;
  const bool is_new = of_job.lane_of_partition.emplace(task.partition, task.lane).second;
  CUZK_ASSERT(is_new);
  lanes_[task.lane].insert(task);
  ++size_;
}

std::optional<Task> TaskQueue::first() const {
  std::optional<Task> first;
  for (const auto& [lane, tasks] : lanes_) {
    if (!first || *tasks.begin() < *first) first = *tasks.begin();
  }
  return first;
}

std::vector<Task> TaskQueue::first_of_lanes() const {
  std::vector<Task> firsts;
  firsts.reserve(lanes_.size());
  for (const auto& [lane, tasks] : lanes_) firsts.push_back(*tasks.begin());
  std::sort(firsts.begin(), firsts.end());
  return firsts;
}

std::vector<Task> TaskQueue::of_job_from(const Task& task, size_t most) const {
  std::vector<Task> out;
  const auto lane = lanes_.find(task.lane);
  if (lane == lanes_.end()) return out;
  for (auto at = lane->second.lower_bound(task); at != lane->second.end() && out.size() < most; ++at) {
    if (at->job != task.job) break;
    out.push_back(*at);
  }
  return out;
}

bool TaskQueue::remove(JobKey job, uint32_t partition) {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return false;
  auto& partitions = of_job->second.lane_of_partition;
  const auto at = partitions.find(partition);
  if (at == partitions.end()) return false;
  erase_from_lane({of_job->second.priority, job, partition, at->second});
  partitions.erase(at);
  if (partitions.empty()) jobs_.erase(of_job);
  return true;
}

size_t TaskQueue::remove_job(JobKey job) {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return 0;
  const TasksOfJob tasks = std::move(of_job->second);
  jobs_.erase(of_job);
  for (const auto& [partition, lane] : tasks.lane_of_partition) erase_from_lane({tasks.priority, job, partition, lane});
  return tasks.lane_of_partition.size();
}

void TaskQueue::set_priority(JobKey job, Priority priority) {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end() || of_job->second.priority == priority) return;
  for (const auto& [partition, lane] : of_job->second.lane_of_partition) {
    auto& tasks = lanes_.at(lane);
    auto node = tasks.extract({of_job->second.priority, job, partition, lane});
    CUZK_ASSERT(!node.empty());
    node.value().priority = priority;
    tasks.insert(std::move(node));
  }
  of_job->second.priority = priority;
}

bool TaskQueue::contains(JobKey job, uint32_t partition) const {
  const auto of_job = jobs_.find(job);
  return of_job != jobs_.end() && of_job->second.lane_of_partition.contains(partition);
}

size_t TaskQueue::size_of_lane(uint32_t lane) const {
  const auto at = lanes_.find(lane);
  return at == lanes_.end() ? 0 : at->second.size();
}

std::vector<Task> TaskQueue::all() const {
  std::vector<Task> all;
  all.reserve(size_);
  for (const auto& [lane, tasks] : lanes_) all.insert(all.end(), tasks.begin(), tasks.end());
  std::sort(all.begin(), all.end());
  return all;
}

void TaskQueue::erase_from_lane(const Task& task) {
  const auto lane = lanes_.find(task.lane);
  CUZK_ASSERT(lane != lanes_.end() && lane->second.erase(task) == 1);
  if (lane->second.empty()) lanes_.erase(lane);
  --size_;
}

}  // namespace cuzk
