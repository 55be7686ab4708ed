/// Plain structs as JSON with the names of their fields, in both directions. A struct states its names once (kNames);
/// that none is forgotten is checked when compiling.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/fields.h"
#include "base/core/instant.h"

namespace berth::journal {

using Json = nlohmann::ordered_json;

/// The names of a struct's fields, in their order. A struct of one field without a name is written as that field.
template <class T>
inline constexpr std::nullptr_t kNames = nullptr;
/// The words of an enumeration's values, or of a variant's cases, in their order.
template <class T>
inline constexpr std::nullptr_t kWords = nullptr;

template <class T>
concept HasNames = !std::same_as<std::remove_cv_t<decltype(kNames<T>)>, std::nullptr_t>;
template <class T>
concept HasWords = !std::same_as<std::remove_cv_t<decltype(kWords<T>)>, std::nullptr_t>;

/// Types with a form of their own overload these two.
void write_own(Json& json, const Decimal& value);
[[nodiscard]] bool read_own(const Json& json, Decimal& value);

template <class T>
concept HasOwnForm = requires(Json& json, T& value, const Json& source) {
  write_own(json, value);
  { read_own(source, value) } -> std::same_as<bool>;
};

namespace detail {

inline constexpr const char* kCase = "is";

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... Cases>
inline constexpr bool kIsVariant<std::variant<Cases...>> = true;
template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<const T>> = true;
template <class T>
concept List = requires(T& list) {
  typename T::value_type;
  list.begin();
  list.clear();
} && !std::same_as<T, std::string>;
template <class T>
concept Map = List<T> && requires { typename T::mapped_type; };

}  // namespace detail

template <class T>
[[nodiscard]] Json json_of(const T& value) {
  Json json;
  if constexpr (HasOwnForm<T>) {
    write_own(json, value);
  } else if constexpr (std::same_as<T, Instant>) {
    json = value.micros();
  } else if constexpr (std::same_as<T, Micros>) {
    json = value.count();
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(HasWords<T>);
    json = kWords<T>[static_cast<std::size_t>(value)];
  } else if constexpr (std::floating_point<T>) {
    // JSON has no infinities.
    if (std::isfinite(value)) json = value;
    if (!std::isfinite(value)) json = value > 0 ? "inf" : (value < 0 ? "-inf" : "nan");
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    json = value;
  } else if constexpr (detail::kIsOptional<T>) {
    if (value) json = json_of(*value);
  } else if constexpr (detail::kIsShared<T>) {
    json = json_of(*value);
  } else if constexpr (detail::kIsPair<T>) {
    json = Json::array({json_of(value.first), json_of(value.second)});
  } else if constexpr (detail::kIsVariant<T>) {
    static_assert(kWords<T>.size() == std::variant_size_v<T>);
    json[detail::kCase] = kWords<T>[value.index()];
    std::visit([&](const auto& what) { json.update(json_of(what)); }, value);
  } else if constexpr (detail::Map<T>) {
    json = Json::array();
    for (const auto& [key, what] : value) json.push_back(Json::array({json_of(key), json_of(what)}));
  } else if constexpr (detail::List<T>) {
    json = Json::array();
    for (const auto& each : value) json.push_back(json_of(each));
  } else if constexpr (HasNames<T>) {
    static_assert(kNames<T>.size() == kFieldCount<T>);
    json = Json::object();
    std::apply(
        [&](const auto&... fields) {
          std::size_t next = 0;
          (json.emplace(kNames<T>[next++], json_of(fields)), ...);
        },
        fields_of(value));
  } else if constexpr (kFieldCount<T> == 0) {
    json = Json::object();
  } else {
    static_assert(kFieldCount<T> == 1, "a struct of several fields needs names");
    json = json_of(std::get<0>(fields_of(value)));
  }
  return json;
}

/// Whether the JSON is such a value; else `value` is not to be used. Keys that the type does not have are passed over,
/// and fields that are absent keep what they have: an older writer did not know them.
template <class T>
[[nodiscard]] bool read_json(const Json& json, T& value);

namespace detail {

template <class T, std::size_t kIndex = 0>
[[nodiscard]] bool read_case(const Json& json, std::string_view word, T& value) {
  if constexpr (kIndex == std::variant_size_v<T>) {
    return false;
  } else {
    if (word != kWords<T>[kIndex]) return read_case<T, kIndex + 1>(json, word, value);
    return read_json(json, value.template emplace<kIndex>());
  }
}

template <class T>
[[nodiscard]] bool read_word(const Json& json, T& value) {
  if (!json.is_string()) return false;
  for (std::size_t i = 0; i < kWords<T>.size(); ++i) {
    if (json.get_ref<const std::string&>() != kWords<T>[i]) continue;
    value = static_cast<T>(i);
    return true;
  }
  return false;
}

template <class T>
[[nodiscard]] bool read_number(const Json& json, T& value) {
  if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
  } else if constexpr (std::floating_point<T>) {
    if (json.is_string()) {
      value = static_cast<T>(std::strtod(json.get_ref<const std::string&>().c_str(), nullptr));
      return true;
    }
    if (!json.is_number()) return false;
    value = json.get<T>();
  } else {
    if (json.is_number_unsigned()) {
      if (!std::in_range<T>(json.get<std::uint64_t>())) return false;
      value = static_cast<T>(json.get<std::uint64_t>());
      return true;
    }
    if (!json.is_number_integer() || !std::in_range<T>(json.get<std::int64_t>())) return false;
    value = static_cast<T>(json.get<std::int64_t>());
  }
  return true;
}

template <class T>
[[nodiscard]] bool read_list(const Json& json, T& list) {
  if (!json.is_array()) return false;
  list.clear();
  for (const Json& each : json) {
    if constexpr (Map<T>) {
      typename T::key_type key{};
      typename T::mapped_type what{};
      if (!each.is_array() || each.size() != 2 || !read_json(each[0], key) || !read_json(each[1], what)) return false;
      list.emplace(std::move(key), std::move(what));
    } else {
      typename T::value_type what{};
      if (!read_json(each, what)) return false;
      list.insert(list.end(), std::move(what));
    }
  }
  return true;
}

template <class T>
[[nodiscard]] bool read_fields(const Json& json, T& value) {
  if (!json.is_object()) return false;
  bool is_read = true;
  std::apply(
      [&](auto&... fields) {
        std::size_t next = 0;
        const auto read_field = [&](auto& field) {
          const auto found = json.find(kNames<T>[next++]);
          if (found != json.end()) is_read = is_read && read_json(*found, field);
        };
        (read_field(fields), ...);
      },
      fields_of(value));
  return is_read;
}

}  // namespace detail

template <class T>
bool read_json(const Json& json, T& value) {
  if constexpr (HasOwnForm<T>) {
    return read_own(json, value);
  } else if constexpr (std::same_as<T, Instant> || std::same_as<T, Micros>) {
    std::int64_t count = 0;
    if (!detail::read_number(json, count)) return false;
    value = T(count);
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    return detail::read_word(json, value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return detail::read_number(json, value);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    return true;
  } else if constexpr (detail::kIsOptional<T>) {
    value.reset();
    return json.is_null() || read_json(json, value.emplace());
  } else if constexpr (detail::kIsShared<T>) {
    auto own = std::make_shared<std::remove_const_t<typename T::element_type>>();
    const bool is_read = read_json(json, *own);
    value = std::move(own);
    return is_read;
  } else if constexpr (detail::kIsPair<T>) {
    return json.is_array() && json.size() == 2 && read_json(json[0], value.first) && read_json(json[1], value.second);
  } else if constexpr (detail::kIsVariant<T>) {
    const auto word = json.is_object() ? json.find(detail::kCase) : json.end();
    if (!json.is_object() || word == json.end() || !word->is_string()) return false;
    return detail::read_case(json, word->template get_ref<const std::string&>(), value);
  } else if constexpr (detail::List<T>) {
    return detail::read_list(json, value);
  } else if constexpr (HasNames<T>) {
    return detail::read_fields(json, value);
  } else if constexpr (kFieldCount<T> == 0) {
    return true;
  } else {
    return read_json(json, std::get<0>(fields_of(value)));
  }
}

}  // namespace berth::journal
