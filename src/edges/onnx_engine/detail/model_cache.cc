#include "edges/onnx_engine/detail/model_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace berth::edges::detail {
namespace {

constexpr std::string_view kPart = ".part";
constexpr std::chrono::hours kPartAgeMax{1};  ///< nobody writes a model for so long
constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;

tl::unexpected<Error> no_access(const std::string& path, int error) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::generic_category().message(error)));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// 64 bits over all bytes: four chains of multiplications, which one processor runs side by side. Each is one-to-one in
/// each word, so that no change within a word is missed.
class Checksum {
 public:
  /// Requires: only the last piece may have a size that is no multiple of 32.
  void add(std::span<const char> bytes) {
    while (bytes.size() >= kStep) {
      add_step(bytes.data());
      bytes = bytes.subspan(kStep);
    }
    if (bytes.empty()) return;
    std::array<char, kStep> last{};
    std::memcpy(last.data(), bytes.data(), bytes.size());
    add_step(last.data());
  }
  [[nodiscard]] std::uint64_t finish(std::uint64_t size) const {
    std::uint64_t sum = size;
    for (const std::uint64_t chain : chains_) sum = mix(sum ^ chain);
    return sum;
  }

 private:
  static constexpr std::size_t kStep = 32;
  static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

  static std::uint64_t mix(std::uint64_t word) {
    word *= kOdd;
    return word ^ (word >> 32U);
  }
  void add_step(const char* bytes) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), bytes, kStep);
    for (std::size_t i = 0; i < words.size(); ++i) chains_[i] = mix(chains_[i] ^ words[i]);
  }

  std::array<std::uint64_t, 4> chains_ = {1, 2, 3, 4};
};

Result<std::uint64_t> checksum_of(const std::string& path, int file, std::uint64_t bytes) {
  Checksum checksum;
  std::vector<char> block(kBlockBytes);
  for (std::uint64_t offset = 0; offset < bytes;) {
    std::size_t filled = 0;
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, bytes - offset));
    while (filled < wanted) {
      const ssize_t count = ::pread(file, block.data() + filled, wanted - filled, static_cast<off_t>(offset + filled));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return no_access(path, errno);
      if (count == 0) return fail(ErrorCode::kUnavailable, path + ": it became shorter");
      filled += static_cast<std::size_t>(count);
    }
    checksum.add({block.data(), filled});
    offset += filled;
  }
  return checksum.finish(bytes);
}

/// A field of a message of protocol buffers.
std::string text_field(unsigned field, std::string_view text) {
  std::string bytes(1, static_cast<char>(field << 3U | 2U));
  std::size_t size = text.size();
  for (; size >= 0x80U; size >>= 7U) bytes += static_cast<char>((size & 0x7FU) | 0x80U);
  bytes += static_cast<char>(size);
  return bytes.append(text);
}

/// The last bytes of a file: ModelProto.metadata_props, whose entries may be anywhere between the other fields.
std::string seal_of(std::string_view name, std::uint64_t checksum) {
  constexpr unsigned kMetadata = 14;
  constexpr std::string_view kKey = "berth.file";
  return text_field(kMetadata, text_field(1, kKey) + text_field(2, fmt::format("{:016x} {}", checksum, name)));
}

}  // namespace

ModelCache::ModelCache(std::string folder, std::string environment)
    : folder_(std::move(folder)), environment_(std::move(environment)) {
  std::error_code ignored;  // `begin` says what is wrong
  std::filesystem::create_directories(folder_, ignored);
  remove_left_overs();
}

std::string ModelCache::name_of(const std::string& sha256) const {
  return fmt::format("{}.{}.onnx", sha256, environment_);
}

void ModelCache::remove_left_overs() const {
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename();
    if (!name.starts_with('.') || !name.ends_with(kPart) || !entry->is_regular_file(ignored)) continue;
    if (now - entry->last_write_time(ignored) > kPartAgeMax) std::filesystem::remove(entry->path(), ignored);
  }
}

Result<std::optional<std::string>> ModelCache::find(const std::string& sha256) const {
  const std::string name = name_of(sha256);
  const std::string path = folder_ + "/" + name;
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a pipe must not hold it up
  if (file.number() < 0 && errno == ENOENT) return std::nullopt;
  if (file.number() < 0) return no_access(path, errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return no_access(path, errno);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  std::string seal(seal_of(name, 0).size(), '\0');
  const auto damaged = [&] {
    return invalid(path + ": wanted an optimised model of berth, found another or a damaged file");
  };
  if (!S_ISREG(status.st_mode) || bytes < seal.size()) return damaged();
  const std::uint64_t model_bytes = bytes - seal.size();
  const ssize_t count = ::pread(file.number(), seal.data(), seal.size(), static_cast<off_t>(model_bytes));
  if (count < 0) return no_access(path, errno);
  const auto checksum = checksum_of(path, file.number(), model_bytes);
  if (!checksum) return pass_on(checksum.error());
  if (seal != seal_of(name, *checksum)) return damaged();
  return path;
}

Result<std::string> ModelCache::begin(const std::string& sha256) {
  std::string path = fmt::format("{}/.{}.{}.{}{}", folder_, name_of(sha256), ::getpid(), ++begun_, kPart);
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (file.number() < 0) return no_access(path, errno);
  return path;
}

Result<void> ModelCache::keep(const std::string& sha256, const std::string& written) {
  const std::string name = name_of(sha256);
  const auto seal_it = [&]() -> Result<void> {
    const Descriptor file(written, O_RDWR | O_APPEND);
    struct stat status{};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return no_access(written, errno);
    const auto checksum = checksum_of(written, file.number(), static_cast<std::uint64_t>(status.st_size));
    if (!checksum) return pass_on(checksum.error());
    const std::string seal = seal_of(name, *checksum);
    const ssize_t count = ::write(file.number(), seal.data(), seal.size());
    if (count < 0) return no_access(written, errno);
    if (static_cast<std::size_t>(count) < seal.size()) return no_access(written, ENOSPC);
    const std::string path = folder_ + "/" + name;
    if (::rename(written.c_str(), path.c_str()) != 0) return no_access(path, errno);
    return {};
  };
  auto kept = seal_it();
  if (!kept) discard(written);
  return kept;
}

void ModelCache::discard(const std::string& written) { ::unlink(written.c_str()); }

}  // namespace berth::edges::detail
