#include "kube/client/reflector.h"

#include <fmt/format.h>

#include "base/core/overloaded.h"

namespace berth::kube {
namespace {

constexpr int kGone = 410;

bool is_expired(const Refusal& refusal) {
  return refusal.code == kGone || refusal.reason == "Expired" || refusal.reason == "Gone";
}

}  // namespace

Reflector::Reflector(const Resource& resource, const ReflectorOptions& options)
    : resource_(resource), options_(options), back_off_(options.back_off), expiry_back_off_(options.back_off) {}

Reflector::Step Reflector::next(Instant now) const {
  if (wait_until_ && now < *wait_until_) return WaitStep{*wait_until_};
  const std::string path = collection_path(resource_);
  if (version_.empty()) {
    std::string target = fmt::format("{}?limit={}", path, options_.page_size);
    if (!continuation_.empty()) target += "&continue=" + percent_encoded(continuation_);
    return ListStep{std::move(target)};
  }
  return WatchStep{fmt::format("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}", path,
                               options_.watch_seconds, percent_encoded(version_)),
                   options_.silence_max};
}

std::vector<Change> Reflector::take_page(const Result<KubeAnswer>& outcome, Instant now, Rng& rng) {
  std::vector<Change> changes;
  const KubeCall call{.target = collection_path(resource_)};
  if (!outcome) {
    wait(outcome.error(), now, rng);
    return changes;
  }
  if (outcome->status != 200) {
    // A continuation that has expired: from the beginning.
    if (outcome->status == kGone) list_anew();
    wait(error_of(call, *outcome), now, rng);
    return changes;
  }
  auto page = read_page(outcome->body);
  if (!page) {
    wait(page.error(), now, rng);
    return changes;
  }
  for (PageItem& item : page->items) {
    listed_.insert(item.identity.name);
    take_object(std::move(item.identity), std::move(item.object), changes);
  }
  continuation_ = page->continuation;
  note_success();
  if (!continuation_.empty()) return changes;
  remove_missed(changes);
  version_ = page->version;
  line_count_ = 0;
  ++list_count_;
  return changes;
}

void Reflector::take_object(Identity identity, yaml::Node object, std::vector<Change>& changes) {
  const auto found = known_.find(identity.name);
  if (found == known_.end()) {
    known_.emplace(identity.name, Known{identity.uid, identity.version});
    changes.push_back({ChangeKind::kAdded, std::move(identity), std::move(object)});
    return;
  }
  Known& known = found->second;
  if (known.uid != identity.uid) {
    changes.push_back({ChangeKind::kDeleted, {identity.name, known.uid, known.version}, {}});
    known = {identity.uid, identity.version};
    changes.push_back({ChangeKind::kAdded, std::move(identity), std::move(object)});
    return;
  }
  if (known.version == identity.version) return;
  known.version = identity.version;
  changes.push_back({ChangeKind::kModified, std::move(identity), std::move(object)});
}

void Reflector::remove_missed(std::vector<Change>& changes) {
  for (auto each = known_.begin(); each != known_.end();) {
    if (listed_.contains(each->first)) {
      ++each;
      continue;
    }
    changes.push_back({ChangeKind::kDeleted, {each->first, each->second.uid, each->second.version}, {}});
    each = known_.erase(each);
  }
  listed_.clear();
}

bool Reflector::take_line(std::string_view line, Instant now, Rng& rng, std::vector<Change>& changes) {
  if (line.empty()) return true;
  auto frame = read_frame(line);
  if (!frame) {
    list_anew();
    wait(frame.error(), now, rng);
    return false;
  }
  ++line_count_;
  return std::visit(Overloaded{[&](ObjectFrame& found) {
                                 note_success();
                                 expiry_back_off_.reset();
                                 version_ = found.identity.version;
                                 if (found.kind != ChangeKind::kDeleted) {
                                   take_object(std::move(found.identity), std::move(found.object), changes);
                                 } else if (known_.erase(found.identity.name) > 0) {
                                   changes.push_back({found.kind, std::move(found.identity), std::move(found.object)});
                                 }
                                 return true;
                               },
                               [&](const BookmarkFrame& bookmark) {
                                 note_success();
                                 expiry_back_off_.reset();
                                 version_ = bookmark.version;
                                 return true;
                               },
                               [&](const ErrorFrame& error) { return take_refusal(error.refusal, now, rng); }},
                    *frame);
}

bool Reflector::take_refusal(const Refusal& refusal, Instant now, Rng& rng) {
  if (is_expired(refusal)) {
    list_anew();
    const Micros pause = expiry_back_off_.next(rng);
    line_count_ = 0;
    // The first time at once; a server that says so of a version that it has just given is given time.
    if (expiry_back_off_.failure_count() > 1) wait_until_ = now + pause;
    return false;
  }
  line_count_ = 0;
  wait({ErrorCode::kUnavailable,
        fmt::format("watch of {}: {} {}: {}", resource_.plural, refusal.code, refusal.reason, refusal.message)},
       now, rng);
  return false;
}

void Reflector::take_end(const Result<KubeAnswer>& outcome, Instant now, Rng& rng) {
  const bool has_brought_something = line_count_ > 0;
  line_count_ = 0;
  if (wait_until_ && now < *wait_until_) return;  // a line has decided already
  if (version_.empty()) return;
  if (outcome && outcome->status != 200) {
    static_cast<void>(take_refusal(refusal_of(*outcome), now, rng));
    return;
  }
  if (has_brought_something) return;
  if (!outcome && outcome.error().code == ErrorCode::kTimedOut)
    return;  // silent for long: again, from the same version
  wait(outcome ? Error{ErrorCode::kUnavailable, fmt::format("watch of {}: ended at once", resource_.plural)}
               : outcome.error(),
       now, rng);
}

void Reflector::list_anew() {
  version_.clear();
  continuation_.clear();
  listed_.clear();
}

void Reflector::restart() {
  list_anew();
  line_count_ = 0;
  wait_until_.reset();
}

void Reflector::note_success() {
  back_off_.reset();
  wait_until_.reset();
  trouble_.reset();
}

void Reflector::wait(Error error, Instant now, Rng& rng) {
  trouble_ = std::move(error);
  wait_until_ = now + back_off_.next(rng);
}

}  // namespace berth::kube
