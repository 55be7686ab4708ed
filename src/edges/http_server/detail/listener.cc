#include "edges/http_server/detail/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace berth::edges::detail {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string place(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

tl::unexpected<Error> cannot_listen(const std::string& at, int number) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: cannot listen: {}", at, std::generic_category().message(number)));
}

Result<Addresses> find_addresses(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0) {
    return invalid(fmt::format("{}: wanted an address of this machine: {}", place(host, port), ::gai_strerror(status)));
  }
  return Addresses(found, &::freeaddrinfo);
}

/// The port that the system gave the socket.
std::uint16_t port_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

}  // namespace

Listener::~Listener() {
  if (socket_ >= 0) ::close(socket_);
}

Result<Listener> listen_at(const std::string& host, std::uint16_t port) {
  const auto addresses = find_addresses(host, port);
  if (!addresses) return pass_on(addresses.error());
  const addrinfo& address = **addresses;
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  Listener opened(::socket(address.ai_family, kind, 0), 0);
  if (opened.socket() < 0) return cannot_listen(place(host, port), errno);
  // A restarted server must not wait for the old one's closed connections. A port in use is still refused.
  const int on = 1;
  ::setsockopt(opened.socket(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(opened.socket(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(opened.socket(), SOMAXCONN) != 0) {
    return cannot_listen(place(host, port), errno);
  }
  Listener ready(opened.socket(), port_of(opened.socket()));
  opened.release();
  return ready;
}

std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address != nullptr && address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(four->sin_port));
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(six->sin6_port));
  }
  return {};
}

}  // namespace berth::edges::detail
