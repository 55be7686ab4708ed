/// How a gateway is started: the checked options of `berth gateway`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace berth::serving {

struct GatewayRequest {
  std::string host;        ///< loopback
  std::uint16_t port = 0;  ///< 0: any free one
  std::string up_url;      ///< of `berth up`, without a slash at its end
  std::string key_file;
  std::string state;  ///< a folder
  /// Where figures for monitoring systems are served; absent: nowhere.
  struct Metrics {
    std::string host;  ///< loopback
    std::uint16_t port = 0;
  };
  std::optional<Metrics> metrics = std::nullopt;
  std::int64_t silence_seconds = 600;       ///< an answer that has begun may be silent for so long
  std::int64_t whole_answer_seconds = 600;  ///< one that says its length may take so long
};

}  // namespace berth::serving
