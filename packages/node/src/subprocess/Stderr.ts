/**
 * What a launched server says on its stderr: always read, so that the server never blocks on it, shown as the
 * application wishes, and its last lines kept for the error that may follow.
 *
 * It draws no conclusion from what is said: stderr is for logs, not only for errors.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import type { Readable } from "node:stream"
import { writeQuietly } from "../stdio/StdoutRedirect.js"
import * as Wait from "./Wait.js"

/**
 * Where it goes.
 *
 * - `forward`: to our own stderr, byte by byte, and its end is kept for errors.
 * - `inherit`: the server gets our own stderr itself. Errors cannot quote it.
 * - `ignore`: nowhere; its end is kept for errors.
 * - a function: each line, one after another. A server that outruns it loses lines, which it is told.
 *
 * @since 0.1.0
 * @category models
 */
export type Stderr = "forward" | "inherit" | "ignore" | ((line: string) => Effect.Effect<void>)

/**
 * How many bytes are kept for errors.
 *
 * @since 0.1.0
 * @category limits
 */
export const TAIL_BYTES = 2048

/**
 * How long a line may be before it is handed over in parts, in characters.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_LINE = 64 * 1024

/**
 * How many lines may wait for the function.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_LINES = 256

/**
 * @since 0.1.0
 * @category models
 */
export interface Log {
  /** Reads from now on. */
  readonly attach: (readable: Readable) => void
  /** The last whole lines, without the end of the last one; empty if nothing was said. */
  readonly tail: () => string
  /** Waits until nothing more will be said. */
  readonly ended: Effect.Effect<void>
}

/**
 * The last bytes of many, as text that starts with a line.
 *
 * @since 0.1.0
 * @category models
 */
export class Tail {
  private kept: Uint8Array = new Uint8Array(0)
  private cut = false

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.kept, chunk.subarray(-TAIL_BYTES)])
    this.cut = this.cut || all.length > TAIL_BYTES || chunk.length > TAIL_BYTES
    this.kept = all.subarray(-TAIL_BYTES)
  }

  get text(): string {
    const text = new TextDecoder().decode(this.kept)
    const line = this.cut ? text.indexOf("\n") + 1 : 0
    return text.slice(line).trimEnd()
  }
}

/**
 * Text cut into lines.
 *
 * @since 0.1.0
 * @category models
 */
export class Lines {
  private readonly decoder = new TextDecoder()
  private rest = ""

  constructor(private readonly receive: (line: string) => void) {}

  push(chunk: Uint8Array): void {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split("\n")
    this.rest = lines.pop()!
    for (const line of lines) this.receive(line.endsWith("\r") ? line.slice(0, -1) : line)
    if (this.rest.length < MAX_LINE) return
    this.receive(this.rest)
    this.rest = ""
  }

  end(): void {
    const last = this.rest + this.decoder.decode()
    this.rest = ""
    if (last !== "") this.receive(last)
  }
}

interface Sink {
  readonly push: (chunk: Uint8Array, readable: Readable) => void
  readonly end: () => void
}

const nowhere: Sink = { push: () => {}, end: () => {} }

// As slow as our own stderr: then the server waits for its reader, as it would had it inherited the stream.
const forward: Sink = {
  push: (chunk, readable) => {
    const writable = writeQuietly(process.stderr, chunk, () => {
      if (!writable) readable.resume()
    })
    if (!writable) readable.pause()
  },
  end: () => {}
}

const linesTo = (receive: (line: string) => Effect.Effect<void>): Effect.Effect<Sink, never, Scope.Scope> =>
  Effect.gen(function*() {
    const outbox = Outbox.make<string>(MAX_LINES)
    let lost = 0
    const reportLost = () => {
      if (lost > 0) outbox.unsafeOffer(`[${lost} lines were lost]`)
      lost = 0
    }
    const lines = new Lines((line) => {
      if (outbox.size >= outbox.capacity) {
        lost++
        return
      }
      reportLost()
      outbox.unsafeOffer(line)
    })
    const one = (line: string) =>
      Effect.catchAllCause(
        Effect.suspend(() => receive(line)),
        (cause) => Effect.logError("A handler of stderr failed", cause)
      )
    const end = () => {
      lines.end()
      reportLost()
      outbox.end(Exit.void)
    }
    yield* Effect.acquireRelease(
      // Interruptible wherever the server is launched, or closing could not end it.
      Effect.forkDaemon(Effect.interruptible(Stream.runForEach(outbox.stream, one))),
      (fiber) =>
        Effect.suspend(() => {
          end()
          return Effect.zipRight(Wait.atMost(Fiber.await(fiber), "1 second"), Fiber.interruptFork(fiber))
        })
    )
    return { push: (chunk) => lines.push(chunk), end }
  })

/**
 * A log that is ready before the server is there, and that hears it out: acquire it first. Closing the scope waits up
 * to a second for the function to be done with the last lines.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (mode: Stderr): Effect.Effect<Log, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sink = typeof mode === "function" ? yield* linesTo(mode) : mode === "forward" ? forward : nowhere
    const tail = new Tail()
    const ended = Deferred.unsafeMake<void>(yield* Effect.fiberId)
    const end = () => {
      sink.end()
      Deferred.unsafeDone(ended, Effect.void)
    }
    if (mode === "inherit") end()
    return {
      attach: (readable) => {
        readable.on("data", (chunk: Uint8Array) => {
          tail.push(chunk)
          sink.push(chunk, readable)
        }).on("close", end)
      },
      tail: () => tail.text,
      ended: Deferred.await(ended)
    }
  })
