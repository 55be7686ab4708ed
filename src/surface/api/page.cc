#include "surface/api/page.h"

extern "C" {
extern const char page_begin[];
extern const char page_end[];
}

namespace berth::api {

std::string_view page_html() { return {page_begin, static_cast<std::size_t>(page_end - page_begin)}; }

}  // namespace berth::api
