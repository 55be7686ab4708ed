#include "kube/devices/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/core/overloaded.h"
#include "base/core/text.h"
#include "kube/devices/quantity.h"

namespace berth::kube {
namespace {

constexpr int kNestingMax = 40;
constexpr std::size_t kSelectorBytesMax = 10 << 10U;  // as the API allows

bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  Result<Selector> parse() {
    if (text_.size() > kSelectorBytesMax) return invalid("wanted a selector of at most 10240 bytes, found more");
    SelectorNode root = parse_or();
    skip_spaces();
    if (!error_ && at_ < text_.size()) refuse("the end, or an operator");
    if (error_) return pass_on(*error_);
    return Selector{std::string(text_), std::move(root)};
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  void refuse(std::string_view wanted) {
    if (error_) return;
    const std::string_view rest = text_.substr(at_, 30);
    error_ =
        Error{ErrorCode::kInvalidInput, fmt::format("selector {} at column {}: wanted {}, found {}", in_quotes(text_),
                                                    at_ + 1, wanted, rest.empty() ? "its end" : in_quotes(rest))};
  }
  bool take(std::string_view token) {
    if (error_) return false;
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    const std::size_t end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) refuse(fmt::format("{}", token));
  }

  SelectorNode joined(SelectorOp op, std::string_view token, SelectorNode (SelectorParser::*part)()) {
    SelectorNode left = (this->*part)();
    while (!error_ && take(token)) {
      SelectorNode right = (this->*part)();
      std::vector<SelectorNode> operands;
      operands.push_back(std::move(left));
      operands.push_back(std::move(right));
      left = {.op = op, .operands = std::move(operands)};
    }
    return left;
  }
  SelectorNode parse_or() {
    if (++nesting_ > kNestingMax) refuse("less nesting");
    SelectorNode node = error_ ? SelectorNode{} : joined(SelectorOp::kOr, "||", &SelectorParser::parse_and);
    --nesting_;
    return node;
  }
  SelectorNode parse_and() { return joined(SelectorOp::kAnd, "&&", &SelectorParser::parse_relation); }

  SelectorNode parse_relation() {
    constexpr std::array<std::pair<std::string_view, SelectorOp>, 7> kRelations = {{
        {"==", SelectorOp::kEqual},
        {"!=", SelectorOp::kUnequal},
        {"<=", SelectorOp::kLessEqual},
        {">=", SelectorOp::kGreaterEqual},
        {"<", SelectorOp::kLess},
        {">", SelectorOp::kGreater},
        {"in", SelectorOp::kIn},
    }};
    SelectorNode left = parse_unary();
    for (const auto& [token, op] : kRelations) {
      if (!take(token)) continue;
      std::vector<SelectorNode> operands;
      operands.push_back(std::move(left));
      operands.push_back(parse_unary());
      if (op == SelectorOp::kIn && operands.back().op != SelectorOp::kList) refuse("a list behind in");
      return {.op = op, .operands = std::move(operands)};
    }
    return left;
  }

  SelectorNode parse_unary() {
    skip_spaces();
    if (!text_.substr(at_).starts_with("!=") && take("!")) {
      if (++nesting_ > kNestingMax) refuse("less nesting");
      std::vector<SelectorNode> operands;
      if (!error_) operands.push_back(parse_unary());
      --nesting_;
      return {.op = SelectorOp::kNot, .operands = std::move(operands)};
    }
    SelectorNode node = parse_primary();
    while (!error_ && take(".")) node = parse_method(std::move(node));
    return node;
  }

  SelectorNode parse_method(SelectorNode receiver) {
    constexpr std::array<std::pair<std::string_view, SelectorOp>, 4> kMethods = {{
        {"startsWith", SelectorOp::kStartsWith},
        {"endsWith", SelectorOp::kEndsWith},
        {"contains", SelectorOp::kContains},
        {"compareTo", SelectorOp::kCompareTo},
    }};
    for (const auto& [name, op] : kMethods) {
      if (!take(name)) continue;
      expect("(");
      std::vector<SelectorNode> operands;
      operands.push_back(std::move(receiver));
      operands.push_back(parse_or());
      expect(")");
      return {.op = op, .operands = std::move(operands)};
    }
    refuse("startsWith, endsWith, contains or compareTo");
    return {};
  }

  SelectorNode parse_primary() {
    skip_spaces();
    if (take("(")) {
      SelectorNode node = parse_or();
      expect(")");
      return node;
    }
    if (take("[")) return parse_list();
    if (take("true")) return {.value = true};
    if (take("false")) return {.value = false};
    if (take("quantity")) return parse_quantity();
    if (take("device")) return parse_device();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '"' || c == '\'') return {.value = parse_text()};
    if (c == '-' || (c >= '0' && c <= '9')) return parse_number();
    refuse("device, a text, a number, a list or a parenthesis");
    return {};
  }

  SelectorNode parse_list() {
    SelectorNode list{.op = SelectorOp::kList};
    if (take("]")) return list;
    do {
      list.operands.push_back(parse_or());
    } while (!error_ && take(","));
    expect("]");
    return list;
  }

  SelectorNode parse_quantity() {
    expect("(");
    skip_spaces();
    const std::string text = parse_text();
    const auto milli = parse_quantity_milli(text);
    if (!milli) refuse("a quantity such as 10Gi");
    expect(")");
    return {.value = QuantityValue{milli.value_or(0)}};
  }

  SelectorNode parse_device() {
    expect(".");
    if (take("driver")) return {.op = SelectorOp::kDriver};
    const bool is_capacity = take("capacity");
    if (!is_capacity && !take("attributes")) {
      refuse("driver, attributes or capacity");
      return {};
    }
    expect("[");
    skip_spaces();
    const std::string domain = parse_text();
    expect("]");
    expect(".");
    return {.op = is_capacity ? SelectorOp::kCapacity : SelectorOp::kAttribute,
            .name = fmt::format("{}/{}", domain, parse_word())};
  }

  std::string_view parse_word() {
    skip_spaces();
    const std::size_t begin = at_;
    while (!error_ && at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) refuse("a name");
    return text_.substr(begin, at_ - begin);
  }

  /// Without escapes: the subset has none.
  std::string parse_text() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (error_ || end == std::string_view::npos || text_.substr(at_, end - at_).find('\\') != std::string_view::npos) {
      refuse("a text in quotes, without escapes");
      return {};
    }
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(found);
  }

  SelectorNode parse_number() {
    std::int64_t number = 0;
    const char* const end = text_.data() + text_.size();
    const auto [rest, problem] = std::from_chars(text_.data() + at_, end, number);
    if (problem != std::errc() || (rest != end && (*rest == '.' || is_word(*rest)))) {
      refuse("a whole number");
      return {};
    }
    at_ = static_cast<std::size_t>(rest - text_.data());
    return {.value = number};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::optional<Error> error_;
};

using MaybeValue = std::optional<SelectorValue>;

class SelectorRun {
 public:
  SelectorRun(const Device& device, std::string_view driver) : device_(device), driver_(driver) {}

  [[nodiscard]] MaybeValue value_of(const SelectorNode& node) const {
    switch (node.op) {
      case SelectorOp::kConstant:
        return node.value;
      case SelectorOp::kDriver:
        return std::string(driver_);
      case SelectorOp::kAttribute:
        return attribute(node.name);
      case SelectorOp::kCapacity: {
        const auto found = device_.capacity.find(node.name);
        return found == device_.capacity.end() ? std::nullopt : MaybeValue(QuantityValue{found->second});
      }
      case SelectorOp::kNot: {
        const auto truth = truth_of(node.operands[0]);
        return truth ? MaybeValue(!*truth) : std::nullopt;
      }
      case SelectorOp::kAnd:
        return joined(node, false);
      case SelectorOp::kOr:
        return joined(node, true);
      case SelectorOp::kIn:
        return is_in(node);
      case SelectorOp::kList:
        return std::nullopt;
      case SelectorOp::kEqual:
      case SelectorOp::kUnequal:
      case SelectorOp::kLess:
      case SelectorOp::kLessEqual:
      case SelectorOp::kGreater:
      case SelectorOp::kGreaterEqual:
        return compared(node);
      case SelectorOp::kStartsWith:
      case SelectorOp::kEndsWith:
      case SelectorOp::kContains:
        return searched(node);
      case SelectorOp::kCompareTo:
        return compared_quantities(node);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<bool> truth_of(const SelectorNode& node) const {
    const MaybeValue value = value_of(node);
    const bool* truth = value ? std::get_if<bool>(&*value) : nullptr;
    return truth == nullptr ? std::nullopt : std::optional(*truth);
  }

 private:
  [[nodiscard]] MaybeValue attribute(const std::string& name) const {
    const auto found = device_.attributes.find(name);
    if (found == device_.attributes.end()) return std::nullopt;
    return std::visit([](const auto& value) { return MaybeValue(SelectorValue(value)); }, found->second);
  }

  /// `decisive`: the truth that decides alone.
  [[nodiscard]] MaybeValue joined(const SelectorNode& node, bool decisive) const {
    const auto left = truth_of(node.operands[0]);
    if (left == decisive) return decisive;
    const auto right = truth_of(node.operands[1]);
    if (right == decisive) return decisive;
    if (!left || !right) return std::nullopt;
    return !decisive;
  }

  [[nodiscard]] MaybeValue is_in(const SelectorNode& node) const {
    const MaybeValue wanted = value_of(node.operands[0]);
    if (!wanted) return std::nullopt;
    for (const SelectorNode& item : node.operands[1].operands) {
      if (value_of(item) == wanted) return true;
    }
    return false;
  }

  [[nodiscard]] MaybeValue compared(const SelectorNode& node) const {
    const MaybeValue left = value_of(node.operands[0]);
    const MaybeValue right = value_of(node.operands[1]);
    if (!left || !right || left->index() != right->index()) return std::nullopt;
    if (node.op == SelectorOp::kEqual) return *left == *right;
    if (node.op == SelectorOp::kUnequal) return *left != *right;
    if (const auto* number = std::get_if<std::int64_t>(&*left))
      return ordered(node.op, *number, std::get<std::int64_t>(*right));
    if (const auto* text = std::get_if<std::string>(&*left))
      return ordered(node.op, *text, std::get<std::string>(*right));
    return std::nullopt;
  }

  template <class T>
  [[nodiscard]] static bool ordered(SelectorOp op, const T& left, const T& right) {
    if (op == SelectorOp::kLess) return left < right;
    if (op == SelectorOp::kLessEqual) return left <= right;
    if (op == SelectorOp::kGreater) return left > right;
    return left >= right;
  }

  [[nodiscard]] MaybeValue searched(const SelectorNode& node) const {
    const MaybeValue whole = value_of(node.operands[0]);
    const MaybeValue part = value_of(node.operands[1]);
    const auto* text = whole ? std::get_if<std::string>(&*whole) : nullptr;
    const auto* sought = part ? std::get_if<std::string>(&*part) : nullptr;
    if (text == nullptr || sought == nullptr) return std::nullopt;
    if (node.op == SelectorOp::kStartsWith) return text->starts_with(*sought);
    if (node.op == SelectorOp::kEndsWith) return text->ends_with(*sought);
    return text->find(*sought) != std::string::npos;
  }

  [[nodiscard]] MaybeValue compared_quantities(const SelectorNode& node) const {
    const MaybeValue left = value_of(node.operands[0]);
    const MaybeValue right = value_of(node.operands[1]);
    const auto* a = left ? std::get_if<QuantityValue>(&*left) : nullptr;
    const auto* b = right ? std::get_if<QuantityValue>(&*right) : nullptr;
    if (a == nullptr || b == nullptr) return std::nullopt;
    return std::int64_t{a->milli < b->milli ? -1 : a->milli > b->milli ? 1 : 0};
  }

  const Device& device_;
  std::string_view driver_;
};

}  // namespace

Result<Selector> parse_selector(std::string_view text) { return SelectorParser(text).parse(); }

bool matches(const Selector& selector, const Device& device, std::string_view driver) {
  return SelectorRun(device, driver).truth_of(selector.root) == true;
}

}  // namespace berth::kube
