/** Requests to a test authorization server, as clients send them. */
import type { Options } from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Encoding } from "effect"

export type Server = TestAuthorizationServer.TestAuthorizationServerService

export const ISSUER = "https://auth.test"

export const RESOURCE = "https://mcp.test/mcp"

export const SECRET = "the-secret-of-the-program"

export const VERIFIER = "v".repeat(43)

export const program = { clientId: "program", secret: SECRET }

export const person = { clientId: "person" }

/** Runs a test with a server. */
export const withServer = <A, E>(options: Options, test: (server: Server) => Effect.Effect<A, E>) =>
  Effect.flatMap(TestAuthorizationServer.make({ clients: [program, person], ...options }), test)

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The members of a document. */
  readonly json: Readonly<Record<string, unknown>>
}

export const send = (server: Server, path: string, init?: RequestInit): Effect.Effect<Answer> =>
  Effect.orDie(server.handle(new Request(`${server.issuer}${path}`, init))).pipe(
    Effect.flatMap((response) =>
      Effect.map(Effect.promise(() => response.text()), (text) => ({
        status: response.status,
        headers: response.headers,
        json: text.startsWith("{") ? JSON.parse(text) as Readonly<Record<string, unknown>> : {}
      }))
    )
  )

export const post = (server: Server, path: string, form: Readonly<Record<string, string>>, headers: HeadersInit = {}) =>
  send(server, path, { method: "POST", body: new URLSearchParams(form), headers })

export const basic = { authorization: `Basic ${btoa(`program:${SECRET}`)}` }

export const s256 = Effect.map(
  Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER))),
  (digest) => Encoding.encodeBase64Url(new Uint8Array(digest))
)

/** The address of an authorization request; an empty text leaves a parameter out. */
export const authorization = (changes: Readonly<Record<string, string>> = {}) =>
  Effect.map(s256, (challenge) => {
    const url = new URL(`${ISSUER}/authorize`)
    const parameters = {
      response_type: "code",
      client_id: "person",
      redirect_uri: TestAuthorizationServer.redirectUri,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: "the-state",
      resource: RESOURCE,
      scope: "read write",
      ...changes
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== "") url.searchParams.set(name, value)
    return url
  })

export const codeOf = (server: Server, changes: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(authorization(changes), (url) => Effect.map(server.login(url), (response) => response.get("code")!))

export const exchange = (code: string, changes: Readonly<Record<string, string>> = {}) => ({
  grant_type: "authorization_code",
  client_id: "person",
  code,
  redirect_uri: TestAuthorizationServer.redirectUri,
  code_verifier: VERIFIER,
  resource: RESOURCE,
  ...changes
})

export const login = (server: Server, changes: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(codeOf(server, changes), (code) => post(server, "/token", exchange(code)))

export const refresh = (server: Server, token: unknown, changes: Readonly<Record<string, string>> = {}) =>
  post(server, "/token", {
    grant_type: "refresh_token",
    client_id: "person",
    refresh_token: String(token),
    resource: RESOURCE,
    ...changes
  })

export const credentials = { grant_type: "client_credentials", resource: RESOURCE, scope: "read" }
