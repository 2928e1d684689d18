/**
 * The grant for enterprises. The employee has logged in to the application at the identity provider of the enterprise. The identity
 * provider, not the employee, decides which MCP servers the application may use. The grant exchanges the identity token for an assertion
 * (ID-JAG), and the assertion for an access token. The grant opens no browser. Pass the grant to `Authorization.layer`.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { Client, PreRegistered } from "./ClientIdentity.js"
import { failure, refusal } from "./discovery/Failure.js"
import * as ServerText from "./discovery/ServerText.js"
import type { Grant, GrantContext } from "./Grant.js"
import * as FixedClient from "./identity/FixedClient.js"

/** @category models */
export interface Options<R = never> {
  /** The identity provider that the administrator has configured. */
  readonly provider: {
    readonly tokenEndpoint: string
    /** The client that is registered for this application at the identity provider. */
    readonly client: Client
    /** The token of the employee, which the grant exchanges. The effect runs for each exchange, so it can return a new token each time. */
    readonly subjectToken: Effect.Effect<Redacted.Redacted<string>, unknown, R>
    /** The type of the subject token. Default: an identity token of OpenID Connect. */
    readonly subjectTokenType?: "id_token" | "refresh_token" | "saml2" | undefined
  }
  /** The client that is registered for this application at the authorization server of the MCP server. */
  readonly client: PreRegistered
}

/** @category constructors */
export const make = <R = never>(options: Options<R>): Grant<R> =>
  FixedClient.make(options.client, (context) =>
    Effect.map(exchange(options, context), (assertion) => ({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion
    })))

const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"

/** Exchanges the subject token for an assertion at the identity provider (RFC 8693). */
const exchange = <R>(
  { provider }: Options<R>,
  { post, resource, scopes, server }: GrantContext
): Effect.Effect<string, AuthorizationError, R> =>
  Effect.gen(function*() {
    const answer = yield* post("the identity provider", provider.tokenEndpoint, {
      form: {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: ID_JAG,
        subject_token: yield* FixedClient.given(
          provider.subjectToken,
          "The application has no subject token for the identity provider"
        ),
        subject_token_type: `urn:ietf:params:oauth:token-type:${provider.subjectTokenType ?? "id_token"}`,
        audience: server.issuer,
        resource,
        ...(scopes === undefined ? undefined : { scope: scopes.join(" ") })
      }
    }, { client: provider.client, isConfigured: true })
    const { access_token: token, error, issued_token_type: type } = answer.json ?? {}
    if (
      answer.status >= 200 && answer.status < 300 && error === undefined && typeof token === "string" && token !== ""
    ) {
      return type === ID_JAG
        ? token
        : yield* failure("Denied", "The identity provider issued a token that is not an ID-JAG")
    }
    return yield* refusal(
      "Denied",
      `The identity provider gave no access to ${ServerText.shorten(resource)}: it`,
      answer
    )
  })
