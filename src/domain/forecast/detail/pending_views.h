/// Views whose second has not arrived yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/forecast/detail/member.h"

namespace berth::forecast::detail {

/// A queue of views of one lead time, oldest first. Bounded: a view for which there is no room is not kept.
class PendingViews {
 public:
  [[nodiscard]] std::int64_t next_second() const { return next_second_; }
  /// From now on views are accepted only from `second` on.
  void wait_until(std::int64_t second) { next_second_ = second; }
  /// How many were kept in total.
  [[nodiscard]] std::int64_t kept_count() const { return kept_count_; }

  /// Requires: targets increase.
  void keep(std::int64_t target, const View& view);
  /// Removes the view of `second` and all older ones, and returns it; nothing if there is none.
  [[nodiscard]] std::optional<View> take(std::int64_t second);

  /// The waiting views, whatever their position in the ring.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.next_second_, self.kept_count_, self.size_);
    if (!archive.require(self.size_ <= kRoom)) return;
    if constexpr (Archive::kReads) {
      self.first_ = 0;
      self.pending_.resize(self.size_ == 0 ? 0 : kRoom);
    }
    for (std::size_t i = 0; i < self.size_; ++i) {
      auto& waiting = self.pending_[(self.first_ + i) % kRoom];
      archive(waiting);
      archive.require(waiting.view.lead < kLeadCount && waiting.view.situation < kSituationCount);
    }
  }

 private:
  static constexpr std::size_t kRoom = 32;
  struct PendingView {
    std::int64_t target = 0;
    View view;
  };
  std::vector<PendingView> pending_;  ///< a ring
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::int64_t next_second_ = INT64_MIN;
  std::int64_t kept_count_ = 0;
};

}  // namespace berth::forecast::detail
