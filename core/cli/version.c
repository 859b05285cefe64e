/* berth version */
#include "config.h"

#include <stdio.h>

#include <berth/abi.h>

#include "core/cli/output.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER "thread"
#else
#define SANITIZER "none"
#endif

int
cli_version (struct cli *cli)
{
  BERTH_AUTO_JSON struct berth_json *object = NULL;

  if (!cli->json)
    {
      printf ("berth %s\nlibberth %s\nplugin ABI %d.%d\n", PACKAGE_VERSION, berth_version (), BERTH_ABI_MAJOR, BERTH_ABI_MINOR);
      printf ("built with backends in %s, the agent %s, compiler %s, sanitizer %s\n", BERTH_BACKENDDIR, BERTH_AGENT_PATH,
              __VERSION__, SANITIZER);
      return 0;
    }
  object = berth_json_new_object ();
  berth_json_set_string (object, "berth", PACKAGE_VERSION);
  berth_json_set_string (object, "libberth", berth_version ());
  berth_json_set_int64 (object, "abi_major", BERTH_ABI_MAJOR);
  berth_json_set_int64 (object, "abi_minor", BERTH_ABI_MINOR);
  berth_json_set_string (object, "backend_dir", BERTH_BACKENDDIR);
  berth_json_set_string (object, "agent", BERTH_AGENT_PATH);
  berth_json_set_string (object, "compiler", __VERSION__);
  berth_json_set_string (object, "sanitizer", SANITIZER);
  return cli_print_json (cli, object);
}
