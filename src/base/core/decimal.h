/// Exact numbers of scenarios, profiles, traces and prices. No double decides a comparison, a rounding or money.
#pragma once

#include <gmp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/int128.h"
#include "base/core/result.h"

namespace berth {

/// An exact rational number that was read as a decimal, or computed from such ones. Regular value; arithmetic never
/// rounds.
class Decimal {
 public:
  Decimal() { mpq_init(value_); }
  explicit Decimal(std::int64_t value) : Decimal() { mpz_set_si(mpq_numref(value_), value); }
  /// numerator / denominator. Requires: denominator > 0.
  Decimal(std::int64_t numerator, std::int64_t denominator);
  Decimal(const Decimal& other);
  /// The other one becomes 0.
  Decimal(Decimal&& other) noexcept : Decimal() { mpq_swap(value_, other.value_); }
  Decimal& operator=(const Decimal& other) {
    mpq_set(value_, other.value_);
    return *this;
  }
  Decimal& operator=(Decimal&& other) noexcept {
    mpq_swap(value_, other.value_);
    return *this;
  }
  ~Decimal() { mpq_clear(value_); }

  /// Reads "12", "-0.5", "1e-3", "+4.": at most 40 characters, an exponent from -30 to 30. No spaces, no hex, no inf or
  /// nan. The error says what was wanted and found, without a position: the caller knows the position.
  [[nodiscard]] static Result<Decimal> parse(std::string_view text);

  [[nodiscard]] bool is_integer() const { return mpz_cmp_ui(mpq_denref(value_), 1) == 0; }
  [[nodiscard]] int sign() const { return mpq_sgn(value_); }
  [[nodiscard]] double to_double() const { return mpq_get_d(value_); }
  /// Shortest exact text if the value is a decimal ("0.45"), otherwise numerator/denominator.
  [[nodiscard]] std::string to_string() const;

  /// floor(value + 1/2). Requires: the result fits 64 bits (see `fits_int64`).
  [[nodiscard]] std::int64_t round_half_up() const;
  /// To the nearest integer, ties to the even one (money). Requires as above.
  [[nodiscard]] std::int64_t round_half_even() const;
  /// The largest whole number not above the value. Requires as above.
  [[nodiscard]] std::int64_t floor() const;
  /// |value| < 2^62.
  [[nodiscard]] bool fits_int64() const;

  friend bool operator==(const Decimal& a, const Decimal& b) { return mpq_equal(a.value_, b.value_) != 0; }
  friend bool operator<(const Decimal& a, const Decimal& b) { return mpq_cmp(a.value_, b.value_) < 0; }
  friend bool operator>(const Decimal& a, const Decimal& b) { return b < a; }
  friend bool operator<=(const Decimal& a, const Decimal& b) { return !(b < a); }
  friend bool operator>=(const Decimal& a, const Decimal& b) { return !(a < b); }
  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b);
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  /// Requires: b is not zero.
  friend Decimal operator/(const Decimal& a, const Decimal& b);
  Decimal& operator+=(const Decimal& other) {
    mpq_add(value_, value_, other.value_);
    return *this;
  }

  /// The smallest whole numbers in the same proportions and with the same signs: {0.5, 0.75} -> {2, 3}. Nothing if one
  /// of them needs more than 100 bits.
  [[nodiscard]] static std::optional<std::vector<Int128>> to_common_integers(std::span<const Decimal> values);

  /// "numerator/denominator" in lowest terms, of any length.
  [[nodiscard]] std::string fraction() const;
  /// The value of such a text; nothing if it is malformed.
  [[nodiscard]] static std::optional<Decimal> of_fraction(std::string_view fraction) {
    Decimal value;
    return value.read_fraction(fraction) ? std::optional(value) : std::nullopt;
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    std::string fraction = self.fraction();
    archive(fraction);
    if constexpr (Archive::kReads) archive.require(self.read_fraction(fraction));
  }

 private:
  /// Sets the value from a fraction in lowest terms. Returns false if the text is not one.
  bool read_fraction(std::string_view fraction);

  mpq_t value_{};  ///< in lowest terms
};

}  // namespace berth
