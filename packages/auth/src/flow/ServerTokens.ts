/**
 * The tokens for one MCP server: sends them with requests, renews them before they expire, and gets others when the server
 * refuses them. Only one fiber gets tokens at a time; all requests that need them wait for that one.
 *
 * `TokenRequests` gets them, and `TokenState` keeps them. `Self` says which fields change, and who writes them.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Refusal from "@effect-mcp/core/unstable/client/Refusal"
import * as SingleFlight from "@effect-mcp/core/unstable/kit/SingleFlight"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Wanted } from "../discovery/Challenge.js"
import * as Challenge from "../discovery/Challenge.js"
import { failure } from "../discovery/Failure.js"
import * as Text from "../discovery/Text.js"
import type { Grant, GrantContext } from "../Grant.js"
import * as Scopes from "./Scopes.js"
import type { Need, Settings } from "./TokenRequests.js"
import * as TokenRequests from "./TokenRequests.js"
import type { State } from "./TokenState.js"
import * as TokenState from "./TokenState.js"

type Request = HttpClientRequest.HttpClientRequest

export interface ServerTokens {
  readonly headers: (request: Request) => Effect.Effect<Readonly<Record<string, string>>, AuthorizationError>
  readonly onRefused: (
    refusal: HttpResponseError,
    request: Request,
    attempt: number
  ) => Effect.Effect<boolean, AuthorizationError>
  readonly login: Effect.Effect<void, AuthorizationError>
  readonly logout: Effect.Effect<void, AuthorizationError>
}

/** How often one request may lead to new tokens. */
const MAX_ATTEMPTS = 3

/** How long to wait after a renewal that failed, and before the user is asked again after a login that failed. */
const PAUSE = 30_000

/** How often the refusals of one server may have the user asked, within this time in milliseconds. */
const MAX_LOGINS = 4
const WITHIN = 600_000

/** What may fail before the user is asked, and not the next time. */
const BEFORE_LOGIN: ReadonlySet<AuthorizationError["reason"]> = new Set(["Unreachable", "UnknownClient"])

const nothing: Wanted = { resourceMetadata: undefined, scopes: undefined, error: undefined, description: undefined }

/** Closing the scope interrupts what is under way; what waits for it fails. */
export const make = (settings: Settings, scope: Scope.Scope): ServerTokens => {
  const { documents: { policy: { server } }, dpop, grant, store } = settings
  const state = TokenState.make(server, store, dpop)
  const self: Self = {
    scope,
    server,
    grant,
    state,
    requests: TokenRequests.make(
      grant.isInteractive ? { ...settings, grant: { ...grant, obtain: (context) => ask(self, context) } } : settings,
      state
    ),
    run: SingleFlight.make<void, AuthorizationError>(scope, closed(server)),
    nonces: new WeakMap(),
    hasBegun: false,
    hasConsent: false,
    asked: [],
    logins: 0,
    failed: undefined
  }
  return {
    headers: (request) => headers(self, request),
    onRefused: (refusal, request, refusals) => onRefused(self, refusal, request, refusals),
    login: login(self),
    logout: logout(self)
  }
}

/** What the functions of this module share. */
interface Self {
  readonly scope: Scope.Scope
  readonly server: URL
  readonly grant: Grant
  readonly state: TokenState.TokenState
  readonly requests: TokenRequests.TokenRequests
  /** The run that gets tokens now. */
  readonly run: SingleFlight.SingleFlight<void, AuthorizationError>
  /** How many refusals of a request asked for a nonce only; by its body, which all attempts at a request have in common. */
  readonly nonces: WeakMap<Request["body"], number>
  /** Whether the run has asked the user: `ask` sets it, `obtain` clears it. */
  hasBegun: boolean
  /** Whether the user has consented in this run: `ask` sets it, `obtain` clears it. */
  hasConsent: boolean
  /** When the user was asked lately: `ask` writes it, `login` and `logout` clear it. */
  asked: ReadonlyArray<number>
  /** How many runs may ask the user; `obtain` counts. A run that was interrupted may end after the next run has begun. */
  logins: number
  /**
   * The error that requests fail with, for a time, instead of asking the user again: `fail` writes it, `login` and `logout` clear it.
   */
  failed: { readonly error: AuthorizationError; readonly at: number } | undefined
}

const headers = Effect.fnUntraced(function*(self: Self, request: Request) {
  const { grant, run, scope, state } = self
  const { tokens } = yield* state.get
  if (tokens === undefined) return {}
  const { expiresAt, refreshToken, renewAt } = tokens
  const now = yield* Clock.currentTimeMillis
  if (renewAt !== undefined && now >= renewAt && (refreshToken !== undefined || !grant.isInteractive)) {
    const renewing = Effect.ignore(run.join(renew(self)))
    // A token that is still valid is sent meanwhile. So is an expired one while the user may be asked: the timeouts of a
    // request stand still only after it was refused.
    if (now >= (expiresAt ?? 0) && self.logins === 0) yield* renewing
    else if (!run.isRunning()) yield* Effect.forkIn(renewing, scope)
  }
  const { prover, tokens: current } = yield* state.get
  if (current === undefined) return {}
  const proof = current.type === "DPoP" && prover !== undefined
    ? yield* prover.headers(request.method, request.url, current.accessToken)
    : {}
  // In the header of every request, and never in the query.
  return { ...proof, authorization: TokenState.authorization(current) }
})

const onRefused = Effect.fnUntraced(
  function*(self: Self, { headers, status }: HttpResponseError, request: Request, refusals: number) {
    const { grant, nonces, state } = self
    const { body } = request
    if (refusals === 1) nonces.delete(body)
    const earlier = nonces.get(body) ?? 0
    const wanted = Challenge.wanted(headers["www-authenticate"])
    const { prover } = yield* state.get
    const isNewNonce = prover?.keepNonce(request.url, headers, request.headers["dpop"]) === true
    if (isNewNonce && wanted.error === "use_dpop_nonce") {
      // Requests without a body all have the same one.
      if (body._tag !== "Empty") nonces.set(body, earlier + 1)
      return true
    }
    const attempt = refusals - earlier
    if (attempt > MAX_ATTEMPTS) return false
    if (status === 403 && (wanted.error !== "insufficient_scope" || wanted.scopes === undefined)) return false
    const sent = request.headers["authorization"]
    // The end of a session, and a stream that the client opens again by itself, are no reasons to ask the user.
    if (grant.isInteractive && isQuiet(request, status)) {
      return status === 401 && (yield* refreshed(self, sent, attempt))
    }
    return yield* satisfy(self, {
      wanted,
      sent,
      missing: status === 403 ? wanted.scopes : undefined,
      attempt,
      version: request.headers["mcp-protocol-version"] ?? Version.latestLegacy
    })
  }
)

/** Whether there are tokens that the server has not refused. Never asks the user. */
const refreshed = Effect.fnUntraced(function*(self: Self, sent: string | undefined, attempt: number) {
  const { run, state } = self
  const { tokens } = yield* state.get
  if (tokens === undefined) return false
  if (TokenState.authorization(tokens) !== sent) return true
  if (attempt > 1 || tokens.refreshToken === undefined) return false
  yield* Effect.ignore(run.join(renew(self)))
  const { tokens: current } = yield* state.get
  return current !== undefined && TokenState.authorization(current) !== sent
})

/** Whether there are tokens that the server has not refused. Asks the user where it must. */
const satisfy = Effect.fnUntraced(function*(self: Self, need: Need) {
  const { run, server, state } = self
  // The run that this request joins may have begun for another need.
  for (let round = 0; round < MAX_ATTEMPTS; round++) {
    const known = yield* state.get
    if (isMet(known, need)) return true
    const error = whyNot(server, known, need)
    if (error !== undefined) return yield* error.reason === "TokenRefused" ? fail(self, error) : error
    let isOwn = false
    yield* run.join(Effect.suspend(() => {
      isOwn = true
      return obtain(self, need)
    }))
    if (isOwn) return true
  }
  return false
})

const isMet = (known: State, { missing, sent }: Need): boolean =>
  known.tokens !== undefined && TokenState.authorization(known.tokens) !== sent &&
  (missing === undefined || wasRequested(known, missing))

/** Why the server would refuse other tokens, too. */
const whyNot = (server: URL, known: State, { attempt, missing, sent, wanted }: Need) => {
  const { binding, isFresh, tokens } = known
  if (tokens === undefined || TokenState.authorization(tokens) !== sent) return undefined
  if (missing !== undefined) {
    return wasRequested(known, missing) ? insufficient(server, missing) : undefined
  }
  if (attempt === 1 || !isFresh) return undefined
  const why = Refusal.redact(wanted.description ?? "", Headers.fromInput({ authorization: sent }))
  return notAccepted(server, binding?.issuer ?? "", binding?.resource ?? "", why)
}

/** Whether these scopes were requested, also when they were not granted. */
const wasRequested = ({ binding, requested }: State, scopes: Scopes.Scopes): boolean =>
  Scopes.covers(requested ?? binding?.scopes, scopes)

const obtain = Effect.fnUntraced(function*(self: Self, need: Need) {
  const { grant, requests, state } = self
  const { attempt, missing, sent } = need
  if (missing === undefined && attempt === 1 && sent !== undefined && (yield* state.adopt)) {
    return
  }
  const now = yield* Clock.currentTimeMillis
  const { failed } = self
  // The user is not asked again at once after a login that failed.
  if (grant.isInteractive && failed !== undefined && now - failed.at < PAUSE) {
    return yield* failed.error
  }
  self.hasBegun = self.hasConsent = false
  const requesting = Effect.catchIf(
    requests.obtain(need),
    (error) => isLogin(self, error),
    (error) => fail(self, error)
  )
  yield* grant.isInteractive
    ? Effect.acquireUseRelease(
      Effect.sync(() => self.logins++),
      () => requesting,
      () => Effect.sync(() => self.logins--)
    )
    : requesting
})

/** Gets tokens by a grant that asks the user. */
const ask = (self: Self, context: GrantContext) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    self.asked = self.asked.filter((at) => now - at < WITHIN)
    if (self.asked.length >= MAX_LOGINS) return tooOften(self.server)
    self.asked = [...self.asked, now]
    self.hasBegun = true
    const token: typeof context.token = (client, parameters) => {
      self.hasConsent = true
      return context.token(client, parameters)
    }
    const uncounted = Effect.sync(() => {
      self.asked = self.asked.slice(0, -1)
    })
    return Effect.tapError(
      self.grant.obtain({ ...context, token }),
      (error) => isLogin(self, error) ? Effect.void : uncounted
    )
  })

const isLogin = ({ hasBegun, hasConsent }: Self, { reason }: AuthorizationError): boolean =>
  hasConsent || (hasBegun && !BEFORE_LOGIN.has(reason))

/** Fails, and keeps the error: for a time, requests fail with it instead of opening the browser again. */
const fail = (self: Self, error: AuthorizationError): Effect.Effect<never, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (at) => {
    self.failed = { error, at }
    return Effect.fail(error)
  })

/** Renews tokens that expire. A failure leaves those there are. */
const renew = ({ requests, server, state }: Self) =>
  Effect.catchAll(
    requests.renew,
    (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => state.renewAt(now + PAUSE)).pipe(
        Effect.zipRight(Effect.logDebug(`The token for ${Text.location(server)} was not renewed: ${error.message}`))
      )
  )

const login = Effect.fnUntraced(function*(self: Self) {
  const { tokens } = yield* self.state.get
  const now = yield* Clock.currentTimeMillis
  if (tokens !== undefined && (tokens.expiresAt === undefined || tokens.expiresAt > now)) return
  self.failed = undefined
  self.asked = []
  const sent = tokens === undefined ? undefined : TokenState.authorization(tokens)
  yield* satisfy(self, { wanted: nothing, sent, missing: undefined, attempt: 1, version: Version.latestLegacy })
})

const logout = (self: Self): Effect.Effect<void, AuthorizationError> =>
  Effect.suspend(() => {
    const { requests, run, server, state } = self
    self.failed = undefined
    self.asked = []
    const revoke = Effect.catchAll(
      requests.revoke,
      ({ message }) => Effect.logDebug(`The tokens for ${Text.location(server)} were not revoked: ${message}`)
    )
    return run.replace(
      loggedOut(server),
      // Also when nothing waits for the authorization server any more.
      Effect.uninterruptibleMask((restore) => Effect.zipRight(Effect.exit(restore(revoke)), state.forget))
    )
  })

const isQuiet = ({ headers, method }: Request, status: number): boolean =>
  method === "DELETE" || (method === "GET" && headers["mcp-session-id"] !== undefined) ||
  (status === 401 && headers["mcp-method"] === "subscriptions/listen" && headers["authorization"] !== undefined)

const tooOften = (server: URL) =>
  failure(
    "InsufficientScope",
    `The user was asked ${MAX_LOGINS} times within ${WITHIN / 60_000} minutes, because ${
      Text.location(server)
    } refused requests; the client asks again later, or when the program calls \`login\``,
    { error: "insufficient_scope" }
  )

const loggedOut = (server: URL) => failure("Denied", `The login at ${Text.location(server)} was ended by a logout`)

const closed = (server: URL) =>
  failure(
    "Closed",
    `There is no token for ${
      Text.location(server)
    }: the layer of \`Authorization\` has closed. Close the clients that use it before its scope ends`
  )

const insufficient = (server: URL, missing: Scopes.Scopes) =>
  failure(
    "InsufficientScope",
    `${Text.location(server)} still requires the scopes ${
      Text.shorten(missing.map((scope) => `"${scope}"`).join(", "))
    }, which were requested and not granted. When the user has got these rights, \`logout\` lets the next request log in again`,
    { error: "insufficient_scope" }
  )

const notAccepted = (server: URL, issuer: string, resource: string, why: string) =>
  failure(
    "TokenRefused",
    `${Text.location(server)} refused a token that ${Text.shorten(issuer)} has just issued for ${
      Text.shorten(resource)
    }: ${
      why === "" ? "the server and its authorization server do not agree on who may use which token" : Text.shorten(why)
    }`
  )
