/**
 * The calls that scripts/walk.mjs follows. One side of each call is this library with its default options. The other side sends and
 * receives text and has no code of ours, so that everything that the script counts belongs to one side. Each call checks its answer.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Add, Server } from "./AddServer.js"
import * as Questions from "./walks/Questions.js"
import * as Refresh from "./walks/Refresh.js"
import {
  built,
  check,
  envelope,
  initialize,
  initialized,
  serve,
  serveLines,
  text,
  versions,
  type Walk
} from "./walks/Wire.js"

type Era = "legacy" | "modern"

const call = (id: number, _meta?: object): string =>
  text({ id, method: "tools/call", params: { name: "add", arguments: { a: id, b: 1 }, _meta } })

const sum = (id: number): string => `"sum":${id + 1}`

const modernPost: Walk = async () => {
  const post = await serve(Server)
  const headers = { "mcp-protocol-version": versions.modern, "mcp-method": "tools/call", "mcp-name": "add" }
  return async (id) => check((await post(call(id, envelope()), headers)).body, sum(id))
}

const legacyPost: Walk = async () => {
  const post = await serve(Server)
  const { session } = await post(initialize(), {})
  const headers = { "mcp-session-id": session, "mcp-protocol-version": versions.legacy }
  await post(initialized, headers)
  return async (id) => check((await post(call(id), headers)).body, sum(id))
}

const stdio: Walk = async () => {
  const { ask, send } = await serveLines(Server)
  await ask(initialize())
  send(initialized)
  return async (id) => check(await ask(call(id)), sum(id))
}

/** The results of a server of one era, by method. The server does not know other methods. */
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

/** Starts a server of one era over HTTP, and returns its URL. */
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
  return async (id) => check(JSON.stringify(await Effect.runPromise(typed.add({ a: id, b: 1 }))), sum(id))
}

export const walks: Readonly<Record<string, Walk>> = {
  "server, modern POST": modernPost,
  "server, legacy POST in a session": legacyPost,
  "server, stdio": stdio,
  "client, modern POST": client("modern"),
  "client, legacy POST in a session": client("legacy"),
  "server, a question up to 2025-11-25": Questions.legacy,
  "server, a question at 2026-07-28": Questions.modern,
  "server, a task": Questions.task,
  "client, a refused token": Refresh.walk
}
