#include "gpu/arena_layout.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/assert.hpp"

namespace cuzk::gpu {
namespace {

void merge(std::vector<StreamTicket>& into, std::span<const StreamTicket> from) {
  for (const StreamTicket& ticket : from) {
    auto same = std::find_if(into.begin(), into.end(), [&](const auto& t) { return t.stream == ticket.stream; });
    if (same == into.end()) {
      into.push_back(ticket);
    } else {
      same->ticket = std::max(same->ticket, ticket.ticket);
    }
  }
}

}  // namespace

ArenaLayout::ArenaLayout(uint64_t bytes, std::vector<StreamTicket> after)
    : capacity_(bytes / kGranularityBytes * kGranularityBytes) {
  if (capacity_ > 0) blocks_.emplace(0, Block{capacity_, true, std::move(after)});
}

Result<ArenaLayout::Range> ArenaLayout::allocate(uint64_t bytes, uint64_t alignment, Placement placement) {
  CUZK_ASSERT(std::has_single_bit(alignment));
  alignment = std::max(alignment, kGranularityBytes);
  const uint64_t size = bytes <= capacity_ ? std::max(rounded(bytes), kGranularityBytes) : UINT64_MAX;
  if (placement == Placement::kLow) {
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      const uint64_t offset = (block->first + alignment - 1) / alignment * alignment;
      const uint64_t skipped = offset - block->first;
      if (block->second.free && block->second.bytes >= skipped && block->second.bytes - skipped >= size) {
        return take(block, offset, size);
      }
    }
  } else {
    for (auto block = blocks_.end(); block != blocks_.begin();) {
      --block;
      if (!block->second.free || block->second.bytes < size) continue;
      const uint64_t offset = (block->first + block->second.bytes - size) / alignment * alignment;
      if (offset >= block->first) return take(block, offset, size);
    }
  }
  return Error(ErrorClass::kResource, "device memory: " + std::to_string(bytes) + " bytes do not fit; " +
                                          std::to_string(free_bytes()) + " of " + std::to_string(capacity_) +
                                          " are free, " + std::to_string(largest_free_bytes()) + " in one piece");
}

ArenaLayout::Range ArenaLayout::take(Blocks::iterator block, uint64_t offset, uint64_t bytes) {
  const uint64_t begin = block->first, end = begin + block->second.bytes;
  const std::vector<StreamTicket> after = std::move(block->second.after);
  blocks_.erase(block);
  if (offset > begin) blocks_.emplace(begin, Block{offset - begin, true, after});
  if (offset + bytes < end) blocks_.emplace(offset + bytes, Block{end - offset - bytes, true, after});
  blocks_.emplace(offset, Block{bytes, false, {}});
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return {offset, bytes, after};
}

void ArenaLayout::release(uint64_t offset, std::span<const StreamTicket> after) {
  auto block = blocks_.find(offset);
  CUZK_ASSERT(block != blocks_.end() && !block->second.free);
  used_ -= block->second.bytes;
  block->second.free = true;
  block->second.after.assign(after.begin(), after.end());
  if (block != blocks_.begin() && std::prev(block)->second.free) {
    auto before = std::prev(block);
    before->second.bytes += block->second.bytes;
    merge(before->second.after, block->second.after);
    blocks_.erase(block);
    block = before;
  }
  if (auto next = std::next(block); next != blocks_.end() && next->second.free) {
    block->second.bytes += next->second.bytes;
    merge(block->second.after, next->second.after);
    blocks_.erase(next);
  }
}

uint64_t ArenaLayout::largest_free_bytes() const {
  uint64_t largest = 0;
  for (const auto& [offset, block] : blocks_) {
    if (block.free) largest = std::max(largest, block.bytes);
  }
  return largest;
}

size_t ArenaLayout::ranges_in_use() const {
  return static_cast<size_t>(
      std::count_if(blocks_.begin(), blocks_.end(), [](const auto& entry) { return !entry.second.free; }));
}

std::vector<StreamTicket> ArenaLayout::tickets() const {
  std::vector<StreamTicket> all;
  for (const auto& [offset, block] : blocks_) merge(all, block.after);
  return all;
}

}  // namespace cuzk::gpu
