/**
 * A server for Cloudflare Workers, or any platform of web handlers: bundled, it needs no module of Node, and no code from
 * text.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Features } from "./features.js"

const { handler } = WebHandler.fromLayer(McpServer.layer({ name: "restaurant", version: "1.0.0" }, Features), {
  allowedHosts: ["localhost:*", "127.0.0.1:*", "restaurant.example.com"],
  // A Worker remembers nothing from one request to the next.
  legacy: { sessions: false }
})

export default { fetch: (request: Request): Promise<Response> => handler(request) }
