#include "edges/kube/testing/fake_request.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace berth::edges::testing {
namespace {

bool receive_more(int connection, std::string& received) {
  char piece[8192];
  const ssize_t count = ::recv(connection, piece, sizeof(piece), 0);
  if (count > 0) received.append(piece, static_cast<std::size_t>(count));
  return count > 0;
}

std::string header_in(std::string_view head, std::string_view name) {
  const std::size_t at = head.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return std::string(head.substr(begin, head.find("\r\n", begin) - begin));
}

std::string decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      bytes += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(decoded(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::optional<FakeRequest> receive_request(int connection, std::string& received) {
  std::size_t end = std::string::npos;
  while ((end = received.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more(connection, received)) return std::nullopt;
  }
  const std::string head = received.substr(0, end + 2);
  const auto length = static_cast<std::size_t>(std::atoll(header_in(head, "Content-Length: ").c_str()));
  while (received.size() < end + 4 + length) {
    if (!receive_more(connection, received)) return std::nullopt;
  }
  FakeRequest request;
  request.method = head.substr(0, head.find(' '));
  const std::size_t begin = request.method.size() + 1;
  request.target = head.substr(begin, head.find(' ', begin) - begin);
  request.token = header_in(head, "Authorization: Bearer ");
  request.content_type = header_in(head, "Content-Type: ");
  request.body = received.substr(end + 4, length);
  received.erase(0, end + 4 + length);
  return request;
}

FakePlace place_of(const std::string& target) {
  FakePlace place;
  const std::size_t question = std::min(target.find('?'), target.size());
  if (question < target.size()) {
    for (const std::string& field : split(std::string_view(target).substr(question + 1), '&')) {
      const std::size_t equals = std::min(field.find('='), field.size());
      place.fields[field.substr(0, equals)] = field.substr(std::min(equals + 1, field.size()));
    }
  }
  const std::vector<std::string> parts = split(std::string_view(target).substr(0, question), '/');
  std::size_t at = !parts.empty() && parts[0] == "api" ? 2 : 3;
  for (std::size_t i = 0; i < std::min(at, parts.size()); ++i) place.collection += "/" + parts[i];
  if (parts.size() > at + 2 && parts[at] == "namespaces") {
    place.name.namespace_name = parts[at + 1];
    at += 2;
  }
  if (parts.size() > at) place.collection += "/" + parts[at];
  if (parts.size() > at + 1) place.name.name = parts[at + 1];
  if (parts.size() > at + 2) place.subresource = parts[at + 2];
  return place;
}

}  // namespace berth::edges::testing
