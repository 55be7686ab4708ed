#include "apps/operator/standby_server.h"

#include <utility>

#include "apps/operator/operator_loop.h"
#include "apps/operator/standby_objects.h"
#include "apps/up/up_log.h"
#include "apps/up/wall_clock.h"
#include "kube/standby/standby_book.h"

namespace berth::apps {
namespace {

/// Between two pictures, after changes; and without them, as a GPU may count as lost by now.
constexpr Micros kPictureGap = Micros::seconds(1);
constexpr Micros kPictureAgeMax = Micros::seconds(5);

}  // namespace

Result<std::unique_ptr<StandbyServer>> StandbyServer::open(const live::UpRequest& request,
                                                           const up::ServerStarter& start_server,
                                                           std::function<std::string()> leader,
                                                           std::function<std::optional<StandbyPause>()> pause) {
  const auto path = request.data_dir ? Result<std::string>(*request.data_dir) : edges::default_state_folder();
  if (!path) return pass_on(path.error());
  auto folder = edges::StateFolder::open(*path);
  if (!folder) return pass_on(folder.error());
  auto standby = std::make_unique<StandbyServer>(*std::move(folder), std::move(leader), std::move(pause));
  auto server = start_server(request.listen.host, request.listen.port, standby->api_);
  if (!server) return pass_on(server.error());
  standby->server_ = *std::move(server);
  const std::string url = up::url_of(request.listen.host, standby->server_->port());
  if (auto written = standby->folder_->write_address(url); !written) return pass_on(written.error());
  return standby;
}

void StandbyServer::show(kube::StandbyBook& book, const OperatorLoop& loop) {
  if (!loop.has_listed_all()) return;
  const Instant now = edges::steady_now();
  if (shown_at_) {
    const bool is_new = loop.news_count() != shown_news_;
    if (now - *shown_at_ < (is_new ? kPictureGap : kPictureAgeMax)) return;
  }
  shown_at_ = now;
  shown_news_ = loop.news_count();
  const WorldEpoch epoch{.unix_micros = up::wall_us_now() - now.micros()};
  api_.show(std::make_shared<const StandbyObjects>(book.read(loop.placing(), now), epoch));
}

void StandbyServer::note_trouble(const std::optional<Error>& trouble) {
  if (trouble && !away_) away_ = live::ClusterAway{.since_wall = edges::wall_text(), .message = trouble->message};
  if (!trouble) away_.reset();
  api_.note_away(away_);
}

}  // namespace berth::apps
