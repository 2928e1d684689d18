/**
 * Contains exceptions from the rules of OAuth for known authorization servers (providers). Pass an exception to the option `exceptions` of
 * `Authorization.layer`. The comment of each exception says how the provider deviates from the rules, and which protection the client loses
 * with the exception. The exceptions fit the metadata that the providers published in 2026.
 *
 * Many providers need no exception. If a provider that is missing here needs an exception, make a `ProviderExceptions` in your application.
 *
 * Some providers do not bind a token to one MCP server. For these providers you must give `servers`: the URLs of the MCP servers to which
 * the client may send the tokens.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface Servers {
  /** The URLs of the MCP servers to which the client may send the tokens of the provider. */
  readonly servers: ReadonlyArray<string>
}

/** @category models */
export interface Entra extends Servers {
  /** The id of the tenant in the metadata, for example `2f1c…`. The domain of the tenant is not the id. */
  readonly tenant: string
  /**
   * The issuer that the metadata of the MCP servers names, if it is not the issuer of the tenant. For example
   * `https://login.microsoftonline.com/organizations/v2.0`. Default: the MCP servers name the issuer of the tenant.
   */
  readonly namedAs?: string | undefined
}

/**
 * Makes the exceptions for Microsoft Entra ID, version 2. Entra supports PKCE, but its metadata does not say so. Entra refuses the
 * parameter `resource`, so only the scopes decide what a token allows, and the MCP server names the scopes. Lost protection: a token may be
 * valid for several servers. For this reason the client sends tokens only to `servers`.
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
 * Makes the exceptions for Slack. The metadata at `https://mcp.slack.com` names the issuer `https://slack.com`. In the answers of Slack,
 * the token of a user is in `authed_user`. Slack does not bind tokens to a resource, so the client sends tokens only to `servers`, by
 * default to `https://mcp.slack.com/mcp`. Lost protection: another host than `slack.com` can publish the metadata of this issuer.
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
 * Returns the token of the user if the answer has such a token, otherwise the token at the top level of the answer. The token of a bot
 * keeps its type, so the client refuses the token of a bot.
 */
const slackTokens = (answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { authed_user: user } = answer
  const tokens = Predicate.isRecord(user) && typeof user["access_token"] === "string" ? user : answer
  const { token_type: type } = tokens
  return type === undefined || type === "user" ? { ...tokens, token_type: "Bearer" } : tokens
}

/**
 * Makes the exceptions for GitHub. GitHub ignores the parameter `resource`, so a token allows everything that its scopes allow. Therefore
 * the client sends tokens only to `servers`. No other protection is lost.
 *
 * @category values
 */
export const github = ({ servers }: Servers): ProviderExceptions => ({
  issuer: "https://github.com/login/oauth",
  servers
})

/**
 * Makes the exceptions for GitHub Enterprise Server at a host. This server publishes no metadata and ignores the parameter `resource`. Lost
 * protection: a version that does not support PKCE ignores PKCE, and the client cannot notice this.
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
 * Makes the exceptions for Google. MCP servers write the issuer of Google with a slash at the end. Google issues a refresh token only when
 * the client requests offline access. Google ignores the parameter `resource`, so the client sends tokens only to `servers`. No other
 * protection is lost.
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
 * Makes the exceptions for a user pool of Amazon Cognito. Cognito supports PKCE, but its metadata does not say so. No protection is lost if
 * Cognito supports PKCE.
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
 * Makes the exceptions for AWS Sign-In of a region. AWS Sign-In supports PKCE, but its metadata does not say so. No protection is lost if
 * AWS Sign-In supports PKCE.
 *
 * @category values
 */
export const awsSignIn = ({ region }: { readonly region: string }): ProviderExceptions => ({
  issuer: `https://${region}.oauth.signin.aws`,
  unannouncedPkce: true
})

/**
 * The exceptions for the servers of Atlassian at `https://mcp.atlassian.com`. Their metadata names the issuer
 * `https://cf.mcp.atlassian.com`. Lost protection: another host than the host of this issuer can publish the metadata of the issuer.
 *
 * @category values
 */
export const atlassian: ProviderExceptions = {
  issuer: "https://cf.mcp.atlassian.com",
  namedAs: "https://mcp.atlassian.com"
}

/**
 * Makes the exceptions for a tenant of Atlassian. The metadata of each tenant names the issuer of all tenants. For a second tenant, make a
 * second `Authorization` with its own `CredentialStore`, because the issuer is the key of the credentials. Lost protection: the client
 * cannot distinguish two tenants by their issuer.
 *
 * @category values
 */
export const atlassianTenant = (tenant: string): ProviderExceptions => ({
  issuer: "https://auth.atlassian.com",
  namedAs: `https://auth.atlassian.com/${tenant}`
})

/**
 * The exceptions for the ads server of Meta. Its metadata names the issuer `https://www.facebook.com`. Lost protection: another host than
 * the host of this issuer can publish the metadata of the issuer. Therefore the client sends tokens only to the ads server.
 *
 * @category values
 */
export const meta: ProviderExceptions = {
  issuer: "https://www.facebook.com",
  namedAs: "https://mcp.facebook.com/ads",
  servers: ["https://mcp.facebook.com/ads"]
}

/**
 * Makes the exceptions for an authorization server of Okta that publishes its metadata only below its issuer, at
 * `ISSUER/.well-known/oauth-authorization-server`. No protection is lost.
 *
 * @category values
 */
export const okta = ({ issuer }: { readonly issuer: string }): ProviderExceptions => ({
  issuer,
  metadataUrl: `${issuer}/.well-known/oauth-authorization-server`
})
