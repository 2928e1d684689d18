/**
 * Chooses the scopes of a token request: the scopes that the server's challenge names, or else all scopes that the resource supports, or
 * else none. Scopes that were requested before are added. `TokenRequests` chooses the scopes, `Login` compares scopes, and
 * `AuthorizationCode` adds `offline_access`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
 */
import type { AuthorizationServer } from "../AuthorizationServer.js"

export type Scopes = ReadonlyArray<string>

/** The scopes of the challenge if it names scopes, otherwise the scopes that the resource supports. The two are not compared. */
export const choose = (challenged: Scopes | undefined, supported: Scopes | undefined): Scopes | undefined =>
  [challenged, supported].find((scopes) => scopes !== undefined && scopes.length > 0)

/** The scopes `before` and the scopes `more`. When there are too many, the new scopes are kept, and the oldest scopes are dropped. */
export const union = (before: Scopes | undefined, more: Scopes | undefined): Scopes | undefined =>
  before === undefined ? more && capped(more) : more === undefined ? before : capped([...new Set([...before, ...more])])

/** How many scopes are requested, and how many characters they may have, because they are a part of a URL. */
const MAX_SCOPES = 100
const MAX_CHARACTERS = 4096

const capped = (scopes: Scopes): Scopes => {
  let characters = 0
  return scopes.slice(-MAX_SCOPES).reverse().filter((scope) => (characters += scope.length + 1) <= MAX_CHARACTERS)
    .reverse()
}

/**
 * The requested scopes without the scopes that the authorization server did not grant and that the MCP server still requires (`refused`).
 * Some authorization servers write commas between the granted scopes.
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
 * Adds `offline_access` when the authorization server has this scope. Does not add it when `scopes` is `undefined`, because it would then
 * be the only requested scope.
 */
export const withOfflineAccess = (
  scopes: Scopes | undefined,
  server: Pick<AuthorizationServer, "scopes">
): Scopes | undefined => scopes === undefined || !server.scopes.includes(OFFLINE) ? scopes : union(scopes, [OFFLINE])

/** The scope that requests a refresh token. */
export const OFFLINE = "offline_access"
