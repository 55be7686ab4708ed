/// A cache of the specs of services as JSON texts.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "domain/values/rows_blobs.h"
#include "domain/values/scenario.h"

namespace berth::api {

/// Thread-safe. Memory: at most kBytesMax of texts.
class SpecTexts {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20U;

  /// scenario::service_spec_json of a stored spec.
  [[nodiscard]] std::shared_ptr<const std::string> text_of(const std::shared_ptr<const ServiceSpec>& spec,
                                                           const RowsBlobs& blobs, const Scenario& fleet);
  /// Records the text of a spec, made by the caller. One that is too long is not kept.
  void note(const std::shared_ptr<const ServiceSpec>& spec, const RowsBlobs& blobs,
            std::shared_ptr<const std::string> text);

 private:
  struct Known {
    std::weak_ptr<const ServiceSpec> spec;  ///< if expired, another spec may have its address
    RowsBlobs blobs;
    std::shared_ptr<const std::string> text;
  };
  [[nodiscard]] std::shared_ptr<const std::string> find(const std::shared_ptr<const ServiceSpec>& spec,
                                                        const RowsBlobs& blobs);
  /// Removes the texts of specs that no longer exist; all texts, if that is not enough.
  void make_room(std::size_t bytes);

  std::mutex lock_;
  std::map<const ServiceSpec*, Known> known_;
  std::size_t bytes_ = 0;  ///< of the texts
};

}  // namespace berth::api
