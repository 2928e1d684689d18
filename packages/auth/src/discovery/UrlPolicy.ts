/**
 * Decides which URLs the client uses. A URL that it requests is https, or http on a loopback address. It names no private
 * address, except the host of the MCP server, unless the application allows private addresses. A URL that the user's browser
 * opens is https, or http on a loopback address.
 *
 * It reads names and literal addresses. It cannot see to which address a name resolves: a server that must not reach private
 * networks also needs an `HttpClient`, or a network, that refuses them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/security_best_practices
 */
import * as Either from "effect/Either"
import type { AuthorizationError } from "../AuthorizationError.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"

export interface UrlPolicy {
  /** The URL of the MCP server, which the application has chosen. */
  readonly server: URL
  /** Whether loopback and private addresses may be requested: the program runs for the user of this machine. */
  readonly allowPrivate: boolean
}

const MAX_LENGTH = 4096

const parse = (text: string): URL | undefined =>
  text.length <= MAX_LENGTH && !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined

/** A URL that the client is going to request. `what` names it in the error: "the token endpoint". */
export const check = (
  { allowPrivate, server }: UrlPolicy,
  what: string,
  text: string
): Either.Either<URL, AuthorizationError> =>
  Either.flatMap(browsable(what, text), (url) => {
    const isOwn = url.hostname === server.hostname ||
      [isLoopback, isTest].some((is) => is(url.hostname) && is(server.hostname))
    return isOwn || allowPrivate || !isPrivate(url.hostname) ? Either.right(url) : refuse(
      `${what}, ${ServerText.location(url)}`,
      "it is a private address. A program that runs on the user's own machine may allow that with `allowPrivateAddresses`"
    )
  })

/** A URL that the user's browser is going to open. */
export const browsable = (what: string, text: string): Either.Either<URL, AuthorizationError> => {
  const url = parse(text)
  if (url === undefined) return refuse(what, "it is no absolute URL")
  const why = whyNotBrowsable(url)
  return why === undefined ? Either.right(url) : refuse(`${what}, ${ServerText.location(url)}`, why)
}

const whyNotBrowsable = (url: URL): string | undefined => {
  const { hash, hostname, password, protocol, username } = url
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname))) return "it is not https"
  if (username !== "" || password !== "") return "it holds credentials"
  return hash === "" ? undefined : "it has a fragment"
}

const refuse = (what: string, why: string) =>
  Either.left(failure("UnsafeUrl", `The client does not use ${what}: ${why}`))

/** `URL` has already brought every notation of an IPv4 address to four decimal numbers. */
const ipv4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

export const isLoopback = (hostname: string): boolean => {
  const name = withoutDot(hostname)
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name)
}

/** A URL keeps every dot at the end of its host. */
const withoutDot = (hostname: string): string => hostname.replace(/\.+$/, "")

/** In a test the server and its authorization servers have such names. */
const isTest = (hostname: string): boolean => withoutDot(hostname).endsWith(".test")

/** Names that IANA reserves for special use, and names that networks and service discovery give to their own machines. */
const LOCAL_NAME =
  /\.(alt|arpa|example|invalid|local|onion|test|consul|corp|docker|home|internal|intra|intranet|lan|localdomain|localnet|mail|mesos|private|svc)$/

const isPrivate = (hostname: string): boolean => {
  const name = withoutDot(hostname)
  if (isLoopback(name) || LOCAL_NAME.test(name)) return true
  if (name.startsWith("[")) return isPrivateV6(name.slice(1, -1))
  // A name without a dot is a name of the local network.
  return ipv4.test(name) ? isPrivateV4(name) : !name.includes(".")
}

const numberOf = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)

/** The special-purpose addresses of IANA, multicast, and an address at which Azure serves each of its machines. */
const PRIVATE_V4 = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/3`.trim().split(/\s+/).map((range) => {
  const [address = "", bits] = range.split("/")
  return [numberOf(address), 2 ** (32 - Number(bits))] as const
})

const isPrivateV4 = (address: string): boolean =>
  PRIVATE_V4.some(([first, size]) => numberOf(address) >= first && numberOf(address) < first + size)

/** `URL` writes an address as eight groups with the longest row of zeros left out. */
const isPrivateV6 = (address: string): boolean => {
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right]
    .map((group) => parseInt(group, 16))
  const [first = 0, second = 0] = groups
  const v4 = (at: number): string => {
    const [high = 0, low = 0] = groups.slice(at, at + 2)
    return [high >> 8, high & 255, low >> 8, low & 255].join(".")
  }
  // Addresses that carry an IPv4 address: mapped, compatible, NAT64, 6to4 and ISATAP.
  if (groups.slice(0, 5).every((group) => group === 0)) {
    return groups[5] === 0xffff || groups[5] === 0 ? isPrivateV4(v4(6)) : true
  }
  if (first === 0x64 && second === 0xff9b) return groups[2] !== 0 || isPrivateV4(v4(6))
  if (first === 0x2002) return isPrivateV4(v4(1))
  if (groups[5] === 0x5efe && isPrivateV4(v4(6))) return true
  // Only 2000::/3 is public; in it, 2001::/23 (Teredo among them), 2001:db8::/32, 2620:4f:8000::/48 and 3fff::/20 are not.
  return (first & 0xe000) !== 0x2000 || (first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
    (first === 0x2620 && second === 0x4f && groups[2] === 0x8000) || first === 0x3fff
}
