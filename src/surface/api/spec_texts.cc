#include "surface/api/spec_texts.h"

#include <utility>

#include "domain/scenario/service_json.h"

namespace berth::api {
namespace {

constexpr std::size_t kTextBytesMax = SpecTexts::kBytesMax / 16;

}  // namespace

std::shared_ptr<const std::string> SpecTexts::text_of(const std::shared_ptr<const ServiceSpec>& spec,
                                                      const RowsBlobs& blobs, const Scenario& fleet) {
  if (auto known = find(spec, blobs)) return known;
  auto text = std::make_shared<const std::string>(scenario::service_spec_json(*spec, fleet, blobs));
  note(spec, blobs, text);
  return text;
}

std::shared_ptr<const std::string> SpecTexts::find(const std::shared_ptr<const ServiceSpec>& spec,
                                                   const RowsBlobs& blobs) {
  const std::scoped_lock hold(lock_);
  const auto known = known_.find(spec.get());
  if (known == known_.end() || known->second.spec.expired() || known->second.blobs != blobs) return nullptr;
  return known->second.text;
}

void SpecTexts::note(const std::shared_ptr<const ServiceSpec>& spec, const RowsBlobs& blobs,
                     std::shared_ptr<const std::string> text) {
  const std::scoped_lock hold(lock_);
  if (const auto known = known_.find(spec.get()); known != known_.end()) {
    bytes_ -= known->second.text->size();
    known_.erase(known);
  }
  if (text->size() > kTextBytesMax) return;
  if (bytes_ + text->size() > kBytesMax) make_room(text->size());
  bytes_ += text->size();
  known_[spec.get()] = {.spec = spec, .blobs = blobs, .text = std::move(text)};
}

void SpecTexts::make_room(std::size_t bytes) {
  constexpr std::size_t kShare = 2;  // leaves space, so that this does not run again soon
  std::erase_if(known_, [&](const auto& entry) {
    if (!entry.second.spec.expired()) return false;
    bytes_ -= entry.second.text->size();
    return true;
  });
  if (bytes_ + bytes <= kBytesMax / kShare) return;
  known_.clear();
  bytes_ = 0;
}

}  // namespace berth::api
