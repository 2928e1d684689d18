/**
 * Orders messages, for `ServerSide`, around a handshake that takes time, because the session layer or the middleware of the application
 * do: requests and notifications that arrive while `initialize` is served wait until the handshake has ended. When the handshake fails,
 * the client may send `initialize` again.
 */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Work } from "../../jsonrpc/Side.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { InvalidRequest } from "../../protocol/McpError.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import type { Connection } from "./Connection.js"

/** Why a second `initialize` is refused while the first is served. */
export const underWay: InvalidRequest = new InvalidRequest({
  message: "Invalid request: this conversation is being initialized already"
})

/** The work of `initialize`: until it has ended, later messages of the connection wait. */
export const begin = (connection: Connection, work: Work): Work => {
  const ended = EffectInternals.deferred<void>()
  connection.beginOpening(ended)
  const settle = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    const released = Exit.isFailure(exit) ? connection.refuse() : undefined
    connection.endOpening()
    // Later, because the response to `initialize` is sent when this has returned.
    EffectInternals.later(() => EffectInternals.done(ended, Effect.void))
    return released ?? Effect.void
  }
  return {
    ...work,
    release: (exit) => {
      const released = work.release?.(exit)
      // Waiting messages continue after the scope of `initialize` has closed; otherwise their responses could come first.
      if (released !== undefined) {
        return Effect.onExit(released, (end) => Effect.suspend(() => settle(Exit.isFailure(end) ? end : exit)))
      }
      return connection.releaseServices === undefined || exit._tag === "Success"
        ? void settle(exit)
        : Effect.suspend(() => settle(exit))
    }
  }
}

/** The work of a request before which the session is restored; until it is, later messages of the connection wait. */
export const restoring = (connection: Connection, restore: Effect.Effect<void, unknown>, plan: () => Work): Work => {
  const ended = EffectInternals.deferred<void>()
  const work = afterRequest(ended, plan)
  return { ...work, effect: Effect.zipRight(restored(connection, restore, ended), work.effect) }
}

/**
 * Restores the session of a connection. Until it has ended, later messages of the connection wait; the next message tries
 * again when it fails. A message that is dropped never runs it, so it changes nothing before it runs.
 */
export const restored = (
  connection: Connection,
  restore: Effect.Effect<void, unknown>,
  ended: Deferred.Deferred<void> = EffectInternals.deferred()
): Effect.Effect<void, unknown> =>
  Effect.uninterruptibleMask((interruptible) => {
    connection.beginRestoring(ended)
    return Effect.onExit(interruptible(restore), (exit) =>
      Effect.sync(() => {
        connection.endRestoring(Exit.isSuccess(exit))
        EffectInternals.done(ended, Effect.void)
      }))
  })

/** The work of a request that arrived during the handshake. It is planned when the handshake has ended. */
export const afterRequest = (handshake: Deferred.Deferred<void>, plan: () => Work): Work => {
  let work: Work | undefined
  return {
    effect: Effect.flatMap(Deferred.await(handshake), () => {
      const planned = work = plan()
      return Effect.mapInputContext(planned.effect, (own: Context.Context<never>) => planned.context ?? own)
    }),
    release: (exit) => work?.release?.(exit),
    reply: (exit) =>
      work === undefined ? HandlerOutcome.fromExit(exit, "legacy", () => ({ result: {} })) : work.reply(exit)
  }
}

/**
 * Handles a notification after the handshake that is under way, if there is one; drops it when the handshake failed.
 */
export const afterNotification = <A, E>(
  connection: Connection,
  handling: Effect.Effect<A, E>
): Effect.Effect<A | void, E> =>
  connection.handshake === undefined
    ? handling
    : Effect.zipRight(
      Deferred.await(connection.handshake),
      Effect.suspend((): Effect.Effect<A | void, E> => connection.accepted ? handling : Effect.void)
    )
