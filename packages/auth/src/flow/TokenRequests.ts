/**
 * Gets tokens for one MCP server: finds its authorization server, chooses the scopes, and refreshes the tokens there or gets
 * others by the grant; and revokes them. `ServerTokens` decides when, and `TokenState` keeps the result.
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding, CredentialStoreService } from "../CredentialStore.js"
import type { Wanted } from "../discovery/Challenge.js"
import type { Discovered } from "../discovery/Discovery.js"
import * as Discovery from "../discovery/Discovery.js"
import type { Documents } from "../discovery/Documents.js"
import * as Posts from "../discovery/Documents.js"
import * as ServerMetadata from "../discovery/ServerMetadata.js"
import * as Policies from "../discovery/UrlPolicy.js"
import type { Dpop, Prover } from "../Dpop.js"
import type { Grant, GrantContext } from "../Grant.js"
import * as Registered from "../identity/Registered.js"
import type { Tokens } from "../Tokens.js"
import * as Scopes from "./Scopes.js"
import * as TokenEndpoint from "./TokenEndpoint.js"
import { nothing, type State, type TokenState } from "./TokenState.js"

export interface Settings {
  readonly documents: Documents
  readonly store: CredentialStoreService
  readonly grant: Grant
  readonly scopes: Scopes.Scopes
  readonly dpop: Dpop | undefined
}

/** Why tokens are needed. */
export interface Need {
  readonly wanted: Wanted
  /** The `Authorization` header that was refused. */
  readonly sent: string | undefined
  /** The scopes that the refused token does not have. */
  readonly missing: Scopes.Scopes | undefined
  /** How often the request has been refused. */
  readonly attempt: number
  /** The revision that the request speaks. */
  readonly version: string
}

export interface TokenRequests {
  readonly obtain: (need: Need) => Effect.Effect<void, AuthorizationError>
  /** Gets other tokens from the same authorization server, without discovery of the resource. */
  readonly renew: Effect.Effect<void, AuthorizationError>
  /** Tells the authorization server that the tokens, and a registration of this client that only they used, are not needed any more. */
  readonly revoke: Effect.Effect<void, AuthorizationError>
}

/** Keeps tokens that were got. */
type Keep = (tokens: Tokens) => Effect.Effect<void>

export const make = (
  { documents: given, dpop, grant, scopes: always, store }: Settings,
  state: TokenState
): TokenRequests => {
  const { server: mcp } = given.policy

  const contextOf = (
    { isPublished, resource, server }: Pick<Discovered, "isPublished" | "resource" | "server">,
    more: Pick<GrantContext, "previousIssuer" | "scopes">,
    prover: Prover | undefined,
    documents: Documents
  ): GrantContext => ({
    ...more,
    url: mcp.href,
    resource,
    server,
    isPublished,
    // MUST name the resource in every token request (2026-07-28 basic/authorization)
    token: (client, form) => TokenEndpoint.request(documents, server, client, { ...form, resource }, prover),
    get: (what, url) => Posts.send(documents, what, HttpClientRequest.get(url)),
    post: (what, url, body, { client, isConfigured = false } = {}) => {
      const to = isConfigured ? allowingPrivate(documents) : documents
      return "form" in body
        // The URL may be another server's, whose metadata is not known: the client proves who it is to this URL only.
        ? TokenEndpoint.postForm(to, { issuer: url, authMethods: [] }, what, url, client, body.form)
        : Posts.send(to, what, HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), body.json))
    }
  })

  const documentsOf = (version: string): Documents => ({ ...given, headers: { "mcp-protocol-version": version } })

  /** An application that is registered at an issuer has chosen that server, whatever its address is. */
  const trusting = (documents: Documents, issuer: string): Documents =>
    grant.isRegistered(issuer) ? allowingPrivate(documents) : documents

  /** An authorization server that has forgotten this client is to register it again. */
  const forgetting = <A>({ clientId, server }: GrantContext, requesting: Effect.Effect<A, AuthorizationError>) =>
    Effect.tapError(
      requesting,
      ({ error }) => error === "invalid_client" ? Registered.forget(store, server.issuer, clientId) : Effect.void
    )

  /** Whether others have come in place of these: from a refresh that nothing waited for, or from another process. */
  const isReplaced = (tokens: Tokens | undefined) =>
    Effect.flatMap(
      state.get,
      ({ tokens: current }) => current?.accessToken !== tokens?.accessToken ? Effect.succeed(true) : state.adopt
    )

  /** The old refresh token may be of no use once it is sent, so the new one is kept, unless a logout has forgotten both. */
  const refresh = (
    given: GrantContext,
    refreshToken: Redacted.Redacted<string>,
    { clientId, scopes }: Tokens,
    keep: Keep
  ): Effect.Effect<void, AuthorizationError> =>
    Effect.gen(function*() {
      const context = { ...given, clientId }
      const client = yield* grant.client(context)
      const form = { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) }
      const requesting = forgetting(context, context.token(client, form))
      yield* finish(Effect.gen(function*() {
        const next = yield* requesting
        const { tokens: current } = yield* state.get
        if (current?.refreshToken !== refreshToken) return
        yield* keep({ ...next, refreshToken: next.refreshToken ?? refreshToken, scopes: next.scopes ?? scopes })
      }))
    })

  const obtain = (context: GrantContext, keep: Keep) => Effect.flatMap(forgetting(context, grant.obtain(context)), keep)

  /** Gives false when there is nothing to refresh, or the authorization server refuses to. */
  const refreshed = (context: GrantContext, tokens: Tokens | undefined, keep: Keep) =>
    tokens?.refreshToken === undefined ? Effect.succeed(false) : Effect.catchIf(
      Effect.as(refresh(context, tokens.refreshToken, tokens, keep), true),
      ({ reason }) => reason === "TokenRefused" || reason === "UnknownClient",
      () => Effect.succeed(false)
    )

  /** To ask the authorization server that was used last. */
  const contextBefore = Effect.fnUntraced(
    function*({ discovered, prover }: State, { issuer, resource, scopes }: Binding) {
      const documents = trusting(documentsOf(Version.latestLegacy), issuer)
      const found = discovered ?? { resource, server: yield* ServerMetadata.find(documents, issuer), isPublished: true }
      return { documents, context: contextOf(found, { scopes, previousIssuer: undefined }, prover, documents) }
    }
  )

  const revokeTokens = Effect.fnUntraced(function*(known: State, binding: Binding, tokens: Tokens) {
    const { context, documents } = yield* contextBefore(known, binding)
    const { server } = context
    const { revocationEndpoint: url } = server
    // Nothing needs the client then, and `ask` may ask the user for it.
    if (url === undefined) return
    const client = yield* grant.client({ ...context, clientId: tokens.clientId })
    const [errors] = yield* Effect.partition(
      [{ token: tokens.refreshToken, hint: "refresh_token" }, { token: tokens.accessToken, hint: "access_token" }],
      ({ hint, token }) =>
        token === undefined ? Effect.void : TokenEndpoint.postForm(
          documents,
          server,
          "the revocation endpoint",
          url,
          client,
          { token: Redacted.value(token), token_type_hint: hint }
        )
    )
    if (errors[0] !== undefined) return yield* errors[0]
  })

  const revoking = Effect.gen(function*() {
    const known = yield* state.get
    const { binding, tokens } = known
    if (binding === undefined || tokens === undefined) return
    const revoked = yield* Effect.either(revokeTokens(known, binding, tokens))
    const { management } = (yield* Registered.release(store, binding, tokens.clientId)) ?? {}
    if (management !== undefined) {
      const documents = trusting(documentsOf(Version.latestLegacy), binding.issuer)
      const request = HttpClientRequest.bearerToken(HttpClientRequest.del(management.url), management.token)
      yield* Posts.send(documents, "the registration of this client", request)
    }
    yield* revoked
  })

  return {
    obtain: ({ attempt, missing, version, wanted }) =>
      Effect.gen(function*() {
        const known = yield* state.get
        yield* Policies.browsable("the MCP server to send tokens to", mcp.origin)
        const documents = documentsOf(version)
        const isKnown = (issuer: string) => grant.isRegistered(issuer) || issuer === known.binding?.issuer
        const discovered = yield* Discovery.discover(documents, wanted, isKnown, trusting)
        const { resource, server } = discovered
        const { issuer } = server
        // Nothing that another authorization server has given is used here.
        const same = ({ binding }: State) => binding?.issuer === issuer && binding.resource === resource
        const previousIssuer = known.binding?.issuer === issuer ? undefined : known.binding?.issuer
        const asked = missing ?? Scopes.choose(wanted.scopes, discovered.scopes)
        const supportsDpop = dpop !== undefined && server.dpopAlgorithms.length > 0

        /** Gets tokens in a way that keeps them. */
        const get = <A>(
          before: State,
          way: (context: GrantContext, keep: Keep) => Effect.Effect<A, AuthorizationError>,
          isFresh: boolean
        ) =>
          Effect.gen(function*() {
            const { binding: last, prover: bound, requested, tokens: old } = same(before) ? before : nothing
            const scopes = Scopes.union(
              Scopes.union(last?.scopes ?? old?.scopes, asked),
              always.length === 0 ? undefined : always
            )
            const prover = bound ?? (supportsDpop ? yield* dpop.prover(undefined) : undefined)
            const context = contextOf(discovered, { scopes, previousIssuer }, prover, trusting(documents, issuer))
            const binding = { issuer, resource, scopes: last?.scopes, key: prover?.key }
            return yield* way(context, (tokens) =>
              state.keep({
                discovered,
                prover,
                tokens,
                isFresh,
                // A refresh requests no scopes.
                ...(isFresh
                  ? {
                    requested: Scopes.union(requested, scopes),
                    binding: { ...binding, scopes: Scopes.granted(scopes, tokens.scopes) }
                  }
                  : { requested, binding })
              }))
          })

        const refreshing = Effect.gen(function*() {
          if (yield* isReplaced(known.tokens)) return true
          const current = yield* state.get
          const tokens = same(current) ? current.tokens : undefined
          return yield* get(current, (context, keep) => refreshed(context, tokens, keep), false)
        })
        const canRefresh = missing === undefined && attempt === 1 && known.tokens?.refreshToken !== undefined
        if (canRefresh && (yield* state.exclusive(refreshing, issuer, resource))) return
        yield* get(yield* state.get, obtain, true)
      }),

    renew: Effect.gen(function*() {
      const { binding: bound, tokens: old } = yield* state.get
      if (bound === undefined || old === undefined) return
      const renewing = Effect.gen(function*() {
        if (yield* isReplaced(old)) return
        const known = yield* state.get
        const { binding, tokens } = known
        if (binding === undefined || tokens === undefined) return
        const { context } = yield* contextBefore(known, binding)
        const { refreshToken } = tokens
        const keep: Keep = (next) => state.keep({ ...known, binding, tokens: next, isFresh: false })
        yield* refreshToken === undefined ? obtain(context, keep) : refresh(context, refreshToken, tokens, keep)
      })
      yield* state.exclusive(renewing, bound.issuer, bound.resource)
    }),

    revoke: Effect.gen(function*() {
      const { binding: bound } = yield* state.get
      if (bound === undefined) return
      // A refresh that nothing waits for any more ends first.
      yield* state.exclusive(revoking, bound.issuer, bound.resource)
    })
  }
}

const allowingPrivate = (documents: Documents): Documents => ({
  ...documents,
  policy: { ...documents.policy, allowPrivate: true }
})

/** How long a refresh may go on that nothing waits for. */
const LIMIT = "5 seconds"

/**
 * Lets a refresh end although nothing waits for it any more, for a limited time: an authorization server that accepts a refresh
 * token once has taken it when the request arrives, and without the response the user would have to log in again.
 */
const finish = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDaemon(Effect.interruptible(effect)),
      (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.zipRight(
            TimeLimit.exit(fiber, LIMIT),
            TimeLimit.end(Fiber.interrupt(fiber), "1 second")
          ))
    )
  )
