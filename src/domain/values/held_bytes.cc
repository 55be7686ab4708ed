#include "domain/values/held_bytes.h"

#include <iterator>
#include <variant>

#include "base/core/overloaded.h"

namespace berth {
namespace {

// An archive writes whole numbers 7 bits to a byte, and counts are at most kRequestsPerSecondMax.
constexpr std::int64_t kCountBytes = sizeof(std::uint32_t);
static_assert(kRequestsPerSecondMax < std::int64_t{1} << 28U);
constexpr std::int64_t kRequestBytes = 20;  ///< a time and two counts of tokens: up to 17 in an archive
constexpr std::int64_t kPointBytes = 384;   ///< two names, two whole numbers, two decimals of up to 40 digits
constexpr std::int64_t kSpecBytes = 2048;   ///< names, decimals and times of a service, each bounded
constexpr std::int64_t kVariantBytes = 512;
constexpr std::int64_t kPinBytes = 64;
constexpr std::int64_t kEntryBytes = 64;  ///< besides its two texts

std::int64_t held_bytes(const PerformanceTable& table) { return std::ssize(table.points) * kPointBytes; }

}  // namespace

std::int64_t held_bytes(const Arrivals& arrivals) {
  return std::visit(Overloaded{[](const CountTrace& trace) { return std::ssize(trace.counts) * kCountBytes; },
                               [](const MinuteTrace& trace) { return std::ssize(trace.counts) * kCountBytes; },
                               [](const TimedTrace& trace) { return std::ssize(trace.requests) * kRequestBytes; },
                               [](const Generator&) { return std::int64_t{0}; }},
                    arrivals.source);
}

std::int64_t held_bytes(const ServiceSpec& service) {
  std::int64_t bytes = kSpecBytes + std::ssize(service.pins) * kPinBytes;
  bytes += held_bytes(service.arrivals) + held_bytes(service.table);
  for (const Variant& variant : service.variants) bytes += kVariantBytes + held_bytes(variant.table);
  return bytes;
}

std::int64_t held_bytes(const std::map<std::string, std::string>& texts) {
  std::int64_t bytes = 0;
  for (const auto& [key, value] : texts) bytes += kEntryBytes + std::ssize(key) + std::ssize(value);
  return bytes;
}

}  // namespace berth
