/**
 * The calls that scripts/walk.mjs follows. One side of each is this library with its default options. The other side sends
 * and receives text and has no code of ours, so that what runs belongs to one side. Each call checks its answer.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Remote from "@effect-mcp/core/Remote"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Layer, Scope } from "effect"
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { PassThrough } from "node:stream"
import { Add, Server } from "./AddServer.js"

/** Makes one side ready; gives a function that makes one call with an id that was not used before. */
type Walk = () => Promise<(id: number) => Promise<void>>

type Era = "legacy" | "modern"

const clientInfo = { name: "raw", version: "1.0.0" }
const versions = { legacy: "2025-11-25", modern: "2026-07-28" }

const text = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message })

const call = (id: number, _meta?: object): string =>
  text({ id, method: "tools/call", params: { name: "add", arguments: { a: id, b: 1 }, _meta } })

const initialize = text({
  id: 0,
  method: "initialize",
  params: { protocolVersion: versions.legacy, capabilities: {}, clientInfo }
})

const initialized = text({ method: "notifications/initialized" })

const check = (answer: string, id: number): void => {
  if (!answer.includes(`"sum":${id + 1}`)) throw new Error(`the call ${id} was answered with ${answer}`)
}

const built = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.flatMap(Scope.make(), (scope) => Scope.extend(effect, scope)))

interface Answer {
  readonly body: string
  readonly session: string
}

/** Serves over HTTP; gives a function that sends a POST. */
const serve = async () => {
  const layer = Layer.provide(HttpServer.layer({ port: 0 }), Server)
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

const modernPost: Walk = async () => {
  const post = await serve()
  const headers = { "mcp-protocol-version": versions.modern, "mcp-method": "tools/call", "mcp-name": "add" }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": versions.modern,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {}
  }
  return async (id) => check((await post(call(id, _meta), headers)).body, id)
}

const legacyPost: Walk = async () => {
  const post = await serve()
  const { session } = await post(initialize, {})
  const headers = { "mcp-session-id": session, "mcp-protocol-version": versions.legacy }
  await post(initialized, headers)
  return async (id) => check((await post(call(id), headers)).body, id)
}

const stdio: Walk = async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  await built(Layer.build(Layer.provide(StdioServer.layerWith({ input, output }), Server)))
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const ask = async (line: string): Promise<string> => {
    input.write(`${line}\n`)
    return String((await lines.next()).value)
  }
  await ask(initialize)
  input.write(`${initialized}\n`)
  return async (id) => check(await ask(call(id)), id)
}

/** The results of a server of one era, by method; a method that is not here is unknown to it. */
const results = (era: Era): Readonly<Record<string, (params: any) => object>> => {
  const modern = era === "modern"
  const promise = { capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1.0.0" } }
  const complete = modern ? { resultType: "complete" } : {}
  const kept = modern ? { ...complete, ttlMs: 60_000, cacheScope: "public" } : {}
  return {
    [modern ? "server/discover" : "initialize"]: () => ({
      ...promise,
      ...(modern ? { supportedVersions: [versions.modern], ...kept } : { protocolVersion: versions.legacy })
    }),
    "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object" } }], ...kept }),
    "tools/call": ({ arguments: { a, b } }) => {
      const structuredContent = { sum: a + b }
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent, ...complete }
    }
  }
}

/** A server of one era, over HTTP; its URL. */
const listen = (era: Era): Promise<string> =>
  new Promise((resolve) => {
    const methods = results(era)
    const server = createServer((incoming, response) => {
      let body = ""
      incoming.setEncoding("utf8").on("data", (chunk: string) => body += chunk).on("end", () => {
        if (incoming.method !== "POST") return void response.writeHead(405).end()
        const { id, method, params } = JSON.parse(body)
        if (id === undefined) return void response.writeHead(202).end()
        const result = methods[method]?.(params)
        response.writeHead(result === undefined && era === "modern" ? 404 : 200, {
          "content-type": "application/json",
          ...(method === "initialize" ? { "mcp-session-id": "walk" } : {})
        })
        response.end(text(
          result === undefined ? { id, error: { code: -32601, message: "Method not found" } } : { id, result }
        ))
      })
    }).listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
  })

const client = (era: Era): Walk => async () => {
  const connector = Remote.connector(await listen(era))
  const session = await built(Effect.provide(Client.make(connector), FetchHttpClient.layer))
  if (session.era !== era) throw new Error(`the client found the ${session.era} era, not the ${era} one`)
  const typed = Client.of(session, Definition.make(Add))
  return async (id) => check(JSON.stringify(await Effect.runPromise(typed.add({ a: id, b: 1 }))), id)
}

export const walks: Readonly<Record<string, Walk>> = {
  "server, modern POST": modernPost,
  "server, legacy POST in a session": legacyPost,
  "server, stdio": stdio,
  "client, modern POST": client("modern"),
  "client, legacy POST in a session": client("legacy")
}
