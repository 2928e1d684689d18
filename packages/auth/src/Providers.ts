/**
 * The exceptions of known providers, for the option `exceptions` of `Authorization.layer`, as they published their metadata in 2026. A
 * provider that is not here needs none, or the application writes a `ProviderExceptions` of its own. Each value says where the provider
 * deviates; its comment says what the value gives up.
 *
 * Where a provider does not bind tokens to the resource, the value needs `servers`: the URLs of the MCP servers that may have such tokens.
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
  /** The id of the tenant, as the metadata has it: `2f1c…`, not its domain. */
  readonly tenant: string
  /**
   * What the MCP servers name, where it is not the tenant: `https://login.microsoftonline.com/organizations/v2.0`. Default: they name the
   * tenant.
   */
  readonly namedAs?: string | undefined
}

/**
 * Microsoft Entra ID, version 2. It supports PKCE without saying so, and refuses `resource`: the scopes say what a token is for, and an
 * MCP server names the scopes. Gives up that a token is for one server, so only `servers` get tokens.
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
 * Slack, whose metadata at `https://mcp.slack.com` names the issuer `https://slack.com`, and whose answers have the token of a user in
 * `authed_user`. It does not bind tokens to a resource: only `servers` get them, by default `https://mcp.slack.com/mcp`. Gives up that only
 * `slack.com` can describe itself.
 *
 * @category values
 */
export const slack = ({ servers = ["https://mcp.slack.com/mcp"] }: Partial<Servers> = {}): ProviderExceptions => ({
  issuer: "https://slack.com",
  namedAs: "https://mcp.slack.com",
  servers,
  readTokens: slackTokens
})

/** The token of the user, or else of the answer; the token of a bot stays refused. */
const slackTokens = (answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { authed_user: user } = answer
  const tokens = Predicate.isRecord(user) && typeof user["access_token"] === "string" ? user : answer
  const { token_type: type } = tokens
  return type === undefined || type === "user" ? { ...tokens, token_type: "Bearer" } : tokens
}

/**
 * GitHub, which ignores `resource`: a token is good for all that its scopes allow, so only `servers` get tokens. Gives up nothing.
 *
 * @category values
 */
export const github = ({ servers }: Servers): ProviderExceptions => ({
  issuer: "https://github.com/login/oauth",
  servers
})

/**
 * GitHub Enterprise Server at a host, which publishes no metadata and ignores `resource`. Gives up that the server says whether it supports
 * PKCE: versions without PKCE ignore it.
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
 * Google, which servers name with a slash at the end, and which issues a refresh token when it is asked for offline access. It ignores
 * `resource`, so only `servers` get tokens. Gives up nothing.
 *
 * @category values
 */
export const google = ({ servers }: Servers): ProviderExceptions => ({
  issuer: "https://accounts.google.com",
  namedAs: "https://accounts.google.com/",
  servers,
  // Google gives a refresh token with a consent only.
  parameters: { access_type: "offline", prompt: "consent" }
})

/**
 * A user pool of Amazon Cognito, which supports PKCE without saying so. Gives up nothing where that is so.
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
 * AWS Sign-In of a region, which supports PKCE without saying so. Gives up nothing where that is so.
 *
 * @category values
 */
export const awsSignIn = ({ region }: { readonly region: string }): ProviderExceptions => ({
  issuer: `https://${region}.oauth.signin.aws`,
  unannouncedPkce: true
})

/**
 * Atlassian's servers at `https://mcp.atlassian.com`, whose metadata name the issuer `https://cf.mcp.atlassian.com`. Gives up that only
 * this issuer can describe itself.
 *
 * @category values
 */
export const atlassian: ProviderExceptions = {
  issuer: "https://cf.mcp.atlassian.com",
  namedAs: "https://mcp.atlassian.com"
}

/**
 * A tenant of Atlassian, whose metadata name the issuer of all tenants. A second tenant needs an `Authorization` with a store of its own:
 * credentials have the issuer as their key. Gives up that one tenant is told from another by its issuer.
 *
 * @category values
 */
export const atlassianTenant = (tenant: string): ProviderExceptions => ({
  issuer: "https://auth.atlassian.com",
  namedAs: `https://auth.atlassian.com/${tenant}`
})

/**
 * Meta's server for ads, whose metadata name the issuer `https://www.facebook.com`. Gives up that this issuer speaks for itself, so only
 * that server gets tokens.
 *
 * @category values
 */
export const meta: ProviderExceptions = {
  issuer: "https://www.facebook.com",
  namedAs: "https://mcp.facebook.com/ads",
  servers: ["https://mcp.facebook.com/ads"]
}

/**
 * A server of Okta that publishes its metadata below the issuer only, at `ISSUER/.well-known/oauth-authorization-server`. Gives up nothing.
 *
 * @category values
 */
export const okta = ({ issuer }: { readonly issuer: string }): ProviderExceptions => ({
  issuer,
  metadataUrl: `${issuer}/.well-known/oauth-authorization-server`
})
