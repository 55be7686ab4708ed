#include "apps/serve/demo_traffic.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "apps/serve/demo_folder.h"

namespace berth::serve {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the most popular model, of the next, ...: what is rare must be loaded, and makes room for what is not.
constexpr std::array<double, kDemoModels.size()> kRequestsPerSecond = {150, 75, 1.5, 0.7, 0.4, 0.2};
constexpr std::int64_t kSecondsOfPopularity = 15;

/// More are not sent: the server has gone, or hangs.
constexpr std::int64_t kUnderWayMax = 300;

double all_per_second() { return std::accumulate(kRequestsPerSecond.begin(), kRequestsPerSecond.end(), 0.0); }

std::string request_head() {
  return fmt::format(
      R"({{"inputs":[{{"name":"x","datatype":"FP32","shape":[1,{}],"parameters":{{"binary_data_size":{}}}}}]}})",
      kDemoInputWidth, kDemoInputWidth * 4);
}

}  // namespace

void TrafficCounts::add(const TrafficCounts& other) {
  sent += other.sent;
  in_time += other.in_time;
  late += other.late;
  refused += other.refused;
  failed += other.failed;
  latencies.insert(latencies.end(), other.latencies.begin(), other.latencies.end());
}

/// Shared with the readers of answers.
struct DemoTraffic::Counted {
  mutable std::mutex lock;
  TrafficCounts counts;
  std::int64_t under_way = 0;
};

class DemoTraffic::Reader final : public HttpReplyReader {
 public:
  Reader(std::shared_ptr<Counted> counted, Clock::time_point begin) : counted_(std::move(counted)), begin_(begin) {}

  void on_head(HttpReplyHead head) override { status_ = head.status; }
  [[nodiscard]] HttpReading on_bytes(std::string_view /*bytes*/) override { return HttpReading::kGoesOn; }
  void on_end(Result<void> outcome) override {
    const Micros latency(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count());
    const std::scoped_lock hold(counted_->lock);
    --counted_->under_way;
    TrafficCounts& counts = counted_->counts;
    if (outcome && status_ == 200) {
      ++(latency <= kDemoTarget ? counts.in_time : counts.late);
      counts.latencies.push_back(latency);
    } else {
      ++(outcome && (status_ == 429 || status_ == 504) ? counts.refused : counts.failed);
    }
  }

 private:
  std::shared_ptr<Counted> counted_;
  Clock::time_point begin_;
  int status_ = 0;
};

DemoTraffic::DemoTraffic(HttpStreamClient& client, std::uint16_t port, std::uint64_t seed)
    : client_(client),
      port_(port),
      body_(request_head() + std::string(static_cast<std::size_t>(kDemoInputWidth) * 4, '\0')),
      head_bytes_(fmt::to_string(request_head().size())),
      rng_(seed),
      counted_(std::make_shared<Counted>()) {
  for (const DemoModel& model : kDemoModels) recorded_.models.emplace_back(model.name);
  recorded_.tenants = {"default"};
}

void DemoTraffic::start() {
  thread_ = std::thread([this] { run(); });
}

void DemoTraffic::stop() {
  {
    const std::scoped_lock hold(lock_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool DemoTraffic::is_idle() const {
  const std::scoped_lock hold(counted_->lock);
  return counted_->under_way == 0;
}

TrafficCounts DemoTraffic::take_counts() {
  const std::scoped_lock hold(counted_->lock);
  return std::exchange(counted_->counts, {});
}

void DemoTraffic::run() {
  const Clock::time_point begin = Clock::now();
  Instant arrival;
  std::unique_lock lock(lock_);
  while (true) {
    const double gap_seconds = -std::log(1 - rng_.unit()) / all_per_second();
    arrival = arrival + Micros(static_cast<std::int64_t>(gap_seconds * 1e6));
    const auto at = begin + std::chrono::microseconds(arrival.micros());
    if (stopping_.wait_until(lock, at, [&] { return is_stopping_; })) return;
    send(draw_model(arrival), arrival);
  }
}

std::size_t DemoTraffic::draw_model(Instant at) {
  double left = rng_.unit() * all_per_second();
  std::size_t rank = 0;
  while (rank + 1 < kDemoModels.size() && left >= kRequestsPerSecond[rank]) left -= kRequestsPerSecond[rank++];
  const auto shift = static_cast<std::size_t>(at.micros() / (kSecondsOfPopularity * kMicrosPerSecond));
  return (rank + shift) % kDemoModels.size();
}

void DemoTraffic::send(std::size_t model, Instant arrival) {
  recorded_.requests.push_back({.number = std::ssize(recorded_.requests),
                                .model = serving::ModelIndex(static_cast<std::uint32_t>(model)),
                                .arrival = arrival,
                                .target = kDemoTarget});
  {
    const std::scoped_lock hold(counted_->lock);
    ++counted_->counts.sent;
    if (counted_->under_way >= kUnderWayMax) {
      ++counted_->counts.failed;
      return;
    }
    ++counted_->under_way;
  }
  client_.start({.method = "POST",
                 .url = fmt::format("http://127.0.0.1:{}/v2/models/{}/infer", port_, kDemoModels[model].name),
                 .headers = {{.name = "Content-Type", .value = "application/octet-stream"},
                             {.name = "Inference-Header-Content-Length", .value = head_bytes_}},
                 .body = body_},
                std::make_unique<Reader>(counted_, Clock::now()));
}

}  // namespace berth::serve
