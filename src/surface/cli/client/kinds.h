/// The kinds of objects of the API, as the command line names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "surface/cli/client/client.h"

namespace berth::cli {

enum class Kind : std::uint8_t { kTenant, kService, kNode, kGpu, kSlice, kPlan, kFault, kEvent, kCalibration, kWarm };

/// "service" or "services". Error: kBadInput with the known words.
[[nodiscard]] ClientResult<Kind> parse_kind(std::string_view word);
/// "service".
[[nodiscard]] std::string_view word_of(Kind kind);
/// "services".
[[nodiscard]] std::string_view plural_of(Kind kind);

/// Selects objects: all of a kind, those of a tenant, or one.
struct Selection {
  Kind kind = Kind::kService;
  std::string name;    ///< empty: all
  std::string tenant;  ///< empty: of any tenant
};

/// Reads what to select. `kind` may also be KIND/NAME, as titles are, of a service also service/TENANT/NAME. Refuses
/// invalid names, a tenant for a kind that has none, and what is stated twice.
[[nodiscard]] ClientResult<Selection> check_selection(std::string_view kind, const std::string& name,
                                                      const std::string& tenant);

/// Whether the word is a kind, or KIND/NAME.
[[nodiscard]] bool names_kind(std::string_view word);

/// The path of an object: "/v1/tenants/vision/services/detector". Requires: a name, of a service also the tenant.
[[nodiscard]] std::string object_path(const Selection& selection);
/// "service/vision/detector", "gpu/gpu-3"; of an event its number, "event/17".
[[nodiscard]] std::string title_of(Kind kind, const std::string& tenant, const std::string& name);
[[nodiscard]] std::string title_of(Kind kind, const yaml::Node& object);

/// The objects, in the server's order. Error: kNotFound if no object has the name.
[[nodiscard]] ClientResult<std::vector<yaml::Node>> fetch(const Client& client, const Selection& selection);
/// The events after the one with that number, the oldest first.
[[nodiscard]] ClientResult<std::vector<yaml::Node>> fetch_events_after(const Client& client, std::int64_t sequence);
/// The world's time now; absent if the server does not say it.
[[nodiscard]] std::optional<std::string> fetch_now(const Client& client);
/// The object with the name. Error: also kBadInput if several tenants have it and none is given.
[[nodiscard]] ClientResult<yaml::Node> fetch_one(const Client& client, const Selection& selection);

}  // namespace berth::cli
