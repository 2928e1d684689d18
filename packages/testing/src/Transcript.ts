/**
 * The messages of a conversation in order, and as text that tests can print and compare.
 * `TestTransport` records them; nothing here sends or checks a message.
 *
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"

export interface Entry {
  readonly from: "client" | "server"
  readonly message: Message.Message
}

export interface Transcript {
  readonly entries: ReadonlyArray<Entry>
  /** Adds an entry, and drops the oldest one beyond the limit. */
  readonly add: (entry: Entry) => void
}

/** How many messages a transcript keeps: the newest 10,000. */
export const LIMIT = 10_000

export const make = (): Transcript => {
  const entries: Array<Entry> = []
  return {
    entries,
    add: (entry) => {
      if (entries.length === LIMIT) entries.shift()
      entries.push(entry)
    }
  }
}

/**
 * One line for each message: `client → 1 tools/call {"name":"echo"}`, `server ← 1 {"content":[]}`,
 * `server · notifications/message {"level":"info","data":1}`, `server ✗ 2 -32601 "Method not found"`. Malformed messages
 * follow a `?`.
 */
export const render = (transcript: Transcript): string => transcript.entries.map(line).join("\n")

/** The line of one entry. */
export const line = ({ from, message }: Entry): string => {
  if (Message.isMalformed(Message.fromUnknown(message))) return words(from, "?", undefined, undefined, message)
  if (Message.isRequest(message)) return words(from, "→", JSON.stringify(message.id), message.method, message.params)
  if (Message.isNotification(message)) return words(from, "·", undefined, message.method, message.params)
  const id = message.id === undefined ? undefined : JSON.stringify(message.id)
  // A client reads an error without a code as one; the transcript shows what was sent.
  if (!Message.isSuccess(message) && typeof message.error.code !== "number") {
    return words(from, "?", undefined, undefined, message)
  }
  return Message.isSuccess(message)
    ? words(from, "←", id, undefined, message.result)
    : words(from, "✗", id, `${message.error.code} ${JSON.stringify(message.error.message)}`, message.error.data)
}

const words = (...parts: readonly [string, string, string | undefined, string | undefined, unknown]): string => {
  const [from, arrow, id, what, value] = parts
  return [from, arrow, id, what, value === undefined ? undefined : Json.stringify(value) ?? "…"]
    .filter((part) => part !== undefined)
    .join(" ")
}
