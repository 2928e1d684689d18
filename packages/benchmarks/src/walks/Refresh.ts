/**
 * The walk of a client whose access token is refused: the client gets new tokens with its refresh token, and sends the call again. One HTTP
 * server is both the MCP server and the authorization server. Each call begins with a token that is no longer valid.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as Browser from "@effect-mcp/auth/Browser"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Add } from "../AddServer.js"
import { built, check, text, versions, type Walk } from "./Wire.js"

const REDIRECT = "http://127.0.0.1/callback"

/** The JSON with which the server answers a GET or a form, by path. */
const documents = (origin: string, newToken: () => string): Readonly<Record<string, () => object>> => ({
  "/.well-known/oauth-protected-resource/mcp": () => ({ resource: `${origin}/mcp`, authorization_servers: [origin] }),
  "/.well-known/oauth-authorization-server": () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true
  }),
  "/token": () => ({ access_token: newToken(), token_type: "Bearer", expires_in: 3600, refresh_token: newToken() })
})

const kept = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" }

const results: Readonly<Record<string, (params: any) => object>> = {
  "server/discover": () => ({
    supportedVersions: [versions.modern],
    capabilities: { tools: {} },
    serverInfo: { name: "raw", version: "1.0.0" },
    ...kept
  }),
  "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object" } }], ...kept }),
  "tools/call": ({ arguments: { a, b } }) => {
    const structuredContent = { sum: a + b }
    return {
      content: [{ type: "text", text: JSON.stringify(structuredContent) }],
      structuredContent,
      resultType: "complete"
    }
  }
}

/** Starts the server. `revoke` makes the tokens that are in use invalid. */
const listen = (): Promise<{ readonly origin: string; readonly revoke: () => void }> =>
  new Promise((resolve) => {
    let count = 0
    let valid = ""
    let origin = ""
    const newToken = (): string => `token ${++count}`.replace(" ", "-")
    const server = createServer((incoming, response) => {
      let body = ""
      incoming.setEncoding("utf8").on("data", (chunk: string) => body += chunk).on("end", () => {
        const json = (status: number, value: object, headers: object = {}): void =>
          void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value))
        const document = documents(origin, newToken)[incoming.url!]
        if (document !== undefined) {
          const found: { readonly access_token?: string } = document()
          if (found.access_token !== undefined) valid = `Bearer ${found.access_token}`
          return json(200, found)
        }
        if (incoming.url !== "/mcp" || incoming.method !== "POST") return void response.writeHead(404).end()
        if (incoming.headers.authorization !== valid) {
          const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
          const error = incoming.headers.authorization === undefined ? "" : ", error=\"invalid_token\""
          return json(401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"${error}` })
        }
        const { id, method, params } = JSON.parse(body)
        response.writeHead(200, { "content-type": "application/json" }).end(
          text({ id, result: results[method]!(params) })
        )
      })
    }).listen(0, "127.0.0.1", () => {
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      resolve({ origin, revoke: () => valid = "" })
    })
  })

export const walk: Walk = async () => {
  const { origin, revoke } = await listen()
  const browser = Browser.layer({
    redirectUri: REDIRECT,
    open: (_url, state) => Effect.succeed(new URLSearchParams({ code: "code", state, iss: origin }))
  })
  const preRegistered = [{ issuer: origin, clientId: "walk", clientSecret: Redacted.make("secret") }]
  const authorization = Authorization.layer(AuthorizationCode.make({ name: "walk", preRegistered })).pipe(
    Layer.provide([browser, CredentialStore.layerMemory]),
    Layer.provideMerge(FetchHttpClient.layer)
  )
  const context = await built(Layer.build(authorization))
  const connector = Remote.connector(`${origin}/mcp`, { authorize: Authorization.authorize })
  const session = await built(Effect.provide(Client.make(connector), context))
  const typed = Client.of(session, Definition.make(Add))
  return async (id) => {
    revoke()
    check(JSON.stringify(await Effect.runPromise(typed.add({ a: id, b: 1 }))), `"sum":${id + 1}`)
  }
}
