#include "surface/cli/client/watch_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "surface/cli/client/node.h"
#include "surface/cli/client/phases.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"
#include "surface/cli/shared/yaml_text.h"

namespace berth::cli {
namespace {

using yaml::Node;
using Row = std::vector<std::string>;

constexpr std::chrono::seconds kBetweenListings{1};

/// Rows one after the other, in columns as wide as those of the first ones.
class GrowingTable {
 public:
  std::string head_and(const ObjectRows& table) {
    for (const std::string& heading : table.headings) widths_.push_back(heading.size());
    for (const Row& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], shown_cell(row[i]).size());
    }
    return line_of(table.headings);
  }
  [[nodiscard]] std::string line_of(const Row& row) const {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      line += is_last ? shown_cell(row[i]) : fmt::format("{:<{}}", shown_cell(row[i]), widths_[i] + kColumnGap);
    }
    return line + "\n";
  }

 private:
  static std::string shown_cell(const std::string& cell) {
    return cell.empty() ? std::string(kAbsentText) : printable(cell);
  }

  std::vector<std::size_t> widths_;
};

/// What was printed last of each object, and the text of what changes.
class ObjectWatch {
 public:
  ObjectWatch(const WatchRequest& request, const Client& client) : request_(request), client_(client) {}

  /// The text of what is new, changed or gone since the last call.
  ClientResult<std::string> changes() {
    auto objects = fetch_objects();
    if (!objects) return client_fail(objects.error());
    keep_phases(kind(), request_.phases, *objects);
    std::map<std::string, std::string> seen;
    std::string text = is_table(request_.output) ? changed_rows(*objects, seen) : changed_objects(*objects, seen);
    if (kind() == Kind::kEvent) return text;  // events do not change, and are not asked for again
    for (const auto& [title, last] : seen_) {
      if (!seen.contains(title)) text += gone_text(title);
    }
    seen_ = std::move(seen);
    return text;
  }

 private:
  [[nodiscard]] Kind kind() const { return request_.selection.kind; }

  ClientResult<std::vector<Node>> fetch_objects() {
    if (kind() != Kind::kEvent || !request_.selection.name.empty()) return fetch(client_, request_.selection);
    const bool is_first = last_event_ == 0;
    auto events = fetch_events_after(client_, last_event_);
    if (!events) return events;
    for (const Node& event : *events) {
      const auto sequence = number_at(event, "sequence");
      if (sequence) last_event_ = std::max(last_event_, static_cast<std::int64_t>(*sequence));
    }
    std::erase_if(*events, [&](const Node& event) {
      const std::string& tenant = request_.selection.tenant;
      return !tenant.empty() && text_at(event, "object.namespace") != tenant;
    });
    const auto earlier = std::ssize(*events) - static_cast<std::ptrdiff_t>(kEventsShownMax);
    if (is_first && is_table(request_.output) && earlier > 0) events->erase(events->begin(), events->begin() + earlier);
    return events;
  }

  std::string changed_rows(const std::vector<Node>& objects, std::map<std::string, std::string>& seen) {
    const auto now = has_age(kind()) ? fetch_now(client_) : std::nullopt;
    const ObjectRows table = object_rows(kind(), objects, {.is_wide = request_.output == Output::kWide, .now = now});
    std::string text;
    if (!objects.empty() && !std::exchange(has_head_, true)) text = table_.head_and(table);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      Row compared = table.rows[i];
      if (table.age_column) compared[*table.age_column].clear();
      const std::string content = fmt::format("{}", fmt::join(compared, "\n"));
      if (is_new(objects[i], content, seen)) text += table_.line_of(table.rows[i]);
    }
    return text;
  }

  std::string changed_objects(const std::vector<Node>& objects, std::map<std::string, std::string>& seen) {
    std::string text;
    for (const Node& object : objects) {
      std::string content = cli::json_of(object);
      if (!is_new(object, content, seen)) continue;
      if (request_.output == Output::kJson) text += content + "\n";
      if (request_.output == Output::kYaml) text += "---\n" + yaml_of(object);
      if (request_.output == Output::kName) text += title_of(kind(), object) + "\n";
    }
    return text;
  }

  bool is_new(const Node& object, const std::string& content, std::map<std::string, std::string>& seen) {
    const std::string title = title_of(kind(), object);
    seen[title] = content;
    const auto last = seen_.find(title);
    return last == seen_.end() || last->second != content;
  }

  [[nodiscard]] std::string gone_text(const std::string& title) const {
    if (request_.output == Output::kYaml) return "---\ngone: " + title + "\n";
    if (request_.output != Output::kJson) return title + " gone\n";
    Node gone{{}, yaml::Map()};
    put(gone, "gone", text_node(title));
    return cli::json_of(gone) + "\n";
  }

  const WatchRequest& request_;
  const Client& client_;
  GrowingTable table_;
  bool has_head_ = false;
  std::int64_t last_event_ = 0;
  std::map<std::string, std::string> seen_;  ///< by title: what was printed, without the age
};

}  // namespace

VerbOutcome run_watch(const WatchRequest& request, const Client& client, std::FILE* out) {
  const InterruptWatch interrupts;
  ObjectWatch watch(request, client);
  while (true) {
    const auto text = watch.changes();
    if (!text) return outcome_of(text);
    const bool is_written = std::fwrite(text->data(), 1, text->size(), out) == text->size() && std::fflush(out) == 0;
    if (!is_written) return outcome_of(client_fail(ClientStatus::kFailed, "the output cannot be written"));
    std::this_thread::sleep_for(kBetweenListings);
  }
}

}  // namespace berth::cli
