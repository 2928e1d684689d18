/**
 * Many servers as one: their entries together, calls that go to the server that has the entry, and entries that follow their servers while
 * servers come, change and go. A server that ends takes only its own entries with it.
 *
 * `Members` holds the connections, `CurrentEntries` the entries; this module connects the two and routes calls.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Connector } from "../jsonrpc/Connector.js"
import { raceFirst } from "../kit/Race.js"
import type { JsonObject } from "../protocol/Json.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import type * as Tools from "../protocol/Tools.js"
import * as Client from "./Client.js"
import type { ClientError, ConnectError } from "./ClientError.js"
import type * as ClientFeatures from "./ClientFeatures.js"
import type { CallOptions, CallToolOptions, ClientSessionService } from "./ClientSession.js"
import * as CurrentEntries from "./group/CurrentEntries.js"
import { readable } from "./group/Entries.js"
import * as Members from "./group/Members.js"
import * as Reconnect from "./group/Reconnect.js"
import * as ServerLists from "./group/ServerLists.js"
import type { Entries, Kind, NameHook } from "./GroupEntries.js"
import {
  type DuplicateEntry,
  type DuplicateServer,
  ToolRefused,
  UnknownEntry,
  type UnknownServer
} from "./GroupError.js"
import * as KnownVersions from "./negotiation/KnownVersions.js"
import * as ListPace from "./session/ListPace.js"
import type { ToolFingerprints } from "./ToolFingerprints.js"

/** @category models */
export interface Options {
  /** Gives tools and prompts their names in the group, or leaves them out. Default: the names that their servers use. */
  readonly nameHook?: NameHook | undefined
  /**
   * Gives resources and resource templates their URIs in the group, or leaves them out. A template must keep its variables.
   * Default: the URIs that their servers use.
   */
  readonly uriHook?: NameHook | undefined
  /**
   * What happens when a server has a name that an earlier server has: the entry of the later server is renamed (see `Entries`), or
   * connecting that server fails with `DuplicateEntry`. Default: rename.
   */
  readonly onCollision?: "rename" | "fail" | undefined
  /**
   * The longest name of a tool or prompt that is renamed for a collision, in characters; a longer name is cut. Default: 64, which every
   * known model API accepts.
   */
  readonly maxNameLength?: number | undefined
  /**
   * Which tools and prompts have the name of their server before their name in the group, as `git_log`: `always`: each. `onCollision`: an
   * entry whose name an earlier server has. Default: `onCollision`.
   */
  readonly prefix?: "onCollision" | "always" | undefined
  /** Notices tools that change, and refuses their calls if the fingerprints say so. Default: none. */
  readonly fingerprints?: ToolFingerprints | undefined
}

/** @category models */
export interface ServerOptions<E = never, R = ClientFeatures.ClientFeatures> extends Client.Options<E, R> {
  /**
   * When to connect again after the session with the server has ended. Meanwhile the group does not have its entries, and
   * their names stay reserved. Default: never; the server leaves the group.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
}

/** @category models */
export interface ClientSessionGroupService {
  /**
   * Connects a server and adds its entries. Fails when the server cannot be reached; then nothing of it remains in the group. When two
   * servers have an entry of the same name, the server for which this effect was run first keeps the name, whichever server answers first.
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
    Exclude<Exclude<R, ClientFeatures.ClientFeatures> | RC, Scope.Scope>
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
  /** The entries of all servers, now and after each change. A slow reader misses older values, never the newest. */
  readonly changes: Stream.Stream<Entries>
  /**
   * Calls a tool by its name in the group. Fails with `ToolRefused` when the `fingerprints` of the group refuse the tool.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | ToolRefused | UnknownEntry>
  /** Reads a resource by its URI in the group from the server that lists it, or else from the first server with a matching template. */
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

/** @category tags */
export class ClientSessionGroup extends Context.Tag("@effect-mcp/core/ClientSessionGroup")<
  ClientSessionGroup,
  ClientSessionGroupService
>() {}

/**
 * A group without servers. Its servers are closed with the scope.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<ClientSessionGroupService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const shared = yield* CurrentEntries.make({
      nameHook: options.nameHook ?? identity,
      uriHook: options.uriHook ?? identity,
      maxNameLength: options.maxNameLength ?? 64,
      isPrefixed: options.prefix === "always",
      refuseCollisions: options.onCollision === "fail",
      fingerprints: options.fingerprints
    })
    if (options.fingerprints !== undefined) {
      yield* options.fingerprints.renewing(shared.renew)
    }
    const members = yield* Members.make(shared.remove)
    const known = KnownVersions.byOrigin()
    const ownCalls = new ListPace.OwnCalls()
    return {
      connect: (name, connector, { reconnect, ...client } = {}) =>
        members.join(name, (member, joined) =>
          Reconnect.run(
            Effect.flatMap(
              Effect.provideService(Client.make(connector, client), KnownVersions.KnownVersions, known),
              (session) => enter(shared, ownCalls, member, session)
            ),
            reconnect && { name: `The server "${name}" of the group`, schedule: reconnect },
            joined
          )) as never,
      add: (name, session) =>
        Effect.asVoid(
          members.join(name, (member, joined) =>
            Reconnect.run(enter(shared, ownCalls, member, session), undefined, joined))
        ),
      disconnect: members.remove,
      sessions: members.sessions,
      entries: shared.entries,
      changes: shared.changes,
      ...calls(members, shared, ownCalls)
    }
  })

/** How long the lists of a server wait for the subscription that reports their changes. */
const SUBSCRIPTION_WAIT = "5 seconds"

/** Puts a connected server into the group, until the scope closes. */
const enter = (
  shared: CurrentEntries.CurrentEntries,
  calls: ListPace.OwnCalls,
  member: Members.Member,
  session: ClientSessionService
): Effect.Effect<Reconnect.Connection<ClientSessionService>, ClientError | DuplicateEntry, Scope.Scope> =>
  Effect.gen(function*() {
    const change = yield* ServerLists.changes(session)
    yield* raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT))
    yield* Effect.addFinalizer(() => Effect.zipRight(Ref.set(member.session, Option.none()), shared.hide(member)))
    const { isComplete } = yield* shared.add(member, session)
    yield* Ref.set(member.session, Option.some(session))
    return [session, ServerLists.follow(session, isComplete, change, shared.refresh(member, session), calls)]
  })

const calls = (
  members: Members.Members,
  { entries, refusal }: CurrentEntries.CurrentEntries,
  ownCalls: ListPace.OwnCalls
): Pick<ClientSessionGroupService, "callTool" | "readResource" | "getPrompt"> => {
  /** Runs a call at the server of an entry. */
  const route = <A extends { readonly server: string }, B, E>(
    kind: Kind,
    name: string,
    find: (entries: Entries) => Effect.Effect<A | undefined>,
    call: (session: ClientSessionService, entry: A) => Effect.Effect<B, E>
  ): Effect.Effect<B, E | UnknownEntry> =>
    Effect.gen(function*() {
      const entry = yield* Effect.flatMap(entries, find)
      if (entry === undefined) return yield* new UnknownEntry({ kind, entry: name })
      const session = yield* members.session(entry.server)
      if (Option.isNone(session)) return yield* new UnknownEntry({ kind, entry: name })
      return yield* call(session.value, entry)
    })
  return {
    callTool: (name, args, options) =>
      route(
        "tools",
        name,
        ({ tools }) => Effect.succeed(tools.get(name)),
        (session, tool): Effect.Effect<Tools.CallToolResult, ClientError | ToolRefused> => {
          const { listed, server } = tool
          const reason = refusal(tool)
          return reason === undefined
            ? ownCalls.around(session.callTool(listed.name, args, options))
            : Effect.fail(new ToolRefused({ server, tool: listed.name, reason }))
        }
      ),
    readResource: (uri, options) =>
      route(
        "resources",
        uri,
        (entries) => readable(entries, uri),
        (session, { uri: original }) => session.readResource(original, options)
      ),
    getPrompt: (name, args, options) =>
      route(
        "prompts",
        name,
        ({ prompts }) => Effect.succeed(prompts.get(name)),
        (session, { value }) => session.getPrompt(value.name, args, options)
      )
  }
}

/**
 * A group as a layer. It is built when `connect` is done, and closes its servers with itself.
 *
 * @category layers
 */
export const layer = <E = never, R = never>(
  options: Options = {},
  connect: (group: ClientSessionGroupService) => Effect.Effect<unknown, E, R> = () => Effect.void
): Layer.Layer<ClientSessionGroup, E, Exclude<R, Scope.Scope>> =>
  Layer.scoped(ClientSessionGroup, Effect.tap(make(options), connect))
