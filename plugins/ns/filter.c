/* filter.c - which frames may leave a sandbox that has a network, as a program of classic BPF.
 *
 * Pasta connects from this machine, so what is reached there is reached as the machine: the services on
 * its loopback, those that its own addresses offer, and those that a cloud offers to the machine, its
 * credentials among them.  Routes inside do not keep a program from any of it, since binding a socket to
 * the interface goes around them. */
#include "plugins/ns/filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#define DROP 0
#define PASS UINT32_MAX
/* Offsets in a frame. */
#define TYPE 12
#define DESTINATION_4 30
#define DESTINATION_6 38
#define NEXT_HEADER_6 20
#define ICMP_TYPE_6 54
/* Looking for neighbours and routers. */
#define NEIGHBOURS_FIRST 133
#define NEIGHBOURS_LAST 136

#define LOAD(size, offset) BPF_STMT (BPF_LD | (size) | BPF_ABS, (offset))
#define MASK(bits) BPF_STMT (BPF_ALU | BPF_AND | BPF_K, (bits))
#define EQUAL(value, yes, no) BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define LEAVE(verdict) BPF_STMT (BPF_RET | BPF_K, (verdict))

struct prefix
{
  const char *address;
  unsigned bits;
};

/* This machine, its link, and many at once; then what clouds tell their machines outside of these. */
static const struct prefix closed_4[] = {
  { "0.0.0.0", 8 },          { "127.0.0.0", 8 },      { "169.254.0.0", 16 },  { "224.0.0.0", 3 },
  { "100.100.100.200", 32 }, { "168.63.129.16", 32 }, { "192.0.0.192", 32 },
};
static const struct prefix closed_6[] = {
  { "::", 96 }, { "::ffff:0:0", 96 }, { "fd00:ec2::254", 128 }, { "fd20:ce::254", 128 },
};

static void
add (struct ns_filter *filter, struct sock_filter instruction)
{
  if (filter->count < BPF_MAXINSNS)
    filter->code[filter->count] = instruction;
  filter->count++;
}

static uint32_t
mask_of (unsigned bits)
{
  return UINT32_MAX << (32 - bits);
}

/* ADDRESS has 4 bytes at OFFSET of the frame for each of its WORDS, the last with BITS that count. */
static void
close_prefix (struct ns_filter *filter, unsigned offset, const unsigned char *address, unsigned words, unsigned bits)
{
  for (unsigned i = 0; i < words; i++)
    {
      uint32_t mask = i + 1 < words ? UINT32_MAX : mask_of (bits), word;
      memcpy (&word, address + 4 * i, sizeof word);
      add (filter, (struct sock_filter) LOAD (BPF_W, offset + 4 * i));
      add (filter, (struct sock_filter) MASK (mask));
      /* Past the rest of the words, three instructions each, and the verdict. */
      add (filter, (struct sock_filter) EQUAL (ntohl (word) & mask, 0, (uint8_t) (3 * (words - 1 - i) + 1)));
    }
  add (filter, (struct sock_filter) LEAVE (DROP));
}

static void
close_listed (struct ns_filter *filter, int family, unsigned offset, const struct prefix *prefixes, size_t count)
{
  for (size_t i = 0; i < count; i++)
    {
      unsigned char address[16];
      inet_pton (family, prefixes[i].address, address);
      close_prefix (filter, offset, address, (prefixes[i].bits + 31) / 32, (prefixes[i].bits - 1) % 32 + 1);
    }
}

/* As they are now: an address that the machine takes later is reached. */
static void
close_own (struct ns_filter *filter, int family, unsigned offset, const struct ifaddrs *own)
{
  for (; own != NULL; own = own->ifa_next)
    {
      const void *given = own->ifa_addr; /* getifaddrs aligns each for its family */
      const struct sockaddr_in *four = given;
      const struct sockaddr_in6 *six = given;

      if (given == NULL || own->ifa_addr->sa_family != family)
        continue;
      close_prefix (filter, offset,
                    family == AF_INET ? (const unsigned char *) &four->sin_addr : (const unsigned char *) &six->sin6_addr,
                    family == AF_INET ? 1 : 4, 32);
    }
}

/* On the link and to groups only neighbours are looked for. */
static void
close_link (struct ns_filter *filter)
{
  const struct sock_filter code[] = {
    LOAD (BPF_W, DESTINATION_6),
    MASK (mask_of (10)),
    EQUAL (0xfe800000, 3, 0),
    LOAD (BPF_W, DESTINATION_6),
    MASK (mask_of (8)),
    EQUAL (0xff000000, 0, 8),
    LOAD (BPF_B, NEXT_HEADER_6),
    EQUAL (IPPROTO_ICMPV6, 1, 0),
    LEAVE (DROP),
    LOAD (BPF_B, ICMP_TYPE_6),
    BPF_JUMP (BPF_JMP | BPF_JGE | BPF_K, NEIGHBOURS_FIRST, 0, 1),
    BPF_JUMP (BPF_JMP | BPF_JGT | BPF_K, NEIGHBOURS_LAST, 0, 1),
    LEAVE (DROP),
    LEAVE (PASS),
  };

  for (size_t i = 0; i < sizeof code / sizeof *code; i++)
    add (filter, code[i]);
}

int
ns_filter_make (struct ns_filter *filter)
{
  struct ifaddrs *own;

  filter->count = 0;
  if (getifaddrs (&own) < 0)
    return -1;
  add (filter, (struct sock_filter) LOAD (BPF_H, TYPE));
  add (filter, (struct sock_filter) EQUAL (ETH_P_ARP, 0, 1));
  add (filter, (struct sock_filter) LEAVE (PASS));
  add (filter, (struct sock_filter) EQUAL (ETH_P_IP, 1, 0));
  unsigned to_6 = filter->count;
  add (filter, (struct sock_filter) BPF_STMT (BPF_JMP | BPF_JA, 0));
  close_listed (filter, AF_INET, DESTINATION_4, closed_4, sizeof closed_4 / sizeof *closed_4);
  close_own (filter, AF_INET, DESTINATION_4, own);
  add (filter, (struct sock_filter) LEAVE (PASS));
  filter->code[to_6].k = filter->count - to_6 - 1;
  add (filter, (struct sock_filter) EQUAL (ETH_P_IPV6, 1, 0));
  add (filter, (struct sock_filter) LEAVE (DROP));
  close_link (filter);
  close_listed (filter, AF_INET6, DESTINATION_6, closed_6, sizeof closed_6 / sizeof *closed_6);
  close_own (filter, AF_INET6, DESTINATION_6, own);
  add (filter, (struct sock_filter) LEAVE (PASS));
  freeifaddrs (own);
  errno = ENOSPC;
  return filter->count <= BPF_MAXINSNS ? 0 : -1;
}
