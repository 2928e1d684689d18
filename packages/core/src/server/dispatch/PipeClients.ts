/**
 * The clients of one transport that the server reads, for `Conversations`. A transport may have several clients, one after another. For
 * example, a program that serves a stdio server over HTTP may keep the server running from one client to the next. A second `initialize`,
 * after the answer to the first `initialize`, shows that there is a new client. The new client gets a new conversation and a new session.
 * The conversation of the earlier client ends when all requests of the earlier client have ended.
 *
 * Mutable fields: `current` is the conversation that receives messages. `earlier` contains the earlier conversations whose requests still
 * run, the oldest first. The number of earlier conversations is limited, because each new request checks all of them. `ending` contains the
 * conversations that have not ended yet. `replaced` completes when another client comes; the heartbeat waits for it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Conversation from "../../jsonrpc/Conversation.js"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as Transport from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Race from "../../kit/Race.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type * as Version from "../../protocol/Version.js"
import type { Connection } from "../legacy/Connection.js"
import * as Initialize from "../legacy/Initialize.js"
import * as Subscriptions from "../legacy/Subscriptions.js"
import * as EraOfMessage from "./EraOfMessage.js"

/** A conversation that has begun. `release` releases everything that the server stores for the client. */
export interface Started {
  readonly connection: Connection
  readonly conversation: Conversation.Passive
  readonly release: Effect.Effect<void>
}

interface Options {
  readonly transport: Transport.Transport
  /** The revisions of the server. */
  readonly versions: ReadonlyArray<Version.Version>
  readonly hasHeartbeat: boolean
  /** Begins a conversation over the transport. The ids of the server's requests in this conversation are greater than `afterId`. */
  readonly start: (afterId: number) => Started
  readonly fork: (effect: Effect.Effect<void>) => void
}

/**
 * How many earlier clients may still have running requests. Beyond this number, the server interrupts the requests of the oldest client.
 */
export const MAX_EARLIER = 8

export class Pipe {
  private current: Started
  private readonly earlier = new Set<Started>()
  private readonly ending = new Set<Started>()
  private replaced: Deferred.Deferred<void> | undefined
  private isClosing = false

  constructor(private readonly options: Options) {
    this.current = options.start(0)
  }

  /** Reads the transport until it ends. */
  get read(): Effect.Effect<void, TransportError> {
    const { hasHeartbeat, transport } = this.options
    const reading = Transport.run(transport, (incoming) => this.receive(incoming))
    return Effect.onExit(
      hasHeartbeat ? Race.raceFirst(reading, this.heartbeat) : reading,
      (exit) => Effect.sync(() => this.current.conversation.end(exit))
    )
  }

  /** Ends when the conversation of the last client has ended. */
  get ended(): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => this.current.conversation.ended)
  }

  /** Ends the conversations of all clients. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.isClosing = true
      return this.forAll(({ conversation }) => conversation.close)
    })
  }

  /** Releases everything that the server stores for all clients. */
  get release(): Effect.Effect<void> {
    return this.forAll(({ release }) => release)
  }

  private forAll(run: (one: Started) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([this.current, ...this.ending], run, { concurrency: "unbounded", discard: true })
    )
  }

  private get heartbeat(): Effect.Effect<never, TransportError> {
    return Effect.forever(
      Effect.suspend(() =>
        Race.raceFirst(
          this.current.conversation.heartbeat,
          Deferred.await(this.replaced ??= EffectInternals.deferred())
        )
      )
    )
  }

  private receive(incoming: Transport.Delivery): void {
    if (isRequest(incoming)) {
      if (this.isNewClient(incoming)) this.begin()
      // The new client may use the same request ids as the earlier clients.
      for (const { conversation } of this.earlier) conversation.abandon(incoming.id)
    }
    this.current.conversation.receive(incoming)
  }

  private isNewClient(request: Message.Request): boolean {
    const { accepted, handshake } = this.current.connection
    return accepted && handshake === undefined && !this.isClosing && Initialize.isAcceptable(request) &&
      EraOfMessage.of(request, this.options.versions) === "legacy"
  }

  private begin(): void {
    const before = this.current
    const { connection, conversation, release } = before
    this.current = this.options.start(conversation.lastId())
    this.ending.add(before)
    if (conversation.inFlight() > 0) this.earlier.add(before)
    this.options.fork(
      Subscriptions.endAll(connection).pipe(
        Effect.zipRight(conversation.retire((method) => method === Methods.listen.name)),
        Effect.zipRight(release),
        Effect.ensuring(Effect.sync(() => {
          this.earlier.delete(before)
          this.ending.delete(before)
        }))
      )
    )
    const [oldest] = this.earlier
    if (oldest !== undefined && this.earlier.size > MAX_EARLIER) {
      this.earlier.delete(oldest)
      this.options.fork(oldest.conversation.close)
    }
    const { replaced } = this
    this.replaced = undefined
    if (replaced !== undefined) EffectInternals.done(replaced, Effect.void)
  }
}

const isRequest = (incoming: Transport.Delivery): incoming is Message.Request =>
  !(incoming instanceof Transport.Undelivered) && !Message.isMalformed(incoming) && Message.isRequest(incoming)
