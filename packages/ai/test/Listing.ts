/**
 * A server that lists what a test wants, valid or not: `McpServer` refuses to offer a damaged tool. It answers each `tools/list` with the
 * same tools.
 */
import * as Client from "@effect-mcp/core/Client"
import * as Message from "@effect-mcp/core/Message"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect } from "effect"

/** A client of a server with these tools. */
export const client = (tools: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server()
    const answer = Effect.flatMap(
      server.expectRequest("tools/list"),
      ({ id }) => server.send(Message.success(id, { resultType: "complete", ttlMs: 0, cacheScope: "private", tools }))
    )
    yield* Effect.forkScoped(Effect.zipRight(server.discovered(), Effect.forever(answer)))
    return yield* Client.make(connector)
  })

/** A client of a server whose tools have these schemas of arguments, in order. */
export const ofSchemas = (schemas: ReadonlyArray<unknown>) =>
  client(schemas.map((inputSchema, index) => ({ name: `tool-${String(index).padStart(4, "0")}`, inputSchema })))
