/// The `uid` of an object of the API.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::api {

/// The inputs of a uid: an object that is deleted and created again under the same name gets another uid.
struct UidParts {
  std::string_view kind;
  std::string_view tenant;  ///< empty for objects without a tenant
  std::string_view name;
  std::int64_t created_unix_micros = 0;
  std::uint64_t number = 0;  ///< distinguishes objects created at the same instant; 0: none
};

/// A UUID (RFC 9562, version 8), determined by the parts alone.
[[nodiscard]] std::string object_uid(const UidParts& parts);

}  // namespace berth::api
