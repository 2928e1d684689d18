/**
 * In a server of `node:http`: the endpoint is a function of request and response, and the application chooses the path.
 * A server that has nothing but the endpoint is `HttpServer`.
 */
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { listen } from "./running.js"
import { Server, User, userOf } from "./server.js"

const { dispose, handler } = NodeHandler.fromLayer(Server, { user: User })

export const start = () =>
  listen((request, response) => {
    if (request.url === "/mcp") handler(request, response, { context: userOf(request.headers["x-user"]) })
    else response.end("{\"ok\":true}")
  }, dispose)
