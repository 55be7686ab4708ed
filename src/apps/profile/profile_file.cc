#include "apps/profile/profile_file.h"

#ifdef BERTH_HAS_ONNX_ENGINE

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "apps/optimize/find_probe.h"
#include "apps/optimize/model_source.h"
#include "apps/profile/graph_count.h"
#include "apps/profile/input_rows.h"
#include "apps/profile/machine.h"
#include "apps/profile/with_points.h"
#include "edges/onnx_runtime/onnx_library.h"
#include "edges/profile_workers/profile_workers.h"
#include "edges/profile_workers/worker_main.h"

namespace berth::profiler {
namespace {

std::string library_of(const models::ProfileRequest& request) {
  if (request.engine) return *request.engine;
  return request.cuda_index ? edges::onnx_cuda_library_path() : edges::onnx_library_path();
}

Result<ProfiledModel> read_model(const FileTree& tree, const models::ProfileRequest& request,
                                 const cli::ProfileHooks& hooks) {
  hooks.report(0, "reading the model");
  const auto source = optimizer::read_model_source(tree, request.path);
  if (!source) return pass_on(source.error());
  // Shapes are the same everywhere: the processor infers them.
  const auto found = optimizer::find_probe({.library = library_of(request), .is_stopped = hooks.should_stop});
  if (!found) return pass_on(found.error());
  const models::ModelCount count = count_graph(*found->probe, source->model);
  return ProfiledModel{
      .name = request.name.empty() ? std::filesystem::path(request.path).stem().string() : request.name,
      .sha256 = source->sha256,
      .file_bytes = source->file_bytes,
      .flops = count.flops,
      .activation_bytes = count.activation_bytes,
      .parameters = count.parameters,
      .weight_bytes = count.weight_bytes};
}

Result<std::unique_ptr<edges::ProfileWorkers>> start_workers(const models::ProfileRequest& request,
                                                             const cli::ProfileHooks& hooks) {
  hooks.report(0, "loading the model");
  auto workers = edges::ProfileWorkers::start({.command = {"/proc/self/exe", kWorkerWord},
                                               .library_path = library_of(request),
                                               .model_path = request.path,
                                               .cuda_index = request.cuda_index,
                                               .count = request.processes.back(),
                                               .is_stopped = hooks.should_stop});
  if (workers) return workers;
  return fail(workers.error().code, fmt::format("{}: {}", request.path, workers.error().message));
}

}  // namespace

int worker_main(std::span<const std::string> arguments) { return edges::profile_worker_main(arguments); }

Result<ProfileRun> profile_file(const FileTree& tree, const models::ProfileRequest& request,
                                const cli::ProfileHooks& hooks) {
  ProfileRun run;
  auto model = read_model(tree, request, hooks);
  if (!model) return pass_on(model.error());
  run.model = *std::move(model);
  const auto workers = start_workers(request, hooks);
  if (!workers) return pass_on(workers.error());
  run.machine = machine_of((*workers)->loaded());
  run.memory_at_load_bytes = (*workers)->loaded().memory_bytes;
  const auto inputs = find_input_rows(tree, request, (*workers)->loaded().inputs);
  if (!inputs) return pass_on(inputs.error());
  run.fixed_batch = inputs->fixed_batch;
  return with_points(std::move(run), request, *inputs, hooks, [&](const models::TurnOrder& order) {
    return (*workers)->run(order, models::batch_of(inputs->rows, 0, static_cast<std::size_t>(order.batch)));
  });
}

}  // namespace berth::profiler

#else

namespace berth::profiler {

int worker_main(std::span<const std::string>) { return 2; }

Result<ProfileRun> profile_file(const FileTree&, const models::ProfileRequest&, const cli::ProfileHooks&) {
  return invalid(
      "wanted a program that was built with the headers of ONNX Runtime, found one without; scripts/setup gets them, "
      "then build it again");
}

}  // namespace berth::profiler

#endif
