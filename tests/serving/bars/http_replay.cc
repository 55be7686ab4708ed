// Sends recorded requests at their times to a running `berth serve`, and prints what became of them as JSON. The first
// tenth is sent and not counted.
//
//   berth_http_replay PORT REQUESTS.csv
//
// The models take FP32 tensors "x" of four columns. Times count from when a request should have been sent.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "open_loop_client.h"
#include "serving/simulation/requests_file.h"

namespace berth::serving_bars {
namespace {

constexpr Micros kPatience = Micros::seconds(30);
constexpr std::size_t kRowBytes = 16;

std::string request_to(std::string_view model) {
  const std::string head = fmt::format(
      R"({{"inputs":[{{"name":"x","datatype":"FP32","shape":[1,4],"parameters":{{"binary_data_size":{}}}}}]}})",
      kRowBytes);
  return fmt::format(
      "POST /v2/models/{}/infer HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n"
      "Inference-Header-Content-Length: {}\r\nContent-Length: {}\r\n\r\n{}{}",
      model, head.size(), head.size() + kRowBytes, head, std::string(kRowBytes, '\0'));
}

std::vector<TimedRequest> timed(const serving::RecordedRequests& recorded) {
  std::vector<TimedRequest> requests;
  const Instant first = recorded.requests.front().arrival;
  for (const serving::Request& request : recorded.requests) {
    requests.push_back({.at = request.arrival - first,
                        .target = request.target,
                        .bytes = request_to(recorded.models[static_cast<std::size_t>(request.model)])});
  }
  return requests;
}

/// Nearest rank. Requires: not empty.
Micros percentile(std::vector<Micros> values, std::size_t percent) {
  const auto rank = static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1);
  std::ranges::nth_element(values, values.begin() + rank);
  return values[static_cast<std::size_t>(rank)];
}

std::string json_of(const std::vector<TimedRequest>& requests, const OpenLoopOutcome& outcome) {
  const std::size_t skipped = requests.size() / 10;
  std::int64_t in_time = 0;
  std::map<int, std::vector<Micros>> latencies;
  for (std::size_t i = skipped; i < requests.size(); ++i) {
    const TimedAnswer& answer = outcome.answers[i];
    latencies[answer.status].push_back(answer.latency);
    if (answer.status == 200 && answer.latency <= requests[i].target) ++in_time;
  }
  std::string statuses;
  for (const auto& [status, of_status] : latencies) {
    statuses += fmt::format(R"({}"{}":{{"count":{},"p50_us":{},"p99_us":{}}})", statuses.empty() ? "" : ",", status,
                            of_status.size(), percentile(of_status, 50).count(), percentile(of_status, 99).count());
  }
  return fmt::format(R"({{"requests":{},"in_time":{},"seconds":{},"lateness_max_us":{},"statuses":{{{}}}}})",
                     requests.size() - skipped, in_time, (requests.back().at - requests[skipped].at).to_seconds(),
                     outcome.lateness_max.count(), statuses);
}

int replay(std::string_view port_text, const std::string& file) {
  std::uint16_t port = 0;
  std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto recorded = serving::read_requests(text, file);
  if (!recorded) {
    fmt::print(stderr, "{}\n", recorded.error().message);
    return 2;
  }
  const auto requests = timed(*recorded);
  fmt::print("{}\n", json_of(requests, send_open_loop(port, requests, kPatience)));
  return 0;
}

}  // namespace
}  // namespace berth::serving_bars

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "wanted PORT REQUESTS.csv\n");
    return 2;
  }
  return berth::serving_bars::replay(argv[1], argv[2]);
}
