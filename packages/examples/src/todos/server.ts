/**
 * An `HttpApi` application with users, and an MCP endpoint beside its routes: the authentication that protects the routes also
 * gives the handlers of the tools their user, by its type.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"

// The application as it was: users, todos, a route.

class User extends Context.Tag("example/User")<User, { readonly name: string }>() {}

class Unauthorized extends Schema.TaggedError<Unauthorized>()(
  "Unauthorized",
  {},
  HttpApiSchema.annotations({ status: 401 })
) {}

class Authentication extends HttpApiMiddleware.Tag<Authentication>()("example/Authentication", {
  failure: Unauthorized,
  provides: User,
  security: { bearer: HttpApiSecurity.bearer }
}) {}

const AuthenticationLive = Layer.succeed(Authentication, {
  bearer: (token) => {
    const [kind, name] = Redacted.value(token).split(" of ")
    return kind === "token" && name !== undefined ? Effect.succeed({ name }) : new Unauthorized()
  }
})

class Todos extends Effect.Service<Todos>()("example/Todos", {
  effect: Effect.map(Ref.make<ReadonlyArray<readonly [user: string, todo: string]>>([]), (all) => ({
    add: (user: string, todo: string) => Ref.update(all, (todos) => [...todos, [user, todo] as const]),
    of: (user: string) =>
      Effect.map(Ref.get(all), (todos) => todos.filter(([of]) => of === user).map(([, todo]) => todo))
  }))
}) {}

const mine = Effect.flatMap(Effect.all([Todos, User]), ([todos, { name }]) => todos.of(name))

const Api = HttpApi.make("todos").add(
  HttpApiGroup.make("own", { topLevel: true }).add(
    HttpApiEndpoint.get("mine", "/todos").addSuccess(Schema.Array(Schema.String)).middleware(Authentication)
  )
)

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide(HttpApiBuilder.group(Api, "own", (own) => own.handle("mine", () => mine)))
)

// What MCP adds to it.

const Add = Tool.make("add", { parameters: { todo: Schema.String }, success: Schema.Array(Schema.String) })

const AddLive = McpServer.tool(
  Add,
  ({ todo }) =>
    Effect.flatMap(Effect.all([Todos, User]), ([todos, { name }]) => todos.add(name, todo)).pipe(Effect.zipRight(mine))
)

const Mcp = McpServer.layer({ name: "todos", version: "1.0.0" }, AddLive, {
  authenticator: Authenticator.make(User, { id: ({ name }) => name })
})

const McpLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const endpoint = yield* HttpEndpoint.make({ user: User })
    const { bearer } = yield* Authentication
    const user = Effect.flatMap(HttpApiBuilder.securityDecode(HttpApiSecurity.bearer), bearer)
    yield* router.all(
      "/mcp",
      Effect.provideServiceEffect(endpoint, User, user).pipe(
        Effect.catchTag("Unauthorized", () => HttpServerResponse.empty({ status: 401 }))
      )
    )
  })
).pipe(Layer.provide(Mcp))

export const Live = HttpApiBuilder.serve().pipe(
  Layer.provide([ApiLive, McpLive]),
  Layer.provide([AuthenticationLive, Todos.Default]),
  HttpEndpoint.drainFirst,
  Layer.provideMerge(PlatformHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)
