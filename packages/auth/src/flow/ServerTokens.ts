/**
 * Adds the tokens for one MCP server to requests, renews the tokens before they expire, and gets other tokens when the server refuses the
 * tokens. Only one fiber gets tokens at a time. This fiber is called a run. All requests that need tokens wait for the run.
 *
 * `Authorization` makes a `ServerTokens` for each server. `Login` decides what this module does. `TokenRequests` sends requests to the
 * authorization server, and `TokenState` stores the tokens.
 */
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { RefusedRequest } from "@effect-mcp/core/Authorizer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as SingleFlight from "@effect-mcp/core/unstable/kit/SingleFlight"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "../AuthorizationError.js"
import * as Challenge from "../discovery/Challenge.js"
import { failure } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Tokens } from "../Tokens.js"
import * as Login from "./Login.js"
import * as Revocation from "./Revocation.js"
import * as TokenRequests from "./TokenRequests.js"
import * as TokenState from "./TokenState.js"

type Request = HttpClientRequest.HttpClientRequest

type Result<A> = Effect.Effect<A, AuthorizationError>

export interface ServerTokens {
  readonly headers: (request: Request) => Result<Readonly<Record<string, string>>>
  readonly onRefused: (refused: RefusedRequest) => Result<boolean>
  readonly login: Result<void>
  readonly logout: Result<void>
}

/** Makes the tokens of one server. When the scope closes, the active run is interrupted, and the requests that wait for the run fail. */
export const make = (settings: TokenRequests.Settings, scope: Scope.Scope): ServerTokens => {
  const { documents: { policy: { server } }, dpop, grant, store } = settings
  const self: Self = {
    settings,
    scope,
    rules: { server, isInteractive: grant.isInteractive, needsLogin: grant.needsLogin === true },
    state: TokenState.make(server, store, dpop),
    history: Ref.unsafeMake(Login.none),
    run: SingleFlight.make<Login.Need | undefined, AuthorizationError>(scope, closed(server))
  }
  return {
    headers: (request) => headers(self, request),
    onRefused: (refused) => onRefused(self, refused),
    login: login(self),
    logout: logout(self)
  }
}

/** The data that the functions of this module share. */
interface Self extends TokenRequests.Self {
  readonly scope: Scope.Scope
  readonly rules: Login.Rules
  readonly history: Ref.Ref<Login.History>
  /**
   * The run that changes the tokens now. When a run gets tokens for a request, the result of the run is the need of that request. When a
   * run renews tokens, the result is `undefined`.
   */
  readonly run: SingleFlight.SingleFlight<Login.Need | undefined, AuthorizationError>
}

const learn = ({ history }: Self, event: Login.Event): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(history, (before) => Login.learn(before, event, now)))

const headers = Effect.fnUntraced(function*(self: Self, request: Request) {
  const { state } = self
  const { tokens: before } = yield* state.get
  if (before === undefined) return {}
  yield* renewIfDue(self, before)
  const { prover, tokens } = yield* state.get
  if (tokens === undefined) return {}
  const proof = tokens.type === "DPoP" && prover !== undefined
    ? yield* prover.headers(request.method, request.url, tokens.accessToken)
    : {}
  // The token is in the header of every request, and never in the query.
  return { ...proof, authorization: TokenState.authorization(tokens) }
})

const renewIfDue = Effect.fnUntraced(function*(self: Self, tokens: Tokens) {
  const { history, rules, run, scope } = self
  const now = yield* Clock.currentTimeMillis
  switch (Login.beforeRequest(rules, tokens, yield* Ref.get(history), now)) {
    case "Send":
      return
    case "RenewFirst":
      return yield* Effect.ignore(run.join(renew(self)))
    case "RenewMeanwhile":
      if (!run.isRunning()) yield* Effect.forkIn(Effect.ignore(run.join(renew(self))), scope)
  }
})

/** The key in the `memory` of a request. The value is the number of refusals of this request that only asked for a nonce. */
const NONCES = Symbol()

const onRefused = Effect.fnUntraced(function*(self: Self, { attempt, memory, refusal, request }: RefusedRequest) {
  const { rules, state } = self
  const { headers, status } = refusal
  // Only this function sets the value of `NONCES`.
  const nonces = (memory.get(NONCES) ?? 0) as number
  const wanted = Challenge.wanted(headers["www-authenticate"])
  const { prover } = yield* state.get
  const isNewNonce = prover?.keepNonce(request.url, headers, request.headers["dpop"]) === true
  if (isNewNonce && wanted.error === "use_dpop_nonce") {
    memory.set(NONCES, nonces + 1)
    return true
  }
  const need: Login.Need = {
    wanted,
    sent: request.headers["authorization"],
    missing: status === 403 ? wanted.scopes : undefined,
    attempt: attempt - nonces,
    version: request.headers["mcp-protocol-version"] ?? Version.latestLegacy
  }
  const refused = { status, isQuiet: isQuiet(request, status) }
  return yield* satisfy(self, need, (known) => Login.afterRefusal(rules, known, need, refused))
})

/** For how many runs of other requests a request waits. After these runs, the request stays refused. */
const MAX_RUNS = 3

/**
 * Returns `true` when the client should send the request again, and `false` when the request stays refused. Calls `decide` again after each
 * run.
 */
const satisfy = Effect.fnUntraced(
  function*(self: Self, need: Login.Need, decide: (known: TokenState.State) => Login.Answer) {
    const { run, state } = self
    for (let runs = 0; runs < MAX_RUNS; runs++) {
      const answer = decide(yield* state.get)
      switch (answer._tag) {
        case "SendAgain":
          return true
        case "LeaveRefused":
          return false
        case "Fail":
          if (need.missing !== undefined) yield* state.dropRefused(need.missing)
          yield* learn(self, { _tag: "RequestFailed", error: answer.error })
          return yield* answer.error
        case "Renew":
          yield* Effect.ignore(run.join(renew(self)))
          if (Login.isOther(yield* state.get, need.sent)) return true
          if (answer.otherwise !== undefined) return yield* answer.otherwise
          return false
        case "GetTokens":
          // If another run is active, `join` waits for that run and returns the need of that run. If this is another need, the loop decides
          // about the own need again.
          if ((yield* run.join(getTokens(self, need))) === need) return true
      }
    }
    return false
  }
)

/** Gets tokens for a need. All requests that wait for this run use these tokens. */
const getTokens = (self: Self, need: Login.Need): Result<Login.Need> => {
  const getting = Effect.as(proceed(self, need), need)
  return self.rules.isInteractive
    ? Effect.acquireUseRelease(
      learn(self, { _tag: "RunBegan" }),
      () => getting,
      () => learn(self, { _tag: "RunEnded" })
    )
    : getting
}

/**
 * Tries three ways to get tokens: takes the tokens that another process has stored, refreshes the tokens, and gets tokens with the grant.
 * The grant is last because it may ask the user.
 */
const proceed = Effect.fnUntraced(function*(self: Self, need: Login.Need) {
  const { rules, state } = self
  if (Login.mayBeStored(need) && (yield* state.adopt)) return
  yield* failIf(self, Login.whyNotBegin)
  const known = yield* state.get
  const found = { known, discovered: yield* TokenRequests.discover(self, known, need) }
  if (Login.mayRefresh(need, found) && (yield* refreshed(self, found, need))) return
  yield* failIf(self, Login.whyNotAsk)
  const request = yield* TokenRequests.requestFor(self, found, need, yield* state.get)
  yield* rules.isInteractive ? ask(self, request) : TokenRequests.obtain(self, request)
})

const failIf = Effect.fnUntraced(function*({ history, rules }: Self, why: typeof Login.whyNotAsk) {
  const error = why(rules, yield* Ref.get(history), yield* Clock.currentTimeMillis)
  if (error !== undefined) return yield* error
})

/** Refreshes the tokens. Returns `false` when there is no refresh token, or when the authorization server refuses to refresh. */
const refreshed = (self: Self, found: Login.Found, need: Login.Need): Result<boolean> => {
  const { discovered, known } = found
  const refreshing = Effect.gen(function*() {
    if (yield* self.state.isReplaced(known.tokens)) return true
    const now = yield* self.state.get
    const tokens = Login.isSame(now, discovered) ? now.tokens : undefined
    if (tokens?.refreshToken === undefined) return false
    const request = yield* TokenRequests.requestFor(self, found, need, now)
    return yield* Effect.catchIf(
      Effect.as(TokenRequests.refresh(self, request, tokens, tokens.refreshToken), true),
      (error: AuthorizationError) => error.reason === "TokenRefused" || error.reason === "UnknownClient",
      () => Effect.succeed(false)
    )
  })
  return self.state.exclusive(refreshing, discovered.server.issuer, discovered.resource)
}

/** Gets tokens with a grant that asks the user. This is the only function that may open a browser. */
const ask = Effect.fnUntraced(function*(self: Self, request: TokenRequests.TokenRequest) {
  const { context } = request
  const consent = yield* Ref.make(false)
  const token: typeof context.token = (client, form) =>
    Effect.zipRight(Ref.set(consent, true), context.token(client, form))
  yield* learn(self, { _tag: "Asking" })
  yield* Effect.tapError(
    TokenRequests.obtain(self, { ...request, context: { ...context, token } }),
    (error) =>
      Effect.flatMap(Ref.get(consent), (hasConsent) => learn(self, { _tag: "AskingFailed", error, hasConsent }))
  )
})

/**
 * Renews tokens before they expire. When the renewal fails, the client keeps its tokens, and does not try again for the time `Login.PAUSE`.
 */
const renew = (self: Self): Result<undefined> => {
  const { rules: { server }, state } = self
  const whenFailed = Effect.fnUntraced(function*({ message }: AuthorizationError) {
    const now = yield* Clock.currentTimeMillis
    yield* state.renewAt(now + Login.PAUSE)
    yield* Effect.logDebug(`The token for ${ServerText.location(server)} was not renewed: ${message}`)
  })
  const renewing = Effect.flatMap(state.get, ({ binding, tokens }) =>
    binding === undefined || tokens === undefined
      ? Effect.void
      : state.exclusive(renewTokens(self, tokens), binding.issuer, binding.resource))
  return Effect.as(Effect.catchAll(renewing, whenFailed), undefined)
}

const renewTokens = Effect.fnUntraced(function*(self: Self, old: Tokens) {
  if (yield* self.state.isReplaced(old)) return
  const known = yield* self.state.get
  const { binding, tokens } = known
  if (binding === undefined || tokens === undefined) return
  // Another process may have stored expired tokens that only the user can renew.
  if (!Login.mayRenew(self.rules, tokens)) return
  const request = yield* TokenRequests.asBefore(self, known, binding)
  const { refreshToken } = tokens
  yield* refreshToken === undefined
    ? TokenRequests.obtainAgain(self, request)
    : TokenRequests.refresh(self, request, tokens, refreshToken)
})

const nothing: Challenge.Wanted = {
  resourceMetadata: undefined,
  scopes: undefined,
  error: undefined,
  description: undefined
}

const login = Effect.fnUntraced(function*(self: Self) {
  const { tokens } = yield* self.state.get
  const now = yield* Clock.currentTimeMillis
  if (tokens !== undefined && (tokens.expiresAt === undefined || tokens.expiresAt > now)) return
  yield* learn(self, { _tag: "Reset" })
  const sent = tokens === undefined ? undefined : TokenState.authorization(tokens)
  const need = { wanted: nothing, sent, missing: undefined, attempt: 1, version: Version.latestLegacy }
  yield* satisfy(self, need, (known) => Login.forNeed(self.rules, known, need))
})

const logout = (self: Self): Result<void> => {
  const { rules: { server }, run, state } = self
  const revoke = Effect.catchAll(
    Revocation.revoke(self),
    ({ message }) => Effect.logDebug(`The tokens for ${ServerText.location(server)} were not revoked: ${message}`)
  )
  // The tokens are also removed when the caller is interrupted during the request for revocation.
  const forget = Effect.uninterruptibleMask((restore) => Effect.zipRight(Effect.exit(restore(revoke)), state.forget))
  return Effect.zipRight(
    learn(self, { _tag: "Reset" }),
    Effect.asVoid(run.replace(loggedOut(server), Effect.as(forget, undefined)))
  )
}

/** Whether the client sent the request without an action of the user. Such a request ends a session, or opens a stream again. */
const isQuiet = ({ headers, method }: Request, status: number): boolean =>
  method === "DELETE" || (method === "GET" && headers["mcp-session-id"] !== undefined) ||
  (status === 401 && headers["mcp-method"] === "subscriptions/listen" && headers["authorization"] !== undefined)

const loggedOut = (server: URL) =>
  failure("Denied", `The login at ${ServerText.location(server)} was ended by a logout`)

const closed = (server: URL) =>
  failure(
    "Closed",
    `There is no token for ${
      ServerText.location(server)
    }: the layer of \`Authorization\` has closed. Close the clients that use it before its scope ends`
  )
