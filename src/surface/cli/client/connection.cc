#include "surface/cli/client/connection.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/decimal.h"
#include "base/core/text.h"
#include "edges/state_folder/state_folder.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kTimeoutSecondsMax = 3600;

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

ClientResult<Micros> parse_timeout(const std::string& text) {
  const auto seconds = Decimal::parse(text);
  if (!seconds || seconds->sign() <= 0 || *seconds > Decimal(kTimeoutSecondsMax)) {
    return client_fail(ClientStatus::kBadInput,
                       fmt::format("--timeout: wanted a number of seconds above 0, at most {}, found {}",
                                   kTimeoutSecondsMax, in_quotes(text)));
  }
  const std::int64_t micros = (*seconds * Decimal(1'000'000)).round_half_up();
  return Micros(micros > 0 ? micros : 1);
}

ClientResult<std::string> checked_url(std::string url, std::string_view where, ClientStatus otherwise) {
  const bool is_url = url.starts_with("http://") || url.starts_with("https://");
  if (!is_url || url.find_first_of(" \t") != std::string::npos) {
    return client_fail(
        otherwise, fmt::format("{}: wanted an address such as http://127.0.0.1:8642, found {}", where, in_quotes(url)));
  }
  while (url.ends_with('/')) url.pop_back();
  return url;
}

ClientResult<std::string> find_url(const ServerWords& words, const std::string& folder, const Files& files) {
  if (words.server) return checked_url(*words.server, "--server", ClientStatus::kBadInput);
  const std::string path = folder + "/address";
  const auto text = files.read(path);
  if (text) return checked_url(first_line(*text), path, ClientStatus::kNoServer);
  return client_fail(ClientStatus::kNoServer,
                     fmt::format("no server is known: {}\nStart one with `berth up`, or name another with --server URL "
                                 "or --data DIR.",
                                 text.error().message));
}

}  // namespace

ClientResult<Connection> find_connection(const ServerWords& words, const Files& files) {
  Connection connection;
  const auto timeout = parse_timeout(words.timeout);
  if (!timeout) return client_fail(timeout.error());
  connection.timeout = *timeout;
  if (words.data == "") return client_fail(ClientStatus::kBadInput, "--data: wanted a folder, found \"\"");
  const auto folder = words.data ? Result<std::string>(*words.data) : edges::default_state_folder();
  if (!folder) return bad_input(folder.error());
  auto url = find_url(words, *folder, files);
  if (!url) return client_fail(url.error());
  connection.url = std::move(*url);
  connection.key_path = *folder + "/admin.key";
  // Without a key, the server answers with what it wants.
  if (const auto key = files.read(connection.key_path)) connection.key = first_line(*key);
  return connection;
}

}  // namespace berth::cli
