/**
 * The grant of enterprises: the employee has logged in to the application at the identity provider of the enterprise, and the
 * provider, not the employee, decides which MCP servers the application may use. The identity token is exchanged for an
 * assertion (ID-JAG), and that for an access token; no browser is opened.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { AuthorizationError } from "./AuthorizationError.js"
import type { Client, PreRegistered } from "./ClientIdentity.js"
import * as Text from "./discovery/Text.js"
import type { Grant, GrantContext } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

export interface Options<R = never> {
  /** The identity provider, as the administrator configures it. */
  readonly provider: {
    readonly tokenEndpoint: string
    /** This application at the provider. */
    readonly client: Client
    /** The subject token; runs for each exchange, so that it can be a fresh one. */
    readonly subjectToken: Effect.Effect<Redacted.Redacted<string>, unknown, R>
    /** What the subject token is. Default: an identity token of OpenID Connect. */
    readonly subjectTokenType?: "id_token" | "refresh_token" | "saml2" | undefined
  }
  /** This application at the authorization server of the MCP server. */
  readonly client: PreRegistered
}

export const make = <R = never>(options: Options<R>): Grant<R> => ({
  ...FixedClient.make(options.client),
  obtain: (context) =>
    Effect.gen(function*() {
      yield* FixedClient.check(options.client, context)
      const assertion = yield* exchange(options, context)
      return yield* context.token(options.client, {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: Redacted.value(assertion),
        ...(context.scopes === undefined ? undefined : { scope: context.scopes.join(" ") })
      })
    })
})

const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"

/** RFC 8693. */
const exchange = <R>(
  { provider }: Options<R>,
  { post, resource, scopes, server }: GrantContext
): Effect.Effect<Redacted.Redacted<string>, AuthorizationError, R> =>
  Effect.gen(function*() {
    const subject = yield* Effect.mapError(
      provider.subjectToken,
      (cause) => refused("The application has no subject token for the identity provider", undefined, cause)
    )
    const { json = {}, status } = yield* post("the identity provider", provider.tokenEndpoint, {
      form: {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: ID_JAG,
        subject_token: Redacted.value(subject),
        subject_token_type: `urn:ietf:params:oauth:token-type:${provider.subjectTokenType ?? "id_token"}`,
        audience: server.issuer,
        resource,
        ...(scopes === undefined ? undefined : { scope: scopes.join(" ") })
      }
    }, { client: provider.client, isConfigured: true })
    const { access_token: token, error, issued_token_type: type } = json
    if (status >= 200 && status < 300 && error === undefined && typeof token === "string" && token !== "") {
      if (type === ID_JAG) return Redacted.make(token)
      return yield* Effect.fail(refused("The identity provider issued another type of token than an ID-JAG"))
    }
    const code = Text.errorCode(error)
    return yield* Effect.fail(
      refused(
        `The identity provider gave no access to ${Text.shorten(resource)}: it answered with ${status}${
          code === undefined ? "" : ` and "${code}"`
        }`,
        code
      )
    )
  })

const refused = (message: string, error?: string, cause?: unknown) =>
  new AuthorizationError({ reason: "Denied", message, error, cause })
