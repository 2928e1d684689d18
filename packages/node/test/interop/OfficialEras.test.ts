import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as Connector from "@effect-mcp/core/Connector"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { text } from "../behaviour/Behaviour.js"
import { fixture, node } from "../Fixture.js"
import * as OfficialHttpServers from "./OfficialHttpServers.js"

type Reach = Effect.Effect<Connector.Connector<HttpClient>, never, Scope.Scope>

const stdio = (...args: readonly [string, ...Array<string>]): Reach =>
  Effect.sync(() =>
    StdioClient.connector({
      command: node,
      args: [fixture(args[0]), ...args.slice(1), randomUUID()],
      stderr: "ignore",
      closeTimeouts: { grace: "1 minute" }
    })
  )

const http = (serve: Effect.Effect<{ readonly url: string }, never, Scope.Scope>): Reach =>
  Effect.map(serve, ({ url }) => Remote.connector(url))

type Revisions = NonNullable<Client.Options["versions"]>

const { legacy } = Version
const modern: Revisions = [Version.latestModern]
const both: Revisions = [...legacy, ...modern]

interface Server {
  readonly reach: Reach
  readonly revisions: Revisions
  /** Whether it can send requests to a legacy client. */
  readonly asksLegacy: boolean
}

const server = (reach: Reach, revisions: Revisions, asksLegacy = false): Server => ({
  reach,
  revisions,
  asksLegacy
})

/** A server of each SDK, for each era and over each transport. Those of version 2.4 have a tool that asks. */
const servers: Readonly<Record<string, Server>> = {
  "1.32 on stdio": server(stdio("officialServer1.mjs"), legacy),
  "1.32 over HTTP": server(http(OfficialHttpServers.http("1.32")), legacy),
  "1.32 over HTTP with JSON": server(http(OfficialHttpServers.http("1.32", { json: true })), legacy),
  "1.32 over HTTP+SSE": server(http(OfficialHttpServers.sse), legacy),
  "2.4 on stdio, for the legacy era": server(stdio("officialModern2.mjs", "legacy"), legacy, true),
  "2.4 on stdio, for the modern era": server(stdio("officialModern2.mjs", "modern"), modern),
  "2.4 on stdio, for both eras": server(stdio("officialModern2.mjs", "both"), both, true),
  "2.4 over HTTP, for the legacy era": server(http(OfficialHttpServers.http("2.4")), legacy),
  "2.4 over HTTP, for the modern era": server(http(OfficialHttpServers.modern({ eras: "modern" })), modern),
  "2.4 over HTTP, for both eras": server(http(OfficialHttpServers.modern()), both)
}

const features = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name: "Ada" } }))

const connect = (reach: Reach, versions: Client.Options["versions"]) =>
  Effect.flatMap(reach, (connector) => Client.make(connector, { versions, features }))

const works = (client: Client.Client["Type"], { asksLegacy, revisions }: Server) =>
  Effect.gen(function*() {
    assert.deepStrictEqual((yield* client.callTool("echo", { text: "on" })).content, text("on"))
    if (Version.isModern(client.version) || asksLegacy) {
      const { content } = yield* client.callTool("form")
      assert.deepStrictEqual(content, text("{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"size\":\"small\"}}"))
    }
    assert.include(revisions, client.version)
  })

const provided = Effect.provide(NodeHttpClient.layerUndici)

for (const [name, server] of Object.entries(servers)) {
  const latest = server.revisions.at(-1)!
  const hasLegacy = server.revisions.some(Version.isLegacy)
  const hasModern = server.revisions.some(Version.isModern)

  describe(`A client of Effect MCP and a server of the official SDK ${name}`, () => {
    it.scopedLive("agree on the latest revision of the server when the client speaks all", () =>
      Effect.gen(function*() {
        const client = yield* connect(server.reach, both)
        assert.strictEqual(client.version, latest)
        yield* works(client, server)
      }).pipe(provided))

    it.scopedLive(
      hasLegacy ? "agree on each legacy revision" : "have no legacy revision in common, and the error says so",
      () =>
        Effect.forEach(
          hasLegacy ? legacy : [Version.latestLegacy],
          (version) =>
            Effect.scoped(Effect.gen(function*() {
              if (!hasLegacy) {
                const error = yield* Effect.flip(connect(server.reach, legacy))
                assert.deepInclude(error, { _tag: "UnsupportedVersion", supported: [Version.latestModern] })
                return
              }
              const client = yield* connect(server.reach, [version])
              assert.strictEqual(client.version, version)
              // Before 2025-06-18 a client has no elicitation.
              if (version >= "2025-06-18") yield* works(client, server)
            })),
          { discard: true }
        ).pipe(provided)
    )

    it.scopedLive(
      hasModern ? "agree on 2026-07-28" : "have no modern revision in common, and the error says so",
      () =>
        Effect.gen(function*() {
          const connecting = connect(server.reach, [Version.latestModern])
          if (hasModern) return yield* Effect.flatMap(connecting, (client) => works(client, server))
          assert.strictEqual((yield* Effect.flip(connecting))._tag, "NoCommonVersion")
        }).pipe(provided)
    )

    it.scopedLive("open a second session without looking for the era again", () =>
      Effect.gen(function*() {
        const connector = yield* server.reach
        const { instructions, serverCapabilities, serverInfo, version } = yield* Effect.scoped(
          Client.make(connector, { versions: both })
        )
        const prior = JSON.parse(JSON.stringify({ instructions, serverCapabilities, serverInfo, version }))
        const client = yield* Client.make(connector, { versions: both, prior, features })
        assert.strictEqual(client.version, latest)
        yield* works(client, server)
      }).pipe(provided))
  })
}
