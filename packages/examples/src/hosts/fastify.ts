/**
 * In Fastify 5, which parses the bodies. `preClose` ends the endpoint before Fastify waits for its answers, and
 * `forceCloseConnections` then closes connections that have not sent a request.
 */
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import Fastify from "fastify"
import type { Running } from "./running.js"
import { Server, User, userOf } from "./server.js"

const { dispose, handler } = NodeHandler.fromLayer(Server, { user: User })

const app = Fastify({ forceCloseConnections: true })
app.addHook("preClose", dispose)
app.get("/health", () => ({ ok: true }))
app.all("/mcp", ({ body, headers, raw }, reply) => {
  reply.hijack()
  handler(raw, reply.raw, { body, context: userOf(headers["x-user"]) })
})

export const start = (): Promise<Running> =>
  app.listen({ host: "127.0.0.1", port: 0 }).then((origin) => ({ origin, close: () => app.close() }))
