/**
 * What the walks share: `serve` and `serveLines` start a server of ours, over HTTP or standard streams, and return functions that send text
 * and receive text without code of ours. The walks say what is sent, and look at the answers.
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Layer, Scope } from "effect"
import { Agent, request } from "node:http"
import { createInterface } from "node:readline"
import { PassThrough } from "node:stream"

/** Makes both sides ready, and returns a function that makes one call. The function needs an id that was not used before. */
export type Walk = () => Promise<(id: number) => Promise<void>>

export const clientInfo = { name: "raw", version: "1.0.0" }
export const versions = { legacy: "2025-11-25", modern: "2026-07-28" }

export const text = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message })

export const initialize = (capabilities: object = {}): string =>
  text({ id: 0, method: "initialize", params: { protocolVersion: versions.legacy, capabilities, clientInfo } })

export const initialized = text({ method: "notifications/initialized" })

/** The envelope of a request at 2026-07-28. */
export const envelope = (clientCapabilities: object = {}): object => ({
  "io.modelcontextprotocol/protocolVersion": versions.modern,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": clientCapabilities
})

/** Fails when an answer does not have the text that it must have. */
export const check = (answer: string, expected: string): void => {
  if (!answer.includes(expected)) throw new Error(`the answer has no ${expected}: ${answer}`)
}

export const built = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.flatMap(Scope.make(), (scope) => Scope.extend(effect, scope)))

export interface Answer {
  readonly body: string
  readonly session: string
}

/** Starts the server over HTTP, and returns a function that sends a POST. */
export const serve = async (server: Layer.Layer<Dispatcher>) => {
  const layer = Layer.provide(HttpServer.layer({ port: 0 }), server)
  const { url } = await built(Effect.provide(HttpServer.HttpServer, await built(Layer.build(layer))))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (body: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
      const sent = request(url, { agent, method: "POST", headers: all }, (response) => {
        let body = ""
        response.setEncoding("utf8").on("data", (chunk: string) => body += chunk)
        response.on("end", () => resolve({ body, session: String(response.headers["mcp-session-id"]) }))
      })
      sent.on("error", reject).end(body)
    })
}

/** Starts the server over standard streams. `send` sends a line, and `ask` also waits for the next line of the server. */
export const serveLines = async (server: Layer.Layer<Dispatcher>) => {
  const input = new PassThrough()
  const output = new PassThrough()
  await built(Layer.build(Layer.provide(StdioServer.layerWith({ input, output }), server)))
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const send = (line: string): void => void input.write(`${line}\n`)
  const ask = async (line: string): Promise<string> => {
    send(line)
    return String((await lines.next()).value)
  }
  return { send, ask }
}
