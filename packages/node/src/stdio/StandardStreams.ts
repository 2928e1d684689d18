import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import type * as Output from "./Output.js"
import * as StdoutRedirect from "./StdoutRedirect.js"

// One for the process, also when this module is loaded twice.
const taken = globalValue("@effect-mcp/node/StandardStreams", () => new Set<StdoutRedirect.StandardStream>())

// The way out that was there before everybody was kept from it for good.
const reserved = globalValue(
  "@effect-mcp/node/StandardStreams/reserved",
  () => ({ write: undefined as Write | undefined })
)

type Write = typeof process.stdout.write

/**
 * Keeps everybody away from standard output for the rest of the process's life, as `output` does for the life of a
 * claim: for programs that are a server on stdio and nothing else, so that what is logged before and after serving does
 * not end up between the messages either. `output` can still be claimed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reserve: Effect.Effect<void> = Effect.sync(() => {
  if (reserved.write !== undefined || taken.has("output")) return
  reserved.write = process.stdout.write.bind(process.stdout)
  StdoutRedirect.install("output")
})

/**
 * Claims standard input until the scope closes: children that would inherit it get none. Fails with reason `Open` when
 * another claim holds. Who reads `process.stdin` besides is not kept from it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const input: Effect.Effect<Readable, TransportError, Scope.Scope> = Effect.suspend(() =>
  Effect.as(claim("input"), process.stdin)
)

/**
 * Claims standard output until the scope closes. Fails with reason `Open` when another claim holds.
 *
 * To stderr go meanwhile: `console`, hence Effect's default logger; `process.stdout.write` and what is piped into it;
 * `fs.write` and its like to descriptor 1, hence pino; the output of children that would inherit ours.
 *
 * Not covered, because Node has no `dup2`: native code, worker threads that write to descriptor 1 themselves, files
 * opened by the name `/dev/stdout`, `process.stdout.end`, and who kept one of these functions of Node's in a variable
 * from before the claim.
 *
 * @since 0.1.0
 * @category constructors
 */
export const output: Effect.Effect<
  { readonly stream: Writable; readonly write: Output.Write },
  TransportError,
  Scope.Scope
> = Effect.suspend(() => {
  const stream = process.stdout
  const write = reserved.write ?? stream.write.bind(stream)
  return Effect.as(claim("output"), {
    stream,
    write: (text: string, callback: (error?: Error | null) => void) => {
      write(text, callback)
    }
  })
})

const claim = (which: StdoutRedirect.StandardStream): Effect.Effect<void, TransportError, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.suspend(() => {
      if (taken.has(which)) return Effect.fail(claimed(which))
      taken.add(which)
      return Effect.succeed(
        which === "output" && reserved.write !== undefined ? () => {} : StdoutRedirect.install(which)
      )
    }),
    (restore) =>
      Effect.sync(() => {
        restore()
        taken.delete(which)
      })
  ))

const claimed = (which: StdoutRedirect.StandardStream): TransportError =>
  new TransportError({
    reason: "Open",
    message: `Standard ${which} is taken: another transport in this process has claimed it`
  })
