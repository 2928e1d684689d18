/**
 * Requests tokens for one MCP server: finds the authorization server, chooses the scopes, and then refreshes the tokens or gets other
 * tokens with the grant. `ServerTokens` decides between a refresh and the grant. `Discovery` finds the authorization server, `Scopes`
 * chooses the scopes, `TokenEndpoint` sends the requests, and `TokenState` stores the tokens.
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding, CredentialStoreService } from "../CredentialStore.js"
import * as Discovery from "../discovery/Discovery.js"
import * as Documents from "../discovery/Documents.js"
import * as Exceptions from "../discovery/Exceptions.js"
import * as ServerMetadata from "../discovery/ServerMetadata.js"
import * as ServerText from "../discovery/ServerText.js"
import * as UrlPolicy from "../discovery/UrlPolicy.js"
import type { Dpop, Prover } from "../Dpop.js"
import type { Grant, GrantContext } from "../Grant.js"
import * as Registered from "../identity/Registered.js"
import type { Tokens } from "../Tokens.js"
import * as Login from "./Login.js"
import * as Scopes from "./Scopes.js"
import * as TokenEndpoint from "./TokenEndpoint.js"
import { type Bound, nothing, type State, type TokenState } from "./TokenState.js"

export interface Settings {
  readonly documents: Documents.Documents
  readonly store: CredentialStoreService
  readonly grant: Grant
  readonly scopes: Scopes.Scopes
  readonly dpop: Dpop | undefined
  readonly exceptions: Exceptions.Exceptions
  readonly authorizationServers: Discovery.Choice["order"]
}

/** The data that the functions of this module share. */
export interface Self {
  readonly settings: Settings
  readonly state: TokenState
}

type Result<A> = Effect.Effect<A, AuthorizationError>

/** A request for tokens that is not sent yet. */
export interface TokenRequest {
  readonly context: GrantContext
  /** The state to store together with the tokens when the tokens arrive. */
  readonly known: Omit<Bound, "isFresh" | "tokens">
}

/** Finds the authorization server of an MCP server that has refused a request. */
export const discover = (
  { settings }: Self,
  known: State,
  { version, wanted }: Login.Need
): Result<Discovery.Discovered> => {
  const documents = documentsOf(settings, version)
  return Effect.zipRight(
    EffectInternals.fromEither(UrlPolicy.browsable("the MCP server to send tokens to", documents.policy.server.origin)),
    Discovery.discover(documents, wanted, {
      exceptions: settings.exceptions,
      order: settings.authorizationServers,
      isKnown: (issuer) => settings.grant.isRegistered(issuer) || issuer === known.binding?.issuer,
      documentsOf: (documents, named) => trusting(settings, documents, named)
    })
  )
}

/**
 * Makes a token request for the need of a request to an MCP server. `known` is the state before the discovery, and `now` is the present
 * state.
 */
export const requestFor = Effect.fnUntraced(function*(
  { settings }: Self,
  { discovered, known }: Login.Found,
  { missing, version, wanted }: Login.Need,
  now: State
): Effect.fn.Return<TokenRequest, AuthorizationError> {
  const { dpop, scopes: always } = settings
  const { resource, server } = discovered
  const { issuer } = server
  const { binding: last, prover: bound, requested, tokens: old } = Login.isSame(now, discovered) ? now : nothing
  const before = Scopes.union(last?.scopes ?? old?.scopes, missing ?? Scopes.choose(wanted.scopes, discovered.scopes))
  const scopes = Scopes.union(before, always.length === 0 ? undefined : always)
  const prover = bound ??
    (dpop !== undefined && server.dpopAlgorithms.length > 0 ? yield* dpop.prover(undefined) : undefined)
  const previousIssuer = known.binding?.issuer === issuer ? undefined : known.binding?.issuer
  const documents = trusting(settings, documentsOf(settings, version), issuer)
  const binding = { issuer, resource, scopes: last?.scopes, key: prover?.key }
  return {
    context: contextOf(documents, discovered, { scopes, previousIssuer }, prover),
    known: { discovered, prover, requested, binding }
  }
})

/** Makes a token request to the authorization server that the MCP server used last, without a discovery of the resource. */
export const asBefore = Effect.fnUntraced(function*(
  { settings }: Self,
  known: State,
  binding: Binding
): Effect.fn.Return<TokenRequest, AuthorizationError> {
  const { issuer, resource, scopes } = binding
  const documents = documentsAsBefore(settings, binding)
  const found = known.discovered ??
    { resource, server: yield* ServerMetadata.find(documents, settings.exceptions, issuer), isPublished: true }
  return {
    context: contextOf(documents, found, { scopes, previousIssuer: undefined }, known.prover),
    known: { ...known, binding }
  }
})

/** Returns the settings for requests to the authorization server of a binding, with the last legacy revision. */
export const documentsAsBefore = (settings: Settings, { issuer }: Binding): Documents.Documents =>
  trusting(settings, documentsOf(settings, Version.latestLegacy), issuer)

const documentsOf = ({ documents }: Settings, version: string): Documents.Documents => ({
  ...documents,
  headers: { "mcp-protocol-version": version }
})

/**
 * Allows private addresses for an issuer that the application has chosen. The application has chosen an issuer if it has exceptions for the
 * issuer, or is registered there.
 */
const trusting = (
  { exceptions, grant }: Settings,
  documents: Documents.Documents,
  named: string
): Documents.Documents => {
  const exception = Exceptions.find(exceptions, named)
  if (exception !== undefined) return Exceptions.chosen(exception).reduce(Documents.at, documents)
  return grant.isRegistered(named) ? Documents.at(documents, named) : documents
}

const contextOf = (
  documents: Documents.Documents,
  { isPublished, resource, server }: Pick<Discovery.Discovered, "isPublished" | "resource" | "server">,
  more: Pick<GrantContext, "previousIssuer" | "scopes">,
  prover: Prover | undefined
): GrantContext => ({
  ...more,
  url: documents.policy.server.href,
  resource,
  server,
  isPublished,
  // MUST name the resource in every token request (revision 2026-07-28, basic/authorization)
  token: (client, form) =>
    TokenEndpoint.request(documents, server, client, { ...form, ...Exceptions.parameters(server, resource) }, prover),
  get: (what, url) => Documents.send(documents, what, HttpClientRequest.get(url)),
  post: (what, url, body, { client, isConfigured = false } = {}) => {
    const to = isConfigured ? Documents.at(documents, url) : documents
    return "form" in body
      // The URL may belong to another server, whose metadata is not known. Therefore the audience of the client's signature is the URL
      // itself.
      ? TokenEndpoint.postForm(to, { issuer: url, authMethods: [] }, what, url, client, body.form)
      : Documents.send(to, what, HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), body.json))
  }
})

/** Gets tokens with the grant. */
export const obtain = ({ settings, state }: Self, { context, known }: TokenRequest): Result<void> =>
  Effect.flatMap(forgetting(settings, context, settings.grant.obtain(context)), (tokens) => {
    // The binding has the requested scopes and not the granted scopes, because an authorization server may write scopes in another way.
    const binding = { ...known.binding, scopes: context.scopes }
    const requested = Scopes.union(known.requested, context.scopes)
    return state.keep({ ...known, binding, requested, tokens, isFresh: true })
  })

/** Gets other tokens with the grant, for the scopes that were requested before. */
export const obtainAgain = ({ settings, state }: Self, { context, known }: TokenRequest): Result<void> =>
  Effect.flatMap(
    forgetting(settings, context, settings.grant.obtain(context)),
    (tokens) => state.keep({ ...known, tokens, isFresh: false })
  )

/**
 * Refreshes the tokens. The old refresh token may be invalid after the request, so the new tokens are stored even when the caller is
 * interrupted. After a logout, the new tokens are not stored.
 */
export const refresh = Effect.fnUntraced(function*(
  { settings, state }: Self,
  request: TokenRequest,
  { clientId, scopes }: Tokens,
  refreshToken: Redacted.Redacted<string>
): Effect.fn.Return<void, AuthorizationError> {
  const context = { ...request.context, clientId }
  const client = yield* settings.grant.client(context)
  const form = { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) }
  yield* finish(Effect.gen(function*() {
    const next = yield* forgetting(settings, context, context.token(client, form))
    const { tokens: current } = yield* state.get
    if (current?.refreshToken !== refreshToken) return
    const tokens = { ...next, refreshToken: next.refreshToken ?? refreshToken, scopes: next.scopes ?? scopes }
    yield* state.keep({ ...request.known, tokens, isFresh: false })
  }))
})

/**
 * Removes the stored registration when the authorization server answers `invalid_client`, so that the client registers again at the next
 * login. The request fails with the error of the authorization server, even if the store could not remove the registration.
 */
const forgetting = <A>({ store }: Settings, { clientId, server }: GrantContext, requesting: Result<A>): Result<A> =>
  Effect.tapError(requesting, ({ error }) =>
    error !== "invalid_client" ? Effect.void : Effect.catchAll(
      Registered.forget(store, server.issuer, clientId),
      (cause) =>
        Effect.logWarning(
          `The registration of this client at ${ServerText.shorten(server.issuer)} was not removed`,
          cause
        )
    ))

/** How long a refresh may continue after its caller was interrupted. */
const LIMIT = "5 seconds"

/**
 * Lets a refresh continue for a limited time after its caller was interrupted. An authorization server may accept a refresh token only one
 * time. Without the response, the user would have to log in again.
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
