import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  HttpClient,
  HttpClientRequest,
  HttpServer,
  HttpServerResponse,
  OpenApi as PlatformOpenApi
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import * as HttpApiTools from "@effect-mcp/openapi/HttpApiTools"
import { Context, Deferred, Effect, Fiber, FiberRef, Layer, Logger, Redacted, Schema, Stream } from "effect"
import { expectTypeOf } from "vitest"
import { eras } from "./Serving.js"

class Order extends Schema.Class<Order>("Order")({
  id: Schema.Number,
  thing: Schema.NonEmptyString,
  ordered: Schema.Date
}) {}

class SoldOut extends Schema.TaggedError<SoldOut>()(
  "SoldOut",
  { thing: Schema.String, left: Schema.Number },
  HttpApiSchema.annotations({ status: 409 })
) {
  override get message() {
    return `There are only ${this.left} of ${this.thing}.`
  }
}

class Closed extends Schema.TaggedError<Closed>()(
  "Closed",
  { until: Schema.String },
  HttpApiSchema.annotations({ status: 422 })
) {}

/** The user of the API, of which its middleware makes the service. */
class Customer extends Context.Tag("test/Customer")<Customer, { readonly name: string }>() {}

class Authorization extends HttpApiMiddleware.Tag<Authorization>()("test/Authorization", {
  failure: HttpApiError.Unauthorized,
  provides: Customer,
  security: { bearer: HttpApiSecurity.bearer }
}) {}

const id = HttpApiSchema.param("id", Schema.NumberFromString)

const orders = HttpApiGroup.make("orders")
  .add(
    HttpApiEndpoint.get("find")`/orders/${id}`
      .setUrlParams(Schema.Struct({ verbose: Schema.optional(Schema.BooleanFromString) }))
      .addSuccess(Order)
      .addError(HttpApiError.NotFound)
      .annotate(PlatformOpenApi.Summary, "Finds an order")
  )
  .add(
    HttpApiEndpoint.post("create", "/orders")
      .setPayload(Schema.Struct({ thing: Schema.NonEmptyString, count: Schema.Number }))
      .setHeaders(Schema.Struct({ "x-shop": Schema.optional(Schema.String) }))
      .addSuccess(Order, { status: 201 })
      .addError(SoldOut)
      .addError(Closed)
  )
  .add(HttpApiEndpoint.del("cancel")`/orders/${id}`)
  .add(HttpApiEndpoint.get("lines", "/lines").addSuccess(HttpApiSchema.Text()))
  .add(HttpApiEndpoint.get("wait", "/wait"))
  .add(HttpApiEndpoint.get("hidden", "/hidden").annotate(PlatformOpenApi.Exclude, true))
  .add(
    HttpApiEndpoint.post("upload", "/upload")
      .setPayload(HttpApiSchema.Multipart(Schema.Struct({ note: Schema.String })))
      .addSuccess(Schema.String)
  )

const mine = HttpApiGroup.make("mine")
  .add(HttpApiEndpoint.get("whoami", "/me").addSuccess(Schema.String))
  .middleware(Authorization)

const Api = HttpApi.make("shop").add(orders).add(mine).prefix("/v1")

const shade = FiberRef.unsafeMake("none")

/** What handlers share with a test. */
class Seen extends Context.Tag("test/Seen")<Seen, {
  readonly log: Array<string>
  readonly waits: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<void>
}>() {}

const Orders = HttpApiBuilder.group(Api, "orders", (orders) =>
  Effect.map(Seen, ({ ended, log, waits }) =>
    orders
      .handle("find", ({ path, urlParams }) =>
        path.id === 7
          ? Effect.succeed(
            new Order({ id: 7, thing: `lamp${urlParams.verbose === true ? " of brass" : ""}`, ordered: new Date(0) })
          )
          : path.id === 13
          ? Effect.die(new Error("the secret of the database"))
          : Effect.fail(new HttpApiError.NotFound()))
      .handle("create", ({ headers, payload }) =>
        payload.count > 9
          ? Effect.fail(new Closed({ until: "Monday" }))
          : payload.count > 3
          ? Effect.fail(new SoldOut({ thing: payload.thing, left: 3 }))
          : Effect.map(FiberRef.get(shade), (shade) => {
            log.push(`${payload.thing} of ${headers["x-shop"]}, ${shade}`)
            return new Order({ id: 8, thing: payload.thing, ordered: new Date(0) })
          }))
      .handle("cancel", () => Effect.void)
      .handleRaw("lines", () =>
        Effect.acquireRelease(Effect.void, () => Effect.sync(() => log.push("closed"))).pipe(
          Effect.as(HttpServerResponse.stream(
            Stream.make("one\n", "two\n").pipe(
              Stream.tap((line) => Effect.sync(() => log.push(line))),
              Stream.encodeText
            ),
            { contentType: "text/plain" }
          ))
        ))
      .handle("wait", () =>
        Effect.onInterrupt(
          Effect.zipRight(Deferred.succeed(waits, undefined), Effect.never),
          () => Deferred.succeed(ended, undefined)
        ))
      .handle("hidden", () => Effect.void)
      .handle("upload", ({ payload }) => Effect.succeed(payload.note))))

/** The user of the MCP server. */
class User extends Context.Tag("test/User")<User, { readonly name: string }>() {}

const authenticator = Authenticator.make(User, {
  id: ({ name }) => name,
  inProcess: Effect.succeed({ name: "grace" })
})

/** One middleware for both ways: the user of a call, else the token of an HTTP request. */
const AuthorizationLive = Layer.succeed(Authorization, {
  bearer: (token) =>
    Effect.flatMap(Effect.serviceOption(User), (user) =>
      user._tag === "Some"
        ? Effect.succeed({ name: user.value.name })
        : Redacted.value(token) === "of-ada"
        ? Effect.succeed({ name: "ada" })
        : Effect.fail(new HttpApiError.Unauthorized()))
})

const Mine = HttpApiBuilder.group(
  Api,
  "mine",
  (mine) => mine.handle("whoami", () => Effect.map(Customer, ({ name }) => `You are ${name}.`))
).pipe(
  Layer.provide(AuthorizationLive)
)

const makeSeen = Effect.all({
  log: Effect.sync((): Array<string> => []),
  waits: Deferred.make<void>(),
  ended: Deferred.make<void>()
})

const text = ({ content }: CallToolResult): string =>
  content.map((one) => one.type === "text" ? one.text : one.type).join("\n")

type Options = HttpApiTools.Options<"orders" | "mine">

const shop = (
  options: Options = {},
  versions: (typeof eras)[number][1] = ["2026-07-28"],
  users: { readonly authenticator?: typeof authenticator } = { authenticator }
) =>
  Effect.gen(function*() {
    const seen = yield* makeSeen
    const ApiLive = HttpApiBuilder.api(Api).pipe(
      Layer.provide([Orders, Mine]),
      Layer.provide(Layer.succeed(Seen, seen))
    )
    const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, HttpApiTools.layer(Api, options), {
      versions,
      ...users
    }).pipe(
      Layer.provide(HttpApiTools.implemented),
      Layer.provide(ApiLive),
      Layer.provide(NodeHttpServer.layerContext)
    )
    const session = yield* Client.make(yield* Effect.provide(InProcess.connector, yield* Layer.build(Server)), {
      versions
    })
    const { tools } = yield* session.listTools()
    const call = (name: string, args?: JsonObject) =>
      Effect.map(session.callTool(name, args), (result) => ({ ...result, text: text(result) }))
    return { ...seen, tools, call, session }
  })

for (const [era, versions] of eras) {
  describe(`The endpoints of an HttpApi as tools, in the ${era} era`, () => {
    it.scoped("get their arguments by the API's schemas, and give its results", () =>
      Effect.gen(function*() {
        const { call, tools } = yield* shop({}, versions)
        assert.sameMembers(tools.map(({ name }) => name), [
          "orders_find",
          "orders_create",
          "orders_cancel",
          "orders_lines",
          "orders_wait",
          "orders_upload",
          "mine_whoami"
        ])
        assert.strictEqual(tools.find(({ name }) => name === "orders_find")?.title, "Finds an order")
        const found = yield* call("orders_find", { id: "7", verbose: "true" })
        assert.deepStrictEqual(found.structuredContent, {
          id: 7,
          thing: "lamp of brass",
          ordered: "1970-01-01T00:00:00.000Z"
        })
        const created = yield* call("orders_create", { body: { thing: "chair", count: 1 } })
        assert.deepInclude(created.structuredContent, { id: 8, thing: "chair" })
        assert.include((yield* call("orders_cancel", { id: "7" })).text, "204")
      }))

    it.scoped("give an error of the API's schemas as a failure that the model reads", () =>
      Effect.gen(function*() {
        const { call } = yield* shop({}, versions)
        const missing = yield* call("orders_find", { id: "1" })
        assert.isTrue(missing.isError)
        assert.include(missing.text, "404")
        const soldOut = yield* call("orders_create", { body: { thing: "chair", count: 4 } })
        assert.isTrue(soldOut.isError)
        assert.strictEqual(
          soldOut.text,
          "The request conflicts with what the API has (409). It says: There are only 3 of chair.\n" +
            "{\"thing\":\"chair\",\"left\":3,\"_tag\":\"SoldOut\"}"
        )
        const closed = yield* call("orders_create", { body: { thing: "chair", count: 10 } })
        assert.strictEqual(
          closed.text,
          "The API does not accept these values (422). It says: {\"until\":\"Monday\",\"_tag\":\"Closed\"}"
        )
        const odd = yield* call("orders_find", { id: "seven" })
        assert.isTrue(odd.isError)
        assert.match(odd.text, /\(400\)\. It says: \{/)
      }))

    it.scoped("fail as a call does whose handler has a defect: the client does not read the defect", () =>
      Effect.gen(function*() {
        const { call } = yield* shop({}, versions)
        const failed = yield* call("orders_find", { id: "13" })
        assert.isTrue(failed.isError)
        assert.strictEqual(failed.text, "Internal error")
      }))
  })
}

describe("The tools of an HttpApi", () => {
  it.scoped("are not made of another API than the one that is implemented", () =>
    Effect.gen(function*() {
      const Server = McpServer.layer(
        { name: "shop", version: "1.0.0" },
        HttpApiTools.layer(HttpApi.make("other").add(mine))
      )
        .pipe(
          Layer.provide(HttpApiTools.implemented),
          Layer.provide(HttpApiBuilder.api(HttpApi.make("empty"))),
          Layer.provide(HttpServer.layerContext)
        )
      const cause = yield* Effect.flip(Effect.sandbox(Layer.build(Server)))
      assert.include(
        String(cause),
        "got an API with the groups mine, but HttpApiBuilder.api implements another value, an API without groups"
      )
    }))

  it.scoped("are not made of an API whose endpoints are in another router", () =>
    Effect.gen(function*() {
      const seen = yield* makeSeen
      const ApiLive = HttpApiBuilder.api(Api).pipe(
        Layer.provide([Orders, Mine]),
        Layer.provide(Layer.succeed(Seen, seen))
      )
      const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, HttpApiTools.layer(Api)).pipe(
        Layer.provide(HttpApiTools.implemented)
      )
      const cause = yield* InProcess.connector.pipe(
        Effect.provide(Server),
        Effect.provide(ApiLive),
        Effect.provide(NodeHttpServer.layerContext),
        Effect.sandbox,
        Effect.flip
      )
      assert.include(
        String(cause),
        "The endpoints of this API are not in the router (GET /v1/orders/:id): provide `HttpApiBuilder.api` and the tools in " +
          "one layer, not in two `Effect.provide`"
      )
    }))

  it.scoped("answer a request that has no route as the API does over HTTP", () =>
    Effect.gen(function*() {
      const { call } = yield* shop({
        request: (request) => Effect.succeed(HttpClientRequest.setUrl(request, "http://localhost/none"))
      })
      assert.strictEqual(
        (yield* call("orders_cancel", { id: "7" })).text,
        "The API has nothing there (404). It says: DELETE /none not found"
      )
    }))

  it.scoped("warn the operator once when the API finds no user for a call", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      yield* Effect.gen(function*() {
        const { call } = yield* shop({}, ["2026-07-28"], {})
        for (let i = 0; i < 2; i++) {
          assert.strictEqual(
            (yield* call("mine_whoami")).text,
            "The API does not accept the credentials of this server (401)."
          )
        }
      }).pipe(
        Effect.provide(
          Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))
        )
      )
      assert.deepStrictEqual(lines, [
        "The API answered the call of a tool with 401: its middleware found no user. Give the MCP server an `authenticator`, " +
        "and let the middleware take the user that `Effect.serviceOption` finds, or set a header by the option `request` of " +
        "HttpApiTools.layer"
      ])
    }))

  it.scoped("run in the fiber of the call: the API sees its values, and ends when the call is cancelled", () =>
    Effect.gen(function*() {
      const { call, ended, waits } = yield* shop()
      const waiting = yield* Effect.fork(call("orders_wait"))
      yield* Deferred.await(waits)
      yield* Fiber.interrupt(waiting)
      yield* Deferred.await(ended)
    }))

  it.scoped("read a streamed answer to its end before the API's scope closes", () =>
    Effect.gen(function*() {
      const { call, log } = yield* shop()
      assert.strictEqual((yield* call("orders_lines")).text, "one\ntwo\n")
      assert.deepStrictEqual(log, ["one\n", "two\n", "closed"])
    }))

  it.scoped("send forms with parts", () =>
    Effect.gen(function*() {
      const { call } = yield* shop()
      assert.include((yield* call("orders_upload", { body: { note: "fragile" } })).text, "fragile")
    }))

  it.scoped("are those of the groups that the application names", () =>
    Effect.gen(function*() {
      const { tools } = yield* shop({ groups: ["mine"] })
      // @ts-expect-error: the API has no such group
      expectTypeOf(HttpApiTools.layer).toBeCallableWith(Api, { groups: ["users"] })
      assert.deepStrictEqual(tools.map(({ name }) => name), ["mine_whoami"])
    }))

  it.scoped("are called as the user of the call, whom the API's middleware finds", () =>
    Effect.gen(function*() {
      const { call } = yield* shop()
      assert.include((yield* call("mine_whoami")).text, "You are grace.")
    }))

  it.scoped("get no parameter that the application gives or hides", () =>
    Effect.gen(function*() {
      const { call, log, tools } = yield* shop({
        parameter: ({ in: place, name }) =>
          place === "header" ? Effect.succeed("berlin") : name === "verbose" ? Effect.void : undefined
      })
      const argumentsOf = (tool: string) =>
        Object.keys((tools.find(({ name }) => name === tool)?.inputSchema as JsonObject).properties as JsonObject)
      assert.deepStrictEqual(argumentsOf("orders_find"), ["id"])
      assert.deepStrictEqual(argumentsOf("orders_create"), ["body"])
      yield* call("orders_create", { body: { thing: "chair", count: 1 } })
      assert.deepStrictEqual(log, ["chair of berlin, none"])
    }))

  it.scoped("may be served beside the API over HTTP: both have the same handlers, and each finds its user", () =>
    Effect.gen(function*() {
      const seen = yield* makeSeen
      const ApiLive = HttpApiBuilder.api(Api).pipe(
        Layer.provide([Orders, Mine]),
        Layer.provide(Layer.succeed(Seen, seen))
      )
      const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, HttpApiTools.layer(Api), { authenticator })
        .pipe(
          Layer.provide(HttpApiTools.implemented)
        )
      const context = yield* Layer.build(
        Layer.merge(HttpApiBuilder.serve(), Server).pipe(
          Layer.provide(ApiLive),
          Layer.provideMerge(NodeHttpServer.layerTest)
        )
      )
      const whoami = HttpClientRequest.get("/v1/me")
      const send = (request: HttpClientRequest.HttpClientRequest) =>
        Effect.provide(Effect.flatMap(HttpClient.execute(request), ({ text }) => text), context)
      assert.strictEqual(yield* send(HttpClientRequest.bearerToken(whoami, "of-ada")), "\"You are ada.\"")
      const session = yield* Client.make(yield* Effect.provide(InProcess.connector, context))
      assert.include(text(yield* session.callTool("mine_whoami")), "You are grace.")
      yield* session.callTool("orders_create", { body: { thing: "chair", count: 1 } })
      yield* send(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post("/v1/orders"), { thing: "lamp", count: 1 }))
      assert.deepStrictEqual(seen.log, ["chair of undefined, none", "lamp of undefined, none"])
    }))
})
