/**
 * The authorization code grant, for programs that a person uses. The user logs in with the browser, and the authorization server sends a
 * code to the program. With PKCE, only the program that began the login can exchange the code for tokens. Pass the grant to
 * `Authorization.layer`. A `Browser` opens the login page, and `ClientIdentity` has the identity of the client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 * @since 0.1.0
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { AuthorizationServer } from "./AuthorizationServer.js"
import { Browser, type Login } from "./Browser.js"
import type { Client, ClientIdentity } from "./ClientIdentity.js"
import { CredentialStore, type Registration } from "./CredentialStore.js"
import * as Sha256 from "./digest/Sha256.js"
import * as Exceptions from "./discovery/Exceptions.js"
import { failure, withAdvice } from "./discovery/Failure.js"
import * as ServerText from "./discovery/ServerText.js"
import * as UrlPolicy from "./discovery/UrlPolicy.js"
import * as Scopes from "./flow/Scopes.js"
import type { Grant, GrantContext } from "./Grant.js"
import * as Identities from "./identity/Identities.js"
import * as Registered from "./identity/Registered.js"

/** @category models */
export interface Options extends ClientIdentity {
  /** How long the user may take to log in. Default: 10 minutes. */
  readonly loginTimeout?: Duration.DurationInput | undefined
  /**
   * Whether the client requests the scope `offline_access` when the authorization server has this scope. With this scope, the client gets a
   * refresh token, and the user has to consent at each login, as OpenID Connect requires. Default: true.
   */
  readonly offlineAccess?: boolean | undefined
  /**
   * Further parameters of the authorization request, such as `login_hint`. The parameter `prompt` replaces the `prompt=consent` of this
   * module. Default: none.
   */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes a grant that logs the user in. Only one login runs at a time. When a second MCP server needs a login, the second login waits.
 *
 * @example
 * ```ts
 * import * as Authorization from "@effect-mcp/auth/Authorization"
 * import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
 * import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
 * import { Layer } from "effect"
 *
 * export const Live = Authorization.layer(AuthorizationCode.make({ name: "My program" })).pipe(
 *   Layer.provide(CredentialStore.layerMemory)
 * )
 * ```
 * @category constructors
 */
export const make = (options: Options): Grant<Browser | CredentialStore> => {
  const self: Self = { options, logins: Semaphore.make() }
  return {
    isInteractive: true,
    isRegistered: (issuer) => options.preRegistered?.some((client) => client.issuer === issuer) === true,
    client: (context) => clientFor(self, context, undefined),
    obtain: (context) => self.logins.run(Effect.scoped(login(self, context)))
  }
}

/** The data that the functions of this module share. */
interface Self {
  readonly options: Options
  /** Lets one login run at a time. */
  readonly logins: Semaphore.Semaphore
}

/** One login of the user. */
interface Attempt {
  readonly context: GrantContext
  /** The authorization endpoint. */
  readonly endpoint: URL
  /** The registration that the store had for this authorization server when the login began. */
  readonly registered: Registration | undefined
  /** Opens the browser and receives the response. */
  readonly session: Login
  readonly state: Redacted.Redacted<string>
  readonly challenge: string
}

const login = Effect.fnUntraced(function*(self: Self, context: GrantContext) {
  const { server, token } = context
  const store = yield* CredentialStore
  const endpoint = yield* authorizationEndpoint(context)
  const registered = yield* store.registrations.get(server.issuer)
  const session = yield* Effect.flatMap(Browser, (browser) => browser.login(registered?.redirectUris ?? []))
  yield* EffectInternals.fromEither(UrlPolicy.browsable("the redirect URI of this program", session.redirectUri))
  const state = yield* random
  const verifier = yield* random
  const challenge = yield* Sha256.base64Url(Redacted.value(verifier))
  const attempt: Attempt = { context, endpoint, registered, session, state, challenge }
  const client = yield* clientOf(self, attempt)
  const code = yield* ask(self, attempt, client)
  return yield* token(client, {
    grant_type: "authorization_code",
    code: Redacted.value(code),
    redirect_uri: session.redirectUri,
    code_verifier: Redacted.value(verifier)
  })
})

/**
 * Returns the client that logs in. Registers the client again if the authorization server does not have the stored registration any more.
 */
const clientOf = Effect.fnUntraced(function*(self: Self, attempt: Attempt) {
  const { context, session: { redirectUri } } = attempt
  const known = yield* clientFor(self, context, redirectUri)
  const isForgotten = isStored(attempt, known) && (yield* isUnknown(context, urlFor(self, attempt, known)))
  return isForgotten ? yield* Effect.zipRight(retire(attempt), clientFor(self, context, redirectUri)) : known
})

const clientFor = ({ options }: Self, context: GrantContext, redirectUri: string | undefined) =>
  Effect.flatMap(CredentialStore, (store) => Identities.choose(options, context, store, redirectUri))

const isStored = ({ registered }: Attempt, { clientId }: Client): boolean => clientId === registered?.clientId

const retire = ({ context: { server }, registered }: Attempt) =>
  Effect.flatMap(CredentialStore, (store) => Registered.retire(store, server.issuer, registered?.clientId))

/** Opens the browser, and waits for the code. */
const ask = (self: Self, attempt: Attempt, client: Client) => {
  const { context: { server }, session, state } = attempt
  const { loginTimeout = "10 minutes" } = self.options
  const late = failure("Browser", "The user did not log in in time; the option `loginTimeout` sets the limit")
  return session.open(urlFor(self, attempt, client), Redacted.value(state)).pipe(
    TimeLimit.call(loginTimeout, () => Effect.fail(late)),
    Effect.flatMap((response) => codeOf(response, server, state)),
    // The server may not know the registration any more, and may say so only on a page that the user sees.
    Effect.onError((cause) => {
      const error = Option.getOrUndefined(Cause.failureOption(cause))
      const isDoubtful = error === undefined || error === late || isClientError(error.error)
      return isStored(attempt, client) && isDoubtful ? Effect.ignore(retire(attempt)) : Effect.void
    })
  )
}

/** Makes the URL that the browser opens. */
const urlFor = ({ options }: Self, attempt: Attempt, { clientId }: Client): URL => {
  const { challenge, context, endpoint, session, state } = attempt
  const { offlineAccess = true } = options
  const scopes = offlineAccess ? Scopes.withOfflineAccess(context.scopes, context.server) : context.scopes
  const url = new URL(endpoint)
  const parameters: Record<string, string> = {
    ...(scopes?.includes(Scopes.OFFLINE) === true ? CONSENT : undefined),
    ...context.server.exceptions?.parameters,
    ...options.parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: session.redirectUri,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: Redacted.value(state),
    ...Exceptions.parameters(context.server, context.resource),
    ...(scopes === undefined ? undefined : { scope: scopes.join(" ") })
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

/**
 * The parameter `prompt`. With the scope for refresh tokens, it MUST contain `consent`, or the server ignores the scope (OpenID Connect
 * Core 1.0, section 11).
 */
const CONSENT = { prompt: "consent" }

/** How long the program waits for the answer of the authorization endpoint before the browser opens the endpoint. */
const PROBE = "5 seconds"

const isClientError = (error: unknown): boolean => error === "invalid_client" || error === "unauthorized_client"

/**
 * Returns `true` when the authorization server no longer accepts the id of the client. Without this check, the authorization server would
 * show the error only in the browser, and this program would wait for a response that never comes.
 */
const isUnknown = ({ get }: GrantContext, url: URL): Effect.Effect<boolean> =>
  get("the authorization endpoint", url.href).pipe(
    Effect.map(({ headers: { location }, json, status }) => {
      const page = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined
      const error = json?.["error"] ?? page?.searchParams.get("error") ?? undefined
      return error === undefined ? status === 400 : isClientError(error)
    }),
    TimeLimit.call(PROBE, () => Effect.succeed(false)),
    Effect.orElseSucceed(() => false)
  )

/** Returns the authorization endpoint, if the authorization server supports what this grant requires. */
const authorizationEndpoint = (
  { isPublished, server }: GrantContext
): Effect.Effect<URL, AuthorizationError> => {
  const { authorizationEndpoint, codeChallengeMethods, exceptions, issuer } = server
  const unsupported = (what: string) =>
    failure("UnsupportedServer", `The authorization server ${ServerText.shorten(issuer)} ${what}`)
  if (authorizationEndpoint === undefined) return unsupported("has no authorization endpoint")
  // Revisions before 2025-11-25 did not require authorization servers to publish `code_challenge_methods_supported`.
  const isRequired = isPublished && exceptions?.unannouncedPkce !== true
  if (codeChallengeMethods === undefined ? isRequired : !codeChallengeMethods.includes("S256")) {
    return unsupported(
      `does not say that it supports PKCE with S256, so the client does not log in there${
        codeChallengeMethods === undefined
          ? Exceptions.cure("the provider documents that it supports S256", "unannouncedPkce")
          : ""
      }`
    )
  }
  return EffectInternals.fromEither(UrlPolicy.browsable("the authorization endpoint", authorizationEndpoint))
}

/** Makes a random text of 256 bits from a cryptographic source. */
const random: Effect.Effect<Redacted.Redacted<string>> = Effect.sync(() =>
  Redacted.make(Encoding.encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))))
)

/**
 * Reads the code from a response. The function first compares the `state`, which shows whether the response answers this request. Then the
 * function compares the `iss`, which must be the issuer of the validated metadata (RFC 9207). Only then does the function read the code or
 * the error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-response-validation
 */
const codeOf = (
  parameters: URLSearchParams,
  server: Pick<AuthorizationServer, "issuer" | "responseIssuer" | "sendsIssuer">,
  state: Redacted.Redacted<string>
): Effect.Effect<Redacted.Redacted<string>, AuthorizationError> => {
  // A parameter that occurs twice counts as a parameter without a value.
  const one = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name)
    return more.length === 0 ? value : undefined
  }
  // The function does not read any other part of a response to another login.
  if (one("state") !== Redacted.value(state)) return untrusted("it has another `state`")
  // If the response has `iss`, it is compared as text, even if the metadata does not announce `iss`.
  const issuer = one("iss")
  if (parameters.has("iss") ? issuer !== server.responseIssuer : server.sendsIssuer) {
    // The function does not read any other part of the response.
    return untrusted(
      parameters.has("iss")
        ? `its \`iss\` is ${issuer === undefined ? "there twice" : `"${ServerText.shorten(issuer)}"`}, and not "${
          ServerText.shorten(server.responseIssuer)
        }", which the login was begun with${
          Exceptions.cure("the provider documents that it answers with this text", "responseIssuer")
        }`
        : "it has no `iss`, which this authorization server always sends"
    )
  }
  if (parameters.has("error")) {
    const error = ServerText.errorCode(one("error"))
    const described = one("error_description")
    return failure(
      "Denied",
      withAdvice(
        `Access was denied by ${ServerText.shorten(server.issuer)}${error === undefined ? "" : ` with "${error}"`}${
          described === undefined || described === "" ? "" : `: ${ServerText.shorten(described)}`
        }`,
        Exceptions.adviceFor(error)
      ),
      { error }
    )
  }
  const code = one("code")
  return code === undefined || code === "" ? untrusted("it has no code") : Effect.succeed(Redacted.make(code))
}

const untrusted = (why: string) =>
  failure("UntrustedResponse", `The response to the authorization request was not used: ${why}`)
