#include "gpu/nvml_sim_state/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "gpu/nvml_sim/event_ring.h"
#include "gpu/nvml_sim_state/testing/child.h"
#include "gpu/nvml_sim_state/testing/machines.h"

namespace berth::edges {
namespace {

using nvml_sim::EventRecord;
using nvml_sim::GpuRecord;
using nvml_sim::kEventsMax;
using nvml_sim::kGpusMax;
using nvml_sim::MachineRecord;
using ::testing::AllOf;
using testing::Child;
using testing::copy_of;
using testing::create_state;
using ::testing::HasSubstr;
using testing::machine_of;
using testing::Mark;
using testing::open_state;
using testing::run_in_child;
using testing::Scratch;
using ::testing::StartsWith;

constexpr std::int64_t kLongMicros = 20'000'000;  // far more than anything here takes

/// Where the file's header has its fields.
constexpr std::streamoff kFormatAt = 8;
constexpr std::streamoff kByteOrderAt = 12;
constexpr std::streamoff kMachineBytesAt = 16;
constexpr std::streamoff kChangingAt = 24;

void overwrite(const std::string& path, std::streamoff at, std::uint32_t value) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  ASSERT_TRUE(file.good());
}

std::uint32_t word_at(const std::string& path, std::streamoff at) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(at);
  std::uint32_t value = 0;
  file.read(reinterpret_cast<char*>(&value), sizeof(value));
  EXPECT_TRUE(file.good());
  return value;
}

bool are_equal(const MachineRecord& one, const MachineRecord& other) {
  return std::memcmp(&one, &other, sizeof(MachineRecord)) == 0;
}

std::uint64_t calls_of(SimStateFile& file, std::uint32_t gpu) {
  std::uint64_t calls = 0;
  file.read([&](const MachineRecord& machine) { calls = machine.gpus[gpu].changing_calls; });
  return calls;
}

Error refusal_of(const std::string& path) {
  const auto file = SimStateFile::open(path);
  return file ? Error{.message = "opened"} : file.error();
}

std::chrono::milliseconds time_of(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

TEST(SimStateFile, AMachineComesBackByteByByte) {
  const Scratch scratch;
  const auto machine = machine_of({"A100-40GB", "H100-80GB-SXM5", "T4"});
  ASSERT_TRUE(SimStateFile::create(scratch.state(), *machine).has_value());
  const auto file = open_state(scratch.state());
  EXPECT_EQ(file->path(), scratch.state());
  EXPECT_TRUE(are_equal(*copy_of(*file), *machine));
  EXPECT_FALSE(std::filesystem::exists(scratch.state() + ".new"));
}

TEST(SimStateFile, EverybodyMayReadAndWriteTheFileWhateverTheMaskIs) {
  const Scratch scratch;
  const mode_t mask = ::umask(0077);
  create_state(scratch.state(), {"T4"});
  ::umask(mask);
  struct stat status = {};
  ASSERT_EQ(::stat(scratch.state().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
}

TEST(SimStateFile, ANewStateReplacesTheOldOneForThoseWhoOpenItLater) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const auto before = open_state(scratch.state());
  create_state(scratch.state(), {"T4", "T4"});
  EXPECT_EQ(copy_of(*before)->gpu_count, 1U);
  EXPECT_EQ(copy_of(*open_state(scratch.state()))->gpu_count, 2U);
}

TEST(SimStateFile, CreationThatFailsSaysWhereAndLeavesNothing) {
  const Scratch scratch;
  const std::string nowhere = (scratch.path / "no" / "state").string();
  const Result<void> no_folder = SimStateFile::create(nowhere, *machine_of({"T4"}));
  ASSERT_FALSE(no_folder.has_value());
  EXPECT_EQ(no_folder.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(no_folder.error().message, AllOf(StartsWith(nowhere), HasSubstr("No such file or directory")));

  std::filesystem::create_directories(scratch.path / "state" / "full");
  const Result<void> is_folder = SimStateFile::create(scratch.state(), *machine_of({"T4"}));
  ASSERT_FALSE(is_folder.has_value());
  EXPECT_THAT(is_folder.error().message, AllOf(StartsWith(scratch.state() + ":"), HasSubstr("irectory")));
  EXPECT_FALSE(std::filesystem::exists(scratch.state() + ".new"));
}

TEST(SimStateFile, AMissingFileIsNotFound) {
  const Scratch scratch;
  const Error error = refusal_of(scratch.state());
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(StartsWith(scratch.state() + ":"), HasSubstr("No such file or directory")));
}

TEST(SimStateFile, AFolderIsUnavailable) {
  const Scratch scratch;
  EXPECT_EQ(refusal_of(scratch.path.string()).code, ErrorCode::kUnavailable);
}

TEST(SimStateFile, WhatIsNoStateIsRefusedWithWhatWasFound) {
  const Scratch scratch;
  const std::string path = scratch.state();
  const auto refuses = [&](const char* wanted, const std::string& found) {
    const Error error = refusal_of(path);
    EXPECT_EQ(error.code, ErrorCode::kInvalidInput) << error.message;
    EXPECT_THAT(error.message, AllOf(StartsWith(path + ": wanted "), HasSubstr(wanted), HasSubstr(found)));
  };
  std::ofstream{path}.close();
  refuses("the state of a simulated machine", "found another kind of file");
  std::ofstream{path} << "BERTHNVS";
  refuses("the state of a simulated machine", "found another kind of file");
  std::ofstream{path} << std::string(100, 'x');
  refuses("the state of a simulated machine", "found another kind of file");

  create_state(path, {"T4"});
  const auto bytes = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, bytes - 1);
  refuses(std::to_string(bytes).c_str(), "found " + std::to_string(bytes - 1));
  std::filesystem::resize_file(path, bytes + 4096);
  refuses(std::to_string(bytes).c_str(), "found " + std::to_string(bytes + 4096));
  std::filesystem::resize_file(path, 64);
  refuses(std::to_string(bytes).c_str(), "found 64");

  create_state(path, {"T4"});
  overwrite(path, 0, 0);
  refuses("the state of a simulated machine", "found another kind of file");
  create_state(path, {"T4"});
  overwrite(path, kFormatAt, 77);
  refuses("format 1", "found format 77");
  create_state(path, {"T4"});
  overwrite(path, kByteOrderAt, 0x04030201);
  refuses("this machine's byte order", "found another");
  create_state(path, {"T4"});
  overwrite(path, kMachineBytesAt, 1000);
  refuses(std::to_string(sizeof(MachineRecord)).c_str(), "found format 1 with 1000 bytes");
}

TEST(SimStateFile, ChangesAreSeenByAllWhoHaveTheFile) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4", "T4"});
  const auto one = open_state(scratch.state());
  const auto other = open_state(scratch.state());
  one->change(1, [](MachineRecord& machine) { machine.gpus[1].changing_calls = 5; });
  EXPECT_EQ(calls_of(*other, 1), 5U);
  EXPECT_EQ(calls_of(*other, 0), 0U);
  other->change_all([](MachineRecord& machine) {
    machine.boots = 2;
    for (GpuRecord& gpu : machine.gpus) gpu.changing_calls = 7;
  });
  EXPECT_EQ(copy_of(*one)->boots, 2U);
  EXPECT_EQ(calls_of(*one, kGpusMax - 1), 7U);
  EXPECT_EQ(run_in_child([&] {
              const auto file = open_state(scratch.state());
              file->change(0, [](MachineRecord& machine) { ++machine.gpus[0].changing_calls; });
              return static_cast<int>(calls_of(*file, 0));
            }),
            8);
  EXPECT_EQ(calls_of(*one, 0), 8U);
  EXPECT_EQ(word_at(scratch.state(), kChangingAt), 0U);
}

/// Fills the ring so that new events take the places of old ones.
void fill(nvml_sim::EventRing& ring) {
  for (std::uint64_t event = 0; event < kEventsMax + 10; ++event) post(ring, {.type = 1, .number = event});
}

/// Sets a part of everything that a change of a GPU may touch.
void scribble(MachineRecord& machine, std::uint32_t gpu) {
  std::memset(static_cast<void*>(&machine.gpus[gpu]), 0xAB, sizeof(GpuRecord) / 2);
  for (std::uint64_t event = 0; event < 3; ++event) post(machine.events, {.type = 2, .number = event});
  machine.events.events[machine.events.posted % kEventsMax].number = 99;  // the next one, half written
}

std::vector<std::uint64_t> events_from(const MachineRecord& machine, std::uint64_t position) {
  std::vector<std::uint64_t> numbers;
  for (;;) {
    const auto next = nvml_sim::next_event(machine.events, position,
                                           [](const EventRecord& event, std::uint64_t) { return event.type != 0; });
    if (!next.event) return numbers;
    numbers.push_back(next.event->number);
    position = next.position;
  }
}

TEST(SimStateFile, AChangeWhoseProcessIsKilledInItsMidstLeavesEveryByteOfTheGpu) {
  const Scratch scratch;
  create_state(scratch.state(), {"H100-80GB-SXM5", "H100-80GB-SXM5"});
  const auto file = open_state(scratch.state());
  file->change_all([](MachineRecord& machine) { fill(machine.events); });
  const auto before = copy_of(*file);
  const Mark is_halfway;
  Child child([&] {
    open_state(scratch.state())->change(1, [&](MachineRecord& machine) {
      scribble(machine, 1);
      is_halfway.set();
      ::pause();
    });
    return 0;
  });
  ASSERT_TRUE(is_halfway.wait());
  child.kill();
  EXPECT_EQ(word_at(scratch.state(), kChangingAt), 2U) << "the test missed the midst of the change";

  const auto after = copy_of(*file);
  EXPECT_EQ(word_at(scratch.state(), kChangingAt), 0U);
  EXPECT_EQ(std::memcmp(before->gpus, after->gpus, sizeof(before->gpus)), 0);
  EXPECT_EQ(after->events.posted, before->events.posted);
  const auto events_before = events_from(*before, 0);
  const auto events_after = events_from(*after, 0);
  ASSERT_EQ(events_before.size(), kEventsMax);
  // The oldest four were overwritten; their slots show no events that never happened.
  EXPECT_EQ(events_after, std::vector(events_before.begin() + 4, events_before.end()));
}

TEST(SimStateFile, AChangeOfAllWhoseProcessIsKilledInItsMidstLeavesEveryByte) {
  const Scratch scratch;
  create_state(scratch.state(), {"H100-80GB-SXM5", "H100-80GB-SXM5"});
  const auto file = open_state(scratch.state());
  file->change_all([](MachineRecord& machine) { fill(machine.events); });
  const auto before = copy_of(*file);
  const Mark is_halfway;
  Child child([&] {
    open_state(scratch.state())->change_all([&](MachineRecord& machine) {
      ++machine.boots;
      scribble(machine, 0);
      scribble(machine, 1);
      is_halfway.set();
      ::pause();
    });
    return 0;
  });
  ASSERT_TRUE(is_halfway.wait());
  child.kill();
  EXPECT_NE(word_at(scratch.state(), kChangingAt), 0U) << "the test missed the midst of the change";
  EXPECT_TRUE(are_equal(*copy_of(*file), *before));
}

TEST(SimStateFile, AStoppedChangeHoldsUpReadersUntilItGoesOn) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const Mark is_halfway;
  Child child([&] {
    open_state(scratch.state())->change(0, [&](MachineRecord& machine) {
      machine.gpus[0].changing_calls = 1;
      is_halfway.set();
      ::raise(SIGSTOP);
      machine.gpus[0].changing_calls = 2;
    });
    return 0;
  });
  ASSERT_TRUE(is_halfway.wait());
  std::uint64_t seen = 0;
  std::thread reader([&] { seen = calls_of(*open_state(scratch.state()), 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ::kill(child.pid(), SIGCONT);
  reader.join();
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(child.finish(), 0);
}

TEST(SimStateFile, AReaderThatIsKilledLeavesTheLock) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const Mark is_inside;
  Child child([&] {
    open_state(scratch.state())->read([&](const MachineRecord&) {
      is_inside.set();
      ::pause();
    });
    return 0;
  });
  ASSERT_TRUE(is_inside.wait());
  child.kill();
  EXPECT_EQ(calls_of(*open_state(scratch.state()), 0), 0U);
}

TEST(SimStateFile, ChangesOfThreadsAndProcessesComeOneAfterTheOther) {
  constexpr int kChanges = 300;
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const auto shared = open_state(scratch.state());
  const auto count_up = [](SimStateFile& file) {
    for (int change = 0; change < kChanges; ++change) {
      file.change(0, [](MachineRecord& machine) {
        const std::uint64_t calls = machine.gpus[0].changing_calls;
        if (calls % 16 == 0) std::this_thread::yield();
        machine.gpus[0].changing_calls = calls + 1;
      });
    }
  };
  const auto count_up_in_child = [&] {
    const auto file = open_state(scratch.state());
    count_up(*file);
    return 0;
  };
  Child one(count_up_in_child);
  Child other(count_up_in_child);
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int thread = 0; thread < 2; ++thread) threads.emplace_back([&] { count_up(*shared); });
  threads.emplace_back([&] { count_up(*open_state(scratch.state())); });  // its own descriptor, in the same process
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(one.finish(), 0);
  EXPECT_EQ(other.finish(), 0);
  EXPECT_EQ(calls_of(*shared, 0), 5U * kChanges);
}

/// A thread that wants to change a GPU. It is joined when this object is destroyed.
class Contender {
 public:
  Contender(SimStateFile& file, std::uint32_t gpu)
      : thread_([this, &file, gpu] {
          const auto lock = file.lock_changes(gpu);
          has_lock_ = true;
        }) {}
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender() { thread_.join(); }
  [[nodiscard]] bool has_lock() const { return has_lock_; }

 private:
  std::atomic<bool> has_lock_ = false;
  std::thread thread_;
};

TEST(SimStateFile, TheChangesOfAGpuAreLockedForOtherThreadsAndOtherFiles) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4", "T4"});
  const auto file = open_state(scratch.state());
  const auto other_file = open_state(scratch.state());
  std::optional<Contender> thread;
  std::optional<Contender> other;
  {
    const auto lock = file->lock_changes(0);
    {
      const auto second_gpu = file->lock_changes(1);
    }
    {
      const auto second_gpu = other_file->lock_changes(1);
    }
    EXPECT_EQ(calls_of(*other_file, 0), 0U) << "readers need no such lock";
    file->change(0, [](MachineRecord& machine) { machine.gpus[0].changing_calls = 1; });
    thread.emplace(*file, 0);
    other.emplace(*other_file, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(thread->has_lock());
    EXPECT_FALSE(other->has_lock());
  }
  thread.reset();  // the threads end
  other.reset();
}

TEST(SimStateFile, TheLockOfAGpuEndsWithItsHolder) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const auto file = open_state(scratch.state());
  const Mark is_locked;
  Child child([&] {
    const auto own = open_state(scratch.state());
    const auto lock = own->lock_changes(0);
    is_locked.set();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(is_locked.wait());
  {
    const Contender contender(*file, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(contender.has_lock());
    EXPECT_EQ(calls_of(*file, 0), 0U);
    child.kill();
  }
  const auto lock = file->lock_changes(0);
}

TEST(SimStateFile, ALockThatWasMovedIsGivenBackOnce) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const auto file = open_state(scratch.state());
  {
    auto lock = file->lock_changes(0);
    const SimStateFile::ChangeLock moved(std::move(lock));
  }
  const auto again = file->lock_changes(0);
}

TEST(SimStateFile, AForkedChildThatAbandonsTheFileKeepsNoLockOfItsParent) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const Mark is_ready;
  const Mark is_over;
  Child parent([&] {
    const auto file = open_state(scratch.state());
    const auto lock = file->lock_changes(0);
    if (::fork() == 0) {
      file->abandon();
      is_ready.set();
      ::_exit(is_over.wait() ? 0 : 1);
    }
    ::pause();
    return 0;
  });
  ASSERT_TRUE(is_ready.wait());
  parent.kill();
  const auto file = open_state(scratch.state());
  EXPECT_LT(time_of([&] { const auto lock = file->lock_changes(0); }), std::chrono::seconds(20))
      << "it waited for the grandchild";
  is_over.set();
}

TEST(SimStateFile, AWaitForAnEventEndsWhenOneIsPosted) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const auto file = open_state(scratch.state());
  const Mark is_ready;
  Child child([&] {
    const auto own = open_state(scratch.state());
    if (!is_ready.wait()) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    own->change(0, [](MachineRecord& machine) { post(machine.events, {.type = 8, .number = 48}); });
    return 0;
  });
  is_ready.set();
  const auto waited = time_of([&] {
    while (copy_of(*file)->events.posted == 0) file->wait_for_event(0, kLongMicros, 1);  // of GPU 0
  });
  EXPECT_LT(waited, std::chrono::microseconds(kLongMicros / 2));
  EXPECT_EQ(copy_of(*file)->events.events[0].number, 48U);
  EXPECT_EQ(child.finish(), 0);
  EXPECT_LT(time_of([&] { file->wait_for_event(0, kLongMicros); }), std::chrono::microseconds(kLongMicros / 2))
      << "one was posted after 0";
}

TEST(SimStateFile, AWaitWithoutEventsTakesItsTime) {
  const Scratch scratch;
  auto machine = machine_of({"T4"});
  post(machine->events, {.type = 8});  // a new state may already have events
  ASSERT_TRUE(SimStateFile::create(scratch.state(), *machine).has_value());
  const auto file = open_state(scratch.state());
  ASSERT_EQ(copy_of(*file)->events.posted, 1U);
  EXPECT_GE(time_of([&] { file->wait_for_event(1, 50'000); }), std::chrono::milliseconds(50));
  file->change(0, [](MachineRecord& changed) { ++changed.gpus[0].changing_calls; });
  EXPECT_GE(time_of([&] { file->wait_for_event(1, 50'000); }), std::chrono::milliseconds(50));
}

TEST(SimStateFile, EventsOfAnUndoneChangeWakeNobodyLater) {
  const Scratch scratch;
  create_state(scratch.state(), {"T4"});
  const Mark is_halfway;
  Child child([&] {
    open_state(scratch.state())->change(0, [&](MachineRecord& machine) {
      post(machine.events, {.type = 8});
      is_halfway.set();
      ::pause();
    });
    return 0;
  });
  ASSERT_TRUE(is_halfway.wait());
  child.kill();
  const auto file = open_state(scratch.state());
  ASSERT_EQ(copy_of(*file)->events.posted, 0U);
  EXPECT_GE(time_of([&] { file->wait_for_event(0, 50'000); }), std::chrono::milliseconds(50));
}

}  // namespace
}  // namespace berth::edges
