/// When each of many keys is invoked next: from its own gaps, and from those of all keys where it has few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serving/warm/gap_memory.h"
#include "serving/warm/gap_pool.h"

namespace berth::warm {

/// Invocations of a key in a minute.
struct Invoked {
  std::size_t key = 0;
  std::int64_t count = 1;  ///< positive
};

/// What is known of one key.
struct KeyHistory {
  GapMemory gaps;
  std::optional<std::int64_t> minute_last;  ///< the last invoked one; nothing before the first
  std::int64_t invocations = 0;
};
static_assert(sizeof(KeyHistory) <= 2048, "the state of a key");

/// Keys are numbers from 0. Model: the minutes from one invoked minute of a key to the next are independent draws. The
/// probability that a gap ends in its minute a, if it has not ended before, is (w + k p) / (W + k): w is the weight of
/// the key's own gaps at a, W of those at a or later, p the probability in the pool of all keys and k = kPriorGaps. So
/// a key that has waited longer than ever before is predicted from the others again.
class Predictor {
 public:
  explicit Predictor(std::size_t key_count = 0) : keys_(key_count) {}
  /// Adds a key that was never invoked; returns its number.
  std::size_t add_key();
  /// Makes the key one that was never invoked. The pool keeps what it gave. Requires: a key.
  void forget_key(std::size_t key) { keys_[key] = KeyHistory(); }

  /// A minute is over: the keys that were invoked in it, each once, by number. Minutes without a call before it count
  /// as minutes in which no key was invoked. O(keys) for each. Requires: later than the last one.
  void finish_minute(std::int64_t minute, std::span<const Invoked> invoked);

  /// The probability that a key is invoked `ahead` minutes after the last finished one (1: in the next), if it is not
  /// invoked before; nothing if it never was. Never 1. Requires: ahead > 0.
  [[nodiscard]] std::optional<double> probability(std::size_t key, std::int64_t ahead = 1) const;
  /// The probability that a key is invoked in at least one of the next `within` minutes after the last finished one;
  /// nothing if it never was. Of the pool it takes the rate in the middle of them. Requires: within > 0.
  [[nodiscard]] std::optional<double> probability_within(std::size_t key, std::int64_t within) const;
  /// The same from the minute `minute` on, in which the key is invoked: in one of the `within` minutes after it.
  /// Requires: `minute` is later than the last finished one.
  [[nodiscard]] double probability_after(std::size_t key, std::int64_t minute, std::int64_t within) const;
  [[nodiscard]] const KeyHistory& history(std::size_t key) const { return keys_[key]; }
  [[nodiscard]] std::size_t key_count() const { return keys_.size(); }
  /// The last finished minute; nothing before the first.
  [[nodiscard]] const std::optional<std::int64_t>& minute() const { return minute_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.keys_, self.pool_, self.minute_);
  }

 private:
  [[nodiscard]] double within(const GapMemory& gaps, const OpenGap& first, std::int64_t minutes) const;
  void observe_pool(std::int64_t minute, std::span<const Invoked> invoked);

  std::vector<KeyHistory> keys_;
  GapPool pool_;
  std::optional<std::int64_t> minute_;  ///< the last finished one
};

}  // namespace berth::warm
