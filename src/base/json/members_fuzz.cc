// Any bytes give the members that the library's own parser finds, or an error; every object that it accepts is
// accepted, unless one of the keys is repeated.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/core/ensure.h"
#include "base/json/members.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  using Json = nlohmann::json;
  constexpr std::array<std::string_view, 2> kKeys = {"model", "m"};
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto found = json::find_members(text, kKeys);
  const Json expected = Json::parse(text, nullptr, false);
  if (text.find('\0') != std::string_view::npos) return 0;  // an end to the other parser
  if (expected.is_discarded() || !expected.is_object() || text.starts_with("\xEF\xBB\xBF")) return 0;
  if (!found) {
    ENSURE(found.error().message.find("repeated") != std::string::npos ||
           found.error().message.find("value") != std::string::npos);
    return 0;
  }
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    ENSURE((*found)[i].empty() == !expected.contains(kKeys[i]));
    if (!(*found)[i].empty()) ENSURE(Json::parse((*found)[i]) == expected.at(std::string(kKeys[i])));
  }
  return 0;
}
