#include "edges/kube/follower.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::edges {
namespace {

constexpr auto kFollowerNap = std::chrono::milliseconds(50);
/// Lists are repeated by the reflector, which says so: the client itself does not insist.
constexpr Micros kFollowerPatience = Micros(0);

}  // namespace

KubeFollower::KubeFollower(const kube::Resource& resource, std::shared_ptr<KubeIdentity> identity,
                           std::shared_ptr<SharedPace> pace, ChangeQueue& queue, const kube::ReflectorOptions& options,
                           std::uint64_t seed)
    : resource_(resource),
      queue_(queue),
      rng_(Rng(seed).split(resource.plural)),
      client_(std::move(identity), std::move(pace),
              {.patience = kFollowerPatience, .seed = seed, .is_stopped = [this] { return is_stopped_.load(); }}),
      reflector_(resource, options),
      thread_([this] { follow(); }) {}

KubeFollower::~KubeFollower() {
  is_stopped_ = true;
  thread_.join();
}

void KubeFollower::follow() {
  while (!is_stopped_) {
    if (const std::int64_t wanted = order_wanted_; wanted != order_) {
      order_ = wanted;
      reflector_.restart();
    }
    const auto step = reflector_.next(steady_now());
    std::visit(Overloaded{[&](const kube::Reflector::ListStep& list_step) { list(list_step); },
                          [&](const kube::Reflector::WatchStep& watch_step) { watch(watch_step); },
                          [&](const kube::Reflector::WaitStep& wait) {
                            const std::chrono::microseconds left((wait.until - steady_now()).count());
                            std::this_thread::sleep_for(std::clamp<std::chrono::microseconds>(
                                left, std::chrono::microseconds(0), kFollowerNap));
                          }},
               step);
  }
}

void KubeFollower::list(const kube::Reflector::ListStep& step) {
  const auto outcome = client_.ask({.target = step.target});
  if (is_stopped_) return;
  pass_on(reflector_.take_page(outcome, steady_now(), rng_));
}

void KubeFollower::watch(const kube::Reflector::WatchStep& step) {
  bool is_useful = true;
  const auto outcome =
      client_.watch({.target = step.target}, {.take =
                                                  [&](std::string_view line) {
                                                    std::vector<kube::Change> changes;
                                                    is_useful = reflector_.take_line(line, steady_now(), rng_, changes);
                                                    return pass_on(std::move(changes)) && is_useful;
                                                  },
                                              .is_stopped = [this] { return is_stopped_ || order_wanted_ != order_; },
                                              .silence_max = step.silence_max});
  if (is_stopped_ || order_wanted_ != order_) return;
  reflector_.take_end(outcome, steady_now(), rng_);
  pass_on({});
}

bool KubeFollower::pass_on(std::vector<kube::Change> changes) {
  const bool has_listed = reflector_.list_count() > lists_passed_on_;
  lists_passed_on_ = reflector_.list_count();
  const bool has_trouble = reflector_.trouble().has_value();
  const bool is_news = !changes.empty() || has_listed || has_trouble != had_trouble_;
  had_trouble_ = has_trouble;
  if (!is_news) return true;
  return queue_.add({.plural = resource_.plural,
                     .changes = std::move(changes),
                     .has_listed = has_listed,
                     .trouble = reflector_.trouble(),
                     .list_order = order_});
}

}  // namespace berth::edges
