/**
 * Which scopes to request: what the server's challenge names, else all that its resource supports, else none by name; and together with
 * what was requested before. `TokenRequests` chooses the scopes, `Login` compares scopes, and `AuthorizationCode` adds `offline_access`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
 */
import type { AuthorizationServer } from "../AuthorizationServer.js"

export type Scopes = ReadonlyArray<string>

/** The challenge is not compared with what the resource supports. */
export const choose = (challenged: Scopes | undefined, supported: Scopes | undefined): Scopes | undefined =>
  [challenged, supported].find((scopes) => scopes !== undefined && scopes.length > 0)

/** What was requested before stays requested, as far as there is space beside the new scopes. */
export const union = (before: Scopes | undefined, more: Scopes | undefined): Scopes | undefined =>
  before === undefined ? more && capped(more) : more === undefined ? before : capped([...new Set([...before, ...more])])

/** How many scopes are requested, and how many characters they have: they stand in a URL. */
const MAX_SCOPES = 100
const MAX_CHARACTERS = 4096

const capped = (scopes: Scopes): Scopes => {
  let characters = 0
  return scopes.slice(-MAX_SCOPES).reverse().filter((scope) => (characters += scope.length + 1) <= MAX_CHARACTERS)
    .reverse()
}

/**
 * The requested scopes, without each scope that the authorization server did not grant and that the MCP server has refused again. Some
 * authorization servers write commas between scopes.
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
 * Asks for a refresh token where the server has a scope for it. Where no scope is requested by name, this scope would be the only scope.
 */
export const withOfflineAccess = (
  scopes: Scopes | undefined,
  server: Pick<AuthorizationServer, "scopes">
): Scopes | undefined => scopes === undefined || !server.scopes.includes(OFFLINE) ? scopes : union(scopes, [OFFLINE])

/** The scope for a refresh token. */
export const OFFLINE = "offline_access"
