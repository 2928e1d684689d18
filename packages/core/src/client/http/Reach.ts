/**
 * Which addresses an HTTP request may reach. A URL that the application names is used as it is. A URL that a peer names, such as a server
 * in its metadata, may lead to private addresses: to the ports of this machine, or to the network that this machine is in.
 *
 * `kit/HostName` reads names and literal addresses. It cannot see to which address a name resolves: the `HttpClient` of package `node` reads
 * `current` from the fiber of a request, and checks each address at the moment at which it connects. Other clients do not read `current`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/security_best_practices
 */
import * as Data from "effect/Data"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { Zone } from "../../kit/HostName.js"
import * as HostName from "../../kit/HostName.js"

/** The zones that a request may reach, or any address. */
export type Reach = "any" | ReadonlySet<Zone>

/** What the requests of a fiber may reach. */
export const current: EffectInternals.Local<Reach> = EffectInternals.local<Reach>(
  "@effect-mcp/core/client/Reach",
  "any"
)

/** A client did not connect, because of the address. */
export class UnreachableAddress extends Data.TaggedError("UnreachableAddress")<{ readonly message: string }> {}

const PUBLIC: ReadonlySet<Zone> = new Set(["public"])

/** The hosts that an application names, and what it lets peers name. */
export interface Hosts {
  /** The hosts that the application names. What they name themselves may be in their own zones. */
  readonly named: ReadonlyArray<string>
  /** Further hosts that a peer may name. */
  readonly allowed: ReadonlyArray<string>
}

/** What a request to a host that a peer names may reach; `undefined` when the request must not be made. */
export const of = ({ allowed, named }: Hosts, hostname: string): Reach | undefined => {
  const host = HostName.withoutDot(hostname)
  if ([...named, ...allowed].some((one) => HostName.withoutDot(one.toLowerCase()) === host)) return "any"
  const zones: ReadonlyArray<Zone> = named.map(HostName.zoneOf).filter((zone) =>
    zone !== "special" && zone !== "public"
  )
  const zone = HostName.zoneOf(host)
  if (zone !== "public" && !zones.includes(zone)) return undefined
  return zones.length === 0 ? PUBLIC : new Set([...PUBLIC, ...zones.flatMap((zone) => BEHIND[zone])])
}

/** To which zones a name of a zone may resolve. */
const BEHIND: Readonly<Record<Zone, ReadonlyArray<Zone>>> = {
  public: ["public"],
  private: ["private"],
  loopback: ["loopback"],
  // Such names stand in the file of hosts of a machine that runs tests.
  test: ["test", "loopback", "private"],
  special: []
}
