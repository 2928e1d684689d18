/**
 * In Hono, on Node or wherever it serves web requests: the endpoint is a function from `Request` to `Response`. A middleware
 * that has read a body must pass on a request that has one.
 */
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { getRequestListener } from "@hono/node-server"
import { Hono } from "hono"
import { listen } from "./running.js"
import { Server, User, userOf } from "./server.js"

const { dispose, handler } = WebHandler.fromLayer(Server, { user: User })

const app = new Hono()
app.get("/health", (c) => c.json({ ok: true }))
app.all("/mcp", (c) => handler(c.req.raw, userOf(c.req.header("x-user"))))

/** Where no server of Node is needed: a test, a Worker, Bun or Deno. */
export const fetch = (request: Request): Response | Promise<Response> => app.fetch(request)

export const start = () => listen(getRequestListener(app.fetch), dispose)
