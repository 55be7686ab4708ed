#include "apps/profile/profile_url.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "apps/profile/connections.h"
#include "apps/profile/input_rows.h"
#include "apps/profile/machine.h"
#include "apps/profile/oip_client.h"
#include "apps/profile/with_points.h"
#include "edges/http_client/curl_connection.h"

namespace berth::profiler {
namespace {

/// The requests of each size, written and tried once.
class Calls {
 public:
  Calls(const OipClient& client, const models::RowSet& rows, bool is_binary)
      : client_(client), rows_(rows), is_binary_(is_binary) {}

  Result<const HttpCall*> of(int batch) {
    const auto known = calls_.find(batch);
    if (known != calls_.end()) return &known->second;
    auto call = client_.call_for(models::batch_of(rows_, 0, static_cast<std::size_t>(batch)), is_binary_);
    if (!call) return pass_on(call.error());
    const auto reply = client_.send(*call);
    if (!reply) return pass_on(reply.error());
    if (auto checked = client_.check_answer(*call, *reply); !checked) return pass_on(checked.error());
    return &calls_.emplace(batch, *std::move(call)).first->second;
  }

 private:
  const OipClient& client_;
  const models::RowSet& rows_;
  bool is_binary_;
  std::map<int, HttpCall> calls_;
};

/// Clients that keep a connection each.
class Clients {
 public:
  Clients(const models::ProfileRequest& request, int count) {
    for (int i = 0; i < count; ++i) {
      connections_.push_back(std::make_unique<edges::CurlConnection>());
      clients_.push_back(std::make_unique<OipClient>(*connections_.back(), request.url, request.name));
    }
  }

  [[nodiscard]] const OipClient& at(std::size_t index) const { return *clients_.at(index); }

 private:
  std::vector<std::unique_ptr<edges::CurlConnection>> connections_;
  std::vector<std::unique_ptr<OipClient>> clients_;
};

/// The model's memory at the server after the first turn of each size; nothing where the server does not say it. A
/// server may load a model with its first request, so nothing is asked before.
class MemoryAsked {
 public:
  explicit MemoryAsked(const OipClient& client) : client_(client) {}

  /// The first that the server said: it measures a model when it is loaded.
  [[nodiscard]] std::optional<std::int64_t> at_load() const { return at_load_; }
  std::optional<std::int64_t> after(const models::TurnOrder& order) {
    if (!asked_.emplace(order.batch, order.processes).second) return std::nullopt;
    const auto bytes = client_.memory_bytes();
    if (!at_load_) at_load_ = bytes;
    return bytes;
  }

 private:
  const OipClient& client_;
  std::optional<std::int64_t> at_load_;
  std::set<std::pair<int, int>> asked_;  ///< batch and connections
};

Result<models::TurnTimes> run_turn(const Clients& clients, Calls& calls, MemoryAsked& memory,
                                   const models::TurnOrder& order) {
  const auto call = calls.of(order.batch);
  if (!call) return pass_on(call.error());
  auto turn = run_connections(order, [&clients, &call](std::size_t connection) -> Result<void> {
    const auto reply = clients.at(connection).send(**call);
    if (!reply) return pass_on(reply.error());
    return {};
  });
  if (turn) turn->memory_bytes = memory.after(order);
  return turn;
}

}  // namespace

Result<ProfileRun> profile_url(const FileTree& tree, const models::ProfileRequest& request,
                               const cli::ProfileHooks& hooks) {
  hooks.report(0, "asking the server");
  const Clients clients(request, request.processes.back());
  const auto served = clients.at(0).describe();
  if (!served) return pass_on(served.error());
  const auto inputs = find_input_rows(tree, request, served->model.inputs);
  if (!inputs) return pass_on(inputs.error());
  ProfileRun run{
      .model = {.name = served->model.name, .url = request.url},
      .machine = machine_of_server(served->server.device, served->server.name + " " + served->server.version),
      .fixed_batch = inputs->fixed_batch};
  Calls calls(clients.at(0), inputs->rows, served->server.takes_binary);
  MemoryAsked memory(clients.at(0));
  auto measured = with_points(std::move(run), request, *inputs, hooks,
                              [&](const models::TurnOrder& order) { return run_turn(clients, calls, memory, order); });
  if (measured) measured->memory_at_load_bytes = memory.at_load();
  return measured;
}

}  // namespace berth::profiler
