/**
 * The options of a proxy: which entries of the upstream clients get, and under which names; whether clients share a session with
 * the upstream; and the limits and deadlines that bound the faults of the upstream. `Proxy` takes the options.
 *
 * @since 0.1.0
 */
import type * as Client from "@effect-mcp/client/Client"
import type * as Duration from "effect/Duration"
import type * as Schedule from "effect/Schedule"
import type { ProxyEntry } from "./ProxyEntry.js"

/** @category models */
export interface ProxyOptions {
  /** The name of the upstream in errors and logs; clients see this name. Default: the name of the connector, without a query. */
  readonly name?: string | undefined
  /** The beginning of the names that tools and prompts have for clients. Default: none. */
  readonly prefix?: string | undefined
  /**
   * Gives an entry its name for clients, in place of `prefix` and the upstream's name. A renamed resource template must keep its
   * variables. Of two entries with the same name, clients get the first.
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
  /** How many clients may have a session with the upstream; the calls of further clients fail. Default: 1,000. */
  readonly maxSessions?: number | undefined
  /** How long the session of a client of 2026-07-28 stays open without requests. Default: 1 minute. */
  readonly idleSession?: Duration.DurationInput | undefined
  /** Whether the server's instructions include those of the upstream. Default: true. */
  readonly instructions?: boolean | undefined
  /** The most entries that clients get; further entries of the upstream are left out, with a warning. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /**
   * How long connecting may take, and how long the server and its clients wait for the connection. Default: they wait for 10 seconds,
   * and connecting goes on for up to 3 minutes.
   */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /**
   * When to connect again after the connection has ended or failed. The schedule begins anew after a connection of one minute.
   * Default: after half a second, then each time after twice the time, at most 30 seconds.
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
   * The options of the clients that call the upstream. `timeout` is 5 minutes by default, and each progress restarts it; a list
   * has one minute. The proxy passes on the extensions in `extensions`: tasks, and the requests and notifications of clients.
   */
  readonly client?: Omit<Client.Options, "checkOutputs" | "features" | "onNotification" | "prior"> | undefined
}
