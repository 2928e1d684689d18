/**
 * The tap of the wire at both ends, over standard streams and in all HTTP shells, in both eras.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tap from "@effect-mcp/core/Tap"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Schema } from "effect"
import { PassThrough } from "node:stream"
import * as Pipe from "../src/stdio/Pipe.js"
import { info } from "./HttpFixture.js"
import { shellsAndMounts } from "./Shells.js"

const SECRET = "hunter2"

const Login = Tool.make("login", { parameters: { password: Schema.String, url: Schema.String, city: Schema.String } })

const server = McpServer.layer(
  info,
  McpServer.tool(Login, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      yield* session.progress(1)
      yield* session.ask({ sure: Ask.confirm("Sure?") })
      return yield* session.log("info", `Authorization: Bearer ${SECRET}`)
    }))
)

/** A tap that remembers the texts, and a check of them. */
const tapping = () => {
  const texts: Array<string> = []
  const tap: Tap.Tap = ({ direction, text }) => Effect.sync(() => void texts.push(`${direction} ${text}`))
  return { tap, texts }
}

const arguments_ = { password: SECRET, url: `https://example.com/?access_token=${SECRET}`, city: "Rome" }

const features = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))

/** Calls the tool, and compares what both ends have seen. */
const compare = <R>(
  connector: Connector.Connector<R>,
  version: "2025-11-25" | "2026-07-28",
  atServer: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const { tap, texts } = tapping()
    const client = yield* Client.make(Tap.connector(connector, tap), { versions: [version], features })
    yield* client.callTool("login", arguments_, { onProgress: () => Effect.void })
    for (const [end, seen] of Object.entries({ client: texts, server: atServer })) {
      const all = seen.join("\n")
      assert.notInclude(all, SECRET, end)
      assert.include(all, "\"city\":\"Rome\"", end)
      assert.include(all, "Sure?", end)
      assert.notMatch(all, /"requestState":"(?!<hidden>)/, end)
      assert.include(all, "<hidden>", end)
      for (const direction of ["in", "out"]) assert.isTrue(seen.some((one) => one.startsWith(direction)), end)
      for (const one of seen) JSON.parse(one.replace(/^\w+ /, ""))
    }
    const [call] = texts.filter((one) => one.startsWith("out") && one.includes("tools/call"))
    assert.include(atServer, call!.replace("out", "in"))
  })

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  describe(`The tap at ${version}`, () => {
    for (const [shell, start] of Object.entries(shellsAndMounts)) {
      it.scopedLive(`shows each message without secrets at both ends: ${shell}`, () =>
        Effect.gen(function*() {
          const { tap, texts } = tapping()
          const port = yield* start({ tap })
          yield* compare(Remote.connector(`http://127.0.0.1:${port}/mcp`), version, texts)
        }).pipe(Effect.provide(server), Effect.provide(NodeHttpClient.layer)))
    }

    it.scopedLive("shows each message without secrets at both ends: stdio", () =>
      Effect.gen(function*() {
        const { tap, texts } = tapping()
        const [toServer, toClient] = [new PassThrough(), new PassThrough()]
        yield* Effect.forkScoped(StdioServer.run({ input: toServer, output: toClient, tap }))
        const connector = Connector.make("stdio", Pipe.make({ input: toClient, output: toServer }))
        yield* compare(connector, version, texts)
      }).pipe(Effect.provide(server)))
  })
}
