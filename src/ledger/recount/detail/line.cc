#include "ledger/recount/detail/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/yaml/document.h"

namespace berth::ledger::recounting {
namespace {

using yaml::ScalarKind;

constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kTextBytesMax = 128;
constexpr std::int64_t kWeightMax = 1'000'000;
constexpr std::int64_t kMoneyMax = 1'000'000'000'000'000;
constexpr std::int64_t kTimeFirstUs = 946'684'800'000'000;   // 2000-01-01
constexpr std::int64_t kTimeLastUs = 4'133'980'799'999'999;  // a microsecond before 2101-01-01
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The value of a JSON number without fraction and exponent; absent if it has one, or more digits than any key allows.
std::optional<std::int64_t> integer_in(std::string_view text) {
  constexpr std::size_t kDigitsMax = 18;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.size() > kDigitsMax) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return is_negative ? -number : number;
}

std::string shown(const yaml::Node& node) {
  if (const auto* scalar = std::get_if<yaml::Scalar>(&node.value)) return in_quotes(scalar->text);
  return std::holds_alternative<yaml::List>(node.value) ? "a list" : "an object";
}

/// Takes the values of a line's keys. After the first fault the values are empty ones.
class Keys {
 public:
  Keys(const yaml::Map& map, TextPlace begin, std::string_view file, Texts& texts)
      : map_(map), is_taken_(map.size(), false), begin_(begin), file_(file), texts_(texts) {}

  [[nodiscard]] bool has(std::string_view key) const {
    return std::ranges::any_of(map_, [&](const yaml::Entry& entry) { return entry.key == key; });
  }

  /// A text as a view into the line, which must outlive it.
  std::string_view view(std::string_view key) {
    const yaml::Scalar* scalar = take(key, ScalarKind::kText, "a text of at most 128 bytes");
    return scalar == nullptr ? std::string_view() : scalar->text;
  }

  std::string_view text(std::string_view key) { return texts_.keep(std::string(view(key))); }

  std::string_view filled_text(std::string_view key) {
    const std::string_view found = text(key);
    if (found.empty()) refuse(begin_, key, "wanted a text that is not empty, found none");
    return found;
  }

  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const std::string wanted = fmt::format("an integer from {} to {}", least, most);
    const yaml::Scalar* scalar = take(key, ScalarKind::kNumber, wanted);
    if (scalar == nullptr) return least;
    const std::optional<std::int64_t> number = integer_in(scalar->text);
    if (number && *number >= least && *number <= most) return *number;
    refuse(begin_, key, fmt::format("wanted {}, found {}", wanted, in_quotes(scalar->text)));
    return least;
  }
  std::int64_t weight(std::string_view key) { return integer(key, 1, kWeightMax); }
  std::int64_t money(std::string_view key) { return integer(key, 0, kMoneyMax); }
  std::int64_t time(std::string_view key) { return integer(key, kTimeFirstUs, kTimeLastUs); }

  Period period() {
    const Period period{.from_us = time("from_us"), .to_us = time("to_us")};
    if (!fault_ && period.from_us >= period.to_us) refuse(begin_, "to_us", "wanted a time after from_us");
    return period;
  }

  bool truth(std::string_view key) {
    const yaml::Scalar* scalar = take(key, ScalarKind::kTruth, "true or false");
    return scalar != nullptr && scalar->text == "true";
  }

  /// The index in `words` of a key's text; 0 if it is none of them.
  std::size_t word(std::string_view key, std::span<const std::string_view> words) {
    const std::string wanted = fmt::format("one of {}", fmt::join(words, ", "));
    const yaml::Scalar* scalar = take(key, ScalarKind::kText, wanted);
    if (scalar == nullptr) return 0;
    const auto found = std::ranges::find(words, scalar->text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    refuse(begin_, key, fmt::format("wanted {}, found {}", wanted, in_quotes(scalar->text)));
    return 0;
  }

  Month month(std::string_view key) {
    const std::string_view found = view(key);
    const Result<Month> month = Month::parse(found);
    if (month && *month >= Month::of(kTimeFirstUs) && *month <= Month::of(kTimeLastUs)) return *month;
    refuse(begin_, key, "wanted a month from 2000-01 to 2100-12, found " + in_quotes(found));
    return {};
  }

  /// The first fault; a key that was not taken is a fault, too.
  [[nodiscard]] std::optional<Error> end() {
    for (std::size_t i = 0; i < map_.size(); ++i) {
      if (!is_taken_[i]) refuse(map_[i].place, in_quotes(map_[i].key), "wanted no such key");
    }
    return fault_;
  }

 private:
  /// The value of a required key that must be a scalar of this kind; null after a fault.
  const yaml::Scalar* take(std::string_view key, ScalarKind kind, std::string_view wanted) {
    const auto entry = std::ranges::find(map_, key, &yaml::Entry::key);
    if (entry == map_.end()) {
      refuse(begin_, key, "wanted this key, found none");
      return nullptr;
    }
    is_taken_[static_cast<std::size_t>(entry - map_.begin())] = true;
    const auto* scalar = std::get_if<yaml::Scalar>(&entry->value.value);
    const bool is_long = kind == ScalarKind::kText && scalar != nullptr && scalar->text.size() > kTextBytesMax;
    if (scalar != nullptr && scalar->kind == kind && !is_long) return scalar;
    refuse(entry->value.place, key, fmt::format("wanted {}, found {}", wanted, shown(entry->value)));
    return nullptr;
  }

  void refuse(TextPlace place, std::string_view key, std::string_view why) {
    if (!fault_) fault_ = error_at(file_, place, fmt::format("{}: {}", key, why));
  }

  const yaml::Map& map_;
  std::vector<bool> is_taken_;
  TextPlace begin_;
  std::string_view file_;
  Texts& texts_;
  std::optional<Error> fault_;
};

Event read_price(Keys& keys) {
  return Price{.sku = keys.text("sku"),
               .from_us = keys.time("from_us"),
               .micro_usd_per_gpu_hour = keys.money("micro_usd_per_gpu_hour")};
}

Event read_gpu(Keys& keys) {
  return Gpu{.gpu = keys.text("gpu"),
             .sku = keys.text("sku"),
             .capacity = keys.weight("capacity"),
             .when = keys.period(),
             .owner = keys.has("owner") ? std::optional(keys.text("owner")) : std::nullopt};
}

Role read_role(Keys& keys) {
  constexpr std::array kRoles = {Role::kInference, Role::kRetraining,      Role::kJob,
                                 Role::kReserved,  Role::kReconfiguration, Role::kStranded};
  std::array<std::string_view, kRoles.size()> names;
  std::ranges::transform(kRoles, names.begin(), [](Role role) { return name_of(role); });
  return kRoles[keys.word("role", names)];
}

Event read_use(Keys& keys) {
  const Role role = read_role(keys);
  const bool may_be_nobodys = role == Role::kReconfiguration || role == Role::kStranded;
  return Use{.gpu = keys.text("gpu"),
             .slice = keys.text("slice"),
             .weight = keys.weight("weight"),
             .tenant = may_be_nobodys ? keys.text("tenant") : keys.filled_text("tenant"),
             .service = may_be_nobodys ? keys.text("service") : keys.filled_text("service"),
             .role = role,
             .when = keys.period()};
}

Event read_credit(Keys& keys) {
  constexpr std::array<std::string_view, 4> kReasons = {"slo", "prepaid", "free", "goodwill"};
  return Credit{.tenant = keys.text("tenant"),
                .at_us = keys.time("at_us"),
                .micro_usd = keys.money("micro_usd"),
                .reason = kReasons[keys.word("reason", kReasons)],
                .expires_us = keys.has("expires_us") ? std::optional(keys.time("expires_us")) : std::nullopt};
}

Event read_budget(Keys& keys) {
  return Budget{.tenant = keys.text("tenant"),
                .from_us = keys.time("from_us"),
                .micro_usd_per_month = keys.money("micro_usd_per_month"),
                .is_hard = keys.truth("hard")};
}

Event read_rate(Keys& keys) {
  return Rate{
      .currency = keys.text("currency"), .from_us = keys.time("from_us"), .micro_per_usd = keys.money("micro_per_usd")};
}

Event read_void(Keys& keys) { return Void{.of = keys.text("of")}; }

Event read_close(Keys& keys) { return Close{.month = keys.month("month")}; }

Event read_event(Keys& keys) {
  constexpr std::array<std::string_view, 8> kTypes = {"price",  "gpu",  "use",  "credit",
                                                      "budget", "rate", "void", "close"};
  constexpr std::array kReaders = {read_price,  read_gpu,  read_use,  read_credit,
                                   read_budget, read_rate, read_void, read_close};
  return kReaders[keys.word("type", kTypes)](keys);
}

}  // namespace

Result<Line> read_line(std::string_view line, std::string_view file, std::size_t number, Texts& texts) {
  if (line.size() > kLineBytesMax) {
    return invalid(
        fmt::format("{}:{}: wanted at most {} bytes in a line, found {}", file, number, kLineBytesMax, line.size()));
  }
  if (line.starts_with(kByteOrderMark)) {
    return invalid(fmt::format("{}:{}: wanted JSON, found a byte-order mark in the file", file, number));
  }
  const Result<yaml::Node> document = json::parse_document(line, file, {.first_line = number});
  if (!document) return invalid(document.error().message);
  const auto* map = std::get_if<yaml::Map>(&document->value);
  if (map == nullptr) {
    return pass_on(error_at(file, document->place, "wanted an object, found " + shown(*document)));
  }
  Keys keys(*map, document->place, file, texts);
  Line read{.id = std::string(keys.view("id")), .event = read_event(keys)};
  if (const std::optional<Error> fault = keys.end()) return pass_on(*fault);
  return read;
}

}  // namespace berth::ledger::recounting
