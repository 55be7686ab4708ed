/// The load of `berth serve --demo`: clients that do not wait for each other, over HTTP.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/core/instant.h"
#include "base/core/rng.h"
#include "domain/ports/http_stream_client.h"
#include "serving/simulation/requests_file.h"

namespace berth::serve {

/// What became of requests.
struct TrafficCounts {
  std::int64_t sent = 0;
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t refused = 0;            ///< 429 and 504
  std::int64_t failed = 0;             ///< any other status, or no answer
  std::vector<Micros> latencies = {};  ///< of answers

  void add(const TrafficCounts& other);
};

/// Arrivals are a Poisson process; which models are popular changes every few seconds.
class DemoTraffic {
 public:
  /// The client is borrowed; its calls may end after this object.
  DemoTraffic(HttpStreamClient& client, std::uint16_t port, std::uint64_t seed);
  DemoTraffic(const DemoTraffic&) = delete;
  DemoTraffic& operator=(const DemoTraffic&) = delete;
  ~DemoTraffic() { stop(); }

  void start();
  /// Sends no more.
  void stop();
  /// Whether all that was sent has ended.
  [[nodiscard]] bool is_idle() const;
  /// Since the last call.
  [[nodiscard]] TrafficCounts take_counts();
  /// What was sent. Requires: stopped.
  [[nodiscard]] const serving::RecordedRequests& recorded() const { return recorded_; }

 private:
  struct Counted;
  class Reader;

  void run();
  void send(std::size_t model, Instant arrival);
  [[nodiscard]] std::size_t draw_model(Instant at);

  HttpStreamClient& client_;
  const std::uint16_t port_;
  const std::string body_;
  std::string head_bytes_;
  Rng rng_;
  std::shared_ptr<Counted> counted_;
  serving::RecordedRequests recorded_;
  std::mutex lock_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace berth::serve
