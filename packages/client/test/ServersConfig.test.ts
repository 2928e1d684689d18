import { assert, describe, it } from "@effect/vitest"
import { ClientSessionGroup } from "@effect-mcp/client/ClientSessionGroup"
import * as Features from "@effect-mcp/client/Features"
import * as ServersConfig from "@effect-mcp/client/ServersConfig"
import * as Tool from "@effect-mcp/definition/Tool"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as McpServer from "@effect-mcp/server/McpServer"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import {
  Context,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Schedule,
  Schema,
  Stream,
  TestClock
} from "effect"

class Home extends Context.Tag("test/Home")<Home, string>() {}

/** A server that asks its client. */
const asking = McpServer.layer(
  { name: "asking", version: "1" },
  McpServer.tool(
    Tool.make("roots", { success: Schema.String }),
    () => Effect.orDie(Effect.flatMap(ServerSession, ({ listRoots }) => Effect.map(listRoots, ([root]) => root!.uri)))
  )
)

const decode = Schema.decodeUnknownEither(ServersConfig.ServersConfig)

const config = {
  mcpServers: {
    files: { command: "npx", args: ["-y", "server-filesystem", "${HOME}"], env: { TOKEN: "${env:TOKEN:-none}" } },
    search: { type: "http", url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
    old: { type: "sse", url: "http://localhost/sse", disabled: true }
  }
} as const

describe("A host's configuration", () => {
  it("names programs and addresses", () => {
    const decoded = decode(config)
    assert.isTrue(decoded._tag === "Right")
    assert.deepStrictEqual(
      Object.values(config.mcpServers).map((server) => ServersConfig.isAddress(server)),
      [false, true, true]
    )
  })

  for (
    const wrong of [
      {},
      { mcpServers: { a: {} } },
      { mcpServers: { a: { command: "" } } },
      {
        mcpServers: { a: { url: 1 } }
      },
      { mcpServers: { a: { command: "a", versions: ["2020-01-01"] } } },
      {
        mcpServers: { a: { command: "a", timeout: "soon" } }
      },
      { mcpServers: { a: { command: "a", timeout: "0 seconds" } } },
      { mcpServers: { a: { command: "a", timeout: "-1 minute" } } }
    ]
  ) {
    it(`is not ${JSON.stringify(wrong)}`, () => {
      assert.strictEqual(decode(wrong)._tag, "Left")
    })
  }

  it("is refused with a message that names its parts", () => {
    const { message } = Either.getOrThrow(Either.flip(decode({ mcpServers: { a: { cmd: "x" } } })))
    assert.deepStrictEqual(message.split("\n").map((line) => line.trim()), [
      "ServersConfig",
      "└─ [\"mcpServers\"]",
      "└─ { readonly [x: string]: Program | Address }",
      "└─ [\"a\"]",
      "└─ Program | Address",
      "├─ Program",
      "│  └─ [\"command\"]",
      "│     └─ is missing",
      "└─ Address",
      "└─ [\"url\"]",
      "└─ is missing"
    ])
  })

  it("replaces variables by the values of the environment", () => {
    const { files, search } = ServersConfig.expand(config, { HOME: "/home/ada", TOKEN: "s3", constructor: "no" })
      .mcpServers as unknown as typeof config.mcpServers
    assert.deepStrictEqual<unknown>(files, {
      command: "npx",
      args: ["-y", "server-filesystem", "/home/ada"],
      env: { TOKEN: "s3" }
    })
    assert.deepStrictEqual<unknown>(search, {
      type: "http",
      url: "https:///mcp",
      headers: { Authorization: "Bearer s3" }
    })
    const bare = ServersConfig.expand(config, {}).mcpServers.files as ServersConfig.Program
    assert.deepStrictEqual(bare.env, { TOKEN: "none" })
    assert.deepStrictEqual(ServersConfig.unset(config, {}), ["HOME", "HOST", "TOKEN"])
    assert.deepStrictEqual(ServersConfig.unset(config, { HOME: "", HOST: "h", TOKEN: "t" }), [])
    const inherited = ServersConfig.expand({ mcpServers: { a: { command: "${constructor}x" } } }, {}).mcpServers.a
    assert.deepStrictEqual(inherited, { command: "x" })
  })
})

describe("The servers of a configuration", () => {
  const server = Layer.unwrapEffect(Effect.succeed(
    McpServer.layer({ name: "one", version: "1" }, McpServer.tool(Tool.make("a"), () => Effect.succeed("a")))
  ))
  const nowhere = Connector.make(
    "nowhere",
    Effect.fail(new LocalError.TransportError({ reason: "Open", message: "Connection refused" }))
  )

  const group = (onFailure?: "fail" | "skip") =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      const connected: Array<string> = []
      const layer = ServersConfig.layer(config, {
        connector: (server, name) => {
          connected.push(`${name} ${ServersConfig.isAddress(server) ? server.url : server.command}`)
          return name === "files" ? there : nowhere
        },
        ...(onFailure === undefined ? undefined : { onFailure })
      })
      return { connected, layer }
    })

  it.scoped("are one group; a disabled one is not connected, and one that cannot be reached is left out and logged", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const { connected, layer } = yield* group()
      const tools = yield* Effect.flatMap(ClientSessionGroup, ({ entries }) => entries).pipe(
        Effect.provide(layer),
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message)))))
      )
      assert.deepStrictEqual([...tools.tools.keys()], ["a"])
      assert.deepStrictEqual(connected, ["files npx", "search https://${HOST}/mcp"])
      assert.deepStrictEqual(logged, ["The server \"search\" is left out: Connection refused"])
    }).pipe(Effect.provide(server)))

  it.scoped("keep the names of entries in the order of the configuration, whichever starts first", () =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      const layer = ServersConfig.layer({
        mcpServers: { one: { command: "slow" }, two: { command: "quick" }, three: { command: "slower" } }
      }, {
        connector: (server) => {
          const { command } = server as ServersConfig.Program
          const steps = { quick: 0, slow: 100, slower: 200 }[command]!
          const wait = Effect.repeatN(Effect.yieldNow(), steps)
          return Connector.make(command, Effect.zipRight(wait, there.connect))
        }
      })
      const { tools } = yield* Effect.provide(Effect.flatMap(ClientSessionGroup, ({ entries }) => entries), layer)
      assert.deepStrictEqual([...tools].map(([name, { server }]) => [name, server]), [
        ["a", "one"],
        ["two_a", "two"],
        ["three_a", "three"]
      ])
    }).pipe(Effect.provide(server)))

  it.scoped("are served by the client's features, which may need services", () =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      const features = Features.roots(Effect.map(Home, (uri) => [{ uri }]))
      const layer = ServersConfig.layer({ mcpServers: { one: { command: "one" } } }, {
        connector: () => there,
        server: { features }
      })
      const group = yield* Layer.build(Layer.provide(layer, Layer.succeed(Home, "file:///home/ada")))
      const { content } = yield* Context.get(group, ClientSessionGroup).callTool("roots")
      assert.deepStrictEqual(content, [{ type: "text", text: "file:///home/ada" }])
    }).pipe(Effect.provide(asking)))

  it.scoped("have revisions, a time limit and roots of their own, before what the application gives to all", () =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      const given: Array<string> = []
      const layer = ServersConfig.layer({
        mcpServers: {
          old: { command: "old", versions: ["2025-06-18"], roots: ["file:///old"], timeout: "30 seconds" },
          new: { command: "new" }
        }
      }, {
        connector: () => there,
        server: (name) => {
          given.push(name)
          return { features: Features.roots(Effect.succeed([{ uri: `file:///${name}` }])), versions: ["2026-07-28"] }
        },
        nameHook: (name, server) => `${server.name}_${name}`
      })
      const group = Context.get(yield* Layer.build(layer), ClientSessionGroup)
      assert.deepStrictEqual(given, ["old", "new"])
      const sessions = yield* group.sessions
      assert.deepStrictEqual([sessions.get("old")!.version, sessions.get("new")!.version], ["2025-06-18", "2026-07-28"])
      for (const name of ["old", "new"]) {
        const { content } = yield* group.callTool(`${name}_roots`)
        assert.deepStrictEqual(content, [{ type: "text", text: `file:///${name}` }])
      }
    }).pipe(Effect.provide(asking)))

  for (
    const [timeout, waits] of [["1 second", 1000], [2, 2000], [3000, 3000]] as const
  ) {
    it.scoped(`may have ${JSON.stringify(timeout)} as their time limit`, () =>
      Effect.gen(function*() {
        const silent = Connector.make("silent", Effect.map(Transport.memory(), ([client]) => client))
        const logged: Array<string> = []
        const building = yield* Effect.fork(
          Layer.build(
            ServersConfig.layer({ mcpServers: { one: { command: "one", timeout, versions: ["2025-11-25"] } } }, {
              connector: () => silent
            })
          ).pipe(
            Effect.provide(
              Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message))))
            )
          )
        )
        yield* TestClock.adjust(waits)
        yield* Fiber.join(building)
        assert.match(logged[0]!, new RegExp(`timed out after ${waits} ms`))
      }))
  }

  it.scopedLive("are tried again as `reconnect` says when they cannot be reached at the start", () =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      let attempts = 0
      const logged: Array<string> = []
      const layer = ServersConfig.layer({ mcpServers: { late: { command: "late" }, never: { command: "never" } } }, {
        connector: (_, name) =>
          name === "never" ? nowhere : Connector.make(
            name,
            Effect.suspend(() => ++attempts < 3 ? nowhere.connect : there.connect)
          ),
        server: { reconnect: Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(2)) }
      })
      const logging = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message))))
      const group = Context.get(yield* Effect.provide(Layer.build(layer), logging), ClientSessionGroup)
      assert.strictEqual((yield* group.sessions).size, 0)
      const entries = yield* Stream.runHead(Stream.filter(group.changes, ({ tools }) => tools.has("a")))
      assert.isTrue(Option.isSome(entries))
      assert.strictEqual(attempts, 3)
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => logged.some((line) => line.includes("left out")) })
      assert.deepStrictEqual(logged.filter((line) => line.startsWith("The server")), [
        "The server \"late\" is not there yet: Connection refused",
        "The server \"never\" is not there yet: Connection refused",
        "The server \"never\" is left out: Connection refused"
      ])
    }).pipe(Effect.provide(server)))

  for (const onFailure of ["skip", "fail"] as const) {
    it.scoped(`fail the layer when the features cannot be built, which no server is to blame for (${onFailure})`, () =>
      Effect.gen(function*() {
        const there = yield* InProcess.connector
        const features = Layer.fail("no model" as const)
        const config = { mcpServers: { one: { command: "one" } } }
        const layer = ServersConfig.layer(config, { connector: () => there, server: { features }, onFailure })
        assert.strictEqual(yield* Effect.flip(Layer.build(layer)), "no model")
      }).pipe(Effect.provide(asking)))
  }

  it.scoped("fail the layer when one cannot be reached and `onFailure` is \"fail\"", () =>
    Effect.gen(function*() {
      const { layer } = yield* group("fail")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Layer.build(layer))))
    }).pipe(Effect.provide(server)))
})
