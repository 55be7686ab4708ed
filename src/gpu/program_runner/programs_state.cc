#include "gpu/program_runner/programs_state.h"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <thread>

#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/keeper.h"
#include "gpu/program_runner/trusted_file.h"
#include "gpu/programs/program_record.h"

namespace berth::edges {
namespace {

constexpr std::size_t kMessageLogBytes = 1024;
constexpr mode_t kPassableMode = 0711;  // a program's user must reach its home
constexpr mode_t kRemovedMode = 0700;

}  // namespace

std::string programs_folder(const programs::ProgramRules& rules) { return rules.state + "/programs"; }

std::string removed_folder(const programs::ProgramRules& rules) { return rules.state + "/removed"; }

std::string uids_path(const programs::ProgramRules& rules) { return rules.state + "/uids"; }

std::string lines_of_start(const std::string& folder) {
  std::string text = read_end(folder + program_files::kLog, 4 * kMessageLogBytes);
  const std::size_t begin = text.rfind("[berth] start ");
  const std::size_t line_end = begin == std::string::npos ? begin : text.find('\n', begin);
  if (line_end != std::string::npos) text.erase(0, line_end + 1);
  if (const std::size_t own = text.rfind("[berth] "); own != std::string::npos) text.resize(own);
  return programs::last_lines(text, kMessageLogBytes);
}

std::string boot_id() {
  const auto text = read_record_file("/proc/sys/kernel/random/boot_id");
  return text.value_or("");
}

Result<void> prepare_state(const programs::ProgramRules& rules) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(rules.state).parent_path(), ignored);
  if (auto made = make_own_folder(rules.state, kPassableMode); !made) return made;
  if (auto trusted = check_trusted(rules.state); !trusted) return invalid("programs_state: " + trusted.error().message);
  std::filesystem::remove_all(removed_folder(rules), ignored);
  if (auto made = make_own_folder(removed_folder(rules), kRemovedMode); !made) return made;
  return make_own_folder(programs_folder(rules), kPassableMode);
}

Result<void> make_program_folder(const std::string& folder) { return make_own_folder(folder, kPassableMode); }

Result<programs::TenantUids> read_uids_file(const programs::ProgramRules& rules) {
  const auto text = read_record_file(uids_path(rules));
  if (!text && text.error().code == ErrorCode::kNotFound) return programs::TenantUids();
  if (!text) return pass_on(text.error());
  return programs::TenantUids::read(*text, uids_path(rules));
}

/// An agent that was killed lets its lock go a little later than its successor begins.
Result<Descriptor> lock_state(const programs::ProgramRules& rules) {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kPause{50};
  for (int i = 0; i < kTries; ++i) {
    auto lock = lock_file(rules.state + "/lock", LockWait::kNone);
    if (!lock || lock->is_open()) return lock;
    std::this_thread::sleep_for(kPause);
  }
  return fail(ErrorCode::kUnavailable, rules.state + ": another berth hands uses this programs_state");
}

}  // namespace berth::edges
