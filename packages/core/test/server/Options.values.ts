/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type * as CacheHints from "@effect-mcp/core/CacheHints"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import type * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Inbox from "@effect-mcp/core/Inbox"
import type * as Limits from "@effect-mcp/core/Limits"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as RateLimit from "@effect-mcp/core/RateLimit"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as Tap from "@effect-mcp/core/Tap"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { expectTypeOf } from "vitest"
import type * as Build from "../../src/server/dispatch/Build.js"
import type * as Health from "../../src/server/http/Health.js"
import type * as ResolvedOptions from "../../src/server/http/ResolvedOptions.js"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class User extends Context.Tag("test/User")<User, { readonly name: string }>() {}
class Basket extends Context.Tag("test/Basket")<Basket, Array<string>>() {}
class Trace extends Context.Tag("test/Trace")<Trace, string>() {}
class Tenant extends Context.Tag("test/Tenant")<Tenant, string>() {}
class Db extends Context.Tag("test/Db")<Db, { readonly find: Effect.Effect<string> }>() {}
class Audit extends Context.Tag("test/Audit")<Audit, { readonly write: Effect.Effect<void> }>() {}

type OfSession = Db | RequestContext | User
type OfMiddleware = User | Audit

const users = {
  id: ({ name }) => name,
  http: ({ headers, isForwarded }) =>
    headers.authorization === undefined
      ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
      : Effect.map(Db, () => ({ name: `ada${String(isForwarded)}` })),
  stdio: ({ USER }) => Effect.map(Audit, () => ({ name: USER ?? "" })),
  inProcess: Effect.as(Db, { name: "test" }),
  permit: ({ name }, scopes) => name === "ada" || scopes.length === 0 ? undefined : HttpRefusal.forbidden(),
  documents: { "/.well-known/shop": { name: "shop" } },
  timeout: "5 seconds",
  concurrency: 100
} satisfies Every<Authenticator.Options<{ readonly name: string }, Db, Audit, Db>>

const cache = { ttl: "1 minute", scope: "public" } as const satisfies Every<CacheHints.CacheOptions>

const serverCache = { ...cache, methods: { "tools/list": cache, "resources/read": { ttl: 0 } } } satisfies Every<
  CacheHints.ServerCacheOptions
>

const serverLimits = {
  maxInFlight: 10,
  maxWaiting: 100,
  maxWaitingText: 1_000_000,
  maxExchanges: 1000,
  requestTimeout: "1 minute",
  elicitationTimeout: "10 minutes",
  maxRounds: 5,
  pageSize: 50,
  maxSubscribedResources: 50,
  maxListens: 100,
  maxListensPerClient: 5,
  userSessionIdleTimeout: "1 hour"
} satisfies Every<Limits.ServerLimits>

const dispatcher = {
  limits: serverLimits,
  closeTimeout: "5 seconds",
  heartbeat: { interval: "30 seconds" },
  onDefect: (defect) => Effect.logError(defect)
} satisfies Every<Dispatcher.Options>

const rate = { burst: 10, every: "1 second", whenAway: "refuse" } satisfies Every<RateLimit.Options>

const perTool = { ...rate, by: () => Effect.map(User, ({ name }) => name), perTool: true } satisfies Every<
  RateLimit.MiddlewareOptions<User>
>

const perFeature = { ...rate, by: () => Effect.map(User, ({ name }) => name) } satisfies Every<
  RateLimit.FeatureOptions<User>
>

const redacted = { text: () => "<hidden>", value: () => ({}) } satisfies Every<
  NonNullable<Parameters<typeof FeatureMiddleware.redact>[0]>
>

const options = {
  ...dispatcher,
  versions: ["2026-07-28", "2025-11-25"],
  instructions: "Search before you answer",
  logging: false,
  subscriptions: true,
  mendArguments: false,
  unknownArguments: "refuse",
  cache: serverCache,
  stateSecrets: [Redacted.make("a secret of 32 characters at least")],
  capabilities: { experimental: { "example.com/x": {} } },
  extensions: [TasksServer.extension],
  lifetime: "user",
  session: Layer.effect(Basket, Effect.as(Effect.all([RequestContext, User, Db]), [])),
  middleware: Middleware.compose(
    RateLimit.middleware("tools", perTool),
    Middleware.provide(Trace, () => Effect.map(Effect.zip(User, Audit), ([{ name }]) => name))
  ),
  sessionMiddleware: Middleware.provide(Tenant, () => Effect.map(Effect.zip(Basket, Db), () => "shop")),
  authenticator: Authenticator.make(User, users)
} satisfies
  & Every<
    McpServer.Options<
      Layer.Layer<Basket, never, OfSession>,
      Middleware.Middleware<Trace, OfMiddleware>,
      Middleware.Middleware<Tenant, Basket | Db>,
      Authenticator.Authenticator<User, Db | Audit>
    >
  >
  & Every<
    McpServer.Options<
      Layer.Layer<Basket, never, OfSession>,
      Middleware.Middleware<Trace, OfMiddleware>,
      Middleware.Middleware<Tenant, Basket | Db>,
      Authenticator.Authenticator<User, Db | Audit>
    >
  >

const html = Effect.flatMap(Db, ({ find }) => find)

const taskLimits = { maxRunning: 5, maxTtl: "1 day" } satisfies Every<Limits.TaskLimits>

const tasks = { limits: taskLimits, ttl: "1 hour", pollInterval: "1 second" } satisfies Every<TasksServer.Options>

const features = Layer.mergeAll(
  McpServer.tool(
    Tool.make("find", { success: Schema.String, task: "optional" }),
    () => Effect.flatMap(Effect.all([Db, User, Basket, Trace, Tenant, RequestContext]), ([{ find }]) => find),
    { startsTask: true }
  ),
  McpServer.resource(Resource.make("today", { uri: "notes://today" }), html, { cache }),
  McpServer.resourceTemplate(
    ResourceTemplate.fromString("day", "notes://{day}"),
    () => html,
    {
      complete: { day: () => Effect.map(Db, () => ["monday"]) },
      list: Effect.map(Audit, () => [Resource.make("monday", { uri: "notes://monday" })]),
      cache
    }
  ),
  McpServer.prompt(
    Prompt.make("plan", { arguments: { day: Schema.String } }),
    () => html,
    { complete: { day: () => Effect.map(Audit, () => ["monday"]) } }
  ),
  Layer.provide(TasksServer.layerWith(tasks), TaskStore.layerMemory)
).pipe(
  FeatureMiddleware.around(FeatureMiddleware.redact(redacted)),
  FeatureMiddleware.around(RateLimit.featureMiddleware("uses", perFeature))
)

export const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, features, options)
expectTypeOf<Layer.Layer.Context<typeof Server>>().toEqualTypeOf<Db | Audit>()

export const defined = McpServer.define({ name: "shop", version: "1.0.0" }, options)

const health = {
  maxLag: "1 second",
  timeout: "1 second",
  maxAge: "1 second",
  grace: "10 seconds"
} satisfies Every<WebHandler.HealthOptions>

const httpLimits = {
  bodyTimeout: "2 minutes",
  maxIncompleteBytes: 1_000_000,
  maxBodyBytes: 1_000_000,
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxResponseNodes: 1_000_000,
  capacity: 16,
  maxQueued: 64,
  maxUnsent: 1_000_000,
  stallTimeout: "30 seconds",
  maxSessions: 100,
  maxSessionsPerPrincipal: 10,
  sessionIdleTimeout: "30 minutes"
} satisfies Every<Limits.HttpLimits>

const legacy = {
  sessions: true,
  sessionIdPrefix: "a-",
  ssePath: "/sse",
  retry: "1 second"
} satisfies Every<WebHandler.LegacyOptions>

const http = {
  allowedHosts: ["mcp.example.com"],
  allowedOrigins: ["https://app.example.com"],
  path: "/mcp",
  documents: { "/.well-known/shop": { name: "shop" } },
  health,
  responses: "stream",
  tap: Tap.log,
  limits: httpLimits,
  keepAlive: "15 seconds",
  closeTimeout: "5 seconds",
  drainTimeout: 0,
  legacy
} satisfies Every<WebHandler.HttpOptions>

const hosted = { ...http, user: User } satisfies Every<WebHandler.HostedOptions<User>>

const each = {
  ...http,
  user: Effect.succeed("ada"),
  server: (name: string) => McpServer.layer({ name, version: "1.0.0" }, Layer.empty),
  idle: "10 minutes",
  maxServers: 100
} satisfies Every<HttpEndpoint.ForEachOptions>

export const userServers = HttpEndpoint.forEach(each)

export const handlers = [HttpEndpoint.make(hosted), HttpEndpoint.make(http), WebHandler.make(hosted)]

const bus = { capacity: 100 } satisfies Every<ChangeBus.MemoryOptions>
const events = { maxEvents: 100, maxSize: 1_000_000, retention: "5 minutes" } satisfies Every<EventStore.MemoryOptions>
const inbox = { maxSize: 1_000_000 } satisfies Every<Inbox.MemoryOptions>
const places = { ttl: "1 hour" } satisfies Every<SessionDirectory.MemoryOptions>
const limits = { maxKeys: 1000 } satisfies Every<SharedLimits.MemoryOptions>
const stored = { maxTasks: 100, maxSize: 1_000_000, maxOwnerSize: 100_000 } satisfies Every<TaskStore.MemoryOptions>

export const stores = Layer.mergeAll(
  ChangeBus.layerMemoryWith(bus),
  EventStore.layerMemoryWith(events),
  Inbox.layerMemoryWith(inbox),
  SessionDirectory.layerMemoryWith(places),
  SharedLimits.layerMemoryWith(limits),
  TaskStore.layerMemoryWith(stored),
  ClientLogger.layer
)

const question = { ttl: "1 hour", timeout: "10 seconds" } satisfies Every<ServerSession.AskAsTaskOptions>

export const asked = Effect.flatMap(
  ServerSession.ServerSession,
  ({ askAsTask }) => askAsTask(Ask.confirm("Sure?"), question)
)

// What the hidden modules read is what the public ones have.
expectTypeOf<keyof Build.Given>().toEqualTypeOf<keyof McpServer.Options>()
expectTypeOf<keyof ResolvedOptions.Given>().toEqualTypeOf<keyof WebHandler.HttpOptions>()
expectTypeOf<keyof NonNullable<ResolvedOptions.Given["legacy"]>>().toEqualTypeOf<keyof WebHandler.LegacyOptions>()
expectTypeOf<keyof Exclude<Health.Given["health"], boolean | undefined>>()
  .toEqualTypeOf<keyof WebHandler.HealthOptions>()

const telemetry = { newTrace: "never" } satisfies Every<ServerTelemetry.Options>

export const traced = ServerTelemetry.layer(telemetry)
