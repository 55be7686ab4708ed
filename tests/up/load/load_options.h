/// The words of the command line of the load generator.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <span>
#include <string>

namespace berth::load {

struct LoadOptions {
  sockaddr_in address{};
  std::string key;        ///< of the API
  std::string run;        ///< a name that no other run on this server has, at most 30 characters
  std::string acks_file;  ///< gets the last acknowledged write of each writer; empty: none
  unsigned writers = 0;
  unsigned readers = 0;
  unsigned reads_per_second = 0;  ///< of all readers together
  unsigned gpus = 1;              ///< of the fleet, gpu-0 and on
  unsigned services = 1;          ///< that are read, s0 and on
  unsigned seconds = 10;
  bool changes_target = false;  ///< each write changes the latency target, not a label alone
};

/// Reads pairs of a name and a value; nothing if one is not as usage_text() says.
[[nodiscard]] std::optional<LoadOptions> read_options(std::span<const char* const> words);

[[nodiscard]] const char* usage_text();

}  // namespace berth::load
