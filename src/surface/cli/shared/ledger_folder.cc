#include "surface/cli/shared/ledger_folder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/core/archive.h"
#include "edges/files/file_sink.h"
#include "edges/files/spill.h"
#include "ledger/events/event_lines.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using edges::LedgerFile;
using edges::LedgerHead;
using ledger::Books;

/// More bytes of lines than this are spilled to disk.
constexpr std::uint64_t kMemoryBytesMax = 64U << 20U;
/// The books are saved when there are this many new lines, and they are a twentieth of all.
constexpr std::uint64_t kSaveLinesMin = 20'000;
constexpr std::uint64_t kSavePartMin = 20;
/// Lines between two updates of the progress.
constexpr std::uint64_t kLinesPerStep = 65'536;

std::string books_path(const std::string& folder) { return (std::filesystem::path(folder) / "books.bin").string(); }

std::string label_of(const LedgerHead& head) {
  ArchiveWriter archive;
  archive(head);
  return archive.take();
}

std::optional<LedgerHead> head_of(std::string_view label) {
  ArchiveReader archive(label);
  LedgerHead head;
  archive(head);
  return archive.is_at_end() ? std::optional(head) : std::nullopt;
}

/// The lines after a head, in memory or spilled into the folder.
Result<std::unique_ptr<FileBytes>> read_lines_behind(LedgerFile& file, const LedgerHead& behind, const LedgerHead& head,
                                                     const std::string& folder) {
  std::string text;
  std::optional<edges::Spill> spill;
  if (head.bytes - behind.bytes > kMemoryBytesMax) {
    auto opened = edges::Spill::open(folder);
    if (!opened) opened = edges::Spill::open(std::filesystem::temp_directory_path().string());
    if (!opened) return unwritable(opened.error());
    spill = *std::move(opened);
  }
  Result<void> spilled;
  const auto read = file.for_each_text(
      [&](std::string_view piece) {
        if (spill) {
          spilled = spill->append(piece);
        } else {
          text += piece;
        }
        return spilled.has_value();
      },
      behind);
  if (!read) return ledger_failure(read.error());
  if (!spilled) return unwritable(spilled.error());
  return spill ? spill->map() : bytes_in_memory(std::move(text));
}

}  // namespace

std::string ledger_path(const std::string& folder) { return (std::filesystem::path(folder) / "ledger.db").string(); }

tl::unexpected<Error> ledger_failure(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

Result<std::unique_ptr<LedgerFile>> open_ledger_file(const std::string& folder) {
  const std::string path = ledger_path(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::kNotFound,
                "--ledger " + folder + ": wanted a folder with a ledger, found no ledger.db in it");
  }
  auto file = LedgerFile::open_reader(path);
  if (!file) return ledger_failure(file.error());
  return *std::move(file);
}

Result<std::unique_ptr<FileBytes>> read_ledger_lines(const std::string& folder) {
  const auto file = open_ledger_file(folder);
  if (!file) return pass_on(file.error());
  const auto head = (*file)->head();
  if (!head) return ledger_failure(head.error());
  return read_lines_behind(**file, {}, *head, folder);
}

/// The lines that the books refer to: those after the saved books are in `text`, earlier ones are read from the file.
struct FolderBooks::Lines {
  std::unique_ptr<LedgerFile> file;
  std::unique_ptr<FileBytes> text;  ///< of the lines from `first` on
  std::uint64_t first = 0;
  std::string line;  ///< the last one read from the file

  std::optional<StoreError> failure;  ///< the first

  [[nodiscard]] std::string_view at(std::uint64_t position) {
    if (position >= first) return ledger::line_at(text->bytes(), position - first);
    auto read = file->line_at(position);
    if (!read) {
      // A line without effect: the results are discarded, because the failure is reported.
      if (!failure) failure = read.error();
      return R"({"type":"void","id":"","of":""})";
    }
    line = *std::move(read);
    return line;
  }
};

Result<FolderBooks> FolderBooks::open(const std::string& folder, const Files& files,
                                      const std::function<void(double)>& show) {
  FolderBooks opened;
  opened.folder_ = folder;
  opened.lines_ = std::make_shared<Lines>();
  auto file = open_ledger_file(folder);
  if (!file) return pass_on(file.error());
  opened.lines_->file = *std::move(file);
  LedgerFile& ledger = *opened.lines_->file;
  const auto head = ledger.head();
  if (!head) return ledger_failure(head.error());
  const auto line_at = [lines = opened.lines_](std::uint64_t position) { return lines->at(position); };
  // Saved books that cannot be read, or belong to another ledger, are ignored.
  if (auto saved = files.open(books_path(folder))) {
    opened.saved_ = *std::move(saved);
    auto restored = Books::restored(opened.saved_->bytes(), line_at);
    const auto label = restored ? head_of(restored->label) : std::nullopt;
    const auto has_passed = label ? ledger.has_passed(*label) : StoreResult<bool>(false);
    if (!has_passed) return ledger_failure(has_passed.error());
    if (*has_passed) {
      opened.saved_head_ = *label;
      opened.books_ = std::make_unique<Books>(std::move(restored->books));
    }
  }
  if (!opened.books_) opened.books_ = std::make_unique<Books>(line_at);
  opened.head_ = opened.saved_head_;
  auto text = read_lines_behind(ledger, opened.saved_head_, *head, folder);
  if (!text) return pass_on(text.error());
  opened.lines_->text = *std::move(text);
  opened.lines_->first = opened.saved_head_.bytes;
  if (auto taken = opened.take_lines(*head, show); !taken) return pass_on(taken.error());
  return opened;
}

Result<void> FolderBooks::take_lines(const LedgerHead& head, const std::function<void(double)>& show) {
  const std::string_view text = lines_->text->bytes();
  ledger::EventLines lines(text, ledger_path(folder_));
  for (Result<bool> more = lines.next();; more = lines.next()) {
    // Each was checked before it was appended.
    if (!more) return fail(ErrorCode::kUnavailable, more.error().message);
    if (!*more) break;
    if (const ledger::EventLine* ahead = lines.ahead()) books_->expect(*ahead);
    ledger::EventLine line = lines.line();
    if (line.number % kLinesPerStep == 0) {
      show(static_cast<double>(line.position) / static_cast<double>(text.size()));
    }
    line.number += saved_head_.lines;
    line.position += saved_head_.bytes;
    books_->take(line);
    if (lines_->failure) return ledger_failure(*lines_->failure);
  }
  head_ = head;
  return {};
}

Result<void> FolderBooks::save() {
  auto sink = edges::FileSink::open(books_path(folder_));
  if (!sink) return unwritable(sink.error());
  Result<void> written;
  books_->save(label_of(head_), [&](std::string_view piece) {
    if (written) written = sink->append(piece);
  });
  if (written) written = sink->commit();
  return written ? written : unwritable(written.error());
}

void FolderBooks::remove_unfinished(const std::string& folder) {
  std::error_code ignored;
  const std::string begin = std::filesystem::path(books_path(folder)).filename().string() + ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(".part")) std::filesystem::remove(entry.path(), ignored);
  }
}

Result<bool> FolderBooks::is_save_due(const std::string& folder, const Files& files) {
  const auto file = open_ledger_file(folder);
  if (!file) return pass_on(file.error());
  const auto head = (*file)->head();
  if (!head) return ledger_failure(head.error());
  std::uint64_t saved_lines = 0;
  if (const auto saved = files.open(books_path(folder))) {
    const auto label = Books::saved_label((*saved)->bytes());
    const auto saved_head = label ? head_of(*label) : std::nullopt;
    if (saved_head && saved_head->lines <= head->lines) saved_lines = saved_head->lines;
  }
  return head->lines - saved_lines >= std::max(kSaveLinesMin, head->lines / kSavePartMin);
}

}  // namespace berth::cli
