#include "base/yaml/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <variant>

#include "base/core/control_text.h"
#include "base/core/ensure.h"

namespace berth::yaml {
namespace {

/// A JSON number without quotes, so that the message distinguishes it from a string.
std::string shortened(const std::string& text) {
  constexpr std::size_t kLengthMax = 48;
  return text.size() > kLengthMax ? text.substr(0, kLengthMax) + "..." : text;
}

std::string shown(const Node* node) {
  if (node == nullptr || node->is_null()) return "nothing";
  if (const auto* list = std::get_if<List>(&node->value)) return list->empty() ? "an empty list" : "a list";
  if (std::holds_alternative<Map>(node->value)) return "a map";
  const auto& scalar = std::get<Scalar>(node->value);
  const bool has_quotes = scalar.kind == ScalarKind::kUntyped || scalar.kind == ScalarKind::kText;
  return has_quotes ? in_quotes(scalar.text) : shortened(scalar.text);
}

/// Whether a name can be printed on one line: no control characters (C0, DEL, C1), and not only spaces.
bool is_printable_name(std::string_view text) {
  return text.find_first_not_of(' ') != std::string_view::npos && !has_control(text);
}

/// Some messages list the known words after what was found; that list belongs to `wanted`.
void split_found(std::string& wanted, std::string& found) {
  constexpr std::string_view kKnown = "\"; known are ";
  constexpr std::string_view kBegins = "\", which begins the names of ";
  if (const std::size_t at = found.rfind(kKnown); at != std::string::npos) {
    wanted += found.substr(at + 1);
    found.resize(at + 1);
  } else if (const std::size_t begin = found.rfind(kBegins); begin != std::string::npos) {
    wanted = "one of " + found.substr(begin + kBegins.size());
    found.resize(begin + 1);
  }
}

}  // namespace

std::string Failure::field() const {
  return path.empty() || unknown_key.empty() ? path + unknown_key : fmt::format("{}.{}", path, unknown_key);
}

void Report::keep(Failure failure) {
  constexpr std::string_view kWanted = "wanted ";
  constexpr std::string_view kFound = ", found ";
  if (failure_) return;
  failure_ = std::move(failure);
  const std::string& message = failure_->message;
  const std::size_t comma = message.find(kFound);
  if (!failure_->wanted.empty() || !message.starts_with(kWanted) || comma == std::string::npos) return;
  failure_->wanted = message.substr(kWanted.size(), comma - kWanted.size());
  failure_->found = message.substr(comma + kFound.size());
  split_found(failure_->wanted, failure_->found);
}

void Report::warn(Warning warning) {
  const bool is_known = std::ranges::find(warnings_, warning.text, &Warning::text) != warnings_.end();
  if (!is_known) warnings_.push_back(std::move(warning));
}

Error Report::failure() const {
  const Failure& failure = *failure_;
  if (failure.has_own_place) return {failure.code, failure.message};
  const std::string text =
      failure.path.empty() ? failure.message : fmt::format("{}: {}", failure.path, failure.message);
  return {failure.code, error_at(file_, failure.place, text).message};
}

NumberRule number_from(const Decimal& min, const Decimal& max) {
  return {.min = min, .max = max, .wanted = fmt::format("a number from {} to {}", min.to_string(), max.to_string())};
}

NumberRule number_above_zero(const Decimal& max) {
  return {.min = Decimal(0),
          .is_min_allowed = false,
          .max = max,
          .wanted = fmt::format("a number above 0, at most {}", max.to_string())};
}

NumberRule number_between(const Decimal& min, const Decimal& max) {
  return {.min = min,
          .is_min_allowed = false,
          .max = max,
          .is_max_allowed = false,
          .wanted = fmt::format("a number above {}, below {}", min.to_string(), max.to_string())};
}

Value::Value(const Node& root, Report& report) : node_(&root), place_(root.place), report_(&report) {}

std::string Value::where() const { return error_at(report_->file(), place_, path_).message; }

bool Value::is_present() const { return node_ != nullptr && !node_->is_null(); }

bool Value::is_map() const { return node_ != nullptr && std::holds_alternative<Map>(node_->value); }

void Value::check_keys(std::span<const std::string_view> known) const {
  if (!is_map()) return refuse("a map");
  for (const Entry& entry : std::get<Map>(node_->value)) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string found = in_quotes(entry.key);
    const std::string keys = fmt::format("{}", fmt::join(known, ", "));
    Failure failure = failure_here(
        known.empty() ? fmt::format("unknown key {}: wanted an empty map", found)
                      : fmt::format("unknown key {}{} (known: {})", found, spelling_hint(entry.key, known), keys));
    failure.place = entry.place;
    failure.unknown_key = found.substr(1, found.size() - 2);
    failure.wanted = known.empty() ? "an empty map" : "one of the keys " + keys;
    failure.found = found;
    return report_->keep(std::move(failure));
  }
}

Value Value::at(std::string_view key) const {
  std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  if (is_map()) {
    for (const Entry& entry : std::get<Map>(node_->value)) {
      if (entry.key == key) return {&entry.value, entry.value.place, std::move(path), report_};
    }
  }
  return {nullptr, place_, std::move(path), report_};
}

std::vector<std::string> Value::keys() const {
  std::vector<std::string> keys;
  if (!is_map()) return keys;
  for (const Entry& entry : std::get<Map>(node_->value)) keys.push_back(entry.key);
  return keys;
}

std::vector<Value> Value::items(std::string_view wanted, bool is_empty_allowed) const {
  std::vector<Value> items;
  const List* list = node_ == nullptr ? nullptr : std::get_if<List>(&node_->value);
  if (list == nullptr || (list->empty() && !is_empty_allowed)) {
    refuse(wanted);
    return items;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    items.push_back(Value(&(*list)[i], (*list)[i].place, fmt::format("{}[{}]", path_, i), report_));
  }
  return items;
}

std::string Value::text(std::string_view wanted) const { return scalar(ScalarKind::kText, wanted); }

std::string Value::scalar(ScalarKind kind, std::string_view wanted) const {
  if (is_present()) {
    const auto* scalar = std::get_if<Scalar>(&node_->value);
    if (scalar != nullptr && (scalar->kind == kind || scalar->kind == ScalarKind::kUntyped)) return scalar->text;
  }
  refuse(wanted);
  return "";
}

std::string Value::name(std::size_t length_max) const {
  const std::string wanted = fmt::format("a name of 1 to {} printable bytes", length_max);
  std::string name = text(wanted);
  if (!has_failed() && (name.size() > length_max || !is_printable_name(name))) refuse(wanted);
  return name;
}

Decimal Value::number(const NumberRule& rule) const {
  const auto number = Decimal::parse(scalar(ScalarKind::kNumber, rule.wanted));
  const bool is_accepted = number && (rule.is_min_allowed ? *number >= rule.min : *number > rule.min) &&
                           (rule.is_max_allowed ? *number <= rule.max : *number < rule.max);
  if (is_accepted) return *number;
  refuse(rule.wanted);
  return rule.max;
}

std::int64_t Value::whole(WholeRange range) const {
  const std::string wanted = fmt::format("a whole number from {} to {}", range.min, range.max);
  const auto number = Decimal::parse(scalar(ScalarKind::kNumber, wanted));
  const bool is_whole = number && number->is_integer();
  if (is_whole && *number >= Decimal(range.min) && *number <= Decimal(range.max)) return number->floor();
  refuse(wanted);
  return range.min;
}

std::uint64_t Value::whole_unsigned() const {
  const std::string wanted = fmt::format("a whole number from 0 to {}", UINT64_MAX);
  const std::string text = scalar(ScalarKind::kNumber, wanted);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end) return number;
  refuse(wanted);
  return 0;
}

std::string_view Value::written() const {
  const auto* scalar = node_ == nullptr ? nullptr : std::get_if<Scalar>(&node_->value);
  return scalar == nullptr ? std::string_view() : scalar->text;
}

bool Value::truth() const {
  const std::string wanted = "true or false";
  const std::string found = scalar(ScalarKind::kTruth, wanted);
  if (found != "true" && found != "false") refuse(wanted);
  return found == "true";
}

std::size_t Value::choice(std::span<const std::string_view> words) const {
  ENSURE(!words.empty());
  const std::string wanted =
      words.size() == 1 ? std::string(words.front())
                        : fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
  const std::string found = text(wanted);
  const auto match = std::find(words.begin(), words.end(), found);
  if (match != words.end()) return static_cast<std::size_t>(match - words.begin());
  refuse(wanted);
  return 0;
}

void Value::refuse(std::string_view wanted) const { refuse(wanted, shown(node_)); }

void Value::refuse(std::string_view wanted, std::string_view found) const { report_->keep(refusal(wanted, found)); }

Failure Value::refusal(std::string_view wanted, std::string_view found) const {
  Failure failure = failure_here(fmt::format("wanted {}, found {}", wanted, found));
  failure.wanted = wanted;
  failure.found = found;
  return failure;
}

void Value::fail(std::string_view message) const { report_->keep(failure_here(std::string(message))); }

void Value::fail(std::string_view message, std::string_view wanted, std::string_view found) const {
  Failure failure = failure_here(std::string(message));
  failure.wanted = wanted;
  failure.found = found;
  report_->keep(std::move(failure));
}

void Value::fail_with(const Error& error) const {
  Failure failure = failure_here(error.message);
  failure.code = error.code;
  report_->keep(std::move(failure));
}

void Value::pass_on(const Error& error) const {
  Failure failure = failure_here(error.message);
  failure.code = error.code;
  failure.has_own_place = true;
  report_->keep(std::move(failure));
}

Failure Value::failure_here(std::string message) const {
  Failure failure;
  failure.place = place_;
  failure.path = path_;
  failure.message = std::move(message);
  return failure;
}

}  // namespace berth::yaml
