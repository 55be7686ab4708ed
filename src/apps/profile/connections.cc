#include "apps/profile/connections.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "models/profiling/sampled_times.h"

namespace berth::profiler {
namespace {

using std::chrono::steady_clock;
using SendOne = std::function<Result<void>(std::size_t connection)>;

double micros_of(steady_clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// What the threads of a turn share.
struct Together {
  explicit Together(int count) : unready(count), unfinished(count) {}

  std::atomic<int> unready;     ///< that have not sent their first request
  std::atomic<int> unfinished;  ///< that still measure
  std::atomic<bool> is_broken = false;
};

struct Connection {
  models::ProcessTimes times = {};
  std::optional<Error> error = std::nullopt;
};

class Sender {
 public:
  Sender(const SendOne& send_one, std::size_t index, Together& together, double length_us)
      : send_one_(send_one),
        index_(index),
        together_(together),
        length_(static_cast<std::int64_t>(length_us * kNanosPerMicro)) {}

  Connection run() {
    Connection connection;
    const bool is_warm = send(connection);
    --together_.unready;
    while (is_warm && together_.unready > 0 && send(connection)) {
    }
    if (is_warm && !connection.error) connection.times = measure(connection);
    --together_.unfinished;
    while (!connection.error && together_.unfinished > 0 && send(connection)) {
    }
    return connection;
  }

 private:
  static constexpr double kNanosPerMicro = 1000;

  bool send(Connection& connection) {
    if (together_.is_broken) return false;
    auto sent = send_one_(index_);
    if (sent) return true;
    connection.error = std::move(sent.error());
    together_.is_broken = true;
    return false;
  }

  models::ProcessTimes measure(Connection& connection) {
    models::SampledTimes times;
    const auto first = steady_clock::now();
    auto before = first;
    do {
      if (!send(connection)) break;
      const auto after = steady_clock::now();
      times.add(micros_of(after - before));
      before = after;
    } while (before - first < length_);
    return times.times(micros_of(before - first));
  }

  const SendOne& send_one_;
  std::size_t index_;
  Together& together_;
  std::chrono::nanoseconds length_;
};

}  // namespace

Result<models::TurnTimes> run_connections(const models::TurnOrder& order, const SendOne& send_one) {
  Together together(order.processes);
  std::vector<Connection> connections(static_cast<std::size_t>(order.processes));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    threads.emplace_back([&connections, &together, &order, &send_one, i] {
      connections[i] = Sender(send_one, i, together, order.length_us).run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  models::TurnTimes turn;
  for (Connection& connection : connections) {
    if (connection.error) return pass_on(*connection.error);
    turn.processes.push_back(std::move(connection.times));
  }
  return turn;
}

}  // namespace berth::profiler
