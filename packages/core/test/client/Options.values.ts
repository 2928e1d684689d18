/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as ClientSession from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Remote from "@effect-mcp/core/Remote"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import type * as ToolFingerprints from "@effect-mcp/core/ToolFingerprints"
import { Context, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { expectTypeOf } from "vitest"
import type * as Settings from "../../src/client/http/Settings.js"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly token: Effect.Effect<string, "locked"> }>() {}

class Home extends Context.Tag("test/Home")<Home, string>() {}

const Shop = Extension.make("com.example/shop", {
  settings: { client: Schema.Struct({ language: Schema.String }) },
  notifications: {
    closed: Extension.notification("notifications/shop/closed", { params: Schema.Struct({ name: Schema.String }) })
  }
})

const call = {
  timeout: "10 seconds",
  resetTimeoutOnProgress: true,
  maxTotalTimeout: "1 minute",
  onProgress: ({ progress }) => Effect.logDebug(progress),
  cancelOnAbandon: false,
  cancelReason: "the user has left",
  onId: (id) => String(id),
  resumptionToken: "token",
  onResumptionToken: (token) => Effect.logDebug(token),
  around: (sending) => sending,
  meta: { "example.com/trace": 1 },
  maxRetries: 2,
  capabilities: { roots: {} },
  logLevel: "debug",
  cache: false
} satisfies Every<ClientSession.CallOptions>

const list = { ...call, cursor: "next" } satisfies Every<ClientSession.ListOptions>

const toolCall = { ...call, checkOutput: false } satisfies Every<ClientSession.CallToolOptions>

const start = { ...toolCall, ttl: "1 hour" } satisfies Every<ClientSession.StartOptions>

const attach = { timeout: "1 minute", tool: "report" } satisfies Every<ClientSession.AttachOptions>

const elicitation = { settings: { form: {} } } satisfies Every<ClientFeatures.ElicitationOptions>

const tasks = {
  maxRunning: 5,
  maxTasks: 50,
  maxSize: 1_000_000,
  ttl: "1 hour",
  maxTtl: "1 day",
  pollInterval: "1 second"
} satisfies Every<ClientFeatures.TaskOptions>

const features = Layer.mergeAll(
  ClientFeatures.roots(Effect.map(Home, (uri) => [{ uri }]), { changes: Stream.flatMap(Home, () => Stream.never) }),
  ClientFeatures.sampling(() => Effect.zipRight(Home, Effect.never), { tools: true, context: { maxTokens: 10 } }),
  ClientFeatures.elicitation(() => Effect.succeed({ action: "decline" }), elicitation),
  ClientFeatures.urlElicitation(() => Effect.succeed("cancel"), elicitation),
  ClientFeatures.tasks(tasks)
)

const limits = {
  maxCalls: 100,
  maxRounds: 3,
  maxInFlight: 10,
  maxWaiting: 100,
  maxWaitingText: 1_000_000
} satisfies Every<ClientSession.Limits>

const session = {
  clientInfo: { name: "test", version: "1" },
  timeout: "1 minute",
  timeouts: { "tools/call": "10 minutes" },
  maxRetries: 1,
  enforceCapabilities: false,
  refuseUnassociated: true,
  versions: ["2026-07-28", "2025-11-25"],
  prior: {
    version: "2026-07-28",
    serverInfo: { name: "server", version: "1" },
    serverCapabilities: { tools: {} },
    instructions: undefined
  },
  extensions: [Shop, Extension.declare(Shop, { client: { language: "nb" } })],
  limits,
  heartbeat: { interval: "30 seconds" },
  closeTimeout: "5 seconds",
  checkOutputs: false,
  cache: false,
  onNotification: ({ method }) => void method,
  onCacheHints: (method, { ttlMs }) => void [method, ttlMs]
} satisfies Every<ClientSession.Options>

const client = {
  ...session,
  features: Layer.merge(features, Layer.effectDiscard(Effect.fail("no model" as const)))
} satisfies Every<Client.Options<"no model", ClientFeatures.ClientFeatures | Home>>

/** Without type arguments, options may have features that need nothing else. */
const roots = ClientFeatures.roots(Effect.succeed([]))
export const plain: Client.Options = { features: roots }
export const plainServer: ClientSessionGroup.ServerOptions = { features: roots, timeout: "1 minute" }

const server = {
  ...client,
  reconnect: Schedule.exponential("1 second")
} satisfies Every<ClientSessionGroup.ServerOptions<"no model", ClientFeatures.ClientFeatures | Home>>

declare const agreed: ReadonlyArray<ToolFingerprints.Agreement>

export const options = {
  agreed,
  refuse: "unagreed",
  maxTools: 100
} satisfies Every<ToolFingerprints.Options>

declare const fingerprints: ToolFingerprints.ToolFingerprints

const group = {
  nameHook: (name, server, kind) => kind === "tools" ? `${server.name}_${name}` : undefined,
  uriHook: (uri, { info }) => `${info.name}:${uri}`,
  onCollision: "fail",
  maxNameLength: 32,
  prefix: "always",
  fingerprints
} satisfies Every<ClientSessionGroup.Options>

const headers = Effect.gen(function*() {
  const { token } = yield* Vault
  return { authorization: `Bearer ${yield* token}` }
})

const remote = {
  transport: "streamable",
  headers,
  authorize: { headers: () => headers, onRefused: ({ server }) => Effect.as(Vault, server !== "") },
  onRenewed: Effect.asVoid(Vault),
  onSession: ({ id }) => Effect.zipRight(Vault, Effect.logDebug(id)),
  session: { id: "1", version: "2025-11-25" },
  standalone: false,
  reconnect: Schedule.spaced("1 second"),
  limits: {
    maxResumes: 3,
    maxRedirects: 0,
    maxExchanges: 16,
    capacity: 16,
    maxBodyBytes: 1_000_000,
    maxEventBytes: 1_000_000,
    maxDepth: 64,
    maxNodes: 1_000_000,
    maxResponseNodes: 1_000_000
  } satisfies Every<Remote.Limits>,
  readTimeout: "1 minute",
  terminateOnClose: false,
  acceptTimeout: "1 minute",
  closeTimeout: "5 seconds"
} satisfies Every<Remote.Options<Vault>>

const connector = Remote.connector("https://example.com/mcp", remote)
expectTypeOf(connector.connect).branded.toEqualTypeOf<
  Effect.Effect<
    Effect.Effect.Success<typeof connector.connect>,
    Effect.Effect.Error<typeof connector.connect>,
    Vault | HttpClient.HttpClient | import("effect").Scope.Scope
  >
>()

export const others = [
  Remote.connector("https://example.com/mcp", { headers: { "x-tenant": "shop" } }),
  Remote.connector("https://example.com/mcp", { headers: Headers.fromInput({ "x-tenant": "shop" }) }),
  Remote.connector(new URL("https://example.com/mcp"), { authorize: () => headers })
]

const config = {
  ...group,
  connector: () => connector,
  server,
  onFailure: "fail"
} satisfies Every<
  ServersConfig.Options<Vault | HttpClient.HttpClient, "no model", ClientFeatures.ClientFeatures | Home>
>

const Connected = Client.layer(connector, client)
expectTypeOf(Connected).toEqualTypeOf<
  Layer.Layer<Client.Client, ConnectError | "no model", Home | Vault | HttpClient.HttpClient>
>()

export const decoded = ServersConfig.decode(
  {},
  {
    members: [["mcp", "servers"], ["mcp"]],
    timeoutUnit: "millis",
    variables: "{env:NAME}"
  } satisfies Every<ServersConfig.DecodeOptions>
)

const Configured = ServersConfig.layer(new Map(), config)
expectTypeOf(Configured).toEqualTypeOf<
  Layer.Layer<
    ClientSessionGroup.ClientSessionGroup,
    ServersConfig.JoinError | "no model",
    Home | Vault | HttpClient.HttpClient
  >
>()

export const Grouped = ClientSessionGroup.layer(group, (group) => group.connect("one", connector, server))

const listen = { current: Effect.succeed([{ name: "one" }]) } satisfies Every<
  ClientSession.ListenOptions<{ readonly name: string }>
>

expectTypeOf(Client.layer(connector, plain)).toEqualTypeOf(Client.layer(connector))

export const used = Effect.flatMap(Client.make(connector, session), (session) =>
  Effect.all([
    session.listTools(list),
    Stream.runHead(session.listen(Shop.notifications.closed, listen)),
    session.callTool("report", {}, toolCall),
    session.readResource("notes://today", call),
    TasksClient.start(session, "report", {}, start),
    session.tasks.attach("1", attach)
  ]))

// What the hidden module reads is what the public one has.
expectTypeOf<keyof Settings.Given>().toEqualTypeOf<keyof Remote.Options>()
expectTypeOf<keyof NonNullable<Settings.Given["limits"]>>().toEqualTypeOf<keyof Remote.Limits>()

const sent = { keys: ["tenant"], servers: ["https://example.com"] } satisfies Every<ClientTelemetry.Sent>

const telemetry = { baggage: sent, tracestate: sent } satisfies Every<ClientTelemetry.Options>

export const traced = ClientTelemetry.layer(telemetry)
