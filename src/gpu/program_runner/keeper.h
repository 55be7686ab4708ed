/// The keeper of one program: a process of its own, between the agent and the program, that no end of the agent ends.
#pragma once

#include <cstdint>
#include <string>

namespace berth::edges {

/// Names of the files in the folder of a program.
namespace program_files {
inline constexpr const char* kLock = "/lock";       ///< held by its keeper as long as a process of the program is left
inline constexpr const char* kRecord = "/program";  ///< programs::ProgramRecord, by the agent
inline constexpr const char* kRun = "/run";         ///< programs::RunRecord, by the keeper
inline constexpr const char* kEnd = "/end";         ///< programs::EndRecord, by the keeper
inline constexpr const char* kLog = "/log";         ///< and log.1
inline constexpr const char* kHome = "/home";       ///< of the program: its only folder
inline constexpr const char* kDevice = "/device.yaml";
inline constexpr const char* kModels = "/models";
}  // namespace program_files

/// Runs start number `start_number` of the program in this folder, and returns the exit status of the keeper once no
/// process of the program is left. Number 0 of a program that is not wanted: only removes its folder. Requires: one
/// thread.
///
/// - It starts nothing if another keeper is at work, if the record describes another start, or if it is not wanted: so
///   a start that the agent ordered before it was killed happens at most once.
/// - The program is executed after the numbers of keeper and program are on the disk.
/// - When the program ends, its descendants are killed. SIGTERM to the keeper: SIGTERM to all of them, after ten
///   seconds SIGKILL. It is their reaper (PR_SET_CHILD_SUBREAPER), so that none escapes by a double fork.
/// - If the keeper itself is killed, the kernel kills the program (PR_SET_PDEATHSIG).
/// - What the program prints goes to its log.
[[nodiscard]] int run_keeper(const std::string& folder, std::int64_t start_number);

}  // namespace berth::edges
