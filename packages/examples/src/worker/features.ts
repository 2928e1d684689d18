/**
 * The handlers of the restaurant. They know nothing of the platform that runs them: the Worker and the example of a browser
 * share them.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Effect from "effect/Effect"
import { Restaurant } from "./contract.js"

export const Features = McpServer.implement(Restaurant, {
  count: ({ to }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      for (let n = 1; n <= to; n++) yield* session.progress(n, { total: to })
      return { counted: to }
    }),
  book: ({ name }) => Effect.succeed({ id: `${name}'s table` }),
  double: ({ n }) => Effect.succeed(`${n * 2}`),
  cancel: () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const { sure } = yield* session.ask({ sure: Ask.confirm("Cancel the table?") })
      return { cancelled: sure }
    }),
  resources: { menu: Effect.succeed("Soup") },
  prompts: { greet: ({ name }) => Effect.succeed(`Greet ${name}.`) }
})
