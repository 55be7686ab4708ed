#include "apps/profile/profile_url.h"

#include <map>
#include <utility>

#include "apps/profile/connections.h"
#include "apps/profile/input_rows.h"
#include "apps/profile/machine.h"
#include "apps/profile/oip_client.h"
#include "edges/http_client/curl_client.h"
#include "models/profiling/measure_points.h"

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

Result<models::TurnTimes> run_turn(const OipClient& client, Calls& calls, const models::TurnOrder& order) {
  const auto call = calls.of(order.batch);
  if (!call) return pass_on(call.error());
  return run_connections(order, [&client, &call]() -> Result<void> {
    const auto reply = client.send(**call);
    if (!reply) return pass_on(reply.error());
    return {};
  });
}

}  // namespace

Result<ProfileRun> profile_url(const FileTree& tree, const models::ProfileRequest& request,
                               const cli::ProfileHooks& hooks) {
  hooks.report(0, "asking the server");
  const edges::CurlClient http;
  const OipClient client(http, request.url, request.name);
  const auto served = client.describe();
  if (!served) return pass_on(served.error());
  const auto inputs = find_input_rows(tree, request, served->model.inputs);
  if (!inputs) return pass_on(inputs.error());
  ProfileRun run{
      .model = {.name = served->model.name, .url = request.url},
      .machine = machine_of_server(served->server.device, served->server.name + " " + served->server.version),
      .fixed_batch = inputs->fixed_batch};
  Calls calls(client, inputs->rows, served->server.takes_binary);
  auto points = models::measure_points(
      {.batches = inputs->batches,
       .processes = request.processes,
       .seconds_min = request.seconds,
       .seed = request.seed},
      {.run_turn = [&](const models::TurnOrder& order) { return run_turn(client, calls, order); },
       .report = hooks.report,
       .should_stop = hooks.should_stop});
  if (!points) return pass_on(points.error());
  run.points = *std::move(points);
  return run;
}

}  // namespace berth::profiler
