#include "gpu/watch/gpu_watcher.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::edges {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

/// Drivers have about two hundred XIDs. Further ones between two reports are dropped.
constexpr std::size_t kXidsMax = 256;

}  // namespace

/// The state shared by the threads of the GPUs and their callers.
struct GpuWatcher::Shared {
  struct Gpu {
    std::optional<GpuAnswer<GpuReading>> told;  ///< in the last report
    std::optional<GpuAnswer<GpuReading>> news;
    Clock::time_point began_at;               ///< of `news`, or of `told`
    std::map<XidSource, std::uint64_t> xids;  ///< not reported yet
    GpuXids xids_in_all;
    std::optional<GpuMeasured> measured;
    std::optional<Clock::time_point> asked_at;  ///< when the question was asked that the driver has not answered yet
    bool has_ended = false;

    [[nodiscard]] bool has_news() const { return news.has_value() || !xids.empty(); }
  };

  Shared(GpuLibrary& of, GpuWatcherOptions with) : library(of), options(with) {}

  GpuLibrary& library;
  const GpuWatcherOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  // Under mutex:
  bool is_stopping = false;
  std::function<void()> on_report;
  std::map<std::uint32_t, Gpu> gpus;
  std::unique_ptr<GpuLibrary> left_behind;  ///< `library`, once only these threads own it

  void watch(std::uint32_t gpu, const std::string& uuid);
  /// Asks the driver; meanwhile other threads can see how long the call has taken.
  template <class Question>
  auto ask(std::uint32_t gpu, Question question);
  void read(std::uint32_t gpu, const std::string& uuid);
  void measure(std::uint32_t gpu, const std::string& uuid);
  /// As last read.
  [[nodiscard]] std::vector<GpuInstanceSeen> instances_of(std::uint32_t gpu);
  /// Waits until the next reading is due, or a MIG change is reported.
  void wait(std::uint32_t gpu, const std::string& uuid);
  void note_xid(std::uint32_t gpu, const XidSource& source);
  void report();
  /// Sleeps, unless it is stopped meanwhile.
  void pause(milliseconds time);
};

void GpuWatcher::Shared::watch(std::uint32_t gpu, const std::string& uuid) {
  while (true) {
    read(gpu, uuid);
    measure(gpu, uuid);
    wait(gpu, uuid);
    const std::scoped_lock hold(mutex);
    if (is_stopping) break;
  }
  const std::scoped_lock hold(mutex);
  gpus.at(gpu).has_ended = true;
  changed.notify_all();
}

template <class Question>
auto GpuWatcher::Shared::ask(std::uint32_t gpu, Question question) {
  {
    const std::scoped_lock hold(mutex);
    gpus.at(gpu).asked_at = Clock::now();
  }
  auto answer = question();
  const std::scoped_lock hold(mutex);
  gpus.at(gpu).asked_at.reset();
  return answer;
}

void GpuWatcher::Shared::read(std::uint32_t gpu, const std::string& uuid) {
  const Clock::time_point began_at = Clock::now();
  GpuAnswer<GpuReading> reading = ask(gpu, [&] { return library.read(uuid); });
  bool is_worth_a_call = false;
  {
    const std::scoped_lock hold(mutex);
    Gpu& known = gpus.at(gpu);
    const auto& last = known.news ? known.news : known.told;
    const bool is_new = !last || *last != reading;
    if (is_new) {
      known.news = std::move(reading);
      known.began_at = began_at;
    }
    is_worth_a_call = is_new || !known.xids.empty();
    changed.notify_all();
  }
  if (is_worth_a_call) report();
}

void GpuWatcher::Shared::measure(std::uint32_t gpu, const std::string& uuid) {
  auto figures = ask(gpu, [&] { return library.measure(uuid); });
  GpuAnswer<GpuFigures> more = GpuFigures();
  if (figures && options.collects_figures) {
    const std::vector<GpuInstanceSeen> instances = instances_of(gpu);
    more = ask(gpu, [&] { return library.figures(uuid, instances); });
  }
  const std::scoped_lock hold(mutex);
  auto& measured = gpus.at(gpu).measured;
  measured.reset();
  if (figures && more) {
    measured = GpuMeasured{.figures = *std::move(figures), .more = *std::move(more), .at = Clock::now()};
  }
}

std::vector<GpuInstanceSeen> GpuWatcher::Shared::instances_of(std::uint32_t gpu) {
  const std::scoped_lock hold(mutex);
  const Gpu& known = gpus.at(gpu);
  const auto& last = known.news ? known.news : known.told;
  return last && *last ? (*last)->instances : std::vector<GpuInstanceSeen>();
}

void GpuWatcher::Shared::wait(std::uint32_t gpu, const std::string& uuid) {
  constexpr milliseconds kPiece{250};  // so that it stops soon
  const Clock::time_point until = Clock::now() + options.reads_every;
  bool has_xid = false;
  while (true) {
    const milliseconds left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    {
      const std::scoped_lock hold(mutex);
      if (is_stopping || left.count() <= 0) return;
    }
    const auto notice = ask(gpu, [&] { return library.wait(uuid, std::min(left, kPiece).count()); });
    if (!notice) return pause(std::min(left, kPiece));  // the next reading shows the cause
    if (!*notice) continue;
    if ((*notice)->kind == GpuNotice::Kind::kMigChange) return;
    note_xid(gpu, {.xid = (*notice)->xid, .gpu_instance = (*notice)->gpu_instance});
    // A failing device may report thousands: all after the first are reported with the next reading.
    if (!std::exchange(has_xid, true)) report();
  }
}

void GpuWatcher::Shared::note_xid(std::uint32_t gpu, const XidSource& source) {
  const std::scoped_lock hold(mutex);
  const auto count = [](auto& counts, const auto& key) {
    if (counts.contains(key) || counts.size() < kXidsMax) ++counts[key];
  };
  Gpu& known = gpus.at(gpu);
  count(known.xids, source);
  count(known.xids_in_all.counts, source.xid);
  known.xids_in_all.last = source.xid;
}

void GpuWatcher::Shared::report() {
  std::function<void()> call;
  {
    const std::scoped_lock hold(mutex);
    if (!is_stopping) call = on_report;
  }
  if (call) call();
}

void GpuWatcher::Shared::pause(milliseconds time) {
  std::unique_lock hold(mutex);
  changed.wait_for(hold, time, [this] { return is_stopping; });
}

GpuWatcher::GpuWatcher(GpuLibrary& library, std::map<std::uint32_t, std::string> gpus, GpuWatcherOptions options)
    : shared_(std::make_shared<Shared>(library, options)), gpus_(std::move(gpus)) {
  for (const auto& [gpu, uuid] : gpus_) shared_->gpus[gpu] = {};
}

GpuWatcher::~GpuWatcher() {
  static_cast<void>(stop(milliseconds(0)));
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void GpuWatcher::start() {
  for (const auto& [gpu, uuid] : gpus_) {
    threads_.emplace_back([shared = shared_, gpu, uuid] { shared->watch(gpu, uuid); });
  }
}

void GpuWatcher::wait_for_readings(milliseconds at_most) {
  std::unique_lock hold(shared_->mutex);
  shared_->changed.wait_for(hold, at_most, [this] {
    return std::ranges::all_of(shared_->gpus, [](const auto& entry) { return entry.second.told || entry.second.news; });
  });
}

void GpuWatcher::call(std::function<void()> on_report) {
  bool has_news = false;
  {
    const std::scoped_lock hold(shared_->mutex);
    shared_->on_report = std::move(on_report);
    has_news = std::ranges::any_of(shared_->gpus, [](const auto& entry) { return entry.second.has_news(); });
  }
  if (has_news) shared_->report();
}

bool GpuWatcher::stop(milliseconds at_most) {
  bool have_all_ended = true;
  {
    std::unique_lock hold(shared_->mutex);
    shared_->is_stopping = true;
    shared_->changed.notify_all();
    if (at_most.count() == 0) return false;
    shared_->changed.wait_for(hold, threads_.empty() ? milliseconds(0) : at_most, [this] {
      return std::ranges::all_of(shared_->gpus, [](const auto& entry) { return entry.second.has_ended; });
    });
    have_all_ended = std::ranges::all_of(shared_->gpus, [](const auto& entry) { return entry.second.has_ended; });
  }
  for (std::thread& thread : threads_) {
    if (have_all_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  threads_.clear();
  return have_all_ended;
}

void GpuWatcher::leave_behind(std::unique_ptr<GpuLibrary> library) {
  const std::scoped_lock hold(shared_->mutex);
  shared_->left_behind = std::move(library);
}

std::vector<GpuReport> GpuWatcher::take_reports() {
  const std::scoped_lock hold(shared_->mutex);
  std::vector<GpuReport> reports;
  for (auto& [gpu, known] : shared_->gpus) {
    if (!known.has_news()) continue;
    if (known.news) known.told = std::exchange(known.news, std::nullopt);
    if (!known.told) continue;  // an XID before the first reading is reported with that reading
    reports.push_back(
        {.gpu = gpu, .reading = *known.told, .xids = std::exchange(known.xids, {}), .began_at = known.began_at});
  }
  return reports;
}

void GpuWatcher::read_again(std::uint32_t gpu) {
  const std::scoped_lock hold(shared_->mutex);
  shared_->gpus.at(gpu).told.reset();
}

std::optional<GpuMeasured> GpuWatcher::measured(std::uint32_t gpu) const {
  const std::scoped_lock hold(shared_->mutex);
  return shared_->gpus.at(gpu).measured;
}

GpuXids GpuWatcher::xids(std::uint32_t gpu) const {
  const std::scoped_lock hold(shared_->mutex);
  return shared_->gpus.at(gpu).xids_in_all;
}

milliseconds GpuWatcher::waiting_for(std::uint32_t gpu) const {
  const std::scoped_lock hold(shared_->mutex);
  const auto& since = shared_->gpus.at(gpu).asked_at;
  return since ? std::chrono::duration_cast<milliseconds>(Clock::now() - *since) : milliseconds(0);
}

}  // namespace berth::edges
