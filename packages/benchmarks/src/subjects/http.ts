/**
 * A server over HTTP, called over connections that stay open; each call is a POST. The processor time is that of the
 * server's process; the client is the same for all subjects, and sends the same bytes to all subjects of one era.
 */
import { fork } from "node:child_process"
import { Agent, request } from "node:http"
import { fileURLToPath } from "node:url"
import type { Subject } from "../Workload.js"
import { check } from "../Workload.js"

interface Response {
  readonly sessionId: string | undefined
  readonly body: string
}

type Headers = Readonly<Record<string, string>>
type Post = (message: object, headers: Headers) => Promise<Response>

/** What the calls of one era have in addition: their headers and the `_meta` of their parameters. */
interface Additions {
  readonly headers: Headers
  readonly _meta?: object
}

const clientInfo = { name: "bench", version: "1.0.0" }

/** Makes the handshake; the calls belong to its session. */
const legacy = async (post: Post): Promise<Additions> => {
  const protocolVersion = "2025-11-25"
  const { sessionId = "" } = await post({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo }
  }, {})
  const headers = { "mcp-session-id": sessionId, "mcp-protocol-version": protocolVersion }
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers)
  return { headers }
}

/** Each call has all that the server needs to know. */
const modern = (): Promise<Additions> => {
  const version = "2026-07-28"
  return Promise.resolve({
    headers: { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "add" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  })
}

export const eras = { legacy, modern }

export const start = (server: string, begin: (post: Post) => Promise<Additions>) => async (): Promise<Subject> => {
  const child = fork(fileURLToPath(new URL("../served.js", import.meta.url)), [server])
  const nextMessage = <A>() =>
    new Promise<A>((resolve, reject) => {
      const onExit = () => reject(new Error(`The server "${server}" has ended`))
      child.once("exit", onExit)
      child.once("message", (message) => {
        child.off("exit", onExit)
        resolve(message as A)
      })
    })
  const { url } = await nextMessage<{ readonly url: string }>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const post: Post = (message, headers) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message)
      const sent = request(url, {
        agent,
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "content-length": Buffer.byteLength(body),
          ...headers
        }
      }, (response) => {
        let body = ""
        response.setEncoding("utf8")
        response.on("data", (text: string) => body += text)
        response.on("end", () => resolve({ sessionId: response.headers["mcp-session-id"] as string | undefined, body }))
      })
      sent.on("error", reject)
      sent.end(body)
    })
  const { headers, ...additions } = await begin(post)
  const call = async (a: number) => {
    const { body } = await post({
      jsonrpc: "2.0",
      id: a,
      method: "tools/call",
      params: { name: "add", arguments: { a, b: 1 }, ...additions }
    }, headers)
    const { result } = JSON.parse(body) as {
      readonly result: { readonly structuredContent: { readonly sum: unknown } }
    }
    check(result.structuredContent.sum, a, 1)
  }
  return {
    run: async (calls, inFlight) => {
      let next = 1
      await Promise.all(Array.from({ length: inFlight }, async () => {
        while (next <= calls) await call(next++)
      }))
    },
    used: async () => {
      const answer = nextMessage<{ readonly microseconds: number }>()
      child.send("used")
      return (await answer).microseconds
    },
    close: async () => {
      agent.destroy()
      child.disconnect()
    }
  }
}
