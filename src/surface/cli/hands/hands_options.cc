#include "surface/cli/hands/hands_options.h"

#include <fmt/format.h>
#include <pwd.h>

#include <cstdint>

#include "base/core/text.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kFdMax = 1'000'000;

Result<int> read_fd(const std::string& text) {
  const auto number = parse_count(text, kFdMax);
  if (!number) return invalid("--fd: " + number.error().message);
  return static_cast<int>(*number);
}

Result<uid_t> find_user(const std::string& text) {
  if (const auto number = parse_count(text, UINT32_MAX - 1)) return static_cast<uid_t>(*number);
  const passwd* const user = ::getpwnam(text.c_str());  // before any other thread exists
  if (user == nullptr)
    return invalid("--owner: wanted a user of this machine, or its number, found " + in_quotes(text));
  return user->pw_uid;
}

Result<HandsRequest> check_keeper_options(const HandsWords& words) {
  const auto number = parse_count(words.start.value_or(""), INT64_MAX);
  if (!number) return invalid("--start: " + number.error().message);
  HandsRequest request;
  request.kept_folder = *words.keep;
  request.start_number = *number;
  return request;
}

}  // namespace

OptionTable hands_option_rows(HandsWords& words) {
  return {
      {"--socket", "PATH", "Where it waits for a client (required)", &words.socket},
      {"--config", "FILE", "The configuration file; only its manage: and programs are obeyed (required)",
       &words.config},
      {"--nvml", "FILE", "The library of the NVIDIA driver [libnvidia-ml.so.1]", &words.nvml},
      {"--owner", "USER", "Who may connect besides root: name or number of a user [this one]", &words.owner},
      {"--fd", "TEXT", "", &words.fd},        // used by berth up, which starts it
      {"--keep", "TEXT", "", &words.keep},    // used by berth hands, which starts a keeper for each program
      {"--start", "TEXT", "", &words.start},  // likewise
  };
}

Result<HandsRequest> check_hands_options(const HandsWords& words) {
  if (words.keep && !words.keep->empty()) return check_keeper_options(words);
  for (const auto& [name, word] : {std::pair{"socket", &words.socket}, std::pair{"config", &words.config},
                                   std::pair{"nvml", &words.nvml}, std::pair{"owner", &words.owner}}) {
    if (*word && (*word)->empty()) return invalid(fmt::format("--{}: wanted a text, found \"\"", name));
  }
  if (!words.config) return invalid("--config: wanted a file whose manage: names GPUs, found none");
  if (words.socket.has_value() == words.fd.has_value()) {
    return invalid(words.socket ? "--socket: wanted that or --fd, found both" : "--socket: wanted a path, found none");
  }
  HandsRequest request;
  request.config_path = *words.config;
  request.nvml_path = words.nvml;
  request.socket_path = words.socket.value_or("");
  if (words.fd) {
    const auto fd = read_fd(*words.fd);
    if (!fd) return pass_on(fd.error());
    request.fd = *fd;
  }
  if (words.owner) {
    const auto owner = find_user(*words.owner);
    if (!owner) return pass_on(owner.error());
    request.owner = *owner;
  }
  return request;
}

}  // namespace berth::cli
