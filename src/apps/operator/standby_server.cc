#include "apps/operator/standby_server.h"

#include <utility>

#include "apps/up/up_log.h"

namespace berth::apps {

Result<std::unique_ptr<StandbyServer>> StandbyServer::open(const live::UpRequest& request,
                                                           const up::ServerStarter& start_server,
                                                           std::function<std::string()> leader) {
  const auto path = request.data_dir ? Result<std::string>(*request.data_dir) : edges::default_state_folder();
  if (!path) return pass_on(path.error());
  auto folder = edges::StateFolder::open(*path);
  if (!folder) return pass_on(folder.error());
  auto standby = std::make_unique<StandbyServer>(*std::move(folder), std::move(leader));
  auto server = start_server(request.listen.host, request.listen.port, standby->api_);
  if (!server) return pass_on(server.error());
  standby->server_ = *std::move(server);
  const std::string url = up::url_of(request.listen.host, standby->server_->port());
  if (auto written = standby->folder_->write_address(url); !written) return pass_on(written.error());
  return standby;
}

}  // namespace berth::apps
