#include "apps/operator/pause_reader.h"

#include <utility>

#include "apps/operator/pause_keeper.h"

namespace berth::apps {
namespace {

constexpr Micros kPauseAge = Micros::seconds(1);
constexpr Micros kPausePatience = Micros::seconds(1);
constexpr Micros kPauseTimeout = Micros::seconds(2);

}  // namespace

PauseReader::PauseReader(std::shared_ptr<edges::KubeIdentity> identity, std::shared_ptr<edges::SharedPace> pace,
                         kube::ObjectName lease)
    : cluster_(std::move(identity), std::move(pace),
               {.patience = kPausePatience, .user_agent = "berth-operator", .timeout_max = kPauseTimeout}),
      lease_(std::move(lease)) {}

std::optional<StandbyPause> PauseReader::read() {
  const std::scoped_lock hold(lock_);
  const Instant now = edges::steady_now();
  if (read_at_ && now - *read_at_ < kPauseAge) return known_;
  auto reason = read_pause(cluster_, lease_);
  known_ = reason ? std::optional(StandbyPause{*std::move(reason)}) : std::nullopt;
  read_at_ = edges::steady_now();
  return known_;
}

}  // namespace berth::apps
