#include "edges/http_server/detail/exchange.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/text.h"
#include "edges/http_server/detail/head_bytes.h"
#include "edges/http_server/detail/header_rules.h"
#include "edges/http_server/detail/listener.h"
#include "edges/http_server/target.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kHeaderCountMax = 100;
constexpr std::size_t kDiscardFactor = 16;  // of the body limit: read and discarded

MHD_Result add_header(void* headers, MHD_ValueKind /*kind*/, const char* name, std::size_t name_bytes,
                      const char* value, std::size_t value_bytes) noexcept {
  try {
    auto& all = *static_cast<std::vector<HttpField>*>(headers);
    // One more than the limit is enough to detect the excess.
    if (all.size() > kHeaderCountMax) return MHD_NO;
    all.push_back({{name, name_bytes}, value == nullptr ? std::string() : std::string(value, value_bytes)});
    return MHD_YES;
  } catch (...) {
    return MHD_NO;
  }
}

MHD_Result take_header(void* bytes, MHD_ValueKind /*kind*/, const char* name, std::size_t name_bytes, const char* value,
                       std::size_t value_bytes) noexcept {
  static_cast<HeadBytes*>(bytes)->take_header({name, name_bytes}, {value, value_bytes});
  return MHD_YES;
}

std::size_t header_bytes(MHD_Connection& connection) {
  const auto* size = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return size == nullptr ? 0 : size->header_size;
}

std::string peer_of(MHD_Connection& connection) {
  const auto* address = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return address == nullptr ? std::string() : address_text(address->client_addr);
}

}  // namespace

Progress Exchange::begin(MHD_Connection& connection, const RequestLine& line, bool is_surplus) {
  const std::string_view version = line.version;
  has_begun_ = true;
  is_head_ = std::string_view(line.method) == "HEAD";
  takes_chunks_ = !is_head_ && version == "HTTP/1.1";
  request_.method = is_head_ ? "GET" : line.method;
  request_.is_head = is_head_;
  request_.peer = peer_of(connection);
  if (is_surplus) {
    refuse(HttpFault::kTooManyConnections, 503,
           fmt::format("wanted at most {} connections at a time", options_.connection_count_max));
    return Progress::kRefuse;
  }
  if (has_head_bytes() && has_other_bytes(connection, line)) {
    refuse(HttpFault::kMalformedHeaders, 400,
           "wanted a request line and headers without NUL or folded lines, found one");
    return Progress::kRefuse;
  }
  check_target();
  check_headers(connection, version);
  const HttpVersion kind = version == "HTTP/1.0" ? HttpVersion::kOld : HttpVersion::kOneDotOne;
  if (auto fault = find_framing_fault(request_.headers, kind)) {
    refusal_.reset();
    refuse(HttpFault::kMalformedHeaders, 400, *std::move(fault));
    return Progress::kRefuse;
  }
  return check_length();
}

Progress Exchange::take_body(std::string_view part) {
  body_bytes_ += part.size();
  note_size(body_bytes_);
  if (refusal_ && body_bytes_ > discard_bytes_max()) return Progress::kClose;
  if (!refusal_) request_.body += part;
  return Progress::kRead;
}

void Exchange::refuse(HttpFault fault, int status, std::string message) {
  if (!refusal_) refusal_ = HttpRefusal{fault, status, std::move(message)};
}

void Exchange::refuse_body() {
  refuse(HttpFault::kBodyTooLarge, 413, fmt::format("wanted a body of at most {} bytes", body_bytes_max_));
  request_.body = {};
}

void Exchange::note_size(std::uint64_t bytes) {
  if (bytes > body_bytes_max_) return refuse_body();
  if (is_large_ || refusal_ || bytes <= options_.body_bytes_max) return;
  share_ = handler_.share_of(request_);
  is_large_ = large_bodies_.enter(share_);
  if (is_large_) return;
  refuse(HttpFault::kTooManyLargeBodies, 503,
         fmt::format("wanted at most {} bodies above {} bytes at a time{}: try again", options_.large_body_count_max,
                     options_.body_bytes_max,
                     share_.empty() ? "" : fmt::format(", and no more of {} than are free", in_quotes(share_))));
  request_.body = {};
}

std::size_t Exchange::discard_bytes_max() const {
  return std::max(kDiscardFactor * options_.body_bytes_max, 2 * body_bytes_max_);
}

void Exchange::check_target() {
  if (target_.size() > options_.target_bytes_max) {
    return refuse(
        HttpFault::kTargetTooLong, 414,
        fmt::format("wanted a target of at most {} bytes, found {}", options_.target_bytes_max, target_.size()));
  }
  if (!is_token(request_.method)) {
    return refuse(HttpFault::kMalformedTarget, 400,
                  fmt::format("wanted a method, found {}", in_quotes(request_.method)));
  }
  auto target = parse_target(target_);
  if (!target) return refuse(HttpFault::kMalformedTarget, 400, target.error().message);
  request_.path = std::move(target->path);
  request_.query = std::move(target->query);
  request_.target = target_;
}

bool Exchange::has_other_bytes(MHD_Connection& connection, const RequestLine& line) const {
  HeadBytes bytes({line.method, header_bytes(connection)});
  bytes.take_target({line.target, target_.size()});
  bytes.take_version(line.version);
  MHD_get_connection_values_n(&connection, MHD_HEADER_KIND, &take_header, &bytes);
  return !bytes.is_whole();
}

void Exchange::check_headers(MHD_Connection& connection, std::string_view version) {
  MHD_get_connection_values_n(&connection, MHD_HEADER_KIND, &add_header, &request_.headers);
  const std::size_t bytes = header_bytes(connection);
  if (bytes > options_.header_bytes_max) {
    refuse(HttpFault::kHeadersTooLarge, 431,
           fmt::format("wanted headers of at most {} bytes, found {}", options_.header_bytes_max, bytes));
  }
  if (request_.headers.size() > kHeaderCountMax) {
    refuse(HttpFault::kHeadersTooLarge, 431, fmt::format("wanted at most {} headers", kHeaderCountMax));
  }
  const HttpVersion kind = version == "HTTP/1.0" ? HttpVersion::kOld : HttpVersion::kOneDotOne;
  if (auto fault = find_header_fault(request_.headers, kind)) {
    refuse(HttpFault::kMalformedHeaders, 400, *std::move(fault));
  }
}

Progress Exchange::check_length() {
  if (!refusal_) body_bytes_max_ = handler_.body_bytes_max(request_).value_or(body_bytes_max_);
  const auto length = find_header(request_.headers, "Content-Length");
  if (!length) return Progress::kRead;
  // libmicrohttpd has refused a length that is not a number; one that does not fit is too large in any case.
  const auto bytes = parse_count(*length, INT64_MAX);
  const bool was_refused = refusal_.has_value();
  note_size(bytes ? static_cast<std::uint64_t>(*bytes) : UINT64_MAX);
  if (!refusal_) request_.body.reserve(static_cast<std::size_t>(*bytes));
  if (!refusal_ || (was_refused && bytes && std::cmp_less_equal(*bytes, body_bytes_max_))) return Progress::kRead;
  if (refusal_->fault == HttpFault::kTooManyLargeBodies) return Progress::kRead;  // so that it can try again
  // A client that waits for "100 Continue" has sent no body yet.
  if (find_header(request_.headers, "Expect")) return Progress::kRefuse;
  was_refused_early_ = true;
  return Progress::kRefuseEarly;
}

}  // namespace berth::edges::detail
