/// Tenants and services over the API: read one, set, remove. The session's lock is held by the caller.
#pragma once

#include "surface/api/objects.h"
#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] ApiResult<HttpAnswer> get_tenant(const ObjectSource& source, const Call& call);

// 201 for a new object, 200 for one that is replaced, or left as it is. Nothing changes on an error.
[[nodiscard]] ApiResult<HttpAnswer> put_tenant(live::Session& session, const ObjectSource& source, const Call& call);
[[nodiscard]] ApiResult<HttpAnswer> put_service(live::Session& session, const ObjectSource& source, const Call& call);

// 200 with the object as it was.
[[nodiscard]] ApiResult<HttpAnswer> delete_tenant(live::Session& session, const ObjectSource& source, const Call& call);
[[nodiscard]] ApiResult<HttpAnswer> delete_service(live::Session& session, const ObjectSource& source,
                                                   const Call& call);

}  // namespace berth::api
