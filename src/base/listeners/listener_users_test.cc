#include "base/listeners/listener_users.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::edges {
namespace {

using Users = std::vector<std::int64_t>;

TEST(ListenerUsers, AreReadFromTheTableOfTheKernel) {
  constexpr const char* kTable =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 600001        0 1 1 0 100\n"
      "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 2 1 0 100\n"
      "   2: 0A00000A:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     8        0 3 1 0 100\n"
      "   3: 0100007F:1F90 0100007F:1111 01 00000000:00000000 00:00000000 00000000     9        0 4 1 0 100\n"
      "   4: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000    10        0 5 1 0 100\n"
      "   5: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 x\n"
      "garbage\n\n";
  EXPECT_EQ(listener_users_in(kTable, 8080), (Users{600001, 7}));
  EXPECT_EQ(listener_users_in(kTable, 8081), Users{10});
  EXPECT_EQ(listener_users_in(kTable, 80), Users{});
  EXPECT_EQ(listener_users_in("", 80), Users{});
}

TEST(ListenerUsers, OfTheOtherFamilyCountIfTheyTakeItsConnections) {
  constexpr const char* kTable =
      "   0: 00000000000000000000000000000000:1F90 0:0 0A 0:0 00:0 0 1 0 0\n"
      "   1: 00000000000000000000000001000000:1F90 0:0 0A 0:0 00:0 0 2 0 0\n"
      "   2: 0000000000000000FFFF00000100007F:1F90 0:0 0A 0:0 00:0 0 3 0 0\n"
      "   3: 000080FE00000000FFFF00000100007F:1F90 0:0 0A 0:0 00:0 0 4 0 0\n";
  EXPECT_EQ(listener_users_in(kTable, 8080), (Users{1, 2, 3}));
}

TEST(ListenerUsers, OfThisProcessAreItsOwn) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(socket, place, size), 0);
  ASSERT_EQ(::getsockname(socket, place, &size), 0);
  EXPECT_TRUE(listener_users(ntohs(address.sin_port))->empty());
  ASSERT_EQ(::listen(socket, 1), 0);
  EXPECT_EQ(*listener_users(ntohs(address.sin_port)), Users{::geteuid()});
  ::close(socket);
}

}  // namespace
}  // namespace berth::edges
