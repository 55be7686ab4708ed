#include "surface/cli/client/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/core/text.h"
#include "surface/cli/client/node.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

struct KindWords {
  std::string_view one;
  std::string_view many;
};
/// By Kind.
constexpr std::array<KindWords, 10> kKindWords = {{{"tenant", "tenants"},
                                                   {"service", "services"},
                                                   {"node", "nodes"},
                                                   {"gpu", "gpus"},
                                                   {"slice", "slices"},
                                                   {"plan", "plans"},
                                                   {"fault", "faults"},
                                                   {"event", "events"},
                                                   {"calibration", "calibration"},
                                                   {"warm", "warm"}}};

constexpr std::size_t kNameBytesMax = 253;

/// The objects per page: fewer for services and plans, which are large.
int page_limit(Kind kind) { return kind == Kind::kService || kind == Kind::kPlan ? 100 : 500; }

std::string path_of(Kind kind) {
  const std::string_view folder = kind == Kind::kFault ? "/v1/sim" : "/v1";
  return fmt::format("{}/{}", folder, plural_of(kind));
}

bool has_tenant(Kind kind) {
  return kind == Kind::kService || kind == Kind::kSlice || kind == Kind::kEvent || kind == Kind::kCalibration ||
         kind == Kind::kWarm;
}

/// Events are no objects: they have a number instead of a name, and the tenant of the object that they are about.
std::optional<std::string> name_at(Kind kind, const yaml::Node& object) {
  return text_at(object, kind == Kind::kEvent ? "sequence" : "metadata.name");
}
std::optional<std::string> tenant_at(Kind kind, const yaml::Node& object) {
  return text_at(object, kind == Kind::kEvent ? "object.namespace" : "metadata.namespace");
}

/// Checks that a name can be a segment of a path.
ClientResult<void> check_name(std::string_view what, const std::string& name) {
  if (name != "." && name != ".." && name.size() <= kNameBytesMax) return {};
  return client_fail(ClientStatus::kBadInput, fmt::format("{}: wanted a name, found {}", what, in_quotes(name)));
}

std::string list_path(const Selection& selection) {
  const bool is_of_tenant = selection.kind == Kind::kService && !selection.tenant.empty();
  const std::string path =
      is_of_tenant ? fmt::format("/v1/tenants/{}/services", path_part(selection.tenant)) : path_of(selection.kind);
  return fmt::format("{}?limit={}", path, page_limit(selection.kind));
}

bool is_selected(const Selection& selection, const yaml::Node& object) {
  if (!selection.name.empty() && name_at(selection.kind, object) != selection.name) return false;
  return selection.tenant.empty() || tenant_at(selection.kind, object) == selection.tenant;
}

/// The words of a selection, each as typed.
struct SelectionWords {
  std::string kind;
  std::string name;
  std::string tenant;
};

/// Takes KIND/NAME and service/TENANT/NAME apart.
ClientResult<SelectionWords> taken_apart(SelectionWords words) {
  const std::size_t slash = words.kind.find('/');
  if (slash == std::string::npos) return words;
  if (!words.name.empty()) {
    return client_fail(ClientStatus::kBadInput, fmt::format("NAME: wanted none after {}, found {}",
                                                            in_quotes(words.kind), in_quotes(words.name)));
  }
  words.name = words.kind.substr(slash + 1);
  words.kind.erase(slash);
  const std::size_t second = words.name.find('/');
  if (words.name.empty() || words.name.back() == '/') {
    return client_fail(ClientStatus::kBadInput,
                       fmt::format("KIND/NAME: wanted a name after {}/", printable(words.kind)));
  }
  if (second == std::string::npos) return words;
  const std::string tenant = words.name.substr(0, second);
  if (!words.tenant.empty() && words.tenant != tenant) {
    return client_fail(ClientStatus::kBadInput,
                       fmt::format("--tenant: wanted {}, the tenant of {}, found {}", in_quotes(tenant),
                                   in_quotes(words.name), in_quotes(words.tenant)));
  }
  words.tenant = tenant;
  words.name.erase(0, second + 1);
  return words;
}

}  // namespace

ClientResult<Kind> parse_kind(std::string_view word) {
  for (std::size_t i = 0; i < kKindWords.size(); ++i) {
    if (word == kKindWords[i].one || word == kKindWords[i].many) return static_cast<Kind>(i);
  }
  return client_fail(
      ClientStatus::kBadInput,
      fmt::format(
          "KIND: wanted tenants, services, nodes, gpus, slices, plans, faults, events, calibration or warm, found {}",
          in_quotes(word)));
}

bool names_kind(std::string_view word) { return parse_kind(word.substr(0, word.find('/'))).has_value(); }

std::string_view word_of(Kind kind) { return kKindWords[static_cast<std::size_t>(kind)].one; }
std::string_view plural_of(Kind kind) { return kKindWords[static_cast<std::size_t>(kind)].many; }

ClientResult<Selection> check_selection(std::string_view kind_word, const std::string& name_word,
                                        const std::string& tenant_word) {
  const auto words = taken_apart({.kind = std::string(kind_word), .name = name_word, .tenant = tenant_word});
  if (!words) return client_fail(words.error());
  const auto& [kind, name, tenant] = *words;
  const auto parsed = parse_kind(kind);
  if (!parsed) return client_fail(parsed.error());
  if (const auto checked = check_name("NAME", name); !checked) return client_fail(checked.error());
  if (const auto checked = check_name("--tenant", tenant); !checked) return client_fail(checked.error());
  if (!tenant.empty() && !has_tenant(*parsed)) {
    return client_fail(
        ClientStatus::kBadInput,
        fmt::format("--tenant: wanted it for services, slices, events, calibration and warm only, found it for {}",
                    plural_of(*parsed)));
  }
  return Selection{.kind = *parsed, .name = name, .tenant = tenant};
}

std::string object_path(const Selection& selection) {
  const std::string name = path_part(selection.name);
  if (selection.kind != Kind::kService) return fmt::format("{}/{}", path_of(selection.kind), name);
  return fmt::format("/v1/tenants/{}/services/{}", path_part(selection.tenant), name);
}

std::string title_of(Kind kind, const std::string& tenant, const std::string& name) {
  return kind == Kind::kService ? fmt::format("service/{}/{}", tenant, name)
                                : fmt::format("{}/{}", word_of(kind), name);
}

std::string title_of(Kind kind, const yaml::Node& object) {
  return printable(title_of(kind, tenant_at(kind, object).value_or(""), name_at(kind, object).value_or("")));
}

ClientResult<std::vector<yaml::Node>> fetch(const Client& client, const Selection& selection) {
  // A slice, a fault, an event, or the calibration or warm pool of a service has no path of its own, and a service only
  // together with its tenant.
  const bool has_page = selection.kind != Kind::kSlice && selection.kind != Kind::kFault &&
                        selection.kind != Kind::kEvent && selection.kind != Kind::kCalibration &&
                        selection.kind != Kind::kWarm;
  const bool is_direct =
      !selection.name.empty() && has_page && (selection.kind != Kind::kService || !selection.tenant.empty());
  if (is_direct) {
    auto reply = client.get(object_path(selection));
    if (!reply) return client_fail(reply.error());
    return std::vector<yaml::Node>{std::move(reply->body)};
  }
  auto objects = client.list(list_path(selection));
  if (!objects) return objects;
  std::erase_if(*objects, [&](const yaml::Node& object) { return !is_selected(selection, object); });
  if (objects->empty() && !selection.name.empty()) {
    return client_fail(ClientStatus::kNotFound,
                       fmt::format("there is no {} {}", word_of(selection.kind), in_quotes(selection.name)));
  }
  return objects;
}

ClientResult<std::vector<yaml::Node>> fetch_events_after(const Client& client, std::int64_t sequence) {
  return client.list(fmt::format("{}&after={}", list_path({.kind = Kind::kEvent, .name = "", .tenant = ""}), sequence));
}

std::optional<std::string> fetch_now(const Client& client) {
  const auto status = client.get("/v1/status");
  return status ? text_at(status->body, "time") : std::nullopt;
}

ClientResult<yaml::Node> fetch_one(const Client& client, const Selection& selection) {
  auto objects = fetch(client, selection);
  if (!objects) return client_fail(objects.error());
  if (objects->size() == 1) return std::move(objects->front());
  return client_fail(ClientStatus::kBadInput,
                     fmt::format("wanted one {}, found {} of the name {}: -t TENANT says which",
                                 word_of(selection.kind), objects->size(), in_quotes(selection.name)));
}

}  // namespace berth::cli
