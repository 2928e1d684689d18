/**
 * Implements the device authorization grant, for programs on a machine without a browser. The program shows a code, and the user enters the
 * code in a browser on another device. Pass the grant to `Authorization.layer`.
 *
 * A login begins only when the program calls `login` of `Authorization`. A refused request does not begin a login, because a user should
 * see a code only when the user expects a code: a user who enters the code of an attacker gives the attacker the rights of the user.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8628
 * @since 0.1.0
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { Client, ClientIdentity } from "./ClientIdentity.js"
import { CredentialStore } from "./CredentialStore.js"
import { failure, refusal } from "./discovery/Failure.js"
import * as ServerText from "./discovery/ServerText.js"
import * as UrlPolicy from "./discovery/UrlPolicy.js"
import * as Scopes from "./flow/Scopes.js"
import type { Answer, Grant, GrantContext } from "./Grant.js"
import * as Identities from "./identity/Identities.js"
import type { Tokens } from "./Tokens.js"

/**
 * The data that the program shows to the user.
 *
 * @category models
 */
export interface Prompt {
  /** The URL of the MCP server for which the user logs in. */
  readonly server: string
  /** The host of the authorization server. Show this host: the user should enter the code only if the user recognizes the host. */
  readonly host: string
  readonly userCode: string
  /** The https URL of the page where the user enters the code. Its host may differ from `host`. */
  readonly verificationUri: string
  /**
   * The URL of `verificationUri` with the code in the URL, for a QR code. `undefined` when the authorization server gave no URL with the
   * code, or gave a URL of another origin.
   */
  readonly verificationUriComplete: string | undefined
  /** When the code expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** @category models */
export interface Options<R = never> extends Pick<ClientIdentity, "ask" | "metadataDocument" | "preRegistered"> {
  /**
   * Shows the code and the hosts to the user. The client interrupts the effect when the login ends. When the effect fails, the login fails.
   */
  readonly show: (prompt: Prompt) => Effect.Effect<void, unknown, R>
  /**
   * How long the user may take to log in. If the code of the authorization server expires earlier, the user has only the time until then.
   * Default: 15 minutes.
   */
  readonly loginTimeout?: Duration.DurationInput | undefined
  /**
   * Whether the client requests the scope `offline_access` when the authorization server has this scope. With this scope, the client gets a
   * refresh token. Default: true.
   */
  readonly offlineAccess?: boolean | undefined
}

/**
 * Makes a grant that logs the user in on another device when the program calls `login` of `Authorization`. Before this call, requests that
 * need a login fail with reason `LoginRequired`. This grant does not register the client at the authorization server. Register the client
 * manually for this grant, or publish a metadata document that names the grant.
 *
 * @category constructors
 */
export const make = <R = never>(options: Options<R>): Grant<R | CredentialStore> => {
  const logins = Semaphore.make()
  return {
    isInteractive: true,
    needsLogin: true,
    isRegistered: (issuer) => options.preRegistered?.some((client) => client.issuer === issuer) === true,
    client: (context) => clientFor(options, context),
    obtain: (context) => logins.run(login(options, context))
  }
}

const clientFor = <R>({ ask, metadataDocument, preRegistered }: Options<R>, context: GrantContext) =>
  Effect.flatMap(CredentialStore, (store) =>
    Identities.choose(
      { name: "", ask, metadataDocument, preRegistered, dynamicRegistration: false },
      context,
      store,
      undefined
    ))

const login = <R>(
  options: Options<R>,
  context: GrantContext
): Effect.Effect<Tokens, AuthorizationError, R | CredentialStore> =>
  Effect.gen(function*() {
    const client = yield* clientFor(options, context)
    const begun = yield* begin(options, context, client)
    const showing = Effect.zipRight(
      Effect.mapError(options.show(begun.prompt), (cause) =>
        failure("Browser", "`show` has failed: see the cause", { cause })),
      Effect.never
    )
    return yield* raceFirst(poll(context, client, begun), showing)
  })

/** A login that has begun. The program has received the code for the user. */
interface Begun {
  readonly prompt: Prompt
  readonly deviceCode: string
  /** How long the program waits between two requests, in milliseconds. */
  readonly interval: number
}

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"

/** Requests a code from the authorization server. */
const begin = Effect.fnUntraced(function*<R>(options: Options<R>, context: GrantContext, client: Client) {
  const { post, resource, server } = context
  const { deviceAuthorizationEndpoint: endpoint, issuer } = server
  const who = `The authorization server ${ServerText.shorten(issuer)}`
  if (endpoint === undefined) {
    return yield* failure("UnsupportedServer", `${who} does not support logins on another device`)
  }
  const { offlineAccess = true } = options
  const scopes = offlineAccess ? Scopes.withOfflineAccess(context.scopes, server) : context.scopes
  const form = { resource, ...(scopes === undefined ? undefined : { scope: scopes.join(" ") }) }
  const answer = yield* post("the device authorization endpoint", endpoint, { form }, { client })
  return yield* read(options, context, answer)
})

/**
 * Three times in seconds: the longest and the shortest time between two requests, and the time if the authorization server names no time.
 */
const MAX_INTERVAL = 60
const MIN_INTERVAL = 1
const INTERVAL = 5

const read = Effect.fnUntraced(function*<R>(
  { loginTimeout = "15 minutes" }: Options<R>,
  { server: { issuer }, url }: GrantContext,
  answer: Answer
) {
  const { json = {}, status } = answer
  const who = `The device authorization endpoint of ${ServerText.shorten(issuer)}`
  if (status >= 500 || status === 429) return yield* refusal("Unreachable", who, answer)
  if (status < 200 || status >= 300 || json["error"] !== undefined) return yield* refusal("Denied", who, answer)
  const deviceCode = yield* shortText(json["device_code"], 4096, `${who} gave no device code`)
  // The user reads and types this code.
  const userCode = yield* shortText(json["user_code"], 64, `${who} gave no code that a user can enter`)
  const what = "the page for the code of the user"
  const page = yield* EffectInternals.fromEither(UrlPolicy.browsable(what, String(json["verification_uri"])))
  const complete = Either.filterOrLeft(
    UrlPolicy.browsable(what, String(json["verification_uri_complete"])),
    ({ origin }) => origin === page.origin,
    () => undefined
  )
  const life = seconds(json["expires_in"]) ?? Infinity
  const now = yield* Clock.currentTimeMillis
  const begun: Begun = {
    deviceCode,
    interval: 1000 * Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, seconds(json["interval"]) ?? INTERVAL)),
    prompt: {
      server: url,
      host: new URL(issuer).host,
      userCode,
      verificationUri: page.href,
      verificationUriComplete: Either.isRight(complete) ? complete.right.href : undefined,
      expiresAt: now + Math.min(Duration.toMillis(loginTimeout), life * 1000)
    }
  }
  return begun
})

/** Checks that a value is a text of printable ASCII with 1 to `max` characters. */
const shortText = (value: unknown, max: number, message: string): Effect.Effect<string, AuthorizationError> =>
  typeof value === "string" && value.length > 0 && value.length <= max && /^[\x20-\x7e]*$/.test(value)
    ? Effect.succeed(value)
    : failure("UntrustedResponse", message)

const seconds = (value: unknown): number | undefined => typeof value === "number" && value > 0 ? value : undefined

/** Polls the token endpoint until the user has logged in or refused, or the code has expired. */
const poll = Effect.fnUntraced(function*(
  { server: { issuer }, token }: GrantContext,
  client: Client,
  { deviceCode, interval, prompt: { expiresAt } }: Begun
) {
  const who = ServerText.shorten(issuer)
  const form = { grant_type: GRANT_TYPE, device_code: deviceCode }
  let wait = interval
  while (true) {
    const left = expiresAt - (yield* Clock.currentTimeMillis)
    yield* Effect.sleep(Math.min(wait, Math.max(left, 0)))
    if (left <= wait) return yield* late(who)
    const answer = yield* Effect.either(token(client, form))
    if (Either.isRight(answer)) return answer.right
    const { error, reason } = answer.left
    if (error === "slow_down") wait += 1000 * INTERVAL
    else if (error === "expired_token") return yield* late(who)
    else if (error === "access_denied") {
      return yield* failure("Denied", `The user has denied access at ${who}`, { error })
    } // RFC 8628 section 3.5: a server that does not answer is asked less often.
    else if (reason === "Unreachable") wait = Math.min(2 * wait, 1000 * MAX_INTERVAL)
    else if (error !== "authorization_pending") return yield* answer.left
  }
})

const late = (who: string) =>
  failure("Browser", `The user did not log in at ${who} before the code expired: call \`login\` for another code`, {
    error: "expired_token"
  })
