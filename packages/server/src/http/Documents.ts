/**
 * The documents of a server at paths of their own, such as the metadata of its authorization: JSON that every page may read, and
 * that no client has to be authenticated for.
 */
import type { Server } from "../runtime/Server.js"
import type { Guard } from "./Guard.js"
import type { HttpExchange } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

const METHODS = "GET, OPTIONS"

/** Finds what serves the document of a path; `undefined` without any documents. Those of the endpoint come first. */
export const make = (
  guard: Guard,
  documents: Server["documents"] = {},
  own: ReadonlyMap<string, string> = new Map()
): ((path: string) => ((exchange: HttpExchange) => void) | undefined) | undefined => {
  const texts = new Map(Object.entries(documents).map(([path, document]) => [path, JSON.stringify(document)]))
  for (const [path, text] of own) texts.set(path, text)
  if (texts.size === 0) return undefined
  return (path) => {
    const text = texts.get(path)
    return text === undefined ? undefined : (exchange) => {
      const { headers, method } = exchange
      if (method === "OPTIONS") return exchange.reply(204, guard.preflight(headers, METHODS), "")
      if (method !== "GET") return Refusal.send(exchange, Refusal.methodNotAllowed(method, METHODS))
      exchange.reply(200, { "content-type": "application/json" }, text)
    }
  }
}
