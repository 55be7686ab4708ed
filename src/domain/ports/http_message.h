/// Shared by the requests and answers of both HTTP ports: fields, and the lookup by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace berth {

/// A name with its value: a header field, or a pair of a query.
struct HttpField {
  std::string name;
  std::string value;
  friend bool operator==(const HttpField&, const HttpField&) = default;
};

/// Whether two header names are equal, ignoring the case of ASCII letters.
[[nodiscard]] bool is_same_header(std::string_view a, std::string_view b);

/// The value of the first header of that name, in any case of letters. It borrows from `headers`. O(headers).
[[nodiscard]] std::optional<std::string_view> find_header(std::span<const HttpField> headers, std::string_view name);

}  // namespace berth
