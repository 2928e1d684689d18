/**
 * Decodes bytes to messages and encodes messages to lines, for pipes and sockets with one message per line. It does not matter how the
 * bytes are split into chunks. A line that is not a message does not affect later lines.
 *
 * `MessageText` reads and writes the text of each message.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as StreamArrays from "../kit/StreamArrays.js"
import * as JsonRpcError from "./JsonRpcError.js"
import * as Message from "./Message.js"
import * as MessageText from "./MessageText.js"
import { ByteBuffer } from "./runtime/ByteBuffer.js"
import * as Oversized from "./runtime/Oversized.js"

/**
 * How many bytes a line may have by default (`Options.maxLineBytes`): 10 MiB.
 *
 * @category constants
 */
export const MAX_LINE_BYTES = 10 * 1024 * 1024

/** @category models */
export interface Options extends MessageText.Limits {
  /**
   * How many bytes a line may have. The decoder discards a longer line. If that line is a response, the call that waits for the response
   * fails. Otherwise the peer gets an error with code -32700. Default: 10 MiB.
   */
  readonly maxLineBytes?: number | undefined
  /**
   * What the decoder does with bytes that are not valid UTF-8. `replace` replaces these bytes with U+FFFD, `ignore` removes these bytes,
   * and `strict` refuses the line. Default: `replace`.
   */
  readonly invalidBytes?: "replace" | "ignore" | "strict" | undefined
}

const NEWLINE = 0x0a
const NOTHING: Uint8Array = new Uint8Array(0)

/**
 * Decodes chunks of bytes to messages. This is a class with mutable fields because it runs for every chunk. `held` has a copy of the bytes
 * of a line that has not ended, and never has more than `maxLineBytes`. `skipped` is set from the byte that exceeds the limit of a line to
 * the end of the line.
 *
 * @category models
 */
export class Decoder {
  private readonly text: TextDecoder
  private readonly ignoresInvalid: boolean
  private readonly maxLineBytes: number
  private readonly limits: MessageText.Limits
  private readonly held: ByteBuffer
  private skipped: Oversized.Skipped | undefined

  constructor(options: Options = {}) {
    this.ignoresInvalid = options.invalidBytes === "ignore"
    this.text = new TextDecoder("utf-8", { fatal: this.ignoresInvalid || options.invalidBytes === "strict" })
    this.maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES
    this.held = new ByteBuffer(this.maxLineBytes)
    this.limits = options
  }

  /** Returns the messages that end in this chunk. */
  push(chunk: Uint8Array): Array<Message.Incoming> {
    const messages: Array<Message.Incoming> = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.line(chunk.subarray(start, end), messages)
      start = end + 1
    }
    if (start < chunk.length) {
      const piece = chunk.subarray(start)
      // The first piece is copied, because a view would keep the memory of its whole chunk.
      if (this.fits(piece, messages)) this.held.add(this.held.size === 0 ? piece.slice() : piece)
    }
    return messages
  }

  /** Returns the message in the last line, if the input has ended without a newline. */
  end(): Array<Message.Incoming> {
    const messages: Array<Message.Incoming> = []
    this.line(NOTHING, messages)
    return messages
  }

  /** Whether the line may grow by this piece. Reports each line that is too long one time. */
  private fits(piece: Uint8Array, messages: Array<Message.Incoming>): boolean {
    if (this.skipped !== undefined) {
      this.skipped.add(piece)
      return false
    }
    if (this.held.size + piece.length <= this.maxLineBytes) return true
    const held = this.held.all
    const kept = Math.min(Oversized.KEPT_BYTES, this.maxLineBytes)
    const start = lenient.decode(Oversized.beginning(held, piece, kept))
    const needsEnd = Oversized.needsEnd(start)
    this.skipped = new Oversized.Skipped(start, held, piece, needsEnd)
    if (!needsEnd) messages.push(this.tooLong(this.skipped))
    this.held.clear()
    return false
  }

  private tooLong(ends: Oversized.Ends): Message.Malformed {
    return Oversized.ofLine(ends, this.maxLineBytes)
  }

  private line(last: Uint8Array, messages: Array<Message.Incoming>): void {
    if (this.fits(last, messages)) {
      const isWhole = this.held.size === 0
      if (!isWhole) this.held.add(last)
      const text = this.decode(isWhole ? last : this.held.all)
      if (typeof text !== "string") messages.push(text)
      else if (text !== "" && text.trim() !== "") messages.push(MessageText.parse(text, this.limits))
      if (!isWhole) this.held.clear()
    }
    if (this.skipped?.end !== undefined) messages.push(this.tooLong(this.skipped))
    this.skipped = undefined
  }

  private decode(line: Uint8Array): string | Message.Malformed {
    try {
      return this.text.decode(line)
    } catch {
      return this.ignoresInvalid
        ? new TextDecoder().decode(line).replaceAll("\ufffd", "")
        : unreadable("the input is not in the encoding of the connection")
    }
  }
}

const lenient = new TextDecoder()

const unreadable = (why: string): Message.Malformed =>
  new Message.Malformed("request", JsonRpcError.PARSE_ERROR, `Parse error: ${why}`)

/**
 * Returns the line of a message: the text of `MessageText.stringify` and a newline. Returns `undefined` when the message has no JSON form.
 *
 * @category utils
 */
export const encode = (message: Message.Message): string | undefined => {
  const text = MessageText.stringify(message)
  return text === undefined ? undefined : text + "\n"
}

/**
 * Decodes a stream of bytes to a stream of messages. The last line may end without a newline.
 *
 * @category utils
 */
export const decode = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  options?: Options
): Stream.Stream<Message.Incoming, E, R> =>
  Stream.unwrap(Effect.sync(() => {
    const decoder = new Decoder(options)
    return Stream.concat(
      StreamArrays.mapConcat(bytes, (piece) => decoder.push(piece)),
      Stream.suspend(() => Stream.fromIterable(decoder.end()))
    )
  }))
