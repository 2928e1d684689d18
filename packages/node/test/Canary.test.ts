/** What leaves the process for a model or a peer is a fixed sentence, and the details go to the log: one test for each way out. */
import { assert, describe, it } from "@effect/vitest"
import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import { ConnectionClosed, TransportError } from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Prompt from "@effect-mcp/core/Prompt"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as RateLimit from "@effect-mcp/core/RateLimit"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Cause, Context, Deferred, Effect, Exit, Layer, Logger, LogLevel } from "effect"
import { inspect } from "node:util"

const CANARY = "hunter2 at /home/ada/.ssh"

const broken = new TransportError({ reason: "Read", message: CANARY, cause: new Error(CANARY) })

/** The errors that hold the canary, as a handler may fail with them. */
const faults: ReadonlyArray<readonly [string, Effect.Effect<never>]> = [
  ["a transport that failed", Effect.fail(broken) as Effect.Effect<never>],
  ["a connection that has closed", Effect.fail(new ConnectionClosed({ cause: broken })) as Effect.Effect<never>],
  ["an error that is not declared", Effect.fail(new Error(CANARY)) as unknown as Effect.Effect<never>],
  ["a defect", Effect.die(new Error(CANARY, { cause: CANARY }))]
]

const eras: ReadonlyArray<readonly [Version.Version]> = [["2025-11-25"], ["2026-07-28"]]

/** Runs an effect that gives what a model or a peer got. The canary is in the log of this process, and not in that. */
const withheld = <E>(got: Effect.Effect<unknown, E>) =>
  Effect.gen(function*() {
    const log: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      log.push(inspect(message, { depth: 10 }), Cause.pretty(cause, { renderErrorCause: true }))
    })
    const exit = yield* Effect.exit(Effect.provide(got, [
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.Debug)
    ]))
    const seen = Exit.isSuccess(exit) ? inspect(exit.value, { depth: 20, showHidden: true }) : Cause.pretty(exit.cause)
    assert.notInclude(seen, "hunter2")
    assert.include(log.join("\n"), "hunter2")
  })

/** A client of a server, and everything that it gets from the server beside the answers. */
const connected = (
  features: Layer.Layer<never, never, any>,
  versions: readonly [Version.Version],
  options: { readonly server?: McpServer.Options; readonly client?: Client.Options } = {}
) =>
  Effect.gen(function*() {
    const notified: Array<unknown> = []
    const server = McpServer.layer({ name: "test", version: "1.0.0" }, features as Layer.Layer<never>, options.server)
    const context = yield* Layer.build(Layer.provide(server, ClientLogger.layer))
    const connector = yield* Effect.provide(TestServer.connector(), context)
    const client = yield* Client.make(connector, {
      versions,
      onNotification: (notification) => void notified.push(notification),
      ...options.client
    })
    yield* Effect.ignore(client.setLoggingLevel("debug"))
    /** What calls of the client have brought: results and errors as they are on the wire, and notifications. */
    const got = (...calls: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>>) =>
      Effect.map(Effect.forEach(calls, (call) => Effect.exit(call)), (exits) => [exits, notified])
    return { connector, client, got }
  })

const Crash = Tool.make("crash")

/** A server that a call of its tool ends, as a program that crashes: with its last words. */
const crashing = (versions: readonly [Version.Version]) =>
  Effect.gen(function*() {
    const crash = yield* Deferred.make<never, TransportError>()
    const features = McpServer.tool(Crash, () => Effect.zipRight(Deferred.fail(crash, broken), Effect.never))
    const { connector } = yield* connected(features, versions)
    return Connector.make(
      connector.name,
      Effect.map(connector.connect, (transport): Transport.Transport => ({
        ...transport,
        run: (receive) => Effect.raceFirst(Transport.run(transport, receive), Deferred.await(crash))
      }))
    )
  })

for (const versions of eras) {
  describe(`What leaves the process holds no text of an error (${versions[0]})`, () => {
    it.scoped("for a model that calls a tool by a list", () =>
      withheld(
        Effect.gen(function*() {
          const client = yield* Client.make(yield* crashing(versions), { versions })
          const { call } = yield* ToolList.make(client)
          return yield* call("crash", {})
        }).pipe(Effect.scoped)
      ))

    it.scoped("for a model that calls a tool of a toolkit", () =>
      withheld(
        Effect.gen(function*() {
          const client = yield* Client.make(yield* crashing(versions), { versions })
          const toolkit = yield* Effect.provideService(
            ClientToolkit.of(Definition.make(Crash)),
            Client.Client,
            client
          )
          return yield* toolkit.handle("crash", {} as never)
        }).pipe(Effect.scoped)
      ))

    it.scoped("for a client of a proxy whose upstream has crashed", () =>
      withheld(
        Effect.gen(function*() {
          const { client, got } = yield* connected(Proxy.layer(yield* crashing(versions), { name: "up" }), versions)
          return yield* got(client.callTool("crash"))
        }).pipe(Effect.scoped)
      ))

    it.scoped("for a client of a proxy whose upstream cannot be reached", () =>
      withheld(
        Effect.gen(function*() {
          const away = Connector.make("away", Effect.fail(broken))
          const { client, got } = yield* connected(Proxy.layer(away, { name: "up" }), versions)
          return yield* got(client.callTool("crash"), client.readResource("test://any"))
        }).pipe(Effect.scoped)
      ))

    for (const [what, fault] of faults) {
      it.scoped(`for a client whose request ends with ${what}`, () =>
        withheld(
          Effect.gen(function*() {
            const features = Layer.mergeAll(
              McpServer.tool(Tool.make("tool"), () => fault),
              McpServer.resource(Resource.make("resource", { uri: "test://resource" }), fault),
              McpServer.prompt(Prompt.make("prompt"), () => fault)
            )
            const { client, got } = yield* connected(features, versions)
            return yield* got(
              client.callTool("tool"),
              client.readResource("test://resource"),
              client.getPrompt("prompt")
            )
          }).pipe(Effect.scoped)
        ))

      it.scoped(`for a server whose question to the client ends with ${what}`, () =>
        withheld(
          Effect.gen(function*() {
            const answers: Array<unknown> = []
            const ask = McpServer.tool(Tool.make("ask"), () =>
              Effect.flatMap(ServerSession, ({ listRoots }) =>
                Effect.exit(listRoots)).pipe(
                  Effect.map((exit) => void answers.push(exit))
                ))
            const { client } = yield* connected(ask, versions, {
              client: { features: ClientFeatures.roots(fault) as Layer.Layer<never> }
            })
            yield* Effect.exit(client.callTool("ask"))
            return answers
          }).pipe(Effect.scoped)
        ))
    }

    it.scoped("for a client whose request needs a store that is away", () =>
      withheld(
        Effect.gen(function*() {
          const away = Layer.succeed(SharedLimits.SharedLimits, {
            take: () => Effect.fail(new SharedLimits.SharedLimitsError({ message: CANARY })),
            once: () => Effect.die(CANARY)
          })
          const tool = McpServer.tool(Tool.make("tool"), () => Effect.void)
          const { client, got } = yield* Effect.provide(
            connected(tool, versions, {
              server: {
                middleware: RateLimit.middleware(
                  "requests",
                  { limit: 1, window: "1 minute", whenAway: "refuse" } as never
                )
              }
            }),
            away
          )
          return yield* got(client.callTool("tool"))
        }).pipe(Effect.scoped)
      ))

    it.scoped("for an HTTP client whose user cannot be found", () =>
      withheld(
        Effect.gen(function*() {
          class User extends Context.Tag("User")<User, string>() {}
          const authenticator = Authenticator.make(User, { id: (id) => id, http: () => Effect.die(new Error(CANARY)) })
          const context = yield* Layer.build(
            McpServer.layer({ name: "test", version: "1.0.0" }, Layer.empty, { authenticator })
          )
          const { handler } = yield* Effect.provide(WebHandler.make({ allowedHosts: ["mcp.test"] }), context)
          const message = Message.request(1, "initialize", {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "test", version: "1" }
          })
          return yield* Effect.promise(async () => {
            const response = await handler(
              new Request("https://mcp.test/mcp", {
                method: "POST",
                headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
                body: JSON.stringify(message)
              })
            )
            const headers: Array<string> = []
            response.headers.forEach((value, name) => headers.push(name, value))
            return [response.status, headers, await response.text()]
          })
        }).pipe(Effect.scoped)
      ))
  })
}
