/**
 * A server as a function from `Request` to `Response`, for Deno, Bun, Workers, Hono or Next. Its handlers read what the
 * platform knows of each request: here, the country that the request comes from.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export class Origin extends Context.Reference<Origin>()("examples/web/Origin", {
  defaultValue: () => ({ country: "a country that the platform does not know" })
}) {}

const Hello = Tool.make("hello", { description: "Says hello.", parameters: { name: Schema.String } })

const HelloLive = McpServer.tool(
  Hello,
  ({ name }) => Effect.map(Origin, ({ country }) => `Hello, ${name} from ${country}!`)
)

export const { dispose, handler } = WebHandler.fromLayer(
  McpServer.layer({ name: "hello", version: "1.0.0" }, HelloLive),
  { allowedHosts: ["mcp.example.com"] }
)

/** What a Worker exports; Deno and Bun serve the same object. */
export default {
  fetch: (request: Request): Promise<Response> =>
    handler(request, Context.make(Origin, { country: request.headers.get("cf-ipcountry") ?? "nowhere" }))
}
