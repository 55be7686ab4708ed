/// The verbs that show or change a running machine. Options are the words as typed, absent if not given. Each verb
/// returns the text for stdout. kInvalidInput and kNotFound name the wrong option, what was wanted and what was found;
/// then nothing was changed.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

using Word = std::optional<std::string>;

struct ShowWords {
  Word state;
  Word format;
};
[[nodiscard]] Result<std::string> run_show(const ShowWords& words);

struct FaultVerbWords {
  Word state;
  Word gpu;
  Word call;
  Word error;
  bool is_done = false;
  Word after;
  Word times;
  Word ms;
  bool is_lost = false;
  Word xid;
  Word rate;
  Word instance;
  bool is_clear = false;
};
[[nodiscard]] Result<std::string> run_fault(const FaultVerbWords& words);

struct ProcessVerbWords {
  Word state;
  Word uuid;
  Word pid;
  Word memory_mib;
};
[[nodiscard]] Result<std::string> run_process(const ProcessVerbWords& words, bool is_added);

struct LoadVerbWords {
  Word state;
  Word uuid;
  Word graphics;
  Word tensor;
  Word dram;
  Word temperature;
  Word power;
  bool is_clear = false;
};
[[nodiscard]] Result<std::string> run_load(const LoadVerbWords& words);

struct ResetWords {
  Word state;
  Word gpu;
  bool is_reboot = false;
};
[[nodiscard]] Result<std::string> run_reset(const ResetWords& words);

}  // namespace berth::nvml_sim_cli
