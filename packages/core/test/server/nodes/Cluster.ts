/**
 * Several endpoints of one server that share a directory, inboxes and an event store, without sockets. A node can leave, as at
 * a shutdown, or stop, as when its process is killed.
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Effect, Exit, Fiber, Layer, type Scope, Scope as Scopes, Stream, TestClock } from "effect"
import * as Endpoint from "../../../src/server/dispatch/Endpoint.js"
import { EndpointClient } from "../http/TestExchange.js"

export interface Node {
  readonly endpoint: Endpoint.Endpoint
  /** A client without a session, whose requests arrive at this node. */
  readonly http: EndpointClient
  /** The same session, whose requests arrive at this node. */
  readonly of: (client: EndpointClient) => EndpointClient
  /** Shuts the node down. */
  readonly leave: Effect.Effect<void>
  /** The process is gone: it stores and sends nothing any more, and its lease has expired. */
  readonly stop: Effect.Effect<void>
  /** The node's lease has expired, and it does not know yet. */
  readonly expire: Effect.Effect<void>
  /** The inbox of the node has expired, and its lease has not. */
  readonly closeInbox: Effect.Effect<void>
  /**
   * Whether what it sends is lost, whether the inboxes of others are full, whether its claims succeed without an answer, whether it
   * stores no events, and whether its reads of the event store get none or learn that an event was lost. A claim waits for `claiming`; it fails
   * before it succeeds while there is `delaysClaims`, and waits for that. A look for a session waits for `finding`, the answer to that look
   * for `found`, a stream that it begins to store for `opening`, an event that it stores for `storing`, and its leave from the directory
   * for `releasing`. What is in `defects` dies, the name of an operation. While `isDirectoryAway`, it does not learn whether
   * nodes live, and cannot keep its sessions.
   */
  readonly faults: {
    losesTexts: boolean
    isFull: boolean
    losesEvents: boolean
    isStoreAway: boolean
    hasGap: boolean
    hidesClaims: boolean
    isDirectoryAway: boolean
    claiming: Effect.Latch
    delaysClaims: Effect.Latch | undefined
    finding: Effect.Latch | undefined
    found: Effect.Latch | undefined
    opening: Effect.Latch | undefined
    storing: Effect.Latch | undefined
    releasing: Effect.Latch | undefined
    readonly defects: Set<"find" | "isAlive" | "send">
  }
}

export interface Cluster {
  readonly node: Effect.Effect<Node, never, Scope.Scope>
  readonly events: EventStore.EventStoreService
  readonly directory: SessionDirectory.SessionDirectoryService
  readonly inbox: Inbox.InboxService
}

/** Time goes on until the effect has ended. */
export const later = <A, R>(effect: Effect.Effect<A, never, R>): Effect.Effect<A, never, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while ((yield* Fiber.poll(fiber))._tag === "None") yield* TestClock.adjust("50 millis")
    return yield* Fiber.join(fiber)
  })

export const make = (
  server: Layer.Layer<Dispatcher>,
  { drainTimeout = 0, isResumable = true, ...options }: HttpOptions & { readonly isResumable?: boolean } = {}
): Effect.Effect<Cluster, never, Scopes.Scope> =>
  Effect.gen(function*() {
    const directory = yield* SessionDirectory.memory()
    const inbox = yield* Inbox.memory()
    const events = yield* EventStore.memory()
    const node = Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
      const lease = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
      const post = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
      let isRunning = true
      const faults = {
        losesTexts: false,
        isFull: false,
        losesEvents: false,
        isStoreAway: false,
        hasGap: false,
        hidesClaims: false,
        isDirectoryAway: false,
        claiming: Effect.unsafeMakeLatch(true),
        delaysClaims: undefined as Effect.Latch | undefined,
        finding: undefined as Effect.Latch | undefined,
        found: undefined as Effect.Latch | undefined,
        opening: undefined as Effect.Latch | undefined,
        storing: undefined as Effect.Latch | undefined,
        releasing: undefined as Effect.Latch | undefined,
        defects: new Set<"find" | "isAlive" | "send">()
      }
      const unlessDefect = <A, E>(name: "find" | "isAlive" | "send", effect: Effect.Effect<A, E>) =>
        Effect.suspend(() => faults.defects.has(name) ? Effect.die(new Error(`a bug of ${name}`)) : effect)
      const over = yield* Effect.makeLatch()
      const unlessStopped = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => isRunning ? effect : Effect.zipRight(over.await, Effect.interrupt))
      const unlessLost = <A>(effect: Effect.Effect<A>, instead: A): Effect.Effect<A> =>
        Effect.suspend(() => faults.losesEvents ? Effect.succeed(instead) : unlessStopped(effect))
      const released = Effect.addFinalizer(() => faults.releasing?.await ?? Effect.void)
      const answering = <A>(effect: Effect.Effect<A, EventStore.EventStoreError>) =>
        Effect.suspend(() =>
          faults.isStoreAway ? new EventStore.EventStoreError({ message: "no answer" }) : unlessStopped(effect)
        )
      const reached = <A>(effect: Effect.Effect<A, SessionDirectory.SessionDirectoryError>) =>
        Effect.suspend(() =>
          faults.isDirectoryAway ? new SessionDirectory.SessionDirectoryError({ message: "no answer" }) : effect
        )
      const own = {
        directory: {
          join: (id) =>
            Effect.map(Effect.zipLeft(Scopes.extend(directory.join(id), lease), released), (membership) => ({
              ...membership,
              find: (...args) =>
                Effect.suspend(() => faults.finding?.await ?? Effect.void).pipe(
                  Effect.zipRight(unlessDefect("find", membership.find(...args))),
                  Effect.tap(() => faults.found?.await ?? Effect.void)
                ),
              isAlive: (...args) => unlessDefect("isAlive", reached(membership.isAlive(...args))),
              touch: (...args) => reached(membership.touch(...args)),
              update: (...args) => unlessStopped(membership.update(...args)),
              release: (...args) => isRunning ? membership.release(...args) : Effect.void,
              remove: (...args) => isRunning ? membership.remove(...args) : Effect.succeed(true),
              claim: (...args) => {
                const { delaysClaims } = faults
                const noAnswer = new SessionDirectory.SessionDirectoryError({ message: "no answer" })
                return delaysClaims === undefined
                  ? Effect.flatMap(
                    Effect.zipRight(faults.claiming.await, membership.claim(...args)),
                    (claimed) => faults.hidesClaims ? noAnswer : Effect.succeed(claimed)
                  )
                  : Effect.zipRight(
                    Effect.forkDaemon(Effect.zipRight(delaysClaims.await, membership.claim(...args))),
                    noAnswer
                  )
              }
            }))
        } satisfies SessionDirectory.SessionDirectoryService,
        inbox: {
          open: (id) =>
            Effect.map(Scopes.extend(inbox.open(id), post), ({ received, send }) => ({
              send: (to, text) =>
                faults.isFull
                  ? new Inbox.InboxError({ reason: "Full", message: "full" })
                  : faults.losesTexts
                  ? Effect.void
                  : unlessDefect("send", unlessStopped(send(to, text))),
              received: Stream.filter(received, () => isRunning)
            }))
        } satisfies Inbox.InboxService,
        events: {
          ...events,
          open: (...args) => Effect.zipRight(faults.opening?.await ?? Effect.void, unlessStopped(events.open(...args))),
          unfinished: (...args) => answering(events.unfinished(...args)),
          after: (key, position) =>
            faults.hasGap && position >= 0 ? Effect.succeedNone : answering(events.after(key, position)),
          append: (...args) =>
            Effect.zipRight(faults.storing?.await ?? Effect.void, unlessLost(events.append(...args), true)),
          finish: (...args) => unlessLost(events.finish(...args), undefined),
          forget: (...args) => isRunning ? events.forget(...args) : Effect.void
        } satisfies EventStore.EventStoreService
      }
      const services = Layer.mergeAll(
        Layer.succeed(SessionDirectory.SessionDirectory, own.directory),
        Layer.succeed(Inbox.Inbox, own.inbox),
        isResumable ? Layer.succeed(EventStore.EventStore, own.events) : Layer.empty
      )
      const context = yield* Layer.buildWithScope(Layer.merge(Layer.fresh(server), services), scope)
      const endpoint = yield* Endpoint.make({ ...options, drainTimeout }).pipe(
        Effect.provide(context),
        Scopes.extend(scope)
      )
      // With the test, the time passes in which a node leaves, also for a process that is gone.
      yield* Effect.addFinalizer(() => Effect.zipRight(over.open, later(endpoint.close)))
      const expire = Scopes.close(lease, Exit.void)
      return {
        endpoint,
        http: new EndpointClient(endpoint),
        of: ({ session }) => new EndpointClient(endpoint, session),
        leave: Scopes.close(scope, Exit.void),
        expire,
        closeInbox: Scopes.close(post, Exit.void),
        faults,
        stop: Effect.zipRight(
          Effect.sync(() => {
            isRunning = false
          }),
          Effect.zipRight(expire, Scopes.close(post, Exit.void))
        )
      } satisfies Node
    })
    return { node, events, directory, inbox }
  })
