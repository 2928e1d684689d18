/**
 * A client for a browser, to see how many bytes it adds to a page. `startup.ts` and `scripts/packages.mjs` bundle it; it does
 * not run.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as Effect from "effect/Effect"

const sum = Effect.flatMap(Client.Client, (client) => client.callTool("add", { a: 2, b: 3 }))

void sum.pipe(
  Effect.provide(Client.layer(Remote.connector(new URL("https://mcp.example.com/mcp")))),
  Effect.provide(FetchHttpClient.layer),
  Effect.runPromise
)
