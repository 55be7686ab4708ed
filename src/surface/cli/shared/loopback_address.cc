#include "surface/cli/shared/loopback_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::array<std::string_view, 3> kLoopbackHosts = {"127.0.0.1", "::1", "localhost"};

}  // namespace

Result<LoopbackWords> parse_loopback(std::string_view option, std::string_view example, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return invalid(fmt::format("{}: wanted HOST:PORT such as {}, found {}", option, example, in_quotes(text)));
  };
  if (colon == std::string::npos) return wrong();
  LoopbackWords address{.host = text.substr(0, colon)};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const auto port = parse_count(text.substr(colon + 1), UINT16_MAX);
  if (!port || address.host.empty()) return wrong();
  address.port = static_cast<std::uint16_t>(*port);
  if (std::ranges::find(kLoopbackHosts, address.host) == kLoopbackHosts.end()) {
    return invalid(fmt::format(
        "{}: wanted a loopback address (127.0.0.1, ::1 or localhost), as the server has no TLS yet, found {}", option,
        in_quotes(address.host)));
  }
  return address;
}

}  // namespace berth::cli
