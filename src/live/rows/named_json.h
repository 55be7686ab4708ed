/// Plain structs as JSON with the names of their fields, in both directions. A struct states its names once (kNames);
/// the compiler checks that none is missing.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
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
#include "base/json/tree.h"
#include "base/json/writer.h"

namespace berth::journal {

/// The names of a struct's fields, in their order. A struct of one field without a name is written as that field.
template <class T>
inline constexpr std::nullptr_t kNames = nullptr;
/// The words of an enumeration's values, or of a variant's cases, in their order.
template <class T>
inline constexpr std::nullptr_t kWords = nullptr;

/// How many of a struct's last fields, which are optional, are not written where they are absent: rows that do not use
/// them stay as an earlier version wrote them.
template <class T>
inline constexpr std::size_t kOmittedIfAbsent = 0;

template <class T>
concept HasNames = !std::same_as<std::remove_cv_t<decltype(kNames<T>)>, std::nullptr_t>;
template <class T>
concept HasWords = !std::same_as<std::remove_cv_t<decltype(kWords<T>)>, std::nullptr_t>;

/// Types with their own JSON form overload these two.
void write_own(json::Writer& json, const Decimal& value);
[[nodiscard]] bool read_own(const yaml::Node& json, Decimal& value);

template <class T>
concept HasOwnForm = requires(json::Writer& json, T& value, const yaml::Node& source) {
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
void write_json(json::Writer& json, const T& value);

namespace detail {

/// The member of that index.
template <class T, class Field>
void put_field(json::Writer& json, std::size_t index, const Field& field) {
  if constexpr (kOmittedIfAbsent<T> > 0 && kIsOptional<Field>) {
    if (index + kOmittedIfAbsent<T> >= kNames<T>.size() && !field) return;
  }
  write_json(json.key(kNames<T>[index]), field);
}

/// The members of a struct with names, within an open object.
template <class T>
void put_fields(json::Writer& json, const T& value) {
  if constexpr (kFieldCount<T> > 0) {
    static_assert(kNames<T>.size() == kFieldCount<T>);
    std::apply(
        [&](const auto&... fields) {
          std::size_t next = 0;
          (put_field<T>(json, next++, fields), ...);
        },
        fields_of(value));
  }
}

/// A variant's case is a struct with names, or without fields.
template <class T>
void write_case(json::Writer& json, const T& value) {
  static_assert(kWords<T>.size() == std::variant_size_v<T>);
  json.open_object().member(kCase, kWords<T>[value.index()]);
  std::visit([&](const auto& what) { put_fields(json, what); }, value);
  json.close_object();
}

template <class T>
void write_list(json::Writer& json, const T& list) {
  json.open_list();
  for (const auto& each : list) write_json(json, each);
  json.close_list();
}

}  // namespace detail

template <class T>
void write_json(json::Writer& json, const T& value) {
  if constexpr (HasOwnForm<T>) {
    write_own(json, value);
  } else if constexpr (std::same_as<T, Instant>) {
    json.value(value.micros());
  } else if constexpr (std::same_as<T, Micros>) {
    json.value(value.count());
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(HasWords<T>);
    json.value(kWords<T>[static_cast<std::size_t>(value)]);
  } else if constexpr (std::floating_point<T>) {
    // JSON has no infinities.
    if (std::isfinite(value)) json.value(value);
    if (!std::isfinite(value)) json.value(value > 0 ? "inf" : (value < 0 ? "-inf" : "nan"));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    json.value(value);
  } else if constexpr (detail::kIsOptional<T>) {
    if (value) write_json(json, *value);
    if (!value) json.value(nullptr);
  } else if constexpr (detail::kIsShared<T>) {
    write_json(json, *value);
  } else if constexpr (detail::kIsPair<T>) {
    write_json(json.open_list(), value.first);
    write_json(json, value.second);
    json.close_list();
  } else if constexpr (detail::kIsVariant<T>) {
    detail::write_case(json, value);
  } else if constexpr (detail::List<T>) {
    detail::write_list(json, value);
  } else if constexpr (HasNames<T> || kFieldCount<T> == 0) {
    json.open_object();
    detail::put_fields(json, value);
    json.close_object();
  } else {
    static_assert(kFieldCount<T> == 1, "a struct of several fields needs names");
    write_json(json, std::get<0>(fields_of(value)));
  }
}

/// The value as a text of JSON.
template <class T>
[[nodiscard]] std::string json_of(const T& value) {
  json::Writer json;
  write_json(json, value);
  return json.take();
}

/// Whether the JSON is such a value; if not, `value` must not be used. Keys that the type does not have are ignored,
/// and absent fields keep their value: an older writer did not know them.
template <class T>
[[nodiscard]] bool read_json(const yaml::Node& json, T& value);

namespace detail {

template <class T, std::size_t kIndex = 0>
[[nodiscard]] bool read_case(const yaml::Node& json, std::string_view word, T& value) {
  if constexpr (kIndex == std::variant_size_v<T>) {
    return false;
  } else {
    if (word != kWords<T>[kIndex]) return read_case<T, kIndex + 1>(json, word, value);
    return read_json(json, value.template emplace<kIndex>());
  }
}

template <class T>
[[nodiscard]] bool read_word(const yaml::Node& json, T& value) {
  const std::string* word = json::text_in(json);
  if (word == nullptr) return false;
  for (std::size_t i = 0; i < kWords<T>.size(); ++i) {
    if (*word != kWords<T>[i]) continue;
    value = static_cast<T>(i);
    return true;
  }
  return false;
}

template <class T>
[[nodiscard]] bool read_number(const yaml::Node& json, T& value) {
  std::optional<T> number;
  if constexpr (std::same_as<T, bool>) {
    number = json::truth_in(json);
  } else if constexpr (std::floating_point<T>) {
    const std::string* word = json::text_in(json);  // "inf"
    const auto found = word == nullptr ? json::double_in(json) : std::optional(std::strtod(word->c_str(), nullptr));
    if (found) number = static_cast<T>(*found);
  } else {
    number = json::integer_in<T>(json);
  }
  if (number) value = *number;
  return number.has_value();
}

template <class A, class B>
[[nodiscard]] bool read_pair(const yaml::Node& json, A& first, B& second) {
  const yaml::List* items = json::list_in(json);
  return items != nullptr && items->size() == 2 && read_json((*items)[0], first) && read_json((*items)[1], second);
}

template <class T>
[[nodiscard]] bool read_list(const yaml::Node& json, T& list) {
  const yaml::List* items = json::list_in(json);
  if (items == nullptr) return false;
  list.clear();
  for (const yaml::Node& each : *items) {
    if constexpr (Map<T>) {
      typename T::key_type key{};
      typename T::mapped_type what{};
      if (!read_pair(each, key, what)) return false;
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
[[nodiscard]] bool read_fields(const yaml::Node& json, T& value) {
  if (!std::holds_alternative<yaml::Map>(json.value)) return false;
  bool is_read = true;
  std::apply(
      [&](auto&... fields) {
        std::size_t next = 0;
        const auto read_field = [&](auto& field) {
          const yaml::Node* found = json::find_member(json, kNames<T>[next++]);
          if (found != nullptr) is_read = is_read && read_json(*found, field);
        };
        (read_field(fields), ...);
      },
      fields_of(value));
  return is_read;
}

}  // namespace detail

template <class T>
bool read_json(const yaml::Node& json, T& value) {
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
    const std::string* text = json::text_in(json);
    if (text != nullptr) value = *text;
    return text != nullptr;
  } else if constexpr (detail::kIsOptional<T>) {
    value.reset();
    return json.is_null() || read_json(json, value.emplace());
  } else if constexpr (detail::kIsShared<T>) {
    auto own = std::make_shared<std::remove_const_t<typename T::element_type>>();
    const bool is_read = read_json(json, *own);
    value = std::move(own);
    return is_read;
  } else if constexpr (detail::kIsPair<T>) {
    return detail::read_pair(json, value.first, value.second);
  } else if constexpr (detail::kIsVariant<T>) {
    const yaml::Node* node = json::find_member(json, detail::kCase);
    const std::string* word = node == nullptr ? nullptr : json::text_in(*node);
    return word != nullptr && detail::read_case(json, *word, value);
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
