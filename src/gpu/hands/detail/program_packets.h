/// The packets of the protocol that are about programs.
#pragma once

#include <string>

#include "base/yaml/reader.h"
#include "gpu/hands/protocol.h"

namespace berth::edges::detail {

[[nodiscard]] std::string text_of(const StartProgram& packet);
[[nodiscard]] std::string text_of(const StopProgram& packet);
[[nodiscard]] std::string text_of(const ListPrograms& packet);
[[nodiscard]] std::string text_of(const ReadProgramLog& packet);
[[nodiscard]] std::string text_of(const ProgramState& packet);
[[nodiscard]] std::string text_of(const ProgramsListed& packet);
/// The last bytes of the log that fit into a packet.
[[nodiscard]] std::string text_of(const ProgramLog& packet);
[[nodiscard]] std::string text_of(const ProgramOffered& packet);

/// Failures are kept in the report of `root`.
[[nodiscard]] StartProgram read_start_program(const yaml::Value& root);
[[nodiscard]] StopProgram read_stop_program(const yaml::Value& root);
[[nodiscard]] ReadProgramLog read_log_question(const yaml::Value& root);
[[nodiscard]] ProgramState read_program_state(const yaml::Value& root);
[[nodiscard]] ProgramLog read_program_log(const yaml::Value& root);
[[nodiscard]] ProgramOffered read_program_offered(const yaml::Value& root);

}  // namespace berth::edges::detail
