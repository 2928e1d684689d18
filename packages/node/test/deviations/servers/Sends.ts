/**
 * Makes the rows of servers that send other messages than the one answer.
 */
import type { ServerRow } from "../Row.js"

/** The answer that the call waits for. */
export const good = { jsonrpc: "2.0", id: "$id", result: { content: [] } }
/** Its result. */
export const value = { content: [] }
export const pipes = { over: ["memory", "stdio"] } as const

export const sends = (
  id: string,
  deviation: string,
  messages: ReadonlyArray<unknown>,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({
  id,
  method: "tools/call",
  deviation,
  sends: messages,
  does,
  rule: "basic#responses",
  expected,
  ...more
})
