/**
 * A conversation as text: what was said, by whom, in order. To be read, and to be compared. It writes down what it is
 * given; `TestTransport` gives it everything that crosses a wire.
 *
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"

/**
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly from: "client" | "server"
  readonly message: Message.Message
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Transcript {
  readonly entries: ReadonlyArray<Entry>
  /** Keeps one more; the oldest leave when there are more than the limit. */
  readonly add: (entry: Entry) => void
}

/**
 * How many messages a transcript keeps.
 *
 * @since 0.1.0
 * @category limits
 */
export const LIMIT = 10_000

/**
 * @since 0.1.0
 * @category constructors
 */
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
 * `server · notifications/message {"level":"info","data":1}`, `server ✗ 2 -32601 "Method not found"`; what is no message is
 * shown after a `?`.
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (transcript: Transcript): string => transcript.entries.map(line).join("\n")

/**
 * @since 0.1.0
 * @category rendering
 */
export const line = ({ from, message }: Entry): string => {
  if (Message.isMalformed(Message.fromUnknown(message))) return words(from, "?", undefined, undefined, message)
  if (Message.isRequest(message)) return words(from, "→", JSON.stringify(message.id), message.method, message.params)
  if (Message.isNotification(message)) return words(from, "·", undefined, message.method, message.params)
  const id = message.id === undefined ? undefined : JSON.stringify(message.id)
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
