/**
 * `ResourceServer` with a real authorization server, `oidc-provider`, over sockets; and in every HTTP shell.
 */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Context, Effect, Layer, Redacted } from "effect"
import { listening } from "../HttpFixture.js"
import { shells } from "../Shells.js"
import * as Program from "./Program.js"
import { introspector } from "./Protected.js"
import * as Provider from "./Provider.js"

class User extends Context.Tag("test/oauth/ResourceUser")<User, AccessToken.AccessToken>() {}

const tool = (name: string, requires: ReadonlyArray<string>) =>
  McpServer.tool(Tool.make(name, { requires }), () => Effect.map(User, ({ scopes, subject }) => `${subject} ${scopes}`))

const features = Layer.merge(tool("read", []), tool("write", ["notes:write"]))

const serve = (provider: Provider.Provider, opaque: boolean) =>
  Effect.gen(function*() {
    const made: { handler?: NodeHandler.Handler } = {}
    const { origin } = yield* listening((request, response) => made.handler!(request, response))
    const resource = `${origin}/mcp`
    const authenticator = ResourceServer.make(User, {
      resource,
      authorizationServers: [provider.issuer],
      scopes: ["notes:read", "notes:write"],
      requires: ["notes:read"],
      verify: opaque
        ? IntrospectionVerifier.make({
          client: { clientId: introspector.client_id, clientSecret: Redacted.make(introspector.client_secret) },
          cacheFor: 0
        })
        : JwtVerifier.make({ requireType: true, refreshInterval: 0 })
    })
    const server = McpServer.layer({ name: "protected", version: "1" }, features, { authenticator })
    const context = yield* Layer.build(Layer.provide(server, FetchHttpClient.layer))
    made.handler = (yield* Effect.provide(NodeHandler.make(), context)).handler
    return resource
  })

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  (content[0] as { readonly text: string }).text

describe("A resource server of a real authorization server", () => {
  for (const opaque of [false, true]) {
    for (const version of ["2025-03-26", "2025-11-25", "2026-07-28"] as const) {
      it.scopedLive(`lets users in, and asks for more scopes: ${opaque ? "opaque" : "JWT"}, ${version}`, () =>
        Effect.gen(function*() {
          const provider = yield* Provider.make({ format: opaque ? "opaque" : "jwt", clients: [introspector] })
          const url = yield* serve(provider, opaque)
          const program = yield* Program.make()
          const client = yield* program.connect(url, version)
          const call = (name: string) => program.provide(client.callTool(name))
          assert.strictEqual(textOf(yield* call("read")), "ada notes:read")
          assert.strictEqual(textOf(yield* call("write")), "ada notes:read,notes:write")
          assert.lengthOf(program.visitor.opened, 2)
          if (opaque) yield* provider.forget("AccessToken")
          else yield* provider.rotateKeys(false)
          // The token is refused now, and the client refreshes it.
          yield* program.advance(opaque ? 0 : 3600)
          assert.strictEqual(textOf(yield* call("write")), "ada notes:read,notes:write")
          assert.lengthOf(program.visitor.opened, 2)
        }))
    }
  }

  it.scopedLive("MUST refuse tokens that it issues for another audience", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const url = yield* serve(provider, false)
      yield* provider.setAudience("https://other.example/mcp")
      const program = yield* Program.make()
      const error = yield* Effect.flip(program.connect(url, "2025-11-25"))
      assert.include(String((error as Error).message), "401")
    }))
})

describe("A protected server", () => {
  for (const [shell, start] of Object.entries(shells)) {
    it.scopedLive(`MUST publish its metadata, and name it in challenges: ${shell}`, () =>
      Effect.gen(function*() {
        const resource = "https://mcp.example.com/mcp"
        const authenticator = ResourceServer.make(User, {
          resource,
          authorizationServers: ["https://login.example.com"],
          verify: JwtVerifier.make()
        })
        const server = McpServer.layer({ name: "protected", version: "1" }, features, { authenticator })
        const context = yield* Layer.build(Layer.provide(server, FetchHttpClient.layer))
        const origin = `http://127.0.0.1:${yield* Effect.provide(start({ path: "/mcp" }), context)}`
        const send = (path: string, init?: RequestInit) => Effect.promise(() => fetch(`${origin}${path}`, init))
        for (const path of ResourceServer.wellKnownPaths(resource)) {
          const found = yield* send(path, { headers: { origin: "https://app.example.com" } })
          assert.strictEqual(found.headers.get("access-control-allow-origin"), "*")
          const { resource: named } = (yield* Effect.promise(() => found.json())) as { readonly resource: string }
          assert.strictEqual(named, resource)
        }
        for (const method of ["GET", "POST", "DELETE"]) {
          const refused = yield* send("/mcp", { method })
          assert.strictEqual(refused.status, 401)
          assert.strictEqual(
            refused.headers.get("www-authenticate"),
            "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
          )
        }
        // Before the HTTP server itself would refuse the headers.
        const long = yield* send("/mcp", { method: "POST", headers: { authorization: `Bearer ${"a".repeat(8193)}` } })
        assert.strictEqual(long.status, 400)
        assert.match(long.headers.get("www-authenticate")!, /error="invalid_request", error_description="[^"]*longer/)
        const inQuery = yield* send("/mcp?access_token=a", { method: "POST" })
        assert.strictEqual(inQuery.status, 400)
      }))
  }
})
