/**
 * A program that logs its user in to a protected server: the browser opens at the first request, the tokens are renewed without
 * it, a second run of the program finds them stored, and a logout forgets them. The servers run in this process, too.
 */
import { FetchHttpClient } from "@effect/platform"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Console, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Issuer from "./Issuer.js"
import { listen } from "./Listening.js"
import * as Server from "./server.js"

/** Without `open`, the browser of the system shows the page; here the example consents in the place of the user. */
const Browser = LoopbackBrowser.layerWith({
  open: (url) =>
    Console.log(`  the browser opens ${url.pathname} for ${url.searchParams.get("scope")}`).pipe(
      Effect.zipRight(Effect.tryPromise(() => fetch(url)))
    )
})

const runOfProgram = (title: string, directory: string, url: string, options = { endsWithLogout: false }) =>
  Effect.gen(function*() {
    yield* Console.log(title)
    const client = yield* Client.make(Remote.connector(url, { authorize: Authorization.authorize }))
    const call = (tool: string) =>
      Effect.flatMap(client.callTool(tool), ({ structuredContent }) => Console.log(`  ${tool}:`, structuredContent))
    yield* call("whoami")
    // The server asks for one more scope: the user consents to both.
    yield* call("write")
    // The token lives for two seconds.
    yield* Effect.sleep("1500 millis")
    yield* call("whoami")
    if (options.endsWithLogout) yield* (yield* Authorization.Authorization).logout(url)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Authorization.layer(AuthorizationCode.make({ name: "Example" })).pipe(
        Layer.provide([Browser, CredentialDirectory.layer(directory)])
      )
    )
  )

const main = Effect.gen(function*() {
  const { issuer, requests } = yield* TestAuthorizationServer.TestAuthorizationServer
  const url = yield* listen((resource) => Server.layer(resource, issuer))
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "login-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )
  yield* runOfProgram("first run", directory, url)
  yield* runOfProgram("second run", directory, url, { endsWithLogout: true })
  yield* runOfProgram("after the logout", directory, url)

  const grants = (yield* requests).flatMap(({ form }) => form.get("grant_type") ?? [])
  yield* Console.log("renewed without the browser:", grants.filter((grant) => grant === "refresh_token").length > 0)
})

main.pipe(
  Effect.scoped,
  Effect.provide(Issuer.layer({ scopes: ["read", "write"], lifetime: "2 seconds" })),
  Effect.provide(FetchHttpClient.layer),
  NodeRuntime.runMain
)
