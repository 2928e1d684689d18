/**
 * A server over HTTP, called over connections that stay open; each call is a POST in the same session. The processor time
 * is that of the server's process; the client is the same for all subjects.
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

export const start = (name: string) => async (): Promise<Subject> => {
  const child = fork(fileURLToPath(new URL("../served.js", import.meta.url)), [name])
  const nextMessage = <A>() =>
    new Promise<A>((resolve, reject) => {
      const onExit = () => reject(new Error(`The server "${name}" has ended`))
      child.once("exit", onExit)
      child.once("message", (message) => {
        child.off("exit", onExit)
        resolve(message as A)
      })
    })
  const { url } = await nextMessage<{ readonly url: string }>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const post = (message: object, sessionId?: string) =>
    new Promise<Response>((resolve, reject) => {
      const body = JSON.stringify(message)
      const sent = request(url, {
        agent,
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "content-length": Buffer.byteLength(body),
          ...(sessionId === undefined
            ? undefined
            : { "mcp-session-id": sessionId, "mcp-protocol-version": "2025-11-25" })
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
  const { sessionId } = await post({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } }
  })
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, sessionId)
  const call = async (a: number) => {
    const { body } = await post({
      jsonrpc: "2.0",
      id: a,
      method: "tools/call",
      params: { name: "add", arguments: { a, b: 1 } }
    }, sessionId)
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
