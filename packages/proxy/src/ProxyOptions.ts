/**
 * The options of a proxy: which entries of the upstream clients get, and under which names; with which sessions the upstream is
 * called; and what bounds the faults of the upstream.
 *
 * @since 0.1.0
 */
import type * as Client from "@effect-mcp/client/Client"
import type * as Duration from "effect/Duration"
import type * as Schedule from "effect/Schedule"
import type { ProxyEntry } from "./ProxyEntry.js"

/** @category models */
export interface ProxyOptions {
  /** The name of the upstream in errors and logs; clients see it. Default: that of the connector, without a query. */
  readonly name?: string | undefined
  /** What the names of tools and prompts begin with. Default: nothing. */
  readonly prefix?: string | undefined
  /**
   * The name that clients know for an entry, in place of the `prefix` and the upstream's name. A resource template must keep
   * its variables. Of two entries with the same name, clients get the first.
   */
  readonly rename?: ((entry: ProxyEntry) => string) | undefined
  /**
   * Whether clients get an entry. With a filter, or with `rename`, clients read only resources that are listed or match a
   * template; otherwise every resource that the upstream serves. Default: every entry.
   */
  readonly filter?: ((entry: ProxyEntry) => boolean) | undefined
  /**
   * Whether each client has a session with the upstream of its own, or all clients share a session. An upstream that keeps state
   * for a session, or asks its client, needs `each`; in a shared session a question reaches a client only while no other client's
   * call runs. Anonymous clients of 2026-07-28 over HTTP cannot be told apart: with `each` they share a session when the server
   * listens on loopback only, else each of their requests has its own. Default: `each` for an upstream up to 2025-11-25, `shared`
   * for an upstream of 2026-07-28, which asks in the call itself.
   */
  readonly sessions?: "each" | "shared" | undefined
  /** How many clients may have a session with the upstream; more are refused. Default: 1,000. */
  readonly maxSessions?: number | undefined
  /** After which time without requests the session of a client of 2026-07-28 closes. Default: 1 minute. */
  readonly idleSession?: Duration.DurationInput | undefined
  /** Whether the server's instructions include those of the upstream. Default: true. */
  readonly instructions?: boolean | undefined
  /** The limit of the entries that clients get; the upstream's others are left out with a warning. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** How long connecting may take, and how long the server waits with its start. Default: 10 seconds. */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /**
   * When to connect again after the connection has ended or failed. It begins anew after a connection of a minute. Default: after
   * half a second, then after twice the time, up to every 30 seconds.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  /**
   * How many calls may wait for the answers of clients of 2026-07-28 to questions of an upstream up to 2025-11-25, and for how
   * long. Default: 1,000 for 10 minutes.
   */
  readonly waiting?: {
    readonly max?: number | undefined
    readonly ttl?: Duration.DurationInput | undefined
  } | undefined
  /**
   * Options of the clients that call the upstream. Default of `timeout`: 5 minutes, which progress restarts; lists have a
   * minute. `extensions` are those that the proxy passes on: tasks, and the requests and notifications of clients.
   */
  readonly client?: Omit<Client.Options, "checkOutputs" | "features" | "onNotification" | "prior"> | undefined
}
