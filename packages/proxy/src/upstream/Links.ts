/**
 * The links of clients: a session with the upstream for each client of the proxy. A client with a session has its link until
 * it disconnects. From 2026-07-28 on, requests of one pipe or principal, with equal capabilities, have one link, which closes
 * some time after the last of them; a request of an unknown client has a link of its own.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { McpError } from "@effect-mcp/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import type { Link } from "./Link.js"
import * as Questions from "./Questions.js"
import * as UpstreamError from "./UpstreamError.js"

export interface Options {
  readonly name: string
  readonly max: number
  readonly idle: Duration.DurationInput
  readonly open: (
    capabilities: ClientCapabilities,
    standalone: () => ServerSessionService | undefined
  ) => Effect.Effect<Link, McpError, Scope.Scope>
  /** Runs when a client with a session has a link, anew for each link. */
  readonly onOpen: (
    link: Link,
    client: ServerSessionService,
    listed: Deferred.Deferred<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

export interface Links {
  /** The link of the client of a request, for as long as the scope is open. */
  readonly of: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** The client has completed the handshake: `session` reaches it outside of its requests. */
  readonly begin: (session: ServerSessionService) => void
  /** The link that a client has already. */
  readonly existing: (session: ServerSessionService) => Link | undefined
  /** The link that a client has already, if its lists were read. */
  readonly listedNow: (session: ServerSessionService) => Link | undefined
  /** The link of a client that has a session, when its lists were read. */
  readonly listed: (session: ServerSessionService) => Effect.Effect<Link, McpError>
}

class Key implements Equal.Equal {
  readonly text: string

  constructor(readonly client: object | string, readonly session: ServerSessionService) {
    // A session declares its capabilities once; a request of the modern era anew. What is not passed on makes no difference.
    this.text = session.client.sessionScope === undefined
      ? JSON.stringify(Questions.passed(session.client.capabilities))
      : ""
  }

  [Hash.symbol](): number {
    return Hash.combine(Hash.hash(this.client))(Hash.string(this.text))
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof Key && this.client === that.client && this.text === that.text
  }
}

export const make = (options: Options): Effect.Effect<Links, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { idle, max, name, onOpen, open } = options
    const standalones = new WeakMap<object, ServerSessionService>()
    const opened = new WeakMap<object, { readonly link: Link; readonly listed: Deferred.Deferred<void> }>()
    const ending = new WeakSet<object>()
    const left = new WeakSet<object>()
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    let anonymous = 0

    const standaloneOf = ({ client: { key } }: ServerSessionService) =>
      typeof key === "object" ? standalones.get(key) : undefined
    const tooMany = UpstreamError.of(name, `serves ${max} clients already; try again later`)

    const opening = (key: Key) =>
      Effect.gen(function*() {
        const { client, session } = key
        const own = yield* Edition.childOf(closing)
        yield* Effect.addFinalizer((exit) => Scope.close(own, exit))
        const link = yield* Scope.extend(open(session.client.capabilities, () => standaloneOf(session)), own)
        run(Effect.zipRight(Effect.ignore(link.session.ended), RcMap.invalidate(all, key)))
        if (typeof client === "object" && session.client.sessionScope !== undefined) {
          const listed = yield* Deferred.make<void>()
          opened.set(client, { link, listed })
          yield* Scope.extend(onOpen(link, standaloneOf(session) ?? session, listed), own)
        }
        return link
      })

    const all: RcMap.RcMap<Key, Deferred.Deferred<Link, McpError>> = yield* RcMap.make({
      idleTimeToLive: ({ session }: Key) => session.client.sessionScope === undefined ? idle : Duration.infinity,
      lookup: (key: Key) =>
        Effect.gen(function*() {
          const link = yield* Deferred.make<Link, McpError>()
          // The map runs this in an uninterruptible region, which a fiber inherits.
          yield* Effect.forkScoped(Effect.interruptible(
            Effect.onExit(opening(key), (exit) =>
              Deferred.done(
                link,
                Exit.isInterrupted(exit) ? Exit.fail(UpstreamError.of(name, "is not connected")) : exit
              ))
          ))
          return link
        })
    })
    const lock = Semaphore.make()
    // It closes before the map does, all links at the same time.
    const closing = yield* Effect.acquireRelease(
      Edition.parallelScope,
      (scope) => Scope.close(scope, Exit.void)
    )

    const size = Effect.map(RcMap.keys(all), (keys) => keys.length + anonymous)

    const get = (key: Key): Effect.Effect<Link, McpError, Scope.Scope> =>
      Effect.gen(function*() {
        const { client, session } = key
        if (!(yield* RcMap.has(all, key)) && (yield* size) >= max) return yield* tooMany
        const { sessionScope } = session.client
        // The scope may have closed: then the link closes at once.
        const end = Effect.suspend(() => {
          if (typeof client !== "object" || sessionScope === undefined) return Effect.void
          const close = Effect.sync(() => void run(RcMap.invalidate(all, key)))
          if (ending.has(client)) return left.has(client) ? close : Effect.void
          ending.add(client)
          return Scope.addFinalizer(sessionScope, Effect.zipRight(Effect.sync(() => left.add(client)), close))
        })
        // One at a time: of two requests that come together, the map would open a link each. Nothing waits in there: the link
        // opens on a fiber of its own. Uninterruptible, so that no link begins without its end.
        const link = yield* Effect.uninterruptible(Effect.zipLeft(lock.run(RcMap.get(all, key)), end))
        return yield* Effect.tapError(Deferred.await(link), () => RcMap.invalidate(all, key))
      })

    const ofUnknown = (session: ServerSessionService): Effect.Effect<Link, McpError, Scope.Scope> =>
      Effect.gen(function*() {
        if ((yield* size) >= max) return yield* tooMany
        yield* Effect.acquireRelease(Effect.sync(() => anonymous++), () => Effect.sync(() => anonymous--))
        return yield* open(session.client.capabilities, () => undefined)
      })

    return {
      of: (session) =>
        Effect.suspend(() =>
          session.client.key === undefined ? ofUnknown(session) : get(new Key(session.client.key, session))
        ),
      begin: (session) => {
        if (typeof session.client.key === "object") standalones.set(session.client.key, session)
      },
      existing: ({ client: { key } }) => typeof key === "object" ? opened.get(key)?.link : undefined,
      listedNow: ({ client: { key } }) => {
        const found = typeof key === "object" ? opened.get(key) : undefined
        return found !== undefined && Option.isSome(Effect.runSync(Deferred.poll(found.listed)))
          ? found.link
          : undefined
      },
      listed: (session) =>
        Effect.flatMap(Effect.scoped(get(new Key(session.client.key!, session))), (link) => {
          const found = opened.get(session.client.key as object)
          return Effect.as(found?.link === link ? Deferred.await(found.listed) : Effect.void, link)
        })
    }
  })
