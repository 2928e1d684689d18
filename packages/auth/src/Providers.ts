/**
 * The exceptions for known providers, for the option `exceptions` of `Authorization.layer`. These exceptions follow the metadata that the
 * providers published in 2026. A provider that is not here needs no exception, or the application writes its own `ProviderExceptions`. Each
 * value says where the provider deviates from the rules; the comment of the value says which protection is lost.
 *
 * When a provider does not bind tokens to the resource, the value needs `servers`: the URLs of the MCP servers that may get such tokens.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface Servers {
  /** The URLs of the MCP servers that get the tokens of the provider. */
  readonly servers: ReadonlyArray<string>
}

/** @category models */
export interface Entra extends Servers {
  /** The id of the tenant as the metadata has it, for example `2f1c…`. The domain of the tenant is not its id. */
  readonly tenant: string
  /**
   * The text that the MCP servers name instead of the issuer of the tenant, for example
   * `https://login.microsoftonline.com/organizations/v2.0`. Default: the MCP servers name the issuer of the tenant.
   */
  readonly namedAs?: string | undefined
}

/**
 * Microsoft Entra ID, version 2. Entra supports PKCE, but its metadata does not say so. Entra refuses the parameter `resource`: the scopes,
 * which the MCP server names, say what a token is for. What is lost: a token is no longer valid for one server only. For this reason the
 * client sends tokens only to `servers`.
 *
 * @category values
 */
export const entra = ({ namedAs, servers, tenant }: Entra): ProviderExceptions => {
  const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`
  return {
    issuer,
    namedAs,
    // The metadata of `common` and `organizations` names no tenant.
    metadataUrl: `${issuer}/.well-known/openid-configuration`,
    servers,
    unannouncedPkce: true,
    withoutResource: true
  }
}

/**
 * Slack. Its metadata at `https://mcp.slack.com` names the issuer `https://slack.com`, and its answers have the token of a user in
 * `authed_user`. Slack does not bind tokens to a resource, so only `servers` get tokens, by default `https://mcp.slack.com/mcp`. Gives up:
 * that only `slack.com` can describe itself.
 *
 * @category values
 */
export const slack = ({ servers = ["https://mcp.slack.com/mcp"] }: Partial<Servers> = {}): ProviderExceptions => ({
  issuer: "https://slack.com",
  namedAs: "https://mcp.slack.com",
  servers,
  readTokens: slackTokens
})

/**
 * The token of the user if the answer has one, otherwise the token of the answer itself. The token of a bot keeps its type, so the client
 * refuses it.
 */
const slackTokens = (answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { authed_user: user } = answer
  const tokens = Predicate.isRecord(user) && typeof user["access_token"] === "string" ? user : answer
  const { token_type: type } = tokens
  return type === undefined || type === "user" ? { ...tokens, token_type: "Bearer" } : tokens
}

/**
 * GitHub, which ignores the parameter `resource`: a token allows everything that its scopes allow, so only `servers` get tokens. Gives up
 * nothing.
 *
 * @category values
 */
export const github = ({ servers }: Servers): ProviderExceptions => ({
  issuer: "https://github.com/login/oauth",
  servers
})

/**
 * GitHub Enterprise Server at a host. It publishes no metadata and ignores the parameter `resource`. Gives up: PKCE at versions that do not
 * support PKCE, because the client cannot know whether the server supports it.
 *
 * @category values
 */
export const githubEnterprise = ({ host, servers }: Servers & { readonly host: string }): ProviderExceptions => {
  const issuer = `https://${host}/login/oauth`
  return {
    issuer,
    endpoints: {
      authorization: `${issuer}/authorize`,
      token: `${issuer}/access_token`,
      authMethods: ["client_secret_post"]
    },
    servers,
    unannouncedPkce: true
  }
}

/**
 * Google. MCP servers name it with a slash at the end. Google issues a refresh token only when the client requests offline access, and
 * ignores the parameter `resource`, so only `servers` get tokens. Gives up nothing.
 *
 * @category values
 */
export const google = ({ servers }: Servers): ProviderExceptions => ({
  issuer: "https://accounts.google.com",
  namedAs: "https://accounts.google.com/",
  servers,
  // Google issues a refresh token only when the user consents.
  parameters: { access_type: "offline", prompt: "consent" }
})

/**
 * A user pool of Amazon Cognito, which supports PKCE although its metadata does not say so. Gives up nothing as long as Cognito supports
 * PKCE.
 *
 * @category values
 */
export const cognito = (
  { region, userPool }: { readonly region: string; readonly userPool: string }
): ProviderExceptions => ({
  issuer: `https://cognito-idp.${region}.amazonaws.com/${userPool}`,
  unannouncedPkce: true
})

/**
 * AWS Sign-In of a region, which supports PKCE although its metadata does not say so. Gives up nothing as long as AWS Sign-In supports
 * PKCE.
 *
 * @category values
 */
export const awsSignIn = ({ region }: { readonly region: string }): ProviderExceptions => ({
  issuer: `https://${region}.oauth.signin.aws`,
  unannouncedPkce: true
})

/**
 * The servers of Atlassian at `https://mcp.atlassian.com`, whose metadata names the issuer `https://cf.mcp.atlassian.com`. What is lost:
 * another host than this issuer can describe the issuer.
 *
 * @category values
 */
export const atlassian: ProviderExceptions = {
  issuer: "https://cf.mcp.atlassian.com",
  namedAs: "https://mcp.atlassian.com"
}

/**
 * A tenant of Atlassian, whose metadata names the issuer of all tenants. For a second tenant, make a second `Authorization` with its own
 * `CredentialStore`, because the issuer is the key of the credentials. What is lost: the issuer no longer tells one tenant from another.
 *
 * @category values
 */
export const atlassianTenant = (tenant: string): ProviderExceptions => ({
  issuer: "https://auth.atlassian.com",
  namedAs: `https://auth.atlassian.com/${tenant}`
})

/**
 * The server of Meta for ads, whose metadata names the issuer `https://www.facebook.com`. What is lost: another host than this issuer can
 * describe the issuer. So only that server gets tokens.
 *
 * @category values
 */
export const meta: ProviderExceptions = {
  issuer: "https://www.facebook.com",
  namedAs: "https://mcp.facebook.com/ads",
  servers: ["https://mcp.facebook.com/ads"]
}

/**
 * An authorization server of Okta that publishes its metadata only below its issuer, at `ISSUER/.well-known/oauth-authorization-server`.
 * Gives up nothing.
 *
 * @category values
 */
export const okta = ({ issuer }: { readonly issuer: string }): ProviderExceptions => ({
  issuer,
  metadataUrl: `${issuer}/.well-known/oauth-authorization-server`
})
