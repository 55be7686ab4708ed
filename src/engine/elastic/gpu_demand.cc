#include "engine/elastic/gpu_demand.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "base/core/chunked_list.h"
#include "engine/elastic/capacity_packing.h"
#include "engine/elastic/surcharge.h"
#include "purchase/scale/forecast_policy.h"

namespace berth::elastic {
namespace {

/// Work is counted in units of 1 / kWorkPerGpu of a GPU-second, and capacity in units of 1 / kPartsPerGpu of a GPU.
constexpr double kWorkPerGpu = 10'000;
constexpr std::int64_t kPartsPerGpu = 16;
constexpr std::int64_t kMillion = 1'000'000;
/// The mix of the services' work is that of the last seconds.
constexpr std::int64_t kMixSeconds = 60;

}  // namespace

class GpuDemandWatch::Parts {
 public:
  Parts(const Scenario& scenario, const Decimal& attainment, std::int64_t ready_seconds, std::int64_t gpus_at_start)
      : scenario_(scenario),
        packing_(scenario, SlicePoints::kPlanned),
        parts_at_start_(gpus_at_start * kPartsPerGpu),
        history_(known_history(scenario)),
        share_of_a_service_(1 / std::sqrt(static_cast<double>(scenario.services.size()))),
        work_(static_cast<std::size_t>(history_ + scenario.simulated_seconds()) + 1),
        answers_(scenario.services.size()),
        surcharge_(attainment, scenario.services.size()),
        seen_(scenario.services.size(), INT64_MIN),
        recent_(scenario.services.size()) {
    problem_.load = {.counts = work_, .from_second = history_};
    problem_.rate = *scale::ReplicaRate::of(Decimal(static_cast<std::int64_t>(kWorkPerGpu), kPartsPerGpu));
    problem_.start_seconds = ready_seconds;
    problem_.attainment =
        Decimal(1) - (Decimal(1) - attainment) * Decimal(std::llround(kMillion * share_of_a_service_), kMillion);
    for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
      const double capacity = packing_.gpu_capacity({index});
      work_of_request_.push_back(capacity > 0 ? kWorkPerGpu / capacity : 0);
    }
  }
  Parts(const Parts&) = delete;  // the policy refers to the problem
  Parts& operator=(const Parts&) = delete;

  void observe(const Snapshot& snapshot) {
    for (std::uint32_t index = 0; index < seen_.size(); ++index) {
      const auto& seconds = snapshot.services[index].seconds;
      auto first = seconds.end();
      while (first != seconds.begin() && (*std::prev(first)).second > seen_[index]) --first;
      for (; first != seconds.end(); ++first) note(index, *first);
    }
    const std::int64_t known = *std::ranges::min_element(seen_);
    for (; over_ < known && known >= 0; ++over_) end_second();
  }

  GpuDemand demand() {
    if (!service_) begin_run();
    if (is_known_) return demand_;
    is_known_ = true;
    scale::Moment moment = service_->begin();
    moment.requests = requests_;
    moment.missed = worst_missed();
    const scale::Decision decision = policy_->want(moment);
    want_ = decision.replicas;
    const double parts_to_gpus = 1.0 / static_cast<double>(kPartsPerGpu);
    surcharge_.end_second(answers_);
    demand_ = {.work_gpus = static_cast<double>(want_) * parts_to_gpus * (1 + surcharge_.share()),
               .forecast_gpus = decision.forecast / kWorkPerGpu,
               .quantile = decision.quantile,
               .margin_gpus = decision.margin / kWorkPerGpu,
               .surcharge = surcharge_.share()};
    demand_.gpus = std::min<std::int64_t>(gpus_for(demand_.work_gpus), scenario_.gpu_count());
    return demand_;
  }

  static std::int64_t known_history(const Scenario& scenario) {
    std::int64_t longest = 0;
    for (const ServiceSpec& service : scenario.services) longest = std::max(longest, service.arrivals.from_second);
    return std::min(scenario.history_seconds, longest);
  }

 private:
  void note(std::uint32_t index, const ServiceSecond& second) {
    seen_[index] = second.second;
    const double work = static_cast<double>(second.arrivals) * work_of_request_[index];
    if (second.second >= -history_) {
      work_[static_cast<std::size_t>(history_ + second.second)] += static_cast<std::uint32_t>(std::llround(work));
    }
    recent_[index].push_back(second.arrivals);
    if (std::ssize(recent_[index]) > kMixSeconds) recent_[index].pop_front();
    if (second.second < 0) return;
    answers_[index].settled += second.in_time + second.late + second.dropped;
    answers_[index].in_time += second.in_time;
  }

  void begin_run() {
    const std::int64_t ready = history_ > 0 ? scale::initial_replicas(problem_) : parts_at_start_;
    service_.emplace(problem_, 0, ready);
    policy_.emplace(problem_, ready);
  }

  /// Advances `over_` by one second.
  void end_second() {
    if (!service_) begin_run();
    if (!is_known_) static_cast<void>(demand());
    requests_ += problem_.load.at(over_ + 1);
    service_->end(want_);
    is_known_ = false;
  }

  /// The misses to report for the whole fleet: those that exceed its allowed share by the same factor as the worst
  /// service exceeds its own.
  [[nodiscard]] std::int64_t worst_missed() const {
    double worst = 0;
    for (const Answers& answers : answers_) {
      if (answers.settled == 0) continue;
      const auto missed = static_cast<double>(answers.settled - answers.in_time);
      worst = std::max(worst, missed / static_cast<double>(answers.settled));
    }
    return std::llround(worst * share_of_a_service_ * static_cast<double>(requests_));
  }

  /// The fewest GPUs with capacities for `work_gpus`, in the proportions of the last seconds.
  [[nodiscard]] std::int64_t gpus_for(double work_gpus) {
    std::vector<double> means;
    double work = 0;
    for (std::size_t index = 0; index < recent_.size(); ++index) {
      double sum = 0;
      for (const std::int64_t arrivals : recent_[index]) sum += static_cast<double>(arrivals);
      means.push_back(recent_[index].empty() ? 0 : sum / static_cast<double>(recent_[index].size()));
      work += means.back() * work_of_request_[index] / kWorkPerGpu;
    }
    // There is no mix until a request is seen.
    if (work <= 0) return static_cast<std::int64_t>(std::ceil(work_gpus));
    for (double& mean : means) mean *= work_gpus / work;
    return packing_.pack(means).gpus;
  }

  const Scenario& scenario_;
  CapacityPacking packing_;
  std::int64_t parts_at_start_;
  std::int64_t history_;
  /// The share that the fleet may miss, relative to that of a service: a jump in one load is missed by that service
  /// alone, and the jumps of independent loads add up by their squares.
  double share_of_a_service_;
  std::vector<std::uint32_t> work_;  ///< of each second, 0 until it is over
  scale::Problem problem_;           ///< all services as one, whose replicas are parts of a GPU
  std::optional<scale::Service> service_;
  std::optional<scale::ForecastPolicy> policy_;
  std::vector<double> work_of_request_;  ///< by service
  std::vector<Answers> answers_;         ///< by service
  Surcharge surcharge_;
  std::vector<std::int64_t> seen_;                ///< by service: the last second seen
  std::vector<std::deque<std::int64_t>> recent_;  ///< by service: arrivals of the last kMixSeconds
  std::int64_t over_ = -1;                        ///< the last second of the run that is over for all
  std::int64_t requests_ = 0;                     ///< work of the run so far
  std::int64_t want_ = 0;
  bool is_known_ = false;  ///< `demand_` is that of the second after `over_`
  GpuDemand demand_;
};

GpuDemandWatch::GpuDemandWatch(const Scenario& scenario, const Decimal& attainment, std::int64_t ready_seconds,
                               std::int64_t gpus_at_start)
    : parts_(std::make_unique<Parts>(scenario, attainment, ready_seconds, gpus_at_start)) {}
GpuDemandWatch::GpuDemandWatch(GpuDemandWatch&& other) noexcept = default;
GpuDemandWatch& GpuDemandWatch::operator=(GpuDemandWatch&& other) noexcept = default;
GpuDemandWatch::~GpuDemandWatch() = default;

bool GpuDemandWatch::has_history(const Scenario& scenario) { return Parts::known_history(scenario) > 0; }
void GpuDemandWatch::observe(const Snapshot& snapshot) { parts_->observe(snapshot); }
GpuDemand GpuDemandWatch::demand() { return parts_->demand(); }

}  // namespace berth::elastic
