// The program `berth-nvml-sim`: its command line. When called as `nvidia-smi`, it acts as that program.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/text.h"
#include "gpu/nvml_sim_program/nvidia_smi.h"
#include "gpu/nvml_sim_program/run.h"
#include "gpu/nvml_sim_program/state_verbs.h"

namespace berth::nvml_sim_cli {
namespace {

constexpr int kStatusFailed = 1;
constexpr int kStatusBadInput = 2;

constexpr const char* kHelp =
    "Simulated NVIDIA GPUs for any program: a library that answers as NVML does, with the whole life of MIG.";
constexpr const char* kExamples = R"(Examples:
  berth-nvml-sim run --fleet fleet.yaml -- nvidia-smi -L
  berth-nvml-sim run --fleet fleet.yaml --state /tmp/machine -- bash
  berth-nvml-sim show --state /tmp/machine
  berth-nvml-sim fault --state /tmp/machine --gpu 0 --call create_gpu_instance --error IN_USE
  berth-nvml-sim reset --state /tmp/machine --reboot

Exit status: of run that of COMMAND; else 0 done, 1 the environment failed, 2 bad input.)";
constexpr const char* kRunHelp =
    R"(After -- stand the program and its arguments. It finds the library as libnvidia-ml.so.1, and a small nvidia-smi.

Exit status: that of the program; 128 + n after signal n, 127 not found, 126 not executable. 2 bad input and 1 the
environment failed: it was not started.)";
constexpr const char* kStateHelp = "The machine's state; default: $BERTH_NVML_SIM_STATE, as programs have it under run";

/// Finishes a verb: its text goes to stdout, an error to stderr. Returns the exit status.
int finish(const Result<std::string>& outcome) {
  const std::string text = outcome ? *outcome : "berth-nvml-sim: " + outcome.error().message + "\n";
  std::FILE* const stream = outcome ? stdout : stderr;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (outcome) return is_written ? 0 : kStatusFailed;
  return outcome.error().code == ErrorCode::kUnavailable ? kStatusFailed : kStatusBadInput;
}

void add_word(CLI::App& verb, const char* name, Word& word, const char* type, const char* help) {
  verb.add_option(name, word, help)->type_name(type);
}

void add_flag(CLI::App& verb, const char* name, bool& flag, const char* help) { verb.add_flag(name, flag, help); }

/// All options of all verbs, and the status of the one that ran.
struct Words {
  RunWords run;
  ShowWords show;
  FaultVerbWords fault;
  ProcessVerbWords process;
  LoadVerbWords load;
  ResetWords reset;
  bool has_command = false;  ///< `--` was there
  int status = 0;
};

int run_command(const Words& words) {
  if (!words.has_command || words.run.command.empty()) return finish(invalid("run: wanted -- COMMAND ..., found none"));
  const auto status = run_on_machine(words.run);
  return status ? *status : finish(pass_on(status.error()));
}

void add_run(CLI::App& app, Words& words) {
  CLI::App* verb = app.add_subcommand("run", "Runs a program on a simulated machine: run --fleet FILE -- COMMAND ...");
  verb->add_option("--fleet", words.run.fleet, "The fleet file: docs/reference/nvml_sim.md")
      ->type_name("FILE")
      ->required();
  verb->add_option("--state", words.run.state, "Where the state is kept; default: it ends with COMMAND")
      ->type_name("PATH");
  verb->add_flag("--fake-root", words.run.has_fake_root,
                 "Also /proc/modules, the boot id and the PCI devices, in a mount namespace of its own");
  verb->footer(kRunHelp);
  verb->callback([&words] { words.status = run_command(words); });
}

void add_show(CLI::App& app, Words& words) {
  CLI::App* verb = app.add_subcommand("show", "Prints the machine; ? marks what no primary source confirms");
  add_word(*verb, "--state", words.show.state, "PATH", kStateHelp);
  add_word(*verb, "--format", words.show.format, "WORD", "text (default) or json");
  verb->callback([&words] { words.status = finish(run_show(words.show)); });
}

void add_fault(CLI::App& app, Words& words) {
  FaultVerbWords& fault = words.fault;
  CLI::App* verb =
      app.add_subcommand("fault", "Lets something go wrong on a GPU: one of --call, --lost, --xid, --clear");
  add_word(*verb, "--state", fault.state, "PATH", kStateHelp);
  add_word(*verb, "--gpu", fault.gpu, "N", "The GPU's index");
  add_word(*verb, "--call", fault.call, "NAME", "Calls of a function, or all that take a latency: create_gpu_instance");
  add_word(*verb, "--error", fault.error, "CODE",
           "What they report: IN_USE, UNKNOWN ..; without it they are only slow");
  add_flag(*verb, "--done", fault.is_done, "They are carried out all the same");
  add_word(*verb, "--after", fault.after, "K", "The first K calls pass (0)");
  add_word(*verb, "--times", fault.times, "M", "So many calls are hit, or XIDs happen (1)");
  add_word(*verb, "--ms", fault.ms, "T", "Each is held up so long (0); --clear frees it");
  add_flag(*verb, "--lost", fault.is_lost, "The GPU falls off the bus, until a reset");
  add_word(*verb, "--xid", fault.xid, "CODE", "An XID happens; 79 loses the GPU, too");
  add_word(*verb, "--rate", fault.rate, "R", "XIDs per second; without it all happen at once");
  add_word(*verb, "--instance", fault.instance, "ID", "The GPU instance that the XIDs are attributed to");
  add_flag(*verb, "--clear", fault.is_clear, "Takes all injected faults of the GPU back");
  verb->callback([&words] { words.status = finish(run_fault(words.fault)); });
}

void add_process(CLI::App& app, Words& words) {
  CLI::App* process = app.add_subcommand("process", "Puts processes on GPUs and MIG devices, or takes them away");
  process->require_subcommand(1);
  for (const bool is_added : {true, false}) {
    CLI::App* verb = process->add_subcommand(is_added ? "add" : "remove",
                                             is_added ? "A process uses a device" : "It uses it no longer");
    add_word(*verb, "--state", words.process.state, "PATH", kStateHelp);
    add_word(*verb, "--uuid", words.process.uuid, "UUID",
             is_added ? "Of a GPU without MIG mode, or of a MIG device"
                      : "Of a MIG device, or of a GPU with all of its own; without it: wherever the process is");
    add_word(*verb, "--pid", words.process.pid, "PID", "Its id; it need not exist");
    add_word(*verb, "--memory-mib", words.process.memory_mib, "M", "The memory that it uses there (0)");
    verb->callback([&words, is_added] { words.status = finish(run_process(words.process, is_added)); });
  }
}

void add_load(CLI::App& app, Words& words) {
  LoadVerbWords& load = words.load;
  CLI::App* verb = app.add_subcommand("load", "Sets figures of load, which otherwise follow the processes");
  add_word(*verb, "--state", load.state, "PATH", kStateHelp);
  add_word(*verb, "--uuid", load.uuid, "UUID", "Of a GPU, or of a MIG device: then those of its GPU instance");
  add_word(*verb, "--graphics", load.graphics, "P", "Percent of the time that any engine was active");
  add_word(*verb, "--tensor", load.tensor, "P", "Percent of the time that tensor cores were active");
  add_word(*verb, "--dram", load.dram, "P", "Percent of the memory's bandwidth");
  add_word(*verb, "--temperature", load.temperature, "C", "Degrees Celsius of the GPU");
  add_word(*verb, "--power", load.power, "W", "Watts that the GPU draws");
  add_flag(*verb, "--clear", load.is_clear, "The figures of the device follow its processes again");
  verb->callback([&words] { words.status = finish(run_load(words.load)); });
}

void add_reset(CLI::App& app, Words& words) {
  CLI::App* verb = app.add_subcommand("reset", "Resets a GPU, or reboots the machine; nothing is asked of who uses it");
  add_word(*verb, "--state", words.reset.state, "PATH", kStateHelp);
  add_word(*verb, "--gpu", words.reset.gpu, "N", "The GPU's index");
  add_flag(*verb, "--reboot", words.reset.is_reboot, "All GPUs, with a new boot id");
  verb->callback([&words] { words.status = finish(run_reset(words.reset)); });
}

/// Our own arguments; those of COMMAND after `--` are stored unread.
std::vector<const char*> split_command(int argc, const char* const* argv, Words& words) {
  std::vector<const char*> ours;
  for (int i = 0; i < argc; ++i) {
    if (words.has_command) {
      words.run.command.emplace_back(argv[i]);
    } else if (std::string_view(argv[i]) == "--") {
      words.has_command = true;
    } else {
      ours.push_back(argv[i]);
    }
  }
  return ours;
}

/// The message for arguments that cannot be parsed.
std::string parse_message(const CLI::App& app, const std::vector<const char*>& ours, const CLI::ParseError& error) {
  if (ours.size() < 2 || ours[1][0] == '-' || !app.get_subcommands().empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  return "wanted a verb, found " + in_quotes(ours[1]) + spelling_hint(ours[1], known);
}

int run_verbs(int argc, const char* const* argv) {
  Words words;
  const std::vector<const char*> ours = split_command(argc, argv, words);
  if (words.has_command && (ours.size() < 2 || std::string_view(ours[1]) != "run")) {
    return finish(invalid("wanted -- only with run, found it with another verb\nSee: berth-nvml-sim --help"));
  }
  CLI::App app(kHelp, "berth-nvml-sim");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "berth-nvml-sim " BERTH_VERSION);
  add_run(app, words);
  add_show(app, words);
  add_fault(app, words);
  add_process(app, words);
  add_load(app, words);
  add_reset(app, words);
  app.footer(kExamples);  // after the verbs, which would inherit it
  try {
    app.parse(static_cast<int>(ours.size()), ours.data());
  } catch (const CLI::CallForVersion& version) {
    return finish(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    return finish(app.help());
  } catch (const CLI::ParseError& error) {
    return finish(invalid(parse_message(app, ours, error) + "\nSee: berth-nvml-sim --help"));
  }
  if (app.get_subcommands().empty()) return finish(invalid("wanted a verb, found none\nSee: berth-nvml-sim --help"));
  return words.status;
}

}  // namespace
}  // namespace berth::nvml_sim_cli

int main(int argc, char** argv) {
  using namespace berth::nvml_sim_cli;
  try {
    const bool is_smi = argc > 0 && std::filesystem::path(argv[0]).filename() == "nvidia-smi";
    if (is_smi) return run_nvidia_smi({argv + 1, argv + argc}, stdout, stderr);
    return run_verbs(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "berth-nvml-sim: %s\n", error.what());
  }
  return 1;
}
