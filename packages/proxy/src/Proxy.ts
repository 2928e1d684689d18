/**
 * Serves the tools, resources, prompts and completions of another MCP server as features of your server. The other MCP server is called the
 * upstream. The proxy also passes progress, log messages and questions of the upstream (elicitation, sampling, roots) to the client. The
 * client and the upstream may use different protocol revisions.
 *
 * A server may have its own features and several proxies. When the server itself and a proxy have an entry of the same name, clients get
 * the entry of the server. When several proxies have an entry of the same name, clients get the entry of the proxy that has listed the name
 * first. When an upstream fails, the entries of the other upstreams still work.
 *
 * `upstream/Sessions` chooses the session with the upstream. `entries/Mirror` registers the entries. `calls/Forward` sends the calls.
 *
 * @since 0.1.0
 */
import type * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Connector } from "@effect-mcp/core/Connector"
import { RequestTimeout } from "@effect-mcp/core/LocalError"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import { type Description, Registry, type RegistryService } from "@effect-mcp/core/Registry"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import { extension as tasks } from "@effect-mcp/core/TasksClient"
import type { ToolFingerprints } from "@effect-mcp/core/ToolFingerprints"
import { OwnCalls } from "@effect-mcp/core/unstable/client/ListPace"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Forward from "./calls/Forward.js"
import * as WaitingCalls from "./calls/WaitingCalls.js"
import * as Mirror from "./entries/Mirror.js"
import * as UpstreamSubscriptions from "./entries/UpstreamSubscriptions.js"
import type { ProxyEntry } from "./ProxyEntry.js"
import * as Link from "./upstream/Link.js"
import * as Links from "./upstream/Links.js"
import * as ListFollower from "./upstream/ListFollower.js"
import * as ListingLink from "./upstream/ListingLink.js"
import * as Sessions from "./upstream/Sessions.js"
import * as UpstreamError from "./upstream/UpstreamError.js"
import * as UpstreamQuestions from "./upstream/UpstreamQuestions.js"

/**
 * The options of `layer` and `layerConnected`.
 *
 * @category models
 */
export interface Options {
  /**
   * The name of the upstream in logs and in the errors that clients get. Default: the name of the connector, without the query of a URL.
   */
  readonly name?: string | undefined
  /** A prefix for the names of tools and prompts, as clients get them. Default: no prefix. */
  readonly prefix?: string | undefined
  /**
   * Returns the name of an entry for clients. With this option, the proxy ignores the option `prefix`. The name of a resource is its URI.
   * The name of a template is its URI template, and the new URI template must have the same variables. When two entries get the same name,
   * clients get the first entry. Default: for tools and prompts `prefix` and the name at the upstream, for resources and templates the name
   * at the upstream.
   */
  readonly rename?: ((entry: ProxyEntry) => string) | undefined
  /**
   * Returns `true` for an entry that clients get. Default: clients get every entry. An upstream may serve resources that it does not list.
   * Clients can read these resources only if the proxy has neither this option nor `rename`. With one of these options, clients can read
   * only resources that are listed or that match a template.
   */
  readonly filter?: ((entry: ProxyEntry) => boolean) | undefined
  /**
   * The fingerprints with which the proxy detects tools of the upstream that have changed. Clients do not get a tool that the fingerprints
   * refuse. The result of a call of such a tool says why the call was refused. The fingerprints store the upstream under the name in the
   * option `name`. Default: the proxy does not detect changes.
   */
  readonly fingerprints?: ToolFingerprints | undefined
  /**
   * Whether each client has its own session with the upstream (`each`), or all clients share one session (`shared`). Default: `each` for an
   * upstream of revision 2025-11-25 or earlier. For an upstream of revision 2026-07-28 the default is `shared`, because the questions of
   * such an upstream are part of the result of a call.
   *
   * Use `each` for an upstream that keeps state for a session, or that asks its client questions. Over stdio, a question of an upstream of
   * revision 2025-11-25 or earlier does not say to which call it belongs. So in a shared session, a client gets such a question only while
   * no call of another client runs.
   *
   * With `each`, there is a special case: the server cannot distinguish anonymous clients of revision 2026-07-28 over HTTP. If the server
   * listens only on loopback, these clients share a session. Otherwise each of their requests opens a session.
   */
  readonly sessions?: "each" | "shared" | undefined
  /** The most sessions with the upstream that belong to one client each. The calls of further clients fail. Default: 1,000. */
  readonly maxSessions?: number | undefined
  /** The time for which the own session of a client of revision 2026-07-28 stays open without requests. Default: 1 minute. */
  readonly idleSession?: Duration.DurationInput | undefined
  /** Whether the instructions of the server contain the instructions of the upstream. Default: true. */
  readonly instructions?: boolean | undefined
  /** The most entries of the upstream that clients get. The proxy skips further entries and logs a warning. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /**
   * The time for two limits. The first limit is the longest duration of one attempt to connect; without this option it is 3 minutes. The
   * second limit is the longest time for which the start of the server, and calls of clients, wait for the connection; without this option
   * it is 10 seconds.
   */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /**
   * The schedule of the attempts to connect again, after the connection has ended or an attempt has failed. After a connection of at least
   * 1 minute the schedule starts from its beginning. Default: the first wait is about half a second, each further wait is about twice as
   * long, and no wait is longer than 30 seconds.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  /**
   * The limits for calls in which an upstream of revision 2025-11-25 or earlier has asked a client of revision 2026-07-28. The proxy keeps
   * such a call until the client sends the answer with a new request. `max` is the most calls that the proxy keeps. `ttl` is the longest
   * time for which it keeps a call. Default: 1,000 calls, and 10 minutes.
   */
  readonly waiting?: {
    readonly max?: number | undefined
    readonly ttl?: Duration.DurationInput | undefined
  } | undefined
  /**
   * The options of the proxy's own client, which calls the upstream. The default of `timeout` is 5 minutes, and each progress notification
   * restarts this time. The default of `timeouts` is 1 minute for `initialize` and for the requests that read lists. For each extension in
   * `extensions`, the proxy passes on the requests and notifications that clients send. For the extension of tasks, the proxy runs calls as
   * tasks.
   */
  readonly client?:
    | Omit<Client.Options, "checkOutputs" | "features" | "onCacheHints" | "onNotification" | "prior">
    | undefined
}

/**
 * Serves the features of an upstream. The server waits until the upstream has listed its entries, but not longer than the option
 * `connectTimeout` (10 seconds by default). When the upstream could not be reached, the server starts without the entries. Then the proxy
 * tries again to connect, and the server notifies clients when the entries arrive.
 *
 * @example
 * ```ts
 * import * as Connector from "@effect-mcp/core/Connector"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Proxy from "@effect-mcp/proxy/Proxy"
 *
 * export const gateway = (upstream: Connector.Connector) =>
 *   McpServer.layer({ name: "gateway", version: "1.0.0" }, Proxy.layer(upstream, { prefix: "files_" }))
 * ```
 * @category layers
 */
export const layer = <R = never>(
  connector: Connector<R>,
  options: Options = {}
): Layer.Layer<never, never, Registry | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(
    Effect.flatMap(provided(connector), (connector) => make(connector, options)),
    ({ started }) =>
      Effect.ignore(Effect.sandbox(
        TimeLimit.end(started, options.connectTimeout ?? defaults.connectTimeout)
      ))
  ))

/**
 * Serves the features of an upstream, as `layer` does. But this layer always waits until the upstream has listed its entries, and fails
 * when the first attempt to connect fails.
 *
 * @category layers
 */
export const layerConnected = <R = never>(
  connector: Connector<R>,
  options: Options = {}
): Layer.Layer<never, ConnectError, Registry | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(
    Effect.flatMap(
      provided(connector),
      (connector) => Effect.flatMap(make(connector, options), ({ started }) => started)
    )
  )

const defaults = {
  connectTimeout: "10 seconds",
  // A launcher such as `npx` may download the upstream first, and a client may connect twice.
  attempt: "3 minutes",
  reconnect: Schedule.union(Schedule.jittered(Schedule.exponential("500 millis")), Schedule.spaced("30 seconds")),
  timeouts: {
    "initialize": "1 minute",
    "tools/list": "1 minute",
    "prompts/list": "1 minute",
    "resources/list": "1 minute",
    "resources/templates/list": "1 minute"
  }
} as const

/** The options of the application, with default values for missing options. */
interface Settings {
  readonly options: Options
  readonly name: string
  readonly connector: Connector
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
  readonly client: Client.Options
  /** The longest time for which calls of clients wait for the connection. */
  readonly connectTimeout: Duration.DurationInput
  /** The longest duration of one attempt to connect. */
  readonly attempt: Duration.DurationInput
  readonly reconnect: Schedule.Schedule<unknown, unknown>
}

/** The sessions with the upstream. */
interface Upstream {
  readonly listingLink: ListingLink.ListingLink
  readonly links: Links.Links
  readonly sessions: Sessions.Sessions
  /** All sessions with the upstream close at the same time, when this scope closes. */
  readonly closing: Scope.Scope
}

/** The state that the entries and the calls of the proxy need. */
interface Base extends Settings, Upstream {
  readonly registry: RegistryService
  /** Runs an effect in the background; no client waits for it. */
  readonly fork: (effect: Effect.Effect<void>) => void
}

interface Self extends Base {
  readonly forward: Forward.Forward
  readonly subscriptions: UpstreamSubscriptions.Subscriptions
  readonly mirror: Mirror.Mirror
}

const make = Effect.fnUntraced(function*(connector: Connector, options: Options) {
  const registry = yield* Registry
  const settings = settingsOf(connector, options)
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const describe = yield* describing(registry, options.instructions !== false)
  // `self` has a value before a session with the upstream opens, because the proxy connects last.
  const upstream = yield* upstreamOf(settings, (link, session, listed) => onOpen(self, link, session, listed))
  const base: Base = { ...settings, ...upstream, registry, fork }
  const forward = yield* forwardOf(base)
  const subscriptions = subscriptionsOf(base, (uri) => self.mirror.toOwn(uri))
  const mirror = yield* mirrorOf(base, forward, subscriptions)
  const self: Self = { ...base, forward, subscriptions, mirror }
  yield* passExtensions(self)
  yield* observe(self)
  if (options.fingerprints !== undefined) {
    yield* options.fingerprints.renewing(mirror.renew)
  }
  const { closing, listingLink } = upstream
  yield* Scope.extend(
    listingLink.run({
      onOpen: (link) => Effect.zipRight(describe(link.session), subscriptions.follow(link)),
      onLists: mirror.set
    }),
    closing
  )
  return { started: listingLink.started }
})

const settingsOf = (connector: Connector, options: Options): Settings => ({
  options,
  name: options.name ?? connector.name.split("?")[0]!,
  connector,
  extensions: options.client?.extensions ?? [],
  client: {
    ...options.client,
    timeout: options.client?.timeout ?? "5 minutes",
    timeouts: { ...defaults.timeouts, ...options.client?.timeouts }
  },
  connectTimeout: options.connectTimeout ?? defaults.connectTimeout,
  attempt: options.connectTimeout ?? defaults.attempt,
  reconnect: options.reconnect ?? defaults.reconnect
})

const upstreamOf = Effect.fnUntraced(function*(settings: Settings, onOpen: Links.Options["onOpen"]) {
  const { connectTimeout, name, options, reconnect } = settings
  const closing = yield* Effect.acquireRelease(
    Effect.flatMap(Effect.scope, (scope) => EffectInternals.childOf(scope, "parallel")),
    (closing, exit) => Scope.close(closing, exit)
  )
  // The shared link counts the calls of all clients, because any call may change the lists of the upstream.
  const calls = new OwnCalls()
  const listingLink = yield* ListingLink.make({
    name,
    open: open(settings, UpstreamQuestions.all, () => undefined, [calls]),
    connectTimeout,
    reconnect
  })
  const links = yield* Scope.extend(
    Links.make({
      name,
      max: options.maxSessions ?? 1000,
      idle: options.idleSession ?? "1 minute",
      open: (capabilities, standalone) =>
        Effect.flatMap(listingLink.link, (prior) =>
          Effect.catchAll(
            open(settings, UpstreamQuestions.passed(capabilities), standalone, [new OwnCalls(), calls], prior),
            (error) => UpstreamError.unconnected(name, error)
          )),
      onOpen
    }),
    closing
  )
  const sessions = Sessions.make({ sessions: options.sessions, listingLink, links, connectTimeout })
  return { listingLink, links, sessions, closing } satisfies Upstream
})

const open = (
  { attempt, client, connector, name }: Settings,
  capabilities: ClientCapabilities,
  standalone: () => ServerSessionService | undefined,
  calls: Link.Options["calls"],
  prior?: Link.Link
): Effect.Effect<Link.Link, ConnectError, Scope.Scope> =>
  TimeLimit.call(
    Link.open({
      name,
      connector,
      client,
      capabilities,
      calls,
      prior: prior?.session,
      isShared: prior === undefined,
      standalone
    }),
    attempt,
    () => Effect.fail(new RequestTimeout({ method: "initialize", millis: Duration.toMillis(attempt) }))
  )

/** Follows the lists and the updates of resources in the session of one client with the upstream. */
const onOpen = Effect.fnUntraced(function*(
  self: Self,
  link: Link.Link,
  session: ServerSessionService,
  listed: Deferred.Deferred<void>
) {
  const { fork, mirror, name, subscriptions } = self
  const { logLevel } = session.client
  yield* Effect.addFinalizer(() => Effect.sync(() => fork(openAgain(self, session))))
  if (logLevel !== undefined) yield* link.setLevel(logLevel)
  yield* subscriptions.followOwn(link, session)
  yield* Effect.addFinalizer(() =>
    Effect.zipRight(Deferred.succeed(listed, undefined), mirror.setOwn(link, undefined, []))
  )
  const following = yield* ListFollower.make(
    name,
    link,
    (lists, reported) => mirror.setOwn(link, lists, reported),
    Deferred.succeed(listed, undefined)
  )
  yield* Effect.forkScoped(Effect.interruptible(following))
})

/**
 * Opens the session for a client again after its end, if the client has subscriptions. The first attempt comes after the first wait of the
 * schedule `reconnect`. Such a client may only listen and send no further request, so this function opens the session without a request.
 */
const openAgain = ({ reconnect, sessions, subscriptions }: Self, client: ServerSessionService): Effect.Effect<void> =>
  Effect.suspend(() => {
    let isEnded = true
    const attempt = Effect.suspend((): Effect.Effect<unknown, unknown> => {
      if (!subscriptions.wantsOwn(client)) return Effect.void
      if (!isEnded) return sessions.ownLinkOf(client)
      isEnded = false
      return Effect.fail(undefined)
    })
    return Effect.ignore(Effect.retry(attempt, reconnect))
  })

const forwardOf = ({ connectTimeout, extensions, listingLink, name, options: { waiting }, sessions }: Base) =>
  Effect.map(
    WaitingCalls.make({ name, max: waiting?.max ?? 1000, ttl: waiting?.ttl ?? "10 minutes" }),
    (waitingCalls) =>
      Forward.make({
        name,
        extensions,
        link: sessions.linkOf,
        era: Effect.map(listingLink.link, ({ session }) => session.era),
        waitingCalls,
        connectTimeout
      })
  )

const subscriptionsOf = (
  { fork, links, listingLink, name, registry, sessions }: Base,
  toOwn: (uri: string) => string
): UpstreamSubscriptions.Subscriptions =>
  UpstreamSubscriptions.make({
    name,
    own: sessions.ownLinkOf,
    ownNow: (session) => links.existing(session)?.session,
    shared: listingLink.link,
    sharedNow: listingLink.session,
    run: fork,
    toOwn,
    updated: registry.updated
  })

const mirrorOf = (
  { extensions, listingLink, name, options, registry, sessions }: Base,
  forward: Forward.Forward,
  subscriptions: UpstreamSubscriptions.Subscriptions
): Effect.Effect<Mirror.Mirror, never, Scope.Scope> => {
  const runsTasks = extensions.some(({ id }) => id === tasks.id)
  const capabilities = () => listingLink.session()?.serverCapabilities
  return Mirror.make({
    ...options,
    name,
    registry,
    extensions,
    maxEntries: options.maxEntries ?? 10_000,
    isEach: sessions.isEachNow,
    ownerOf: sessions.ownerOf,
    completes: () => capabilities()?.completions !== undefined,
    hasResources: () => capabilities()?.resources !== undefined,
    subscribe: (uri) => (_, session) => subscriptions.begin(uri, session),
    startsTasks: () =>
      runsTasks && capabilities()?.extensions?.[tasks.id] !== undefined
        ? { support: "optional", startsInHandler: true }
        : undefined,
    forward
  })
}

/**
 * Passes on the requests and notifications of extensions, except for the extension of tasks: the server of the proxy handles these
 * requests.
 */
const passExtensions = ({ extensions, forward, registry, sessions }: Self) =>
  Layer.build(Layer.provide(
    Forward.extensionRequests(
      extensions.filter(({ id }) => id !== tasks.id),
      forward,
      (session, method, params) =>
        Effect.scoped(
          Effect.flatMap(sessions.linkOf(session), (link) => Effect.ignore(link.session.notify(method, params)))
        )
    ),
    Layer.succeed(Registry, registry)
  ))

/** Handles what clients do outside of calls: the handshake, a change of the roots, a log level. */
const observe = (self: Self): Effect.Effect<void, never, Scope.Scope> => {
  const { fork, links, registry, sessions } = self
  return registry.observe({
    onAnonymous: whenLinked(self, ({ session }) => sessions.isEach(session) ? links.warnOfAnonymous : undefined),
    onInitialized: (session) =>
      Effect.sync(() => {
        links.begin(session)
        // Opens the client's session with the upstream now, because an upstream may ask for the roots of the client before the first call
        // of the client.
        fork(Effect.ignore(sessions.ownLinkOf(session)))
      }),
    onRootsChanged: (session) => links.existing(session)?.rootsChanged ?? Effect.void,
    onLogLevel: (session) => {
      const { logLevel } = session.client
      return logLevel === undefined
        ? Effect.void
        : whenLinked(
          self,
          (shared) => (sessions.isEach(shared.session) ? links.existing(session) : shared)?.setLevel(logLevel)
        )
    }
  })
}

/**
 * Runs an effect with the shared link on a separate fiber. Runs nothing when the proxy does not connect to the upstream within
 * `connectTimeout`.
 */
const whenLinked = (
  { fork, listingLink }: Self,
  use: (shared: Link.Link) => Effect.Effect<void, unknown> | undefined
): Effect.Effect<void> =>
  Effect.sync(() => fork(Effect.ignore(Effect.flatMap(listingLink.link, (shared) => use(shared) ?? Effect.void))))

const OFFERS = ["tools", "resources", "prompts", "completions"] as const

/** The most characters of the upstream's instructions that clients get. */
const MAX_INSTRUCTIONS = 65_536

/**
 * Adds the capabilities and instructions of the upstream to the description of the server, until the scope closes. At first, before the
 * proxy has reached the upstream, the server declares the capabilities for tools, resources, prompts and completions. The reason is that a
 * client does not read capabilities again after its handshake. The result is a function that gets a session with the upstream. After a call
 * of this function, the server declares the capabilities of this session.
 */
const describing = (
  registry: RegistryService,
  withInstructions: boolean
): Effect.Effect<(session: ClientSessionService) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    let before: Scope.CloseableScope | undefined
    const set = Effect.fnUntraced(function*(description: Description) {
      const next = yield* EffectInternals.childOf(scope)
      yield* Scope.extend(registry.describe(description), next)
      if (before !== undefined) yield* ScopeEnd.close(before, Exit.void)
      before = next
    })
    yield* set({ offers: OFFERS })
    return ({ instructions, serverCapabilities }) =>
      set({
        offers: OFFERS.filter((kind) => serverCapabilities[kind] !== undefined),
        instructions: withInstructions ? instructions?.slice(0, MAX_INSTRUCTIONS) : undefined
      })
  })

/** Returns the connector with its required services, which come from the context of the layer. */
const provided = <R>(connector: Connector<R>): Effect.Effect<Connector, never, Exclude<R, Scope.Scope>> =>
  Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (context) => ({
    ...connector,
    connect: Effect.mapInputContext(
      connector.connect,
      (own: Context.Context<Scope.Scope>) => Context.merge(context, own) as Context.Context<R | Scope.Scope>
    )
  }))
