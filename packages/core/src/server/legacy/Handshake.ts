/**
 * Orders messages around a handshake, for `ServerSide`. A handshake may take time, because the application has a session layer or
 * middleware. Requests and notifications that arrive while `initialize` is served wait until the handshake has ended. When the handshake
 * fails, the client may send `initialize` again. Messages wait in the same way while a session is restored.
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

/** The error of a second `initialize` that arrives while the first is served. */
export const underWay: InvalidRequest = new InvalidRequest({
  message: "Invalid request: this conversation is being initialized already"
})

/** The work of `initialize`. Until this work has ended, later messages of the connection wait. */
export const begin = (connection: Connection, work: Work): Work => {
  const ended = EffectInternals.deferred<void>()
  connection.beginOpening(ended)
  const settle = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    const released = Exit.isFailure(exit) ? connection.refuse() : undefined
    connection.endOpening()
    // Done later, because the response to `initialize` is sent after this function has returned.
    EffectInternals.later(() => EffectInternals.done(ended, Effect.void))
    return released ?? Effect.void
  }
  return {
    ...work,
    release: (exit) => {
      const released = work.release?.(exit)
      // Waiting messages go on after the scope of `initialize` has closed. Otherwise their responses could leave before its response.
      if (released !== undefined) {
        return Effect.onExit(released, (end) => Effect.suspend(() => settle(Exit.isFailure(end) ? end : exit)))
      }
      return connection.releaseServices === undefined || exit._tag === "Success"
        ? void settle(exit)
        : Effect.suspend(() => settle(exit))
    }
  }
}

/** The work of a request before which the session is restored. Until the session is restored, later messages of the connection wait. */
export const restoring = (connection: Connection, restore: Effect.Effect<void, unknown>, plan: () => Work): Work => {
  const ended = EffectInternals.deferred<void>()
  const work = afterRequest(ended, plan)
  return { ...work, effect: Effect.zipRight(restored(connection, restore, ended), work.effect) }
}

/**
 * Restores the session of a connection. Until this has ended, later messages of the connection wait. When it fails, the next message tries
 * again. It changes nothing before it runs, because a message that is dropped never runs it.
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

/** The work of a request that arrived during the handshake. `plan` makes this work when the handshake has ended. */
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
 * Handles a notification after the handshake that is under way, or at once if there is none. Drops the notification when the handshake
 * failed.
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
