/**
 * Passes texts between the nodes of a server. Each session belongs to one node. When another node receives a request of the session, it
 * passes the request to the session's node, and gets the answer back. `nodes/NodeMessage` encodes the requests and answers as texts.
 *
 * Provide an inbox, together with a `SessionDirectory`, to an HTTP endpoint that runs on several nodes. This module contains the interface
 * of inboxes, and inboxes in memory, for several endpoints in one process.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as StoreText from "./nodes/StoreText.js"

/** @category errors */
export class InboxError extends Data.TaggedError("InboxError")<{
  /**
   * Why the text could not be sent. `Gone`: the other node does not exist any more. `Full`: the other node does not read fast enough.
   * `Refused`: the store of the inboxes has refused the text, or has not received the text. `Unavailable`: it is unknown whether the text
   * will arrive.
   */
  readonly reason: "Gone" | "Full" | "Refused" | "Unavailable"
  readonly message: string
}> {}

/**
 * The inbox of one node.
 *
 * @category models
 */
export interface Mailbox {
  /** Sends a text to another node. The texts from one node to another node arrive in order, and no text arrives twice. */
  readonly send: (node: string, text: string) => Effect.Effect<void, InboxError>
  /**
   * The texts that other nodes have sent since this node joined. When the inbox no longer exists, the stream ends, and senders get `Gone`.
   * The server runs the stream one time.
   */
  readonly received: Stream.Stream<string>
}

/** @category models */
export interface InboxService {
  /** Opens the inbox of a node until the scope closes. */
  readonly open: (node: string) => Effect.Effect<Mailbox, InboxError, Scope.Scope>
}

/** @category tags */
export class Inbox extends Context.Tag("@effect-mcp/core/Inbox")<Inbox, InboxService>() {}

/** @category models */
export interface MemoryOptions {
  /** How many characters may wait in one inbox. The last text may exceed this limit, whatever its length. Default: 64 Mi (67,108,864). */
  readonly maxSize?: number | undefined
}

/**
 * Makes inboxes in memory, for the endpoints of one process that share them.
 *
 * @category constructors
 */
export const memory = ({ maxSize = 64 * 1024 * 1024 }: MemoryOptions = {}): Effect.Effect<InboxService> =>
  Effect.sync(() => {
    const open = new Map<string, { readonly texts: Queue.Queue<string>; size: number }>()
    const send: Mailbox["send"] = (node, text) =>
      Effect.suspend(() => {
        const inbox = open.get(node)
        if (inbox === undefined) {
          return Effect.fail(new InboxError({ reason: "Gone", message: StoreText.gone(node) }))
        }
        if (inbox.size > maxSize) {
          return Effect.fail(
            new InboxError({ reason: "Full", message: StoreText.full(node, `${maxSize} characters`) })
          )
        }
        inbox.size += text.length
        return Effect.asVoid(Queue.offer(inbox.texts, text))
      })
    return {
      open: (node) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.map(Queue.unbounded<string>(), (texts) => {
              const inbox = { texts, size: 0 }
              open.set(node, inbox)
              return inbox
            }),
            ({ texts }) => Effect.zipRight(Effect.sync(() => open.delete(node)), Queue.shutdown(texts))
          ),
          (inbox): Mailbox => ({
            send,
            received: Stream.map(Stream.fromQueue(inbox.texts, { maxChunkSize: 1 }), (text) => {
              inbox.size -= text.length
              return text
            })
          })
        )
    }
  })

/**
 * Makes the layer of `memory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<Inbox> => Layer.effect(Inbox, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<Inbox> = layerMemoryWith()
