import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { ClientSessionGroup } from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import {
  Context,
  Duration,
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

const decode = (mcpServers: unknown, options?: ServersConfig.DecodeOptions) =>
  Either.getOrThrow(ServersConfig.decode({ mcpServers }, options))

const entryOf = (entry: unknown, options?: ServersConfig.DecodeOptions) => decode({ one: entry }, options).get("one")!

/** The server of an entry, without what is said of its variables. */
const serverOf = (entry: unknown, options?: ServersConfig.DecodeOptions) => {
  const made = entryOf(entry, options)
  return made._tag === "Server" ? made.server : made
}

/** What an entry is after its variables are filled in. */
const filled = (entry: unknown, values: Record<string, string | undefined>, options?: ServersConfig.DecodeOptions) => {
  const made = ServersConfig.expand(decode({ one: entry }, options), values).get("one")!
  if (made._tag === "Server") return made.server
  const { file: _, ...rest } = made as ServersConfig.LeftOut
  return rest
}

const leftOut = (member: string | undefined, reason: string) => ({ _tag: "LeftOut", member, reason })

const config = {
  files: { command: "npx", args: ["-y", "server-filesystem", "${HOME}"], env: { TOKEN: "${env:TOKEN:-none}" } },
  search: { type: "http", url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
  old: { type: "sse", url: "http://localhost/sse", disabled: true }
} as const

describe("A host's configuration", () => {
  it("names programs and addresses", () => {
    const entries = decode(config)
    assert.deepStrictEqual([...entries].map(([name, entry]) => [name, entry._tag]), [
      ["files", "Server"],
      ["search", "Server"],
      ["old", "Disabled"]
    ])
    assert.deepStrictEqual(
      [...entries.values()].map((entry) => entry._tag === "Server" && ServersConfig.isAddress(entry.server)),
      [false, true, false]
    )
  })

  it("has its servers where its host has them", () => {
    for (
      const config of [
        { mcpServers: { one: { command: "a" } } },
        { servers: { one: { command: "a" } }, inputs: [] },
        { context_servers: { one: { command: "a" } } },
        { mcp_servers: { one: { command: "a" } } },
        { mcp: { one: { command: "a" } } },
        { mcp: { servers: { one: { command: "a" } } } },
        { mcp: { allowed: ["x"] }, mcpServers: { one: { command: "a" } } }
      ]
    ) {
      assert.deepStrictEqual(
        [...Either.getOrThrow(ServersConfig.decode(config)).keys()],
        ["one"],
        JSON.stringify(config)
      )
    }
    const called = Either.getOrThrow(ServersConfig.decode({ mcp: { servers: { type: "local", command: ["a"] } } }))
    assert.deepStrictEqual([...called.keys()], ["servers"])
  })

  for (
    const [wrong, reason] of [
      [{}, "it has no \"mcpServers\""],
      [null, "it has no \"mcpServers\""],
      [[], "it has no \"mcpServers\""],
      ["mcpServers", "it has no \"mcpServers\""],
      [{ mcpServers: [] }, "\"mcpServers\" is not an object"],
      [{ mcpServers: "x" }, "\"mcpServers\" is not an object"]
    ] as const
  ) {
    it(`is not ${JSON.stringify(wrong)}`, () => {
      const { message } = Either.getOrThrow(Either.flip(ServersConfig.decode(wrong)))
      assert.strictEqual(message, `The configuration cannot be read: ${reason}`)
    })
  }

  it("is read entry by entry: what cannot be read of one leaves out that one, with the place and the reason", () => {
    const entries = decode({
      good: { command: "a" },
      broken: { command: "a", args: ["b", {}] },
      fine: { url: "http://b" }
    })
    assert.deepStrictEqual([...entries].map(([name, { _tag }]) => [name, _tag]), [
      ["good", "Server"],
      ["broken", "LeftOut"],
      ["fine", "Server"]
    ])
    const error = ServersConfig.errorOf("broken", entries.get("broken") as ServersConfig.LeftOut)
    assert.strictEqual(error.message, "The server \"broken\" cannot be read: args[1]: expected a string")
  })

  for (
    const [entry, member, reason] of [
      [5, undefined, "expected an object"],
      [[{ command: "a" }], undefined, "expected an object"],
      [{}, undefined, "it has no command and no URL"],
      [{ cmd: "a" }, undefined, "it has no command and no URL"],
      [{ command: "" }, "command", "is empty"],
      [{ command: [] }, "command", "is empty"],
      [{ command: { path: "a" } }, "command", "expected a string"],
      [{ command: "a", args: "b c" }, "args", "expected a list of strings"],
      [{ command: "a", env: { A: { b: "secret" } } }, "env.A", "expected a string"],
      [{ command: "a", env: ["A=b"] }, "env", "expected an object of strings"],
      [{ command: "a", cwd: "" }, "cwd", "is empty"],
      [{ type: "stdio", url: "http://a" }, "command", "is missing"],
      [{ type: "http", command: "a" }, "url", "is missing"],
      [{ url: [] }, "url", "expected a string"],
      [{ url: "http://a", headers: { A: null, B: [] } }, "headers.B", "expected a string"],
      [{ type: "ws", url: "ws://a" }, "type", "\"ws\" is not a transport that this client has"],
      [{ type: "constructor", url: "ws://a" }, "type", "\"constructor\" is not a transport that this client has"],
      [{ type: 5, url: "ws://a" }, "type", "expected a string"],
      [
        { command: "a", sandboxEnabled: true },
        "sandboxEnabled",
        "the entry asks for a sandbox, which this client does not have"
      ],
      [{ command: "a", versions: ["2020-01-01"] }, "versions", "expected a list of revisions"],
      [{ command: "a", timeout: "soon" }, "timeout", "expected a duration"],
      [{ command: "a", timeout: "0 seconds" }, "timeout", "expected a duration"],
      [{ command: "a", timeout: "-1 minute" }, "timeout", "expected a duration"],
      [{ command: "a", timeout: 0 }, "timeout", "expected a duration"],
      [{ command: "a", timeout: [] }, "timeout", "expected a duration"],
      [{ command: "a", disabled: "perhaps" }, "disabled", "expected true or false"],
      [{ command: "a", enabled: 0 }, "enabled", "expected true or false"]
    ] as const
  ) {
    it(`leaves out ${JSON.stringify(entry)}`, () => {
      assert.deepStrictEqual(entryOf(entry), leftOut(member, reason) as never)
    })
  }

  it("may have numbers and booleans for texts, and `null` for nothing", () => {
    assert.deepStrictEqual<unknown>(
      serverOf({ command: "a", args: ["--port", 80, true], env: { PORT: 80, DEBUG: false, NONE: null }, cwd: null }),
      { command: "a", args: ["--port", "80", "true"], env: { PORT: "80", DEBUG: "false" } }
    )
    assert.deepStrictEqual<unknown>(serverOf({ url: "http://a", headers: { "X-Tenant": 5 } }), {
      url: "http://a",
      headers: { "X-Tenant": "5" }
    })
  })

  it("spells the command, its environment and the URL as its host does", () => {
    const program = { command: "npx", args: ["-y", "server"] }
    assert.deepStrictEqual<unknown>(serverOf({ command: ["npx", "-y", "server"] }), program)
    assert.deepStrictEqual<unknown>(serverOf({ command: ["npx", "-y"], args: ["server"] }), program)
    assert.deepStrictEqual<unknown>(
      serverOf({ command: "a", environment: { A: "1", B: "1" }, env: { B: "2" } }),
      { command: "a", env: { A: "1", B: "2" } }
    )
    for (const member of ["url", "serverUrl", "httpUrl"]) {
      assert.deepStrictEqual<unknown>(serverOf({ [member]: "http://a" }), { url: "http://a" })
    }
    assert.deepStrictEqual<unknown>(serverOf({ httpUrl: "http://a", url: "http://sse" }), { url: "http://a" })
  })

  it("spells the transport as its host does", () => {
    for (const type of ["stdio", "STDIO", "local"]) {
      assert.deepStrictEqual<unknown>(serverOf({ type, command: "a", url: "http://a" }), { command: "a" }, type)
    }
    for (
      const type of [
        "http",
        "HTTP",
        "remote",
        "streamable-http",
        "streamableHttp",
        "streamable_http",
        "Streamable HTTP"
      ]
    ) {
      assert.deepStrictEqual<unknown>(serverOf({ type, command: "a", url: "http://a" }), { url: "http://a" }, type)
    }
    assert.deepStrictEqual<unknown>(serverOf({ transport: "sse", url: "http://a" }), { type: "sse", url: "http://a" })
    assert.deepStrictEqual<unknown>(serverOf({ transportType: "stdio", command: "a" }), { command: "a" })
  })

  it("disables an entry, whatever else that entry has", () => {
    for (
      const off of [{ disabled: true }, { disabled: "true" }, { enabled: false }, { disabled: true, enabled: true }]
    ) {
      assert.deepStrictEqual(entryOf({ ...off, command: 5, args: 5, type: "none" }), { _tag: "Disabled" })
    }
    assert.deepStrictEqual<unknown>(serverOf({ disabled: false, enabled: true, command: "a" }), { command: "a" })
  })

  it("counts a timeout in the unit of its host", () => {
    const timeout = (timeout: unknown, timeoutUnit?: "seconds" | "millis") => {
      const server = serverOf({ command: "a", timeout }, { timeoutUnit })
      return "command" in server && server.timeout !== undefined ? Duration.toMillis(server.timeout) : server
    }
    assert.deepStrictEqual([timeout(2), timeout(600), timeout(3000), timeout("2")], [2000, 600_000, 3000, 2000])
    assert.deepStrictEqual([timeout(3600, "seconds"), timeout("60", "seconds")], [3_600_000, 60_000])
    assert.deepStrictEqual([timeout(500, "millis"), timeout("1 minute", "millis")], [500, 60_000])
    const server = serverOf({ command: "a", tool_timeout_sec: 45 }, { timeoutUnit: "millis" }) as ServersConfig.Program
    assert.strictEqual(Duration.toSeconds(server.timeout!), 45)
  })

  it("keeps entries and variables that are called like members of objects", () => {
    const value = JSON.parse(
      `{ "mcpServers": { "__proto__": { "command": "a", "env": { "__proto__": "b" } }, "constructor": { "url": "http://a" } } }`
    ) as unknown
    const entries = ServersConfig.expand(Either.getOrThrow(ServersConfig.decode(value)), {})
    assert.deepStrictEqual([...entries.keys()], ["__proto__", "constructor"])
    const { server } = entries.get("__proto__") as ServersConfig.ServerEntry
    assert.deepStrictEqual(Object.entries((server as ServersConfig.Program).env!), [["__proto__", "b"]])
    const inherited = Object.create({ command: "a" }) as unknown
    assert.deepStrictEqual(entryOf(inherited), leftOut(undefined, "it has no command and no URL") as never)
    assert.isTrue(Either.isLeft(ServersConfig.decode(Object.create({ mcpServers: { a: { command: "a" } } }))))
  })
})

describe("The variables of a configuration", () => {
  it("are replaced by the values of the environment", () => {
    const { files, search } = config
    const values = { HOME: "/home/ada", TOKEN: "s3", HOST: "example.com" }
    assert.deepStrictEqual<unknown>(filled(files, values), {
      command: "npx",
      args: ["-y", "server-filesystem", "/home/ada"],
      env: { TOKEN: "s3" }
    })
    assert.deepStrictEqual<unknown>(filled(search, values), {
      url: "https://example.com/mcp",
      headers: { Authorization: "Bearer s3" }
    })
    assert.deepStrictEqual<unknown>(filled({ command: "a", args: ["${A:-b}", "${A:-}", "$A", "${#A}"] }, {}), {
      command: "a",
      args: ["b", "", "$A", "${#A}"]
    })
    assert.deepStrictEqual<unknown>(filled({ command: "a", args: ["${A}"] }, { A: "" }), { command: "a", args: [""] })
  })

  it("are filled in once: a value is not a text with variables", () => {
    const entries = ServersConfig.expand(decode({ one: { command: "${A}" } }), { A: "${B}", B: "no" })
    const again = ServersConfig.expand(entries, { B: "no" }).get("one") as ServersConfig.ServerEntry
    assert.deepStrictEqual(again.server, { command: "${B}" })
  })

  for (
    const [text, name] of [
      ["${A}", "A"],
      ["${env:A}", "A"],
      ["${input:api-key}", "input:api-key"],
      ["${workspaceFolder}/x", "workspaceFolder"],
      ["${workspaceFolder:one}/x", "workspaceFolder:one"],
      ["${file:/secret}", "file:/secret"],
      ["${command:pick}", "command:pick"],
      ["${constructor}", "constructor"],
      ["${A:-${B}}", "A:-${B}"]
    ] as const
  ) {
    it(`leave out their entry when ${text} has no value`, () => {
      const reason = `the variable ${JSON.stringify(name)} has neither a value nor a default`
      assert.deepStrictEqual<unknown>(filled({ command: text }, {}), leftOut("command", reason))
      assert.deepStrictEqual<unknown>(filled({ command: "a", args: ["b", text] }, {}), leftOut("args[1]", reason))
      assert.deepStrictEqual<unknown>(filled({ command: "a", env: { T: text } }, {}), leftOut("env.T", reason))
      assert.deepStrictEqual<unknown>(
        filled({ url: "http://a", headers: { H: text } }, {}),
        leftOut("headers.H", reason)
      )
    })
  }

  it("leave out an entry whose URL is none with their values", () => {
    const reason = leftOut("url", "expected a URL that begins with http:// or https://")
    assert.deepStrictEqual<unknown>(filled({ url: "https://${HOST}" }, { HOST: "" }), reason)
    assert.deepStrictEqual<unknown>(filled({ url: "${URL}" }, { URL: "file:///etc/passwd" }), reason)
  })

  it("are spelled as their host spells them", () => {
    const values = { A: "1" }
    const args = (options: ServersConfig.DecodeOptions, ...args: Array<string>) => {
      const server = filled({ command: "a", args }, values, options)
      return "args" in server ? server.args : server
    }
    assert.deepStrictEqual<unknown>(args({ variables: "$NAME" }, "$A", "x${A}", "${env:A}", "$5"), [
      "1",
      "x1",
      "1",
      "$5"
    ])
    assert.deepStrictEqual<unknown>(args({ variables: "{env:NAME}" }, "{env:A}", "${A}", "{A}"), ["1", "${A}", "{A}"])
    assert.deepStrictEqual<unknown>(
      args({ variables: "{env:NAME}" }, "{file:~/token}"),
      leftOut("args[0]", "the variable \"file:~/token\" has neither a value nor a default")
    )
  })

  it("are also those that a member names", () => {
    const remote = {
      url: "http://a",
      bearer_token_env_var: "TOKEN",
      http_headers: { A: "1" },
      env_http_headers: { "X-Key": "KEY" }
    }
    assert.deepStrictEqual<unknown>(filled(remote, { TOKEN: "t", KEY: "k" }), {
      url: "http://a",
      headers: { A: "1", "X-Key": "k", Authorization: "Bearer t" }
    })
    assert.deepStrictEqual<unknown>(
      filled(remote, { KEY: "k" }),
      leftOut("headers.Authorization", "the variable \"TOKEN\" has neither a value nor a default")
    )
    const program = { command: "a", env: { B: "mine" }, env_vars: ["A", { name: "B", source: "local" }, "C"] }
    assert.deepStrictEqual<unknown>(filled(program, { A: "1", B: "2" }), { command: "a", env: { A: "1", B: "mine" } })
  })

  it("are known before they are filled in", () => {
    const names = (entry: unknown) => ServersConfig.variablesOf(entryOf(entry) as ServersConfig.ServerEntry)
    assert.deepStrictEqual(names(config.files), ["HOME", "TOKEN"])
    assert.deepStrictEqual(names({ command: "a", args: ["${A} ${input:b} ${A}"], env_vars: ["C"] }), [
      "A",
      "input:b",
      "C"
    ])
    assert.deepStrictEqual(names({ command: "a", args: ["${#A}"] }), [])
  })
})

describe("Several configurations", () => {
  it("keep the name for the first that has it, even where its entry is left out or disabled", () => {
    const merged = ServersConfig.merge([
      decode({ a: { command: 5, args: 5 }, b: { disabled: true }, c: { command: "first" } }),
      decode({ a: { command: "second" }, b: { command: "second" }, c: { command: "second" }, d: { command: "second" } })
    ])
    assert.deepStrictEqual([...merged].map(([name, { _tag }]) => [name, _tag]), [
      ["a", "LeftOut"],
      ["b", "Disabled"],
      ["c", "Server"],
      ["d", "Server"]
    ])
    assert.deepStrictEqual((merged.get("c") as ServersConfig.ServerEntry).server, { command: "first" })
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
      const layer = ServersConfig.layer(decode(config), {
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
      const layer = ServersConfig.layer(
        decode({ one: { command: "slow" }, two: { command: "quick" }, three: { command: "slower" } }),
        {
          connector: (server) => {
            const { command } = server as ServersConfig.Program
            const steps = { quick: 0, slow: 100, slower: 200 }[command]!
            const wait = Effect.repeatN(Effect.yieldNow(), steps)
            return Connector.make(command, Effect.zipRight(wait, there.connect))
          }
        }
      )
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
      const features = ClientFeatures.roots(Effect.map(Home, (uri) => [{ uri }]))
      const layer = ServersConfig.layer(decode({ one: { command: "one" } }), {
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
      const layer = ServersConfig.layer(
        decode({
          old: { command: "old", versions: ["2025-06-18"], roots: ["file:///old"], timeout: "30 seconds" },
          new: { command: "new" }
        }),
        {
          connector: () => there,
          server: (name) => {
            given.push(name)
            return {
              features: ClientFeatures.roots(Effect.succeed([{ uri: `file:///${name}` }])),
              versions: ["2026-07-28"]
            }
          },
          nameHook: (name, server) => `${server.name}_${name}`
        }
      )
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
            ServersConfig.layer(decode({ one: { command: "one", timeout, versions: ["2025-11-25"] } }), {
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
      const layer = ServersConfig.layer(decode({ late: { command: "late" }, never: { command: "never" } }), {
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
        const config = { one: { command: "one" } }
        const layer = ServersConfig.layer(decode(config), { connector: () => there, server: { features }, onFailure })
        assert.strictEqual(yield* Effect.flip(Layer.build(layer)), "no model")
      }).pipe(Effect.provide(asking)))
  }

  it.scoped("are left out and logged when their entry cannot be read, and fail the layer when `onFailure` is \"fail\"", () =>
    Effect.gen(function*() {
      const there = yield* InProcess.connector
      const logged: Array<string> = []
      const entries = decode({ one: { command: "one" }, two: { args: [] }, off: { disabled: true, args: 5 } })
      const layer = (onFailure?: "fail") => ServersConfig.layer(entries, { connector: () => there, onFailure })
      const group = Context.get(
        yield* Layer.build(layer()).pipe(
          Effect.provide(
            Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message))))
          )
        ),
        ClientSessionGroup
      )
      assert.deepStrictEqual([...(yield* group.sessions).keys()], ["one"])
      const reason = "The server \"two\" cannot be read: it has no command and no URL"
      assert.deepStrictEqual(logged, [`${reason}. It is left out`])
      const error = yield* Effect.flip(Layer.build(layer("fail")))
      assert.strictEqual(error.message, reason)
    }).pipe(Effect.provide(server)))

  it.scoped("fail the layer when one cannot be reached and `onFailure` is \"fail\"", () =>
    Effect.gen(function*() {
      const { layer } = yield* group("fail")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Layer.build(layer))))
    }).pipe(Effect.provide(server)))
})
