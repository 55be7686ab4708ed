#include "tier/evaluate/leave_file.h"

#include "base/core/rows.h"

namespace berth::tier {

Result<std::map<std::string, std::string>> read_leave_file(std::string_view text, std::string_view file) {
  Rows rows(text, file, NamedColumns{.required = {"model", "group"}});
  if (auto begun = rows.begin(); !begun) return pass_on(begun.error());
  std::map<std::string, std::string> groups;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) break;
    const auto model = rows.word(0);
    if (!model) return pass_on(model.error());
    const auto group = rows.word(1);
    if (!group) return pass_on(group.error());
    if (!groups.emplace(*model, *group).second) {
      return rows.fail_at(0, "model: wanted each model once, found " + in_quotes(*model) + " again");
    }
  }
  if (groups.empty()) return rows.fail_file("wanted a row model,group, found none");
  return groups;
}

}  // namespace berth::tier
