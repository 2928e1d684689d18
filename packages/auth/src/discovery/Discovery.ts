/**
 * Finds, after a refusal, the identifier of the resource and the authorization server that issues tokens for this resource. `TokenRequests`
 * calls this module first, and `TokenState` stores the result. The specification defines the steps. `ResourceMetadata` and `ServerMetadata`
 * read the two metadata documents with `Documents`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { Wanted } from "./Challenge.js"
import type { Documents } from "./Documents.js"
import * as Exceptions from "./Exceptions.js"
import { failure } from "./Failure.js"
import * as ResourceMetadata from "./ResourceMetadata.js"
import * as ServerMetadata from "./ServerMetadata.js"
import * as ServerText from "./ServerText.js"

export interface Discovered {
  /** The identifier of the resource for which the client requests tokens. */
  readonly resource: string
  /** The scopes that the resource supports; `undefined` when its metadata names no scopes. */
  readonly scopes: ReadonlyArray<string> | undefined
  readonly server: AuthorizationServer
  /** Whether the MCP server publishes metadata of its resource. Servers of revision 2025-03-26 do not publish this metadata. */
  readonly isPublished: boolean
}

/** The options of the application for the choice of the authorization server. */
export interface Choice {
  readonly exceptions: Exceptions.Exceptions
  /**
   * Chooses and orders the named authorization servers. Default: first a server for which `isKnown` returns `true`, then the other servers
   * in the order of the MCP server.
   */
  readonly order: ((named: ReadonlyArray<string>, server: URL) => ReadonlyArray<string>) | undefined
  /** Whether this client has credentials for an issuer. */
  readonly isKnown: (issuer: string) => boolean
  /** The settings for requests to the authorization server with this name. */
  readonly documentsOf: (documents: Documents, named: string) => Documents
}

export const discover = Effect.fnUntraced(function*(
  documents: Documents,
  wanted: Pick<Wanted, "resourceMetadata">,
  choice: Choice
): Effect.fn.Return<Discovered, AuthorizationError> {
  const { server } = documents.policy
  const metadata = yield* ResourceMetadata.find(documents, wanted.resourceMetadata)
  if (metadata === undefined) {
    return {
      resource: ResourceMetadata.canonical(server),
      scopes: undefined,
      server: yield* atOrigin(documents, choice),
      isPublished: false
    }
  }
  const { authorizationServers, resource, scopes } = metadata
  const [first, ...others] = candidates(authorizationServers, server, choice)
  if (first === undefined) {
    return yield* failure(
      "UnsafeUrl",
      `The client uses none of the authorization servers that ${
        ServerText.location(server)
      } names: the option \`authorizationServers\` returned none of these servers`
    )
  }
  return { resource, scopes, server: yield* firstUsable(documents, choice, first, others), isPublished: true }
})

/**
 * Finds the authorization server of an MCP server that publishes no metadata of its resource. The name of the authorization server is the
 * origin of the MCP server.
 */
const atOrigin = (documents: Documents, { documentsOf, exceptions }: Choice) => {
  const { origin } = documents.policy.server
  const named = [origin, `${origin}/`].find((one) => Exceptions.find(exceptions, one) !== undefined)
  return named === undefined
    ? ServerMetadata.findAtOrigin(documents)
    : ServerMetadata.find(documentsOf(documents, named), exceptions, named)
}

/** How many authorization servers of one resource are tried. */
const MAX_SERVERS = 4

const candidates = (named: ReadonlyArray<string>, server: URL, choice: Choice): ReadonlyArray<string> => {
  const { order = () => byDefault(named, choice) } = choice
  // The application can only choose among the authorization servers that the resource names.
  return [...new Set(order(named, server))].filter((one) => named.includes(one)).slice(0, MAX_SERVERS)
}

const byDefault = (named: ReadonlyArray<string>, choice: Choice): ReadonlyArray<string> => {
  const known = named.find((one) => isKnown(choice, one))
  return known === undefined ? named : [known, ...named]
}

const isKnown = ({ exceptions, isKnown }: Choice, named: string): boolean =>
  isKnown(Exceptions.issuerOf(exceptions, named))

/**
 * Finds the first authorization server whose metadata the client can use. If the client has credentials for an authorization server that
 * does not answer, the client does not try the next server, because it would lose these credentials.
 */
const firstUsable = (
  documents: Documents,
  choice: Choice,
  named: string,
  [next, ...others]: ReadonlyArray<string>
): Effect.Effect<AuthorizationServer, AuthorizationError> =>
  Effect.catchAll(
    ServerMetadata.find(choice.documentsOf(documents, named), choice.exceptions, named),
    (error) =>
      next === undefined || (error.reason === "Unreachable" && isKnown(choice, named))
        ? error
        : Effect.mapError(
          firstUsable(documents, choice, next, others),
          ({ message }) =>
            failure(error.reason, `${error.message}. The next authorization server cannot be used either: ${message}`)
        )
  )
