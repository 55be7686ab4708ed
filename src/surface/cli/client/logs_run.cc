#include "surface/cli/client/logs_run.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/core/text.h"
#include "surface/cli/client/client.h"
#include "surface/cli/client/node.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

/// Tenant and name, from "service NAME -t TENANT" or "service/TENANT/NAME".
ClientResult<LogsWords> read_words(LogsWords words) {
  const std::string typed = words.kind;
  const std::size_t slash = words.kind.find('/');
  if (slash != std::string::npos) {
    words.name = words.kind.substr(slash + 1);
    words.kind.resize(slash);
  }
  if (words.kind != "service" && words.kind != "services") {
    return client_fail(ClientStatus::kBadInput, fmt::format("wanted service NAME, found {}", in_quotes(typed)));
  }
  if (const std::size_t inner = words.name.find('/'); inner != std::string::npos) {
    words.tenant = words.name.substr(0, inner);
    words.name.erase(0, inner + 1);
  }
  if (words.name.empty()) return client_fail(ClientStatus::kBadInput, "wanted the name of a service, found none");
  if (words.tenant.empty())
    return client_fail(ClientStatus::kBadInput, "-t: wanted the tenant of the service, found none");
  return words;
}

ClientResult<std::string> logs(const LogsWords& typed, const VerbContext& context) {
  const auto words = read_words(typed);
  if (!words) return client_fail(words.error());
  const auto client = connect(words->server, context);
  if (!client) return client_fail(client.error());
  const auto reply =
      client->get(fmt::format("/v1/tenants/{}/services/{}/logs", path_part(words->tenant), path_part(words->name)));
  if (!reply) return client_fail(reply.error());
  std::string text;
  for (const yaml::Node& item : items_at(reply->body, "items")) {
    text += fmt::format("==> {} <==\n", text_at(item, "slice").value_or(""));
    text += printable_lines(text_at(item, "text").value_or("there is no log\n"));
    if (!text.ends_with('\n')) text += '\n';
  }
  return text.empty() ? std::string("no program runs for this service\n") : text;
}

}  // namespace

VerbOutcome run_logs(const LogsWords& words, const VerbContext& context) { return outcome_of(logs(words, context)); }

}  // namespace berth::cli
