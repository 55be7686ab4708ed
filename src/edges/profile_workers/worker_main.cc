#include "edges/profile_workers/worker_main.h"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/core/archive.h"
#include "domain/ports/model_engine.h"
#include "edges/cuda_device/cuda_device.h"
#include "edges/onnx_engine/onnx_engine.h"
#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/profile_workers/detail/frames.h"
#include "edges/profile_workers/detail/process_memory.h"
#include "edges/profile_workers/detail/worker_messages.h"
#include "models/profiling/sampled_times.h"

namespace berth::edges {
namespace {

using detail::WorkerOrder;
using detail::WorkerOrderKind;
using detail::WorkerReply;
using std::chrono::steady_clock;

/// The first batch of a size takes memory, the next ones find the caches warm.
constexpr int kSettlingCount = 3;

bool is_never_stopped() { return false; }

/// As error texts of the engine and of the kernels in it say it.
bool says_no_memory(std::string_view message) {
  constexpr std::string_view kTexts[] = {"bad_alloc",         "bad allocation", "Failed to allocate",
                                         "not enough memory", "out of memory",  "less than that left"};
  return is_out_of_memory(std::string(message)) || std::ranges::any_of(kTexts, [&](std::string_view text) {
           return message.find(text) != std::string_view::npos;
         });
}

WorkerReply failed_reply(const Error& error) {
  return {.fits = !says_no_memory(error.message), .error = error.code, .message = error.message};
}

double micros_of(steady_clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

class WorkerProcess {
 public:
  Result<void> open(std::span<const std::string> arguments) {
    if (arguments.size() != 3) return invalid("wanted a library, a model and a device");
    if (arguments[2] != "cpu") {
      int index = 0;
      std::from_chars(arguments[2].data(), arguments[2].data() + arguments[2].size(), index);
      auto cuda = CudaDevice::open(index);
      if (!cuda) return pass_on(cuda.error());
      cuda_ = *std::move(cuda);
      free_before_ = cuda_->free_bytes().value_or(0);
    }
    auto engine = open_onnx_engine({.library_path = arguments[0], .cuda = cuda_.get()});
    if (!engine) return pass_on(engine.error());
    engine_ = *std::move(engine);
    auto model = engine_->load({.path = arguments[1]});
    if (!model) return pass_on(model.error());
    model_ = *std::move(model);
    return {};
  }

  [[nodiscard]] WorkerReply loaded() {
    WorkerReply reply{.is_done = true, .engine = engine_->name()};
    reply.inputs.assign(model_->inputs().begin(), model_->inputs().end());
    if (cuda_) {
      reply.device = cuda_->name();
      reply.device_bytes = free_before_;
      reply.memory_bytes = gpu_bytes();
    } else {
      reply.memory_bytes = detail::resident_bytes_now();
      detail::reset_resident_peak();
    }
    return reply;
  }

  [[nodiscard]] WorkerReply obey(WorkerOrder order) {
    switch (order.kind) {
      case WorkerOrderKind::kPrepare:
        return prepare(std::move(order.inputs));
      case WorkerOrderKind::kRun:
        return run(order);
      case WorkerOrderKind::kRest:
        inputs_ = {};
        return {.is_done = true};
    }
    return {.message = "an order of another program"};
  }

  /// While others have not finished.
  void run_on() {
    while (!detail::has_frame(detail::kWorkerDescriptor)) {
      if (!run_batch()) return;
    }
  }

 private:
  [[nodiscard]] WorkerReply prepare(std::vector<Tensor> inputs) {
    inputs_ = std::move(inputs);
    for (int i = 0; i < kSettlingCount; ++i) {
      if (auto ran = run_batch(); !ran) return failed_reply(ran.error());
    }
    return {.is_done = true, .memory_bytes = cuda_ ? gpu_bytes() : detail::resident_bytes_peak()};
  }

  /// Batches before the begin and, beside others, after the end are not measured.
  [[nodiscard]] WorkerReply run(const WorkerOrder& order) {
    const steady_clock::time_point begin{std::chrono::nanoseconds(order.begin_ns)};
    while (!order.is_alone && steady_clock::now() < begin) {
      if (auto ran = run_batch(); !ran) return failed_reply(ran.error());
    }
    models::SampledTimes times;
    const auto first = steady_clock::now();
    const auto end = first + std::chrono::nanoseconds(order.length_ns);
    auto before = first;
    do {
      const auto ran = run_batch();
      if (!ran) return failed_reply(ran.error());
      const auto after = steady_clock::now();
      times.add(micros_of(after - before));
      before = after;
    } while (before < end);
    return {.is_done = true, .times = times.times(micros_of(before - first))};
  }

  [[nodiscard]] Result<void> run_batch() {
    try {
      if (const auto outputs = model_->begin()->run(inputs_); !outputs) return pass_on(outputs.error());
      return {};
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::kUnavailable, "not enough memory");
    }
  }

  [[nodiscard]] std::optional<std::int64_t> gpu_bytes() const {
    if (auto bytes = detail::gpu_bytes_now()) return bytes;
    const auto free_now = cuda_->free_bytes();
    if (!free_now) return std::nullopt;
    return std::max<std::int64_t>(free_before_ - *free_now, 0);
  }

  std::unique_ptr<CudaDevice> cuda_;
  std::int64_t free_before_ = 0;
  std::unique_ptr<ModelEngine> engine_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<Tensor> inputs_;
};

bool send_reply(const WorkerReply& reply) { return detail::write_frame(detail::kWorkerDescriptor, bytes_of(reply)); }

/// Until the parent closes its end.
void obey(WorkerProcess& worker) {
  while (true) {
    const auto bytes = detail::read_frame(detail::kWorkerDescriptor, is_never_stopped);
    if (!bytes) return;
    auto order = from_bytes<WorkerOrder>(*bytes);
    if (!order) return;
    const bool runs_on = order->kind == WorkerOrderKind::kRun && !order->is_alone;
    const WorkerReply reply = worker.obey(*std::move(order));
    if (!send_reply(reply)) return;
    if (runs_on && reply.is_done) worker.run_on();
  }
}

}  // namespace

int profile_worker_main(std::span<const std::string> arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the process that wants to know
  ::signal(SIGINT, SIG_IGN);           // of a terminal: the parent decides
  WorkerProcess worker;
  try {
    if (auto opened = worker.open(arguments); !opened) return send_reply(failed_reply(opened.error())) ? 0 : 1;
    if (!send_reply(worker.loaded())) return 1;
    obey(worker);
  } catch (const std::bad_alloc&) {
    return send_reply({.fits = false, .message = "not enough memory"}) ? 0 : 1;
  }
  return 0;
}

}  // namespace berth::edges
