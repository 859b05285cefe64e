/* N: what a sandbox can reach. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "conformance/suites/platform.h"
#include "conformance/suites/tool.h"
#include "sdk/base/string.h"

#define ADDRESSES_MAX 16

struct listener
{
  int fd;
  char port[8];
};

/* On every address of this machine, both families. */
static struct listener
listen_everywhere (struct suite_context *suite)
{
  struct listener listener = { .fd = socket (AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) };
  struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
  socklen_t size = sizeof address;
  int off = 0;

  if (listener.fd < 0)
    suite_skip (suite, "no IPv6 on this machine");
  setsockopt (listener.fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  SUITE_REQUIRE (suite,
                 bind (listener.fd, (struct sockaddr *) &address, sizeof address) == 0 && listen (listener.fd, 64) == 0
                     && getsockname (listener.fd, (struct sockaddr *) &address, &size) == 0,
                 "cannot listen");
  snprintf (listener.port, sizeof listener.port, "%u", ntohs (address.sin6_port));
  return listener;
}

static size_t
own_addresses (char texts[][INET6_ADDRSTRLEN], size_t most)
{
  struct ifaddrs *all = NULL;
  size_t count = 0;

  if (getifaddrs (&all) < 0)
    return 0;
  for (struct ifaddrs *one = all; one != NULL && count < most; one = one->ifa_next)
    {
      const void *given = one->ifa_addr; /* getifaddrs aligns each for its family */
      const struct sockaddr_in *four = given;
      const struct sockaddr_in6 *six = given;
      const void *address = NULL;

      if (given != NULL && one->ifa_addr->sa_family == AF_INET)
        address = &four->sin_addr;
      else if (given != NULL && one->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL (&six->sin6_addr))
        address = &six->sin6_addr;
      if (address != NULL && inet_ntop (one->ifa_addr->sa_family, address, texts[count], INET6_ADDRSTRLEN) != NULL)
        count++;
    }
  freeifaddrs (all);
  return count;
}

static void
check_denied (struct suite_context *suite, struct suite_box *box, const char *how, const char *address, const char *port)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_argv (box, &ran, (const char *const[]) { SUITE_TOOL, how, address, port, NULL });
  SUITE_CHECK_EXIT (suite, &ran, 0, address);
  SUITE_CHECK (suite, !suite_ran_printed (&ran, "connected\n") && !suite_ran_printed (&ran, "sent\n"), "%s %s port %s: %s",
               how, address, port, berth_buffer_string (&ran.out));
}

static void
n01 (struct suite_context *suite)
{
  static const char *const outside[] = { "169.254.169.254", "192.0.2.1", "2001:db8::1" };
  struct suite_box *box = suite_box_make (suite);
  struct listener listener = { .fd = -1 };
  char own[ADDRESSES_MAX][INET6_ADDRSTRLEN];
  size_t count = own_addresses (own, ADDRESSES_MAX);
  unsigned int reached = 0;

  if (suite->network_action != BERTH_DENY)
    suite_not_applicable (suite, "it cannot deny, and refuses what does not say allow");
  listener = listen_everywhere (suite);
  suite_tool_install (box);
  for (size_t i = 0; i < count; i++)
    {
      BERTH_AUTO_FREE char *control = suite_tool_outside (suite, (const char *const[]) { "connect", own[i], listener.port, NULL });

      reached += berth_string_equal (control, "connected\n");
      check_denied (suite, box, "connect", own[i], listener.port);
    }
  SUITE_CHECK (suite, reached > 0, "the control reaches no listener of this machine either");
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
    {
      check_denied (suite, box, "connect", outside[i], "80");
      check_denied (suite, box, "send", outside[i], "53");
    }
  close (listener.fd);
}

static void
n02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;
  struct berth_effective effective = { 0 };

  suite_plan_init (&plan, box);
  plan.policy.default_action = BERTH_DENY;
  plan.spec.must |= BERTH_SPEC_NETWORK;
  if (suite_box_validate (box, &plan.spec, &effective) == 0)
    SUITE_CHECK (suite, (effective.enforced & BERTH_SPEC_NETWORK) != 0, "deny is accepted and not in force");
  else
    {
      SUITE_CHECK_CODE (suite, "deny", box->error.code, BERTH_E_CAPABILITY_NOT_SUPPORTED, BERTH_E_CONFIGURATION);
      SUITE_CHECK (suite, suite_box_create (box, &plan.spec) != 0, "validate refuses deny, create does not");
      SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "a refused create made something");
    }
}

static const struct suite_clause clauses[] = {
  { .id = "N01", .title = "deny is the default and denies all", .flags = SUITE_PROGRAM, .seconds = 60, .run = n01 },
  { .id = "N02", .title = "deny is in force, or refused", .run = n02, .shows = BERTH_CAP_NETWORK_POLICY },
  { .id = "N03", .title = "the first rule that matches decides", .needs = BERTH_CAP_NETWORK_RULES, .run = suite_n03 },
  { .id = "N04", .title = "a denial is told, with host and rule", .needs = BERTH_CAP_NETWORK_RULES, .run = suite_n04 },
  { .id = "N05", .title = "the policy can be changed, and is read back", .needs = BERTH_CAP_NETWORK_UPDATE, .run = suite_n05 },
  { .id = "N07", .title = "dial reaches a listener inside", .needs = BERTH_CAP_DIAL, .run = suite_n07 },
  { .id = "N08", .title = "endpoints are absolute and name their sandbox", .needs = BERTH_CAP_ENDPOINTS, .run = suite_n08 },
  { .id = "N09", .title = "signed endpoints end, and are each port's and sandbox's own", .needs = BERTH_CAP_SIGNED_ENDPOINTS, .run = suite_n09 },
  { .id = "N10", .title = "credentials are for allowed hosts, and not inside", .needs = BERTH_CAP_EGRESS_CREDENTIALS, .run = suite_n10 },
  { .id = "N11", .title = "only listed ports can be dialled", .needs = BERTH_CAP_DIAL, .run = suite_n11 },
  { .id = NULL },
};

const struct suite suite_network = { "network", clauses, NULL };
