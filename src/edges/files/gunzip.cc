#include "edges/files/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace berth::edges {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr std::size_t kInputPieceMax = std::size_t{1} << 30U;  // zlib counts in 32 bits

/// zlib's state; frees it.
class Inflater {
 public:
  Inflater() : is_ready_(inflateInit2(&stream_, kGzipOnly) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Unpacks one member from the front of `packed` onto `text`.
  [[nodiscard]] Result<void> member(std::string_view& packed, std::string& text, std::size_t bytes_max);

 private:
  z_stream stream_{};
  bool is_ready_;
  std::array<char, 65'536> piece_{};  // one for all members: clearing it for each would cost more than unpacking
};

Result<void> Inflater::member(std::string_view& packed, std::string& text, std::size_t bytes_max) {
  inflateReset(&stream_);
  while (true) {
    const std::size_t given = std::min(packed.size(), kInputPieceMax);
    // zlib's interface predates const; it does not write there.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    packed.remove_prefix(given - stream_.avail_in);
    const std::size_t produced = piece_.size() - stream_.avail_out;
    if (text.size() + produced > bytes_max) {
      return invalid(fmt::format("wanted at most {} bytes unpacked, found more", bytes_max));
    }
    text.append(piece_.data(), produced);
    if (status == Z_STREAM_END) return {};
    if (status == Z_BUF_ERROR || (status == Z_OK && packed.empty() && produced == 0)) {
      return invalid("the gzip data is truncated");
    }
    if (status == Z_MEM_ERROR) return fail(ErrorCode::kUnavailable, "no memory for unpacking");
    if (status != Z_OK) {
      return invalid(fmt::format("the gzip data is corrupt: {}", stream_.msg == nullptr ? "bad header" : stream_.msg));
    }
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

Result<std::string> gunzip(std::string_view packed, std::size_t bytes_max) {
  Inflater inflater;
  if (!inflater.is_ready()) return fail(ErrorCode::kUnavailable, "no memory for unpacking");
  std::string text;
  do {
    if (const auto done = inflater.member(packed, text, bytes_max); !done) return pass_on(done.error());
    if (!packed.empty() && !is_gzip(packed)) {
      return invalid(fmt::format("wanted the end of the gzip data, found {} more bytes", packed.size()));
    }
  } while (!packed.empty());
  return text;
}

}  // namespace berth::edges
