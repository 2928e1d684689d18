/**
 * The stderr of a launched server: reads all of it, so that the server never blocks on it, delivers it as the application
 * wishes, and keeps the last lines for the error that may follow.
 *
 * It draws no conclusion from the text: the specification allows servers to log anything there.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import { all as concurrently } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import * as Mailbox from "effect/Mailbox"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Readable } from "node:stream"
import { writeQuietly } from "../stdio/StdoutRedirect.js"
import * as StderrText from "./StderrText.js"

/** Where the text goes; `StdioClient.Options` describes the modes. */
export type Mode = "forward" | "inherit" | "ignore" | ((line: string) => Effect.Effect<void>)

/** How many lines may wait for the function. */
export const MAX_LINES = 256

export interface Stderr {
  /** Starts to read. Called once, after the server was launched. */
  readonly attach: (readable: Readable) => void
  /** The last complete lines that the server wrote, without a newline at the end; empty if it wrote none, or they are ignored. */
  readonly tail: Effect.Effect<string>
  /** Waits until the server can write nothing more, and `tail` has all of it. */
  readonly ended: Effect.Effect<void>
}

interface Piece {
  readonly bytes: Uint8Array
  readonly source: Readable
}

type Deliver = (pieces: Stream.Stream<Piece>) => Effect.Effect<void>

/**
 * Make it before the server is launched: then it is released after the server has ended, and reads the last lines. Closing
 * the scope waits up to a second for them to be read and delivered, and destroys the stream.
 */
export const make = (mode: Mode): Effect.Effect<Stderr, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pieces = yield* Mailbox.make<Piece>()
    const tail = yield* Ref.make(StderrText.emptyTail)
    const ended = yield* Deferred.make<void>()
    let attached: Readable | undefined
    const deliver: Deliver = typeof mode === "function"
      ? toFunction(mode)
      : mode === "forward"
      ? toOurStderr
      : Stream.runDrain
    const read = Mailbox.toStream(pieces).pipe(
      // What the application ignores is in no error.
      mode === "ignore"
        ? identity
        : Stream.tap(({ bytes }) => Ref.update(tail, (kept) => StderrText.appendTail(kept, bytes))),
      Stream.concat(Stream.execute(Deferred.succeed(ended, undefined))),
      deliver
    )
    if (mode === "inherit") yield* pieces.end
    yield* Effect.acquireRelease(
      // Interruptible also where the server is launched uninterruptibly, so that closing can end it.
      Effect.forkDaemon(Effect.interruptible(read)),
      (reader) =>
        // What an ended server wrote is read before its exit is reported, except by a stream that is paused.
        Effect.suspend(() => attached?.isPaused() === true ? Effect.void : pieces.end).pipe(
          Effect.zipRight(Fiber.await(reader)),
          Effect.interruptible,
          Effect.timeoutOption("1 second"),
          Effect.disconnect,
          Effect.zipRight(Fiber.interruptFork(reader)),
          Effect.zipRight(Effect.sync(() => attached?.destroy()))
        )
    )
    return {
      attach: (source) => {
        attached = source
        source
          .on("data", (bytes: Uint8Array) => pieces.unsafeOffer({ bytes, source }))
          .on("close", () => pieces.unsafeDone(Exit.void))
      },
      tail: Effect.map(Ref.get(tail), StderrText.textOfTail),
      ended: Deferred.await(ended)
    }
  })

// As slowly as our own stderr takes it: the server waits for the reader, as it would if it inherited the stream.
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
    const waiting = yield* Mailbox.make<string>(MAX_LINES)
    const report = (lost: number) => `[${lost} lines were lost]`
    // Never waits for the function; the result is the number of lines that were lost and not yet reported.
    const offer = (lost: number, line: string): number => {
      if (lost > 0 && !waiting.unsafeOffer(report(lost))) return lost + 1
      return waiting.unsafeOffer(line) ? 0 : 1
    }
    const cut = StderrText.lines(Stream.map(pieces, ({ bytes }) => bytes)).pipe(
      Stream.runFold(0, offer),
      Effect.flatMap((lost) => lost > 0 ? waiting.offer(report(lost)) : Effect.void),
      Effect.zipRight(waiting.end)
    )
    const call = Stream.runForEach(Mailbox.toStream(waiting), (line) =>
      Effect.catchAllCause(
        Effect.suspend(() => receive(line)),
        (cause) => Effect.logError("A handler of stderr failed", cause)
      ))
    yield* concurrently([cut, call])
  })
