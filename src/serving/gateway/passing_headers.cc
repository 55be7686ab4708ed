#include "serving/gateway/passing_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "serving/replica_proof/replica_proof.h"

namespace berth::serving {
namespace {

constexpr std::array<std::string_view, 9> kHopByHop = {
    "Connection",        "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer",
    "Transfer-Encoding", "Upgrade"};
constexpr std::array<std::string_view, 3> kOfTheCall = {"Host", "Content-Length", "Expect"};
constexpr std::array<std::string_view, 3> kOfTheAnswer = {"Content-Length", "Content-Type", "Date"};
constexpr std::string_view kOwnPrefix = "berth-";

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view each) { return is_same_header(each, name); });
}

bool is_named_by_connection(std::string_view name, std::string_view connection) {
  while (!connection.empty()) {
    std::string_view item = connection.substr(0, connection.find(','));
    connection.remove_prefix(std::min(item.size() + 1, connection.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (is_same_header(item, name)) return true;
  }
  return false;
}

bool is_sendable(const HttpField& field) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const bool is_name = !field.name.empty() && std::ranges::all_of(field.name, [&](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           kMarks.find(byte) != std::string_view::npos;
  });
  return is_name && std::ranges::all_of(
                        field.value, [](unsigned char byte) { return byte == '\t' || (byte >= ' ' && byte != 0x7f); });
}

bool is_own(std::string_view name) {
  return name.size() > kOwnPrefix.size() && is_same_header(name.substr(0, kOwnPrefix.size()), kOwnPrefix);
}

/// What neither belongs to the connection nor to `others`.
std::vector<HttpField> passing(std::span<const HttpField> headers, std::span<const std::string_view> others) {
  std::vector<HttpField> passed;
  passed.reserve(headers.size() + 3);
  for (const HttpField& field : headers) {
    if (is_among(field.name, kHopByHop) || is_among(field.name, others)) continue;
    const bool is_of_connection = std::ranges::any_of(headers, [&](const HttpField& each) {
      return is_same_header(each.name, "Connection") && is_named_by_connection(field.name, each.value);
    });
    if (!is_of_connection && is_sendable(field)) passed.push_back(field);
  }
  return passed;
}

}  // namespace

std::vector<HttpField> headers_to_replica(std::span<const HttpField> headers, const Endpoint& replica) {
  std::vector<HttpField> passed = passing(headers, kOfTheCall);
  std::erase_if(passed, [](const HttpField& field) { return is_own(field.name); });
  if (!replica.key.empty()) passed.push_back({std::string(kKeyHeader), request_token(replica.key)});
  if (!replica.says_who_it_is) return passed;
  passed.push_back({std::string(kSliceHeader), replica.slice});
  passed.push_back({std::string(kGenerationHeader), fmt::format("{}", replica.generation)});
  return passed;
}

std::vector<HttpField> headers_from_replica(std::span<const HttpField> headers) {
  std::vector<HttpField> passed = passing(headers, kOfTheAnswer);
  // The server sends neither, and refuses an answer that has one.
  std::erase_if(passed, [](const HttpField& field) { return field.value.empty(); });
  for (HttpField& field : passed) std::ranges::replace(field.value, '\t', ' ');
  return passed;
}

AnsweredBy answered_by(std::span<const HttpField> headers, const Endpoint& replica) {
  if (!replica.says_who_it_is) return AnsweredBy::kReplica;
  if (find_header(headers, kRefusedHeader)) return AnsweredBy::kNotExecuted;
  const bool is_it = find_header(headers, kSliceHeader) == replica.slice &&
                     find_header(headers, kGenerationHeader) == fmt::format("{}", replica.generation);
  return is_it ? AnsweredBy::kReplica : AnsweredBy::kAnother;
}

}  // namespace berth::serving
