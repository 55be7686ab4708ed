#include "edges/http_client/detail/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/core/text.h"

namespace berth::edges::detail {
namespace {

constexpr int kPollMs = 100;  // how often a stream checks whether it is stopped

using UrlPointer = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

/// Whether a host names this machine, which no proxy can reach for us.
bool is_loopback(std::string host_text) {
  std::ranges::transform(host_text, host_text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view host = host_text;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host == "::1" || host == "localhost" || host.ends_with(".localhost")) return true;
  const bool is_number = std::ranges::all_of(host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return is_number && host.starts_with("127.");
}

/// A part of a URL; empty if it has none.
std::string part_of(CURLU& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(&url, part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, &curl_free);
  return text;
}

/// The text is not copied: it outlives the request.
void set_blob(CURL* easy, CURLoption option, const std::string& text) {
  curl_blob blob{.data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

/// Whether a result means that there is no server, or no longer.
bool is_of_absence(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
         code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE;
}

}  // namespace

Transfer::Transfer(const HttpCall& call, const HttpLineReading* reading, CURLM* kept, const ServerAccess* access)
    : call_(call),
      reading_(reading),
      access_(access),
      own_multi_(kept == nullptr ? curl_multi_init() : nullptr, &curl_multi_cleanup),
      multi_(kept == nullptr ? own_multi_.get() : kept),
      easy_(curl_easy_init(), &curl_easy_cleanup),
      headers_(nullptr, &curl_slist_free_all),
      connect_to_(nullptr, &curl_slist_free_all),
      lines_(reading == nullptr ? 0 : reading->line_bytes_max) {}

Result<HttpReply> Transfer::run() {
  if (easy_ == nullptr || multi_ == nullptr) return pass_on(no_memory());
  if (const auto ready = prepare(); !ready) return pass_on(ready.error());
  const auto code = move_bytes();
  if (!code) return pass_on(code.error());
  if (stop_ == Stop::kWanted) return std::move(reply_);
  if (stop_ == Stop::kInterrupted) return fail(ErrorCode::kInterrupted, call_.url + ": the request was ended");
  if (stop_ != Stop::kNone || has_failed()) return pass_on(stop_error());
  is_server_away_ = is_of_absence(*code);
  if (*code != CURLE_OK) return pass_on(error_of(*code, call_.url, call_.timeout));
  return std::move(reply_);
}

Result<void> Transfer::prepare() {
  CURL* easy = easy_.get();
  set_common_options(easy);
  if (const auto url = prepare_url(); !url) return url;
  if (const auto headers = prepare_headers(); !headers) return headers;
  if (const auto method = prepare_method(); !method) return method;
  if (const auto access = prepare_access(); !access) return access;
  // Who may stop it does not wait for a look-up of the host's name either.
  if (call_.is_stopped) curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  // A stream has no timeout: move_bytes watches its silence.
  if (reading_ == nullptr) curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, to_ms(call_.timeout));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, to_ms(call_.timeout));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, (&receive<Transfer, &Transfer::take_header>));
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, (&receive<Transfer, &Transfer::take_body>));
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  return {};
}

Result<void> Transfer::prepare_url() {
  const UrlPointer url(curl_url(), &curl_url_cleanup);
  if (url == nullptr) return pass_on(no_memory());
  const bool is_url =
      is_header_text(call_.url) && curl_url_set(url.get(), CURLUPART_URL, call_.url.c_str(), 0) == CURLUE_OK;
  const std::string scheme = is_url ? part_of(*url, CURLUPART_SCHEME) : "";
  if (scheme != "http" && scheme != "https") {
    return invalid(fmt::format("wanted a URL such as http://127.0.0.1:8080/, found {}", in_quotes(call_.url)));
  }
  curl_easy_setopt(easy_.get(), CURLOPT_URL, call_.url.c_str());
  // An empty proxy means none, regardless of the environment.
  if (is_loopback(part_of(*url, CURLUPART_HOST))) curl_easy_setopt(easy_.get(), CURLOPT_PROXY, "");
  return {};
}

Result<void> Transfer::prepare_headers() {
  auto list = header_list(call_.headers);
  if (!list) return pass_on(list.error());
  headers_ = *std::move(list);
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
  return {};
}

Result<void> Transfer::prepare_method() {
  CURL* easy = easy_.get();
  if (const auto method = check_method(call_.method); !method) return method;
  const bool has_body = !call_.body.empty() || call_.method == "PUT" || call_.method == "POST";
  if (call_.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (has_body && access_ != nullptr) {
    // Read by a function that cannot go back: if a kept connection turns out to be closed, libcurl fails instead of
    // sending again what may have been carried out.
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &Transfer::give_body);
    curl_easy_setopt(easy, CURLOPT_READDATA, this);
  } else if (has_body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call_.body.data());
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
  return {};
}

Result<void> Transfer::prepare_access() {
  if (access_ == nullptr) return {};
  CURL* easy = easy_.get();
  if (!access_->authority_pem.empty()) set_blob(easy, CURLOPT_CAINFO_BLOB, access_->authority_pem);
  if (!access_->certificate_pem.empty()) {
    set_blob(easy, CURLOPT_SSLCERT_BLOB, access_->certificate_pem);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, access_->key_pem);
  }
  if (!access_->verifies_server) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!access_->proxy.empty()) curl_easy_setopt(easy, CURLOPT_PROXY, access_->proxy.c_str());
  if (access_->connect_to.empty()) return {};
  connect_to_.reset(curl_slist_append(nullptr, ("::" + access_->connect_to).c_str()));
  if (connect_to_ == nullptr) return pass_on(no_memory());
  curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  return {};
}

Result<CURLcode> Transfer::move_bytes() {
  curl_multi_add_handle(multi_, easy_.get());
  int running_count = 1;
  CURLMcode status = CURLM_OK;
  while (status == CURLM_OK && running_count > 0 && stop_ == Stop::kNone) {
    status = curl_multi_perform(multi_, &running_count);
    if (status != CURLM_OK || running_count == 0) break;
    if (reading_ != nullptr && reading_->is_stopped && reading_->is_stopped()) stop_ = Stop::kWanted;
    if (reading_ == nullptr && call_.is_stopped && call_.is_stopped()) stop_ = Stop::kInterrupted;
    if (stop_ == Stop::kNone && is_over_time()) stop_ = Stop::kTimedOut;
    if (stop_ == Stop::kNone) status = curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
  }
  int left_count = 0;
  const CURLMsg* message = curl_multi_info_read(multi_, &left_count);
  const CURLcode code = message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_OK;
  curl_multi_remove_handle(multi_, easy_.get());
  if (status != CURLM_OK) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", call_.url, curl_multi_strerror(status)));
  }
  return code;
}

bool Transfer::is_over_time() const {
  if (reading_ == nullptr) return false;
  const Micros limit = is_stream() ? reading_->silence_max : call_.timeout;
  return Clock::now() - last_bytes() > std::chrono::microseconds(limit.count());
}

Error Transfer::stop_error() const {
  const auto unavailable = [&](std::string_view what) {
    return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", call_.url, what)};
  };
  switch (stop_) {
    case Stop::kTimedOut: {
      const Micros limit = is_stream() ? reading_->silence_max : call_.timeout;
      return {ErrorCode::kTimedOut, fmt::format("{}: nothing arrived within {} s", call_.url, limit.to_seconds())};
    }
    case Stop::kBodyTooLarge:
      return unavailable(fmt::format("wanted an answer of at most {} bytes, found more", call_.bytes_max));
    case Stop::kLineTooLong:
      return unavailable(fmt::format("wanted lines of at most {} bytes, found more", reading_->line_bytes_max));
    case Stop::kHeadersTooLarge:
      return unavailable(fmt::format("wanted headers of at most {} bytes, found more", kHeaderBytesMax));
    case Stop::kNone:
    case Stop::kWanted:
    case Stop::kInterrupted:
      break;
  }
  return unavailable("no memory for the answer");
}

std::size_t Transfer::take_header(std::string_view line) {
  if (!count_header(line)) {
    stop_ = Stop::kHeadersTooLarge;
    return 0;
  }
  if (const auto status = status_in(easy_.get(), line)) {
    reply_ = HttpReply{*status, {}, {}};
  } else if (auto field = field_in(line)) {
    reply_.headers.push_back(*std::move(field));
  }
  return line.size();
}

std::size_t Transfer::give_body(char* bytes, std::size_t size, std::size_t count, void* transfer) noexcept {
  auto& self = *static_cast<Transfer*>(transfer);
  const std::string_view left = std::string_view(self.call_.body).substr(self.sent_bytes_);
  const std::size_t given = left.copy(bytes, size * count);
  self.sent_bytes_ += given;
  return given;
}

std::size_t Transfer::take_body(std::string_view bytes) {
  if (is_stream()) {
    const auto state = lines_.add(bytes, reading_->take);
    if (state == LineSplitter::State::kStopped) stop_ = Stop::kWanted;
    if (state == LineSplitter::State::kTooLong) stop_ = Stop::kLineTooLong;
    return state == LineSplitter::State::kGoesOn ? bytes.size() : 0;
  }
  if (bytes.size() > call_.bytes_max - reply_.body.size()) {
    stop_ = Stop::kBodyTooLarge;
    return 0;
  }
  reply_.body += bytes;
  return bytes.size();
}

}  // namespace berth::edges::detail
