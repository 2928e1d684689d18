/**
 * In Express 5. The endpoint reads its bodies itself, or takes what a parser has left in `request.body`, so that it may stand
 * before or behind `express.json()`. `app.use` takes the path off the URL, so that the endpoint needs none.
 */
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import express from "express"
import { listen } from "./running.js"
import { Server, User, userOf } from "./server.js"

const { dispose, handler } = NodeHandler.fromLayer(Server, { user: User })

const app = express()
app.use(express.json())
app.get("/health", (_, response) => void response.json({ ok: true }))
app.use("/mcp", (request, response) => handler(request, response, { context: userOf(request.get("x-user")) }))

export const start = () => listen(app, dispose)
