// Any bytes give a policy, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "gpu/health/xid_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::health;
  const auto policy = read_xid_policy({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!policy) {
    ENSURE(policy.error().message.starts_with("fuzz"));
    return 0;
  }
  for (const auto& [code, action] : policy->actions) ENSURE(policy->rule_for(code).is_listed && code > 0);
  return 0;
}
