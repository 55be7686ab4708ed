#include "load_options.h"

#include <arpa/inet.h>

#include <charconv>
#include <functional>
#include <map>
#include <string_view>

namespace berth::load {
namespace {

constexpr unsigned kClientsMax = 10'000;
constexpr unsigned kNumberMax = 1'000'000;
constexpr std::size_t kRunBytesMax = 30;

bool read_number(std::string_view text, unsigned& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() && number <= kNumberMax;
}

/// A.B.C.D:PORT
bool read_address(std::string_view text, sockaddr_in& address) {
  const std::size_t colon = text.find(':');
  unsigned port = 0;
  if (colon == std::string_view::npos || !read_number(text.substr(colon + 1), port) || port > 65535) return false;
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::inet_pton(AF_INET, std::string(text.substr(0, colon)).c_str(), &address.sin_addr) == 1;
}

bool read_option(std::string_view name, std::string_view value, LoadOptions& options) {
  const std::map<std::string_view, unsigned*> numbers = {
      {"--writers", &options.writers}, {"--readers", &options.readers},   {"--read-rate", &options.reads_per_second},
      {"--gpus", &options.gpus},       {"--services", &options.services}, {"--seconds", &options.seconds}};
  const std::map<std::string_view, std::string*> texts = {
      {"--key", &options.key}, {"--run", &options.run}, {"--acks", &options.acks_file}};
  if (const auto number = numbers.find(name); number != numbers.end()) return read_number(value, *number->second);
  if (const auto text = texts.find(name); text != texts.end()) {
    *text->second = value;
    return true;
  }
  if (name == "--address") return read_address(value, options.address);
  options.changes_target = value == "target";
  return name == "--change" && (value == "target" || value == "label");
}

}  // namespace

std::optional<LoadOptions> read_options(std::span<const char* const> words) {
  LoadOptions options;
  if (words.size() % 2 != 0) return std::nullopt;
  for (std::size_t index = 0; index < words.size(); index += 2) {
    if (!read_option(words[index], words[index + 1], options)) return std::nullopt;
  }
  const bool has_reads = options.readers > 0 && options.reads_per_second > 0;
  const bool has_target = options.address.sin_port != 0 && !options.key.empty();
  const bool has_name = !options.run.empty() && options.run.size() <= kRunBytesMax;
  if (!has_target || !has_name || options.seconds == 0 || options.gpus == 0 || options.services == 0)
    return std::nullopt;
  if (options.writers > kClientsMax || options.readers > kClientsMax) return std::nullopt;
  if ((options.writers == 0 && !has_reads) || (options.readers > 0) != has_reads) return std::nullopt;
  return options;
}

const char* usage_text() {
  return "berth_load --address A.B.C.D:PORT --key KEY --run NAME [--seconds S] [--acks FILE]\n"
         "  --writers N [--change label|target] and, or, --readers N --read-rate PER_SECOND [--gpus N] [--services "
         "N]\n";
}

}  // namespace berth::load
