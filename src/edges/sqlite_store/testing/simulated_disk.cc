#include "edges/sqlite_store/testing/simulated_disk.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/rng.h"

namespace berth::edges::testing {
namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::size_t kShmLockCount = SQLITE_SHM_NLOCK;

/// An unsynced write, or a truncation to `offset`.
struct Change {
  std::size_t offset = 0;
  std::string bytes;
  bool is_truncation = false;
};

struct File;

/// The file behind a name.
struct Node {
  std::string current;  ///< as processes see it
  std::string durable;  ///< as it is after a power cut, without `changes`
  std::vector<Change> changes;
  std::vector<File*> open_files;
  std::vector<std::unique_ptr<std::vector<std::uint8_t>>> shm;  ///< while a connection uses it
  bool is_entry_synced = false;                                 ///< by its first sync
};

/// A struct of C, in memory that SQLite provides.
struct File {
  sqlite3_file base;
  SimulatedDisk::State* disk;
  Node* node;
  int lock;
  bool has_shm;
  bool syncs_folder;  ///< with its first sync, as SQLite's files of Unix do for journals
  std::array<bool, kShmLockCount> shared;
  std::array<bool, kShmLockCount> exclusive;
};

File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

void overwrite(std::string& image, std::size_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size(), '\0');
  image.replace(offset, bytes.size(), bytes);
}

void apply_change(std::string& image, const Change& change) {
  if (change.is_truncation) {
    if (image.size() > change.offset) image.resize(change.offset);
  } else {
    overwrite(image, change.offset, change.bytes);
  }
}

}  // namespace

struct SimulatedDisk::State {
  explicit State(std::uint64_t seed) : rng(seed) {}

  std::string name;
  sqlite3_vfs vfs{};
  Rng rng;
  std::list<Node> nodes;
  std::map<std::string, Node*, std::less<>> names;
  std::map<std::string, Node*, std::less<>> durable_names;
  std::array<std::uint64_t, kCallCount> counts{};
  std::uint64_t change_count = 0;
  std::optional<std::uint64_t> change_count_max;
  std::optional<Fault> fault;
  std::uint64_t fault_calls = 0;
  bool has_fired = false;

  [[nodiscard]] bool is_cut() const { return change_count_max && change_count >= *change_count_max; }

  /// The code that a call returns instead of doing its work; SQLITE_OK: it does its work.
  int enter(Call call, int code_when_cut) {
    ++counts[static_cast<std::size_t>(call)];
    if (is_cut()) return code_when_cut;
    if (!fault || (fault->call && *fault->call != call)) return SQLITE_OK;
    ++fault_calls;
    if (fault_calls != fault->nth && !(fault->is_sticky && fault_calls > fault->nth)) return SQLITE_OK;
    has_fired = true;
    return fault->code;
  }

  void sync_names() { durable_names = names; }
};

namespace {

using State = SimulatedDisk::State;
using Call = SimulatedDisk::Call;

int close_file(sqlite3_file* base) {
  File& file = file_of(base);
  std::erase(file.node->open_files, &file);
  return SQLITE_OK;
}

int read_file(sqlite3_file* base, void* target, int count, sqlite3_int64 offset) {
  File& file = file_of(base);
  if (const int code = file.disk->enter(Call::kRead, SQLITE_IOERR_READ); code != SQLITE_OK) return code;
  const std::string& bytes = file.node->current;
  const std::size_t begin = std::min(bytes.size(), static_cast<std::size_t>(offset));
  const std::size_t there = std::min(bytes.size() - begin, static_cast<std::size_t>(count));
  std::memcpy(target, bytes.data() + begin, there);
  std::memset(static_cast<char*>(target) + there, 0, static_cast<std::size_t>(count) - there);
  return there == static_cast<std::size_t>(count) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

void change(File& file, Change made) {
  ++file.disk->change_count;
  apply_change(file.node->current, made);
  file.node->changes.push_back(std::move(made));
}

/// The sectors that a write completes.
std::size_t sector_count(std::size_t offset, std::size_t size) { return (offset % kSectorBytes + size) / kSectorBytes; }

/// The size of a write that is done only up to the end of the given sector, counted from its first one.
std::size_t size_until(std::size_t offset, std::size_t size, std::size_t sector) {
  const std::size_t end = sector * kSectorBytes;
  return std::min(size, end - std::min(end, offset % kSectorBytes));
}

/// A failed write may have been done in part, or completely.
std::size_t size_of_failed(Rng& rng, std::size_t offset, std::size_t size) {
  const std::size_t sectors = sector_count(offset, size);
  const std::size_t done = rng.below(sectors + 2);
  return done > sectors ? size : size_until(offset, size, done);
}

int write_file(sqlite3_file* base, const void* source, int count, sqlite3_int64 offset) {
  File& file = file_of(base);
  State& disk = *file.disk;
  const int code = disk.enter(Call::kWrite, SQLITE_IOERR_WRITE);
  if (disk.is_cut()) return code;
  const auto begin = static_cast<std::size_t>(offset);
  const auto size = static_cast<std::size_t>(count);
  const std::size_t written = code == SQLITE_OK ? size : size_of_failed(disk.rng, begin, size);
  change(file, {begin, std::string(static_cast<const char*>(source), written), false});
  return code;
}

int truncate_file(sqlite3_file* base, sqlite3_int64 size) {
  File& file = file_of(base);
  if (const int code = file.disk->enter(Call::kTruncate, SQLITE_IOERR_TRUNCATE); code != SQLITE_OK) return code;
  change(file, {static_cast<std::size_t>(size), {}, true});
  return SQLITE_OK;
}

/// A failed sync makes any half of the changes durable; the others are lost with the next power cut, unless the same
/// bytes are written again.
int sync_file(sqlite3_file* base, int /*flags*/) {
  File& file = file_of(base);
  State& disk = *file.disk;
  const int code = disk.enter(Call::kSync, SQLITE_IOERR_FSYNC);
  if (disk.is_cut()) return code;
  ++disk.change_count;
  for (const Change& made : file.node->changes) {
    if (code == SQLITE_OK || disk.rng.below(2) == 0) apply_change(file.node->durable, made);
  }
  file.node->changes.clear();
  if (code == SQLITE_OK && file.syncs_folder && !file.node->is_entry_synced) {
    file.node->is_entry_synced = true;
    disk.sync_names();
  }
  return code;
}

int file_size(sqlite3_file* base, sqlite3_int64* size) {
  File& file = file_of(base);
  if (const int code = file.disk->enter(Call::kSize, SQLITE_IOERR_FSTAT); code != SQLITE_OK) return code;
  *size = static_cast<sqlite3_int64>(file.node->current.size());
  return SQLITE_OK;
}

bool does_other_hold(const File& file, int level) {
  return std::ranges::any_of(file.node->open_files,
                             [&](const File* other) { return other != &file && other->lock >= level; });
}

int lock_file(sqlite3_file* base, int level) {
  File& file = file_of(base);
  if (file.lock >= level) return SQLITE_OK;
  if (const int code = file.disk->enter(Call::kLock, SQLITE_IOERR_LOCK); code != SQLITE_OK) return code;
  if (level == SQLITE_LOCK_SHARED && does_other_hold(file, SQLITE_LOCK_PENDING)) return SQLITE_BUSY;
  if (level >= SQLITE_LOCK_RESERVED && does_other_hold(file, SQLITE_LOCK_RESERVED)) return SQLITE_BUSY;
  if (level == SQLITE_LOCK_EXCLUSIVE && does_other_hold(file, SQLITE_LOCK_SHARED)) {
    file.lock = SQLITE_LOCK_PENDING;
    return SQLITE_BUSY;
  }
  file.lock = level;
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* base, int level) {
  File& file = file_of(base);
  file.lock = std::min(file.lock, level);
  return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file* base, int* is_reserved) {
  File& file = file_of(base);
  if (const int code = file.disk->enter(Call::kLock, SQLITE_IOERR_CHECKRESERVEDLOCK); code != SQLITE_OK) return code;
  *is_reserved = file.lock >= SQLITE_LOCK_RESERVED || does_other_hold(file, SQLITE_LOCK_RESERVED) ? 1 : 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file* /*base*/, int /*operation*/, void* /*argument*/) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file* /*base*/) { return static_cast<int>(kSectorBytes); }
int device_characteristics(sqlite3_file* /*base*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_shm(sqlite3_file* base, int region, int bytes, int may_extend, void volatile** mapped) {
  File& file = file_of(base);
  *mapped = nullptr;
  if (const int code = file.disk->enter(Call::kShm, SQLITE_IOERR_SHMMAP); code != SQLITE_OK) return code;
  file.has_shm = true;
  auto& shm = file.node->shm;
  const auto index = static_cast<std::size_t>(region);
  if (index >= shm.size() && may_extend == 0) return SQLITE_OK;
  while (shm.size() <= index) {
    shm.push_back(std::make_unique<std::vector<std::uint8_t>>(static_cast<std::size_t>(bytes)));
  }
  *mapped = shm[index]->data();
  return SQLITE_OK;
}

int lock_shm(sqlite3_file* base, int first, int count, int flags) {
  File& file = file_of(base);
  const auto begin = static_cast<std::size_t>(first);
  const std::size_t end = begin + static_cast<std::size_t>(count);
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (std::size_t slot = begin; slot < end; ++slot) file.shared[slot] = file.exclusive[slot] = false;
    return SQLITE_OK;
  }
  if (const int code = file.disk->enter(Call::kShm, SQLITE_IOERR_SHMLOCK); code != SQLITE_OK) return code;
  const bool is_exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (std::size_t slot = begin; slot < end; ++slot) {
    for (const File* other : file.node->open_files) {
      if (other == &file) continue;
      if (other->exclusive[slot] || (is_exclusive && other->shared[slot])) return SQLITE_BUSY;
    }
  }
  for (std::size_t slot = begin; slot < end; ++slot) (is_exclusive ? file.exclusive : file.shared)[slot] = true;
  return SQLITE_OK;
}

void bar_shm(sqlite3_file* /*base*/) { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// The last connection removes the memory, as with SQLite's Unix VFS the first connection starts with an empty one.
int unmap_shm(sqlite3_file* base, int /*is_deleted*/) {
  File& file = file_of(base);
  file.has_shm = false;
  file.shared.fill(false);
  file.exclusive.fill(false);
  if (std::ranges::none_of(file.node->open_files, [](const File* other) { return other->has_shm; })) {
    file.node->shm.clear();
  }
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {.iVersion = 2,
                                         .xClose = close_file,
                                         .xRead = read_file,
                                         .xWrite = write_file,
                                         .xTruncate = truncate_file,
                                         .xSync = sync_file,
                                         .xFileSize = file_size,
                                         .xLock = lock_file,
                                         .xUnlock = unlock_file,
                                         .xCheckReservedLock = check_reserved_lock,
                                         .xFileControl = file_control,
                                         .xSectorSize = sector_size,
                                         .xDeviceCharacteristics = device_characteristics,
                                         .xShmMap = map_shm,
                                         .xShmLock = lock_shm,
                                         .xShmBarrier = bar_shm,
                                         .xShmUnmap = unmap_shm,
                                         .xFetch = nullptr,
                                         .xUnfetch = nullptr};

State& state_of(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* base, int flags, int* flags_out) {
  State& disk = state_of(vfs);
  base->pMethods = nullptr;
  if (const int code = disk.enter(Call::kOpen, SQLITE_CANTOPEN); code != SQLITE_OK) return code;
  ENSURE(name != nullptr);  // no temporary files: temp_store = MEMORY
  auto found = disk.names.find(name);
  if (found == disk.names.end()) {
    if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    ++disk.change_count;
    found = disk.names.emplace(name, &disk.nodes.emplace_back()).first;
  }
  constexpr int kJournals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  File& file = file_of(base);
  file = File{.base = {.pMethods = &kMethods},
              .disk = &disk,
              .node = found->second,
              .lock = SQLITE_LOCK_NONE,
              .has_shm = false,
              .syncs_folder = (flags & kJournals) != 0,
              .shared = {},
              .exclusive = {}};
  file.node->open_files.push_back(&file);
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int is_folder_synced) {
  State& disk = state_of(vfs);
  if (const int code = disk.enter(Call::kDelete, SQLITE_IOERR_DELETE); code != SQLITE_OK) return code;
  const auto found = disk.names.find(name);
  if (found == disk.names.end()) return SQLITE_IOERR_DELETE_NOENT;
  ++disk.change_count;
  disk.names.erase(found);
  if (is_folder_synced != 0) disk.sync_names();
  return SQLITE_OK;
}

int access_file(sqlite3_vfs* vfs, const char* name, int flags, int* is_there) {
  State& disk = state_of(vfs);
  if (const int code = disk.enter(Call::kAccess, SQLITE_IOERR_ACCESS); code != SQLITE_OK) return code;
  const auto found = disk.names.find(name);
  const bool has_bytes = found != disk.names.end() && !found->second->current.empty();
  *is_there = has_bytes || (flags != SQLITE_ACCESS_EXISTS && found != disk.names.end()) ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs* /*vfs*/, const char* name, int size, char* full) {
  sqlite3_snprintf(size, full, "%s", name);
  return SQLITE_OK;
}

int random_bytes(sqlite3_vfs* vfs, int count, char* target) {
  for (int i = 0; i < count; ++i) target[i] = static_cast<char>(state_of(vfs).rng());
  return count;
}

int pass_time(sqlite3_vfs* /*vfs*/, int micros) { return micros; }

int current_time(sqlite3_vfs* /*vfs*/, double* days) {
  *days = 2460000.5;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*text*/) { return 0; }

/// Applies the surviving unsynced changes to the durable image.
void lose(Node& node, SimulatedDisk::PowerCut how, Rng& rng) {
  using PowerCut = SimulatedDisk::PowerCut;
  const std::size_t torn_at = node.changes.empty() ? 0 : rng.below(node.changes.size());
  for (std::size_t i = 0; i < node.changes.size(); ++i) {
    Change& change = node.changes[i];
    switch (how) {
      case PowerCut::kKept:
        apply_change(node.durable, change);
        break;
      case PowerCut::kDropped:
      case PowerCut::kEntriesLost:
        break;
      case PowerCut::kTorn:
        if (i > torn_at) break;
        if (i == torn_at && !change.is_truncation) {
          const std::size_t done = rng.below(sector_count(change.offset, change.bytes.size()) + 1);
          change.bytes.resize(size_until(change.offset, change.bytes.size(), done));
        }
        apply_change(node.durable, change);
        break;
      case PowerCut::kReordered:
        if (rng.below(2) == 0) apply_change(node.durable, change);
        break;
      case PowerCut::kGarbage:
        if (change.is_truncation || rng.below(2) == 0) break;
        for (char& byte : change.bytes) byte = static_cast<char>(rng());
        apply_change(node.durable, change);
        break;
    }
  }
  node.changes.clear();
  node.current = node.durable;
}

}  // namespace

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : state_(std::make_unique<State>(seed)) {
  state_->name = fmt::format("simulated-{}", fmt::ptr(state_.get()));
  state_->vfs = {.iVersion = 1,
                 .szOsFile = sizeof(File),
                 .mxPathname = 256,
                 .pNext = nullptr,
                 .zName = state_->name.c_str(),
                 .pAppData = state_.get(),
                 .xOpen = open_file,
                 .xDelete = delete_file,
                 .xAccess = access_file,
                 .xFullPathname = full_path,
                 .xDlOpen = nullptr,
                 .xDlError = nullptr,
                 .xDlSym = nullptr,
                 .xDlClose = nullptr,
                 .xRandomness = random_bytes,
                 .xSleep = pass_time,
                 .xCurrentTime = current_time,
                 .xGetLastError = last_error,
                 .xCurrentTimeInt64 = nullptr,
                 .xSetSystemCall = nullptr,
                 .xGetSystemCall = nullptr,
                 .xNextSystemCall = nullptr};
  ENSURE(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK);
}

SimulatedDisk::~SimulatedDisk() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& SimulatedDisk::vfs() const { return state_->name; }

void SimulatedDisk::arm(const Fault& fault) {
  state_->fault = fault;
  state_->fault_calls = 0;
  state_->has_fired = false;
}

void SimulatedDisk::heal() { state_->fault.reset(); }

bool SimulatedDisk::has_fired() const { return state_->has_fired; }

std::uint64_t SimulatedDisk::count(Call call) const { return state_->counts[static_cast<std::size_t>(call)]; }

std::uint64_t SimulatedDisk::change_count() const { return state_->change_count; }

void SimulatedDisk::cut_power_after(std::uint64_t changes) { state_->change_count_max = changes; }

bool SimulatedDisk::is_cut() const { return state_->is_cut(); }

void SimulatedDisk::restart(PowerCut how) {
  for (Node& node : state_->nodes) {
    ENSURE(node.open_files.empty());
    lose(node, how, state_->rng);
  }
  if (how == PowerCut::kEntriesLost) state_->names = state_->durable_names;
  state_->durable_names = state_->names;
  restart_process();
}

void SimulatedDisk::restart_process() {
  state_->change_count_max.reset();
  state_->fault.reset();
}

}  // namespace berth::edges::testing
