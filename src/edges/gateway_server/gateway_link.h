/// What a gateway and `berth up` exchange, on two threads: tables come as a stream, reports go each second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/ports/http_client.h"
#include "edges/gateway_server/gateway_server.h"
#include "edges/gateway_server/table_file.h"

namespace berth::edges {

/// Pointers are borrowed.
struct GatewayLinkOptions {
  std::string url;                                              ///< of `berth up`, without a slash at its end
  std::string key_file;                                         ///< read for each connection
  const Files* files = nullptr;                                 ///< required
  const TableFile* table = nullptr;                             ///< required
  const HttpClient* tables = nullptr;                           ///< required; for one thread
  const HttpClient* posts = nullptr;                            ///< likewise
  std::function<void(const std::string& message)> report = {};  ///< any thread
};

/// Without `berth up` the gateway goes on with its last table; this reconnects within 2 seconds when it is back.
class GatewayLink {
 public:
  GatewayLink(GatewayLinkOptions options, GatewayServer& server);
  GatewayLink(const GatewayLink&) = delete;
  GatewayLink& operator=(const GatewayLink&) = delete;
  ~GatewayLink();

  /// Ends the threads. Records that are left are sent once more, if `berth up` answers within `at_most`. A second call
  /// does nothing.
  void stop(Micros at_most);

 private:
  void read_tables();
  void send_reports();
  [[nodiscard]] Result<void> read_stream();
  [[nodiscard]] bool take_line(std::string_view line, Result<void>& failure);
  /// False: it will be tried again.
  [[nodiscard]] Result<void> send_report(Micros timeout);
  [[nodiscard]] Result<HttpCall> call_of(const std::string& method, const std::string& path) const;
  /// True if it was stopped meanwhile.
  [[nodiscard]] bool pause(Micros time);
  [[nodiscard]] bool is_stopped() const;
  /// Reports a message unless the last one of this thread was the same.
  void say(std::string& last, const Result<void>& outcome) const;

  const GatewayLinkOptions options_;
  GatewayServer& server_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
  bool has_news_ = false;  ///< a table to acknowledge
  std::thread reading_;
  std::thread sending_;
};

}  // namespace berth::edges
