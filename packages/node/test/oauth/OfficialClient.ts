/**
 * The clients of the official SDK, of both versions, as programs that a person uses: what they register and get is kept in
 * memory, and a visitor logs in.
 */
import {
  Client as Client2,
  DpopSession,
  type OAuthClientProvider,
  StreamableHTTPClientTransport as Http2,
  UnauthorizedError as Unauthorized2,
  type VersionNegotiationMode
} from "@modelcontextprotocol/client"
import { UnauthorizedError as Unauthorized1 } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, type Scope } from "effect"
import { listening } from "../HttpFixture.js"
import type { User } from "./Protected.js"
import * as Visitor from "./Visitor.js"

const info = { name: "official", version: "1.0.0" }

/** A client and its transport, not connected yet. */
interface Made {
  readonly connect: () => Promise<void>
  readonly finish: (response: URLSearchParams) => Promise<void>
  readonly call: (name: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

type Make = (url: URL, provider: OAuthClientProvider) => Made

const two = (mode: VersionNegotiationMode): Make => (url, authProvider) => {
  const transport = new Http2(url, { authProvider })
  const client = new Client2(info, { versionNegotiation: { mode } })
  return {
    connect: () => client.connect(transport),
    finish: (response) => transport.finishAuth(response),
    call: (name) => client.callTool({ name }),
    close: () => client.close()
  }
}

const one: Make = (url, provider) => {
  // The declarations of the SDK do not compile with exact optional properties.
  const transport = new Http1(url, { authProvider: provider as never })
  const client = new Client1(info)
  return {
    connect: () => client.connect(transport as never),
    finish: (response) => transport.finishAuth(response.get("code") ?? ""),
    call: (name) => client.callTool({ name }),
    close: () => client.close()
  }
}

export const clients: Readonly<Record<string, Make>> = {
  "the client of SDK 1.32": one,
  "the client of SDK 2.4 in the legacy era": two("legacy"),
  "the client of SDK 2.4 in the modern era": two({ pin: "2026-07-28" })
}

/** An official client that has logged in, and calls tools; a call that needs another login gets it. */
export interface Official {
  readonly whoami: Effect.Effect<User>
  readonly visitor: Visitor.Visitor
  readonly tokenType: () => string | undefined
}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: run, catch: (cause) => cause })

/** Connects to a server, until the scope closes. */
export const connect = (
  make: Make,
  url: string,
  options: { readonly dpop?: boolean } = {}
): Effect.Effect<Official, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const visitor = Visitor.make()
    const { origin } = yield* listening((_, response) => void response.end("done"))
    const redirectUrl = `${origin}/callback`
    const session = options.dpop === true ? yield* attempt(() => DpopSession.create()) : undefined
    const kept: {
      client?: Parameters<NonNullable<OAuthClientProvider["saveClientInformation"]>>[0]
      tokens?: Parameters<OAuthClientProvider["saveTokens"]>[0]
      verifier?: string
      discovery?: Parameters<NonNullable<OAuthClientProvider["saveDiscoveryState"]>>[0]
      page?: URL
    } = {}
    const provider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: {
        client_name: "official",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none"
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => void (kept.client = client),
      tokens: () => kept.tokens,
      saveTokens: (tokens) => void (kept.tokens = tokens),
      saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier ?? "",
      saveDiscoveryState: (state) => void (kept.discovery = state),
      discoveryState: () => kept.discovery,
      redirectToAuthorization: (page) => void (kept.page = page),
      ...(session === undefined ? {} : { dpop: () => session })
    }
    const isUnauthorized = (error: unknown) => error instanceof Unauthorized1 || error instanceof Unauthorized2
    const login = (made: Made) =>
      Effect.suspend(() => visitor.open(kept.page!)).pipe(
        Effect.zipRight(attempt(() => made.finish(visitor.responses.at(-1)!.searchParams)))
      )
    /** The SDK takes each transport for one connection. */
    const connected: Effect.Effect<Made, unknown> = Effect.suspend(() => {
      const made = make(new URL(url), provider)
      return Effect.as(attempt(made.connect), made).pipe(
        Effect.catchIf(isUnauthorized, () => Effect.zipRight(login(made), connected))
      )
    })
    const client = yield* Effect.acquireRelease(connected, (made) => Effect.ignore(attempt(made.close)))
    const call: Effect.Effect<unknown, unknown> = Effect.catchIf(
      attempt(() => client.call("whoami")),
      isUnauthorized,
      () => Effect.zipRight(login(client), call)
    )
    return {
      visitor,
      tokenType: () => kept.tokens?.token_type,
      whoami: Effect.map(
        Effect.orDie(call),
        (result) =>
          JSON.parse(
            (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]!.text
          ) as User
      )
    }
  })
