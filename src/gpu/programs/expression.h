/// Regular expressions for parameters: a small language, matched in time that is bounded for any text.
///
/// Literals, `.`, classes (`[a-z0-9-]`, `[^/]`, `\d`, `\w`, `\s` and their opposites), groups, `|`, `*`, `+`, `?`,
/// `{m}`, `{m,}`, `{m,n}`. An expression matches a text as a whole, so there are no anchors; nor back-references or
/// look-around. The matcher keeps the set of all positions in the expression (Thompson 1968): O(text x expression),
/// no back-tracking.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::programs {

class Expression {
 public:
  static constexpr std::size_t kTextBytesMax = 256;
  static constexpr std::size_t kStepsMax = 4096;

  /// Error: it does not compile; the message says what was wanted at which byte.
  [[nodiscard]] static Result<Expression> compile(std::string_view text);

  [[nodiscard]] bool matches(std::string_view text) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  friend bool operator==(const Expression& a, const Expression& b) { return a.text_ == b.text_; }

  /// A step of the matcher. Targets are relative to the step.
  struct Step {
    enum class Kind : std::uint8_t { kByte, kSplit, kJump };
    Kind kind = Kind::kByte;
    std::bitset<256> bytes = {};  ///< kByte: which go on with the next step
    int first = 1;                ///< kSplit, kJump
    int second = 1;               ///< kSplit
  };

 private:
  Expression(std::string text, std::vector<Step> steps) : text_(std::move(text)), steps_(std::move(steps)) {}

  std::string text_;
  std::vector<Step> steps_;  ///< the end of the list is the match
};

}  // namespace berth::programs
