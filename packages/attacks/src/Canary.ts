/**
 * A well-behaved client on a session of its own: while a server is attacked, and afterwards, the server must answer each of its calls
 * correctly. The suites also send single requests with the functions of this module.
 */
import * as http from "node:http"

export interface Canary {
  /** Calls the tool `echo`. Fails when the answer is wrong, or when nothing comes for ten seconds. */
  readonly sing: () => Promise<void>
  readonly session: string
  readonly close: () => Promise<void>
}

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** Closes idle connections long before the server closes them: a request that is sent in that moment would be lost. */
export const keptAlive = (): http.Agent => new http.Agent({ keepAlive: true, timeout: 1000 })

/** Sends a request to `/mcp`. When the server has just closed the kept connection, the request is sent once more, on a new connection. */
export const post = (
  port: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
  agent: http.Agent | false = false,
  method = "POST"
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const send = (agent: http.Agent | false): void => {
      let isAnswered = false
      const request = http.request({
        port,
        agent,
        method,
        host: "127.0.0.1",
        path: "/mcp",
        timeout: 10_000,
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
      }, (response) => {
        let text = ""
        isAnswered = true
        response.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
        response.on("error", reject)
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }))
      })
      request.on("timeout", () => request.destroy(new Error("no answer in ten seconds")))
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (request.reusedSocket && !isAnswered && error.code === "ECONNRESET") send(false)
        else reject(error)
      })
      request.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body))
    }
    send(agent)
  })

export const initialize = (id: number | string = 0, protocolVersion = "2025-11-25") => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: { protocolVersion, capabilities: { elicitation: {} }, clientInfo: { name: "client", version: "1.0.0" } }
})

export const call = (id: number | string, name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args }
})

export const open = async (port: number): Promise<string> => {
  const { headers } = await post(port, initialize())
  return String(headers["mcp-session-id"])
}

/** How often the canary pings, in milliseconds. */
const ALIVE = 5000

export const make = async (port: number): Promise<Canary> => {
  const session = await open(port)
  const agent = keptAlive()
  let last = 0
  // One attack may last longer than the server keeps an idle session. When a ping fails, the next call of the canary shows why.
  const alive = setInterval(() => {
    const ping = { jsonrpc: "2.0", id: "alive", method: "ping" }
    post(port, ping, { "mcp-session-id": session }, agent).catch(() => {})
  }, ALIVE)
  return {
    session,
    sing: async () => {
      const text = `song ${++last}`
      const answer = await post(port, call(last, "echo", { text }), { "mcp-session-id": session }, agent)
      const { id, result } = JSON.parse(answer.text)
      if (id !== last || result.structuredContent.text !== text) {
        throw new Error(`the canary got ${answer.status} ${answer.text.slice(0, 200)}`)
      }
    },
    close: async () => {
      clearInterval(alive)
      await post(port, undefined, { "mcp-session-id": session }, agent, "DELETE")
      agent.destroy()
    }
  }
}
