import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Context, Effect, Exit, Layer, Queue, Scope, Stream } from "effect"

const modern = ["2026-07-28"] as const
const legacy = ["2025-11-25"] as const
const eras = [legacy, modern]

const clientOf = (
  features: Layer.Layer<never, never, Registry.Registry>,
  options: Client.Options<never, ClientFeatures.ClientFeatures> = {},
  serverOptions: McpServer.Options = {}
) =>
  Effect.gen(function*() {
    const server = yield* Layer.build(McpServer.layer({ name: "s", version: "1.0.0" }, features, serverOptions))
    const connector = yield* Effect.provideService(
      TestServer.connector({ oracle: false }),
      Dispatcher,
      Context.get(server, Dispatcher)
    )
    return yield* Client.make(connector, options)
  })

const says = (text: string) => Effect.succeed({ content: [{ type: "text" as const, text }] })

const tool = (name: string, more: Partial<Registry.RegisteredTool> = {}): Registry.RegisteredTool => ({
  advertised: Tool.make(name).advertised,
  context: Context.empty(),
  call: (_, called) => says(called),
  ...more
})

const registering = (register: (registry: Registry.RegistryService) => Effect.Effect<void, never, Scope.Scope>) =>
  Feature.make(register)

const names = (client: Client.Client["Type"]) =>
  Effect.map(Stream.runCollect(client.tools), (tools) => Chunk.toReadonlyArray(tools).map(({ name }) => name))

describe("An entry that yields", () => {
  const open = (registry: Registry.RegistryService, entry: Registry.RegisteredTool, yields: boolean) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Scope.extend(registry.tools.register(entry, { yields }), scope)
      return Scope.close(scope, Exit.void)
    })

  it.effect("gives way to one that does not, before or after it, and comes back", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const [weak, strong] = [tool("a"), tool("a")]
      const closeWeak = yield* open(registry, weak, true)
      const closeStrong = yield* open(registry, strong, false)
      assert.strictEqual(registry.tools.get("a"), strong)
      yield* closeStrong
      assert.strictEqual(registry.tools.get("a"), weak)
      yield* closeWeak
      assert.isFalse(registry.tools.has("a"))
      yield* open(registry, strong, false)
      yield* open(registry, weak, true)
      assert.strictEqual(registry.tools.get("a"), strong)
    }))

  it.effect("gives way to the first of those that yield, and never appears once it is removed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const [first, second, third] = [tool("a"), tool("a"), tool("a")]
      const closeFirst = yield* open(registry, first, true)
      const closeSecond = yield* open(registry, second, true)
      yield* open(registry, third, true)
      assert.strictEqual(registry.tools.get("a"), first)
      yield* closeSecond
      yield* closeFirst
      assert.strictEqual(registry.tools.get("a"), third)
    }))
})

for (const versions of eras) {
  describe(`At ${versions[0]}, a server`, () => {
    it.scoped("serves an entry that it does not list", () =>
      Effect.gen(function*() {
        const client = yield* clientOf(
          registering(({ tools }) =>
            Effect.zipRight(tools.register(tool("seen")), tools.register(tool("unseen", { isListed: false })))
          ),
          { versions }
        )
        assert.deepStrictEqual(yield* names(client), ["seen"])
        assert.deepStrictEqual<unknown>((yield* client.callTool("unseen")).content, [{ type: "text", text: "unseen" }])
      }))

    it.scoped("gives the tool named * the calls of names that no other tool has", () =>
      Effect.gen(function*() {
        const client = yield* clientOf(
          registering(({ tools }) =>
            Effect.zipRight(
              tools.register(tool("known", { call: () => says("own") })),
              tools.register(tool("*", { isListed: false }))
            )
          ),
          { versions }
        )
        assert.deepStrictEqual<unknown>((yield* client.callTool("known")).content, [{ type: "text", text: "own" }])
        assert.deepStrictEqual<unknown>((yield* client.callTool("other")).content, [{ type: "text", text: "other" }])
      }))

    it.scoped("advertises what a description offers, and adds its instructions", () =>
      Effect.gen(function*() {
        const client = yield* clientOf(
          Layer.merge(
            registering((registry) =>
              registry.describe({ offers: ["prompts", "completions"], instructions: "First." })
            ),
            registering((registry) => registry.describe({ offers: [] }))
          ),
          { versions }
        )
        const { completions, prompts, tools } = client.serverCapabilities
        assert.deepStrictEqual([completions !== undefined, prompts !== undefined, tools], [true, true, undefined])
        assert.strictEqual(client.instructions, "First.")
      }))

    it.scoped("sends a result that is marked as unchecked as it is", () =>
      Effect.gen(function*() {
        const strange = { content: [{ type: "hologram" }], more: true }
        const client = yield* clientOf(
          registering(({ tools }) =>
            tools.register(tool("strange", { call: () => Effect.succeed(MethodHandler.unchecked(strange) as never) }))
          ),
          { versions }
        )
        assert.deepInclude(yield* client.request("tools/call", { name: "strange" }), strange)
      }))

    it.scoped("begins a subscription with the feature of its resource, and ends it", () =>
      Effect.gen(function*() {
        const events = yield* Queue.unbounded<string>()
        const resource = (uri: string, refuses: boolean): Registry.RegisteredResource => ({
          advertised: { uri, name: uri },
          context: Context.empty(),
          read: Effect.succeed({ contents: [] }),
          subscribe: (uri) =>
            refuses
              ? Effect.fail(new McpError.InvalidRequest({ message: "not now" }))
              : Effect.acquireRelease(Queue.offer(events, `begin ${uri}`), () => Queue.offer(events, `end ${uri}`))
        })
        const client = yield* clientOf(
          registering(({ resources }) =>
            Effect.zipRight(resources.register(resource("x://a", false)), resources.register(resource("x://b", true)))
          ),
          { versions }
        )
        yield* client.subscribeResource("x://a")
        assert.strictEqual(yield* Queue.take(events), "begin x://a")
        assert.isTrue(Exit.isFailure(yield* Effect.exit(client.subscribeResource("x://b"))))
        yield* client.unsubscribeResource("x://a")
        yield* Effect.repeat(Queue.take(events), { until: (event) => event === "end x://a" })
      }))

    it.scoped("knows its client by a key", () =>
      Effect.gen(function*() {
        const keys: Array<unknown> = []
        const Key = Tool.make("key")
        const client = yield* clientOf(
          McpServer.tool(Key, () =>
            Effect.map(ServerSession, ({ client: { key, sessionScope } }) => {
              keys.push(key)
              return String(sessionScope !== undefined)
            })),
          { versions }
        )
        const [first] = (yield* client.callTool("key")).content
        yield* client.callTool("key")
        assert.deepInclude(first!, { text: String(versions === legacy) })
        assert.isDefined(keys[0])
        assert.strictEqual(keys[0], keys[1])
      }))
  })
}

describe("An observer", () => {
  it.scoped("runs at a client's handshake, new roots and log level, and asks the client at any time", () =>
    Effect.gen(function*() {
      const heard = yield* Queue.unbounded<unknown>()
      const changes = yield* Queue.unbounded<void>()
      const client = yield* clientOf(
        registering((registry) =>
          registry.observe({
            onInitialized: ({ listRoots }) =>
              Effect.flatMap(Effect.orDie(listRoots), (roots) => Queue.offer(heard, roots.map(({ uri }) => uri))),
            onRootsChanged: () => Queue.offer(heard, "roots"),
            onLogLevel: ({ client: { logLevel } }) => Queue.offer(heard, logLevel)
          })
        ),
        {
          versions: legacy,
          features: ClientFeatures.roots(Effect.succeed([{ uri: "file:///a" }]), { changes: Stream.fromQueue(changes) })
        }
      )
      assert.deepStrictEqual(yield* Queue.take(heard), ["file:///a"])
      yield* Queue.offer(changes, undefined)
      assert.strictEqual(yield* Queue.take(heard), "roots")
      yield* client.setLoggingLevel("error")
      assert.strictEqual(yield* Queue.take(heard), "error")
    }))

  it.scoped("runs outside of any request", () =>
    Effect.gen(function*() {
      const heard = yield* Queue.unbounded<unknown>()
      yield* clientOf(
        registering((registry) =>
          registry.observe({
            onInitialized: () =>
              Effect.flatMap(Effect.serviceOption(RequestContext), ({ _tag }) => Queue.offer(heard, _tag))
          })
        ),
        { versions: legacy }
      )
      assert.strictEqual(yield* Queue.take(heard), "None")
    }))
})

describe("A round that is passed on", () => {
  const passing = registering(({ tools }) =>
    tools.register(tool("pass", {
      call: () =>
        Effect.flatMap(ServerSession, ({ round }) =>
          round?.state === undefined
            ? round!.pass({
              who: {
                method: "elicitation/create",
                params: { message: "?", requestedSchema: { type: "object", properties: {} } }
              }
            }, "mine")
            : says(JSON.stringify([round.state, round.responses])))
    }))
  )
  const able = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))

  it.scoped("gives its state and the responses to the next round", () =>
    Effect.gen(function*() {
      const client = yield* clientOf(passing, { versions: modern, features: able })
      const { content } = yield* client.callTool("pass")
      const { text } = content[0] as { readonly text: string }
      assert.deepStrictEqual(JSON.parse(text), ["mine", { who: { action: "accept", content: {} } }])
    }))

  it.scoped("gives the responses to its questions only, without those under other keys", () =>
    Effect.gen(function*() {
      const client = yield* clientOf(passing, { versions: modern, features: able })
      const { requestState } = yield* client.request("tools/call", { name: "pass" })
      const answer = { action: "accept", content: {} }
      const inputResponses = { who: answer, other: answer, constructor: answer }
      const { content } = yield* client.request("tools/call", { name: "pass", inputResponses, requestState })
      const [{ text }] = content as unknown as readonly [{ readonly text: string }]
      assert.deepStrictEqual(JSON.parse(text), ["mine", { who: answer }])
    }))

  it.scoped("is refused after as many rounds as the server allows", () =>
    Effect.gen(function*() {
      let rounds = 0
      const features = registering(({ tools }) =>
        tools.register(tool("pass", {
          call: () =>
            Effect.flatMap(ServerSession, ({ round }) => {
              rounds++
              return round!.pass({ who: { method: "roots/list" } }, "mine")
            })
        }))
      )
      const client = yield* clientOf(
        features,
        { versions: modern, features: ClientFeatures.roots(Effect.succeed([])) },
        { limits: { maxRounds: 3 } }
      )
      const error = yield* Effect.flip(client.callTool("pass"))
      assert.deepInclude(error, {
        _tag: "InternalError",
        message: "The handler of \"tools/call\" asks questions in more than 3 rounds"
      })
      assert.strictEqual(rounds, 4)
    }))

  it.scoped("fails when the client lacks the capability of a question", () =>
    Effect.gen(function*() {
      const client = yield* clientOf(passing, { versions: modern })
      const error = yield* Effect.flip(client.callTool("pass"))
      assert.strictEqual(error._tag, "MissingClientCapability")
    }))

  it.scoped("has a result of its own when it catches that the client lacks the capability of one of its questions", () =>
    Effect.gen(function*() {
      const form = { message: "?", requestedSchema: { type: "object", properties: {} } }
      const features = registering(({ tools }) =>
        tools.register(tool("pass", {
          call: () =>
            Effect.flatMap(ServerSession, ({ round }) =>
              Effect.catchAll(
                round!.pass({
                  able: { method: "elicitation/create", params: form },
                  unable: { method: "roots/list" }
                }, "mine"),
                ({ _tag }) => says(_tag)
              ))
        }))
      )
      const client = yield* clientOf(features, { versions: modern, features: able })
      assert.deepStrictEqual((yield* client.callTool("pass")).content, [
        { type: "text", text: "MissingClientCapability" }
      ])
    }))

  it.scoped("does not open a state that was changed", () =>
    Effect.gen(function*() {
      const client = yield* clientOf(passing, { versions: modern, features: able })
      const { requestState } = yield* client.request("tools/call", { name: "pass" })
      const error = yield* Effect.flip(
        client.request("tools/call", { name: "pass", inputResponses: {}, requestState: `x${requestState as string}` })
      )
      assert.strictEqual(error._tag, "InvalidParams")
    }))
})
