#include "base/json/compare.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "base/json/tree.h"

namespace berth::json {
namespace {

bool is_same_number(const yaml::Node& a, const yaml::Node& b) {
  const auto signed_a = integer_in<std::int64_t>(a);
  const auto signed_b = integer_in<std::int64_t>(b);
  if (signed_a && signed_b) return signed_a == signed_b;
  const auto unsigned_a = integer_in<std::uint64_t>(a);
  const auto unsigned_b = integer_in<std::uint64_t>(b);
  if ((signed_a || unsigned_a) && (signed_b || unsigned_b)) return unsigned_a && unsigned_a == unsigned_b;
  return double_in(a) == double_in(b);
}

bool is_same(const yaml::List& a, const yaml::List& b) { return std::ranges::equal(a, b, is_same_to_doubles); }

bool is_same(const yaml::Map& a, const yaml::Map& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const yaml::Entry& entry) {
           const auto found = std::ranges::find(b, entry.key, &yaml::Entry::key);
           return found != b.end() && is_same_to_doubles(entry.value, found->value);
         });
}

}  // namespace

bool is_same_to_doubles(const yaml::Node& a, const yaml::Node& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* list = std::get_if<yaml::List>(&a.value)) return is_same(*list, std::get<yaml::List>(b.value));
  if (const auto* map = std::get_if<yaml::Map>(&a.value)) return is_same(*map, std::get<yaml::Map>(b.value));
  if (number_in(a) != nullptr && number_in(b) != nullptr) return is_same_number(a, b);
  return std::get<yaml::Scalar>(a.value) == std::get<yaml::Scalar>(b.value);
}

}  // namespace berth::json
