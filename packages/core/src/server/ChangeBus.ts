/**
 * Sends changes from each node of a server to all other nodes. There are three kinds of changes: a list has changed, a resource has new
 * content, or an extension notifies its subscribers. A client is connected to one node, but the change may happen on another node.
 *
 * Provide a bus to the layer of a server that runs on several nodes. `nodes/NodeChanges` uses the bus. This module contains the interface
 * of a bus, and a bus in memory, for several servers in one process. Without a bus each node notifies only its own clients.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as EffectInternals from "../kit/EffectInternals.js"
import type { ExtensionNotification, Kind } from "./Registry.js"

/**
 * One change. `List`: a list has changed, for all clients, or only for the clients of `principal`. `Resource`: a resource has new content.
 * `Extension`: a notification of an extension. `Unknown`: the bus has lost changes, so every list and every resource may have changed.
 *
 * @category models
 */
export type Change =
  | { readonly _tag: "List"; readonly kind: Kind; readonly principal?: string | undefined }
  | { readonly _tag: "Resource"; readonly uri: string }
  | { readonly _tag: "Extension"; readonly notification: ExtensionNotification }
  | { readonly _tag: "Unknown" }

/**
 * The membership of one node in the bus.
 *
 * @category models
 */
export interface Member {
  /**
   * Sends a change to all other members. The effect ends when the bus has the change. A bus outside of this process then delivers the
   * change even when this process ends. The effect never fails: a bus that cannot deliver a change logs the failure.
   */
  readonly publish: (change: Change) => Effect.Effect<void>
  /**
   * The changes that other members have published since this member joined. The changes of one member keep their order. The same change may
   * come more than once. A member that reads too slowly gets `Unknown` in place of the changes that it has missed. The server runs the
   * stream one time for each membership. The stream should go on until the scope closes. When the stream ends earlier, the server joins the
   * bus again, and notifies its clients that everything may have changed.
   */
  readonly changes: Stream.Stream<Change>
}

/** @category models */
export interface ChangeBusService {
  /** Joins the bus until the scope closes. The member misses no change that is published after this effect has ended. */
  readonly join: Effect.Effect<Member, never, Scope.Scope>
}

/** @category tags */
export class ChangeBus extends Context.Tag("@effect-mcp/core/ChangeBus")<ChangeBus, ChangeBusService>() {}

/** @category models */
export interface MemoryOptions {
  /** How many changes may wait for one member. When more changes wait, the member gets `Unknown` in their place. Default: 1,024. */
  readonly capacity?: number | undefined
}

/**
 * A bus between the servers of one process that share this layer.
 *
 * @category constructors
 */
export const memory = ({ capacity = 1024 }: MemoryOptions = {}): Effect.Effect<ChangeBusService> =>
  Effect.sync(() => {
    const inboxes = new Set<Queue.Queue<Change>>()
    const deliver = (inbox: Queue.Queue<Change>, change: Change) =>
      Effect.flatMap(Queue.offer(inbox, change), (isTaken) =>
        isTaken
          ? Effect.void
          : Effect.zipRight(EffectInternals.takeWaiting(inbox), Queue.offer(inbox, { _tag: "Unknown" })))
    return {
      join: Effect.map(
        Effect.acquireRelease(
          Effect.tap(Queue.dropping<Change>(Math.max(1, capacity)), (inbox) => Effect.sync(() => inboxes.add(inbox))),
          (inbox) => Effect.zipRight(Effect.sync(() => inboxes.delete(inbox)), Queue.shutdown(inbox))
        ),
        (own): Member => ({
          publish: (change) =>
            Effect.forEach([...inboxes].filter((inbox) => inbox !== own), (inbox) => deliver(inbox, change), {
              discard: true
            }),
          changes: Stream.fromQueue(own)
        })
      )
    }
  })

/**
 * Makes the layer of `memory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<ChangeBus> =>
  Layer.effect(ChangeBus, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<ChangeBus> = layerMemoryWith()
