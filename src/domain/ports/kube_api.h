/// The interface to the API server of a Kubernetes cluster: single requests, and watches that are read line by line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth {

/// A request to the API server. Who asks, where the server is and how fast requests may follow each other is known to
/// the implementation.
struct KubeCall {
  std::string method = "GET";
  std::string target = {};        ///< path and query, encoded: "/api/v1/pods?limit=500"
  std::string content_type = {};  ///< of the body; empty: none
  std::string body = {};
  Micros timeout = Micros::seconds(30);  ///< for each attempt; of a watch, until its headers are there
};

/// Any status is an answer.
struct KubeAnswer {
  int status = 0;
  std::string body = {};
};

/// How a watch is read.
struct KubeReading {
  /// Called with each line; false ends the reading.
  std::function<bool(std::string_view line)> take;
  /// True ends the reading; called several times per second. May be empty.
  std::function<bool()> is_stopped = nullptr;
  Micros silence_max = Micros::seconds(60);  ///< a watch without a byte for this long is given up: kTimedOut
};

/// Requests that change nothing are repeated for a while where the server does not answer, is too busy (429, obeying
/// Retry-After) or fails (5xx). Requests that write are repeated only where nothing of them can have been carried out:
/// no connection, or 429. Any other failure of a write (kTimedOut, kUnavailable) may have come after it was carried
/// out: `kube::write_carefully` finds out.
class KubeApi {
 public:
  virtual ~KubeApi() = default;

  /// Errors: kNoServer (nothing was sent), kTimedOut, kUnavailable, kInterrupted, kInvalidInput.
  [[nodiscard]] virtual Result<KubeAnswer> ask(const KubeCall& call) = 0;
  /// An answer of status 200 is read line by line, to its end or until a function of `reading` ends it; its body is
  /// then empty. Never repeated.
  [[nodiscard]] virtual Result<KubeAnswer> watch(const KubeCall& call, const KubeReading& reading) = 0;
};

}  // namespace berth
