/**
 * Many servers as one: their entries together, calls that go to the server that has the entry, and entries that follow
 * their servers while these come, change and go. A server that ends takes only its own entries with it.
 *
 * `Members` holds the connections, `CurrentEntries` the entries; this module connects the two and routes calls.
 *
 * @since 0.1.0
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { CallOptions, CallToolOptions } from "./CallOptions.js"
import * as Client from "./Client.js"
import type { ClientError, ConnectError } from "./ClientError.js"
import type { ClientSessionService } from "./ClientSession.js"
import type * as Features from "./Features.js"
import * as CurrentEntries from "./group/CurrentEntries.js"
import { readable } from "./group/Entries.js"
import * as Members from "./group/Members.js"
import * as Reconnect from "./group/Reconnect.js"
import * as ServerLists from "./group/ServerLists.js"
import type { Entries, Entry, Kind, NameHook } from "./GroupEntries.js"
import type { DuplicateEntry, DuplicateServer, UnknownServer } from "./GroupError.js"
import { UnknownEntry } from "./GroupError.js"

export interface Options {
  /** Gives tools and prompts their names in the group. Default: the names that their servers use. */
  readonly nameHook?: NameHook | undefined
}

export interface ServerOptions<E = never, R = never> extends Client.Options<E, R> {
  /**
   * When to connect again after the session with the server has ended. Meanwhile the group does not have its entries.
   * Default: never; the server leaves the group.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
}

export interface ClientSessionGroupService {
  /**
   * Connects a server and adds its entries. Fails when the server cannot be reached, and when another server has one of
   * its names; then nothing of it remains in the group.
   *
   * The server stays until it is disconnected, or the group closes. When that happens while it connects, this effect is
   * interrupted.
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
  /** Adds the entries of a server that the application has connected, and that it will close. */
  readonly add: (
    name: string,
    session: ClientSessionService
  ) => Effect.Effect<void, ClientError | DuplicateEntry | DuplicateServer>
  /** Removes a server and its entries, and closes its session if the group has connected it. */
  readonly disconnect: (name: string) => Effect.Effect<void, UnknownServer>
  /** The sessions of the servers that are connected now, by name. */
  readonly sessions: Effect.Effect<ReadonlyMap<string, ClientSessionService>>
  /** The entries of all servers. */
  readonly entries: Effect.Effect<Entries>
  /** The entries of all servers, now and after each change. */
  readonly changes: Stream.Stream<Entries>
  /** Calls a tool by its name in the group. */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | UnknownEntry>
  /** Reads a resource from the server that lists it, or that has a matching template. */
  readonly readResource: (
    uri: string,
    options?: CallOptions
  ) => Effect.Effect<Resources.ReadResourceResult, ClientError | UnknownEntry>
  /** Gets a prompt by its name in the group. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError | UnknownEntry>
}

export class ClientSessionGroup extends Context.Tag("@effect-mcp/client/ClientSessionGroup")<
  ClientSessionGroup,
  ClientSessionGroupService
>() {}

/** A group without servers. Its servers are closed with the scope. */
export const make = (
  options: Options = {}
): Effect.Effect<ClientSessionGroupService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const members = yield* Members.make
    const shared = yield* CurrentEntries.make(options.nameHook ?? ((name) => name))
    return {
      connect: (name, connector, serverOptions) =>
        members.join(name, (member, joined) =>
          Reconnect.run(
            Effect.flatMap(
              Client.make(connector, serverOptions),
              (session) => enter(members, shared, name, member, session)
            ),
            serverOptions?.reconnect,
            joined
          )) as never,
      add: (name, session) =>
        Effect.asVoid(
          members.join(
            name,
            (member, joined) => Reconnect.run(enter(members, shared, name, member, session), undefined, joined)
          )
        ),
      disconnect: (name) => members.remove(name, shared.remove(name)),
      sessions: members.sessions,
      entries: SubscriptionRef.get(shared.current),
      changes: shared.current.changes,
      ...calls(members, shared)
    }
  })

/** Puts a connected server into the group, until the scope closes. */
const enter = (
  members: Members.Members,
  shared: CurrentEntries.CurrentEntries,
  name: string,
  member: Members.Member,
  session: ClientSessionService
): Effect.Effect<Reconnect.Connection<ClientSessionService>, ClientError | DuplicateEntry, Scope.Scope> =>
  Effect.gen(function*() {
    const change = yield* ServerLists.changes(session)
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        Ref.set(member, Option.none()),
        // When another member has the name, the entries under it are no longer those of this one.
        Effect.whenEffect(shared.remove(name), members.owns(name, member))
      )
    )
    yield* shared.add(name, session)
    yield* Ref.set(member, Option.some(session))
    return [session, ServerLists.follow(session, change, shared.refresh(name, session))]
  })

const calls = (
  members: Members.Members,
  { current }: CurrentEntries.CurrentEntries
): Pick<ClientSessionGroupService, "callTool" | "readResource" | "getPrompt"> => {
  /** Runs a call at the server of an entry. */
  const route = <A, B>(
    kind: Kind,
    name: string,
    find: (entries: Entries) => Entry<A> | undefined,
    call: (session: ClientSessionService, value: A) => Effect.Effect<B, ClientError>
  ): Effect.Effect<B, ClientError | UnknownEntry> =>
    Effect.gen(function*() {
      const entry = find(yield* SubscriptionRef.get(current))
      if (entry === undefined) return yield* new UnknownEntry({ kind, name })
      const session = yield* members.session(entry.server)
      if (Option.isNone(session)) return yield* new UnknownEntry({ kind, name })
      return yield* call(session.value, entry.value)
    })
  return {
    callTool: (name, args, options) =>
      route(
        "tools",
        name,
        ({ tools }) => tools.get(name),
        (session, tool) => session.callTool(tool.name, args, options)
      ),
    readResource: (uri, options) =>
      route(
        "resources",
        uri,
        (entries) => readable(entries, uri),
        (session) => session.readResource(uri, options)
      ),
    getPrompt: (name, args, options) =>
      route(
        "prompts",
        name,
        ({ prompts }) => prompts.get(name),
        (session, prompt) => session.getPrompt(prompt.name, args, options)
      )
  }
}

/** A group as a layer. It is built when `connect` is done, and closes its servers with itself. */
export const layer = <E = never, R = never>(
  options: Options = {},
  connect: (group: ClientSessionGroupService) => Effect.Effect<unknown, E, R> = () => Effect.void
): Layer.Layer<ClientSessionGroup, E, Exclude<R, Scope.Scope>> =>
  Layer.scoped(ClientSessionGroup, Effect.tap(make(options), connect))
