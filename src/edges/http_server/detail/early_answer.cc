#include "edges/http_server/detail/early_answer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <ctime>
#include <string>
#include <utility>

#include "edges/http_server/detail/header_rules.h"

namespace berth::edges::detail {
namespace {

/// For a client that neither sends nor closes.
constexpr unsigned kLingerSeconds = 5;

std::string answer_text(const HttpResponse& response, bool is_head) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\nConnection: close\r\nContent-Length: {}\r\n",
                  response.status, MHD_get_reason_phrase_for(static_cast<unsigned>(response.status)),
                  fmt::gmtime(std::time(nullptr)), response.body.size());
  if (!response.content_type.empty()) text += "Content-Type: " + response.content_type + "\r\n";
  for (const HttpField& field : response.headers) {
    if (is_token(field.name) && is_header_value(field.value)) text += field.name + ": " + field.value + "\r\n";
  }
  text += "\r\n";
  if (!is_head) text += response.body;
  return text;
}

}  // namespace

bool send_early(MHD_Connection& connection, const HttpResponse& response, bool is_head) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return false;
  const std::string text = answer_text(response, is_head);
  const ssize_t sent = ::send(info->connect_fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (std::cmp_not_equal(sent, text.size()) || ::shutdown(info->connect_fd, SHUT_WR) != 0) return false;
  return MHD_set_connection_option(&connection, MHD_CONNECTION_OPTION_TIMEOUT, kLingerSeconds) == MHD_YES;
}

void end_sending(MHD_Connection& connection) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info != nullptr) ::shutdown(info->connect_fd, SHUT_WR);
}

}  // namespace berth::edges::detail
