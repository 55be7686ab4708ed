// Any configuration is refused, or its templates make commands: each parameter stays within its argument.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/yaml/document.h"
#include "gpu/programs/program_plan.h"
#include "gpu/programs/read_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto tree = yaml::parse_document(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz");
  if (!tree) return 0;
  yaml::Report report("fuzz");
  const programs::ProgramRules rules = programs::read_rules(yaml::Value(*tree, report));
  if (report.has_failed()) return 0;
  for (const auto& [name, made] : rules.templates) {
    ProcessOrder order{.template_name = name, .tenant = made.tenants.front(), .slice = "a", .device_uuid = "GPU-1"};
    for (const auto& [parameter, expression] : made.parameters) order.parameters.emplace(parameter, "a");
    if (!programs::check_order(order, rules)) continue;
    ENSURE(programs::plan_of(order, rules, {.port = 1}).words.size() == made.command.size());
  }
  return 0;
}
