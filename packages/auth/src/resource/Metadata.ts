/**
 * The metadata document of a protected resource, and the addresses that clients look for it at. The HTTP endpoint of the
 * server serves it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"

const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/** The paths of the document: the one with the path of the resource, which challenges name, and the one without. */
export const paths = ({ pathname }: URL): readonly [string, ...Array<string>] => [
  pathname === "/" ? WELL_KNOWN : `${WELL_KNOWN}${pathname}`,
  `${WELL_KNOWN}${pathname.replace(/\/$/, "")}`,
  WELL_KNOWN
]

/** Without `offline_access`: refresh tokens are between the client and the authorization server. */
export const listed = (scopes: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(scopes)].filter((scope) => scope !== "offline_access")

export const document = (options: {
  readonly resource: string
  readonly authorizationServers: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string>
  readonly dpop: { readonly algorithms: ReadonlyArray<string>; readonly required: boolean } | undefined
  readonly members: JsonObject | undefined
}): JsonObject => ({
  ...options.members,
  resource: options.resource,
  authorization_servers: [...options.authorizationServers],
  ...(options.scopes.length === 0 ? undefined : { scopes_supported: [...options.scopes] }),
  bearer_methods_supported: ["header"],
  ...(options.dpop === undefined ? undefined : {
    dpop_signing_alg_values_supported: [...options.dpop.algorithms],
    dpop_bound_access_tokens_required: options.dpop.required
  })
})
