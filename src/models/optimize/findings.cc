#include "models/optimize/findings.h"

#include <algorithm>

namespace berth::models {

const VariantRecord* find_variant(const Findings& findings, std::string_view name) {
  const auto found = std::ranges::find(findings.variants, name, &VariantRecord::name);
  return found == findings.variants.end() ? nullptr : &*found;
}

std::string variant_name(const std::vector<Method>& methods) {
  std::string name;
  for (const Method method : methods) {
    if (!name.empty()) name += '+';
    name += name_of(method);
  }
  return name;
}

}  // namespace berth::models
