/**
 * A client calls a gateway with its token, and the gateway calls the upstream with another one. The upstream refuses the token
 * of the client. All servers run in this process; `login` shows how a client gets its token.
 */
import { FetchHttpClient } from "@effect/platform"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as HttpResponseError from "@effect-mcp/core/HttpResponseError"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Console, Effect } from "effect"
import * as Issuer from "../login/Issuer.js"
import { listen } from "../login/Listening.js"
import * as Gateway from "./gateway.js"
import * as Upstream from "./upstream.js"

const main = Effect.gen(function*() {
  const { issue, issuer, requests } = yield* TestAuthorizationServer.TestAuthorizationServer
  const upstream = yield* listen((url) => Upstream.layer(url, issuer))
  const gateway = yield* listen((url) => Gateway.layer(url, { issuer, upstream }))

  const token = yield* issue({ resource: gateway, subject: "ada", scopes: ["accounts"] })
  const headers = { authorization: `Bearer ${token}` }
  const client = yield* Client.make(Remote.connector(gateway, { headers }))
  yield* Console.log("through the gateway:", (yield* client.callTool("balance")).structuredContent)

  const refused = yield* Effect.flip(Client.make(Remote.connector(upstream, { headers })))
  const isRefused = refused.cause instanceof HttpResponseError.HttpResponseError && refused.cause.status === 401
  yield* Console.log("the upstream refuses the token for the gateway:", isRefused)

  const exchange = (yield* requests).find(({ form }) => form.get("grant_type")?.endsWith("token-exchange"))
  yield* Console.log("exchanged for one of the upstream:", exchange?.form.get("resource") === upstream)
})

main.pipe(
  Effect.scoped,
  Effect.provide(Issuer.layer({ clients: [{ clientId: "gateway", secret: "gateway-secret" }] })),
  Effect.provide(FetchHttpClient.layer),
  NodeRuntime.runMain
)
