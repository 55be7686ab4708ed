/// What a client of the agent may order, without what the agent keeps to itself: commands and paths.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/programs/program_rules.h"

namespace berth::programs {

/// A template or a repository.
struct ProgramOffer {
  bool is_repository = false;
  std::string name = {};
  std::vector<std::string> tenants = {};
  std::map<std::string, std::string> parameters = {};  ///< with their expressions; none of a repository
  friend bool operator==(const ProgramOffer&, const ProgramOffer&) = default;
};

[[nodiscard]] std::vector<ProgramOffer> offers_of(const ProgramRules& rules);

/// Adds an offer to rules that only check_order can use. Error: an expression does not compile.
[[nodiscard]] Result<void> add_offer(ProgramRules& rules, const ProgramOffer& offer);

}  // namespace berth::programs
