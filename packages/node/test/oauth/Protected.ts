/**
 * An MCP server that serves only requests with a token of an authorization server. It verifies tokens by their signature or at
 * the introspection endpoint, and not with package `auth`, so that the client is not tested against its own other half.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Context, Effect, Layer, Schema } from "effect"
import { createHash, createPublicKey, type JsonWebKey, verify as isSigned } from "node:crypto"
import { listening } from "../HttpFixture.js"
import type { Provider } from "./Provider.js"

export interface User {
  readonly name: string
  readonly clientId: string
  readonly scopes: ReadonlyArray<string>
}

export class CurrentUser extends Context.Tag("test/oauth/User")<CurrentUser, User>() {}

const WhoAmI = Tool.make("whoami", {
  success: Schema.Struct({ name: Schema.String, clientId: Schema.String, scopes: Schema.Array(Schema.String) })
})

/** Calls the tool that answers with the user. */
export const whoami = (client: ClientSessionService): Effect.Effect<User, ClientError> =>
  Effect.map(client.callTool("whoami"), ({ content }) => {
    const [first] = content
    return JSON.parse(first?.type === "text" ? first.text : "") as User
  })

export interface Options extends HttpOptions {
  /** Verifies tokens at the introspection endpoint, as the client `introspector`, or so; default: by their signature. */
  readonly introspect?: boolean | Verify
  /** The scopes that the metadata names. */
  readonly supported?: ReadonlyArray<string>
  /** Members of the metadata of the resource, in place of the usual ones. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface Protected {
  readonly url: string
  /** The scopes that requests need from now on. */
  readonly require: (...scopes: ReadonlyArray<string>) => Effect.Effect<void>
  /** The `Authorization` of each request for MCP. */
  readonly authorizations: ReadonlyArray<string | undefined>
  /** Counts the refusals by their status. */
  readonly refused: (status: number) => number
}

/** The claims of a token that is valid for a resource; `undefined` for all others. */
export type Verify = (token: string, resource: string) => Promise<Readonly<Record<string, unknown>> | undefined>

type Json = Readonly<Record<string, any>>

/** The header and the claims of a JWT that the key signed which the function chooses; `undefined` for all others. */
const verified = (jwt: string, typ: string, keyOf: (header: Json) => JsonWebKey | undefined) => {
  const [head = "", body = "", signature = ""] = jwt.split(".")
  const read = (part: string): Json => JSON.parse(Buffer.from(part, "base64url").toString() || "{}")
  try {
    const header = read(head)
    const jwk = keyOf(header)
    if (header["alg"] !== "ES256" || header["typ"] !== typ || jwk === undefined) return undefined
    const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const
    return isSigned("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"))
      ? { header, claims: read(body) }
      : undefined
  } catch {
    return undefined
  }
}

const bySignature = ({ issuer }: Provider): Verify => (token, audience) =>
  fetch(`${issuer}/jwks`).then((response) => response.json() as Promise<{ readonly keys: ReadonlyArray<any> }>)
    .then(({ keys }) => {
      const { claims } = verified(token, "at+jwt", ({ kid }) => keys.find((key) => key.kid === kid)) ?? {}
      const isValid = claims?.["iss"] === issuer && claims["aud"] === audience && claims["exp"] * 1000 > Date.now()
      return isValid ? claims : undefined
    })

/** The client that may only introspect tokens. */
export const introspector = {
  client_id: "resource-server",
  client_secret: "the-secret-of-the-resource-server",
  grant_types: [],
  response_types: [],
  redirect_uris: []
}

const byIntrospection = ({ issuer }: Provider): Verify => (token, audience) =>
  fetch(`${issuer}/token/introspection`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${introspector.client_id}:${introspector.client_secret}`)}` },
    body: new URLSearchParams({ token })
  }).then((response) => response.json() as Promise<Record<string, unknown>>)
    .then((claims) => claims["active"] === true && claims["aud"] === audience ? claims : undefined)

/** Serves until the scope closes. */
export const make = (provider: Provider, options: Options = {}) =>
  Effect.gen(function*() {
    const { introspect, metadata, supported = ["notes:read"], ...http } = options
    const verify = typeof introspect === "function"
      ? introspect
      : introspect === true
      ? byIntrospection(provider)
      : bySignature(provider)
    const required = { scopes: [] as ReadonlyArray<string> }
    const authorizations: Array<string | undefined> = []
    const statuses: Array<number> = []
    let origin = ""

    const challenge = (scheme: string, parameters: Readonly<Record<string, string>> = {}) =>
      HttpRefusal.challenge(scheme, {
        ...parameters,
        resource_metadata: `${origin}/.well-known/oauth-protected-resource/mcp`
      })

    const authenticator = Authenticator.make(CurrentUser, {
      id: ({ name }) => name,
      http: ({ headers, method }) =>
        Effect.gen(function*() {
          const [scheme = "", token] = (headers["authorization"] ?? "").split(" ")
          authorizations.push(headers["authorization"])
          const unauthorized = HttpRefusal.unauthorized([
            challenge("Bearer", token === undefined ? {} : { error: "invalid_token" }),
            challenge("DPoP", { algs: "ES256" })
          ])
          const claims = token === undefined
            ? undefined
            : yield* Effect.promise(() => verify(token, `${origin}/mcp`))
          const jkt = (claims?.["cnf"] as { readonly jkt?: string } | undefined)?.jkt
          const isProven = jkt === undefined
            ? scheme === "Bearer"
            : scheme === "DPoP" && proves(headers["dpop"] ?? "", jkt, method)
          if (claims === undefined || !isProven) {
            statuses.push(401)
            return yield* unauthorized
          }
          const scopes = String(claims["scope"] ?? "").split(" ")
          if (required.scopes.some((scope) => !scopes.includes(scope))) {
            statuses.push(403)
            return yield* HttpRefusal.forbidden(
              undefined,
              challenge("Bearer", { error: "insufficient_scope", scope: required.scopes.join(" ") })
            )
          }
          return { name: String(claims["sub"]), clientId: String(claims["client_id"]), scopes }
        })
    })

    const Server = McpServer.layer(
      { name: "protected", version: "1" },
      McpServer.tool(WhoAmI, () => CurrentUser),
      { authenticator }
    )
    const { handler } = yield* Effect.flatMap(
      Layer.build(Server),
      (context) => Effect.provide(NodeHandler.make(http), context)
    )
    const served = yield* listening((request, response) => {
      if (request.url === "/mcp") return handler(request, response)
      if (request.url !== "/.well-known/oauth-protected-resource/mcp") return void response.writeHead(404).end()
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({
        resource: `${origin}/mcp`,
        authorization_servers: [provider.issuer],
        scopes_supported: supported,
        ...metadata
      }))
    })
    origin = served.origin
    const one: Protected = {
      url: `${origin}/mcp`,
      require: (...scopes) => Effect.sync(() => void (required.scopes = scopes)),
      authorizations,
      refused: (status) => statuses.filter((one) => one === status).length
    }
    return one
  })

/** Whether a proof of DPoP is signed with the key of a token, for this method. */
const proves = (proof: string, jkt: string, method: string): boolean => {
  const { claims, header } = verified(proof, "dpop+jwt", ({ jwk }) => jwk) ?? {}
  if (claims === undefined || header === undefined) return false
  const { crv, kty, x, y } = header["jwk"]
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url")
  return thumbprint === jkt && claims["htm"] === method
}
