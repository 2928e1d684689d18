/**
 * The stderr of a launched server, for `StdioClient`. There are four modes. `forward` writes the text to the stderr of this process. A
 * function gets each line, and lines are lost if the function is slow. `ignore` reads the text and drops it. With `inherit`, the server
 * writes directly to the stderr of this process, and this module reads nothing. With `forward` and with a function, the last lines are
 * stored for the message of a later error.
 *
 * The number of waiting lines and the stored text have a limit. This module does not interpret the text, because the specification allows
 * servers to log any text to stderr.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import { all as concurrently } from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import type { Readable } from "node:stream"
import { writeQuietly } from "../stdio/StdoutRedirect.js"

/** The mode; see `StdioClient.Options`. */
export type Mode = "forward" | "inherit" | "ignore" | ((line: string) => Effect.Effect<void>)

/** How many lines may wait for the function. */
export const MAX_LINES = 256

export interface Stderr {
  /** Starts to read. Call this function one time, after the server was launched. */
  readonly attach: (readable: Readable) => void
  /**
   * The last complete lines that the server has written, without a newline at the end. The text is empty if there are no lines, and in the
   * modes `ignore` and `inherit`.
   */
  readonly tail: Effect.Effect<string>
  /** Waits until the server cannot write any more and `tail` has all of the text. */
  readonly ended: Effect.Effect<void>
}

interface Piece {
  readonly bytes: Uint8Array
  readonly source: Readable
}

type Deliver = (pieces: Stream.Stream<Piece>) => Effect.Effect<void>

/**
 * Makes the reader of stderr. Call this function before the server is launched, so that the reader is released after the server has ended
 * and can read the last lines. When the scope closes, the reader waits up to 1 second until the last lines are read and delivered, and then
 * destroys the stream.
 */
export const make = (mode: Mode): Effect.Effect<Stderr, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pieces = Outbox.make<Piece>(Infinity)
    const tail = yield* Ref.make(emptyTail)
    const ended = yield* Deferred.make<void>()
    let attached: Readable | undefined
    const deliver: Deliver = typeof mode === "function"
      ? toFunction(mode)
      : mode === "forward"
      ? toOurStderr
      : Stream.runDrain
    const read = pieces.stream.pipe(
      // Text that the application ignores is not quoted in errors.
      mode === "ignore"
        ? identity
        : Stream.tap(({ bytes }) => Ref.update(tail, (kept) => appendTail(kept, bytes))),
      Stream.concat(Stream.execute(Deferred.succeed(ended, undefined))),
      deliver
    )
    if (mode === "inherit") pieces.end(Exit.void)
    yield* Effect.acquireRelease(
      // This is interruptible even when the server is launched uninterruptibly, so that closing can end it.
      Effect.forkDaemon(Effect.interruptible(read)),
      (reader) =>
        // The text of an ended server is read before its exit is reported, unless the stream is paused.
        Effect.sync(() => {
          if (attached?.isPaused() !== true) pieces.end(Exit.void)
        }).pipe(
          Effect.zipRight(Fiber.await(reader)),
          TimeLimit.end("1 second"),
          Effect.zipRight(Fiber.interruptFork(reader)),
          Effect.zipRight(Effect.sync(() => attached?.destroy()))
        )
    )
    return {
      attach: (source) => {
        attached = source
        source
          .on("data", (bytes: Uint8Array) => pieces.unsafeOffer({ bytes, source }))
          .on("close", () => pieces.end(Exit.void))
      },
      tail: Effect.map(Ref.get(tail), textOfTail),
      ended: Deferred.await(ended)
    }
  })

// Writes only as fast as the stderr of this process accepts the text. The server has to wait, as with an inherited stderr.
const toOurStderr: Deliver = Stream.runForEach(({ bytes, source }) =>
  Effect.async<void>((resume) => {
    const hasRoom = writeQuietly(process.stderr, bytes, () => {
      if (hasRoom) return
      source.resume()
      resume(Effect.void)
    })
    if (hasRoom) return resume(Effect.void)
    source.pause()
  })
)

const toFunction = (receive: (line: string) => Effect.Effect<void>): Deliver => (pieces) =>
  Effect.gen(function*() {
    const waiting = Outbox.make<string>(MAX_LINES)
    const report = (lost: number) => `[${lost} lines were lost]`
    // This never waits for the function. The result is the number of lost lines that were not reported yet.
    const offer = (lost: number, line: string): number => {
      if (waiting.isFull) return lost + 1
      if (lost > 0) waiting.unsafeOffer(report(lost))
      if (waiting.isFull) return 1
      waiting.unsafeOffer(line)
      return 0
    }
    const cut = linesOf(Stream.map(pieces, ({ bytes }) => bytes)).pipe(
      Stream.runFold(0, offer),
      Effect.flatMap((lost) => lost > 0 ? waiting.offer(report(lost)) : Effect.void),
      Effect.zipRight(Effect.sync(() => waiting.end(Exit.void)))
    )
    const call = Stream.runForEach(waiting.stream, (line) =>
      Effect.catchAllCause(
        Effect.suspend(() => receive(line)),
        (cause) => Effect.logError("A handler of stderr failed", cause)
      ))
    yield* concurrently([cut, call])
  })

/** How many bytes a tail stores. */
export const TAIL_BYTES = 2048

/** How many characters a line may have. A longer line is delivered in several parts. */
export const MAX_LINE = 64 * 1024

/** The last bytes of a stream. */
export interface Tail {
  readonly bytes: Uint8Array
  /** Whether earlier bytes were dropped, so that the first line may be incomplete. */
  readonly isCut: boolean
}

export const emptyTail: Tail = { bytes: new Uint8Array(0), isCut: false }

export const appendTail = ({ bytes, isCut }: Tail, chunk: Uint8Array): Tail => ({
  bytes: Buffer.concat([bytes, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES),
  isCut: isCut || bytes.length + chunk.length > TAIL_BYTES
})

/** Returns the text from the first complete line on, without white space at the end. */
export const textOfTail = ({ bytes, isCut }: Tail): string => {
  const text = new TextDecoder().decode(bytes)
  return text.slice(isCut ? text.indexOf("\n") + 1 : 0).trimEnd()
}

/** Splits a stream of bytes into lines, without their newlines. The last line may end without a newline. */
export const linesOf = (bytes: Stream.Stream<Uint8Array>): Stream.Stream<string> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder()
    return bytes.pipe(
      Stream.map((chunk) => decoder.decode(chunk, { stream: true })),
      Stream.concat(Stream.suspend(() => Stream.make(decoder.decode(), undefined))),
      Stream.mapAccum("", cutLines),
      Stream.mapConcat((lines) => lines)
    )
  })

/** Returns the last line, which has no end yet, and the lines that have ended. `undefined` as the text means the end of the input. */
const cutLines = (rest: string, text: string | undefined): readonly [rest: string, lines: Array<string>] => {
  if (text === undefined) return ["", rest === "" ? [] : [rest]]
  const parts = text.split("\n")
  parts[0] = rest + parts[0]!
  const last = parts.pop()!
  const lines = parts.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line)
  return last.length < MAX_LINE ? [last, lines] : ["", [...lines, last]]
}
