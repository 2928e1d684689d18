/**
 * One message per line: bytes to messages and back, for pipes and sockets. Any way of cutting the same bytes into chunks
 * gives the same messages; a line that is no message costs itself and nothing after it.
 *
 * It knows neither where the bytes come from nor what the messages mean.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as JsonRpcError from "./JsonRpcError.js"
import * as Message from "./Message.js"
import * as Json from "./runtime/Json.js"
import * as Outcome from "./runtime/Outcome.js"

/**
 * How many bytes a line may have.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_LINE_BYTES = 10 * 1024 * 1024

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Longer lines are answered with -32700 and never kept. Default: 10 MiB. */
  readonly maxLineBytes?: number | undefined
  /** How deep a message may nest. Default: 64. */
  readonly maxDepth?: number | undefined
  /** What to do about bytes that are not UTF-8: put U+FFFD in their place, or refuse the line. Default: replace. */
  readonly invalidUtf8?: "replace" | "refuse" | undefined
}

const NEWLINE = 0x0a
const NOTHING = new Uint8Array(0)
/** A buffer that grew beyond this is let go with its line. */
const KEPT_BYTES = 64 * 1024

/**
 * Cuts bytes into messages. Holds a copy of the beginning of one line between two chunks, never more than the limit and
 * never the chunks themselves.
 *
 * @since 0.1.0
 * @category models
 */
export class Decoder {
  private readonly text: TextDecoder
  private readonly maxLineBytes: number
  private readonly maxDepth: number | undefined
  private buffer = NOTHING
  private held = 0
  private skipping = false

  constructor(options: Options = {}) {
    this.text = new TextDecoder("utf-8", { fatal: options.invalidUtf8 === "refuse" })
    this.maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES
    this.maxDepth = options.maxDepth
  }

  /** The messages that end in this chunk. */
  push(chunk: Uint8Array): Array<Message.Incoming> {
    const messages: Array<Message.Incoming> = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.line(chunk.subarray(start, end), messages)
      start = end + 1
    }
    if (start < chunk.length) {
      const piece = chunk.subarray(start)
      if (this.fits(piece, messages)) this.keep(piece)
    }
    return messages
  }

  /** The message that the input ended with, if its last line had no end. */
  end(): Array<Message.Incoming> {
    const messages: Array<Message.Incoming> = []
    this.line(NOTHING, messages)
    return messages
  }

  /** Whether the line may have this much more; the first time that it may not is the one that is answered. */
  private fits(piece: Uint8Array, messages: Array<Message.Incoming>): boolean {
    if (this.skipping) return false
    if (this.held + piece.length <= this.maxLineBytes) return true
    this.skipping = true
    this.forget()
    messages.push(unreadable(`a line is longer than ${this.maxLineBytes} bytes`))
    return false
  }

  private keep(piece: Uint8Array): void {
    const held = this.held + piece.length
    if (held > this.buffer.length) {
      // Twice the size each time: whatever the chunks, a line is copied a constant number of times.
      const larger = new Uint8Array(Math.min(Math.max(held, 2 * this.buffer.length), this.maxLineBytes))
      larger.set(this.buffer.subarray(0, this.held))
      this.buffer = larger
    }
    this.buffer.set(piece, this.held)
    this.held = held
  }

  private line(last: Uint8Array, messages: Array<Message.Incoming>): void {
    if (this.fits(last, messages)) {
      if (this.held > 0) this.keep(last)
      const text = this.decode(this.held > 0 ? this.buffer.subarray(0, this.held) : last)
      if (typeof text !== "string") messages.push(text)
      else if (text !== "" && text.trim() !== "") messages.push(fromText(text, this.maxDepth))
    }
    this.skipping = false
    this.forget()
  }

  private forget(): void {
    this.held = 0
    if (this.buffer.length > KEPT_BYTES) this.buffer = NOTHING
  }

  private decode(line: Uint8Array): string | Message.Malformed {
    try {
      return this.text.decode(line)
    } catch {
      return unreadable("the input is not UTF-8")
    }
  }
}

const unreadable = (why: string): Message.Malformed =>
  new Message.Malformed("request", JsonRpcError.PARSE_ERROR, `Parse error: ${why}`)

/**
 * One message out of one JSON document; whatever is wrong with it is a `Malformed`.
 *
 * @since 0.1.0
 * @category decoding
 */
export const fromText = (text: string, maxDepth?: number): Message.Incoming => {
  const value = Json.parse(text, maxDepth)
  if (!(value instanceof Json.Refused)) return Message.fromUnknown(value)
  const code = value.reason === "syntax" ? JsonRpcError.PARSE_ERROR : JsonRpcError.INVALID_REQUEST
  const about = value.value === undefined ? undefined : Message.fromUnknown(value.value)
  if (about === undefined) return new Message.Malformed("request", code, value.message)
  if (Message.isMalformed(about)) return new Message.Malformed(about.kind, code, value.message, about.id)
  if (Message.isNotification(about)) return new Message.Malformed("notification", code, value.message)
  const kind = Message.isResponse(about) ? "response" : "request"
  return new Message.Malformed(kind, code, value.message, about.id ?? undefined)
}

/**
 * The line that says the message, with its end. An answer that has no JSON form becomes "Internal error" under its id;
 * `undefined` for a request or a notification that has none.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encode = (message: Message.Message): string | undefined => {
  const json = Json.stringify(message)
  if (json !== undefined) return json + "\n"
  if (!Message.isResponse(message) || message.id === undefined || message.id === null) return undefined
  return Json.stringify(Outcome.toMessage(message.id, { error: JsonRpcError.internal })) + "\n"
}

/**
 * The messages of a stream of bytes. The last line may lack its end.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  options?: Options
): Stream.Stream<Message.Incoming, E, R> =>
  Stream.unwrap(Effect.sync(() => {
    const decoder = new Decoder(options)
    return Stream.concat(
      Stream.mapChunks(bytes, (chunk) => {
        if (chunk.length === 1) return Chunk.unsafeFromArray(decoder.push(Chunk.unsafeHead(chunk)))
        return Chunk.unsafeFromArray(Chunk.toReadonlyArray(chunk).flatMap((piece) => decoder.push(piece)))
      }),
      Stream.suspend(() => Stream.fromIterable(decoder.end()))
    )
  }))
