/// The calls under way. gRPC knows a call by its reactor, a plain pointer, until it is done with it; until then the
/// reactor is owned here.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::edges {

enum class Admission { kAdmitted, kFull, kClosed };

/// Any thread.
template <class Reactor>
class Reactors {
 public:
  explicit Reactors(std::size_t count_max) : count_max_(count_max) {}

  /// Keeps the reactor in each case: one that is not admitted is to end at once.
  Admission add(std::shared_ptr<Reactor> reactor) {
    const std::lock_guard lock(mutex_);
    const bool is_full = reactors_.size() >= count_max_;
    Reactor* const key = reactor.get();
    reactors_.emplace(key, std::move(reactor));
    if (is_closed_) return Admission::kClosed;
    return is_full ? Admission::kFull : Admission::kAdmitted;
  }

  /// May destroy the reactor.
  void remove(Reactor* reactor) {
    std::shared_ptr<Reactor> last;  // freed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = reactors_.find(reactor);
    if (found == reactors_.end()) return;
    last = std::move(found->second);
    reactors_.erase(found);
  }

  /// From now on none is admitted.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }

  [[nodiscard]] std::vector<std::shared_ptr<Reactor>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Reactor>> reactors;
    reactors.reserve(reactors_.size());
    for (const auto& [key, reactor] : reactors_) reactors.push_back(reactor);
    return reactors;
  }

 private:
  const std::size_t count_max_;
  mutable std::mutex mutex_;
  std::unordered_map<Reactor*, std::shared_ptr<Reactor>> reactors_;
  bool is_closed_ = false;
};

}  // namespace berth::edges
