#include <string.h>

#include "core/registry/check.h"

/* More elements than this are garbage. */
#define MOST_CLAIMS 256

static int
number (const char *text, size_t digits)
{
  int value = 0;

  for (size_t i = 0; i < digits; i++)
    {
      if (text[i] < '0' || text[i] > '9')
        return -1;
      value = value * 10 + (text[i] - '0');
    }
  return value;
}

/* YYYY-MM-DD, and a day of that month. */
static int
is_date (const char *text)
{
  static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  int year, month, day, leap;

  if (text == NULL || strlen (text) != 10 || text[4] != '-' || text[7] != '-')
    return 0;
  year = number (text, 4);
  month = number (text + 5, 2);
  day = number (text + 8, 2);
  if (year < 1 || month < 1 || month > 12)
    return 0;
  leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day >= 1 && day <= days[month - 1] + leap;
}

static int
is_web_address (const char *text)
{
  return text != NULL
         && ((strncmp (text, "https://", 8) == 0 && text[8] != '\0') || (strncmp (text, "http://", 7) == 0 && text[7] != '\0'));
}

static void
check_evidence (struct berth_check *check, uint32_t index, const struct berth_claim *claim)
{
  int needed = claim->tier > BERTH_TIER_CONTAINER;

  if (needed && !is_web_address (claim->evidence_url))
    berth_problem (check->problems, "name the page of the provider's that says so",
                   "isolation claim %u: tier %s without evidence (got URL \"%.200s\", want http:// or https://)", index,
                   berth_tier_name (claim->tier), BERTH_CHECK_TEXT (claim->evidence_url));
  if ((needed || claim->evidence_date != NULL) && !is_date (claim->evidence_date))
    berth_problem (check->problems, "give the day on which the evidence was read",
                   "isolation claim %u: evidence date \"%.64s\" is not a date (want YYYY-MM-DD)", index,
                   BERTH_CHECK_TEXT (claim->evidence_date));
}

static void
check_claim (struct berth_check *check, uint32_t index, const struct berth_claim *claim)
{
  if (claim->tier == BERTH_TIER_CONTAINER || claim->tier == BERTH_TIER_GVISOR || claim->tier == BERTH_TIER_MICROVM)
    check_evidence (check, index, claim);
  else
    berth_problem (check->problems, "claim one of these, or nothing",
                   "isolation claim %u: tier %u is not known (want 10 container, 20 gvisor or 30 microvm)", index,
                   claim->tier);
}

void
berth_check_claims (struct berth_check *check)
{
  struct berth_claim claim;

  if (!berth_check_array (check, "isolation claims", &check->backend->claims, MOST_CLAIMS, sizeof claim))
    return;
  for (uint32_t i = 0; berth_item (&check->backend->claims, i, &claim, sizeof claim); i++)
    check_claim (check, i, &claim);
}
