/**
 * In an `HttpApi` of `@effect/platform`: the endpoint is one more route of its router, and no endpoint of the API, because it
 * answers with messages and streams of its own.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { Server, User, userOf } from "./server.js"

const Health = HttpApiEndpoint.get("health", "/health").addSuccess(Schema.Struct({ ok: Schema.Boolean }))

const Api = HttpApi.make("api").add(HttpApiGroup.make("own", { topLevel: true }).add(Health))

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide(HttpApiBuilder.group(Api, "own", (own) => own.handle("health", () => Effect.succeed({ ok: true }))))
)

/** The user, from the request that is served. */
const found = Layer.effectContext(Effect.map(HttpServerRequest, ({ headers }) => userOf(headers["x-user"])))

const McpLive = HttpApiBuilder.Router.use((router) =>
  Effect.flatMap(HttpEndpoint.make({ user: User }), (endpoint) => router.all("/mcp", Effect.provide(endpoint, found)))
)

export const Live = HttpApiBuilder.serve().pipe(
  Layer.provide(McpLive),
  Layer.provide(ApiLive),
  HttpEndpoint.drainFirst,
  Layer.provideMerge(PlatformHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Server)
)
