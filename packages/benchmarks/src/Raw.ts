/**
 * A client without a library: it makes the messages of requests itself, and reads what the server sends. It is the same for all servers
 * over stdio and in memory, so that it costs each of them the same.
 */
import { BURST, checkResult, inTurn, isRecord, reporting, type Subject } from "./Workload.js"

export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: number
  readonly method: string
  readonly params: Record<string, unknown>
}

export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
}

export interface Raw {
  /** Takes a message of the server. */
  readonly receive: (message: unknown) => void
  /** Makes the handshake. */
  readonly begin: () => Promise<void>
  /** Calls "add". */
  readonly run: Subject["run"]
  /** Calls "report". */
  readonly reports: Pick<Subject, "run" | "step">
  /** Lists one page of tools, and checks how many tools it has. */
  readonly lists: (tools: number) => Subject["run"]
}

export const make = (send: (message: Request | Notification) => void): Raw => {
  const waiting = new Map<unknown, (result: unknown) => void>()
  let onProgress = () => {}
  let lastId = 0
  const ask = (method: string, params: Record<string, unknown>): Promise<unknown> =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      send({ jsonrpc: "2.0", id, method, params })
    })
  return {
    receive: (message) => {
      if (!isRecord(message)) return
      const take = waiting.get(message.id)
      if (take === undefined) {
        if (message.method === "notifications/progress") onProgress()
      } else {
        waiting.delete(message.id)
        take(message.result)
      }
    },
    begin: async () => {
      const clientInfo = { name: "bench", version: "1.0.0" }
      await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
      send({ jsonrpc: "2.0", method: "notifications/initialized" })
    },
    run: (calls, inFlight) =>
      inTurn(
        calls,
        inFlight,
        async (a) => checkResult(await ask("tools/call", { name: "add", arguments: { a, b: 1 } }), a, 1)
      ),
    reports: reporting((received) => {
      onProgress = received
      return ask("tools/call", { name: "report", arguments: { a: BURST, b: 1 }, _meta: { progressToken: 1 } })
    }),
    lists: (tools) => (calls, inFlight) =>
      inTurn(calls, inFlight, async () => checkTools(await ask("tools/list", {}), tools))
  }
}

export const checkTools = (result: unknown, tools: number): void => {
  const listed = isRecord(result) && Array.isArray(result.tools) ? result.tools.length : 0
  if (listed !== tools) throw new Error(`${listed} of ${tools} tools are listed`)
}
