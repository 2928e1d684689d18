/**
 * The servers of a `ClientSessionGroup`, by name. Each server has one fiber, which holds its connection while the server is in the group.
 * When the scope closes, all fibers are interrupted at the same time, so a server that closes slowly does not delay other servers.
 * `GroupError` has the errors about names that are taken or unknown.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { ClientSessionService } from "../ClientSession.js"
import { DuplicateServer, UnknownServer } from "../GroupError.js"

/** One server, from the time when it is added until it leaves. Another server may have the name later, as another `Member`. */
export interface Member {
  readonly name: string
  /** How many servers were added before this server. */
  readonly order: number
  /** The session of the server; `None` while the server is not connected. */
  readonly session: Ref.Ref<Option.Option<ClientSessionService>>
}

export interface Members {
  /**
   * Adds a server, and runs `hold` on the fiber of the server. Waits until `hold` completes `joined`. When `joined` fails, or this effect
   * is interrupted, the server is removed again. The server leaves when `hold` ends.
   */
  readonly join: <A, E, R>(
    name: string,
    hold: (member: Member, joined: Deferred.Deferred<A, E>) => Effect.Effect<void, never, R>
  ) => Effect.Effect<A, E | DuplicateServer, R>
  /** Removes a server: frees its name, interrupts its fiber, and waits for the end of the fiber. */
  readonly remove: (name: string) => Effect.Effect<void, UnknownServer>
  readonly session: (name: string) => Effect.Effect<Option.Option<ClientSessionService>>
  readonly sessions: Effect.Effect<ReadonlyMap<string, ClientSessionService>>
}

interface State {
  readonly byName: ReadonlyMap<string, Member>
  readonly order: number
}

/** Makes the members of a group. `onLeave` runs when a server leaves, before another server can take the name. */
export const make = (
  onLeave: (member: Member) => Effect.Effect<void>
): Effect.Effect<Members, never, Scope.Scope> =>
  Effect.gen(function*() {
    // The keys are members and not names: a name is free for a new member while the last member with this name still closes.
    const fibers = yield* FiberMap.make<Member, void>()
    const state = yield* Ref.make<State>({ byName: new Map(), order: 0 })

    const reserve = (name: string): Effect.Effect<Member, DuplicateServer> =>
      Effect.flatMap(Ref.make(Option.none<ClientSessionService>()), (session) =>
        Effect.flatten(Ref.modify(state, ({ byName, order }): [Effect.Effect<Member, DuplicateServer>, State] => {
          if (byName.has(name)) {
            return [Effect.fail(new DuplicateServer({ server: name })), { byName, order }]
          }
          const member = { name, order, session }
          return [Effect.succeed(member), { byName: new Map(byName).set(name, member), order: order + 1 }]
        })))

    const forget = (member: Member): Effect.Effect<void> =>
      Effect.zipRight(
        onLeave(member),
        Ref.update(state, ({ byName, order }) => {
          const rest = new Map(byName)
          if (rest.get(member.name) === member) {
            rest.delete(member.name)
          }
          return { byName: rest, order }
        })
      )

    const find = (name: string) =>
      Effect.map(Ref.get(state), ({ byName }) =>
        byName.get(name))

    return {
      join: (name, hold) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            const member = yield* reserve(name)
            const joined = yield* Deferred.make<any, any>()
            // The fiber yields first, so that `remove` finds it: version 4 of Effect starts a fiber before the map has it.
            const holding = Effect.ensuring(Effect.zipRight(Effect.yieldNow(), hold(member, joined)), forget(member))
            return yield* Effect.onError(
              Effect.flatMap(FiberMap.run(fibers, member, holding), (fiber) => {
                // The fiber may be interrupted before it completes the deferred.
                fiber.addObserver(() => EffectInternals.done(joined, Exit.failCause(EffectInternals.interruption)))
                return restore(Deferred.await(joined))
              }),
              () => Effect.zipRight(forget(member), FiberMap.remove(fibers, member))
            )
          })
        ),
      remove: (name) =>
        Effect.flatMap(find(name), (member) =>
          member === undefined
            ? Effect.fail(new UnknownServer({ server: name }))
            : Effect.uninterruptible(Effect.zipRight(forget(member), FiberMap.remove(fibers, member)))),
      session: (name) => Effect.flatMap(find(name), (member) => member ? Ref.get(member.session) : Effect.succeedNone),
      sessions: Effect.flatMap(Ref.get(state), ({ byName }) =>
        Effect.map(
          Effect.forEach(byName, ([name, { session }]) =>
            Effect.map(Ref.get(session), Option.map((session) => [name, session] as const))),
          (sessions) =>
            new Map(sessions.flatMap(Option.toArray))
        ))
    }
  })
