#include "surface/cli/client/named.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

/// The kinds in which an object of that name can be. Clients choose the names of services and tenants, the server those
/// of the others.
std::vector<Kind> kinds_of(std::string_view name, bool has_tenant) {
  std::vector<Kind> kinds;
  if (!has_tenant) kinds.push_back(Kind::kTenant);
  kinds.push_back(Kind::kService);
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kPrefixes = {{{"node-", Kind::kNode},
                                                                           {"gpu-", Kind::kGpu},
                                                                           {"gpu-", Kind::kSlice},
                                                                           {"plan-", Kind::kPlan},
                                                                           {"fault-", Kind::kFault}}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (name.starts_with(prefix) && (!has_tenant || kind == Kind::kSlice)) kinds.push_back(kind);
  }
  return kinds;
}

/// Whether there is no such object: not found, or of a kind that this world does not have (faults of real GPUs).
bool is_absent(ClientStatus status) { return status == ClientStatus::kNotFound || status == ClientStatus::kConflict; }

}  // namespace

ClientResult<Selection> find_named(const Client& client, const std::string& name, const std::string& tenant) {
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    return check_selection("service", name.substr(slash + 1), name.substr(0, slash));
  }
  std::vector<Selection> found;
  std::vector<std::string> titles;
  for (const Kind kind : kinds_of(name, !tenant.empty())) {
    const auto objects = fetch(client, {.kind = kind, .name = name, .tenant = tenant});
    if (!objects && !is_absent(objects.error().status)) return client_fail(objects.error());
    if (!objects) continue;
    for (const yaml::Node& object : *objects) {
      const bool is_service = kind == Kind::kService;
      found.push_back(
          {.kind = kind, .name = name, .tenant = is_service ? text_at(object, "metadata.namespace").value_or("") : ""});
      titles.push_back(title_of(kind, object));
    }
  }
  if (found.empty()) return client_fail(ClientStatus::kNotFound, "there is no object " + in_quotes(name));
  if (found.size() == 1) return std::move(found.front());
  return client_fail(ClientStatus::kBadInput,
                     fmt::format("wanted one object, found {} of the name {}: {}; KIND/NAME says which", found.size(),
                                 in_quotes(name), fmt::join(titles, ", ")));
}

}  // namespace berth::cli
