/// What followers give to the thread that decides: a queue of limited length.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/reflector.h"

namespace berth::edges {

/// Changes of one resource, in order. `has_listed`: a complete list has been read, and everything of it is here or came
/// before.
struct KubeNews {
  std::string_view plural;  ///< of the resource
  std::vector<kube::Change> changes;
  bool has_listed = false;
  std::optional<Error> trouble = std::nullopt;
  std::int64_t list_order = 0;  ///< of the list: how often the follower had been asked to list when it began
};

class ChangeQueue {
 public:
  static constexpr std::size_t kNewsMax = 256;
  /// Pages of a list are one news each: their objects are what takes memory.
  static constexpr std::size_t kChangesMax = 1'000;

  /// Waits while the queue is full; false if it is closed.
  bool add(KubeNews news) {
    std::unique_lock held(lock_);
    room_.wait(held, [this] { return (news_.size() < kNewsMax && change_count_ < kChangesMax) || is_closed_; });
    if (is_closed_) return false;
    change_count_ += news.changes.size();
    news_.push_back(std::move(news));
    arrived_.notify_one();
    return true;
  }

  /// All that is there, after waiting at most `patience` for something.
  std::vector<KubeNews> take(std::chrono::milliseconds patience) {
    std::unique_lock held(lock_);
    arrived_.wait_for(held, patience, [this] { return !news_.empty() || is_closed_; });
    std::vector<KubeNews> taken = std::move(news_);
    news_.clear();
    change_count_ = 0;
    room_.notify_all();
    return taken;
  }

  void close() {
    const std::lock_guard held(lock_);
    is_closed_ = true;
    room_.notify_all();
    arrived_.notify_all();
  }

 private:
  std::mutex lock_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::vector<KubeNews> news_;
  std::size_t change_count_ = 0;
  bool is_closed_ = false;
};

}  // namespace berth::edges
