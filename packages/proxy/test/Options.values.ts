/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import type { HttpClient } from "@effect/platform"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import type * as ToolFingerprints from "@effect-mcp/core/ToolFingerprints"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Context, Effect, type Layer, Schedule } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly token: string }>() {}

const client = {
  clientInfo: { name: "proxy", version: "1" },
  timeout: "5 minutes",
  timeouts: { "tools/list": "10 seconds" },
  maxRetries: 1,
  enforceCapabilities: false,
  refuseUnassociated: true,
  versions: ["2025-11-25"],
  extensions: [TasksClient.extension],
  limits: { maxCalls: 100, maxRounds: 3, maxInFlight: 10, maxWaiting: 100, maxWaitingText: 1_000_000 },
  heartbeat: { interval: "30 seconds" },
  closeTimeout: "5 seconds",
  cache: false
} satisfies Every<NonNullable<Proxy.Options["client"]>>

declare const fingerprints: ToolFingerprints.ToolFingerprints

const options = {
  name: "search",
  prefix: "search_",
  rename: ({ kind, name }) => kind === "tool" ? `search_${name}` : name,
  filter: ({ kind, listed }) => kind !== "tool" || listed.annotations?.readOnlyHint === true,
  fingerprints,
  sessions: "shared",
  maxSessions: 10,
  idleSession: "1 minute",
  instructions: false,
  maxEntries: 100,
  connectTimeout: "30 seconds",
  reconnect: Schedule.spaced("1 second"),
  waiting: { max: 10, ttl: "1 minute" },
  client
} satisfies Every<Proxy.Options>

const connector = Remote.connector("https://example.com/mcp", {
  headers: Effect.map(Vault, ({ token }) => ({ authorization: token }))
})

const Live = Proxy.layer(connector, options)
expectTypeOf(Live).toEqualTypeOf<Layer.Layer<never, never, Registry | Vault | HttpClient.HttpClient>>()

export const Connected = Proxy.layerConnected(connector, options)
