/**
 * Scripts of servers whose era the client does not know, and the clients that connect to them.
 */
import * as Client from "@effect-mcp/core/Client"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect } from "effect"
import type { servers } from "../Scripts.js"

export const both = { versions: ["2025-06-18", "2025-11-25", "2026-07-28"] } as const

export const connecting = (options: Client.Options) =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server()
    yield* Effect.addFinalizer(() => server.hangUp)
    const client = yield* Effect.fork(Client.make(connector, options))
    return { server, client }
  })

export const prior = {
  version: Version.latestLegacy,
  serverInfo: { name: "old", version: "1" },
  serverCapabilities: { tools: {} },
  instructions: "Be brief"
} as const

export const described = (supportedVersions: ReadonlyArray<string>) => ({
  result: { resultType: "complete", supportedVersions, capabilities: {}, ttlMs: 0, cacheScope: "public" }
})

export const error = (code: number, data?: unknown) => ({
  error: { code, message: "No", ...(data === undefined ? {} : { data }) }
})

export type Reached = Effect.Effect.Success<typeof servers>

/** Connects a client, and gives the server of its first connection. */
export const connects = ({ connector, open, server }: Reached, options: Client.Options = {}) =>
  Effect.gen(function*() {
    const before = open()
    const client = yield* Effect.forkScoped(Client.make(connector, options))
    yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === before + 1 })
    return { client, server: server() }
  })
