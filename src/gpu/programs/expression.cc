#include "gpu/programs/expression.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/core/text.h"

namespace berth::programs {
namespace {

using Step = Expression::Step;
using Steps = std::vector<Step>;
using ByteSet = std::bitset<256>;

constexpr int kDepthMax = 16;
constexpr int kRepeatMax = 1000;

std::size_t index_of(char byte) { return static_cast<unsigned char>(byte); }

ByteSet range_set(char from, char to) {
  ByteSet set;
  for (std::size_t byte = index_of(from); byte <= index_of(to); ++byte) set.set(byte);
  return set;
}

/// Of `\d` and its like; nothing: the letter names no class.
std::optional<ByteSet> named_set(char letter) {
  const ByteSet digits = range_set('0', '9');
  const ByteSet words = digits | range_set('a', 'z') | range_set('A', 'Z') | range_set('_', '_');
  const ByteSet spaces = range_set(' ', ' ') | range_set('\t', '\r');
  switch (letter) {
    case 'd':
      return digits;
    case 'D':
      return ~digits;
    case 'w':
      return words;
    case 'W':
      return ~words;
    case 's':
      return spaces;
    case 'S':
      return ~spaces;
    default:
      return std::nullopt;
  }
}

int size_of(const Steps& steps) { return static_cast<int>(steps.size()); }

Step split(int first, int second) { return {.kind = Step::Kind::kSplit, .first = first, .second = second}; }

Step jump(int to) { return {.kind = Step::Kind::kJump, .first = to}; }

struct Repeats {
  int min = 0;
  std::optional<int> max = std::nullopt;  ///< absent: any number
};

/// Reads an expression from left to right. After the first error everything returns a harmless value.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Steps> parse() {
    Steps steps = parse_choice(0);
    if (!error_ && at_ < text_.size()) fault("no ) without a (");
    if (error_) return invalid(*error_);
    return steps;
  }

 private:
  [[nodiscard]] bool is_over() const { return error_.has_value() || at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] bool take(char byte) {
    if (is_over() || peek() != byte) return false;
    ++at_;
    return true;
  }
  void fault(std::string_view wanted) {
    if (error_) return;
    error_ = fmt::format("wanted {}, found {} at byte {} of {}", wanted,
                         at_ < text_.size() ? in_quotes(text_.substr(at_, 1)) : "the end", at_ + 1, in_quotes(text_));
  }
  /// Adds a piece, if there is space.
  void append(Steps& to, const Steps& piece) {
    if (to.size() + piece.size() > Expression::kStepsMax) return fault("a smaller expression (repeats count as often)");
    to.insert(to.end(), piece.begin(), piece.end());
  }

  Steps parse_choice(int depth) {
    if (depth > kDepthMax) fault(fmt::format("at most {} groups inside each other", kDepthMax));
    Steps left = parse_sequence(depth);
    while (take('|')) {
      const Steps right = parse_sequence(depth);
      Steps both = {split(1, size_of(left) + 2)};
      append(both, left);
      both.push_back(jump(size_of(right) + 1));
      append(both, right);
      left = std::move(both);
    }
    return left;
  }

  Steps parse_sequence(int depth) {
    Steps steps;
    while (!is_over() && peek() != '|' && peek() != ')') append(steps, parse_repeated(depth));
    return steps;
  }

  Steps parse_repeated(int depth) {
    Steps piece = parse_one(depth);
    const auto repeats = parse_repeats();
    if (!repeats) return piece;
    piece = repeated(piece, *repeats);
    constexpr std::string_view kMarks = "*+?{";
    if (!is_over() && kMarks.find(peek()) != std::string_view::npos)
      fault("one repeat after another only with a group");
    return piece;
  }

  std::optional<Repeats> parse_repeats() {
    if (take('*')) return Repeats{.min = 0};
    if (take('+')) return Repeats{.min = 1};
    if (take('?')) return Repeats{.min = 0, .max = 1};
    if (!take('{')) return std::nullopt;
    Repeats repeats{.min = parse_number()};
    repeats.max = repeats.min;
    if (take(',')) {
      repeats.max.reset();
      if (!is_over() && peek() != '}') repeats.max = parse_number();
    }
    if (!take('}')) fault("} after the number of repeats");
    if (repeats.max && *repeats.max < repeats.min) fault("a second number that is not below the first");
    return error_ ? std::nullopt : std::optional(repeats);
  }

  int parse_number() {
    int number = 0;
    bool has_digit = false;
    while (!is_over() && peek() >= '0' && peek() <= '9') {
      number = number * 10 + (text_[at_++] - '0');
      has_digit = true;
      if (number > kRepeatMax) fault(fmt::format("a number of at most {}", kRepeatMax));
    }
    if (!has_digit) fault("a number of repeats");
    return number;
  }

  Steps repeated(const Steps& piece, const Repeats& repeats) {
    Steps steps;
    for (int i = 0; i < repeats.min && !error_; ++i) append(steps, piece);
    const int size = size_of(piece);
    if (!repeats.max) {
      append(steps, {split(1, size + 2)});
      append(steps, piece);
      append(steps, {jump(-(size + 1))});
      return steps;
    }
    const int optional_count = *repeats.max - repeats.min;
    for (int left = optional_count; left > 0 && !error_; --left) {
      append(steps, {split(1, left * (size + 1))});
      append(steps, piece);
    }
    return steps;
  }

  Steps parse_one(int depth) {
    if (take('(')) {
      if (take('?') && !take(':')) fault("a group (..) or (?:..)");
      Steps inner = parse_choice(depth + 1);
      if (!take(')')) fault(") at the end of the group");
      return inner;
    }
    if (take('[')) return {{.bytes = parse_class()}};
    if (take('.')) return {{.bytes = ~ByteSet()}};
    const char byte = peek();
    if (byte == '*' || byte == '+' || byte == '?' || byte == '{') fault("something to repeat");
    if (byte == '^' || byte == '$') fault("no anchors, as an expression matches a whole text");
    if (byte == '}' || byte == ']') fault(R"(a \ before it)");
    if (byte == '\\') return {{.bytes = parse_escape()}};
    ++at_;
    return {{.bytes = range_set(byte, byte)}};
  }

  ByteSet parse_escape() {
    ++at_;  // the backslash
    if (is_over()) {
      fault("a byte after the \\");
      return {};
    }
    const char byte = peek();
    if (const auto named = named_set(byte)) {
      ++at_;
      return *named;
    }
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')) {
      fault(R"(d, D, w, W, s, S or a mark after the \)");
    }
    ++at_;
    return range_set(byte, byte);
  }

  /// What follows [, up to its ].
  ByteSet parse_class() {
    ByteSet set;
    const bool is_negated = take('^');
    bool is_empty = true;
    while (!is_over() && (peek() != ']' || is_empty)) {
      set |= parse_class_item();
      is_empty = false;
    }
    if (!take(']')) fault("] at the end of the class");
    return is_negated ? ~set : set;
  }

  /// A byte, a range of bytes, or a named class.
  ByteSet parse_class_item() {
    const std::size_t begin = at_;
    const char from = peek();
    ByteSet set;
    if (from == '\\') {
      set = parse_escape();
    } else {
      ++at_;
      set = range_set(from, from);
    }
    const bool is_range = at_ + 1 < text_.size() && peek() == '-' && text_[at_ + 1] != ']';
    if (error_ || !is_range) return set;
    ++at_;  // the minus
    const char to = peek();
    if (from == '\\' || to == '\\' || index_of(to) < index_of(from)) {
      at_ = begin;
      fault("a range of two plain bytes in ascending order");
      return {};
    }
    ++at_;
    return range_set(from, to);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> error_;
};

/// Positions in a list of steps, without repeats.
class PositionSet {
 public:
  explicit PositionSet(const Steps& steps) : steps_(&steps), is_in_(steps.size() + 1, false) {}

  /// Adds a position and all that are reached from it without a byte.
  void add(std::size_t position) {
    pending_.push_back(position);
    while (!pending_.empty()) {
      const std::size_t next = pending_.back();
      pending_.pop_back();
      if (is_in_[next]) continue;
      is_in_[next] = true;
      positions_.push_back(next);
      if (next == steps_->size()) continue;
      const Step& step = (*steps_)[next];
      if (step.kind == Step::Kind::kByte) continue;
      pending_.push_back(target(next, step.first));
      if (step.kind == Step::Kind::kSplit) pending_.push_back(target(next, step.second));
    }
  }
  void clear() {
    for (const std::size_t position : positions_) is_in_[position] = false;
    positions_.clear();
  }
  [[nodiscard]] const std::vector<std::size_t>& positions() const { return positions_; }
  [[nodiscard]] bool has_end() const { return is_in_.back(); }

 private:
  static std::size_t target(std::size_t from, int offset) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(from) + offset);
  }

  const Steps* steps_;
  std::vector<bool> is_in_;
  std::vector<std::size_t> positions_;
  std::vector<std::size_t> pending_;
};

}  // namespace

Result<Expression> Expression::compile(std::string_view text) {
  if (text.empty() || text.size() > kTextBytesMax) {
    return invalid(fmt::format("wanted an expression of 1 to {} bytes, found {}", kTextBytesMax, text.size()));
  }
  auto steps = ExpressionParser(text).parse();
  if (!steps) return pass_on(steps.error());
  return Expression(std::string(text), std::move(*steps));
}

bool Expression::matches(std::string_view text) const {
  PositionSet now(steps_);
  PositionSet next(steps_);
  now.add(0);
  for (const char byte : text) {
    next.clear();
    for (const std::size_t position : now.positions()) {
      if (position < steps_.size() && steps_[position].kind == Step::Kind::kByte &&
          steps_[position].bytes.test(index_of(byte))) {
        next.add(position + 1);
      }
    }
    std::swap(now, next);
  }
  return now.has_end();
}

}  // namespace berth::programs
