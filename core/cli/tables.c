/* Everything that can be said on the command line. */
#include "core/cli/options.h"

#include <string.h>

#include "sdk/base/string.h"

#define FLAG(name, letter, help) { name, letter, CLI_TYPE_FLAG, NULL, NULL, 0, 0, help }
#define TEXT(name, letter, value, help) { name, letter, CLI_TYPE_TEXT, value, NULL, 0, 0, help }
#define CHOICE(name, choices, help) { name, 0, CLI_TYPE_CHOICE, choices, choices, 0, 0, help }
#define NUMBER(name, type, value, least, most, help)                                              \
  { name, 0, CLI_TYPE_##type, value, NULL, least, most, help }

const struct cli_option cli_options[CLI_OPTION_COUNT] = {
  [CLI_HELP] = FLAG ("help", 'h', "show help and exit"),
  [CLI_VERSION] = FLAG ("version", 'V', "show the version and exit"),
  [CLI_JSON] = FLAG ("json", 0, "print JSON, errors too"),
  [CLI_VERBOSE] = FLAG ("verbose", 'v', "tell on standard error what is being done"),
  [CLI_STATE_DIR] = TEXT ("state-dir", 0, "DIR", "keep records and sandboxes below this directory"),
  [CLI_CONFIG] = TEXT ("config", 0, "FILE", "read this berth.conf instead of the usual one"),
  [CLI_NAME] = TEXT ("name", 0, "NAME", "give it a name that commands take in place of the id"),
  [CLI_ENV] = { "env", 'e', CLI_TYPE_VARIABLE, "KEY[=VALUE]", NULL, 0, 0,
                "set a variable; without a value it is taken from the environment; may be repeated" },
  [CLI_ENV_FILE] = TEXT ("env-file", 0, "FILE", "set variables from a file of KEY=VALUE lines"),
  [CLI_SECRET] = { "secret", 0, CLI_TYPE_SECRET, "NAME[=SOURCE]", NULL, 0, 0,
                   "set a variable to a value that is never stored or shown: that of the environment, or of SOURCE: fd:N, stdin, "
                   "file:PATH; may be repeated" },
  [CLI_WORKDIR] = TEXT ("workdir", 'w', "DIR", "directory to run in, absolute or below /workspace"),
  [CLI_USER] = TEXT ("user", 'u', "USER", "account of the sandbox that commands run as"),
  [CLI_TIMEOUT] = NUMBER ("timeout", DURATION, "TIME", 1, INT64_MAX, "end the command with all it started after this time (default 60s)"),
  [CLI_MAX_OUTPUT] = NUMBER ("max-output", SIZE, "SIZE", 1, INT64_MAX, "count and drop output beyond this size"),
  [CLI_MEMORY] = NUMBER ("memory", SIZE, "SIZE", 1, INT64_MAX, "memory of all processes together, swap included"),
  [CLI_CPUS] = NUMBER ("cpus", THOUSANDTHS, "NUMBER", 1, UINT32_MAX, "processor time, in processors: 0.5, 2"),
  [CLI_PIDS] = NUMBER ("pids", INTEGER, "NUMBER", 1, UINT32_MAX, "processes and threads at once"),
  [CLI_DISK] = NUMBER ("disk", SIZE, "SIZE", 1, INT64_MAX, "size of /workspace"),
  [CLI_TMP] = NUMBER ("tmp", SIZE, "SIZE", 1, INT64_MAX, "size of /tmp"),
  [CLI_SHM] = NUMBER ("shm", SIZE, "SIZE", 1, INT64_MAX, "size of /dev/shm"),
  [CLI_FILE_SIZE] = NUMBER ("file-size", SIZE, "SIZE", 1, INT64_MAX, "largest file that may be written"),
  [CLI_OPEN_FILES] = NUMBER ("open-files", INTEGER, "NUMBER", 1, UINT32_MAX, "open files of one process"),
  [CLI_TTL] = NUMBER ("ttl", DURATION, "TIME", 1, INT64_MAX, "life time; it is destroyed after that (default 15m)"),
  [CLI_IDLE] = NUMBER ("idle", DURATION, "TIME", 1, INT64_MAX, "when nobody has used it for this time, do what --idle-action says"),
  [CLI_IDLE_ACTION] = CHOICE ("idle-action", "keep|pause|stop|destroy", "what becomes of it then"),
  [CLI_IDLE_RESUME] = FLAG ("idle-resume", 0, "let what was paused or stopped so go on by itself when it is used"),
  [CLI_LABEL] = { "label", 'l', CLI_TYPE_PAIR, "KEY=VALUE", NULL, 0, 0,
                  "a label of your own (with ls: only those that have it; VALUE may be left out); may be repeated" },
  [CLI_BACKEND] = TEXT ("backend", 'b', "NAME", "the backend to use, or to look at"),
  [CLI_IMAGE] = TEXT ("image", 0, "IMAGE", "root file system; what there is depends on the backend"),
  [CLI_ISOLATION] = CHOICE ("isolation", "container|gvisor|microvm", "refuse what isolates less than this"),
  [CLI_LIMITS] = CHOICE ("limits", "strict|best-effort", "whether limits that cannot be enforced are refused (strict, the default)"),
  [CLI_NET] = CHOICE ("net", "deny|allow", "network access (deny is the default)"),
  [CLI_NO_ROOT] = FLAG ("no-root", 0, "let no command run as root, of the sandbox either"),
  [CLI_ALLOW_USER_NAMESPACES]
  = FLAG ("allow-user-namespaces", 0, "let programs inside make user namespaces, which protects the machine less"),
  [CLI_SNAPSHOT] = TEXT ("snapshot", 0, "SNAPSHOT", "begin with the workspace of this snapshot"),
  [CLI_COUNT] = NUMBER ("count", INTEGER, "NUMBER", 1, 1000, "how many (default 1)"),
  [CLI_REQUEST_ID] = TEXT ("request-id", 0, "KEY", "the same key gives the same sandbox again"),
  [CLI_QUIET] = FLAG ("quiet", 'q', "print only what is asked for: ids, no remarks"),
  [CLI_ALL_OWNERS] = FLAG ("all-owners", 'A', "other owners' sandboxes too"),
  [CLI_NULL] = FLAG ("null", '0', "print names only, byte for byte, each ended by a NUL byte"),
  [CLI_OFFSET] = NUMBER ("offset", SIZE, "SIZE", 0, INT64_MAX, "begin at this byte"),
  [CLI_LENGTH] = NUMBER ("length", SIZE, "SIZE", 1, INT64_MAX, "read at most this many bytes"),
  [CLI_MAX_BYTES] = NUMBER ("max-bytes", SIZE, "SIZE", 1, INT64_MAX, "fail when there is more than this"),
  [CLI_OUTPUT] = TEXT ("output", 'o', "FILE", "write to this file, which appears whole or not at all"),
  [CLI_INPUT] = TEXT ("input", 'i', "FILE", "read from this file instead of standard input"),
  [CLI_CONTENT] = TEXT ("content", 0, "TEXT", "write this text instead of standard input"),
  [CLI_MODE] = NUMBER ("mode", OCTAL, "MODE", 0, 07777, "permission bits in octal (default 0644)"),
  [CLI_OWNER] = TEXT ("owner", 0, "USER", "account of the sandbox that owns the file"),
  [CLI_GROUP] = TEXT ("group", 0, "GROUP", "group of the sandbox that owns the file"),
  [CLI_NEW] = FLAG ("new", 0, "fail when the file exists"),
  [CLI_ALL] = FLAG ("all", 0, "every sandbox of yours; needs --yes"),
  [CLI_YES] = FLAG ("yes", 'y', "confirm --all"),
  [CLI_REBUILD] = FLAG ("rebuild", 0, "set a damaged database aside and record again what is ours"),
  [CLI_KILL] = FLAG ("kill", 0, "destroy what is listed"),
  [CLI_ENVIRONMENT] = TEXT ("environment", 0, "NAME", "begin with what `berth env save NAME` has saved; other options go before it"),
  [CLI_SESSIONS] = CHOICE ("sessions", "interactive|terminal|shared", "how it is going to be used, which the backend must be able to do"),
  [CLI_FOLLOW] = FLAG ("follow", 'f', "go on with what happens from now on"),
  [CLI_SINCE] = NUMBER ("since", DURATION, "TIME", 1, INT64_MAX, "only what is younger than this"),
  [CLI_MATRIX] = FLAG ("matrix", 0, "show which backend can do what"),
};

#define SPECIFICATION                                                                             \
  (CLI_BIT (CLI_NAME) | CLI_BIT (CLI_ENV) | CLI_BIT (CLI_ENV_FILE) | CLI_BIT (CLI_SECRET) | CLI_BIT (CLI_USER) | CLI_BIT (CLI_MEMORY)       \
   | CLI_BIT (CLI_CPUS) | CLI_BIT (CLI_PIDS) | CLI_BIT (CLI_DISK) | CLI_BIT (CLI_TMP) | CLI_BIT (CLI_SHM) | CLI_BIT (CLI_FILE_SIZE) | CLI_BIT (CLI_OPEN_FILES)     \
   | CLI_BIT (CLI_TTL) | CLI_BIT (CLI_LABEL) | CLI_BIT (CLI_BACKEND) | CLI_BIT (CLI_IMAGE)        \
   | CLI_BIT (CLI_ISOLATION) | CLI_BIT (CLI_LIMITS) | CLI_BIT (CLI_NET) | CLI_BIT (CLI_NO_ROOT)   \
   | CLI_BIT (CLI_ALLOW_USER_NAMESPACES) | CLI_BIT (CLI_SNAPSHOT) | CLI_BIT (CLI_QUIET))
#define IDLENESS (CLI_BIT (CLI_IDLE) | CLI_BIT (CLI_IDLE_ACTION) | CLI_BIT (CLI_IDLE_RESUME))
#define EXECUTION                                                                                 \
  (CLI_BIT (CLI_ENV) | CLI_BIT (CLI_ENV_FILE) | CLI_BIT (CLI_SECRET) | CLI_BIT (CLI_WORKDIR) | CLI_BIT (CLI_USER) | CLI_BIT (CLI_TIMEOUT)   \
   | CLI_BIT (CLI_MAX_OUTPUT) | CLI_BIT (CLI_QUIET))
#define ANYWHERE SIZE_MAX
#define MANY SIZE_MAX

const struct cli_command cli_commands[CLI_COMMAND_COUNT] = {
  [CLI_COMMAND_RUN] = {
    "run", "[--] COMMAND [ARG...]", "run a command in a sandbox of its own",
    "Makes a sandbox, runs COMMAND in it, and destroys the sandbox when the command ends, fails, times out, "
    "or berth is told to stop. Output comes through as it is written, byte for byte; standard input is empty. "
    "The exit status is the command's.",
    1, MANY, 0, SPECIFICATION | EXECUTION | CLI_BIT (CLI_ENVIRONMENT), true, false },
  [CLI_COMMAND_CREATE] = {
    "create", "", "make a sandbox that stays",
    "Makes a sandbox and prints its id. It lives until `berth rm` or the end of its life time. With --idle and --idle-action it "
    "is paused, stopped or destroyed when no command has run in it, and no file of it was touched, for that time; to look at it "
    "or to renew it is no use of it. Then it has to be resumed or started, or does so by itself with --idle-resume.",
    0, 0, ANYWHERE, SPECIFICATION | IDLENESS | CLI_BIT (CLI_ENVIRONMENT) | CLI_BIT (CLI_REQUEST_ID), false, false },
  [CLI_COMMAND_LS] = {
    "ls", "", "list sandboxes",
    "Lists your sandboxes, the oldest first.",
    0, 0, ANYWHERE, CLI_BIT (CLI_QUIET) | CLI_BIT (CLI_LABEL) | CLI_BIT (CLI_BACKEND) | CLI_BIT (CLI_ALL_OWNERS), false, false },
  [CLI_COMMAND_INSPECT] = {
    "inspect", "SANDBOX", "show all that is known of a sandbox",
    "Shows what is in force for a sandbox: its limits and whether they are enforced, its isolation with the evidence for it, "
    "its protections, labels and environment. It asks the backend for the state and changes nothing.",
    1, 1, ANYWHERE, 0, false, true },
  [CLI_COMMAND_EXEC] = {
    "exec", "SANDBOX [--] COMMAND [ARG...]", "run a command in a sandbox that is there",
    "Runs COMMAND without a shell in between. Output comes through as it is written, byte for byte; standard input is empty. "
    "The exit status is the command's. Ending berth ends the command with all that it started; the sandbox stays.",
    2, MANY, 1, EXECUTION, true, true },
  [CLI_COMMAND_FILES] = {
    "files", "SANDBOX [PATH]", "list files of a sandbox",
    "Lists a directory, or shows one file. PATH is taken literally, absolute or below /workspace (the default). "
    "Bytes of a name that are not printable are shown as \\xNN, a backslash as \\\\.",
    1, 2, ANYWHERE, CLI_BIT (CLI_NULL), false, true },
  [CLI_COMMAND_READ] = {
    "read", "SANDBOX PATH", "print a file of a sandbox",
    "Writes the bytes of a file to standard output or to a file of yours.",
    2, 2, ANYWHERE,
    CLI_BIT (CLI_OFFSET) | CLI_BIT (CLI_LENGTH) | CLI_BIT (CLI_MAX_BYTES) | CLI_BIT (CLI_OUTPUT), false, true },
  [CLI_COMMAND_WRITE] = {
    "write", "SANDBOX PATH", "write a file of a sandbox",
    "Writes standard input, a file of yours or a text to a file below /workspace. The file appears whole, with its mode and "
    "owner, or not at all; directories that are missing are made.",
    2, 2, ANYWHERE,
    CLI_BIT (CLI_INPUT) | CLI_BIT (CLI_CONTENT) | CLI_BIT (CLI_MODE) | CLI_BIT (CLI_OWNER) | CLI_BIT (CLI_GROUP)
      | CLI_BIT (CLI_NEW), false, true },
  [CLI_COMMAND_CP] = {
    "cp", "SANDBOX:PATH FILE|- | FILE|- SANDBOX:PATH", "copy files out of a sandbox or into it",
    "Copies a file, or a directory with all that is in it, with permission bits and times. A directory that is there gets what "
    "is copied under its own name; of a source that ends with /. it gets the content. Otherwise the destination is the "
    "new name, in a directory that is there. - is a tar: on standard output, or on standard input to be unpacked in a "
    "directory. Out of a sandbox a link is copied when it can only lead into what is copied, and nothing is followed that "
    "is in the way; devices, pipes and sockets are left out, which is told and makes the exit status 1. Into a sandbox all "
    "goes below /workspace and belongs to its user. A name of this machine that has a colon is written ./a:b.",
    2, 2, ANYWHERE, CLI_BIT (CLI_MAX_BYTES) | CLI_BIT (CLI_QUIET), false, false },
  [CLI_COMMAND_PAUSE] = {
    "pause", "SANDBOX...", "pause sandboxes",
    "No process of a paused sandbox makes progress; its files and its memory stay. Commands are refused until "
    "`berth resume`. Its life time stands still, and it keeps its place in the quota. A sandbox that is paused already stays so.",
    1, MANY, ANYWHERE, CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_RESUME] = {
    "resume", "SANDBOX...", "let paused sandboxes go on",
    "The processes of a paused sandbox go on where they were. A sandbox that runs stays as it is.",
    1, MANY, ANYWHERE, CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_STOP] = {
    "stop", "SANDBOX...", "stop sandboxes and keep their files",
    "Ends every process of a sandbox and keeps its workspace. `berth start` brings it back. Until then its life time stands "
    "still, it keeps its name and its place in the quota, and nothing but `berth rm` removes it.",
    1, MANY, ANYWHERE, CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_START] = {
    "start", "SANDBOX...", "start stopped sandboxes",
    "Brings a sandbox back with the same id, limits, network policy and workspace: one that was stopped, and one whose "
    "machine was restarted. A sandbox that runs stays as it is.",
    1, MANY, ANYWHERE, CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_RENEW] = {
    "renew", "SANDBOX...", "move the end of sandboxes",
    "With --ttl the end of each is that time from now, sooner or later than before; without it as long as the sandbox was "
    "made for, and no sooner than before. Time that a sandbox is paused or stopped does not count. One whose end has passed "
    "is removed and not renewed.",
    1, MANY, ANYWHERE, CLI_BIT (CLI_TTL) | CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_SNAPSHOT] = {
    "snapshot", "SANDBOX", "keep the workspace of a sandbox as it is now",
    "Packs /workspace with zstd into the state directory and prints the id of the snapshot, which outlives its sandbox. No "
    "process of the sandbox makes progress meanwhile, where its backend can export what is paused, and commands on it wait; "
    "otherwise the snapshot says that it is not consistent. Processes, memory and secrets are not in it.",
    1, 1, ANYWHERE, CLI_BIT (CLI_NAME) | CLI_BIT (CLI_MAX_BYTES) | CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_SNAPSHOTS] = {
    "snapshots", "[rm SNAPSHOT...]", "list snapshots, or remove them",
    "Lists your snapshots, the oldest first; with rm it removes those named, by id, name or the beginning of an id. "
    "The exit status is 1 when one of them could not be removed.",
    0, MANY, ANYWHERE, CLI_BIT (CLI_QUIET) | CLI_BIT (CLI_ALL_OWNERS), false, false },
  [CLI_COMMAND_ROLLBACK] = {
    "rollback", "SANDBOX SNAPSHOT", "take a sandbox back to a snapshot",
    "Makes a replacement with the same id, name, limits, policy and end, fills it with the snapshot, and only then lets it take "
    "the place of the old one, which is destroyed with all its processes. A snapshot that is damaged changes nothing. "
    "For that moment the machine holds both. A sandbox that was made with secrets cannot be rolled back, since "
    "nobody kept them.",
    2, 2, ANYWHERE, CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_FORK] = {
    "fork", "SANDBOX", "make sandboxes like one, with its workspace",
    "Makes sandboxes with the limits, policy, environment and labels of SANDBOX and its workspace as it is now (or as in "
    "--snapshot), and prints their ids. Each is a sandbox of its own. The exit status is 1 when one of them could not be "
    "made, which does not keep the others from being made.",
    1, 1, ANYWHERE, CLI_BIT (CLI_COUNT) | CLI_BIT (CLI_SNAPSHOT) | CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_RM] = {
    "rm", "SANDBOX...", "destroy sandboxes",
    "Destroys sandboxes with all that is in them and says of each what became of it. The exit status is 0 only when "
    "each of them is proven to be gone (confirmed, or nothing_named: nothing had been made). Else it is that of the worst: "
    "1 one could not be found or asked, 3 one is not proven to be gone (unconfirmed; try again later), 4 its runtime will "
    "not remove one (refused), 5 one is not ours to destroy (retained). What is not proven stays on record.",
    0, MANY, ANYWHERE, CLI_BIT (CLI_ALL) | CLI_BIT (CLI_YES) | CLI_BIT (CLI_QUIET), false, true },
  [CLI_COMMAND_REAP] = {
    "reap", "", "list what has no right to be there, or destroy it",
    "Lists sandboxes whose end has passed (expired), whose create or destroy was interrupted, whose owner died, what is ours "
    "by its labels and on no record (orphaned), and what nobody has used for the time of its --idle (idle). With --kill they are "
    "destroyed (idle ones: what they were made for), and the exit status is as with rm. A backend that could not be asked is told "
    "too (unreachable), and the exit status is at least 1. What is being created, paused or stopped, or belongs to another "
    "installation, is never touched.",
    0, 0, ANYWHERE,
    CLI_BIT (CLI_KILL) | CLI_BIT (CLI_LABEL) | CLI_BIT (CLI_BACKEND) | CLI_BIT (CLI_ALL_OWNERS) | CLI_BIT (CLI_QUIET), false, false },
  [CLI_COMMAND_ENV] = {
    "env", "save NAME | ls | show NAME | rm NAME...", "keep specifications under a name",
    "save keeps the options of `berth create` under a name, in place of what had it; `berth create --environment NAME` and `berth "
    "run --environment NAME` begin with them, and what is said there goes before. What the backend does not declare, or "
    "says that it could not make, is refused when it is saved. Of --secret only the name is kept, and the value is given "
    "each time. ls lists them, show tells all of one, rm removes them; its exit status is 1 when one could not be removed.",
    1, MANY, ANYWHERE, (SPECIFICATION & ~CLI_BIT (CLI_NAME)) | IDLENESS | CLI_BIT (CLI_SESSIONS), false, false },
  [CLI_COMMAND_EVENTS] = {
    "events", "[SANDBOX]", "show what was done, by whom, and how it ended",
    "Shows a line for each operation on your sandboxes, or on SANDBOX, the oldest first; one that is gone is named by its whole "
    "id. With --json a line is the whole record. Values of secrets are in none. [audit] of berth.conf says where "
    "records are kept, and for how long.",
    0, 1, ANYWHERE, CLI_BIT (CLI_FOLLOW) | CLI_BIT (CLI_SINCE) | CLI_BIT (CLI_ALL_OWNERS), false, true },
  [CLI_COMMAND_BACKENDS] = {
    "backends", "[NAME]", "show the backends",
    "Lists the backends, those too that were refused, with the reasons. With NAME it shows one wholly: "
    "what it can do, its settings and where each comes from.",
    0, 1, ANYWHERE, CLI_BIT (CLI_MATRIX), false, false },
  [CLI_COMMAND_DOCTOR] = {
    "doctor", "", "check this machine",
    "Checks the kernel, user namespaces, subordinate ids, cgroups, devices, directories and backends, for the user who asks. Each "
    "finding that is not well says what it costs and how to mend it. The exit status is 1 when something that is needed is "
    "broken; warnings do not count. With --rebuild nothing is checked: a database that is "
    "damaged or lost is set aside, and sandboxes that are ours by their labels, and snapshots whose files are whole, are "
    "recorded again. It destroys nothing; "
    "it refuses a database that is sound. The exit status is 1 when a backend could not be asked.",
    0, 0, ANYWHERE, CLI_BIT (CLI_BACKEND) | CLI_BIT (CLI_REBUILD), false, false },
  [CLI_COMMAND_CONFIG] = {
    "config", "", "show what is in force and where it comes from",
    "Lists the settings of the host with their origins: an option, a variable of the environment, a line of the user's or of "
    "the system's berth.conf, or the default. `berth backends NAME` shows those of a backend.",
    0, 0, ANYWHERE, 0, false, false },
  [CLI_COMMAND_VERSION] = {
    "version", "", "show versions",
    "Shows the versions of the command, of the library and of the plugin ABI, and how they were built.",
    0, 0, ANYWHERE, 0, false, false },
  [CLI_COMMAND_COMPLETION] = {
    "completion", "bash|zsh|fish", "print a completion script",
    "Prints the script that makes a shell complete the command line of berth.",
    1, 1, ANYWHERE, 0, false, false },
  [CLI_COMMAND_HELP] = {
    "help", "[COMMAND]", "show help",
    "Shows the commands, or one of them with its options.",
    0, 1, ANYWHERE, 0, false, false },
};

const struct cli_command *
cli_command_find (const char *name)
{
  size_t i;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    if (strcmp (cli_commands[i].name, name) == 0)
      return &cli_commands[i];
  return NULL;
}
