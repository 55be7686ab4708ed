/// Requests whose lengths libmicrohttpd would refuse itself.
#pragma once

#include <microhttpd.h>

#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "domain/ports/http_server.h"

namespace berth::edges::detail {

/// Connections whose request line has arrived, and not yet all headers. libmicrohttpd (0.9.75) sends its refusal of a
/// malformed Content-Length twice. It says so before in a message, which does not name the connection: it is one of
/// these, of the same thread. Any thread.
class OpenHeads {
 public:
  void add(MHD_Connection& connection);
  void remove(MHD_Connection& connection);

  /// Those of this thread whose Content-Length is malformed.
  [[nodiscard]] std::vector<MHD_Connection*> malformed_lengths() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<MHD_Connection*, std::thread::id> all_;
};

/// Why libmicrohttpd refuses the Content-Length of a request, if it does.
[[nodiscard]] std::optional<HttpRefusal> find_length_fault(MHD_Connection& connection);

/// Whether a message of libmicrohttpd is about a Content-Length.
[[nodiscard]] bool is_about_length(const char* message);

}  // namespace berth::edges::detail
