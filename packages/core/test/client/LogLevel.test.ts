import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import { LoggingLevel } from "@effect-mcp/core/protocol/Logging"
import * as Version from "@effect-mcp/core/protocol/Version"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect } from "effect"

const Server = McpServer.layer(
  { name: "chatty", version: "1.0.0" },
  McpServer.tool(Tool.make("chat"), () => Effect.flatMap(ServerSession, (session) => session.log("error", "hot")))
)

describe("A level of log messages that is none", () => {
  const unknown = (level: unknown) => ({
    _tag: "InvalidParams" as const,
    message: `"${String(level)}" is not a level of log messages: use one of ${LoggingLevel.literals.join(", ")}`
  })
  for (const version of Version.all) {
    it.scoped(`is refused when it is given, and breaks no later call, at ${version}`, () =>
      Effect.gen(function*() {
        const logged: Array<unknown> = []
        const client = yield* Client.make(yield* InProcess.connector, {
          versions: [version],
          onNotification: ({ method, params }) => {
            if (method === "notifications/message") logged.push(params?.level)
          }
        })
        yield* client.setLoggingLevel("error")
        for (const level of ["loud", "", "ERROR", "toString", 3, null, undefined] as ReadonlyArray<any>) {
          assert.deepInclude(yield* Effect.flip(client.setLoggingLevel(level)), unknown(level))
        }
        assert.deepInclude(
          yield* Effect.flip(client.callTool("chat", {}, { logLevel: "loud" as never })),
          unknown("loud")
        )
        assert.deepInclude(
          yield* Effect.flip(client.request("tools/call", { name: "chat" }, { logLevel: "loud" as never })),
          unknown("loud")
        )
        assert.deepStrictEqual(logged, [])
        yield* client.callTool("chat", {})
        // The level that was set before holds.
        assert.deepStrictEqual(logged, ["error"])
        for (const level of LoggingLevel.literals) yield* client.setLoggingLevel(level)
        yield* client.callTool("chat", {})
        assert.deepStrictEqual(logged, ["error"])
      }).pipe(Effect.provide(Server)))
  }
})
