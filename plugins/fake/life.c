/* life.c - the groups `expiry`, `pause` and `restart`. */
#include "plugins/fake/fake.h"

static int
fake_renew (struct berth_call *call, struct berth_state *state, const struct berth_native *native, int64_t ttl_ms,
            struct berth_expiry *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_EXPIRY, "EXPIRY") < 0 || fake_point (call, state, "expiry.renew") < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  if (ttl_ms <= 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "an end in %lld ms (want a number above 0)",
                                 (long long) ttl_ms);
  if (berth_json_set_int64 (box.record, "expires", fake_now_ms (state) + ttl_ms) < 0)
    return fake_failed (call, "write a record");
  if (fake_box_save (call, &box) < 0)
    return -1;
  fake_expiry_of (state, box.record, out);
  return 0;
}

static int
fake_expires_at (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                 struct berth_expiry *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_EXPIRY, "EXPIRY") < 0 || fake_point (call, state, "expiry.expires_at") < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  fake_expiry_of (state, box.record, out);
  return 0;
}

/* From one of two lives to the other; being there already is success.  ALSO (0: none) is a third
 * that may become TO. */
static int
change_life (struct berth_call *call, struct fake_box *box, int64_t from, int64_t also, int64_t to, const char *verb)
{
  int64_t life = fake_number (box->record, "life");

  if (life == to)
    return 0;
  if (life != from && (also == 0 || life != also))
    return call->services->fail (call, BERTH_E_WRONG_STATE, "sandbox `%s` cannot %s in its state", box->id, verb);
  if (berth_json_set_int64 (box->record, "life", to) < 0)
    return fake_failed (call, "write a record");
  fake_box_event (box, "%s", verb);
  return fake_box_save (call, box);
}

static int
fake_pause_one (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                const struct berth_options *options)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_PAUSE, "PAUSE") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, state, "pause.pause") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  if (fake_number (box.record, "life") == BERTH_LIFE_RUNNING
      && berth_json_set_int64 (box.record, "paused", fake_now_ms (state)) < 0)
    return fake_failed (call, "write a record");
  return change_life (call, &box, BERTH_LIFE_RUNNING, 0, BERTH_LIFE_PAUSED, "pause");
}

static int
fake_resume (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_PAUSE, "PAUSE") < 0 || fake_point (call, state, "pause.resume") < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  /* What was paused is no time that its processes lived through. */
  if (fake_number (box.record, "life") == BERTH_LIFE_PAUSED
      && berth_json_set_int64 (box.record, "pauses",
                               fake_number (box.record, "pauses") + fake_now_ms (state)
                                   - fake_number (box.record, "paused"))
             < 0)
    return fake_failed (call, "write a record");
  return change_life (call, &box, BERTH_LIFE_PAUSED, 0, BERTH_LIFE_RUNNING, "resume");
}

static int
fake_stop (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
           const struct berth_options *options)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_RESTART, "RESTART") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, state, "restart.stop") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  /* Handles of before are told by the number of the boot. */
  if (fake_number (box.record, "life") != BERTH_LIFE_STOPPED
      && (fake_processes_end (call, &box) < 0
          || berth_json_set_int64 (box.record, "boot", fake_number (box.record, "boot") + 1) < 0))
    return fake_failed (call, "write a record");
  return change_life (call, &box, BERTH_LIFE_RUNNING, BERTH_LIFE_PAUSED, BERTH_LIFE_STOPPED, "stop");
}

static int
fake_start (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_RESTART, "RESTART") < 0 || fake_point (call, state, "restart.start") < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  return change_life (call, &box, BERTH_LIFE_STOPPED, BERTH_LIFE_FAILED, BERTH_LIFE_RUNNING, "start");
}

const struct berth_expiry_ops fake_expiry = {
  .struct_size = sizeof fake_expiry,
  .renew = fake_renew,
  .expires_at = fake_expires_at,
};

const struct berth_pause_ops fake_pause = {
  .struct_size = sizeof fake_pause,
  .pause = fake_pause_one,
  .resume = fake_resume,
};

const struct berth_restart_ops fake_restart = {
  .struct_size = sizeof fake_restart,
  .stop = fake_stop,
  .start = fake_start,
};
