/**
 * A call and its progress as one stream: first the progress notifications, then the result. It works with every call that has the option
 * `onProgress`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Progress } from "../jsonrpc/Progress.js"
import * as Outbox from "../kit/Outbox.js"

/** @category models */
export type Update<A> =
  | { readonly _tag: "Progress"; readonly progress: Progress }
  | { readonly _tag: "Result"; readonly result: A }

/**
 * How many updates may wait for a slow reader. When more updates wait, or when they have more than 16 Mi characters together, the oldest
 * updates are dropped. The result is never dropped.
 */
const CAPACITY = 256

/**
 * Makes a stream of the updates of a call. The call starts when the stream is run. When the reader stops reading, the stream interrupts the
 * call, which cancels the call at the server.
 *
 * @example
 * ```ts
 * import type * as ClientSession from "@effect-mcp/core/ClientSession"
 * import * as ProgressStream from "@effect-mcp/core/ProgressStream"
 *
 * export const build = (session: ClientSession.ClientSessionService) =>
 *   ProgressStream.make((onProgress) => session.callTool("build", {}, { onProgress }))
 * ```
 * @category constructors
 */
export const make = <A, E, R>(
  call: (onProgress: (progress: Progress) => Effect.Effect<void>) => Effect.Effect<A, E, R>
): Stream.Stream<Update<A>, E, R> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const updates = Outbox.make<Update<A>, E>(CAPACITY)
    const result = call((progress) =>
      Effect.sync(() => updates.unsafeSlide({ _tag: "Progress", progress }, progress.message?.length))
    )
    yield* Effect.forkScoped(Effect.onExit(
      Effect.map(result, (result) => void updates.unsafeSlide({ _tag: "Result", result })),
      (exit) => Effect.sync(() => updates.end(exit))
    ))
    return updates.stream
  }))
