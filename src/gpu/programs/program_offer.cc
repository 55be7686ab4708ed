#include "gpu/programs/program_offer.h"

#include <utility>

namespace berth::programs {

std::vector<ProgramOffer> offers_of(const ProgramRules& rules) {
  std::vector<ProgramOffer> offers;
  for (const auto& [name, made] : rules.templates) {
    ProgramOffer& offer = offers.emplace_back(ProgramOffer{.name = name, .tenants = made.tenants});
    for (const auto& [parameter, expression] : made.parameters) offer.parameters.emplace(parameter, expression.text());
  }
  for (const auto& [name, folder] : rules.repositories) {
    offers.push_back({.is_repository = true, .name = name, .tenants = folder.tenants});
  }
  return offers;
}

Result<void> add_offer(ProgramRules& rules, const ProgramOffer& offer) {
  if (offer.is_repository) {
    rules.repositories.insert_or_assign(offer.name, ModelFolder{.path = "", .tenants = offer.tenants});
    return {};
  }
  ProgramTemplate made{.command = {}, .ready = "", .tenants = offer.tenants};
  for (const auto& [parameter, text] : offer.parameters) {
    auto compiled = Expression::compile(text);
    if (!compiled) return pass_on(compiled.error());
    made.parameters.emplace(parameter, std::move(*compiled));
  }
  rules.templates.insert_or_assign(offer.name, std::move(made));
  return {};
}

}  // namespace berth::programs
