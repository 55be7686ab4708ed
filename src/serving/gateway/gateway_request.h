/// How a gateway is started: the checked options of `berth gateway`.
#pragma once

#include <cstdint>
#include <string>

namespace berth::serving {

struct GatewayRequest {
  std::string host;        ///< loopback
  std::uint16_t port = 0;  ///< 0: any free one
  std::string up_url;      ///< of `berth up`, without a slash at its end
  std::string key_file;
  std::string state;  ///< a folder
};

}  // namespace berth::serving
