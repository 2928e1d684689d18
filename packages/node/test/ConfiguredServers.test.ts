import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { ClientSessionGroup } from "@effect-mcp/core/ClientSessionGroup"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as Tool from "@effect-mcp/core/Tool"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Effect, HashMap, Layer, Logger, Option, Schema } from "effect"
import { fileURLToPath } from "node:url"

const everything = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url)
)

const Echo = Tool.make("hello", { parameters: { name: Schema.String } })
const overHttp = HttpServer.layer({ port: 0 }).pipe(
  Layer.provide(
    McpServer.layer({ name: "hello", version: "1" }, McpServer.tool(Echo, ({ name }) => Effect.succeed(name)))
  )
)

const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

describe("The servers of a configuration", () => {
  it.scopedLive("are launched or connected to, and form one group", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const servers = ConfiguredServers.layer({
        mcpServers: {
          everything: { command: "${NODE}", args: [everything] },
          hello: { type: "http", url: "${URL}" },
          gone: { command: "/nowhere/at/all" }
        }
      }, { environment: { NODE: process.execPath, URL: url }, stderr: "ignore" })
      yield* Effect.gen(function*() {
        const group = yield* ClientSessionGroup
        assert.deepStrictEqual([...(yield* group.sessions).keys()].sort(), ["everything", "hello"])
        assert.strictEqual(text(yield* group.callTool("hello", { name: "Ada" })), "Ada")
        assert.strictEqual(text(yield* group.callTool("echo", { message: "hi" })), "Echo: hi")
      }).pipe(Effect.provide(servers))
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.scopedLive("are authorized at their URLs, unless the configuration has the header", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const asked: Array<string> = []
      const authorize = {
        headers: (_: unknown, server: string) =>
          Effect.as(Effect.sync(() => asked.push(server)), { "x-token": "given" }),
        onRefused: () => Effect.succeed(false)
      }
      const connect = (server: object) =>
        Effect.flatMap(ClientSessionGroup, (group) => group.sessions).pipe(
          Effect.provide(ConfiguredServers.layer({ mcpServers: { server } }, { authorize }))
        )
      assert.strictEqual((yield* connect({ url, headers: { Authorization: "Bearer mine" } })).size, 1)
      assert.lengthOf(asked, 0)
      assert.strictEqual((yield* connect({ url, headers: { "x-tenant": "t" } })).size, 1)
      assert.isAbove(asked.length, 0)
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.scopedLive("SHOULD NOT be authorized by OAuth when they are programs: their environment has the credentials", () =>
    Effect.gen(function*() {
      const fail = () => Effect.dieMessage("A program was to be authorized")
      const servers = ConfiguredServers.layer({
        mcpServers: { one: { command: process.execPath, args: [everything] } }
      }, {
        authorize: { headers: fail, onRefused: fail },
        stderr: "ignore"
      })
      const sessions = yield* Effect.flatMap(ClientSessionGroup, (group) => group.sessions).pipe(
        Effect.provide(servers)
      )
      assert.strictEqual(sessions.size, 1)
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("write to the stderr of a program under the name of their server, with the options of the application", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const program = "console.error(process.env.GREETING, process.env.NAME)"
      yield* Layer.build(ConfiguredServers.layer({
        mcpServers: { one: { command: process.execPath, args: ["-e", program], env: { NAME: "mine" } } }
      }, {
        stderr: (line, server) => Effect.sync(() => void lines.push(`${server}: ${line}`)),
        program: () => ({ env: { GREETING: "hello", NAME: "yours" } }),
        server: { versions: ["2025-11-25"] }
      }))
      assert.deepStrictEqual(lines, ["one: hello mine"])
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("are known by their names in logs, in errors and to a tap", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const logged: Array<string> = []
      const tapped: Array<string> = []
      const servers = ConfiguredServers.layer({
        mcpServers: {
          noisy: { command: "sh", args: ["-c", "echo Welcome; exec \"$0\" \"$1\"", process.execPath, everything] },
          broken: { command: "sh", args: ["-c", "exit 1"] },
          hello: { url }
        }
      }, {
        stderr: "ignore",
        tap: ({ direction, name, text }) => Effect.sync(() => void tapped.push(`${name} ${direction} ${text}`))
      })
      yield* Layer.build(servers).pipe(Effect.provide(Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ annotations, message }) =>
          void logged.push(`${String(message)} of ${Option.getOrNull(HashMap.get(annotations, "server"))}`)
        )
      )))
      assert.isTrue(logged.some((line) => /^Malformed message.*"Welcome".* of noisy$/.test(line)), logged.join("\n"))
      assert.isTrue(
        logged.some((line) =>
          line.includes("\"broken\" is left out: Connection closed: \"broken\" exited with code 1")
        ),
        logged.join("\n")
      )
      for (const name of ["noisy", "hello"]) {
        assert.isTrue(tapped.some((line) => line.startsWith(`${name} in {`)), name)
        assert.isTrue(tapped.some((line) => line.startsWith(`${name} out {`)), name)
      }
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.scopedLive("are left out, and the log says why, when a variable has no value or an entry cannot be read", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const { url } = yield* HttpServer.HttpServer
      const servers = ConfiguredServers.layer({
        mcpServers: {
          "gone": { command: "${NOWHERE}/at/all", args: ["${PORT:-1}"] },
          "off": { url: "https://${HOST}", disabled: true },
          "odd\u001b[2J": { command: "a", env: { "K\u202e": [] } },
          "hello": { url }
        }
      }, { environment: {} })
      const sessions = yield* Effect.flatMap(ClientSessionGroup, (group) => group.sessions).pipe(
        Effect.provide(servers),
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message)))))
      )
      assert.deepStrictEqual([...sessions.keys()], ["hello"])
      assert.deepStrictEqual(logged.filter((line) => line.includes("left out")), [
        "The server \"gone\" cannot be read: command: the variable \"NOWHERE\" has neither a value nor a default. " +
        "It is left out",
        "The server \"odd\\u001b[2J\" cannot be read: env.K\\u{202e}: expected a string. It is left out"
      ])
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.scopedLive("are the user's own where a file of a folder has the same name, in any order", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const file = (isOfFolder: boolean, ...names: ReadonlyArray<string>): ConfiguredServers.Configuration => ({
        file: isOfFolder ? "/work/.mcp.json" : "/home/ada/.claude.json",
        host: "claude-code",
        isOfFolder,
        entries: new Map(names.map((name) => [name, { _tag: "Server", server: { url } }]))
      })
      const disabled: ConfiguredServers.Configuration = {
        ...file(false),
        entries: new Map([["a", { _tag: "Disabled" }]])
      }
      const unread = { ...file(false), error: new ServersConfig.ConfigurationError({ reason: "odd" }) }
      const logged: Array<string> = []
      const names = (...files: ReadonlyArray<ConfiguredServers.Configuration>) =>
        Effect.flatMap(ClientSessionGroup, (group) => group.sessions).pipe(
          Effect.provide(ConfiguredServers.layerFiles(files)),
          Effect.provide(
            Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message))))
          ),
          Effect.map((sessions) => [...sessions.keys()].sort())
        )
      assert.deepStrictEqual(yield* names(file(true, "a", "b"), disabled), ["b"])
      assert.deepStrictEqual(yield* names(file(true, "a"), unread, file(false, "c")), ["c"])
      assert.include(
        logged.at(-1) ?? "",
        "No file of a folder is used until /home/ada/.claude.json can be read: it may have servers with the same names"
      )
      assert.deepStrictEqual(yield* names(file(true, "a"), { ...unread, isOfFolder: true }), ["a"])
    }).pipe(Effect.provide(Layer.merge(overHttp, FetchHttpClient.layer))))

  it.effect("fail with a ConfigurationError for a value that has no servers", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(ConfiguredServers.layer({ hosts: {} }))))
      assert.strictEqual(error.message, "The configuration cannot be read: it has no \"mcpServers\"")
    }).pipe(Effect.provide(FetchHttpClient.layer)))
})
