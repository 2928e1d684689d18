/**
 * Clients of the application: a user adds todos by a tool, in both eras, and finds them at the route of the application.
 * Another user does not, and a client without a token is refused.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpServer from "@effect/platform/HttpServer"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Live } from "./server.js"

const program = HttpServer.addressFormattedWith((origin) =>
  Effect.gen(function*() {
    const as = (name: string) => ({ authorization: `Bearer token of ${name}` })
    const add = (headers: Record<string, string>, todo: string, version: "2025-11-25" | "2026-07-28") =>
      Client.make(Remote.connector(`${origin}/mcp`, { headers }), { versions: [version] }).pipe(
        Effect.flatMap((client) => client.callTool("add", { todo })),
        Effect.scoped
      )
    yield* add(as("Ada"), "write a proof", "2025-11-25")
    yield* add(as("Ada"), "feed the cat", "2026-07-28")
    yield* add(as("Bob"), "sleep", "2026-07-28")
    for (const name of ["Ada", "Bob"]) {
      const request = HttpClientRequest.get(`${origin}/todos`).pipe(HttpClientRequest.setHeaders(as(name)))
      const response = yield* HttpClient.execute(request)
      yield* Console.log(`the route has of ${name}: ${yield* response.text}`)
    }
    const refused = yield* Effect.flip(add({}, "break in", "2026-07-28"))
    yield* Console.log(`without a token: ${refused.message}`)
  })
)

program.pipe(Effect.provide([Live, NodeHttpClient.layerUndici]), NodeRuntime.runMain)
