/**
 * Finds out, from a refusal, which resource a server is and which authorization server issues tokens for it. The steps are
 * those of the specification; each document has a module of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { Wanted } from "./Challenge.js"
import type { Documents } from "./Documents.js"
import * as ResourceMetadata from "./ResourceMetadata.js"
import * as ServerMetadata from "./ServerMetadata.js"

export interface Discovered {
  /** The identifier of the resource that tokens are requested for. */
  readonly resource: string
  /** The scopes that the resource supports; `undefined` when it does not say. */
  readonly scopes: ReadonlyArray<string> | undefined
  readonly server: AuthorizationServer
  /** Whether the server publishes its metadata; servers of 2025-03-26 do not. */
  readonly isPublished: boolean
}

/**
 * Where the resource names several authorization servers, takes the first of them that `isKnown` accepts: one that this
 * client has credentials for. Otherwise the first. `documentsOf` gives the rules for requests to that one.
 */
export const discover = Effect.fnUntraced(function*(
  documents: Documents,
  wanted: Pick<Wanted, "resourceMetadata">,
  isKnown: (issuer: string) => boolean,
  documentsOf: (documents: Documents, issuer: string) => Documents = (documents) => documents
): Effect.fn.Return<Discovered, AuthorizationError> {
  const { server } = documents.policy
  const metadata = yield* ResourceMetadata.find(documents, wanted.resourceMetadata)
  if (metadata === undefined) {
    return {
      resource: ResourceMetadata.canonical(server),
      scopes: undefined,
      server: yield* ServerMetadata.findAtOrigin(documents),
      isPublished: false
    }
  }
  const { authorizationServers, resource, scopes } = metadata
  const issuer = authorizationServers.find(isKnown) ?? authorizationServers[0]
  const found = yield* ServerMetadata.find(documentsOf(documents, issuer), issuer)
  return { resource, scopes, server: found, isPublished: true }
})
