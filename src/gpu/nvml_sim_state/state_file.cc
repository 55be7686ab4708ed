#include "gpu/nvml_sim_state/state_file.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

#include "base/core/ensure.h"

namespace berth::edges {

using nvml_sim::kGpusMax;
using nvml_sim::MachineRecord;

namespace {

constexpr std::array<char, 8> kMagic = {'B', 'E', 'R', 'T', 'H', 'N', 'V', 'S'};
constexpr std::uint32_t kFormat = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

/// The records that a change under way may touch; `Image::undo` holds their former values.
constexpr std::uint32_t kNothing = 0;
constexpr std::uint32_t kAll = UINT32_MAX;  // other values: the GPU's index + 1

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t byte_order = kByteOrder;
  std::uint64_t machine_bytes = sizeof(MachineRecord);
  std::uint32_t changing = kNothing;
  std::uint32_t posted_word = 0;  ///< the futex on which readers of events wait
};

/// The file. Everything in it is plain memory, so it needs no construction after mapping.
struct Image {
  Header header;
  MachineRecord machine;
  MachineRecord undo;
};

Image& image_at(void* mapped) { return *static_cast<Image*>(mapped); }

std::atomic_ref<std::uint32_t> changing_of(Image& image) { return std::atomic_ref(image.header.changing); }

/// Removes the events that were posted after `posted`. The oldest ones, which they overwrote, are lost.
void take_events_back(nvml_sim::EventRing& ring, std::uint64_t posted) {
  const std::uint64_t count = std::min(ring.posted - posted, nvml_sim::kEventsMax - 1);
  // One more: the last may be half written, and not counted yet.
  for (std::uint64_t back = 0; back <= count; ++back) ring.events[(ring.posted - back) % nvml_sim::kEventsMax] = {};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  ring.posted = posted;
}

/// Undoes the unfinished change of a dead holder.
void put_back(Image& image) {
  const std::uint32_t changing = changing_of(image).load(std::memory_order_acquire);
  if (changing == kNothing) return;
  if (changing == kAll) {
    image.machine = image.undo;
  } else if (changing <= kGpusMax) {
    image.machine.gpus[changing - 1] = image.undo.gpus[changing - 1];
    take_events_back(image.machine.events, image.undo.events.posted);
  }
  changing_of(image).store(kNothing, std::memory_order_release);
}

/// The bits by which a futex knows the GPUs of events: two GPUs share one.
std::uint32_t futex_bits(std::uint64_t gpus) {
  constexpr int kBits = 32;
  return static_cast<std::uint32_t>(gpus) | static_cast<std::uint32_t>(gpus >> kBits);
}

/// The GPUs of the last `count` events; all of them if that cannot be known.
std::uint64_t gpus_of_last(const nvml_sim::EventRing& ring, std::uint32_t count) {
  if (count > std::min(ring.posted, nvml_sim::kEventsMax)) return UINT64_MAX;
  std::uint64_t gpus = 0;
  for (std::uint64_t back = 1; back <= count; ++back) {
    const std::uint32_t gpu = ring.events[(ring.posted - back) % nvml_sim::kEventsMax].gpu;
    if (gpu >= kGpusMax) return UINT64_MAX;
    gpus |= std::uint64_t{1} << gpu;
  }
  return gpus;
}

/// Wakes the readers that wait for the events posted since the last time. If a dead holder did not get to it, the next
/// one does it.
void wake_readers(Image& image) {
  const auto posted = static_cast<std::uint32_t>(image.machine.events.posted);
  const std::atomic_ref word(image.header.posted_word);
  const std::uint32_t woken = word.load();
  if (woken == posted) return;
  const std::uint32_t bits = futex_bits(gpus_of_last(image.machine.events, posted - woken));
  word.store(posted);
  ::syscall(SYS_futex, &image.header.posted_word, FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, bits);
}

/// An open-file-description lock of one byte. It ends with the descriptor's last holder.
void set_lock(int descriptor, std::int16_t type, std::int64_t byte) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  while (::fcntl(descriptor, F_OFD_SETLKW, &lock) != 0) ENSURE(errno == EINTR);
}

constexpr std::int64_t kStateByte = 0;
std::int64_t change_byte(std::uint32_t gpu) { return 1 + static_cast<std::int64_t>(gpu); }

std::string text_of_errno() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): glibc's is per thread

Result<void> write_all(int descriptor, const Image& image, const std::string& path) {
  const char* bytes = reinterpret_cast<const char*>(&image);
  std::size_t written = 0;
  while (written < sizeof(Image)) {
    const ssize_t count = ::write(descriptor, bytes + written, sizeof(Image) - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(ErrorCode::kUnavailable, path + ": cannot be written: " + text_of_errno());
    written += static_cast<std::size_t>(count);
  }
  return {};
}

/// Why the file is not a state of this program; empty if it is one.
std::string fault_of(const Header& header) {
  if (header.magic != kMagic) return "wanted the state of a simulated machine, found another kind of file";
  if (header.byte_order != kByteOrder) return "wanted a state of this machine's byte order, found another";
  if (header.format != kFormat || header.machine_bytes != sizeof(MachineRecord)) {
    return "wanted a state of format " + std::to_string(kFormat) + " with " + std::to_string(sizeof(MachineRecord)) +
           " bytes, found format " + std::to_string(header.format) + " with " + std::to_string(header.machine_bytes) +
           " bytes: it was made by another version of the library";
  }
  return {};
}

}  // namespace

/// Locks between the threads of one process: they share the descriptor, so file locks do not exclude them.
struct SimStateFile::Locks {
  std::mutex state;
  std::array<std::mutex, kGpusMax> changes;
};

SimStateFile::SimStateFile(OnlyByOpen, std::string path) : path_(std::move(path)), locks_(std::make_unique<Locks>()) {}

SimStateFile::~SimStateFile() { abandon(); }

void SimStateFile::abandon() {
  if (mapped_ != nullptr) ::munmap(mapped_, sizeof(Image));
  if (descriptor_ >= 0) ::close(descriptor_);
  mapped_ = nullptr;
  descriptor_ = -1;
}

Result<void> SimStateFile::create(const std::string& path, const MachineRecord& machine) {
  constexpr mode_t kForEveryone = 0666;
  const std::string fresh = path + ".new";
  const int descriptor = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kForEveryone);
  if (descriptor < 0) return fail(ErrorCode::kUnavailable, fresh + ": cannot be made: " + text_of_errno());
  ::fchmod(descriptor, kForEveryone);  // whatever the umask is
  const auto image = std::make_unique<Image>();
  image->machine = machine;
  Result<void> written = write_all(descriptor, *image, fresh);
  ::close(descriptor);
  if (written && std::rename(fresh.c_str(), path.c_str()) != 0) {
    written = fail(ErrorCode::kUnavailable, path + ": cannot be made: " + text_of_errno());
  }
  if (!written) ::unlink(fresh.c_str());
  return written;
}

Result<std::unique_ptr<SimStateFile>> SimStateFile::open(const std::string& path) {
  auto file = std::make_unique<SimStateFile>(OnlyByOpen(), path);
  file->descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file->descriptor_ < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return fail(code, path + ": cannot be opened: " + text_of_errno());
  }
  Header header;
  const ssize_t count = ::pread(file->descriptor_, &header, sizeof(header), 0);
  struct stat status = {};
  if (::fstat(file->descriptor_, &status) != 0) return fail(ErrorCode::kUnavailable, path + ": " + text_of_errno());
  if (count != static_cast<ssize_t>(sizeof(header))) header.magic = {};
  if (const std::string fault = fault_of(header); !fault.empty()) return invalid(path + ": " + fault);
  if (static_cast<std::uint64_t>(status.st_size) != sizeof(Image)) {
    return invalid(path + ": wanted " + std::to_string(sizeof(Image)) + " bytes, found " +
                   std::to_string(status.st_size));
  }
  void* const mapped = ::mmap(nullptr, sizeof(Image), PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor_, 0);
  if (mapped == MAP_FAILED) return fail(ErrorCode::kUnavailable, path + ": cannot be mapped: " + text_of_errno());
  file->mapped_ = mapped;
  return file;
}

namespace {

/// Holds the state's lock for this thread. Undoes unfinished changes when taking it.
class Held {
 public:
  Held(std::mutex& mutex, int descriptor, Image& image) : lock_(mutex), descriptor_(descriptor) {
    set_lock(descriptor, F_WRLCK, kStateByte);
    put_back(image);
    wake_readers(image);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { set_lock(descriptor_, F_UNLCK, kStateByte); }

 private:
  std::lock_guard<std::mutex> lock_;
  int descriptor_;
};

/// Runs `work` as a change that is undone unless it completes, and wakes the readers of its events.
void change(Image& image, std::uint32_t changing, const std::function<void(MachineRecord&)>& work) {
  changing_of(image).store(changing, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // no store of the work moves before the mark
  work(image.machine);
  changing_of(image).store(kNothing, std::memory_order_release);
  wake_readers(image);
}

}  // namespace

void SimStateFile::read(const std::function<void(const MachineRecord&)>& look) {
  Image& image = image_at(mapped_);
  const Held held(locks_->state, descriptor_, image);
  look(image.machine);
}

void SimStateFile::change(std::uint32_t gpu, const std::function<void(MachineRecord&)>& work) {
  ENSURE(gpu < kGpusMax);
  Image& image = image_at(mapped_);
  const Held held(locks_->state, descriptor_, image);
  image.undo.gpus[gpu] = image.machine.gpus[gpu];
  image.undo.events.posted = image.machine.events.posted;
  edges::change(image, gpu + 1, work);
}

void SimStateFile::change_all(const std::function<void(MachineRecord&)>& work) {
  Image& image = image_at(mapped_);
  const Held held(locks_->state, descriptor_, image);
  image.undo = image.machine;
  edges::change(image, kAll, work);
}

SimStateFile::ChangeLock SimStateFile::lock_changes(std::uint32_t gpu) {
  ENSURE(gpu < kGpusMax);
  locks_->changes[gpu].lock();
  set_lock(descriptor_, F_WRLCK, change_byte(gpu));
  return {this, gpu};
}

SimStateFile::ChangeLock::~ChangeLock() {
  if (file_ == nullptr) return;
  set_lock(file_->descriptor_, F_UNLCK, change_byte(gpu_));
  file_->locks_->changes[gpu_].unlock();
}

void SimStateFile::wait_for_event(std::uint64_t posted, std::int64_t micros_max, std::uint64_t gpus) {
  constexpr std::int64_t kNanosPerMicro = 1'000;
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  Image& image = image_at(mapped_);
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t nanos = now.tv_nsec + micros_max * kNanosPerMicro;
  const timespec limit = {now.tv_sec + static_cast<time_t>(nanos / kNanosPerSecond),
                          static_cast<long>(nanos % kNanosPerSecond)};
  ::syscall(SYS_futex, &image.header.posted_word, FUTEX_WAIT_BITSET, static_cast<std::uint32_t>(posted), &limit,
            nullptr, futex_bits(gpus));
}

}  // namespace berth::edges
