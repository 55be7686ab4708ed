/// The API of an operator while it stands by.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/operator/standby_api.h"
#include "apps/operator/standby_objects.h"
#include "apps/up/up_outside.h"
#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "edges/state_folder/state_folder.h"
#include "live/folder/up_request.h"
#include "live/local/device_source.h"

namespace berth::kube {
class StandbyBook;
}

namespace berth::apps {

class OperatorLoop;

/// While it exists, it has the folder and the address that the session of the leader will have.
class StandbyServer {
 public:
  /// Opens the folder of `request`, listens, and writes the address into the folder. `pause`: StandbyFacts::pause; any
  /// thread asks it. Errors: those of the folder, and a port that is in use.
  [[nodiscard]] static Result<std::unique_ptr<StandbyServer>> open(const live::UpRequest& request,
                                                                   const up::ServerStarter& start_server,
                                                                   std::function<std::string()> leader,
                                                                   std::function<std::optional<StandbyPause>()> pause);
  /// For `open`.
  StandbyServer(std::unique_ptr<edges::StateFolder> folder, std::function<std::string()> leader,
                std::function<std::optional<StandbyPause>()> pause)
      : folder_(std::move(folder)), api_(std::move(leader), folder_->key(), std::move(pause)) {}

  /// Shows what stands in the cluster by now, at most once per second. `book` has heard of all changes.
  void show(kube::StandbyBook& book, const OperatorLoop& loop);
  /// Why the API server does not answer; nothing: it does.
  void note_trouble(const std::optional<Error>& trouble);

 private:
  std::unique_ptr<edges::StateFolder> folder_;
  StandbyApi api_;
  std::optional<live::ClusterAway> away_;
  std::optional<Instant> shown_at_;
  std::int64_t shown_news_ = 0;  ///< OperatorLoop::news_count by then
  std::unique_ptr<HttpServer> server_;
};

}  // namespace berth::apps
