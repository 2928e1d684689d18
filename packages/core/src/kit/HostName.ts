/**
 * Tells where a host is: on the internet, on this machine, or in a private network. With this answer, `client/http/Reach` decides which
 * hosts a request may reach, and package `extensions` decides which origins a view may name.
 *
 * The module reads names and literal addresses. It does not resolve names, so it does not find the address behind a name.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry/iana-ipv4-special-registry.xhtml
 */

/**
 * Where a host is:
 *
 * - `public`: on the internet.
 * - `private`: in a private network.
 * - `loopback`: on this machine.
 * - `test`: under a name that ends with `.test`.
 * - `special`: at an address that has a special use, such as the address at which a cloud serves the credentials of a machine.
 */
export type Zone = "public" | "private" | "loopback" | "test" | "special"

/** Returns the zone of the host of a URL. `hostname` is a name, or an address in the form that `URL` writes. */
export const zoneOf = (hostname: string): Zone => {
  const name = withoutDot(hostname.toLowerCase())
  if (ipv4.test(name)) return zoneOfV4(name)
  if (name.startsWith("[")) return zoneOfV6(name.slice(1, -1))
  if (isLoopback(name)) return "loopback"
  if (name.endsWith(".test")) return "test"
  if (METADATA.has(name)) return "special"
  // A name without a dot is a name of the local network.
  return LOCAL_NAME.test(name) || !name.includes(".") ? "private" : "public"
}

/** Returns the zone of an address to which a name resolves. `address` has the form in which the operating system writes addresses. */
export const zoneOfAddress = (address: string): Zone => {
  if (ipv4.test(address)) return zoneOfV4(address)
  // `URL` turns each notation of an IPv6 address into the same notation, but refuses the name of a network interface (`%eth0`).
  const text = `http://[${address.replace(/%.*$/, "")}]`
  return URL.canParse(text) ? zoneOf(new URL(text).hostname) : "special"
}

/** Whether a host is this machine. */
export const isLoopback = (hostname: string): boolean => {
  const name = withoutDot(hostname)
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name)
}

/** Whether the zone of a host is not `public`, but `private`, `loopback`, `test` or `special`. */
export const isPrivate = (hostname: string): boolean => zoneOf(hostname) !== "public"

/** Returns the host without dots at its end. `URL` keeps these dots. */
export const withoutDot = (hostname: string): string => hostname.replace(/\.+$/, "")

/** An IPv4 address. `URL` turns each notation of an IPv4 address into four decimal numbers. */
const ipv4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

/** Names at which clouds serve metadata and credentials to each of their machines. */
const METADATA: ReadonlySet<string> = new Set(["metadata.google.internal", "metadata.goog"])

/** Names that IANA reserves for special use, and names that networks and service discovery give to their own machines. */
const LOCAL_NAME =
  /\.(alt|arpa|example|invalid|local|onion|consul|corp|docker|home|internal|intra|intranet|lan|localdomain|localnet|mail|mesos|private|svc)$/

const numberOf = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)

type Range = readonly [first: number, size: number]

const ranges = (list: string): ReadonlyArray<Range> =>
  list.trim().split(/\s+/).map((range): Range => {
    const [address = "", bits] = range.split("/")
    return [numberOf(address), 2 ** (32 - Number(bits))]
  })

const isIn = (of: ReadonlyArray<Range>, address: string): boolean =>
  of.some(([first, size]) => numberOf(address) >= first && numberOf(address) < first + size)

/**
 * The addresses of private networks, and the shared addresses that providers use behind their network address translation (100.64.0.0/10).
 */
const PRIVATE_V4 = ranges("10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16")

/**
 * The special-purpose addresses of IANA, multicast addresses, and two addresses at which clouds serve metadata to each of their machines.
 */
const SPECIAL_V4 = ranges(`
  0.0.0.0/8 100.100.100.200/32 168.63.129.16/32 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24
  192.88.99.0/24 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3`)

const LOOPBACK_V4 = ranges("127.0.0.0/8")

const zoneOfV4 = (address: string): Zone =>
  isIn(LOOPBACK_V4, address)
    ? "loopback"
    : isIn(SPECIAL_V4, address)
    ? "special"
    : isIn(PRIVATE_V4, address)
    ? "private"
    : "public"

/** Returns the eight groups of an IPv6 address. `URL` writes `::` in place of the longest row of groups that are 0. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  return [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right]
    .map((group) => parseInt(group, 16))
}

const zoneOfV6 = (address: string): Zone => {
  const groups = groupsOf(address)
  const inner = (at: number): Zone => {
    const [high = 0, low = 0] = groups.slice(at, at + 2)
    return zoneOfV4([high >> 8, high & 255, low >> 8, low & 255].join("."))
  }
  if (address === "::1") return "loopback"
  const carried = v4In(groups)
  if (carried !== undefined) return carried === "unknown" ? "special" : inner(carried)
  // An ISATAP address contains an IPv4 address; when that IPv4 address is not public, its zone decides.
  if (groups[5] === 0x5efe && inner(6) !== "public") return inner(6)
  // Unique local addresses (fc00::/7) are private, except the address at which a cloud serves metadata to each of its machines.
  if ((groups[0]! & 0xfe00) === 0xfc00) return address === "fd00:ec2::254" ? "special" : "private"
  return isPublicV6(groups) ? "public" : "special"
}

/**
 * Returns the index of the group at which an IPv6 address contains an IPv4 address (mapped, compatible, NAT64 or 6to4). `undefined` when it
 * contains none; `"unknown"` when its prefix says that it may contain an IPv4 address at an unknown place.
 */
const v4In = (groups: ReadonlyArray<number>): number | "unknown" | undefined => {
  const [first, second, ...rest] = groups
  if (groups.slice(0, 5).every((group) => group === 0)) return groups[5] === 0xffff || groups[5] === 0 ? 6 : "unknown"
  if (first === 0x64 && second === 0xff9b) return rest.slice(0, 4).every((group) => group === 0) ? 6 : "unknown"
  return first === 0x2002 ? 1 : undefined
}

/** The public addresses are 2000::/3 without 2001::/23 (Teredo is a part of it), 2001:db8::/32, 2620:4f:8000::/48 and 3fff::/20. */
const isPublicV6 = ([first = 0, second = 0, third]: ReadonlyArray<number>): boolean =>
  (first & 0xe000) === 0x2000 && !(first === 0x2001 && (second < 0x200 || second === 0xdb8)) &&
  !(first === 0x2620 && second === 0x4f && third === 0x8000) && first !== 0x3fff
