/**
 * A transcript has the messages of a conversation in their order. This module makes transcripts and hides secrets in them. It prints a
 * transcript as text that tests can compare, and writes and reads a transcript as JSON for a file. `TestTransport` records transcripts, and
 * `Replay` plays transcripts.
 *
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/core/Message"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as JsonText from "@effect-mcp/core/unstable/jsonrpc/JsonText"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** @category models */
export interface Entry {
  readonly from: "client" | "server"
  readonly message: Message.Message
  /** The time since the opening of the connection, in milliseconds; `undefined` when times are not recorded. */
  readonly at?: number | undefined
}

/** @category models */
export interface Transcript {
  readonly entries: ReadonlyArray<Entry>
  /** Hides secrets in the message of an entry, and adds the entry. Drops the oldest entry when there are more than `LIMIT` entries. */
  readonly add: (entry: Entry) => void
  /** Returns the message without its secrets. */
  readonly redact: (message: Message.Message) => Message.Message
}

/** @category models */
export interface Options {
  /**
   * A function that replaces values that differ between conversations, and secrets that `Redaction` does not find. It gets the key and the
   * value of each member of each message, like the second argument of `JSON.stringify`. The result `undefined` removes the member. The
   * values are replaced before a message is added. `toJson` never writes the secrets that `Redaction` finds, even without this option.
   * Default: no value is replaced.
   */
  readonly redact?: ((key: string, value: unknown) => unknown) | undefined
}

/**
 * How many messages a transcript stores. The newest 10,000 messages are stored.
 *
 * @category constants
 */
export const LIMIT = 10_000

/**
 * Makes a transcript without messages.
 *
 * @example
 * ```ts
 * import * as Transcript from "@effect-mcp/testing/Transcript"
 *
 * export const transcript = Transcript.make({ redact: (key, value) => key === "token" ? "***" : value })
 * ```
 * @category constructors
 */
export const make = ({ redact: replace }: Options = {}): Transcript =>
  makeWith((message) => replace === undefined ? message : redacted("", message, replace) as Message.Message)

const makeWith = (redact: Transcript["redact"]): Transcript => {
  const entries: Array<Entry> = []
  return {
    entries,
    add: (entry) => {
      if (entries.length === LIMIT) entries.shift()
      entries.push({ ...entry, message: redact(entry.message) })
    },
    redact
  }
}

const redacted = (key: string, given: unknown, replace: (key: string, value: unknown) => unknown): unknown => {
  const value = replace(key, given)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((element, i) => redacted(String(i), element, replace) ?? null)
  return Object.fromEntries(
    Object.entries(value).map(([key, value]) => [key, redacted(key, value, replace)] as const)
      .filter(([, value]) => value !== undefined)
  )
}

/**
 * The error when a transcript contains a value that is not JSON, or when a text is not the JSON of a transcript.
 *
 * @category errors
 */
export class TranscriptError extends Data.TaggedError("TranscriptError")<{ readonly message: string }> {}

/** The version of the format that `toJson` writes. */
const VERSION = 1

/**
 * Returns the transcript as JSON for a file, with one line for each message. `fromJson` reads this JSON. Hides secrets that `Redaction`
 * finds. Fails when a message contains a value that is not JSON.
 *
 * @category utils
 */
export const toJson = (transcript: Transcript): Effect.Effect<string, TranscriptError> =>
  Effect.map(
    Effect.forEach(transcript.entries, (entry, i) => {
      const text = JsonText.stringify({ ...entry, message: shown(entry.message) })
      return text === undefined
        ? fail(`Message ${i + 1} of the transcript has no JSON: ${line(entry)}`)
        : Effect.succeed(text)
    }),
    (lines) => `{"version":${VERSION},"entries":[\n${lines.join(",\n")}\n]}\n`
  )

/** Returns the message without secrets. The redaction may fail for a value that is not JSON. `stringify` then reports this value. */
const shown = (message: Message.Message): Message.Message =>
  Either.getOrElse(Either.try(() => Redaction.value(message) as Message.Message), () => message)

/**
 * Reads the JSON that `toJson` writes. Fails when the text is not the JSON of a transcript. The error names the first message that is not a
 * JSON-RPC message.
 *
 * @category constructors
 */
export const fromJson = (text: string, options?: Options): Effect.Effect<Transcript, TranscriptError> =>
  Effect.gen(function*() {
    const json = JsonText.parse(text, JsonText.MAX_RESPONSE_DEPTH + WRAPPERS)
    if (json instanceof JsonText.Refused) return yield* fail(`The text is not a transcript: ${json.message}`)
    const { version } = yield* read(Versioned, json)
    if (version !== VERSION) {
      return yield* fail(`The transcript has the format ${version}, and this library reads ${VERSION}: record it again`)
    }
    const { entries } = yield* read(File, json)
    if (entries.length > LIMIT) {
      return yield* fail(`The transcript has ${entries.length} messages, and at most ${LIMIT} can be read`)
    }
    const { redact } = make(options)
    // The file has messages without secrets, so a replay also compares messages without secrets.
    const transcript = makeWith((message) => shown(redact(message)))
    yield* Effect.forEach(entries, ({ message: value, ...entry }, i) => {
      const message = Message.fromUnknown(value)
      if (Message.isMalformed(message)) {
        return fail(`The transcript is not valid: entries.${i}.message: ${message.message}`)
      }
      return Effect.sync(() => transcript.add({ ...entry, message }))
    }, { discard: true })
    return transcript
  })

/** How many levels of JSON enclose a message in a transcript. */
const WRAPPERS = 3

const Versioned = Schema.Struct({ version: Schema.Number })

const File = Schema.Struct({
  entries: Schema.Array(Schema.Struct({
    from: Schema.Literal("client", "server"),
    at: Schema.optional(Schema.Number),
    message: Schema.Unknown
  }))
})

const read = <A, I>(schema: Schema.Schema<A, I>, json: unknown): Effect.Effect<A, TranscriptError> =>
  Effect.catchAll(
    Schema.decodeUnknown(schema)(json),
    ({ issue }) => fail(`The text is not a transcript: ${Issue.sentence(issue)}`)
  )

const fail = (message: string): Effect.Effect<never, TranscriptError> => Effect.fail(new TranscriptError({ message }))

/**
 * Prints one line for each message: `client → 1 tools/call {"name":"echo"}`, `server ← 1 {"content":[]}`, `server · notifications/message
 * {"level":"info","data":1}`, `server ✗ 2 -32601 "Method not found"`. A malformed message is printed after a `?`.
 *
 * @category utils
 */
export const render = (transcript: Transcript): string => transcript.entries.map(line).join("\n")

/**
 * Returns the line of one entry.
 *
 * @category utils
 */
export const line = ({ from, message }: Entry): string => {
  if (Message.isMalformed(Message.fromUnknown(message))) return words(from, "?", undefined, undefined, message)
  if (Message.isRequest(message)) return words(from, "→", JSON.stringify(message.id), message.method, message.params)
  if (Message.isNotification(message)) return words(from, "·", undefined, message.method, message.params)
  const id = message.id === undefined ? undefined : JSON.stringify(message.id)
  // Clients accept an error without a code, but it is shown as malformed.
  if (!Message.isSuccess(message) && typeof message.error.code !== "number") {
    return words(from, "?", undefined, undefined, message)
  }
  return Message.isSuccess(message)
    ? words(from, "←", id, undefined, message.result)
    : words(from, "✗", id, `${message.error.code} ${JSON.stringify(message.error.message)}`, message.error.data)
}

const words = (...parts: readonly [string, string, string | undefined, string | undefined, unknown]): string => {
  const [from, arrow, id, what, value] = parts
  return [from, arrow, id, what, value === undefined ? undefined : JsonText.stringify(value) ?? "…"]
    .filter((part) => part !== undefined)
    .join(" ")
}
