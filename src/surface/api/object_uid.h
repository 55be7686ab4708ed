/// The `uid` of an object of the API.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::api {

/// Of what a uid is made: an object of that name that is deleted and created again gets another one.
struct UidParts {
  std::string_view kind;
  std::string_view tenant;  ///< empty for objects of no tenant
  std::string_view name;
  std::int64_t created_unix_micros = 0;
  std::uint64_t number = 0;  ///< tells objects apart that are created at the same instant; 0: there are none
};

/// A UUID (RFC 9562, version 8), always the same for the same parts.
[[nodiscard]] std::string object_uid(const UidParts& parts);

}  // namespace berth::api
