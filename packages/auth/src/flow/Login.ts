/**
 * Decides when the client gets tokens for an MCP server, whether the user's browser opens, and when the client gives up. In each function,
 * the first condition that is true decides. The functions have no side effects. `ServerTokens` calls the functions in this order and
 * carries out their decisions. A run is the fiber that gets tokens.
 * - `beforeRequest`, `mayRenew`: does the client renew tokens before a request? `afterRefusal`: what happens to a refused request?
 * - `mayBeStored`, `whyNotBegin`, `mayRefresh`, `whyNotAsk`: which steps does a run take before it asks the user?
 * - `learn`: what does the client store about the run?
 */
import * as Headers from "@effect/platform/Headers"
import * as RefusedResponse from "@effect-mcp/core/unstable/client/RefusedResponse"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Wanted } from "../discovery/Challenge.js"
import type { Discovered } from "../discovery/Discovery.js"
import { failure } from "../discovery/Failure.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Tokens } from "../Tokens.js"
import * as Scopes from "./Scopes.js"
import * as TokenState from "./TokenState.js"

/** How many times one request may lead to new tokens. */
const MAX_ATTEMPTS = 3

/** How long requests fail after a failed login, and how long tokens are not renewed after a failed renewal, in milliseconds. */
export const PAUSE = 30_000

/** How many times the client may ask the user because one server has refused requests, within the time `WITHIN` in milliseconds. */
const MAX_LOGINS = 4
const WITHIN = 600_000

/** The reasons of errors with which an attempt fails before the user has seen a page, and after which the next attempt may succeed. */
const BEFORE_LOGIN: ReadonlySet<AuthorizationError["reason"]> = new Set(["Unreachable", "UnknownClient"])

/** The data of one server that never changes. */
export interface Rules {
  /** The URL of the MCP server. */
  readonly server: URL
  /** Whether the grant asks the user. */
  readonly isInteractive: boolean
  /** Whether the grant asks the user only when the program calls `login`. */
  readonly needsLogin: boolean
}

/** The reason why a request needs tokens. */
export interface Need {
  readonly wanted: Wanted
  /** The `Authorization` header that the server refused. */
  readonly sent: string | undefined
  /** The scopes that the refused token does not have. */
  readonly missing: Scopes.Scopes | undefined
  /** How many times the server has refused the request. A refusal that only asks for a DPoP nonce does not count. */
  readonly attempt: number
  /** The protocol revision of the request. */
  readonly version: string
}

/** The data that the client stores about the logins at one server. */
export interface History {
  /** The times at which the client asked the user, in milliseconds since 1970. Times older than `WITHIN` do not count. */
  readonly asked: ReadonlyArray<number>
  /** The last error of a login. For the time `PAUSE`, requests fail with this error, and the client does not ask the user again. */
  readonly failed: { readonly error: AuthorizationError; readonly at: number } | undefined
  /** How many runs that may ask the user are active. There may be two, because an interrupted run may end after the next run has begun. */
  readonly running: number
}

export const none: History = { asked: [], failed: undefined, running: 0 }

/**
 * Decides what to do before a request. `RenewFirst`: the request waits for the renewal. `RenewMeanwhile`: the client sends the request at
 * once with the present tokens, and renews the tokens at the same time. If a run may ask the user, the client sends even expired tokens,
 * because the timeouts of a request are paused only after the server has refused the request.
 */
export const beforeRequest = (
  rules: Rules,
  tokens: Tokens,
  { running }: History,
  now: number
): "Send" | "RenewFirst" | "RenewMeanwhile" => {
  const { expiresAt = 0, renewAt } = tokens
  if (renewAt === undefined || now < renewAt || !mayRenew(rules, tokens)) return "Send"
  return now >= expiresAt && running === 0 ? "RenewFirst" : "RenewMeanwhile"
}

/** Whether the client can get other tokens without the user. */
export const mayRenew = ({ isInteractive }: Rules, { refreshToken }: Tokens): boolean =>
  refreshToken !== undefined || !isInteractive

export type Answer =
  /** `GetTokens` begins or joins a run, which may ask the user. `Renew` never asks the user. */
  | { readonly _tag: "SendAgain" | "LeaveRefused" | "GetTokens" }
  /**
   * `otherwise` is the error of the request when the renewal brings no other tokens. When `otherwise` is `undefined`, the request stays
   * refused.
   */
  | { readonly _tag: "Renew"; readonly otherwise?: AuthorizationError | undefined }
  | { readonly _tag: "Fail"; readonly error: AuthorizationError }

/**
 * Decides what to do after a refusal. `isQuiet` is `true` when the user did not cause the request; then the client does not ask the user
 * because of this request.
 */
export const afterRefusal = (
  rules: Rules,
  known: TokenState.State,
  need: Need,
  { isQuiet, status }: { readonly status: number; readonly isQuiet: boolean }
): Answer => {
  const { attempt, missing, sent, wanted } = need
  if (attempt > MAX_ATTEMPTS) return { _tag: "LeaveRefused" }
  // The server would also refuse other tokens.
  const isForbidden = status === 403 && (wanted.error !== "insufficient_scope" || missing === undefined)
  if (isForbidden) return { _tag: "LeaveRefused" }
  if (!rules.isInteractive || (!isQuiet && !rules.needsLogin)) return forNeed(rules, known, need)
  const otherwise = isQuiet ? undefined : loginRequired(rules.server, missing)
  const refused: Answer = otherwise === undefined ? { _tag: "LeaveRefused" } : { _tag: "Fail", error: otherwise }
  if (status !== 401 || known.tokens === undefined) return refused
  if (isOther(known, sent)) return { _tag: "SendAgain" }
  return attempt === 1 && known.tokens.refreshToken !== undefined ? { _tag: "Renew", otherwise } : refused
}

/**
 * Decides what to do with a refused request that may ask the user. Another request may already have got tokens, and new tokens may not
 * help.
 */
export const forNeed = ({ server }: Rules, known: TokenState.State, need: Need): Answer => {
  const { attempt, missing, sent } = need
  const wasRequested = missing !== undefined && Scopes.covers(known.requested ?? known.binding?.scopes, missing)
  if (known.tokens === undefined) return { _tag: "GetTokens" }
  if (isOther(known, sent)) return { _tag: missing === undefined || wasRequested ? "SendAgain" : "GetTokens" }
  if (wasRequested) return { _tag: "Fail", error: insufficient(server, missing) }
  if (missing !== undefined) return { _tag: "GetTokens" }
  return attempt > 1 && known.isFresh
    ? { _tag: "Fail", error: notAccepted(server, known, need) }
    : { _tag: "GetTokens" }
}

/** Whether the client has tokens other than the tokens that the server has refused. */
export const isOther = ({ tokens }: TokenState.State, sent: string | undefined): boolean =>
  tokens !== undefined && TokenState.authorization(tokens) !== sent

/** Whether another process may have replaced the refused tokens in the store. */
export const mayBeStored = (need: Need): boolean => isFirst(need) && need.sent !== undefined

/**
 * Returns the reason why a run does not begin; `undefined` when the run begins. For the time `PAUSE` after a failed login, the client does
 * not ask the user again.
 */
export const whyNotBegin = (
  { isInteractive }: Rules,
  { failed }: History,
  now: number
): AuthorizationError | undefined =>
  isInteractive && failed !== undefined && now - failed.at < PAUSE ? failed.error : undefined

/** The state before the discovery of the authorization server (`known`), and the result of the discovery. */
export interface Found {
  readonly known: TokenState.State
  readonly discovered: Discovered
}

export const mayRefresh = (need: Need, { discovered, known }: Found): boolean =>
  isFirst(need) && isSame(known, discovered) && known.tokens?.refreshToken !== undefined

/** Whether the server refused the request for the first time, and not because scopes are missing. */
const isFirst = ({ attempt, missing }: Need): boolean => attempt === 1 && missing === undefined

/**
 * Whether the stored credentials are from this authorization server and for this resource. The client does not use credentials of another
 * authorization server.
 */
export const isSame = ({ binding }: TokenState.State, { resource, server: { issuer } }: Discovered): boolean =>
  binding?.issuer === issuer && binding.resource === resource

/** Returns the reason why a run must end without asking the user; `undefined` when the run may ask the user. */
export const whyNotAsk = (
  { isInteractive, server }: Rules,
  { asked }: History,
  now: number
): AuthorizationError | undefined =>
  isInteractive && recent(asked, now).length >= MAX_LOGINS ? tooOften(server) : undefined

const recent = (asked: History["asked"], now: number) => asked.filter((at) => now - at < WITHIN)

export type Event =
  /** `Asking`: the grant begins to ask the user. `Reset`: the program calls `login` or `logout`. */
  | { readonly _tag: "RunBegan" | "RunEnded" | "Asking" | "Reset" }
  /** `hasConsent`: the user has consented, and the grant has requested a token. */
  | { readonly _tag: "AskingFailed"; readonly error: AuthorizationError; readonly hasConsent: boolean }
  /** A request fails with this error, because new tokens would not help. */
  | { readonly _tag: "RequestFailed"; readonly error: AuthorizationError }

export const learn = (history: History, event: Event, now: number): History => {
  const { asked, running } = history
  switch (event._tag) {
    case "RunBegan":
      return { ...history, running: running + 1 }
    case "RunEnded":
      return { ...history, running: running - 1 }
    case "Asking":
      return { ...history, asked: [...recent(asked, now), now] }
    case "AskingFailed":
      return event.hasConsent || !BEFORE_LOGIN.has(event.error.reason)
        ? { ...history, failed: { error: event.error, at: now } }
        // The user has not seen a page.
        : { ...history, asked: asked.slice(0, -1) }
    case "RequestFailed":
      return event.error.reason === "TokenRefused" ? { ...history, failed: { error: event.error, at: now } } : history
    case "Reset":
      return { ...history, asked: [], failed: undefined }
  }
}

const loginRequired = (server: URL, missing: Scopes.Scopes | undefined) => {
  const where = ServerText.location(server)
  return missing === undefined
    ? failure(
      "LoginRequired",
      `${where} accepts none of the stored tokens, and this grant does not ask the user because a server has refused a request: ` +
        "call `login` of `Authorization` when the user wants to log in"
    )
    : failure(
      "LoginRequired",
      `${where} requires the scopes ${
        named(missing)
      }, and this grant does not ask the user because a server has refused a request: ` +
        "name the scopes in the option `scopes` of `Authorization`, then call `logout` and `login`",
      { error: "insufficient_scope" }
    )
}

const named = (scopes: Scopes.Scopes): string => ServerText.shorten(scopes.map((scope) => `"${scope}"`).join(", "))

const tooOften = (server: URL) =>
  failure(
    "InsufficientScope",
    `The user was asked ${MAX_LOGINS} times within ${WITHIN / 60_000} minutes, because ${
      ServerText.location(server)
    } refused requests; the client asks again later, or when the program calls \`login\``,
    { error: "insufficient_scope" }
  )

const insufficient = (server: URL, missing: Scopes.Scopes) =>
  failure(
    "InsufficientScope",
    `${ServerText.location(server)} still requires the scopes ${
      named(missing)
    }, which were requested but not granted. When the user has got these rights, call \`logout\`, and the next request logs in again`,
    { error: "insufficient_scope" }
  )

const notAccepted = (server: URL, { binding }: TokenState.State, { sent, wanted }: Need) => {
  const why = RefusedResponse.redact(wanted.description ?? "", Headers.fromInput({ authorization: sent }))
  return failure(
    "TokenRefused",
    `${ServerText.location(server)} refused a token that ${
      ServerText.shorten(binding?.issuer ?? "")
    } has just issued for ${ServerText.shorten(binding?.resource ?? "")}: ${
      why === ""
        ? "the server and its authorization server do not agree on who may use which token"
        : ServerText.shorten(why)
    }`
  )
}
