#include "surface/cli/hands/hands_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#ifdef BERTH_HAS_ONNX_ENGINE
#include "edges/onnx_runtime/onnx_library.h"
#endif
#include "gpu/device/verbs.h"
#include "gpu/hands/capabilities.h"
#include "gpu/hands/descriptor.h"
#include "gpu/hands/gpu_lock.h"
#include "gpu/hands/hands_server.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/protocol.h"
#include "gpu/nvml/open_gpu_changer.h"
#include "gpu/program_runner/keeper.h"
#include "gpu/program_runner/program_runner.h"
#include "gpu/program_runner/trusted_file.h"
#include "surface/cli/shared/config_file.h"

namespace berth::cli {
namespace {

constexpr std::size_t kConfigBytesMax = std::size_t{4} << 20U;

/// Ignores errors: the reader of stderr may have exited, which must not abort a change.
void say(std::FILE* err, std::string_view text) {
  std::fputs(fmt::format("berth hands: {}\n", text).c_str(), err);
  std::fflush(err);
}

/// A descriptor that becomes readable when the process should stop. Must be made before any thread, so that no thread
/// receives the signals.
edges::Descriptor hold_signals(bool has_socket) {
  ::signal(SIGPIPE, SIG_IGN);  // the reader of stderr may exit first, during a change
  sigset_t held;
  sigemptyset(&held);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&held, each);
  ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
  sigset_t heard;
  sigemptyset(&heard);
  sigaddset(&heard, SIGTERM);
  if (has_socket) sigaddset(&heard, SIGINT);  // else the client's disconnection is the request to stop
  return edges::Descriptor(::signalfd(-1, &heard, SFD_CLOEXEC));
}

Result<Config> read_managed(const HandsRequest& request, const Files& files) {
  const auto judged = edges::read_and_judge(request.config_path, kConfigBytesMax);
  if (!judged) {
    const auto text = files.read(request.config_path);  // says it in the words of every other file
    return pass_on(text ? judged.error() : text.error());
  }
  auto config = read_config(judged->text, request.config_path);
  if (!config) return pass_on(config.error());
  if (config->manage.empty() && !config->programs.has_any()) {
    return invalid(request.config_path + ": manage: wanted at least one GPU that may be changed, found none");
  }
  if (!config->programs.has_any()) return config;
  // What it says is executed: nobody else may write it.
  if (!judged->is_trusted) return pass_on(judged->is_trusted.error());
  if (auto checked = edges::check_rules(config->programs); !checked) {
    return fail(checked.error().code, request.config_path + ": " + checked.error().message);
  }
  return config;
}

Result<edges::ChangeableGpus> open_gpus(const HandsRequest& request) {
  auto opened = edges::open_gpu_changer(request.nvml_path);
  if (opened) return std::move(*opened);
  const edges::NoGpuLibrary& none = opened.error();
  const bool is_wrong = none.reason == edges::NoGpuLibrary::Reason::kFunctionMissing;
  return fail(is_wrong ? ErrorCode::kInvalidInput : ErrorCode::kUnavailable, none.message);
}

/// The managed GPUs that are in this machine. Absent ones are an error, except for a client that started this process:
/// it knows that they are lost.
Result<std::vector<device::ManagedGpu>> keep_present(const Config& config, GpuLibrary& library,
                                                     const HandsRequest& request) {
  const auto listed = library.list();
  if (!listed) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", listed.error().call, listed.error().code_name));
  }
  std::vector<device::ManagedGpu> managed = config.manage;
  const auto absent = find_absent(managed, config.manage_places, *listed);
  if (absent.empty()) return managed;
  if (!request.socket_path.empty()) return invalid(absent.front());
  std::erase_if(managed, [&](const device::ManagedGpu& gpu) {
    return std::ranges::find(*listed, gpu.uuid, &GpuLibrary::Listed::uuid) == listed->end();
  });
  return managed;
}

Result<bool> serve(const HandsRequest& request, int stop, edges::HandsServerOptions options, std::FILE* out) {
  if (request.socket_path.empty()) return edges::serve_client(edges::Descriptor(request.fd), stop, std::move(options));
  const auto socket = edges::HandsSocket::listen(request.socket_path, request.owner);
  if (!socket) return pass_on(socket.error());
  std::fputs(fmt::format("ready {}\n", request.socket_path).c_str(), out);
  std::fflush(out);
  return edges::serve_clients(*socket, stop, std::move(options));
}

/// Reports why the GPU agent cannot start. A client that started it gets the reason over the connection and reports it;
/// if that client has disconnected, the failure to send is ignored.
void refuse(const HandsRequest& request, const std::string& message, std::FILE* err) {
  if (!request.socket_path.empty()) return say(err, message);
  const edges::Descriptor client(request.fd);
  const edges::HandsPacket refusal = edges::HandsRefusal{.message = message};
  static_cast<void>(edges::send_packet(client, edges::packet_of(refusal)));
}

struct Prepared {
  edges::ChangeableGpus gpus;
  std::vector<device::ManagedGpu> managed;  ///< that are in this machine
  programs::ProgramRules programs;
};

Result<Prepared> prepare(const HandsRequest& request, Config config) {
  auto gpus = open_gpus(request);
  if (!gpus) return pass_on(gpus.error());
  auto present = keep_present(config, *gpus->library, request);
  if (!present) return pass_on(present.error());
  return Prepared{.gpus = std::move(*gpus), .managed = std::move(*present), .programs = std::move(config.programs)};
}

/// Programs have another home than this one, below which `berth serve` would look for the library of ONNX Runtime.
void name_engines(programs::ProgramRules& rules, bool is_simulated) {
#ifdef BERTH_HAS_ONNX_ENGINE
  const std::string usual = is_simulated ? edges::onnx_library_path() : edges::onnx_cuda_library_path();
  for (auto& [name, repository] : rules.repositories) {
    if (!repository.engine) repository.engine = usual;
  }
#else
  static_cast<void>(rules);
  static_cast<void>(is_simulated);
#endif
}

/// Null: the configuration names no programs.
Result<std::unique_ptr<edges::ProgramRunner>> open_programs(programs::ProgramRules rules, std::FILE* err) {
  if (!rules.has_any()) return nullptr;
  edges::ProgramRunnerOptions options{.rules = std::move(rules)};
  if (const char* const state = std::getenv("BERTH_NVML_SIM_STATE"); state != nullptr) options.simulated_state = state;
  name_engines(options.rules, options.simulated_state.has_value());
  options.log = [err](const std::string& line) { say(err, line); };
  return edges::ProgramRunner::open(std::move(options));
}

Result<void> run(const HandsRequest& request, Config config, VerbContext& context) {
  const edges::Descriptor stop = hold_signals(!request.socket_path.empty());
  auto prepared = prepare(request, std::move(config));
  if (!prepared) return pass_on(prepared.error());
  const auto runner = open_programs(std::move(prepared->programs), context.err);
  if (!runner) return pass_on(runner.error());
  const auto served = serve(request, stop.number(),
                            {.library = *prepared->gpus.library,
                             .changer = *prepared->gpus.changer,
                             .gpus = std::move(prepared->managed),
                             .lock_folder = edges::gpu_lock_folder(),
                             .carry_out = device::carry_out,
                             .log = [err = context.err](const std::string& line) { say(err, line); },
                             .programs = *runner ? std::optional((*runner)->verbs()) : std::nullopt,
                             .logs_clients = !request.socket_path.empty()},
                            context.out);
  if (!served) return pass_on(served.error());
  if (!*served) ::_exit(exit_status(ErrorCode::kUnavailable));  // threads may be inside the library: no unloading
  return {};
}

}  // namespace

int run_hands(const HandsRequest& request, VerbContext& context) {
  if (!request.kept_folder.empty()) return edges::run_keeper(request.kept_folder, request.start_number);
  if (!edges::may_change_gpus()) {
    say(context.err,
        fmt::format("wanted root or CAP_SYS_ADMIN, without which no GPU can be changed, found user {}", ::geteuid()));
    return kStatusNoPrivilege;
  }
  auto config = read_managed(request, *context.files);
  if (config) {
    if (const auto may = edges::check_privileges(config->programs); !may) {
      refuse(request, may.error().message, context.err);
      return kStatusNoPrivilege;
    }
  }
  const auto outcome = config ? run(request, std::move(*config), context) : Result<void>(pass_on(config.error()));
  if (outcome) return 0;
  refuse(request, outcome.error().message, context.err);
  return exit_status(outcome.error().code);
}

std::vector<std::string> find_absent(const std::vector<device::ManagedGpu>& managed,
                                     const std::vector<std::string>& places,
                                     const std::vector<GpuLibrary::Listed>& listed) {
  const auto is_nameless = [](const GpuLibrary::Listed& gpu) { return gpu.uuid.empty(); };
  if (std::ranges::any_of(listed, is_nameless)) return {};  // any missing one may be that one
  std::vector<std::string> uuids;
  uuids.reserve(listed.size());
  for (const GpuLibrary::Listed& gpu : listed) uuids.push_back(gpu.uuid);
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < managed.size(); ++i) {
    if (std::ranges::find(uuids, managed[i].uuid) != uuids.end()) continue;
    messages.push_back(fmt::format("{}: wanted a GPU of this machine ({}), found {}", places[i], fmt::join(uuids, ", "),
                                   in_quotes(managed[i].uuid)));
  }
  return messages;
}

}  // namespace berth::cli
