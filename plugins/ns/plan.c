/* plan.c - writing a plan down. */
#include "plugins/ns/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdk/base/string.h"

void
ns_plan_free (struct ns_plan *plan)
{
  for (size_t i = 0; i < plan->text_count; i++)
    free (plan->texts[i]);
  free (plan->texts);
  free (plan->steps);
}

void
ns_plan_add (struct ns_plan *plan, struct ns_step step)
{
  if (plan->count == plan->room)
    {
      size_t room = plan->room * 2 + 64;
      struct ns_step *grown = realloc (plan->steps, room * sizeof *grown);
      if (grown == NULL)
        {
          plan->error = ENOMEM;
          return;
        }
      plan->steps = grown;
      plan->room = room;
    }
  plan->steps[plan->count++] = step;
}

const char *
ns_plan_text (struct ns_plan *plan, const char *format, ...)
{
  char **grown = realloc (plan->texts, (plan->text_count + 1) * sizeof *grown);
  va_list arguments;

  if (grown != NULL)
    {
      plan->texts = grown;
      va_start (arguments, format);
      char *text = berth_string_vformat (format, arguments);
      va_end (arguments);
      if (text != NULL)
        return plan->texts[plan->text_count++] = text;
    }
  plan->error = ENOMEM;
  return "";
}

void
ns_plan_describe (const struct ns_plan *plan, int index, char *text, size_t size)
{
  static const char *const stages[] = {
    [NS_STAGE_JOIN] = "enter the cgroup",
    [NS_STAGE_CLONE] = "make the namespaces",
    [NS_STAGE_MAP] = "map the user ids",
    [NS_STAGE_ACCOUNT] = "become the sandbox's root",
    [NS_STAGE_CAPABILITIES] = "drop capabilities",
    [NS_STAGE_DESCRIPTORS] = "arrange descriptors",
    [NS_STAGE_EXEC] = "execute the agent",
  };
  static const char *const kinds[] = {
    [NS_STEP_DIRECTORY] = "make the directory",
    [NS_STEP_FILE] = "make the file",
    [NS_STEP_LINK] = "make the link",
    [NS_STEP_MOUNT] = "mount",
    [NS_STEP_BIND] = "bind",
    [NS_STEP_ATTRIBUTES] = "set the mount attributes of",
    [NS_STEP_HOLD] = "hold",
    [NS_STEP_PLACE] = "place what is held on",
    [NS_STEP_PRIVATE] = "make the mounts private",
    [NS_STEP_ENTER] = "enter",
    [NS_STEP_PIVOT] = "change the root",
    [NS_STEP_HOST_NAME] = "set the host name",
    [NS_STEP_LOOPBACK] = "bring the loopback up",
    [NS_STEP_KEYRING] = "take a new keyring",
  };

  if (index < 0 && -index < (int) (sizeof stages / sizeof *stages))
    snprintf (text, size, "%s", stages[-index]);
  else if (index >= 0 && (size_t) index < plan->count)
    {
      const struct ns_step *step = &plan->steps[index];
      bool named = step->target != NULL || (step->source != NULL && step->kind != NS_STEP_FILE);
      snprintf (text, size, "%s%s%s%s%s", kinds[step->kind], named ? " " : "", step->source != NULL && step->kind != NS_STEP_FILE ? step->source : "",
                step->source != NULL && step->kind != NS_STEP_FILE && step->target != NULL ? " on " : "",
                step->target != NULL ? step->target : "");
    }
  else
    snprintf (text, size, "start");
}
