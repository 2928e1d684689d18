/**
 * A client in a Worker: for each request it calls a tool of the server, in both eras, and checks the results against the
 * schemas that the server lists. Bundled, it needs no module of Node, and no code from text either.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as Effect from "effect/Effect"

const booking = (version: "2025-11-25" | "2026-07-28") =>
  Effect.gen(function*() {
    const client = yield* Client.make(Remote.connector("https://restaurant.example.com/mcp"), { versions: [version] })
    const { structuredContent } = yield* client.callTool("book", { at: "2026-07-28T19:00:00Z", name: "Ada" })
    return { version, booking: structuredContent }
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))

export default {
  fetch: (): Promise<Response> =>
    Effect.runPromise(
      Effect.map(Effect.all([booking("2025-11-25"), booking("2026-07-28")]), (bookings) => Response.json(bookings))
    )
}
