import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"
import { fixture, node } from "./Fixture.js"

/** Launches a server that reports the methods of its requests in `received`. */
const launching = (what: string, received: Array<string> = []) =>
  StdioClient.connector({
    command: node,
    args: [fixture("firstRequest.mjs"), what],
    stderr: (line) =>
      Effect.sync(() => {
        if (/^[a-z]+(\/[a-z]+)?$/.test(line)) received.push(line)
      })
  })

const patience = { "server/discover": "30 seconds" } as const

const greets = (client: Client.Client["Type"]) =>
  Effect.map(
    client.callTool("greet"),
    ({ content }) => assert.deepStrictEqual(content, [{ type: "text", text: "hello" }])
  )

describe("A program that does not know `server/discover`", () => {
  for (const [what, does] of [["refuse", "refuses it"], ["exit", "exits"], ["crash", "crashes"]] as const) {
    it.scopedLive(`is spoken to with \`initialize\` when it ${does}`, () =>
      Effect.gen(function*() {
        const received: Array<string> = []
        yield* Effect.scoped(Effect.gen(function*() {
          const client = yield* Client.make(launching(what, received), { checkOutputs: false, timeouts: patience })
          assert.deepInclude(client, { era: "legacy", version: "2025-11-25" })
          yield* greets(client)
        }))
        // Closing has read all that the servers wrote.
        assert.deepStrictEqual(received, ["server/discover", "initialize", "tools/call"])
      }))
  }

  it.scopedLive("is spoken to with `initialize` when it is silent", () =>
    Effect.gen(function*() {
      const client = yield* Client.make(launching("wait"), {
        checkOutputs: false,
        timeouts: { "server/discover": "100 millis" }
      })
      assert.strictEqual(client.era, "legacy")
      yield* greets(client)
    }))

  it.scopedLive("gets no probe when it is launched again", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const connector = launching("exit", received)
      yield* Effect.scoped(Client.make(connector, { timeouts: patience }))
      yield* Effect.scoped(Client.make(connector, { timeouts: patience }))
      assert.deepStrictEqual(received, ["server/discover", "initialize", "initialize"])
    }))

  it.scopedLive("fails the client with its last words when it exits again", () =>
    Effect.gen(function*() {
      const connector = StdioClient.connector({
        command: node,
        args: ["-e", "console.error('no configuration'); process.exit(3)"],
        stderr: () => Effect.void
      })
      const error = yield* Effect.flip(Client.make(connector))
      assert.strictEqual(error._tag, "ConnectionClosed")
      assert.match(error.message, /exited with code 3; the last lines of its stderr:\nno configuration$/)
    }))
})

describe("A group of servers of both eras", () => {
  it.scopedLive("speaks to each in its era", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const old = yield* group.connect("old", launching("exit"), { enforceCapabilities: false, timeouts: patience })
      const Modern = McpServer.layer(
        { name: "new", version: "1" },
        McpServer.tool(Tool.make("b"), () => Effect.succeed("b"))
      )
      const modern = yield* group.connect("new", InProcess.fromLayer(Modern))
      assert.deepStrictEqual([old.era, modern.era], ["legacy", "modern"])
      assert.deepStrictEqual((yield* group.callTool("b")).content, [{ type: "text", text: "b" }])
    }))
})
