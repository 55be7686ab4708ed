/// The requests that the load generator sends, as the bytes of HTTP/1.1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "load_options.h"

namespace berth::load {

inline constexpr std::size_t kWriteBodyBytes = 1024;

/// Of one write of one writer. Writes with the same numbers in one run are the same.
struct WriteId {
  unsigned writer = 0;
  unsigned number = 0;
};

/// What the first read, the second and so on ask for, again and again.
enum class ReadKind { kOneGpu, kPageOfGpus, kOneService, kPageOfServices };
inline constexpr std::size_t kReadKindCount = 4;

[[nodiscard]] std::string service_name(unsigned writer);
[[nodiscard]] std::string idempotency_key(const LoadOptions& options, WriteId id);

/// A service without arrivals, of kWriteBodyBytes. Its label `write` is `RUN-NUMBER`; the latency target changes with
/// the number only if the options say so.
[[nodiscard]] std::string write_body(const LoadOptions& options, WriteId id);

/// A PUT of the writer's service in the tenant `load`.
[[nodiscard]] std::string write_request(const LoadOptions& options, WriteId id, std::string_view body);

[[nodiscard]] ReadKind kind_of_read(std::size_t read);

/// One of the GPUs or services, or the first page of 100. Requires: there is a GPU and a service.
[[nodiscard]] std::string read_request(const LoadOptions& options, std::size_t read);

}  // namespace berth::load
