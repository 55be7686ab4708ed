#include "requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace berth::load {
namespace {

struct ProfileRow {
  std::string_view profile;
  unsigned batch;
  unsigned per_second;
  unsigned latency_ms;
};

constexpr std::array kProfileRows = {
    ProfileRow{.profile = "1g.10gb", .batch = 1, .per_second = 40, .latency_ms = 25},
    ProfileRow{.profile = "1g.10gb", .batch = 4, .per_second = 100, .latency_ms = 40},
    ProfileRow{.profile = "2g.20gb", .batch = 1, .per_second = 60, .latency_ms = 16},
    ProfileRow{.profile = "2g.20gb", .batch = 8, .per_second = 220, .latency_ms = 36},
    ProfileRow{.profile = "3g.40gb", .batch = 8, .per_second = 330, .latency_ms = 24},
    ProfileRow{.profile = "4g.40gb", .batch = 8, .per_second = 430, .latency_ms = 19},
    ProfileRow{.profile = "7g.80gb", .batch = 8, .per_second = 700, .latency_ms = 12},
};
constexpr unsigned kTargetMsMin = 100;
constexpr unsigned kTargetCount = 100;
// Neighbouring reads ask for objects far from each other.
constexpr std::size_t kStride = 7919;

std::string profile_text() {
  std::string text;
  for (const ProfileRow& row : kProfileRows) {
    if (!text.empty()) text += ',';
    text += fmt::format(
        R"({{"model":"m","gpu":"A100-80GB","profile":"{}","batch":{},"processes":1,"requests_per_second":{},)"
        R"("latency_ms":{}}})",
        row.profile, row.batch, row.per_second, row.latency_ms);
  }
  return text;
}

std::string target_of(const LoadOptions& options, std::size_t read) {
  switch (kind_of_read(read)) {
    case ReadKind::kOneGpu:
      return fmt::format("/v1/gpus/gpu-{}", read * kStride % options.gpus);
    case ReadKind::kPageOfGpus:
      return "/v1/gpus?limit=100";
    case ReadKind::kOneService:
      return "/v1/tenants/load/services/" + service_name(static_cast<unsigned>(read * kStride % options.services));
    case ReadKind::kPageOfServices:
      break;
  }
  return "/v1/services?limit=100";
}

}  // namespace

std::string service_name(unsigned writer) { return fmt::format("s{}", writer); }

std::string idempotency_key(const LoadOptions& options, WriteId id) {
  return fmt::format("{}-{}-{}", options.run, id.writer, id.number);
}

std::string write_body(const LoadOptions& options, WriteId id) {
  static const std::string profile = profile_text();
  const unsigned target_ms = kTargetMsMin + (options.changes_target ? id.number % kTargetCount : 0);
  std::string body = fmt::format(R"({{"metadata":{{"labels":{{"write":"{}-{}"}}}},"spec":{{"slo":{{"latency_ms":{}}},)"
                                 R"("profile":{{"format":"csv","model":"m","rows":[{}]}}}}}})",
                                 options.run, id.number, target_ms, profile);
  body.resize(std::max(body.size(), kWriteBodyBytes), ' ');
  return body;
}

std::string write_request(const LoadOptions& options, WriteId id, std::string_view body) {
  return fmt::format(
      "PUT /v1/tenants/load/services/{} HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nIdempotency-Key: {}\r\nContent-Length: {}\r\n\r\n{}",
      service_name(id.writer), options.key, idempotency_key(options, id), body.size(), body);
}

ReadKind kind_of_read(std::size_t read) { return static_cast<ReadKind>(read % kReadKindCount); }

std::string read_request(const LoadOptions& options, std::size_t read) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {}\r\n\r\n", target_of(options, read),
                     options.key);
}

}  // namespace berth::load
