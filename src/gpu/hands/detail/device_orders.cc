#include "gpu/hands/detail/device_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/hands/plain_end.h"

namespace berth::edges::detail {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t kGpuWaitingMax = 256;

}  // namespace

std::string in_words(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000) : fmt::format("{} ms", time.count());
}

void DeviceOrders::submit(const DeviceOrder& order, const std::optional<std::string>& gone) {
  Gpu& gpu = gpus_[order.uuid];
  if (gone) {
    finish(plain_end(order, DeviceOutcome::kRefused, *gone));
  } else if (gpu.overdue) {
    finish(plain_end(order, DeviceOutcome::kRefused, overdue_words(*gpu.overdue)));
  } else if (gpu.waiting.size() >= kGpuWaitingMax) {
    finish(plain_end(order, DeviceOutcome::kRefused, fmt::format("{} orders wait for this GPU", kGpuWaitingMax)));
  } else {
    gpu.waiting.push_back(order);
  }
}

void DeviceOrders::lose(const std::string& why) {
  for (auto& [uuid, gpu] : gpus_) {
    const auto lose_sent = [&](const DeviceOrder& order) {
      finish(plain_end(order, DeviceOutcome::kFailed, "nobody knows what became of it: " + why));
    };
    if (gpu.overdue) lose_sent(gpu.overdue->order);
    gpu.overdue.reset();
    if (gpu.open && gpu.open->is_sent) {
      lose_sent(gpu.open->order);
    } else if (gpu.open && gpu.open->busy_count > 0) {
      finish(std::move(gpu.open->busy_end));
    } else if (gpu.open) {
      finish(plain_end(gpu.open->order, DeviceOutcome::kRefused, why));
    }
    gpu.open.reset();
    for (const DeviceOrder& order : gpu.waiting) finish(plain_end(order, DeviceOutcome::kRefused, why));
    gpu.waiting.clear();
  }
}

void DeviceOrders::take_end(HandsEnd packet, TimePoint now) {
  if (packet.is_kept) return finish(std::move(packet.end));
  for (auto& [uuid, gpu] : gpus_) {
    if (gpu.overdue && gpu.overdue->order.intent == packet.end.intent) {
      gpu.overdue.reset();
      return finish(std::move(packet.end));
    }
    if (gpu.open && gpu.open->is_sent && gpu.open->order.intent == packet.end.intent) {
      return end_open(gpu, std::move(packet.end), now);
    }
  }
}

void DeviceOrders::end_open(Gpu& gpu, DeviceEnd end, TimePoint now) {
  Open& open = *gpu.open;
  if (end.outcome == DeviceOutcome::kBusy && open.busy_count < busy_pauses_.size()) {
    open.is_sent = false;
    open.until = now + busy_pauses_[open.busy_count];
    ++open.busy_count;
    open.busy_end = std::move(end);
    if (open.busy_count > 1) return;
    delayed_.push_back(open.busy_end);
    has_news_ = true;
    return;
  }
  gpu.open.reset();
  finish(std::move(end));
}

void DeviceOrders::take_status(const HandsStatus& status) {
  for (const HandsStatus::UnderWay& order : status.orders) {
    const auto gpu = gpus_.find(order.uuid);
    if (gpu == gpus_.end() || !gpu->second.overdue || gpu->second.overdue->order.intent != order.intent) continue;
    gpu->second.overdue->call = order.call;
    has_news_ = true;
  }
}

bool DeviceOrders::keep_deadlines(TimePoint now) {
  bool is_one_missed = false;
  for (auto& [uuid, gpu] : gpus_) {
    if (!gpu.open || !gpu.open->is_sent || now < gpu.open->until) continue;
    miss_deadline(gpu);
    is_one_missed = true;
  }
  return is_one_missed;
}

void DeviceOrders::miss_deadline(Gpu& gpu) {
  DeviceEnd end = plain_end(gpu.open->order, DeviceOutcome::kFailed, "no end after " + in_words(deadline_));
  end.goes_on = true;
  finish(std::move(end));
  gpu.overdue = Overdue{.order = std::move(gpu.open->order), .call = ""};
  gpu.open.reset();
  for (const DeviceOrder& order : gpu.waiting) {
    finish(plain_end(order, DeviceOutcome::kRefused, overdue_words(*gpu.overdue)));
  }
  gpu.waiting.clear();
}

void DeviceOrders::send_due(TimePoint now, const std::function<bool(const ClientPacket&)>& send) {
  for (auto& [uuid, gpu] : gpus_) {
    if (!gpu.open && !gpu.waiting.empty() && !gpu.overdue) {
      gpu.open = Open{.order = std::move(gpu.waiting.front()), .is_sent = false, .until = now};
      gpu.waiting.pop_front();
    }
    if (!gpu.open || gpu.open->is_sent || now < gpu.open->until || !send(gpu.open->order)) continue;
    gpu.open->is_sent = true;
    gpu.open->until = now + deadline_;
  }
}

DeviceOrders::TimePoint DeviceOrders::next(TimePoint now, std::optional<milliseconds> full_pause) const {
  TimePoint next = TimePoint::max();
  for (const auto& [uuid, gpu] : gpus_) {
    if (!gpu.open) continue;
    // An order that is due but not sent waits for the other side to read, or to answer the hello; either wakes the
    // thread.
    const bool is_due = !gpu.open->is_sent && gpu.open->until <= now;
    if (!is_due) {
      next = std::min(next, gpu.open->until);
    } else if (full_pause) {
      next = std::min(next, now + *full_pause);
    }
  }
  return next;
}

std::optional<std::string> DeviceOrders::why_not(const std::string& uuid) const {
  const auto gpu = gpus_.find(uuid);
  if (gpu == gpus_.end() || !gpu->second.overdue) return std::nullopt;
  return overdue_words(*gpu->second.overdue);
}

void DeviceOrders::finish(DeviceEnd end) {
  ended_.push_back(std::move(end));
  has_news_ = true;
}

std::string DeviceOrders::overdue_words(const Overdue& overdue) const {
  const std::string what = overdue.call.empty() ? fmt::format("order {}", overdue.order.intent) : overdue.call;
  return fmt::format("{} has not returned for more than {}", what, in_words(deadline_));
}

}  // namespace berth::edges::detail
