// Answers per second on loopback, over connections that stay open: deferred, in groups, by another thread; and the
// rival: given at once by the handler. Client and server share the processors.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "edges/http_server/http_server.h"
#include "edges/http_server/test_handler.h"
#include "edges/http_server/test_raw_client.h"

namespace berth::edges {
namespace {

constexpr std::size_t kBodyBytes = 200;

/// Each client sends one request, then each reads its answer.
void answer(benchmark::State& state, const std::string& path) {
  TestHandler handler;
  const auto server = start_http_server({.thread_count = 4}, handler);
  std::vector<RawClient> clients =
      several(static_cast<std::size_t>(state.range(0)), [&] { return RawClient((*server)->port()); });
  const AnsweringThread answering(handler.later);
  const std::string request = fmt::format("PUT {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", path,
                                          kBodyBytes, std::string(kBodyBytes, 'b'));
  for (auto _ : state) {
    for (const RawClient& client : clients) client.send(request);
    for (RawClient& client : clients) {
      if (client.read_answer().status != 200) state.SkipWithError("refused");
    }
  }
  state.counters["answers/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(clients.size()), benchmark::Counter::kIsRate);
}

void later(benchmark::State& state) { answer(state, "/later"); }
void at_once(benchmark::State& state) { answer(state, "/ok"); }

BENCHMARK(later)->Arg(1)->Arg(16)->Arg(256)->UseRealTime();
BENCHMARK(at_once)->Arg(1)->Arg(16)->Arg(256)->UseRealTime();

}  // namespace
}  // namespace berth::edges
