/**
 * A call and its progress as one stream: what was said on the way, then the result. For who would rather read than be
 * called back.
 *
 * @since 0.1.0
 */
import type { Progress } from "@effect-mcp/jsonrpc/Progress"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"

/**
 * @since 0.1.0
 * @category models
 */
export type Update<A> =
  | { readonly _tag: "Progress"; readonly progress: Progress }
  | { readonly _tag: "Result"; readonly result: A }

/**
 * How much progress is kept for a slow reader before it loses the oldest. The result is never lost.
 *
 * @since 0.1.0
 * @category limits
 */
export const CAPACITY = 256

/**
 * Begins the call when the stream is run. Who stops reading interrupts it, and the server is told to stop.
 *
 * @example
 * ```ts
 * import type { ClientSession } from "@effect-mcp/client"
 * import { ProgressStream } from "@effect-mcp/client"
 *
 * export const build = (session: ClientSession.ClientSessionService) =>
 *   ProgressStream.make((onProgress) => session.callTool("build", {}, { onProgress }))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, E, R>(
  call: (onProgress: (progress: Progress) => Effect.Effect<void>) => Effect.Effect<A, E, R>
): Stream.Stream<Update<A>, E, R> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const heard = yield* Mailbox.make<Update<A>, E>({ capacity: CAPACITY, strategy: "sliding" })
    const calling = call((progress) => heard.offer({ _tag: "Progress", progress }))
    yield* Effect.forkScoped(Mailbox.into(
      Effect.flatMap(calling, (result) => heard.offer({ _tag: "Result", result })),
      heard
    ))
    return Mailbox.toStream(heard)
  }))
