/**
 * Makes the dispatchers of undici for `ReachingClient`. (A dispatcher opens connections and sends requests.) A zone is a kind of address,
 * such as public, private or loopback. This module makes one dispatcher for each set of zones that requests may reach. Two sets do not
 * share a dispatcher, because a dispatcher reuses open connections, and an open connection may lead to an address that is forbidden for
 * another request.
 *
 * A dispatcher checks the address of a name when it connects, and connects to exactly this address. Therefore a name cannot resolve to
 * another address between the check and the connection. A proxy resolves names itself, so the addresses behind a proxy are not checked.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import * as HostName from "@effect-mcp/core/unstable/kit/HostName"
import type { LookupAddress, LookupAllOptions } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import * as UndiciClient from "./UndiciClient.js"

/** Resolves a name to all of its addresses. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
  then: (error: Error | null, addresses: ReadonlyArray<LookupAddress>) => void
) => void

/** The proxies that the environment names, in the form of undici's `EnvHttpProxyAgent`. */
export interface Proxies {
  readonly httpProxy: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxies that an environment names. Returns an error text when a proxy is not valid. A variable in lower case takes precedence
 * over the same variable in upper case.
 */
export const proxiesOf = (environment: Environment): Proxies | string => {
  const read = (name: string): string | undefined => {
    const text = environment[name.toLowerCase()] ?? environment[name]
    return text === undefined || text === "" ? undefined : /^[a-z][a-z0-9]*:\/\//i.test(text) ? text : `http://${text}`
  }
  const [httpProxy, httpsProxy] = [read("HTTP_PROXY"), read("HTTPS_PROXY")]
  const named = [["HTTP_PROXY", httpProxy], ["HTTPS_PROXY", httpsProxy]] as const
  const wrong = named.find(([, url]) => url !== undefined && !isProxy(url))
  if (wrong !== undefined) {
    return `The variable ${
      wrong[0]
    } of the environment names no proxy: it is a URL of http or https, as in "http://proxy.example.com:3128"`
  }
  const noProxy = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").trim()
  return { httpProxy, httpsProxy, noProxy: noProxy === "*" ? "*" : [...noProxy.split(/[,\s]+/), ...HERE].join(",") }
}

const isProxy = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/** The hosts for which no proxy is used. For a proxy, these names would mean the proxy's own machine. */
const HERE = ["localhost", "127.0.0.1", "[::1]"]

export interface Dispatchers {
  /** Returns the client for requests that may reach these addresses. */
  readonly clientFor: (reach: Reach.Reach) => HttpClient
  readonly close: () => Promise<unknown>
}

/** Makes dispatchers when they are needed. They are kept until `close`, because there are only a few different `Reach` values. */
export const make = (proxies: Proxies, resolve: Resolve): Dispatchers => {
  const made = new Map<string, { readonly client: HttpClient; readonly dispatcher: Undici.Dispatcher }>()
  return {
    clientFor: (reach) => {
      const key = reach === "any" ? reach : [...reach].sort().join(" ")
      const known = made.get(key)
      if (known !== undefined) return known.client
      const connect = { lookup: lookup(reach, resolve) }
      const dispatcher = new Undici.EnvHttpProxyAgent({ ...withoutUndefined(proxies), connect })
      const client = UndiciClient.make(dispatcher)
      made.set(key, { client, dispatcher })
      return client
    },
    close: () => Promise.all([...made.values()].map(({ dispatcher }) => dispatcher.destroy()))
  }
}

/** Replaces `undefined` with an empty text. With `undefined`, undici would read the environment itself. */
const withoutUndefined = ({ httpProxy = "", httpsProxy = "", noProxy }: Proxies) => ({ httpProxy, httpsProxy, noProxy })

/** Resolves a name, and refuses the name when one of its addresses is forbidden. */
const lookup = (reach: Reach.Reach, resolve: Resolve): LookupFunction => (name, { all, ...options }, then) =>
  resolve(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return then(error, "")
    const refused = reach === "any"
      ? undefined
      : addresses.find(({ address }) => !reach.has(HostName.zoneOfAddress(address)))
    if (refused !== undefined) return then(unreachable(name, refused.address), "")
    if (all === true) return then(null, [...addresses])
    const [first] = addresses
    then(null, first?.address ?? "", first?.family)
  })

/** Returns the reason why the client does not send a request to a host; `undefined` when the client may send the request. */
export const problemOf = (reach: Reach.Reach, hostname: string): Reach.UnreachableAddress | undefined => {
  if (reach === "any" || reach.has(HostName.zoneOf(hostname))) return undefined
  const bare = hostname.replace(/^\[|\]$/g, "")
  return isIP(bare) === 0
    ? new Reach.UnreachableAddress({ message: `"${hostname}" is a name of a private network, or of this machine` })
    : new Reach.UnreachableAddress({ message: `${bare} is not an address of the internet` })
}

const unreachable = (name: string, address: string) =>
  new Reach.UnreachableAddress({
    message: `the name "${name}" resolves to ${address}, which is not an address of the internet`
  })
