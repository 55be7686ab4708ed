#include "surface/cli/client/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/core/text.h"
#include "base/json/document.h"
#include "surface/cli/client/node.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

// The largest object: arrivals of 30 days by second, as {"second":2591999,"requests":99999999}, and some more.
constexpr std::size_t kRowsMax = 2'592'000;
constexpr std::size_t kRowBytesMax = 40;
constexpr std::size_t kValuesPerRow = 3;
static_assert(ReplyLimits().bytes_max > 2 * kRowsMax * kRowBytesMax);
static_assert(ReplyLimits().values_max > kRowsMax * kValuesPerRow + kRowsMax);
/// Pages of one list: more than any fleet needs, but a bound on a server that never ends a list.
constexpr std::size_t kPagesMax = 100'000;

/// Errors of the request count as bad input, unless they have a status of their own.
ClientStatus status_of(int http_status) {
  switch (http_status) {
    case 401:
    case 403:
      return ClientStatus::kNotAllowed;
    case 404:
    case 410:
      return ClientStatus::kNotFound;
    case 409:
    case 412:
      return ClientStatus::kConflict;
    case 408:
    case 504:
      return ClientStatus::kTimedOut;
    case 429:
    case 502:
    case 503:
      return ClientStatus::kNoServer;  // not now: the same request may succeed later
    default:
      return http_status >= 400 && http_status <= 499 ? ClientStatus::kBadInput : ClientStatus::kFailed;
  }
}

/// "field: message (wanted W, found F)", without the parts that the message already contains.
std::string text_of_error(const yaml::Node& error) {
  const std::string field = text_at(error, "field").value_or("");
  std::string text = text_at(error, "message").value_or(text_at(error, "code").value_or(""));
  const auto wanted = text_at(error, "wanted");
  const auto found = text_at(error, "found");
  const auto is_said = [&](const auto& word) { return !word || text.find(*word) != std::string::npos; };
  if (!is_said(wanted) || !is_said(found)) {
    text += fmt::format(" (wanted {}, found {})", wanted.value_or("something else"), found.value_or("nothing"));
  }
  if (!field.empty() && !text.starts_with(field + ":")) text = field + ": " + text;
  return printable(text);
}

/// What has changed since a plan that can no longer be approved: a line for each difference.
std::string text_of_difference(const yaml::Node& difference) {
  std::string text;
  const auto* list = std::get_if<yaml::List>(&difference.value);
  if (list == nullptr) return difference.is_null() ? "" : "\n  " + printable(json_of(difference));
  for (const yaml::Node& item : *list) text += "\n  " + printable(text_at(item, "").value_or(json_of(item)));
  return text;
}

/// The items of a page, to be moved from; null if it has none.
yaml::List* items_of(yaml::Node& page) {
  auto* map = std::get_if<yaml::Map>(&page.value);
  if (map == nullptr) return nullptr;
  const auto entry = std::ranges::find(*map, "items", &yaml::Entry::key);
  return entry == map->end() ? nullptr : std::get_if<yaml::List>(&entry->value.value);
}

}  // namespace

ClientError Client::error_of(const HttpReply& reply) const {
  ClientError error{.status = status_of(reply.status), .message = ""};
  const auto body = json::parse_document(reply.body, "answer");
  const yaml::Node* told = body ? find_node(*body, "error") : nullptr;
  if (told == nullptr || !text_at(*told, "message")) {
    error.message = fmt::format("{}: the answer has status {} and is none of Berth's API: is it the right address?",
                                connection_.url, reply.status);
    return error;
  }
  error.message = text_of_error(*told);
  for (const yaml::Node* place : {told, &*body}) {
    if (const yaml::Node* difference = find_node(*place, "difference")) {
      error.message += text_of_difference(*difference);
      break;
    }
  }
  if (reply.status != 401) return error;
  error.message +=
      connection_.key.empty()
          ? fmt::format("\nThere is no key in {}; --data DIR names the folder of `berth up`.", connection_.key_path)
          : fmt::format("\nThe key of {} is not that of {}; --data DIR names the folder of `berth up`.",
                        connection_.key_path, connection_.url);
  return error;
}

ClientResult<Reply> Client::send(const std::string& method, const std::string& path, const std::string& body) const {
  return send_typed(method, path, body, "application/json");
}

ClientResult<void> Client::put_blob(const std::string& sha256, const std::string& bytes) const {
  const std::string path = "/v1/blobs/" + sha256;
  const auto there = send("HEAD", path, "");
  if (there) return {};
  if (there.error().status != ClientStatus::kNotFound) return client_fail(there.error());
  const auto stored = send_typed("PUT", path, bytes, "application/octet-stream");
  if (!stored) return client_fail(stored.error());
  return {};
}

ClientResult<Reply> Client::send_typed(const std::string& method, const std::string& path, const std::string& body,
                                       const std::string& type) const {
  HttpCall call{.method = method,
                .url = connection_.url + path,
                .headers = {{"Accept", "application/json"}},
                .body = body,
                .timeout = connection_.timeout,
                .bytes_max = limits_.bytes_max};
  if (!connection_.key.empty()) call.headers.push_back({"Authorization", "Bearer " + connection_.key});
  if (!body.empty()) call.headers.push_back({"Content-Type", type});
  const auto reply = http_->send(call);
  if (!reply && reply.error().code == ErrorCode::kNoServer) {
    return client_fail(ClientStatus::kNoServer, reply.error().message +
                                                    "\nStart one with `berth up`, or name another with --server URL or "
                                                    "--data DIR.");
  }
  if (!reply && reply.error().code == ErrorCode::kTimedOut) {
    return client_fail(ClientStatus::kTimedOut, reply.error().message + "\n--timeout SECONDS sets how long to wait.");
  }
  if (!reply) return client_fail(static_cast<ClientStatus>(exit_status(reply.error().code)), reply.error().message);
  if (reply->status < 200 || reply->status > 299) return client_fail(error_of(*reply));
  if (reply->body.find_first_not_of(" \t\r\n") == std::string::npos) return Reply{reply->status, null_node()};
  auto tree = json::parse_document(reply->body, connection_.url + path,
                                   {.text_bytes_max = limits_.bytes_max, .value_count_max = limits_.values_max});
  if (!tree) {
    const bool is_too_large = tree.error().code == ErrorCode::kInvalidInput;
    return client_fail(
        ClientStatus::kFailed,
        fmt::format("the answer is {}: {}", is_too_large ? "too large" : "no JSON", printable(tree.error().message)));
  }
  return Reply{reply->status, std::move(*tree)};
}

ClientResult<std::vector<yaml::Node>> Client::list(const std::string& path) const {
  const std::string joint = path.find('?') == std::string::npos ? "?" : "&";
  std::vector<yaml::Node> items;
  std::string next;
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    auto reply = get(next.empty() ? path : path + joint + "continue=" + path_part(next));
    if (!reply) return client_fail(reply.error());
    yaml::List* found = items_of(reply->body);
    if (found == nullptr) {
      return client_fail(ClientStatus::kFailed,
                         fmt::format("{}{}: wanted a list with items, found another answer", connection_.url, path));
    }
    std::ranges::move(*found, std::back_inserter(items));
    next = text_at(reply->body, "metadata.continue").value_or("");
    if (next.empty()) return items;
  }
  return client_fail(ClientStatus::kFailed, fmt::format("{}{}: wanted a list that ends, found more than {} pages",
                                                        connection_.url, path, kPagesMax));
}

ClientResult<Client> connect(const ServerWords& words, const VerbContext& context) {
  auto connection = find_connection(words, *context.files);
  if (!connection) return client_fail(connection.error());
  return Client(context.make_http_client(), std::move(*connection));
}

std::string path_part(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace berth::cli
