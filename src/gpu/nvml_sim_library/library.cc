#include "gpu/nvml_sim_library/library.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "gpu/nvml_abi/constants.h"
#include "gpu/nvml_sim/event_ring.h"
#include "gpu/nvml_sim_state/permission.h"

namespace berth::edges {

using nvml_abi::Code;
using nvml_sim::Answer;
using nvml_sim::FaultHit;
using nvml_sim::GpuRecord;
using nvml_sim::Latency;
using nvml_sim::MachineRecord;
using nvml_sim::refuse;

namespace {

constexpr std::int64_t kMicrosPerMilli = 1'000;

std::int64_t now_us() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count();
}

/// The faults and latency that a call meets on a GPU before its device works on it.
struct Meeting {
  std::optional<FaultHit> hit;
  std::uint32_t gpu = 0;
  std::uint64_t interruptions = 0;  ///< of the GPU so far

  [[nodiscard]] std::int64_t delay_us() const { return hit ? hit->delay_ms * kMicrosPerMilli : 0; }
};

/// Counts events that end the work of a GPU on a call: resets, and clearing of its faults.
std::uint64_t interruptions_of(const MachineRecord& machine, std::uint32_t gpu) {
  return machine.gpus[gpu].fault_clears + machine.gpus[gpu].resets;
}

/// Raises the XIDs that are due by now, then returns the fault that a call meets. Later interruptions end the work on
/// the call.
Meeting meet_faults(MachineRecord& machine, std::uint32_t gpu, const char* name, std::optional<Latency> latency) {
  GpuRecord& record = machine.gpus[gpu];
  while (const auto xid = nvml_sim::due_xid(record, now_us())) nvml_sim::raise_xid(machine, gpu, *xid);
  return {
      .hit = nvml_sim::take_fault(record, name, latency), .gpu = gpu, .interruptions = interruptions_of(machine, gpu)};
}

/// Sleeps for the time that a device works on a call.
void work(SimStateFile& file, const Meeting& met, std::int64_t micros) {
  constexpr std::int64_t kPieceMicros = 50'000;
  bool is_interrupted = false;
  while (micros > 0 && !is_interrupted) {
    const std::int64_t piece = std::min(micros, kPieceMicros);
    std::this_thread::sleep_for(std::chrono::microseconds(piece));
    micros -= piece;
    if (micros == 0) return;
    file.read([&](const MachineRecord& machine) {
      is_interrupted = interruptions_of(machine, met.gpu) != met.interruptions;
    });
  }
}

/// When the next repeated XID of these GPUs is due; nothing if none is.
std::optional<std::int64_t> next_xid_of(const MachineRecord& machine, std::uint64_t gpus) {
  std::optional<std::int64_t> next;
  for (std::uint32_t gpu = 0; gpu < machine.gpu_count; ++gpu) {
    if ((gpus >> gpu & 1U) == 0) continue;
    const auto xid_us = nvml_sim::next_xid_us(machine.gpus[gpu]);
    if (xid_us) next = std::min(next.value_or(*xid_us), *xid_us);
  }
  return next;
}

}  // namespace

Library& library() {
  union Kept {
    Library library;
    Kept() : library() {}
    ~Kept() {}  // NOLINT(modernize-use-equals-default): it would be deleted
  };
  static Kept kept;
  return kept.library;
}

Library::Library() {
  ::pthread_atfork([] { library().before_fork(); }, [] { library().after_fork_in_parent(); },
                   [] { library().after_fork_in_child(); });
}

void Library::before_fork() {
  mutex_.lock();
  handles_.mutex().lock();
  sets_.mutex().lock();
  samples_.mutex().lock();
}

void Library::after_fork_in_parent() {
  samples_.mutex().unlock();
  sets_.mutex().unlock();
  handles_.mutex().unlock();
  mutex_.unlock();
}

void Library::after_fork_in_child() {
  after_fork_in_parent();
  const std::lock_guard lock(mutex_);
  if (inits_ == 0) return;
  inits_ = 0;
  // A descriptor kept by the child would hold the parent's locks after the parent's death.
  file_->abandon();
  abandoned_ = std::move(file_);
  handles_.end_session();
  sets_.clear();
  samples_.clear();
}

Code Library::init(const char* name) {
  File opened;
  {
    const std::lock_guard lock(mutex_);
    if (inits_ == 0) {
      const char* const path = std::getenv("BERTH_NVML_SIM_STATE");  // NOLINT(concurrency-mt-unsafe): read only
      if (path == nullptr) return Code::kDriverNotLoaded;
      auto file = SimStateFile::open(path);
      if (!file)
        return file.error().code == ErrorCode::kInvalidInput ? Code::kLibRmVersionMismatch : Code::kDriverNotLoaded;
      file_ = std::move(*file);
    }
    ++inits_;
    opened = file_;
  }
  const Code code = describe(name, Code::kSuccess, [](const MachineRecord&) { return Code::kSuccess; });
  if (code != Code::kSuccess) static_cast<void>(shut_down());
  return code;
}

Code Library::shut_down() {
  const std::lock_guard lock(mutex_);
  if (inits_ == 0) return Code::kUninitialized;
  if (--inits_ > 0) return Code::kSuccess;
  file_.reset();
  handles_.end_session();
  sets_.clear();
  samples_.clear();
  return Code::kSuccess;
}

Library::File Library::file() {
  const std::lock_guard lock(mutex_);
  return file_;
}

Code Library::describe(const char* name, Code arguments, const Describing& answer, std::uint64_t xids_of) {
  const File file = this->file();
  if (file == nullptr) return Code::kUninitialized;
  if (arguments != Code::kSuccess) return arguments;
  // Other queries about the machine do not read a GPU: they meet only faults that name them.
  const bool is_init = std::string_view(name).starts_with("nvmlInit");
  const std::optional<Latency> latency = is_init ? std::optional(Latency::kInit) : std::nullopt;
  std::int64_t latency_us = 0;
  std::vector<std::uint32_t> faulty;
  Meeting met;
  Code code = Code::kSuccess;
  file->read([&](const MachineRecord& machine) {
    if (is_init) latency_us = machine.latency_us[static_cast<int>(Latency::kInit)];
    const std::int64_t now = now_us();
    for (std::uint32_t gpu = 0; gpu < machine.gpu_count; ++gpu) {
      const std::int64_t due_by = (xids_of >> gpu & 1U) != 0 ? now : INT64_MIN;
      if (nvml_sim::meets_fault(machine.gpus[gpu], name, latency, due_by)) faulty.push_back(gpu);
    }
    met.interruptions = interruptions_of(machine, met.gpu);
    if (faulty.empty() && latency_us == 0) code = answer(machine);
  });
  if (faulty.empty() && latency_us == 0) return code;
  for (const std::uint32_t gpu : faulty) {
    file->change(gpu, [&](MachineRecord& machine) { met = meet_faults(machine, gpu, name, latency); });
    if (met.hit) break;
  }
  work(*file, met, latency_us + met.delay_us());
  if (met.hit && met.hit->error) return *met.hit->error;
  file->read([&](const MachineRecord& machine) { code = answer(machine); });
  return code;
}

Answer<Target> Library::resolve(const MachineRecord& machine, const Call& call) {
  const std::optional<Target> target = handles_.target_of(machine, call.handle);
  if (!target || (call.takes & (1U << static_cast<unsigned>(target->kind))) == 0) return refuse(Code::kInvalidArgument);
  return *target;
}

Code Library::ask(const Call& call, const Answering& answer) {
  return ask_found(call, [&](const MachineRecord& machine) { return resolve(machine, call); }, answer);
}

Code Library::look_up(const char* name, Code arguments, const Finding& find, void** handle) {
  return ask_found({.name = name, .arguments = arguments}, find, [&](const Subject& subject) {
    *handle = handles_.handle_of(subject.machine, subject.target);
    return Code::kSuccess;
  });
}

Code Library::ask_found(const Call& call, const Finding& find, const Answering& answer) {
  const File file = this->file();
  if (file == nullptr) return Code::kUninitialized;
  if (call.arguments != Code::kSuccess) return call.arguments;

  std::uint32_t gpu = 0;
  bool is_plain = false;  // neither a fault nor latency: answered at once
  std::int64_t latency_us = 0;
  Code code = Code::kSuccess;
  const auto look = [&](const MachineRecord& machine, bool is_answered) {
    const Answer<Target> target = find(machine);
    if (!target) return target.error();
    gpu = target->gpu;
    const GpuRecord& record = machine.gpus[gpu];
    if (record.is_lost != 0) return Code::kGpuIsLost;
    is_plain = latency_us == 0 && !nvml_sim::meets_fault(record, call.name, call.latency, now_us());
    if (!is_plain && !is_answered) return Code::kSuccess;
    return answer({.machine = machine, .gpu = record, .target = *target});
  };
  file->read([&](const MachineRecord& machine) {
    latency_us = machine.latency_us[static_cast<int>(call.latency)];
    code = look(machine, false);
  });
  if (is_plain || code != Code::kSuccess) return code;

  Meeting met;
  file->change(gpu, [&](MachineRecord& machine) {
    met = meet_faults(machine, gpu, call.name, call.latency);
    if (machine.gpus[gpu].is_lost != 0) code = Code::kGpuIsLost;
  });
  if (code != Code::kSuccess) return code;
  work(*file, met, latency_us + met.delay_us());
  if (met.hit && met.hit->error && !met.hit->is_done) return *met.hit->error;
  file->read([&](const MachineRecord& machine) { code = look(machine, true); });
  return met.hit ? met.hit->error.value_or(code) : code;
}

Code Library::change(const Call& call, const Changing& work_on, void** made) {
  const File file = this->file();
  if (file == nullptr) return Code::kUninitialized;
  if (call.arguments != Code::kSuccess) return call.arguments;
  Answer<Target> target = refuse(Code::kInvalidArgument);
  file->read([&](const MachineRecord& machine) { target = resolve(machine, call); });
  if (!target) return target.error();
  const std::uint32_t gpu = target->gpu;
  const nvml_sim::Caller caller{.may_change = may_change_devices()};

  const SimStateFile::ChangeLock one_at_a_time = file->lock_changes(gpu);
  Meeting met;
  Code code = Code::kSuccess;
  std::int64_t latency_us = 0;
  file->change(gpu, [&](MachineRecord& machine) {
    GpuRecord& record = machine.gpus[gpu];
    ++record.changing_calls;
    if (record.is_lost == 0) met = meet_faults(machine, gpu, call.name, call.latency);
    if (record.is_lost != 0) code = Code::kGpuIsLost;
    latency_us = machine.latency_us[static_cast<int>(call.latency)];
  });
  if (code != Code::kSuccess) return code;
  const std::optional<Code> error = met.hit ? met.hit->error : std::nullopt;
  const bool is_done_first = met.hit && met.hit->is_done;
  if (!is_done_first) work(*file, met, met.delay_us());
  if (error && !is_done_first) return *error;

  // A call that the device refuses returns at once.
  file->read([&](const MachineRecord& machine) {
    Answer<Target> still = resolve(machine, call);
    GpuRecord trial = machine.gpus[gpu];
    code = !still ? still.error() : trial.is_lost != 0 ? Code::kGpuIsLost : work_on(trial, *still, caller);
  });
  if (code != Code::kSuccess) return error.value_or(code);

  if (!is_done_first) work(*file, met, latency_us);
  file->change(gpu, [&](MachineRecord& machine) {
    GpuRecord& record = machine.gpus[gpu];
    Answer<Target> still = resolve(machine, call);
    code = !still ? still.error() : record.is_lost != 0 ? Code::kGpuIsLost : work_on(record, *still, caller);
    if (code != Code::kSuccess) return;
    nvml_sim::post(machine.events, {.type = nvml_abi::kEventMigConfig, .gpu = gpu});
    if (made != nullptr && !error) *made = handles_.handle_of(machine, *still);
  });
  if (is_done_first) work(*file, met, latency_us + met.delay_us());
  return error.value_or(code);
}

Code Library::create_event_set(std::uint64_t* set) {
  return describe("nvmlEventSetCreate", all_given(set), [&](const MachineRecord&) {
    const auto created = sets_.create();
    if (!created) return Code::kMemory;
    *set = *created;
    return Code::kSuccess;
  });
}

Code Library::free_event_set(std::uint64_t set) {
  return describe("nvmlEventSetFree", Code::kSuccess,
                  [&](const MachineRecord&) { return sets_.free(set) ? Code::kSuccess : Code::kInvalidArgument; });
}

Code Library::register_events(const Call& call, std::uint64_t types, std::uint64_t set) {
  return ask(call, [&](const Subject& subject) {
    return sets_.add(set, subject.target.gpu, types, subject.machine) ? Code::kSuccess : Code::kInvalidArgument;
  });
}

Code Library::wait_for_event(const char* name, std::uint64_t set, std::uint32_t timeout_ms,
                             const std::function<void(const MachineRecord&, const nvml_sim::EventRecord&)>& found) {
  constexpr std::int64_t kLookAgainMicros = 250'000;  // XIDs may have been requested meanwhile
  constexpr std::int64_t kNotBusyMicros = 10'000;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    std::uint64_t posted = 0;
    std::optional<std::int64_t> xid_us;
    EventSets::Found kind = EventSets::Found::kNothing;
    // XIDs of other GPUs are for those who wait for them, or look at these GPUs.
    const std::uint64_t gpus = sets_.gpus_of(set);
    const auto look = [&](const MachineRecord& machine) {
      const EventSets::Next next = sets_.take(set, machine);
      kind = next.found;
      posted = machine.events.posted;
      xid_us = next_xid_of(machine, gpus);
      if (kind == EventSets::Found::kEvent) found(machine, next.event);
      return kind == EventSets::Found::kNoSet ? Code::kInvalidArgument : Code::kSuccess;
    };
    const Code code = describe(name, Code::kSuccess, look, gpus);
    if (code != Code::kSuccess || kind == EventSets::Found::kEvent) return code;
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return Code::kTimeout;
    const File file = this->file();
    if (file == nullptr) return Code::kUninitialized;
    const std::int64_t until_xid = std::max(xid_us ? *xid_us - now_us() : kLookAgainMicros, kNotBusyMicros);
    file->wait_for_event(posted, std::min<std::int64_t>({left, kLookAgainMicros, until_xid}), gpus);
  }
}

}  // namespace berth::edges
