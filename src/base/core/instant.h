/// Time: whole microseconds, as a duration (Micros) and as a point in time of the run (Instant). Both are checked: an
/// overflow ends the program instead of wrapping.
#pragma once

#include <compare>
#include <cstdint>

#include "base/core/ensure.h"

namespace berth {

inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;

namespace detail {

[[nodiscard]] constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  ENSURE(!__builtin_add_overflow(a, b, &sum));
  return sum;
}

[[nodiscard]] constexpr std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  ENSURE(!__builtin_sub_overflow(a, b, &difference));
  return difference;
}

[[nodiscard]] constexpr std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  ENSURE(!__builtin_mul_overflow(a, b, &product));
  return product;
}

}  // namespace detail

/// A duration in whole microseconds; may be negative.
class Micros {
 public:
  constexpr Micros() = default;
  constexpr explicit Micros(std::int64_t count) : count_(count) {}

  [[nodiscard]] static constexpr Micros seconds(std::int64_t seconds) {
    return Micros(detail::checked_multiply(seconds, kMicrosPerSecond));
  }

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(count_) / 1e6; }

  friend constexpr auto operator<=>(Micros, Micros) = default;
  friend constexpr Micros operator+(Micros a, Micros b) { return Micros(detail::checked_add(a.count_, b.count_)); }
  friend constexpr Micros operator-(Micros a, Micros b) { return Micros(detail::checked_subtract(a.count_, b.count_)); }
  friend constexpr Micros operator*(Micros a, std::int64_t n) { return Micros(detail::checked_multiply(a.count_, n)); }
  constexpr Micros& operator+=(Micros other) { return *this = *this + other; }
  constexpr Micros& operator-=(Micros other) { return *this = *this - other; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.count_);
  }

 private:
  std::int64_t count_ = 0;
};

/// A point in time of a run: microseconds since its second 0. Negative instants are history.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(std::int64_t micros) : micros_(micros) {}

  [[nodiscard]] static constexpr Instant at_second(std::int64_t second) {
    return Instant(detail::checked_multiply(second, kMicrosPerSecond));
  }
  /// Later than every event of every run.
  [[nodiscard]] static constexpr Instant never() { return Instant(INT64_MAX); }

  [[nodiscard]] constexpr std::int64_t micros() const { return micros_; }
  /// The second that it lies in, rounded down.
  [[nodiscard]] constexpr std::int64_t second() const {
    const std::int64_t quotient = micros_ / kMicrosPerSecond;
    return micros_ % kMicrosPerSecond < 0 ? quotient - 1 : quotient;
  }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Micros d) { return Instant(detail::checked_add(t.micros_, d.count())); }
  friend constexpr Instant operator-(Instant t, Micros d) {
    return Instant(detail::checked_subtract(t.micros_, d.count()));
  }
  friend constexpr Micros operator-(Instant a, Instant b) {
    return Micros(detail::checked_subtract(a.micros_, b.micros_));
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.micros_);
  }

 private:
  std::int64_t micros_ = 0;
};

}  // namespace berth
