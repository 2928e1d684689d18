/**
 * Chooses the scopes of a token request. If the challenge of the MCP server names scopes, the request has these scopes. Otherwise the
 * request has all scopes that the metadata of the resource lists, or no scopes if the metadata lists none. In both cases, the scopes of
 * earlier requests are added. `TokenRequests` chooses the scopes, `Login` compares scopes, and `AuthorizationCode` adds `offline_access`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
 */
import type { AuthorizationServer } from "../AuthorizationServer.js"

export type Scopes = ReadonlyArray<string>

/**
 * Returns the scopes of the challenge if the challenge names scopes, otherwise the scopes that the resource supports. Does not check
 * whether the resource supports the scopes of the challenge.
 */
export const choose = (challenged: Scopes | undefined, supported: Scopes | undefined): Scopes | undefined =>
  [challenged, supported].find((scopes) => scopes !== undefined && scopes.length > 0)

/** Returns the scopes `before` and the scopes `more`. When there are too many scopes, drops the oldest scopes. */
export const union = (before: Scopes | undefined, more: Scopes | undefined): Scopes | undefined =>
  before === undefined ? more && capped(more) : more === undefined ? before : capped([...new Set([...before, ...more])])

/**
 * How many scopes a request may have, and how many characters they may have together. The limits are needed because the scopes are a part
 * of a URL.
 */
const MAX_SCOPES = 100
const MAX_CHARACTERS = 4096

const capped = (scopes: Scopes): Scopes => {
  let characters = 0
  return scopes.slice(-MAX_SCOPES).reverse().filter((scope) => (characters += scope.length + 1) <= MAX_CHARACTERS)
    .reverse()
}

/**
 * Returns the requested scopes without the scopes that the authorization server did not grant. `refused` are the scopes that the MCP server
 * still requires. Some authorization servers write commas between the granted scopes.
 */
export const withoutRefused = (
  requested: Scopes | undefined,
  refused: Scopes,
  granted: Scopes | undefined
): Scopes | undefined => {
  if (granted === undefined) return requested
  const isGranted = new Set(granted.flatMap((scope) => [scope, ...scope.split(",")]))
  return requested?.filter((scope) => isGranted.has(scope) || !refused.includes(scope))
}

export const covers = (have: Scopes | undefined, wanted: Scopes): boolean =>
  wanted.every((scope) => have?.includes(scope) === true)

/**
 * Adds `offline_access` when the authorization server has this scope. Does not add the scope when `scopes` is `undefined`, because
 * `offline_access` would then be the only requested scope.
 */
export const withOfflineAccess = (
  scopes: Scopes | undefined,
  server: Pick<AuthorizationServer, "scopes">
): Scopes | undefined => scopes === undefined || !server.scopes.includes(OFFLINE) ? scopes : union(scopes, [OFFLINE])

/** The scope that requests a refresh token. */
export const OFFLINE = "offline_access"
