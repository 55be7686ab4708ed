/// Names of the bits of an `unverified` row.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth::mig::detail {

struct FieldName {
  unsigned bit;
  const char* name;
};

/// The names of the bits that are set, in the order of `names`.
[[nodiscard]] inline std::vector<std::string> names_of(unsigned fields, std::span<const FieldName> names) {
  std::vector<std::string> set;
  for (const auto& [bit, name] : names) {
    if ((fields & bit) != 0) set.emplace_back(name);
  }
  return set;
}

}  // namespace berth::mig::detail
