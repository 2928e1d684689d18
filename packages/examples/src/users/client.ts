/**
 * Serves the notes twice, and calls them: with tokens, which the server itself reads from the headers, and below the routes of
 * an application, which has authenticated its users already and hands them over by their type.
 */
import { FetchHttpClient, HttpRouter, HttpServer as PlatformServer, HttpServerRequest } from "@effect/platform"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as HttpResponseError from "@effect-mcp/core/HttpResponseError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Console, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { Notes, NotesLive, User, Written } from "./server.js"

const info = { name: "notes of users", version: "1.0.0" }

const users = new Map<string | undefined, typeof User.Service>([
  ["Bearer ada-token", { name: "ada", scopes: [] }],
  ["Bearer bob-token", { name: "bob", scopes: ["admin"] }]
])

/** The server finds its users by their tokens. */
const WithTokens = McpServer.layer(info, NotesLive, {
  authenticator: Authenticator.make(User, {
    id: ({ name }) => name,
    http: ({ headers }) => {
      const user = users.get(headers.authorization)
      return user === undefined ? Effect.fail(HttpRefusal.unauthorized("Bearer")) : Effect.succeed(user)
    }
  }),
  session: Written.Live,
  lifetime: "user"
})

/** The application has authenticated its users: the server takes them as they are. */
const InApplication = McpServer.layer(info, NotesLive, {
  authenticator: Authenticator.make(User, { id: ({ name }) => name }),
  session: Written.Live,
  lifetime: "user"
})

/** The user of a request, whom a cookie names. */
const authenticated = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers: { cookie = "" } }) => ({ name: cookie.replace("user=", ""), scopes: [] })
)

const Application = Layer.unwrapScoped(Effect.map(
  // It requires the user of each request: an application that provides none does not compile.
  HttpEndpoint.make({ user: User }),
  (endpoint) =>
    HttpRouter.empty.pipe(
      HttpRouter.mountApp("/mcp", endpoint),
      HttpRouter.provideServiceEffect(User, authenticated),
      PlatformServer.serve()
    )
))

const connect = (url: string, headers: Record<string, string>) => Client.make(Remote.connector(url, { headers }))

const main = Effect.gen(function*() {
  const { url } = yield* HttpServer.HttpServer
  const ada = yield* connect(url, { authorization: "Bearer ada-token" })
  const bob = yield* connect(url, { authorization: "Bearer bob-token" })
  yield* ada.callTool("write", { text: "a note of Ada" })
  yield* bob.callTool("write", { text: "a note of Bob" })
  const { content: [second] } = yield* ada.callTool("write", { text: "a second note of Ada" })
  yield* Console.log(second)
  yield* Console.log("ada reads", (yield* ada.callTool("read")).structuredContent)
  yield* Console.log("bob counts", (yield* bob.callTool("count")).structuredContent)

  const forbidden = yield* Effect.flip(ada.callTool("count"))
  yield* Console.log("ada is refused:", reason(forbidden))
  const stranger = yield* Effect.flip(connect(url, {}))
  yield* Console.log("a stranger is refused:", reason(stranger))

  const own = yield* PlatformServer.addressFormattedWith(Effect.succeed)
  const eve = yield* connect(`${own}/mcp`, { cookie: "user=eve" })
  yield* eve.callTool("write", { text: "a note of Eve" })
  yield* Console.log("eve reads", (yield* eve.callTool("read")).structuredContent)
})

const reason = (error: { readonly message: string; readonly cause?: unknown }): string =>
  error.cause instanceof HttpResponseError.HttpResponseError
    ? `${error.cause.status} ${error.cause.headers["www-authenticate"]}`
    : error.message

main.pipe(
  Effect.scoped,
  Effect.provide([HttpServer.layer({ port: 0 }).pipe(Layer.provide(WithTokens)), FetchHttpClient.layer]),
  Effect.provide(Layer.provideMerge(
    Application.pipe(Layer.provide(InApplication)),
    PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
  )),
  Effect.provide(Notes.Live),
  NodeRuntime.runMain
)
