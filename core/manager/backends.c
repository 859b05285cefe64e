#include "core/manager/call.h"

int
berth_backend_list (struct berth_host *host, int (*visit) (void *context, const struct berth_backend_info *info),
                    void *context, struct berth_error *error)
{
  return berth_registry_scan (host->registry, visit, context, error);
}

int
berth_backend_settings (struct berth_host *host, const char *instance,
                        int (*visit) (void *context, const char *name, const char *value, const char *origin),
                        void *context, struct berth_error *error)
{
  return berth_registry_settings (host->registry, instance, visit, context, error);
}

struct facts
{
  struct berth_instance *instance;
  void (*fact) (void *context, const char *text);
  void *context;
};

static int
tell_fact (void *context, const char *text)
{
  const struct facts *facts = context;
  char clean[1024];

  berth_instance_clean (facts->instance, text, clean, sizeof clean);
  if (facts->fact != NULL)
    facts->fact (facts->context, clean);
  return 0;
}

int
berth_backend_ping (struct berth_host *host, const char *instance, void (*fact) (void *context, const char *text),
                    void *context, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_instance *found = NULL;
  struct facts facts = { NULL, fact, context };
  struct berth_text_sink sink = { .struct_size = sizeof sink, .context = &facts, .text = tell_fact };

  if (berth_registry_instance (host->registry, instance, "ping", &found, error) != 0)
    return -1;
  facts.instance = found;
  berth_call_begin (&call, found, NULL, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->lifecycle->ping (&call.host.call, berth_instance_state (found), &sink);
  return berth_call_end (&call, result, error);
}
