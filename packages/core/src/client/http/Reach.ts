/**
 * Decides which addresses an HTTP request may reach. A URL that the application names is used without a limit. A URL that a peer names,
 * such as a URL in the metadata of a server, might lead to private addresses: to ports of this machine, or into the network of this
 * machine.
 *
 * `kit/HostName` reads names and literal addresses, but cannot find out to which address a name resolves. Therefore the `HttpClient` of
 * package `node` reads `current` from the fiber of a request, and checks each address when it connects. Other clients do not read
 * `current`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/security_best_practices
 */
import * as Data from "effect/Data"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { Zone } from "../../kit/HostName.js"
import * as HostName from "../../kit/HostName.js"

/** The zones that a request may reach; `any` for any address. */
export type Reach = "any" | ReadonlySet<Zone>

/** The zones that the requests of a fiber may reach. Default: `any`. */
export const current: EffectInternals.Local<Reach> = EffectInternals.local<Reach>(
  "@effect-mcp/core/client/Reach",
  "any"
)

/** The error of a client that did not connect because it must not reach the address. */
export class UnreachableAddress extends Data.TaggedError("UnreachableAddress")<{ readonly message: string }> {}

const PUBLIC: ReadonlySet<Zone> = new Set(["public"])

/** The hosts that an application names, and the hosts that it lets peers name. */
export interface Hosts {
  /** The hosts that the application names. A peer may also name hosts that are in the same zones as these hosts. */
  readonly named: ReadonlyArray<string>
  /** Further hosts that a peer may name. */
  readonly allowed: ReadonlyArray<string>
}

/** Returns the zones that a request to a host that a peer names may reach; `undefined` when the request must not be made. */
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

/** The zones of the addresses to which a name of each zone may resolve. */
const BEHIND: Readonly<Record<Zone, ReadonlyArray<Zone>>> = {
  public: ["public"],
  private: ["private"],
  loopback: ["loopback"],
  // On a machine that runs tests, the hosts file contains names that end with `.test`.
  test: ["test", "loopback", "private"],
  special: []
}
