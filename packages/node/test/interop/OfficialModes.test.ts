import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Context, Effect, Layer, type Scope } from "effect"
import { bundledOnce } from "../Bundle.js"
import { node } from "../Fixture.js"
import * as Contract from "../fixtures/toolContract.js"
import { info } from "../HttpFixture.js"
import { type Address, clients } from "./OfficialClients.js"

/** The eras that a server serves. */
const eras = { legacy: Version.legacy, modern: Version.modern, both: undefined } as const

type Eras = keyof typeof eras

const program = bundledOnce("toolServer.ts")

const http = (served: Eras): Effect.Effect<Address, never, Scope.Scope> =>
  HttpServer.layer({ port: 0 }).pipe(
    Layer.provide(McpServer.layer(
      info,
      McpServer.tool(Contract.Echo, ({ text }) => Effect.succeed(text)),
      { versions: eras[served] }
    )),
    Layer.build,
    Effect.orDie,
    Effect.map(Context.get(HttpServer.HttpServer)),
    Effect.map(({ url }) => ({ url, transport: "http" }))
  )

const stdio = (served: Eras): Effect.Effect<Address> =>
  Effect.map(program, (path) => ({ command: node, args: [path, served] }))

/** The eras that a client speaks. A client that speaks both looks for the modern one first. */
const modes: ReadonlyArray<
  readonly [name: string, speaks: Eras, connect: typeof clients.auto["the official client 2.4"]]
> = [
  ["1.32", "legacy", clients.legacy["the official client 1.32"]],
  ["2.4 for the legacy era", "legacy", clients.legacy["the official client 2.4"]],
  ["2.4 for both eras", "both", clients.auto["the official client 2.4"]],
  ["2.4 for 2026-07-28", "modern", clients.modern["the official client 2.4"]]
]

for (const [transport, serve] of [["stdio", stdio], ["HTTP", http]] as const) {
  for (const served of ["legacy", "modern", "both"] as const) {
    describe(`A server of Effect MCP over ${transport} that serves ${served === "both" ? "both eras" : `the ${served} era`}`, () => {
      for (const [name, speaks, connect] of modes) {
        const agreed = speaks === "both" ? served : served === "both" || served === speaks ? speaks : undefined
        const connecting = Effect.flatMap(
          serve(served) as Effect.Effect<Address, never, Scope.Scope>,
          (address) => connect(address)
        )
        if (agreed === undefined) {
          it.scopedLive(`SHOULD name its revisions to the official client ${name}, which has none of them`, () =>
            Effect.gen(function*() {
              const { data, message } = yield* Effect.flip(connecting)
              const named = speaks === "legacy" ? Version.latestModern : /no fallback/
              assert.match(JSON.stringify([message, data]), new RegExp(named))
            }))
        } else {
          it.scopedLive(`agrees with the official client ${name} on the ${agreed === "legacy" ? "legacy" : "modern"} era`, () =>
            Effect.gen(function*() {
              const client = yield* connecting
              assert.deepStrictEqual((yield* client.call("echo", { text: "on" })).content, [{
                type: "text",
                text: "on"
              }])
              const isInitialized = client.transcript.entries.some(({ message }) =>
                "method" in message && message.method === "initialize"
              )
              assert.strictEqual(isInitialized, agreed === "legacy")
            }))
        }
      }
    })
  }
}
