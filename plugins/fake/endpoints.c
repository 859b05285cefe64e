/* endpoints.c - the groups `endpoints` and `signing`: URLs that name a sandbox and lead nowhere. */
#include "plugins/fake/fake.h"
#include "sdk/base/string.h"

#define BASE "https://fake.invalid/sandboxes/"

static int
fake_endpoint (struct berth_call *call, struct berth_handle *handle, uint32_t port,
               const struct berth_options *options, const struct berth_endpoint_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FREE char *url = NULL;
  struct berth_pair header = { "X-Fake-Sandbox", handle->native_id, 0, 0 };
  struct berth_endpoint endpoint = { .struct_size = sizeof endpoint, .headers = &header, .header_count = 1 };

  if (fake_needs (call, handle->state, BERTH_CAP_ENDPOINTS, "ENDPOINTS") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, handle->state, "endpoints.endpoint") < 0 || fake_box_for_handle (call, handle, &box) < 0
      || fake_port_check (call, &box, port) < 0)
    return -1;
  fake_box_close (&box);
  url = berth_string_format (BASE "%s/ports/%u", handle->native_id, port);
  if (url == NULL)
    return fake_failed (call, "name an endpoint");
  endpoint.url = url;
  return sink->endpoint (sink->context, &endpoint);
}

static int
fake_endpoint_names (struct berth_call *call, struct berth_state *state, const char *url,
                     const struct berth_text_sink *native_id)
{
  BERTH_AUTO_FREE char *id = NULL;

  if (fake_needs (call, state, BERTH_CAP_ENDPOINTS, "ENDPOINTS") < 0
      || fake_point (call, state, "endpoints.endpoint_names_sandbox") < 0)
    return -1;
  if (!berth_string_starts_with (url, BASE))
    return 0;
  url += strlen (BASE);
  id = strndup (url, strcspn (url, "/?#"));
  if (id == NULL)
    return fake_failed (call, "read an endpoint");
  return fake_id_is_valid (id) ? native_id->text (native_id->context, id) : 0;
}

static int
fake_signed_endpoint (struct berth_call *call, struct berth_handle *handle, uint32_t port, int64_t ttl_ms,
                      const struct berth_options *options, const struct berth_endpoint_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FREE char *url = NULL;
  struct berth_endpoint endpoint = { .struct_size = sizeof endpoint, .has = BERTH_ENDPOINT_EXPIRES };
  char signature[32];

  if (fake_needs (call, handle->state, BERTH_CAP_SIGNED_ENDPOINTS, "SIGNED_ENDPOINTS") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, handle->state, "signing.signed_endpoint") < 0
      || fake_box_for_handle (call, handle, &box) < 0 || fake_port_check (call, &box, port) < 0)
    return -1;
  if (ttl_ms <= 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "an endpoint for %lld ms (want a number above 0)",
                                 (long long) ttl_ms);
  fake_box_close (&box);
  if (berth_id_generate ("", 26, signature, sizeof signature) < 0)
    return fake_failed (call, "sign an endpoint");
  call->services->redact (call->instance, signature, strlen (signature));
  endpoint.expires_wall_ms = fake_now_ms (handle->state) + ttl_ms;
  url = berth_string_format (BASE "%s/ports/%u?expires=%lld&signature=%s", handle->native_id, port,
                             (long long) endpoint.expires_wall_ms, signature);
  if (url == NULL)
    return fake_failed (call, "name an endpoint");
  endpoint.url = url;
  return sink->endpoint (sink->context, &endpoint);
}

const struct berth_endpoints_ops fake_endpoints = {
  .struct_size = sizeof fake_endpoints,
  .endpoint = fake_endpoint,
  .endpoint_names_sandbox = fake_endpoint_names,
};

const struct berth_signing_ops fake_signing = {
  .struct_size = sizeof fake_signing,
  .signed_endpoint = fake_signed_endpoint,
};
