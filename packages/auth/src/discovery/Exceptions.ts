/**
 * Finds the exceptions that an application has for an authorization server, by the exact text that names it, and checks them once, for
 * `Authorization`. `ServerMetadata` asks `whyNot` before it requests anything; errors name the exception that would help by `cure`.
 */
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { ProviderExceptions } from "../ProviderExceptions.js"
import * as ResourceMetadata from "./ResourceMetadata.js"
import * as ServerText from "./ServerText.js"

export type Exceptions = ReadonlyArray<ProviderExceptions>

/** The exceptions for an authorization server, by its issuer or by what servers name in its place: the same string, not the same URL. */
export const find = (exceptions: Exceptions, named: string): ProviderExceptions | undefined =>
  exceptions.find(({ issuer, namedAs }) => named === issuer || named === namedAs)

/** The key of the credentials for an authorization server that a server names. */
export const issuerOf = (exceptions: Exceptions, named: string): string => find(exceptions, named)?.issuer ?? named

/** What the application has named by an exception, and so chosen. */
export const chosen = ({ endpoints, issuer, metadataUrl, namedAs }: ProviderExceptions): ReadonlyArray<string> =>
  [issuer, namedAs, metadataUrl, endpoints?.token, endpoints?.registration, endpoints?.revocation]
    .filter((one) => one !== undefined)

/** Why an authorization server is not used for the MCP server at a URL. */
export const whyNot = ({ issuer, servers }: ProviderExceptions, server: URL): string | undefined =>
  servers === undefined || servers.some((one) => isSame(new URL(one), server))
    ? undefined
    : `The client does not use the authorization server ${ServerText.shorten(issuer)} for ${
      ServerText.location(server)
    }: its tokens could be used elsewhere. If this MCP server may have them, add its URL to \`servers\` of that issuer in the option \`exceptions\``

const isSame = (one: URL, server: URL): boolean =>
  ResourceMetadata.canonical(one) === ResourceMetadata.canonical(server)

/** The parameter that says what a token is for. */
export const parameters = (
  { exceptions }: Pick<AuthorizationServer, "exceptions">,
  resource: string
): Readonly<Record<string, string>> => exceptions?.withoutResource === true ? {} : { resource }

/** For the end of an error. */
export const cure = (condition: string, exception: keyof ProviderExceptions): string =>
  `. If ${condition}, say so by \`${exception}\` in the option \`exceptions\` of \`Authorization.layer\`, or use a value of \`Providers\``

/** For the end of an error with a code of OAuth: RFC 8707 has one for a resource that is not accepted. */
export const adviceFor = (error: string | undefined): string =>
  error === "invalid_target"
    ? cure("the provider documents that it does not take the parameter `resource`", "withoutResource")
    : ""

/** What is wrong with the exceptions of an application. */
export const mistake = (exceptions: Exceptions, isRegistered: (issuer: string) => boolean): string | undefined => {
  for (const one of exceptions) {
    const others = exceptions.filter((other) => other !== one)
    const why = whyNoIssuer(one) ?? whyMixedUp(one, others, isRegistered) ?? whyNoTarget(one)
    if (why !== undefined) return `The \`exceptions\` for "${one.issuer}" cannot be used: ${why}`
  }
  return undefined
}

/** What many tenants of Entra share is no issuer: each tenant signs with its own. */
const whyNoIssuer = ({ issuer }: ProviderExceptions): string | undefined =>
  /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\/v2\.0$/.test(issuer)
    ? "it is for the users of many tenants, and no issuer. Give the id of your tenant as `tenant`, and what the MCP servers name as `namedAs`"
    : undefined

const whyMixedUp = (
  { issuer, namedAs = issuer, responseIssuer = issuer }: ProviderExceptions,
  others: Exceptions,
  isRegistered: (issuer: string) => boolean
): string | undefined => {
  const isOther = (text: string) => find(others, text) !== undefined
  // If one text led to two servers, one server would get the credentials of the other server.
  if (isOther(issuer) || isOther(namedAs)) return "another entry has the same `issuer` or `namedAs`"
  if (namedAs !== issuer && isRegistered(namedAs)) {
    return `a client is registered at "${namedAs}"; give "${issuer}" as its \`issuer\``
  }
  // A response of that server would pass as a response of this server.
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
