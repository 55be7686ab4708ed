/// Limits the memory of large answers that clients have not read yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace berth::edges::detail {

/// Counts the bytes of large answers. Any thread.
class LargeAnswers {
 public:
  /// The share of one answer, released on destruction. The counter must outlive it.
  class Place {
   public:
    Place() = default;
    Place(LargeAnswers& all, std::size_t bytes) : all_(&all), bytes_(bytes) {}
    Place(Place&& other) noexcept : all_(std::exchange(other.all_, nullptr)), bytes_(other.bytes_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (all_ != nullptr) all_->bytes_.fetch_sub(bytes_);
    }

   private:
    LargeAnswers* all_ = nullptr;
    std::size_t bytes_ = 0;
  };

  /// An answer with more than `bytes_min` counts.
  LargeAnswers(std::size_t bytes_min, std::size_t bytes_max) : bytes_min_(bytes_min), bytes_max_(bytes_max) {}

  /// Counts an answer of `bytes` bytes; nothing if the limit does not allow it. A single large answer, and any small
  /// one, is always allowed.
  [[nodiscard]] std::optional<Place> enter(std::size_t bytes) {
    if (bytes <= bytes_min_) return Place();
    std::size_t held = bytes_.load();
    do {
      if (held > 0 && (held > bytes_max_ || bytes > bytes_max_ - held)) return std::nullopt;
    } while (!bytes_.compare_exchange_weak(held, held + bytes));
    return Place(*this, bytes);
  }

  /// Counts an answer that must be sent, even beyond the limit.
  [[nodiscard]] Place enter_anyway(std::size_t bytes) {
    if (bytes <= bytes_min_) return {};
    bytes_.fetch_add(bytes);
    return {*this, bytes};
  }

 private:
  const std::size_t bytes_min_;
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace berth::edges::detail
