/**
 * Reserves (claims) the standard streams of this process for one transport, so that standard output carries only protocol messages. During
 * a claim, the output of other code in this process goes to stderr.
 *
 * `StdoutRedirect` replaces Node's functions during a claim. `StdioServer` makes the claims.
 */
import { TransportError } from "@effect-mcp/core/LocalError"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import type * as Output from "./Output.js"
import * as StdoutRedirect from "./StdoutRedirect.js"

// The process has only one set of claims, even when this module is loaded twice.
const taken = EffectInternals.shared("@effect-mcp/node/StandardStreams", () => new Set<StdoutRedirect.StandardStream>())

// The original `write` of standard output; `undefined` until `reserve` has replaced it.
const reserved = EffectInternals.shared(
  "@effect-mcp/node/StandardStreams/reserved",
  () => ({ write: undefined as Write | undefined })
)

type Write = typeof process.stdout.write

/**
 * Redirects standard output to stderr until the process ends. (`output` redirects standard output only until its scope closes.) A program
 * with a server on stdio uses `reserve`, so that logs before and after the server runs also go to stderr. After `reserve`, `output` can
 * still claim standard output.
 */
export const reserve: Effect.Effect<void> = Effect.sync(() => {
  if (reserved.write !== undefined || taken.has("output")) return
  reserved.write = process.stdout.write.bind(process.stdout)
  StdoutRedirect.redirect("output")
})

/**
 * Claims standard input until the scope closes. During the claim, child processes that would inherit standard input get no input. Other
 * code can still read `process.stdin`. Fails with reason `Open` during another claim.
 */
export const input: Effect.Effect<Readable, TransportError, Scope.Scope> = Effect.suspend(() =>
  Effect.as(claim("input"), process.stdin)
)

/**
 * Claims standard output until the scope closes. Fails with reason `Open` during another claim.
 *
 * During the claim, the following code writes to stderr: `console` (and therefore Effect's default logger); `process.stdout.write` and
 * streams piped into it; `fs.write`, `fs.writev`, `fs.writeFile`, `fs.appendFile` and their synchronous forms on descriptor 1 (and
 * therefore pino); child processes that would inherit standard output.
 *
 * The following code still writes to standard output, because Node has no `dup2`: native code, worker threads that write to descriptor 1,
 * files opened by the name `/dev/stdout`, `process.stdout.end`, and code that stored one of these functions in a variable before the claim.
 */
export const output: Effect.Effect<
  { readonly stream: Writable; readonly write: Output.Write<string | Uint8Array> },
  TransportError,
  Scope.Scope
> = Effect.suspend(() => {
  const stream = process.stdout
  const write = reserved.write ?? stream.write.bind(stream)
  return Effect.as(claim("output"), {
    stream,
    write: (text: string | Uint8Array, callback: (error?: Error | null) => void) => {
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
        which === "output" && reserved.write !== undefined ? () => {} : StdoutRedirect.redirect(which)
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
    message: `Standard ${which} is already used by another transport in this process; close that transport first`
  })
