#include "base/listeners/listener_users.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace berth::edges {
namespace {

constexpr std::string_view kListens = "0A";

/// The next word of a line, taken off its front.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// Whether a listener at this address gets what is sent to the loopback interface. Addresses are 32-bit words in the
/// order of the machine.
bool takes_loopback(std::string_view address) {
  constexpr std::array<std::string_view, 6> kThose = {"00000000",
                                                      "0100007F",
                                                      "00000000000000000000000000000000",
                                                      "00000000000000000000000001000000",
                                                      "0000000000000000FFFF00000100007F",
                                                      "0000000000000000FFFF000000000000"};
  for (const std::string_view each : kThose) {
    if (each == address) return true;
  }
  return false;
}

/// The user of a line "sl local_address rem_address st tx:rx tr:tm retrnsmt uid ..".
std::optional<std::int64_t> user_of_listener(std::string_view line, std::string_view port) {
  (void)take_word(line);
  const std::string_view local = take_word(line);
  (void)take_word(line);
  if (take_word(line) != kListens) return std::nullopt;
  const std::size_t colon = local.find(':');
  if (colon == std::string_view::npos || local.substr(colon + 1) != port) return std::nullopt;
  if (!takes_loopback(local.substr(0, colon))) return std::nullopt;
  for (int skipped = 0; skipped < 3; ++skipped) (void)take_word(line);
  const std::string_view word = take_word(line);
  std::int64_t user = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), user);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  return user;
}

}  // namespace

std::vector<std::int64_t> listener_users_in(std::string_view table, int port) {
  std::vector<std::int64_t> users;
  const std::string wanted = fmt::format("{:04X}", port);
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    if (const auto user = user_of_listener(line, wanted)) users.push_back(*user);
  }
  return users;
}

Result<std::vector<std::int64_t>> listener_users(int port) {
  std::vector<std::int64_t> users;
  for (const char* const path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    // Without IPv6 there is no second table.
    if (!file && std::string_view(path).ends_with('6')) continue;
    const std::string table((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (table.empty()) return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be read", path));
    for (const std::int64_t user : listener_users_in(table, port)) users.push_back(user);
  }
  return users;
}

}  // namespace berth::edges
