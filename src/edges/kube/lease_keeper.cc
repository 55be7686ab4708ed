#include "edges/kube/lease_keeper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::edges {
namespace {

/// Renewals do not wait behind the operator's other requests.
constexpr std::int64_t kLeaseRequestsPerSecond = 20;
constexpr auto kLeaseNapMax = std::chrono::seconds(1);

}  // namespace

std::string lease_identity() {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  std::random_device device;
  const std::uint64_t number = (std::uint64_t{device()} << 32U) | device();
  return fmt::format("{}_{:016x}", host[0] == '\0' ? "berth" : host, number);
}

LeaseKeeper::LeaseKeeper(std::shared_ptr<KubeIdentity> identity, const kube::LeaseOptions& options,
                         std::function<void()> before_step)
    : before_step_(std::move(before_step)),
      client_(std::move(identity), std::make_shared<SharedPace>(kLeaseRequestsPerSecond, kLeaseRequestsPerSecond),
              {.patience = Micros(0),  // the state machine decides when to ask again
               .user_agent = "berth-operator",
               .is_stopped = [this] { return is_aborted_.load(); },
               // A request without an answer leaves time for another one before the deadline.
               .timeout_max = Micros(options.renew_deadline.count() / 2)}),
      holder_(options),
      thread_([this] { keep(); }) {}

LeaseKeeper::~LeaseKeeper() {
  is_aborted_ = true;
  stop();
}

void LeaseKeeper::stop() {
  {
    const std::lock_guard held(lock_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void LeaseKeeper::publish() {
  may_write_until_ = holder_.may_write_until().micros();
  const std::lock_guard held(lock_);
  standing_ = {.is_known = holder_.is_known(),
               .is_leader = false,  // follows from the time
               .epoch = holder_.epoch(),
               .leader = holder_.leader(),
               .trouble = holder_.trouble()};
  changed_.notify_all();
}

void LeaseKeeper::keep() {
  while (!is_stopped_) {
    const auto step = holder_.next(steady_now(), wall_text());
    if (const auto* wait = std::get_if<kube::LeaseHolder::WaitStep>(&step)) {
      const std::chrono::microseconds left((wait->until - steady_now()).count());
      std::unique_lock held(lock_);
      changed_.wait_for(held, std::clamp<std::chrono::microseconds>(left, std::chrono::microseconds(1), kLeaseNapMax),
                        [this] { return is_stopped_.load(); });
      continue;
    }
    const Instant sent_at = steady_now();
    if (before_step_) before_step_();
    if (const auto* read = std::get_if<kube::LeaseHolder::ReadStep>(&step)) {
      const auto answer = client_.ask(read->call);
      holder_.take_read(answer, steady_now());
    } else if (const auto* write = std::get_if<kube::LeaseHolder::WriteStep>(&step)) {
      holder_.take_write(kube::write_carefully(client_, write->write), sent_at, steady_now());
    }
    publish();
  }
}

LeaseStanding LeaseKeeper::standing() const {
  const std::lock_guard held(lock_);
  LeaseStanding standing = standing_;
  standing.is_leader = may_write();
  return standing;
}

void LeaseKeeper::await_leader(std::chrono::milliseconds patience) {
  std::unique_lock held(lock_);
  changed_.wait_for(held, patience, [this] { return standing_.is_known; });
}

void LeaseKeeper::release() {
  stop();
  const auto write = holder_.release(steady_now(), wall_text());
  publish();
  if (write) static_cast<void>(kube::write_carefully(client_, *write));
}

}  // namespace berth::edges
