/**
 * A whole login over real sockets: a client that no one has configured, an MCP server and an authorization server on one
 * origin, the loopback browser of a desktop program, and credentials on disk.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs/promises"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { listening } from "./HttpFixture.js"

const Add = Tool.make("add", {
  parameters: { a: Schema.Int, b: Schema.Int },
  success: Schema.Struct({ sum: Schema.Int })
})

const Server = McpServer.layer(
  { name: "adder", version: "1" },
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
)

const textOf = (request: IncomingMessage) =>
  new Promise<string>((resolve) => {
    let text = ""
    request.setEncoding("utf8").on("data", (chunk) => text += chunk).on("end", () => resolve(text))
  })

const json = (response: ServerResponse, value: unknown, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

/** Both servers; `log` has the paths of what was requested, except those of MCP. */
const serving = Effect.gen(function*() {
  const { handler } = yield* Effect.flatMap(
    Layer.build(Server),
    (context) => Effect.provide(NodeHandler.make(), context)
  )
  const log: Array<string> = []
  let code = { value: "", challenge: "", redirectUri: "" }
  const listener: RequestListener = (request, response) => {
    const origin = `http://${request.headers.host}`
    const url = new URL(request.url ?? "", origin)
    if (url.pathname !== "/mcp") log.push(url.pathname)
    switch (url.pathname) {
      case "/mcp":
        if (request.headers.authorization === "Bearer good") return handler(request, response)
        return void response.writeHead(401, { "www-authenticate": "Bearer" }).end()
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] })
      case "/.well-known/oauth-authorization-server":
        return json(response, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true
        })
      case "/register":
        return void textOf(request).then((text) => json(response, { ...JSON.parse(text), client_id: "c1" }, 201))
      case "/authorize": {
        const get = (name: string) => url.searchParams.get(name) ?? ""
        code = { value: "code-1", challenge: get("code_challenge"), redirectUri: get("redirect_uri") }
        const back = new URL(code.redirectUri)
        back.search = new URLSearchParams({ code: code.value, state: get("state"), iss: origin }).toString()
        return void response.writeHead(302, { location: back.href }).end()
      }
      case "/token":
        return void textOf(request).then((text) => {
          const form = new URLSearchParams(text)
          const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url")
          const isRight = form.get("code") === code.value && challenge === code.challenge &&
            form.get("redirect_uri") === code.redirectUri && form.get("resource") === `${origin}/mcp`
          return isRight
            ? json(response, { access_token: "good", token_type: "Bearer", expires_in: 3600 })
            : json(response, { error: "invalid_grant" }, 400)
        })
      default:
        return void response.writeHead(404).end()
    }
  }
  const { origin } = yield* listening(listener)
  return { log, url: `${origin}/mcp` }
})

describe("A desktop program", () => {
  it.scopedLive("logs in at a server that it knows by its URL only, and needs no login after a restart", () =>
    Effect.gen(function*() {
      const { log, url } = yield* serving
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => fs.mkdtemp(join(tmpdir(), "login-"))),
        (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
      )
      let pages = 0
      // A browser without a screen: it follows the redirects of the authorization server.
      const open = (page: URL) =>
        Effect.asVoid(Effect.tryPromise(() => fetch(page).then(({ status }) => pages += status)))
      const add = Effect.flatMap(Client.Client, (client) => client.callTool("add", { a: 2, b: 3 })).pipe(
        Effect.provide(
          Client.layer(Remote.connector(url, { authorize: Authorization.authorize })).pipe(
            Layer.provide(Authorization.layer(AuthorizationCode.make({ name: "Test" }))),
            Layer.provide([LoopbackBrowser.layerWith({ open }), CredentialDirectory.layer(directory)]),
            Layer.provide(NodeHttpClient.layerUndici)
          )
        )
      )
      assert.deepStrictEqual((yield* add).structuredContent, { sum: 5 })
      assert.deepStrictEqual(log, [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/register",
        "/authorize",
        "/token"
      ])
      assert.strictEqual(pages, 200)
      assert.deepStrictEqual((yield* add).structuredContent, { sum: 5 })
      assert.lengthOf(log, 5)
    }))
})
