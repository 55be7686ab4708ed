#include "ledger/events/event_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json_lines/flat_object.h"

namespace berth::ledger {
namespace {

using json::FlatKind;
using json::FlatMember;

constexpr std::int64_t kTimeMin = 946'684'800'000'000;    // 2000-01-01
constexpr std::int64_t kTimeMax = 4'133'980'799'999'999;  // the last microsecond of 2100
constexpr std::int64_t kWeightMax = 1'000'000;
constexpr std::int64_t kMoneyMax = 1'000'000'000'000'000;

enum Key : std::uint8_t {
  kType,
  kId,
  kGpu,
  kSku,
  kSlice,
  kWeight,
  kCapacity,
  kTenant,
  kService,
  kRole,
  kOwner,
  kFrom,
  kTo,
  kAt,
  kExpires,
  kPrice,
  kMicroUsd,
  kPerMonth,
  kPerUsd,
  kReason,
  kHard,
  kCurrency,
  kOf,
  kMonth,
  kKeyCount,
};

/// The required form of a value.
enum class Form : std::uint8_t { kText, kTime, kWeight, kMoney, kTruth };

struct KeyRow {
  std::string_view name;
  Form form;
};

constexpr std::array<KeyRow, kKeyCount> kKeys = {{
    {"type", Form::kText},
    {"id", Form::kText},
    {"gpu", Form::kText},
    {"sku", Form::kText},
    {"slice", Form::kText},
    {"weight", Form::kWeight},
    {"capacity", Form::kWeight},
    {"tenant", Form::kText},
    {"service", Form::kText},
    {"role", Form::kText},
    {"owner", Form::kText},
    {"from_us", Form::kTime},
    {"to_us", Form::kTime},
    {"at_us", Form::kTime},
    {"expires_us", Form::kTime},
    {"micro_usd_per_gpu_hour", Form::kMoney},
    {"micro_usd", Form::kMoney},
    {"micro_usd_per_month", Form::kMoney},
    {"micro_per_usd", Form::kMoney},
    {"reason", Form::kText},
    {"hard", Form::kTruth},
    {"currency", Form::kText},
    {"of", Form::kText},
    {"month", Form::kText},
}};

/// Keys by a hash of their names, so that lines whose keys come in any order are read as fast as others.
class KeyTable {
 public:
  constexpr KeyTable() {
    slots_.fill(kKeyCount);
    for (std::uint8_t key = 0; key < kKeyCount; ++key) slots_[slot_of(kKeys[key].name)] = key;
  }
  [[nodiscard]] constexpr std::optional<Key> find(std::string_view name) const {
    const std::uint8_t key = slots_[slot_of(name)];
    return key < kKeyCount && kKeys[key].name == name ? std::optional(static_cast<Key>(key)) : std::nullopt;
  }

 private:
  static constexpr std::size_t kSlotCount = 64;

  /// The slot of a name: its own one, or the first free one behind it.
  [[nodiscard]] constexpr std::size_t slot_of(std::string_view name) const {
    std::size_t slot = name.size();
    if (!name.empty())
      slot += 5U * (static_cast<unsigned char>(name.front()) + static_cast<unsigned char>(name.back()));
    slot %= kSlotCount;
    while (slots_[slot] < kKeyCount && kKeys[slots_[slot]].name != name) slot = (slot + 1) % kSlotCount;
    return slot;
  }

  std::array<std::uint8_t, kSlotCount> slots_{};
};
constexpr KeyTable kKeyTable;

using KeySet = std::uint32_t;
constexpr KeySet set_of(std::initializer_list<Key> keys) {
  KeySet set = 0;
  for (const Key key : keys) set |= KeySet{1} << key;
  return set;
}

std::string wanted_of(Form form) {
  switch (form) {
    case Form::kText:
      return fmt::format("a text of at most {} bytes", EventReader::kTextBytesMax);
    case Form::kTime:
      return "microseconds since 1970, a whole number from 2000-01-01 (946684800000000) to before 2101-01-01";
    case Form::kWeight:
      return fmt::format("a whole number from 1 to {}", kWeightMax);
    case Form::kMoney:
      return fmt::format("a whole number from 0 to {}", kMoneyMax);
    case Form::kTruth:
      return "true or false";
  }
  ENSURE(false);
}

std::string shown(const FlatMember& member) {
  switch (member.kind) {
    case FlatKind::kText:
      return in_quotes(member.text);
    case FlatKind::kInteger:
      return fmt::format("{}", member.number);
    case FlatKind::kTruth:
      return member.number != 0 ? "true" : "false";
    case FlatKind::kFraction:
      return "a number with a fraction or an exponent";
    case FlatKind::kOther:
      return std::string(member.text);
  }
  ENSURE(false);
}

bool is_integer(const FlatMember& member, std::int64_t min, std::int64_t max) {
  return member.kind == FlatKind::kInteger && member.number >= min && member.number <= max;
}

bool has_form(const FlatMember& member, Form form) {
  switch (form) {
    case Form::kText:
      return member.kind == FlatKind::kText && member.text.size() <= EventReader::kTextBytesMax;
    case Form::kTime:
      return is_integer(member, kTimeMin, kTimeMax);
    case Form::kWeight:
      return is_integer(member, 1, kWeightMax);
    case Form::kMoney:
      return is_integer(member, 0, kMoneyMax);
    case Form::kTruth:
      return member.kind == FlatKind::kTruth;
  }
  ENSURE(false);
}

/// The members of a line, by key.
struct Members {
  std::array<FlatMember, kKeyCount> found{};
  KeySet keys = 0;

  [[nodiscard]] bool has(Key key) const { return (keys >> key & 1U) != 0; }
  [[nodiscard]] std::string_view text(Key key) const { return found[key].text; }
  [[nodiscard]] std::int64_t number(Key key) const { return found[key].number; }
};

tl::unexpected<Error> refuse(const Members& members, Key key, std::string_view wanted) {
  return invalid(fmt::format("{}: wanted {}, found {}", kKeys[key].name, wanted, shown(members.found[key])));
}

Result<Interval> interval_of(const Members& members) {
  const Interval when{.from_us = members.number(kFrom), .to_us = members.number(kTo)};
  if (when.from_us < when.to_us) return when;
  return refuse(members, kTo, fmt::format("a time after from_us ({})", when.from_us));
}

using What = decltype(Event::what);

Result<What> make_price(const Members& members) {
  return PriceEvent{
      .sku = members.text(kSku), .from_us = members.number(kFrom), .micro_usd_per_gpu_hour = members.number(kPrice)};
}

Result<What> make_gpu(const Members& members) {
  const auto when = interval_of(members);
  if (!when) return pass_on(when.error());
  GpuEvent gpu{.gpu = members.text(kGpu),
               .sku = members.text(kSku),
               .capacity = members.number(kCapacity),
               .when = *when,
               .owner = std::nullopt};
  if (members.has(kOwner)) gpu.owner = members.text(kOwner);
  return gpu;
}

constexpr std::array kUseRoles = {Role::kInference, Role::kRetraining,      Role::kJob,
                                  Role::kReserved,  Role::kReconfiguration, Role::kStranded};

std::optional<Role> use_role_named(std::string_view name) {
  const auto* const found = std::ranges::find(kUseRoles, name, [](Role role) { return name_of(role); });
  return found == kUseRoles.end() ? std::nullopt : std::optional(*found);
}

Result<What> make_use(const Members& members) {
  const auto when = interval_of(members);
  if (!when) return pass_on(when.error());
  const auto role = use_role_named(members.text(kRole));
  if (!role) {
    return refuse(members, kRole, "inference, retraining, job, reserved, reconfiguration or stranded");
  }
  UseEvent use{.gpu = members.text(kGpu),
               .slice = members.text(kSlice),
               .weight = members.number(kWeight),
               .tenant = members.text(kTenant),
               .service = members.text(kService),
               .role = *role,
               .when = *when};
  if (*role == Role::kReconfiguration || *role == Role::kStranded) return use;
  for (const Key key : {kTenant, kService}) {
    if (members.text(key).empty()) {
      return refuse(members, key, fmt::format("a name that is not empty (required for the role {})", name_of(*role)));
    }
  }
  return use;
}

Result<What> make_credit(const Members& members) {
  constexpr std::array kReasons = {CreditReason::kSlo, CreditReason::kPrepaid, CreditReason::kFree,
                                   CreditReason::kGoodwill};
  const auto* const reason = std::ranges::find(kReasons, members.text(kReason), [](auto r) { return name_of(r); });
  if (reason == kReasons.end()) return refuse(members, kReason, "slo, prepaid, free or goodwill");
  CreditEvent credit{.tenant = members.text(kTenant),
                     .at_us = members.number(kAt),
                     .micro_usd = members.number(kMicroUsd),
                     .reason = *reason,
                     .expires_us = std::nullopt};
  if (members.has(kExpires)) credit.expires_us = members.number(kExpires);
  return credit;
}

Result<What> make_budget(const Members& members) {
  return BudgetEvent{.tenant = members.text(kTenant),
                     .from_us = members.number(kFrom),
                     .micro_usd_per_month = members.number(kPerMonth),
                     .is_hard = members.number(kHard) != 0};
}

Result<What> make_rate(const Members& members) {
  return RateEvent{
      .currency = members.text(kCurrency), .from_us = members.number(kFrom), .micro_per_usd = members.number(kPerUsd)};
}

Result<What> make_void(const Members& members) { return VoidEvent{.of = members.text(kOf)}; }

Result<What> make_close(const Members& members) {
  const auto month = Month::parse(members.text(kMonth));
  if (!month || month->begin_us() < kTimeMin || month->begin_us() > kTimeMax) {
    return refuse(members, kMonth, "a month from 2000-01 to 2100-12");
  }
  return CloseEvent{.month = *month};
}

struct TypeRow {
  std::string_view name;
  KeySet required;  ///< in addition to type and id
  KeySet optional;
  Result<What> (*make)(const Members&);
};

constexpr KeySet kCommonKeys = set_of({kType, kId});
constexpr std::array<TypeRow, 8> kTypes = {{
    {"use", set_of({kGpu, kSlice, kWeight, kTenant, kService, kRole, kFrom, kTo}), 0, make_use},
    {"gpu", set_of({kGpu, kSku, kCapacity, kFrom, kTo}), set_of({kOwner}), make_gpu},
    {"price", set_of({kSku, kFrom, kPrice}), 0, make_price},
    {"void", set_of({kOf}), 0, make_void},
    {"close", set_of({kMonth}), 0, make_close},
    {"credit", set_of({kTenant, kAt, kMicroUsd, kReason}), set_of({kExpires}), make_credit},
    {"budget", set_of({kTenant, kFrom, kPerMonth, kHard}), 0, make_budget},
    {"rate", set_of({kCurrency, kFrom, kPerUsd}), 0, make_rate},
}};

/// The lowest key of a non-empty set.
Key first_of(KeySet keys) { return static_cast<Key>(__builtin_ctz(keys)); }

std::string names_of(KeySet keys) {
  if (keys == 0) return "no key";
  std::string names;
  for (std::uint8_t key = 0; key < kKeyCount; ++key) {
    if ((keys >> key & 1U) == 0) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kKeys[key].name);
  }
  return names;
}

/// Whether the line has the keys of its type, and only them.
Result<void> check_keys(const Members& members, const TypeRow& type) {
  const KeySet required = kCommonKeys | type.required;
  if (const KeySet missing = required & ~members.keys; missing != 0) {
    return invalid(fmt::format("{}: wanted this key in a {} event, found {}", kKeys[first_of(missing)].name, type.name,
                               names_of(members.keys)));
  }
  if (const KeySet foreign = members.keys & ~(required | type.optional); foreign != 0) {
    return invalid(fmt::format("{}: wanted only keys of a {} event ({}), found this key", kKeys[first_of(foreign)].name,
                               type.name, names_of(required | type.optional)));
  }
  return {};
}

tl::unexpected<Error> refuse_key(std::string_view key) {
  std::vector<std::string_view> known;
  known.reserve(kKeys.size());
  for (const KeyRow& row : kKeys) known.push_back(row.name);
  return invalid(fmt::format("wanted a key of an event, found {}{}", in_quotes(key), spelling_hint(key, known)));
}

}  // namespace

struct EventReader::State {
  json::FlatObjectReader objects;
  Members members;
  /// The key at each place of the line before: lines of one type have them in the same order.
  std::array<Key, kKeyCount> places{};

  [[nodiscard]] std::optional<Key> key_named(std::string_view name, std::size_t place) {
    if (kKeys[places[place]].name == name) return places[place];
    const auto key = kKeyTable.find(name);
    if (key) places[place] = *key;
    return key;
  }

  /// By key, each of the form of its key.
  [[nodiscard]] Result<void> sort_members(std::span<const FlatMember> line) {
    members.keys = 0;
    std::size_t place = 0;
    for (const FlatMember& member : line) {
      const auto key = key_named(member.key, std::min<std::size_t>(place++, kKeyCount - 1));
      if (!key) return refuse_key(member.key);
      if (members.has(*key)) return invalid(fmt::format("{}: wanted this key once, found it again", member.key));
      members.found[*key] = member;
      members.keys |= KeySet{1} << *key;
      if (!has_form(member, kKeys[*key].form)) return refuse(members, *key, wanted_of(kKeys[*key].form));
    }
    return {};
  }
};

EventReader::EventReader() : state_(std::make_unique<State>()) {}
EventReader::EventReader(EventReader&&) noexcept = default;
EventReader& EventReader::operator=(EventReader&&) noexcept = default;
EventReader::~EventReader() = default;

Result<Event> EventReader::read(std::string_view line) {
  if (line.size() > kLineBytesMax) {
    return invalid(fmt::format("wanted at most {} bytes, found {}", kLineBytesMax, line.size()));
  }
  const auto object = state_->objects.read(line);
  if (!object) return pass_on(object.error());
  if (auto sorted = state_->sort_members(*object); !sorted) return pass_on(sorted.error());
  const Members& members = state_->members;
  if (!members.has(kType)) return invalid("type: wanted this key, found " + names_of(members.keys));
  const auto* const type = std::ranges::find(kTypes, members.text(kType), &TypeRow::name);
  if (type == kTypes.end()) {
    return refuse(members, kType, "price, gpu, use, credit, budget, rate, void or close");
  }
  if (auto checked = check_keys(members, *type); !checked) return pass_on(checked.error());
  auto what = type->make(members);
  if (!what) return pass_on(what.error());
  return Event{.id = members.text(kId), .what = *std::move(what)};
}

}  // namespace berth::ledger
