/**
 * Finds the metadata of a protected resource, for `Discovery`. The module first requests the address that the challenge names, and then the
 * two well-known addresses of the server. It accepts the metadata only if the metadata describes this server. If the path of the resource
 * is above the path of the server, the metadata must come from the well-known address of the resource. Otherwise one server of a host could
 * get tokens that are for all servers of the host. `DpopProofs` compares URLs in the form of `canonical`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728
 */
import * as Effect from "effect/Effect"
import * as Str from "effect/String"
import type { AuthorizationError } from "../AuthorizationError.js"
import * as Challenge from "./Challenge.js"
import * as Documents from "./Documents.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"

export interface ResourceMetadata {
  /** The identifier of the resource, as the server writes it. */
  readonly resource: string
  /** The issuers of the authorization servers, at least one. */
  readonly authorizationServers: readonly [string, ...Array<string>]
  /** The scopes that the resource supports; `undefined` when the metadata names no scopes. */
  readonly scopes: ReadonlyArray<string> | undefined
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/** Returns the well-known address with the path of the server, and then the well-known address without the path. */
export const wellKnown = ({ origin, pathname }: URL): ReadonlyArray<string> =>
  pathname === "/" ? [`${origin}${WELL_KNOWN}`] : [`${origin}${WELL_KNOWN}${pathname}`, `${origin}${WELL_KNOWN}`]

/**
 * Finds the metadata of the resource. Returns `undefined` when the challenge names no metadata and the well-known addresses have no
 * metadata. Servers of revision 2025-03-26 publish no metadata.
 */
export const find = Effect.fnUntraced(function*(documents: Documents.Documents, challenged: string | undefined) {
  const { server } = documents.policy
  // The address in the challenge may have no metadata, so the client also tries the well-known addresses.
  const addresses = new Set(challenged === undefined ? wellKnown(server) : [challenged, ...wellKnown(server)])
  for (const address of addresses) {
    const json = yield* Documents.find(documents, WHAT, address)
    if (json !== undefined) return yield* accept(server, address, json)
  }
  return challenged === undefined
    ? undefined
    : yield* invalid(
      `The server's challenge names ${WHAT}, but the metadata was not found at that address or at the well-known addresses of the server`
    )
})

const WHAT = "the metadata of the resource"

const accept = (
  server: URL,
  address: string,
  json: Readonly<Record<string, unknown>>
): Effect.Effect<ResourceMetadata, AuthorizationError> => {
  const { authorization_servers: servers, resource, scopes_supported: scopes } = json
  if (typeof resource !== "string" || !describes(resource, server, address)) {
    const whose = typeof resource === "string" ? `"${ServerText.shorten(resource)}"` : "no resource"
    return invalid(`${WHAT} is for ${whose}, and not for ${ServerText.location(server)}; it is not used`)
  }
  const issuers = Array.isArray(servers) ? servers.filter((one) => typeof one === "string") : []
  const [first, ...others] = issuers as Array<string>
  if (first === undefined) return invalid(`${WHAT} names no authorization server`)
  return Effect.succeed({
    resource,
    authorizationServers: [first, ...others],
    scopes: Array.isArray(scopes)
      ? Challenge.scopesOf(scopes.filter((scope) => typeof scope === "string").join(" "))
      : undefined
  })
}

/**
 * Whether the identifier of a resource names a server. The identifier must be the URL of the server, or a URL at the same origin whose path
 * is above the path of the server. In the second case, the document must come from the well-known address of the identifier.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-3.3
 */
const describes = (resource: string, server: URL, address: string): boolean => {
  if (!URL.canParse(resource)) return false
  const { hash, origin, password, pathname, search, username } = new URL(resource)
  if (origin !== server.origin || hash !== "" || username !== "" || password !== "") return false
  if (search !== "" && search !== server.search) return false
  const path = withoutSlash(pathname)
  if (path === withoutSlash(server.pathname)) return true
  const isAbove = `${server.pathname}/`.startsWith(`${path}/`)
  return isAbove && withoutSlash(new URL(address).href) === `${origin}${WELL_KNOWN}${path}`
}

const withoutSlash = (path: string): string => path.replace(/\/$/, "")

/**
 * Returns the identifier of a server that does not publish an identifier. It is the URL of the server without fragment, query and last
 * slash.
 */
export const canonical = ({ origin, pathname }: URL): string => `${origin}${pathname}`.replace(/\/$/, "")

const invalid = (message: string) => failure("InvalidMetadata", Str.capitalize(message))
