/**
 * Combines many servers into one group. The group joins the entries of all servers, and sends each call to the server that has the entry.
 * The entries change when servers are added, change their lists, or leave. When a server ends, only its own entries leave the group.
 *
 * `Members` stores the connections, and `CurrentEntries` stores the entries.
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
  /** Gives tools and prompts their names in the group, or leaves them out. Default: their names at their servers. */
  readonly nameHook?: NameHook | undefined
  /**
   * Gives resources and resource templates their URIs in the group, or leaves them out. The new URI of a template must have the same
   * variables. Default: their URIs at their servers.
   */
  readonly uriHook?: NameHook | undefined
  /**
   * What happens when an entry of a server has the name of an entry of an earlier server. `rename`: the entry of the later server gets
   * another name (see `Entries`). `fail`: connecting the later server fails with `DuplicateEntry`. Default: `rename`.
   */
  readonly onCollision?: "rename" | "fail" | undefined
  /**
   * How many characters the name of a tool or prompt may have when the group makes the name, because of a collision or because of `prefix`.
   * The group cuts a longer name. Default: 64, which every known model API accepts.
   */
  readonly maxNameLength?: number | undefined
  /**
   * Which tools and prompts get the name of their server before their own name, as in `git_log`. `always`: all tools and prompts.
   * `onCollision`: only tools and prompts whose name another server, connected earlier, already uses. Default: `onCollision`.
   */
  readonly prefix?: "onCollision" | "always" | undefined
  /** Finds tools that have changed, and refuses calls of a tool to which the application has not agreed. Default: no tool is refused. */
  readonly fingerprints?: ToolFingerprints | undefined
}

/** @category models */
export interface ServerOptions<E = never, R = ClientFeatures.ClientFeatures> extends Client.Options<E, R> {
  /**
   * When to connect again after the session with the server has ended. Until the server is connected again, its entries are not in the
   * group, but their names stay reserved. Default: never, and the server leaves the group.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
}

/** @category models */
export interface ClientSessionGroupService {
  /**
   * Connects a server and adds its entries. Fails when the server cannot be reached; then the group has nothing of the server. When two
   * servers have entries with the same name, the server that was connected first keeps the name. The order is the order in which the
   * `connect` effects were run, not the order in which the servers answer.
   *
   * The server stays until it is disconnected or the group closes. If the group disconnects the server or closes while the server still
   * connects, the effect of `connect` is interrupted.
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
  /** Adds the entries of a server with which the application has connected. The application closes the session itself. */
  readonly add: (
    name: string,
    session: ClientSessionService
  ) => Effect.Effect<void, ClientError | DuplicateEntry | DuplicateServer>
  /** Removes a server and its entries. If the group has connected the server, its session is closed. */
  readonly disconnect: (name: string) => Effect.Effect<void, UnknownServer>
  /** The sessions of the servers that are connected now, by the names of the servers. */
  readonly sessions: Effect.Effect<ReadonlyMap<string, ClientSessionService>>
  /** The entries of all servers at this moment. */
  readonly entries: Effect.Effect<Entries>
  /** The entries of all servers, now and after each change. A slow reader misses older values, but never the newest. */
  readonly changes: Stream.Stream<Entries>
  /** Calls a tool by its name in the group. Fails with `ToolRefused` when the `fingerprints` of the group refuse the tool. */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | ToolRefused | UnknownEntry>
  /**
   * Reads a resource by its URI in the group. The group asks the server that lists the resource. If no server lists the resource, the group
   * asks the first server that has a matching template.
   */
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
 * Makes a group without servers. When the scope closes, the group closes the servers that it has connected.
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

/** How long the group waits for the subscription to changes before it reads the lists of a server. */
const SUBSCRIPTION_WAIT = "5 seconds"

/** Puts a connected server into the group until the scope closes. */
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
  /** Finds an entry, and runs a call at the server of the entry. */
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
 * Makes a layer with a group. The layer is built when the effect of `connect` has ended. When the layer closes, it closes the servers of
 * the group. Default for `connect`: no servers.
 *
 * @category layers
 */
export const layer = <E = never, R = never>(
  options: Options = {},
  connect: (group: ClientSessionGroupService) => Effect.Effect<unknown, E, R> = () => Effect.void
): Layer.Layer<ClientSessionGroup, E, Exclude<R, Scope.Scope>> =>
  Layer.scoped(ClientSessionGroup, Effect.tap(make(options), connect))
