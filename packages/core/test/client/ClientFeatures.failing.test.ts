import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, Logger } from "effect"

const Ask = Tool.make("ask")
const asking = McpServer.tool(
  Ask,
  () =>
    Effect.flatMap(ServerSession, ({ listRoots }) =>
      Effect.as(listRoots, "answered").pipe(
        Effect.catchAll((error) => Effect.succeed(`${error._tag}: ${error.message}`))
      ))
)

/** What a server gets when the handler of a client's feature fails. */
const answer = (error: ClientFeatures.Fails) =>
  Effect.gen(function*() {
    const client = yield* Client.Client
    const [content] = (yield* client.callTool("ask")).content
    return (content as { readonly text: string }).text
  }).pipe(
    Effect.provide(TestServer.layer(Definition.make(Ask), asking, {
      versions: ["2025-11-25"],
      client: { features: ClientFeatures.roots(Effect.fail(error)) }
    })),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none))
  )

describe("A feature whose handler fails", () => {
  it.effect("with an McpError sends it to the server", () =>
    Effect.gen(function*() {
      const text = yield* answer(new McpError.InvalidRequest({ message: "no" }))
      assert.strictEqual(text, "InvalidRequest: no")
    }))

  it.effect("because a call of its own failed, sends an InternalError that says why", () =>
    Effect.gen(function*() {
      const text = yield* answer(new LocalError.RequestTimeout({ method: "roots/list", millis: 5 }))
      assert.strictEqual(text, "InternalError: Request \"roots/list\" timed out after 5 ms")
    }))

  it.effect("because a connection failed, sends no text of the transport", () =>
    Effect.gen(function*() {
      const text = yield* answer(new LocalError.TransportError({ reason: "Read", message: "secret" }))
      assert.strictEqual(
        text,
        "InternalError: The client could not get the answer: the connection that it needs failed"
      )
    }))
})
