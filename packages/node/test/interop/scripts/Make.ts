/**
 * Makes the scripts of deviating servers.
 */
import { good, type HttpAnswer, type Script } from "../ScriptedServers.js"

export type More = Pick<Script, "forbidden" | "isError" | "over">

export const answer = (id: unknown, result: unknown) => ({ jsonrpc: "2.0", id, result })

/** A result of the method with members replaced; `undefined` leaves one out. */
export const member = (kind: string, method: string, name: string, members: object, more: More = {}): Script => ({
  kind,
  name,
  method,
  sends: [answer("$id", { ...good[method], ...members })],
  ...more
})

export const whole = (kind: string, method: string, name: string, result: unknown, more: More = {}): Script => ({
  kind,
  name,
  method,
  sends: [answer("$id", result)],
  ...more
})

export const sends = (
  kind: string,
  name: string,
  messages: ReadonlyArray<unknown>,
  more: More = {},
  method = "tools/call"
): Script => ({
  kind,
  name,
  method,
  sends: messages,
  ...more
})

export const over = (name: string, http: HttpAnswer, method = "tools/call", more: More = {}): Script => ({
  kind: "HTTP",
  name,
  method,
  http,
  over: "http",
  ...more
})

export const refuses = (name: string, http: HttpAnswer): Script => over(name, http, "tools/call", { isError: true })

export const failing = (name: string, error: unknown, method = "tools/call", more: More = {}): Script => ({
  kind: "errors",
  name,
  method,
  isError: true,
  sends: [{ jsonrpc: "2.0", id: "$id", error }],
  ...more
})

export const done = answer("$id", good["tools/call"])
export const text = JSON.stringify(done)
export const serverInfo = "io.modelcontextprotocol/serverInfo"
