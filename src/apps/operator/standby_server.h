/// The API of an operator while it stands by.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/operator/standby_api.h"
#include "apps/up/up_outside.h"
#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "edges/state_folder/state_folder.h"
#include "live/folder/up_request.h"

namespace berth::apps {

/// While it exists, it has the folder and the address that the session of the leader will have.
class StandbyServer {
 public:
  /// Opens the folder of `request`, listens, and writes the address into the folder. Errors: those of the folder, and a
  /// port that is in use.
  [[nodiscard]] static Result<std::unique_ptr<StandbyServer>> open(const live::UpRequest& request,
                                                                   const up::ServerStarter& start_server,
                                                                   std::function<std::string()> leader);
  /// For `open`.
  StandbyServer(std::unique_ptr<edges::StateFolder> folder, std::function<std::string()> leader)
      : folder_(std::move(folder)), api_(std::move(leader)) {}

 private:
  std::unique_ptr<edges::StateFolder> folder_;
  StandbyApi api_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace berth::apps
