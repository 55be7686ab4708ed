/// What all keys so far had: how often a gap ended after so many minutes, by the gaps that the key had before. The
/// prior for keys of which little is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::warm {

/// What is known of a key's gap that has not ended.
struct OpenGap {
  std::int64_t minutes = 1;       ///< since the last invoked one, positive
  std::int64_t gaps_before = 0;   ///< how many the key had
  std::int64_t minutes_last = 0;  ///< of the last of them; positive if there is one
};

/// Two tables of minutes and of gaps that ended in them, by classes: a coarse one, by how many gaps the key had and by
/// the length in half octaves; and a fine one, by the last gap in octaves and by the length compared with it. A key
/// with n gaps counts 1 / sqrt(n + 1), so that busy keys do not drown rare ones.
class GapPool {
 public:
  /// A minute of an open gap is over, with an invocation or not.
  void observe(const OpenGap& gap, bool has_ended);
  /// The probability that it ends in the minute, if it has not ended before; above 0 and below 1.
  [[nodiscard]] double probability(const OpenGap& gap) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.coarse_, self.fine_);
  }

 private:
  struct Tally {
    double minutes = 0;
    double ended = 0;

    void add(double weight, bool has_ended);
    /// The share of minutes in which a gap ended, where `guess` counts as `guess_minutes` more.
    [[nodiscard]] double share(double guess, double guess_minutes) const {
      return (ended + guess_minutes * guess) / (minutes + guess_minutes);
    }
  };
  static constexpr std::size_t kHistories = 4;     ///< no gap, one, two or three, more
  static constexpr std::size_t kHalfOctaves = 20;  ///< of the length: up to 1,024 minutes and longer
  static constexpr std::size_t kOctaves = 12;      ///< of the last gap: up to 2,048 minutes and longer
  static constexpr std::size_t kRatios = 13;       ///< of the length to the last gap

  std::array<std::array<Tally, kHalfOctaves>, kHistories> coarse_{};
  std::array<std::array<std::array<Tally, kRatios>, kOctaves>, kHistories> fine_{};
};

}  // namespace berth::warm
