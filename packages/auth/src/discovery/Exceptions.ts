/**
 * Finds the exceptions that an application has for an authorization server, by the exact text that names the server. `Authorization` checks
 * the exceptions one time with `mistake`. `ServerMetadata` calls `whyNot` before its first request. Error messages use `cure` to name the
 * exception that would help.
 */
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { ProviderExceptions } from "../ProviderExceptions.js"
import * as ResourceMetadata from "./ResourceMetadata.js"
import * as ServerText from "./ServerText.js"

export type Exceptions = ReadonlyArray<ProviderExceptions>

/**
 * Finds the exceptions for an authorization server, by its `issuer` or its `namedAs`. The texts must be equal. Two different texts for the
 * same URL do not match.
 */
export const find = (exceptions: Exceptions, named: string): ProviderExceptions | undefined =>
  exceptions.find(({ issuer, namedAs }) => named === issuer || named === namedAs)

/** Returns the issuer under which the client stores the credentials of an authorization server that an MCP server has named. */
export const issuerOf = (exceptions: Exceptions, named: string): string => find(exceptions, named)?.issuer ?? named

/**
 * Returns the URLs that an exception names. The client may send requests to their hosts, because the application has chosen these hosts.
 */
export const chosen = ({ endpoints, issuer, metadataUrl, namedAs }: ProviderExceptions): ReadonlyArray<string> =>
  [issuer, namedAs, metadataUrl, endpoints?.token, endpoints?.registration, endpoints?.revocation]
    .filter((one) => one !== undefined)

/**
 * Returns the reason why the client does not use an authorization server for the MCP server at a URL; `undefined` when the client may use
 * the authorization server.
 */
export const whyNot = ({ issuer, servers }: ProviderExceptions, server: URL): string | undefined =>
  servers === undefined || servers.some((one) => isSame(new URL(one), server))
    ? undefined
    : `The client does not use the authorization server ${ServerText.shorten(issuer)} for ${
      ServerText.location(server)
    }: its tokens are also valid at other servers. If this MCP server may get the tokens, add its URL to \`servers\` of that issuer in the option \`exceptions\``

const isSame = (one: URL, server: URL): boolean =>
  ResourceMetadata.canonical(one) === ResourceMetadata.canonical(server)

/**
 * Returns the parameter `resource`, which names the MCP server for which the token is. Returns no parameter when the exceptions have
 * `withoutResource`.
 */
export const parameters = (
  { exceptions }: Pick<AuthorizationServer, "exceptions">,
  resource: string
): Readonly<Record<string, string>> => exceptions?.withoutResource === true ? {} : { resource }

/** Returns the end of an error message, which says which exception would help, and under which condition. */
export const cure = (condition: string, exception: keyof ProviderExceptions): string =>
  `. If ${condition}, set \`${exception}\` in the option \`exceptions\` of \`Authorization.layer\`, or use a value of \`Providers\``

/**
 * Returns the end of an error message for an error code of OAuth. RFC 8707 defines the code `invalid_target` for a resource that the server
 * does not accept.
 */
export const adviceFor = (error: string | undefined): string =>
  error === "invalid_target"
    ? cure("the provider documents that it does not take the parameter `resource`", "withoutResource")
    : ""

/** Returns the first mistake in the exceptions of an application; `undefined` when there is no mistake. */
export const mistake = (exceptions: Exceptions, isRegistered: (issuer: string) => boolean): string | undefined => {
  for (const one of exceptions) {
    const others = exceptions.filter((other) => other !== one)
    const why = whyNoIssuer(one) ?? whyMixedUp(one, others, isRegistered) ?? whyNoTarget(one)
    if (why !== undefined) return `The \`exceptions\` for "${one.issuer}" cannot be used: ${why}`
  }
  return undefined
}

/** Refuses the URLs that all tenants of Entra share. These URLs are not issuers, because each tenant has its own issuer. */
const whyNoIssuer = ({ issuer }: ProviderExceptions): string | undefined =>
  /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\/v2\.0$/.test(issuer)
    ? "it is the URL for the users of many tenants, and not an issuer. Give the id of your tenant as `tenant`, and the text that the MCP servers name as `namedAs`"
    : undefined

const whyMixedUp = (
  { issuer, namedAs = issuer, responseIssuer = issuer }: ProviderExceptions,
  others: Exceptions,
  isRegistered: (issuer: string) => boolean
): string | undefined => {
  const isOther = (text: string) => find(others, text) !== undefined
  // If the same text named two authorization servers, one server would get the credentials of the other server.
  if (isOther(issuer) || isOther(namedAs)) return "another entry has the same `issuer` or `namedAs`"
  if (namedAs !== issuer && isRegistered(namedAs)) {
    return `a client is registered at "${namedAs}"; give "${issuer}" as its \`issuer\``
  }
  // Otherwise the client would accept a response of the other server as a response of this server.
  const isOwn = responseIssuer === issuer || responseIssuer === namedAs
  return !isOwn && (isOther(responseIssuer) || isRegistered(responseIssuer))
    ? `its \`responseIssuer\`, "${responseIssuer}", is an authorization server that this client uses, too`
    : undefined
}

const whyNoTarget = ({ isTokenFor, servers, withoutResource }: ProviderExceptions): string | undefined => {
  if (withoutResource === true && servers === undefined && isTokenFor === undefined) {
    return "`withoutResource` needs `servers` or `isTokenFor`, or any server that names this issuer would get its tokens"
  }
  const notUrl = servers?.find((server) => !URL.canParse(server))
  return notUrl === undefined ? undefined : `"${notUrl}" in \`servers\` is not a URL`
}
