#include "edges/http_server/detail/open_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/core/text.h"

namespace berth::edges::detail {
namespace {

constexpr const char* kLength = "Content-Length";

std::optional<std::string_view> first_value(MHD_Connection& connection, const char* name) {
  const char* value = nullptr;
  std::size_t bytes = 0;
  const std::string_view text(name);
  if (MHD_lookup_connection_value_n(&connection, MHD_HEADER_KIND, name, text.size(), &value, &bytes) != MHD_YES) {
    return std::nullopt;
  }
  return value == nullptr ? std::string_view() : std::string_view(value, bytes);
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

void OpenHeads::add(MHD_Connection& connection) {
  const std::scoped_lock lock(mutex_);
  all_.insert_or_assign(&connection, std::this_thread::get_id());
}

void OpenHeads::remove(MHD_Connection& connection) {
  const std::scoped_lock lock(mutex_);
  all_.erase(&connection);
}

std::vector<MHD_Connection*> OpenHeads::malformed_lengths() const {
  std::vector<MHD_Connection*> found;
  const std::scoped_lock lock(mutex_);
  for (const auto& [connection, thread] : all_) {
    // The headers of others change while we look.
    if (thread == std::this_thread::get_id() && find_length_fault(*connection)) found.push_back(connection);
  }
  return found;
}

std::optional<HttpRefusal> find_length_fault(MHD_Connection& connection) {
  if (first_value(connection, "Transfer-Encoding")) return std::nullopt;  // then the library does not read the length
  const auto length = first_value(connection, kLength);
  if (!length) return std::nullopt;
  if (length->empty() || !std::ranges::all_of(*length, is_digit)) {
    return HttpRefusal{HttpFault::kMalformedHeaders, 400,
                       fmt::format("wanted a {} in digits, found {}", kLength, in_quotes(*length))};
  }
  if (parse_count(*length, INT64_MAX)) return std::nullopt;
  return HttpRefusal{HttpFault::kBodyTooLarge, 413, fmt::format("wanted a smaller body, found {} bytes", *length)};
}

bool is_about_length(const char* message) { return std::string_view(message).find(kLength) != std::string_view::npos; }

}  // namespace berth::edges::detail
