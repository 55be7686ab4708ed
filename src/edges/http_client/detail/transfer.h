/// One request under way: libcurl's options, and the data received so far.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/http_client.h"
#include "edges/http_client/detail/easy.h"
#include "edges/http_client/detail/line_splitter.h"
#include "edges/http_client/server_access.h"

namespace berth::edges::detail {

using MultiPointer = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;

class Transfer : public Receiving {
 public:
  /// `reading` is null for a single request; `kept` has the connections of earlier ones, null: none; `access` null: as
  /// libcurl does. All are borrowed.
  explicit Transfer(const HttpCall& call, const HttpLineReading* reading, CURLM* kept = nullptr,
                    const ServerAccess* access = nullptr);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Sends the request and reads the answer to its end.
  [[nodiscard]] Result<HttpReply> run();
  /// Whether `run` failed because no server listened at the address, or the connection broke before the answer was
  /// complete.
  [[nodiscard]] bool is_server_away() const { return is_server_away_; }

 private:
  /// Why this side ends the transfer before the server does.
  enum class Stop { kNone, kWanted, kInterrupted, kTimedOut, kBodyTooLarge, kLineTooLong, kHeadersTooLarge };

  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] Result<void> prepare_headers();
  [[nodiscard]] Result<void> prepare_url();
  [[nodiscard]] Result<void> prepare_method();
  [[nodiscard]] Result<void> prepare_access();
  [[nodiscard]] Result<CURLcode> move_bytes();
  [[nodiscard]] bool is_over_time() const;
  [[nodiscard]] Error stop_error() const;

  // Called back by libcurl.
  [[nodiscard]] std::size_t take_header(std::string_view line);
  [[nodiscard]] std::size_t take_body(std::string_view bytes);
  static std::size_t give_body(char* bytes, std::size_t size, std::size_t count, void* transfer) noexcept;
  /// Whether the data that arrives is the requested stream.
  [[nodiscard]] bool is_stream() const { return reading_ != nullptr && reply_.status == 200; }

  const HttpCall& call_;
  const HttpLineReading* reading_;
  const ServerAccess* access_;
  MultiPointer own_multi_;  ///< null: it is kept by another
  CURLM* multi_;
  EasyPointer easy_;
  HeaderList headers_;
  HeaderList connect_to_;
  HttpReply reply_;
  LineSplitter lines_;
  std::size_t sent_bytes_ = 0;  ///< of a body that is not sent twice
  Stop stop_ = Stop::kNone;
  bool is_server_away_ = false;
};

}  // namespace berth::edges::detail
