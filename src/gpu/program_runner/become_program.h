/// The last steps of a new process before it is the program: everything of the agent is given up.
#pragma once

#include <string>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"
#include "gpu/programs/program_record.h"
#include "gpu/programs/program_rules.h"

namespace berth::edges {

struct ProgramStreams {
  int self = -1;    ///< the file of this program, for `serve`
  int output = -1;  ///< of standard output and error
};

/// In a child without other threads: a session of its own, no input, its limits, no core files, its user with no other
/// group, no capability, no new privileges, no descriptor but the standard streams, its home as folder. Then executes
/// it. Prints what failed, and exits with 127.
[[noreturn]] void become_program(const programs::ProgramStart& start, const std::string& home,
                                 const ProgramStreams& streams);

/// Makes the home of a program, which belongs to its user alone. Error: a message.
[[nodiscard]] Result<void> make_home(const std::string& home, const programs::ProgramStart& start);

/// Removes the home, as its user: whatever is in there, nothing else can be reached. Waits for at most
/// 30 s; something may be left then.
void remove_home(const std::string& home, const programs::ProgramStart& start);

/// Whether this process can become each user and group of the range. Error (kUnavailable): what is missing.
[[nodiscard]] Result<void> check_user_changes(const programs::UidRange& range);

}  // namespace berth::edges
