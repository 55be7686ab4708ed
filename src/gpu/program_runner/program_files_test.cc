// Files and processes around a program.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "gpu/hands/test_folder.h"
#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/http_probe.h"
#include "gpu/program_runner/program_log.h"
#include "gpu/program_runner/readable_engine.h"
#include "gpu/program_runner/running_process.h"
#include "gpu/program_runner/trusted_file.h"

namespace berth::edges {
namespace {

class ProgramFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string put(const std::string& name, const std::string& text, mode_t mode) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  TestFolder folder_;
};

TEST_F(ProgramFilesTest, ARecordIsReplacedAndPrivate) {
  const std::string path = folder_.path() + "/record";
  EXPECT_EQ(read_record_file(path).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(write_record(path, "one").has_value());
  ASSERT_TRUE(write_record(path, "two").has_value());
  EXPECT_EQ(read_record_file(path).value(), "two");
  struct stat found = {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_FALSE(write_record(folder_.path() + "/none/record", "x").has_value());
}

TEST_F(ProgramFilesTest, ALockIsTakenOnce) {
  const std::string path = folder_.path() + "/lock";
  {
    const auto lock = lock_file(path, LockWait::kNone);
    ASSERT_TRUE(lock && lock->is_open());
    const auto second = lock_file(path, LockWait::kNone);
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(second->is_open());
  }
  EXPECT_TRUE(lock_file(path, LockWait::kNone)->is_open());
}

TEST_F(ProgramFilesTest, OnlyItsOwnerMayChangeAProgram) {
  const std::string good = put("good", "#!/bin/sh\n", 0755);
  EXPECT_TRUE(check_trusted_program(good).has_value()) << check_trusted_program(good).error().message;
  for (const mode_t mode : {0775, 0757, 0644}) {
    EXPECT_EQ(check_trusted_program(put("bad", "", mode)).error().code, ErrorCode::kInvalidInput) << mode;
  }
  EXPECT_FALSE(check_trusted_program(folder_.path() + "/none").has_value());
  const std::string writable = folder_.path() + "/open";
  std::filesystem::create_directory(writable);
  ASSERT_EQ(::chmod(writable.c_str(), 0755), 0);
  std::filesystem::create_symlink(good, writable + "/link");
  std::filesystem::create_symlink("open/link", folder_.path() + "/closed_link");
  EXPECT_TRUE(check_trusted_program(folder_.path() + "/closed_link").has_value());
  ASSERT_EQ(::chmod(writable.c_str(), 0777), 0);
  EXPECT_FALSE(check_trusted_program(writable + "/link").has_value()) << "another link may be put in its place";
  EXPECT_FALSE(check_trusted_program(folder_.path() + "/closed_link").has_value());
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_FALSE(check_trusted_program(good).has_value()) << "another program may be put in its place";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  EXPECT_TRUE(check_trusted_program(good).has_value()) << "the sticky bit keeps others from that";
}

TEST_F(ProgramFilesTest, AForeignFileIsNoLinkAndOfTheFoldersOwner) {
  static_cast<void>(put("device.yaml", "text", 0644));
  EXPECT_EQ(read_foreign_file(folder_.path(), "device.yaml", 100).value(), "text");
  EXPECT_FALSE(read_foreign_file(folder_.path(), "device.yaml", 3).has_value()) << "too long";
  EXPECT_EQ(read_foreign_file(folder_.path(), "none", 100).error().code, ErrorCode::kNotFound);
  std::filesystem::create_symlink("device.yaml", folder_.path() + "/link");
  EXPECT_FALSE(read_foreign_file(folder_.path(), "link", 100).has_value());
  std::filesystem::create_hard_link(folder_.path() + "/device.yaml", folder_.path() + "/second");
  EXPECT_FALSE(read_foreign_file(folder_.path(), "second", 100).has_value());
  ASSERT_EQ(::mkfifo((folder_.path() + "/fifo").c_str(), 0644), 0);
  EXPECT_FALSE(read_foreign_file(folder_.path(), "fifo", 100).has_value());
}

TEST_F(ProgramFilesTest, AnEngineThatOthersCannotReadIsCopied) {
  const std::string closed = folder_.path() + "/closed";
  std::filesystem::create_directory(closed);
  std::ofstream(closed + "/libonnxruntime.so.1") << "library";
  std::ofstream(closed + "/libonnxruntime_providers_shared.so") << "provider";
  std::ofstream(closed + "/other") << "secret";
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
  const auto path = readable_engine(closed + "/libonnxruntime.so.1", folder_.path() + "/engine");
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_EQ(*path, folder_.path() + "/engine/libonnxruntime.so.1");
  EXPECT_EQ(read_end(*path, 100), "library");
  EXPECT_EQ(read_end(folder_.path() + "/engine/libonnxruntime_providers_shared.so", 100), "provider");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/engine/other"));
  EXPECT_EQ(readable_engine("/bin/sh", "/none").value(), std::filesystem::canonical("/bin/sh"));
  EXPECT_FALSE(readable_engine(closed + "/none", folder_.path() + "/engine").has_value());
}

TEST_F(ProgramFilesTest, AProcessIsItsNumberAndStartTime) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto identity = identity_of(child);
  ASSERT_TRUE(identity.has_value());
  const Descriptor process = open_process(*identity);
  ASSERT_TRUE(process.is_open());
  EXPECT_FALSE(has_ended(process));
  EXPECT_FALSE(open_process({.pid = identity->pid, .started = identity->started + 1}).is_open()) << "an earlier one";
  send_signal(process, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(has_ended(process));
  EXPECT_FALSE(open_process(*identity).is_open());
}

TEST_F(ProgramFilesTest, AFullLogIsRenamed) {
  const std::string path = folder_.path() + "/log";
  LogFile log(path);
  const std::string mebibyte(std::size_t{1} << 20U, 'x');
  for (int i = 0; i < 10; ++i) log.append(mebibyte);
  EXPECT_FALSE(std::filesystem::exists(path + ".1"));
  log.append("next");
  EXPECT_EQ(std::filesystem::file_size(path + ".1"), 10U << 20U);
  EXPECT_EQ(read_end(path, 100), "next");
  EXPECT_EQ(read_end(path, 2), "xt");
}

TEST_F(ProgramFilesTest, AProbeOfAClosedPortSaysSo) {
  const int port = free_loopback_port();
  ASSERT_GT(port, 0);
  HttpProbe probe;
  std::optional<ProbeAnswer> answer;
  for (int i = 0; i < 1000 && !answer; ++i) answer = probe.step({.port = port, .path = "/"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 0);
  EXPECT_EQ(answer->message, "does not listen at its port");
  EXPECT_FALSE(is_taken_by_another(port, 12345));
}

TEST_F(ProgramFilesTest, APortHasAnOwner) {
  const int port = free_loopback_port();
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_FALSE(is_taken_by_another(port, ::geteuid() + 1)) << "nobody listens yet";
  ASSERT_EQ(::listen(socket.number(), 1), 0);
  EXPECT_FALSE(is_taken_by_another(port, ::geteuid()));
  EXPECT_TRUE(is_taken_by_another(port, std::int64_t{::geteuid()} + 1));
}

}  // namespace
}  // namespace berth::edges
