/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import type { HttpClient } from "@effect/platform"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionGroup } from "@effect-mcp/core/ClientSessionGroup"
import type { JoinError } from "@effect-mcp/core/ServersConfig"
import * as Tap from "@effect-mcp/core/Tap"
import type { ToolFingerprints } from "@effect-mcp/core/ToolFingerprints"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Console, Context, Effect, Layer, Schedule } from "effect"
import { createServer } from "node:http"
import { PassThrough } from "node:stream"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly token: Effect.Effect<string, "locked"> }>() {}

class Home extends Context.Tag("test/Home")<Home, string>() {}

const features = Layer.mergeAll(
  ClientFeatures.roots(Effect.map(Home, (uri) => [{ uri }])),
  ClientFeatures.elicitation(() => Effect.succeed({ action: "decline" })),
  Layer.effectDiscard(Effect.fail("no model" as const))
)

declare const fingerprints: ToolFingerprints

const configured = {
  nameHook: (name, server) => `${server.name}_${name}`,
  uriHook: (uri) => uri,
  onCollision: "fail",
  maxNameLength: 64,
  prefix: "always",
  fingerprints,
  server: { features, reconnect: Schedule.spaced("1 second") },
  onFailure: "skip",
  authorize: {
    headers: () => Effect.flatMap(Vault, ({ token }) => Effect.map(token, (token) => ({ authorization: token }))),
    onRefused: () => Effect.as(Vault, false)
  },
  environment: { HOME: "/home/ada", TOKEN: undefined },
  folder: "/work",
  stderr: (line: string, server: string) => Console.error(`${server}: ${line}`),
  tap: Tap.log,
  program: (name) => ({ env: { NAME: name }, encoding: "utf-16le", limits: { maxLineBytes: 1_000_000 } }),
  address: () => ({ limits: { maxBodyBytes: 1_000_000 }, onRenewed: Effect.asVoid(Vault) })
} satisfies Every<ConfiguredServers.Options<Vault, "no model", ClientFeatures.ClientFeatures | Home>>

const Configured = ConfiguredServers.layer({ mcpServers: {} }, configured)
expectTypeOf(Configured).toEqualTypeOf<
  Layer.Layer<
    ClientSessionGroup,
    JoinError | "no model",
    HttpClient.HttpClient | Home | Vault
  >
>()

const files = {
  hosts: ["cursor"],
  folder: "/work",
  environment: { XDG_CONFIG_HOME: "/configuration" },
  home: "/home/ada"
} satisfies Every<ConfiguredServers.FilesOptions>

const { hosts: _, ...place } = files
const reading = { ...place, host: "codex" } satisfies Every<ConfiguredServers.ReadOptions>

export const Read = [
  ConfiguredServers.userFiles(files),
  ConfiguredServers.folderFiles("/work", files),
  ConfiguredServers.read("servers.toml", reading),
  ConfiguredServers.fill(
    new Map(),
    { environment: { HOME: "/" }, folder: "/work" } satisfies Every<ConfiguredServers.FillOptions>
  )
]

const lines = {
  maxLineBytes: 1_000_000,
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxResponseNodes: 1_000_000
} as const

const program = {
  invalidBytes: "replace",
  limits: { ...lines, maxBacklog: 1_000_000 } satisfies Every<StdioClient.Limits>,
  command: "npx",
  name: "files",
  args: ["-y", "server"],
  env: { TOKEN: "secret" },
  cwd: "/tmp",
  stderr: "inherit",
  encoding: "utf-8",
  closeTimeouts: { flush: "1 second", grace: "2 seconds", terminate: "1 second", kill: "1 second" }
} satisfies Every<StdioClient.Options>

const stdio = {
  ...lines,
  invalidBytes: "replace",
  input: new PassThrough(),
  output: new PassThrough(),
  encoding: "utf-8",
  maxBacklog: 1_000_000,
  tap: Tap.log
} satisfies Every<StdioServer.Options>

const http = {
  port: 3000,
  host: "0.0.0.0",
  node: { keepAliveTimeout: 60_000, maxHeaderSize: 32_768 },
  allowedHosts: ["mcp.example.com"],
  allowedOrigins: ["https://app.example.com"],
  path: "/mcp",
  documents: { "/.well-known/shop": { name: "shop" } },
  health: { maxLag: "1 second" },
  responses: "json",
  tap: Tap.log,
  limits: {
    bodyTimeout: "2 minutes",
    maxIncompleteBytes: 1_000_000,
    maxBodyBytes: 1_000_000,
    maxDepth: 64,
    maxNodes: 1_000_000,
    capacity: 16,
    maxQueued: 64,
    maxUnsent: 1_000_000,
    stallTimeout: "30 seconds"
  },
  keepAlive: "15 seconds",
  closeTimeout: "5 seconds",
  drainTimeout: 0,
  legacy: { sessions: false }
} satisfies Every<HttpServer.Options>

const platform = { port: 3000, host: "::", closeTimeout: "5 seconds" } satisfies Pick<
  Every<PlatformHttpServer.Options>,
  "closeTimeout" | "host" | "port"
>

export const values = [
  StdioClient.connector(program),
  StdioClient.connector({ command: "node", stderr: (line) => Console.error(line) }),
  StdioServer.layerWith(stdio),
  HttpServer.layer(http),
  PlatformHttpServer.layer(createServer, platform),
  NodeHandler.make({ ...http, user: Vault })
]
