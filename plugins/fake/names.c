/* names.c - names of files as they are stored, and the accounts of a sandbox. */
#include "plugins/fake/tree.h"
#include "sdk/base/string.h"

#define LONG_PREFIX ".long-"

static int
is_plain (const char *name, size_t at)
{
  char c = name[at];

  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'
         || (c == '.' && at > 0);
}

/* FNV-1a: collisions are found, since the true name stands in the attributes. */
static uint64_t
checksum (const char *name, size_t size, uint64_t hash)
{
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char) name[i]) * UINT64_C (1099511628211);
  return hash;
}

void
fake_name_encode (const char *name, size_t size, char host[FAKE_HOST_NAME])
{
  static const char digits[] = "0123456789ABCDEF";
  size_t length = 0;

  for (size_t i = 0; i < size; i++)
    {
      size_t need = is_plain (name, i) ? 1 : 3;

      if (length + need >= FAKE_HOST_NAME)
        {
          snprintf (host, FAKE_HOST_NAME, LONG_PREFIX "%016llx%016llx",
                    (unsigned long long) checksum (name, size, UINT64_C (14695981039346656037)),
                    (unsigned long long) checksum (name, size, UINT64_C (88172645463325252)));
          return;
        }
      host[length] = need == 1 ? name[i] : '%';
      if (need == 3)
        {
          host[length + 1] = digits[(unsigned char) name[i] >> 4];
          host[length + 2] = digits[(unsigned char) name[i] & 15];
        }
      length += need;
    }
  host[length] = '\0';
}

static int
digit (char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c - 'A' + 10;
}

int
fake_name_decode (const char *host, char name[FAKE_HOST_NAME])
{
  size_t length = 0;

  if (fake_name_is_long (host))
    return 0;
  while (*host != '\0' && length < FAKE_HOST_NAME - 1)
    if (*host == '%' && host[1] != '\0' && host[2] != '\0')
      {
        name[length++] = (char) (digit (host[1]) << 4 | digit (host[2]));
        host += 3;
      }
    else
      name[length++] = *host++;
  name[length] = '\0';
  return 1;
}

int
fake_name_is_long (const char *host)
{
  return berth_string_starts_with (host, LONG_PREFIX);
}

static const struct
{
  const char *name;
  uint32_t id;
} accounts[] = {
  { "root", 0 },
  { "daemon", 1 },
  { "sandbox", 1000 },
  { "nobody", 65534 },
};

const char *
fake_user_name (uint32_t uid)
{
  for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++)
    if (accounts[i].id == uid)
      return accounts[i].name;
  return NULL;
}

int
fake_user_id (const char *name, uint32_t *uid)
{
  uint64_t number;

  for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++)
    if (strcmp (accounts[i].name, name) == 0)
      {
        *uid = accounts[i].id;
        return 0;
      }
  if (berth_string_to_uint64 (name, 0, UINT32_MAX - 1, &number) < 0)
    return -1;
  *uid = (uint32_t) number;
  return 0;
}
