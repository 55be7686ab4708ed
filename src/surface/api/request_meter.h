/// How long requests took, by method, pattern of the route and status. Any thread may call it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "domain/ports/http_server.h"
#include "domain/values/metric.h"

namespace berth::api {

class RequestMeter {
 public:
  /// At most so many combinations are counted on their own, those that come first; the rest is one sum.
  explicit RequestMeter(std::size_t combinations_max) : combinations_max_(combinations_max) {}

  /// The lines that a combination takes in the text format.
  static constexpr std::size_t kSeries = 12;

  /// `route`: its pattern; empty: none matched. Methods that no route has are counted as "other".
  void add(std::string_view method, std::string_view route, int status, std::chrono::duration<double> took);
  /// Samples with the labels method, route, code; that of the rest has empty ones and overflow="true".
  [[nodiscard]] std::vector<MetricSample> samples() const;

 private:
  struct Key {
    std::string_view method;
    std::string_view route;
    int status = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::size_t combinations_max_;
  mutable std::mutex lock_;
  std::map<Key, MetricHistogram> times_;  ///< under lock_, like `rest_`
  std::unique_ptr<MetricHistogram> rest_;
};

/// The time of one request.
class RequestTimer {
 public:
  /// The meter is borrowed; `route` is the table's.
  RequestTimer(RequestMeter& meter, std::string method, std::string_view route)
      : meter_(&meter), method_(std::move(method)), route_(route) {}

  /// The answer with its time counted: now, or when it is given.
  [[nodiscard]] HttpAnswer timed(HttpAnswer answer) const;
  /// Counts it now.
  void end(int status) const;

 private:
  RequestMeter* meter_;
  std::string method_;
  std::string_view route_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace berth::api
