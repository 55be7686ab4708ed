/// What all requests of this folder have in common: libcurl's options, headers and errors.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/http_client.h"

namespace berth::edges::detail {

inline constexpr std::size_t kHeaderBytesMax = std::size_t{64} << 10U;  ///< of one answer

using EasyPointer = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

/// Whether a text has no line end and no NUL, which would end a header or a URL early.
[[nodiscard]] bool is_header_text(std::string_view text);

/// Only http and https, no redirections, no signals: any thread may call, and a URL opens no file.
void set_common_options(CURL* easy);

/// The headers of a request. Libcurl's own label of bodies is left out. Errors: kInvalidInput.
[[nodiscard]] Result<HeaderList> header_list(std::span<const HttpField> headers);
/// The same, with lines more: "Name: value", or "Name:" to leave out one of libcurl's own.
[[nodiscard]] Result<HeaderList> header_list(std::span<const HttpField> headers, std::span<const char* const> lines);

/// Errors: kInvalidInput unless it consists of upper-case letters.
[[nodiscard]] Result<void> check_method(std::string_view method);

/// A line of an answer's head as a field; nothing if it has no colon.
[[nodiscard]] std::optional<HttpField> field_in(std::string_view line);

/// The status if it is a status line; a second one follows "100 Continue".
[[nodiscard]] std::optional<int> status_in(CURL* easy, std::string_view line);

/// What arrives of an answer. The base of what libcurl's callbacks are called with.
class Receiving {
 public:
  using Clock = std::chrono::steady_clock;

  /// A callback of libcurl: gives the bytes to `take`, a member function of Call that returns how many it took. Fewer
  /// end the transfer.
  template <class Call, std::size_t (Call::*take)(std::string_view bytes)>
  static std::size_t receive(char* bytes, std::size_t size, std::size_t count, void* call) noexcept {
    auto& self = *static_cast<Call*>(call);
    Receiving& receiving = self;
    receiving.last_bytes_ = Clock::now();
    try {
      return (self.*take)({bytes, size * count});
    } catch (...) {
      receiving.has_failed_ = true;  // no memory
      return 0;
    }
  }

 protected:
  [[nodiscard]] Clock::time_point last_bytes() const { return last_bytes_; }
  void note_bytes() { last_bytes_ = Clock::now(); }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  /// False if the headers have become too large.
  [[nodiscard]] bool count_header(std::string_view line) { return (header_bytes_ += line.size()) <= kHeaderBytesMax; }

 private:
  Clock::time_point last_bytes_ = Clock::now();
  bool has_failed_ = false;
  std::size_t header_bytes_ = 0;
};

/// Rounded up.
[[nodiscard]] long to_ms(Micros time);

[[nodiscard]] Error no_memory();

/// Requires: the code is a failure. `timeout` is the time that the call had.
[[nodiscard]] Error error_of(CURLcode code, std::string_view url, Micros timeout);

}  // namespace berth::edges::detail
