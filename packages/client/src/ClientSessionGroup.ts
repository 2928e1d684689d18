/**
 * Many servers as one: what all of them offer under one roof, calls that find the server that is meant, and lists that
 * stay true while servers come, change, die and come back. One server's end costs its own entries, and no other's.
 *
 * How names are kept apart is in `Entries`; one server of the group is a `Member`.
 *
 * @since 0.1.0
 */
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Client from "./Client.js"
import type { ClientError, ConnectError } from "./ClientError.js"
import type { CallToolOptions, ClientSessionService } from "./ClientSession.js"
import type * as Features from "./Features.js"
import * as Entries from "./group/Entries.js"
import * as Member from "./group/Member.js"
import { DuplicateEntry, DuplicateServer, UnknownEntry, UnknownServer } from "./GroupError.js"
import type { CallOptions } from "./session/Calls.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** What a tool or a prompt is called in the group. Default: what its server calls it. */
  readonly nameHook?: Entries.NameHook | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ServerOptions<E = never, R = never> extends Client.Options<E, R> {
  /**
   * When to try again to reach a server that has gone. Its entries are gone meanwhile. Default: never, the server leaves
   * the group.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ClientSessionGroupService {
  /**
   * Connects a server under a name of its own, and adds what it offers. Fails, with nothing left of it, when it cannot be
   * reached, and when a name that it brings is taken.
   *
   * It stays until it is disconnected, or the group closes.
   */
  readonly connect: <RC, E = never, R = never>(
    name: string,
    connector: Connector<RC>,
    options?: ServerOptions<E, R>
  ) => Effect.Effect<
    ClientSessionService,
    ConnectError | DuplicateEntry | DuplicateServer | E,
    Exclude<Exclude<R, Features.Features> | RC, Scope.Scope>
  >
  /** Adds what a server offers that somebody else has connected, and will close. */
  readonly add: (
    name: string,
    session: ClientSessionService
  ) => Effect.Effect<void, ClientError | DuplicateEntry | DuplicateServer>
  /** Removes a server and what it offers, and closes it if the group has connected it. In any order. */
  readonly disconnect: (name: string) => Effect.Effect<void, UnknownServer>
  /** The sessions of the servers that are connected now, by name. */
  readonly sessions: Effect.Effect<ReadonlyMap<string, ClientSessionService>>
  /** What all servers offer now. */
  readonly entries: Effect.Effect<Entries.Entries>
  /** The same, now and whenever it changes. */
  readonly changes: Stream.Stream<Entries.Entries>
  /** Calls a tool by the group's name for it. */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | UnknownEntry>
  /** Reads a resource at the server that lists it, or that has a template which fits. */
  readonly readResource: (
    uri: string,
    options?: CallOptions
  ) => Effect.Effect<Resources.ReadResourceResult, ClientError | UnknownEntry>
  /** Gets a prompt by the group's name for it. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError | UnknownEntry>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ClientSessionGroup extends Context.Tag("@effect-mcp/client/ClientSessionGroup")<
  ClientSessionGroup,
  ClientSessionGroupService
>() {}

/**
 * A group without servers. All of them are closed with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<ClientSessionGroupService, never, Scope.Scope> =>
  Effect.gen(function*() {
    // All servers are closed at once: one that does not want to end keeps no other.
    const home = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const hook: Entries.NameHook = options.nameHook ?? ((name) => name)
    const current = yield* SubscriptionRef.make(Entries.empty)
    const members = new Map<string, Member.Member>()

    /** Adds a server's entries, or nothing. */
    const admit = (name: string, session: ClientSessionService) =>
      Effect.flatMap(Member.offer(session), (offer) =>
        SubscriptionRef.modifyEffect(current, (entries) => {
          const merged = Entries.merge(entries, Entries.of(offer, { name, info: session.serverInfo }, hook))
          return Either.isLeft(merged)
            ? Effect.fail(new DuplicateEntry({ server: name, ...merged.left }))
            : Effect.succeed([undefined, merged.right] as const)
        }))

    /** Reads a server's entries anew. What was taken meanwhile by another server stays that server's. */
    const refresh = (name: string, session: ClientSessionService) =>
      Effect.flatMap(Member.offer(session), (offer) =>
        Effect.flatMap(
          SubscriptionRef.modify(current, (entries) => {
            const [added, taken] = Entries.add(
              Entries.without(entries, name),
              Entries.of(offer, { name, info: session.serverInfo }, hook)
            )
            return [taken, added]
          }),
          (taken) =>
            Effect.forEach(taken, (one) => Effect.logWarning(new DuplicateEntry({ server: name, ...one }).message), {
              discard: true
            })
        ))

    const remove = (name: string) => SubscriptionRef.update(current, (entries) => Entries.without(entries, name))

    const reserve = (name: string, member: Member.Member) =>
      Effect.suspend(() => {
        if (members.has(name)) return Effect.fail(new DuplicateServer({ server: name }))
        members.set(name, member)
        return Effect.void
      })

    const disconnect = (name: string): Effect.Effect<void, UnknownServer> =>
      Effect.suspend(() => {
        const member = members.get(name)
        if (member === undefined) return Effect.fail(new UnknownServer({ server: name }))
        members.delete(name)
        return Effect.zipRight(remove(name), Scope.close(member.scope, Exit.void))
      })

    /** A place in the group, in a scope that can be closed in any order; given up when `enter` fails. */
    const join = <A, E, R>(
      name: string,
      enter: (member: Member.Member) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | DuplicateServer, Exclude<R, Scope.Scope>> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const scope = yield* Scope.fork(home, ExecutionStrategy.sequential)
          const member: Member.Member = { scope, session: undefined }
          yield* Effect.onError(reserve(name, member), () => Scope.close(scope, Exit.void))
          return yield* Effect.onError(
            restore(Scope.extend(enter(member), scope)),
            () => Effect.ignore(disconnect(name))
          )
        })
      )

    /** Has a server in the group for as long as its conversation goes on. */
    const stay = (
      name: string,
      member: Member.Member,
      session: ClientSessionService,
      entered: Effect.Effect<void>
    ): Effect.Effect<void, ClientError | DuplicateEntry, Scope.Scope> =>
      Effect.gen(function*() {
        const change = yield* Member.changed(session)
        yield* admit(name, session)
        member.session = session
        yield* Effect.addFinalizer(() => {
          member.session = undefined
          // Whoever has taken the name since has entries of its own.
          return members.get(name) === member || !members.has(name) ? remove(name) : Effect.void
        })
        yield* entered
        yield* Member.watch(session, change, refresh(name, session))
      })

    const find = <K extends Entries.Kind>(
      kind: K,
      name: string
    ): Effect.Effect<readonly [ClientSessionService, Entries.Entry<any>], UnknownEntry> =>
      Effect.flatMap(SubscriptionRef.get(current), (entries) => {
        const entry = entries[kind].get(name)
        const session = entry === undefined ? undefined : members.get(entry.server)?.session
        return session === undefined
          ? Effect.fail(new UnknownEntry({ kind, name }))
          : Effect.succeed([session, entry!] as const)
      })

    const reader = (uri: string): Effect.Effect<ClientSessionService, UnknownEntry> =>
      Effect.flatMap(SubscriptionRef.get(current), ({ resources, templates }) => {
        const fitting = resources.get(uri) ?? [...templates].find(([template]) =>
          Either.match(UriTemplate.parse(template), {
            onLeft: () => false,
            onRight: (parsed) => Option.isSome(UriTemplate.match(parsed, uri))
          })
        )?.[1]
        const session = fitting === undefined ? undefined : members.get(fitting.server)?.session
        return session === undefined
          ? Effect.fail(new UnknownEntry({ kind: "resources", name: uri }))
          : Effect.succeed(session)
      })

    return {
      connect: (name, connector, serverOptions) =>
        join(name, (member) =>
          Member.live(
            (entered: (session: ClientSessionService) => Effect.Effect<void>) =>
              Effect.flatMap(
                Client.make(connector, serverOptions),
                (session) => stay(name, member, session, entered(session))
              ),
            serverOptions?.reconnect,
            Effect.ignore(disconnect(name))
          )) as never,
      add: (name, session) =>
        join(name, (member) =>
          Member.live(
            (entered: () => Effect.Effect<void>) => stay(name, member, session, entered()),
            undefined,
            Effect.ignore(disconnect(name))
          )),
      disconnect,
      sessions: Effect.sync(() =>
        new Map([...members].flatMap(([name, { session }]) => session === undefined ? [] : [[name, session] as const]))
      ),
      entries: SubscriptionRef.get(current),
      changes: current.changes,
      callTool: (name, args, callOptions) =>
        Effect.flatMap(
          find("tools", name),
          ([session, { value }]) => session.callTool((value as Tools.Tool).name, args, callOptions)
        ),
      readResource: (uri, callOptions) =>
        Effect.flatMap(reader(uri), (session) => session.readResource(uri, callOptions)),
      getPrompt: (name, args, callOptions) =>
        Effect.flatMap(
          find("prompts", name),
          ([session, { value }]) => session.getPrompt((value as Prompts.Prompt).name, args, callOptions)
        )
    }
  })

/**
 * A group as a layer: it is there when all of its servers are connected, and closes them with itself.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never, R = never>(
  options: Options = {},
  connect: (group: ClientSessionGroupService) => Effect.Effect<unknown, E, R> = () => Effect.void
): Layer.Layer<ClientSessionGroup, E, Exclude<R, Scope.Scope>> =>
  Layer.scoped(ClientSessionGroup, Effect.tap(make(options), connect))
