import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Context, Effect, Either, Layer, Schema, Stream } from "effect"
import { answered, assertRefused, call, proper, withEndpoint } from "./http/TestExchange.js"
import * as Posting from "./modern/Posting.js"
import { act, logbook, serve } from "./Serving.js"
import { everything, useAll } from "./Surrounded.js"

class User extends Context.Tag("test/User")<User, { readonly scopes: ReadonlyArray<string> }>() {}

const lacking = (needed: ReadonlyArray<string>) =>
  HttpRefusal.forbidden(
    `Forbidden: needs ${needed.join(" ")}`,
    HttpRefusal.challenge("Bearer", { error: "insufficient_scope", scope: needed.join(" ") })
  )

/** Users whose scopes are those in the header `Authorization`, "Bearer a b". */
const authenticator = Authenticator.make(User, {
  id: () => "ada",
  http: ({ headers }) => Effect.succeed({ scopes: (headers.authorization ?? "").split(" ").slice(1) }),
  permit: ({ scopes }, needed) => needed.every((scope) => scopes.includes(scope)) ? undefined : lacking(needed)
})

const eras = ["2025-11-25", "2026-07-28"] as const
const nothing = Definition.make()
const user = (...scopes: ReadonlyArray<string>) => Context.make(User, { scopes })

const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const reading = everything(Effect.void).pipe(Feature.requires(["read"]))

for (const version of eras) {
  describe(`A feature that requires scopes, for clients of ${version}`, () => {
    const server = <E, R>(features: Layer.Layer<never, E, R>, as: Context.Context<User>) =>
      TestServer.layer(nothing, features, { authenticator, versions: [version], as })

    it.effect("is used by a user who has them", () => Effect.provide(useAll, server(reading, user("read"))))

    it.effect("is refused to another user in every use, before its handler runs", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const prompt = { type: "ref/prompt", name: "prompt" } as const
        const template = { type: "ref/resource", uri: "test://template/{id}" } as const
        const uses: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          client.callTool("tool"),
          client.readResource("test://fixed"),
          client.readResource("test://template/7"),
          client.getPrompt("prompt", { a: "" }),
          // Without the argument that it has.
          client.getPrompt("prompt"),
          client.complete(prompt, { name: "a", value: "" }),
          client.complete(template, { name: "id", value: "" }),
          client.complete({ type: "ref/resource", uri: "test://fixed" }, { name: "a", value: "" }),
          client.request("x/custom", {}),
          ...version === "2025-11-25" ? [client.request("resources/subscribe", { uri: "test://fixed" })] : []
        ]
        for (const use of uses) {
          assert.deepInclude((yield* Effect.flip(use)) as object, { message: "Forbidden: needs read" })
        }
      }).pipe(Effect.provide(server(everything(Effect.die("it ran")).pipe(Feature.requires(["read"])), user("write")))))

    it.effect("is listed for every user, without the resources that its template lists", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        assert.deepStrictEqual((yield* collect(client.tools)).map(({ name }) => name), ["tool"])
        assert.deepStrictEqual((yield* collect(client.resources)).map(({ uri }) => uri), ["test://fixed"])
        assert.lengthOf(yield* collect(client.resourceTemplates), 1)
        assert.lengthOf(yield* collect(client.prompts), 1)
      }).pipe(Effect.provide(server(reading, user()))))

    it.effect("is refused once with all of its scopes", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        assert.deepInclude(yield* Effect.flip(client.callTool("act")), { message: "Forbidden: needs c b a" })
      }).pipe(Effect.provide(
        server(
          act(Effect.void).pipe(
            Feature.requires(["a"]),
            Feature.requires(["b", "a"]),
            FeatureMiddleware.around(FeatureMiddleware.make(({ next }) => next)),
            Feature.requires(["c"])
          ),
          user("c")
        )
      )))

    it.effect("is unknown to a user who does not see it, whatever its scopes are", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        assert.deepInclude(yield* Effect.flip(client.callTool("hidden")), { message: "Unknown tool: hidden" })
        assert.deepInclude(yield* Effect.flip(client.callTool("seen")), { message: "Forbidden: needs a" })
        assert.deepInclude(yield* Effect.flip(client.callTool("open")), { message: "Forbidden: needs a" })
        assert.deepStrictEqual((yield* collect(client.tools)).map(({ name }) => name), ["seen"])
      }).pipe(Effect.provide(
        server(
          Layer.mergeAll(
            act(Effect.void, "hidden").pipe(Feature.requires(["a"]), Feature.visible(Effect.succeed(false))),
            act(Effect.void, "seen").pipe(Feature.requires(["a"]), Feature.visible(Effect.succeed(true))),
            act(Effect.void, "open").pipe(Feature.visible(Effect.succeed(false)), Feature.requires(["a"]))
          ),
          user()
        )
      )))

    it.effect("is refused to every user where the authenticator knows no scopes, and where there is none", () =>
      Effect.gen(function*() {
        const call = Effect.flip(Effect.flatMap(Client.Client, (client) => client.callTool("tool")))
        const refused = /Forbidden: this requires the scope read, and the server cannot check the scopes of its users/
        const unknowing = Authenticator.make(User, { id: () => "ada" })
        const known = TestServer.layer(nothing, reading, {
          authenticator: unknowing,
          versions: [version],
          as: user("read")
        })
        assert.match((yield* Effect.provide(call, known)).message, refused)
        const open = TestServer.layer(nothing, reading, { versions: [version] })
        assert.match((yield* Effect.provide(call, open)).message, refused)
      }))
  })
}

const forbidden = (id: number, why: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32000, message: `Forbidden: ${why}` }
})

describe("Scopes over HTTP", () => {
  const writing = Layer.mergeAll(
    McpServer.tool(Tool.make("write", { parameters: { text: Schema.String } }), () => Effect.die("it ran")).pipe(
      Feature.requires(["write"])
    ),
    act(Effect.die("it ran"), "purge").pipe(Feature.requires(["admin"])),
    act(Effect.void, "read"),
    McpServer.resource(Resource.make("a", { uri: "test://a" }), Effect.die("it ran")).pipe(Feature.requires(["admin"]))
  )
  const server = serve(writing, { authenticator })
  const bearer = { authorization: "Bearer read" }

  for (const responses of ["auto", "stream", "json"] as const) {
    for (const sessions of [true, false]) {
      it.effect(`refuse with a status, before the response begins: ${responses}, ${sessions ? "sessions" : "none"}`, () =>
        withEndpoint(
          server,
          (http) =>
            Effect.gen(function*() {
              const client = sessions ? yield* http.open(undefined, {}, bearer) : http
              // What it sends as arguments is not read.
              const refused = yield* client.ask(call(7, "write", { text: 1 }), bearer)
              assert.deepStrictEqual([refused.status, refused.json], [403, forbidden(7, "needs write")])
              assert.strictEqual(
                refused.sent["www-authenticate"],
                "Bearer error=\"insufficient_scope\", scope=\"write\""
              )
              const served = yield* client.ask(call(8, "read"), bearer)
              assert.strictEqual(served.status, 200)
              const modern = yield* Posting.ask(http, Posting.request("tools/call", { name: "write" }), bearer)
              Posting.refused(modern, 403, -32600)
              assert.isDefined(modern.sent["www-authenticate"])
              const listening = Posting.request("subscriptions/listen", {
                notifications: { resourceSubscriptions: ["test://a"] }
              })
              const listened = yield* answered(Posting.post(http, listening, bearer))
              Posting.refused(listened, 403, -32600)
              assert.include(listened.text, "needs admin")
            }),
          { responses, legacy: { sessions } }
        ).pipe(Effect.provide(EventStore.layerMemory)))
    }
  }

  it.effect("are known of whatever a request names, before the response begins", () => {
    // A stream begins while it waits.
    class Waited extends Context.Tag("Waited")<Waited, void>() {}
    const waiting = Feature.provide(Waited, Effect.yieldNow())
    const slow = everything(Effect.die("it ran")).pipe(Feature.requires(["read"]), waiting)
    return withEndpoint(
      serve(slow, { authenticator }),
      (http) =>
        Effect.gen(function*() {
          const argument = { name: "id", value: "" }
          const requests: ReadonlyArray<readonly [method: string, params: JsonObject, isLegacy?: boolean]> = [
            ["tools/call", { name: "tool" }],
            ["prompts/get", { name: "prompt" }],
            ["resources/read", { uri: "test://fixed" }],
            ["resources/read", { uri: "test://template/7" }],
            ["resources/subscribe", { uri: "test://fixed" }, true],
            ["completion/complete", { ref: { type: "ref/prompt", name: "prompt" }, argument }],
            ["completion/complete", { ref: { type: "ref/resource", uri: "test://template/{id}" }, argument }],
            ["completion/complete", { ref: { type: "ref/resource", uri: "test://template/7" }, argument }]
          ]
          const bearer = { authorization: "Bearer write" }
          const client = yield* http.open(undefined, {}, bearer)
          for (const [method, params, isLegacy] of requests) {
            const { sent, status } = yield* client.ask(Message.request(7, method, params), bearer)
            const seen = [status, sent["www-authenticate"]]
            assert.deepStrictEqual(seen, [403, "Bearer error=\"insufficient_scope\", scope=\"read\""], method)
            if (isLegacy === true) continue
            Posting.refused(yield* Posting.ask(http, Posting.request(method, params), bearer), 403, -32600)
          }
        }),
      { responses: "stream" }
    )
  })

  it.effect("refuse a message of HTTP+SSE with a status", () =>
    withEndpoint(
      server,
      (http) =>
        Effect.gen(function*() {
          const stream = http.send("GET", { host: "localhost", accept: "text/event-stream", ...bearer }, "", "/sse")
          const [, target] = /data: (\S+)/.exec(stream.text)!
          const refused = http.send("POST", { ...proper, ...bearer }, call(7, "write"), target)
          yield* answered(refused)
          assert.deepStrictEqual([refused.status, refused.json], [403, forbidden(7, "needs write")])
        }),
      { path: "/mcp", legacy: { ssePath: "/sse" } }
    ))

  it.effect("refuse a batch as a whole, with all that its requests need", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26", {}, bearer)
        const batch = [call(1, "read"), call(2, "write"), call(3, "purge"), Message.request(4, "nothing"), 5]
        const refused = yield* client.ask(batch)
        assertRefused(refused, 403, -32000, /needs write admin/)
        assert.include(refused.sent["www-authenticate"], "scope=\"write admin\"")
      })))

  it.effect("are checked by the authenticator for every request, with none where nothing is required", () => {
    const asked: Array<string> = []
    const authenticator = Authenticator.make(User, {
      id: () => "ada",
      http: () => Effect.succeed({ scopes: [] }),
      permit: (_, scopes) => {
        asked.push(scopes.join(" "))
        return undefined
      }
    })
    return withEndpoint(serve(act(Effect.void), { authenticator }), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        yield* client.ask(call(1, "act"))
        assert.deepStrictEqual(asked, ["", "", ""])
      }))
  })

  it.effect("that the authenticator dies for are an internal error, and logged", () => {
    const { layer, lines } = logbook()
    const dying = Authenticator.make(User, {
      id: () => "ada",
      http: () => Effect.succeed({ scopes: [] }),
      permit: () => {
        throw new Error("hunter2")
      }
    })
    return withEndpoint(serve(act(Effect.void), { authenticator: dying }), (http) =>
      Effect.gen(function*() {
        const refused = yield* http.ask(call(1, "act"), bearer)
        const error = { code: -32603, message: "Internal error" }
        assert.deepStrictEqual([refused.status, refused.json], [500, { jsonrpc: "2.0", id: 1, error }])
        assert.deepStrictEqual(lines.map(({ message }) => message), [
          "The function `permit` of the Authenticator threw an error: the request was refused"
        ])
      })).pipe(Effect.provide(layer))
  })
})

describe("A definition that requires scopes", () => {
  const requires = ["write"]
  const features = Layer.mergeAll(
    McpServer.tool(Tool.make("tool", { requires }), () => Effect.void),
    McpServer.tool(RawTool.make("raw", { inputSchema: { type: "object" }, requires }), () => Effect.succeed("")),
    McpServer.resource(Resource.make("resource", { uri: "test://fixed", requires }), Effect.succeed("")),
    McpServer.resourceTemplate(
      ResourceTemplate.make("template", { requires })`test://${ResourceTemplate.param("id")}/a`,
      () => Effect.succeed("")
    ),
    McpServer.prompt(Prompt.make("prompt", { requires }), () => Effect.succeed(""))
  ).pipe(Feature.requires(["read"]))
  const use = Effect.gen(function*() {
    const client = yield* Client.Client
    const uses: ReadonlyArray<Effect.Effect<unknown, Error>> = [
      client.callTool("tool"),
      client.callTool("raw"),
      client.readResource("test://fixed"),
      client.readResource("test://7/a"),
      client.getPrompt("prompt")
    ]
    return yield* Effect.forEach(uses, (use) => Effect.either(use))
  })
  const server = (scopes: Context.Context<User>) => TestServer.layer(nothing, features, { authenticator, as: scopes })

  it.effect("is used by a user who has them, with those of the group that it is in", () =>
    Effect.gen(function*() {
      const served = yield* Effect.provide(use, server(user("read", "write")))
      assert.isTrue(served.every(Either.isRight))
      const refused = yield* Effect.provide(use, server(user("read")))
      for (const result of refused) {
        assert.deepInclude(Either.getOrThrow(Either.flip(result)), { message: "Forbidden: needs read write" })
      }
    }))

  it.effect("is listed without them", () =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      for (const tool of yield* collect(client.tools)) assert.notInclude(JSON.stringify(tool), "write")
    }).pipe(Effect.provide(server(user()))))
})
