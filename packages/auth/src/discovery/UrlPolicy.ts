/**
 * Decides which URLs the client uses. `Documents` calls this module before each request, `ServerMetadata` for each endpoint of an
 * authorization server, and `AuthorizationCode` before it opens the browser. Each URL must be https, or http on a loopback address. The
 * client may send requests to every host that the application has named. A server may name a host in a private network only if the
 * application lists this host in `privateHosts`, or has itself named a host in a private network. A server may name a host on this machine
 * only if the application lists this host in `privateHosts`, or has itself named a host on this machine.
 *
 * The policy checks host names and literal addresses. The `HttpClient` of the package `node` checks the address to which a name resolves.
 * `Documents` passes the allowed addresses to that client with `Reach.current`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/security_best_practices
 */
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import * as HostName from "@effect-mcp/core/unstable/kit/HostName"
import * as Either from "effect/Either"
import type { AuthorizationError } from "../AuthorizationError.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"

export interface UrlPolicy {
  /** The URL of the MCP server, which the application has chosen. */
  readonly server: URL
  /** The hosts of further servers that the application has chosen. */
  readonly chosen: ReadonlyArray<string>
  /** Hosts that servers may name even if their addresses are private. */
  readonly privateHosts: ReadonlyArray<string>
}

const MAX_LENGTH = 4096

const parse = (text: string): URL | undefined =>
  text.length <= MAX_LENGTH && !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined

/** Checks a URL before the client sends a request to the URL. `what` names the URL in the error, for example "the token endpoint". */
export const check = (policy: UrlPolicy, what: string, text: string): Either.Either<URL, AuthorizationError> =>
  Either.flatMap(browsable(what, text), (url) =>
    reach(policy, url) === undefined
      ? refuse(
        `${what}, ${ServerText.location(url)}`,
        `it is a private address. If it should be used, name its host in the option \`privateHosts\`: "${url.hostname}"`
      )
      : Either.right(url))

/** Returns the addresses that a request may reach when the host name is resolved; `undefined` when the client must not send the request. */
export const reach = ({ chosen, privateHosts, server }: UrlPolicy, { hostname }: URL): Reach.Reach | undefined =>
  Reach.of({ named: [server.hostname, ...chosen], allowed: privateHosts }, hostname)

/** Returns the same policy with one more chosen host: the host of `url`. */
export const choosing = (policy: UrlPolicy, url: string): UrlPolicy =>
  URL.canParse(url) ? { ...policy, chosen: [...policy.chosen, new URL(url).hostname] } : policy

/** Checks a URL before the user's browser opens the URL. */
export const browsable = (what: string, text: string): Either.Either<URL, AuthorizationError> => {
  const url = parse(text)
  if (url === undefined) return refuse(what, "it is not an absolute URL")
  const why = whyNotBrowsable(url)
  return why === undefined ? Either.right(url) : refuse(`${what}, ${ServerText.location(url)}`, why)
}

const whyNotBrowsable = (url: URL): string | undefined => {
  const { hash, hostname, password, protocol, username } = url
  if (protocol !== "https:" && !(protocol === "http:" && HostName.isLoopback(hostname))) return "it is not https"
  if (username !== "" || password !== "") return "it holds credentials"
  return hash === "" ? undefined : "it has a fragment"
}

const refuse = (what: string, why: string) =>
  Either.left(failure("UnsafeUrl", `The client does not use ${what}: ${why}`))
