#include "gpu/nvml_sim_program/module_list.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "gpu/nvml_sim_program/files.h"

namespace berth::nvml_sim_cli {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOpen = __NR_open;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOpen = __NR_openat;  // this architecture has no older call
#else
constexpr std::uint32_t kArchitecture = 0;  // no call matches: nothing is intercepted
constexpr std::uint32_t kOpen = __NR_openat;
#endif

/// Intercepts openat and open, and nothing else.
constexpr std::array<sock_filter, 7> kFilter = {{
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kOpen, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
}};

/// Whether the text at this address of another process is the path of the module list.
bool is_module_list(pid_t pid, std::uint64_t address) {
  const std::string_view wanted(kModuleListPath, std::strlen(kModuleListPath) + 1);
  std::array<char, 32> found{};
  const iovec here = {found.data(), wanted.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
  const iovec there = {reinterpret_cast<void*>(address), wanted.size()};
  const ssize_t count = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
  return count == static_cast<ssize_t>(wanted.size()) && std::string_view(found.data(), wanted.size()) == wanted;
}

/// Installs the file in the asking process as the result of its call. False: that failed.
bool hand_over(int descriptor, std::uint64_t id, const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  seccomp_notif_addfd handed = {};
  handed.id = id;
  handed.flags = SECCOMP_ADDFD_FLAG_SEND;
  handed.srcfd = static_cast<std::uint32_t>(file);
  handed.newfd_flags = O_CLOEXEC;
  const bool is_done = ::ioctl(descriptor, SECCOMP_IOCTL_NOTIF_ADDFD, &handed) >= 0;
  ::close(file);
  return is_done;
}

}  // namespace

Result<int> watch_openings() {
  const sock_fprog program = {.len = kFilter.size(), .filter = const_cast<sock_filter*>(kFilter.data())};
  const long descriptor = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (descriptor >= 0) return static_cast<int>(descriptor);
  return invalid(std::string(kModuleListPath) +
                 " does not exist here, and the kernel does not let us stand in for it: " + text_of_errno());
}

void serve_opening(int descriptor, const std::string& path) {
  seccomp_notif question = {};
  if (::ioctl(descriptor, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;  // it was interrupted
  const bool has_directory = question.data.nr == __NR_openat;
  const std::uint64_t address = question.data.args[has_directory ? 1 : 0];
  if (is_module_list(static_cast<pid_t>(question.pid), address) && hand_over(descriptor, question.id, path)) return;
  seccomp_notif_resp answer = {};
  answer.id = question.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(descriptor, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace berth::nvml_sim_cli
