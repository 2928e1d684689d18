/**
 * Finds the metadata of a protected resource: at the address that the challenge names, else at the two well-known addresses
 * of the server. Accepts it only if it describes this server.
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
  /** The issuers of its authorization servers; at least one. */
  readonly authorizationServers: readonly [string, ...Array<string>]
  readonly scopes: ReadonlyArray<string> | undefined
}

/** How many authorization servers a resource may name. */
const MAX_SERVERS = 20

const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/** The address with the path of the server, then the one without. */
export const wellKnown = ({ origin, pathname }: URL): ReadonlyArray<string> =>
  pathname === "/" ? [`${origin}${WELL_KNOWN}`] : [`${origin}${WELL_KNOWN}${pathname}`, `${origin}${WELL_KNOWN}`]

/** Gives `undefined` when the server has no metadata at its well-known addresses, as servers of 2025-03-26. */
export const find = Effect.fnUntraced(function*(documents: Documents.Documents, challenged: string | undefined) {
  const { server } = documents.policy
  // An address that the challenge names is the only one.
  const addresses = challenged === undefined ? wellKnown(server) : [challenged]
  for (const address of addresses) {
    const json = yield* Documents.find(documents, WHAT, address)
    if (json !== undefined) return yield* accept(server, json)
  }
  return challenged === undefined
    ? undefined
    : yield* invalid(`The server's challenge names ${WHAT}, and there is none at that address`)
})

const WHAT = "the metadata of the resource"

const accept = (
  server: URL,
  json: Readonly<Record<string, unknown>>
): Effect.Effect<ResourceMetadata, AuthorizationError> => {
  const { authorization_servers: servers, resource, scopes_supported: scopes } = json
  if (typeof resource !== "string" || !describes(resource, server)) {
    const whose = typeof resource === "string" ? `"${ServerText.shorten(resource)}"` : "no resource"
    return invalid(`${WHAT} is for ${whose}, and not for ${ServerText.location(server)}; it is not used`)
  }
  const issuers = Array.isArray(servers) ? servers.filter((one) => typeof one === "string").slice(0, MAX_SERVERS) : []
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

/** Whether an identifier is that of a server: its URL, or a URL above it on the same origin. */
const describes = (resource: string, server: URL): boolean => {
  if (!URL.canParse(resource)) return false
  const { hash, origin, password, pathname, search, username } = new URL(resource)
  if (origin !== server.origin || hash !== "" || username !== "" || password !== "") return false
  if (search !== "" && search !== server.search) return false
  return `${server.pathname.replace(/\/$/, "")}/`.startsWith(pathname.endsWith("/") ? pathname : `${pathname}/`)
}

/** The identifier of a server that publishes none: its URL without fragment, query and last slash. */
export const canonical = ({ origin, pathname }: URL): string => `${origin}${pathname}`.replace(/\/$/, "")

const invalid = (message: string) => failure("InvalidMetadata", Str.capitalize(message))
