/**
 * Makes messages wait for the handshake, for `ServerSide`. A handshake may take time, because of a session layer or middleware. Requests
 * and notifications that arrive during `initialize` wait until the handshake has ended. When the handshake fails, the client may send
 * `initialize` again. Messages also wait while this node restores a session that another node has served before.
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

/** The error that answers a second `initialize` when the server is still serving the first `initialize`. */
export const underWay: InvalidRequest = new InvalidRequest({
  message: "Invalid request: this conversation is already being initialized"
})

/** Makes the work of `initialize`. Later messages of the connection wait until this work has ended. */
export const begin = (connection: Connection, work: Work): Work => {
  const ended = EffectInternals.deferred<void>()
  connection.beginOpening(ended)
  const settle = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    const released = Exit.isFailure(exit) ? connection.refuse() : undefined
    connection.endOpening()
    // Done later, because the server sends the response to `initialize` after this function has returned.
    EffectInternals.later(() => EffectInternals.done(ended, Effect.void))
    return released ?? Effect.void
  }
  return {
    ...work,
    release: (exit) => {
      const released = work.release?.(exit)
      // Waiting messages go on after the scope of `initialize` has closed. Otherwise their responses could leave before the response to
      // `initialize`.
      if (released !== undefined) {
        return Effect.onExit(released, (end) => Effect.suspend(() => settle(Exit.isFailure(end) ? end : exit)))
      }
      return connection.releaseServices === undefined || exit._tag === "Success"
        ? void settle(exit)
        : Effect.suspend(() => settle(exit))
    }
  }
}

/** Makes the work of a request that first restores the session. Later messages of the connection wait until the session is restored. */
export const restoring = (connection: Connection, restore: Effect.Effect<void, unknown>, plan: () => Work): Work => {
  const ended = EffectInternals.deferred<void>()
  const work = afterRequest(ended, plan)
  return { ...work, effect: Effect.zipRight(restored(connection, restore, ended), work.effect) }
}

/**
 * Restores the session of a connection. Later messages of the connection wait until this effect has ended. When this effect fails, the next
 * message tries again. Only running the effect changes the connection, because the server may drop the message and then never run the
 * effect.
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

/** Makes the work of a request that arrived during the handshake. `plan` makes the actual work when the handshake has ended. */
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
 * Handles a notification after the running handshake, or immediately if no handshake is running. Drops the notification when the handshake
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
