#include "gpu/hands/capabilities.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>

namespace berth::edges {
namespace {

/// The lines "Name:\tvalue" of /proc/self/status.
std::map<std::string, std::string> own_status() {
  std::map<std::string, std::string> lines;
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(":\t");
    if (colon != std::string::npos) lines[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return lines;
}

/// Runs in a separate process, as dropped capabilities cannot be regained. Returns its exit status.
int in_a_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Capabilities, AreAllDropped) {
  const bool could_shrink = ::prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 1 && may_change_gpus();
  EXPECT_EQ(in_a_child([&] {
              if (!drop_capabilities()) return 1;
              auto status = own_status();
              for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
                if (status[set] != "0000000000000000") return 2;
              }
              if (could_shrink && status["CapBnd"] != "0000000000000000") return 3;
              if (status["NoNewPrivs"] != "1") return 4;
              return may_change_gpus() ? 5 : 0;
            }),
            0);
}

TEST(Capabilities, DoNotComeBackInAnotherProgram) {
  EXPECT_EQ(in_a_child([] {
              if (!drop_capabilities()) return 1;
              ::execl("/bin/sh", "sh", "-c", "grep -q '^CapEff:.0000000000000000$' /proc/self/status", nullptr);
              return 2;
            }),
            0);
}

TEST(Capabilities, AreDroppedTwiceLikeOnce) {
  EXPECT_EQ(in_a_child([] { return drop_capabilities() && drop_capabilities() ? 0 : 1; }), 0);
}

TEST(Capabilities, OfRootAreEnough) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_TRUE(may_change_gpus());
}

TEST(Capabilities, OfOthersAreNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: cannot become somebody else";
  EXPECT_EQ(in_a_child([] {
              if (::setresuid(65534, 65534, 65534) != 0) return 1;
              if (may_change_gpus()) return 2;
              return drop_capabilities() ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace berth::edges
