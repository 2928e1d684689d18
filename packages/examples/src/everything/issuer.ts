/**
 * The test authorization server over HTTP, whose users consent at once; the official conformance suite tests it. `--port` is the
 * port (default: a free one). It knows the client "suite".
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { parseArgs } from "node:util"
import * as Issuer from "../login/Issuer.js"

const { values } = parseArgs({ options: { port: { type: "string" } } })

const clientDocument = (url: string) =>
  HttpClient.get(url).pipe(
    Effect.flatMap((response) => response.json),
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer)
  )

Layer.effectDiscard(
  Effect.flatMap(
    TestAuthorizationServer.TestAuthorizationServer,
    ({ issuer }) => Console.log(`everything is at ${issuer}`)
  )
).pipe(
  Layer.provide(Issuer.layer({ clients: [{ clientId: "suite" }], clientDocument }, Number(values.port ?? 0))),
  Layer.launch,
  NodeRuntime.runMain
)
