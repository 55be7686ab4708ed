#include "surface/api/request_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace berth::api {
namespace {

constexpr std::array<std::string_view, 5> kMethods = {"GET", "PUT", "POST", "DELETE", "PATCH"};
constexpr std::string_view kOtherMethod = "other";

MetricHistogram empty_request_times() { return empty_histogram({0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10}); }

/// Counts the time of an answer that is given later, and passes it on.
class TimedReply final : public HttpLateReply {
 public:
  TimedReply(std::unique_ptr<HttpLateReply> reply, RequestTimer timer)
      : reply_(std::move(reply)), timer_(std::move(timer)) {}

  void send(HttpResponse response) override {
    timer_.end(response.status);
    reply_->send(std::move(response));
  }
  [[nodiscard]] std::unique_ptr<HttpBodyWriter> begin(HttpBodyHead head, std::function<void()> on_room) override {
    timer_.end(head.status);
    return reply_->begin(std::move(head), std::move(on_room));
  }
  void on_gone(std::function<void()> gone) override { reply_->on_gone(std::move(gone)); }

 private:
  std::unique_ptr<HttpLateReply> reply_;
  RequestTimer timer_;
};

}  // namespace

void RequestMeter::add(std::string_view method, std::string_view route, int status,
                       std::chrono::duration<double> took) {
  const auto* known = std::ranges::find(kMethods, method);
  const Key key{.method = known == kMethods.end() ? kOtherMethod : *known, .route = route, .status = status};
  const std::scoped_lock hold(lock_);
  if (times_.size() < combinations_max_) times_.try_emplace(key, empty_request_times());
  const auto times = times_.find(key);
  if (times != times_.end()) return observe(times->second, took.count());
  if (!rest_) rest_ = std::make_unique<MetricHistogram>(empty_request_times());
  observe(*rest_, took.count());
}

std::vector<MetricSample> RequestMeter::samples() const {
  const auto sample = [](std::string_view method, std::string_view route, std::string code,
                         const MetricHistogram& times) {
    return MetricSample{
        .labels = {{"method", std::string(method)}, {"route", std::string(route)}, {"code", std::move(code)}},
        .value = times};
  };
  const std::scoped_lock hold(lock_);
  std::vector<MetricSample> samples;
  samples.reserve(times_.size() + 1);
  for (const auto& [key, times] : times_) {
    samples.push_back(sample(key.method, key.route, fmt::format("{}", key.status), times));
  }
  if (rest_) {
    samples.push_back(sample("", "", "", *rest_));
    samples.back().labels.emplace_back("overflow", "true");
  }
  return samples;
}

void RequestTimer::end(int status) const {
  meter_->add(method_, route_, status, std::chrono::steady_clock::now() - began_);
}

HttpAnswer RequestTimer::timed(HttpAnswer answer) const {
  if (auto* later = std::get_if<HttpLater>(&answer)) {
    return HttpLater{.start = [start = std::move(later->start), timer = *this](std::unique_ptr<HttpLateReply> reply) {
      start(std::make_unique<TimedReply>(std::move(reply), timer));
    }};
  }
  const auto* response = std::get_if<HttpResponse>(&answer);
  end(response == nullptr ? 200 : response->status);  // what is sent in parts or as a stream has begun well
  return answer;
}

}  // namespace berth::api
