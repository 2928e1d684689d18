/**
 * The servers of a group by name. Each has one fiber, which holds its connection for as long as it is in the group; with
 * the scope, all of them are interrupted at once, so that a server that is slow to close delays no other.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { ClientSessionService } from "../ClientSession.js"
import { DuplicateServer, UnknownServer } from "../GroupError.js"

/** The session of one server; none while it is not connected. */
export type Member = Ref.Ref<Option.Option<ClientSessionService>>

export interface Members {
  /**
   * Adds a server and runs `hold` on its fiber. Waits until `hold` completes its deferred; if that fails, or this is
   * interrupted, the server is removed again. The server leaves when `hold` ends.
   */
  readonly join: <A, E, R>(
    name: string,
    hold: (member: Member, joined: Deferred.Deferred<A, E>) => Effect.Effect<void, never, R>
  ) => Effect.Effect<A, E | DuplicateServer, R>
  /** Frees the name, runs `onRemoved`, and interrupts the fiber; waits for its end. */
  readonly remove: (name: string, onRemoved: Effect.Effect<void>) => Effect.Effect<void, UnknownServer>
  /** Whether no other member has taken the name. */
  readonly owns: (name: string, member: Member) => Effect.Effect<boolean>
  readonly session: (name: string) => Effect.Effect<Option.Option<ClientSessionService>>
  readonly sessions: Effect.Effect<ReadonlyMap<string, ClientSessionService>>
}

type ByName = ReadonlyMap<string, Member>

export const make: Effect.Effect<Members, never, Scope.Scope> = Effect.gen(function*() {
  // By member and not by name: a name is free while its last member still closes.
  const fibers = yield* FiberMap.make<Member, void>()
  const byName = yield* Ref.make<ByName>(new Map())

  const reserve = (name: string, member: Member): Effect.Effect<void, DuplicateServer> =>
    Effect.flatten(Ref.modify(byName, (members): [Effect.Effect<void, DuplicateServer>, ByName] =>
      members.has(name)
        ? [Effect.fail(new DuplicateServer({ server: name })), members]
        : [Effect.void, new Map([...members, [name, member]])]))

  const forget = (name: string, member: Member): Effect.Effect<void> =>
    Ref.update(byName, (members) => members.get(name) === member ? without(members, name) : members)

  return {
    join: (name, hold) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const member: Member = yield* Ref.make(Option.none<ClientSessionService>())
          const joined = yield* Deferred.make<any, any>()
          yield* reserve(name, member)
          const holding = Effect.ensuring(hold(member, joined), forget(name, member))
          return yield* Effect.onError(
            Effect.flatMap(FiberMap.run(fibers, member, holding), (fiber) => {
              // The fiber may be interrupted before it completes the deferred.
              fiber.addObserver(() => Deferred.unsafeDone(joined, Exit.interrupt(fiber.id())))
              return restore(Deferred.await(joined))
            }),
            () => Effect.zipRight(forget(name, member), FiberMap.remove(fibers, member))
          )
        })
      ),
    remove: (name, onRemoved) =>
      Effect.flatMap(
        Ref.modify(byName, (members) => [members.get(name), without(members, name)]),
        (member) =>
          member === undefined
            ? Effect.fail(new UnknownServer({ server: name }))
            : Effect.zipRight(onRemoved, FiberMap.remove(fibers, member))
      ),
    owns: (name, member) =>
      Effect.map(Ref.get(byName), (members) => members.get(name) === member || !members.has(name)),
    session: (name) => Effect.flatMap(Ref.get(byName), (members) => members.get(name) ?? Effect.succeedNone),
    sessions: Effect.flatMap(Ref.get(byName), (members) =>
      Effect.map(
        Effect.forEach(members, ([name, member]) =>
          Effect.map(Ref.get(member), Option.map((session) => [name, session] as const))),
        (sessions) =>
          new Map(sessions.flatMap(Option.toArray))
      ))
  }
})

const without = (members: ByName, name: string): ByName => {
  const rest = new Map(members)
  rest.delete(name)
  return rest
}
