/**
 * The service `Browser` for programs on the user's own machine. The service opens the login page in the browser, and receives the response
 * of the authorization server with an HTTP server on 127.0.0.1. The HTTP server runs only during a login. The path of the response is
 * random, so that no other page can guess it. If the client has registered itself before and the registered port is free, the server
 * listens on this port again.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 * @since 0.1.0
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { randomBytes, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { AuthorizationError } from "../AuthorizationError.js"
import { Browser, type Login } from "../Browser.js"
import * as OpenUrl from "./browser/OpenUrl.js"

/** @category models */
export interface Options {
  /**
   * The port on which the HTTP server listens. Default: any free port. If the client was registered manually or with a metadata document,
   * give the registered port. This is not needed if the authorization server ignores the port of a loopback address.
   */
  readonly port?: number | undefined
  /** The path of the redirect URI. Default: a random path. */
  readonly path?: `/${string}` | undefined
  /**
   * Opens the URL for the user. If there is no browser, for example over SSH, pass a function that prints the URL. Default: runs the opener
   * program of the platform (`open`, `xdg-open` or `rundll32.exe`) without a shell.
   */
  readonly open?: ((url: URL) => Effect.Effect<void, unknown>) | undefined
}

/**
 * Provides the same `Browser` as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options: Options = {}): Layer.Layer<Browser> =>
  Layer.sync(Browser, () => {
    const path = options.path ?? `/${randomBytes(16).toString("base64url")}`
    return {
      login: (registered) => {
        const fresh = login(path, options.port ?? 0, options)
        const known = registered.map((uri) => portAndPath(uri, options)).find((one) => one !== undefined)
        // The registered port is tried first: some authorization servers compare the port, so another port needs another registration.
        return known === undefined ? fresh : Effect.orElse(login(known.path, known.port, options), () => fresh)
      }
    }
  })

/**
 * Provides a `Browser` for `AuthorizationCode`.
 *
 * @category layers
 */
export const layer: Layer.Layer<Browser> = layerWith()

/** Returns the port and the path of a registered redirect URI; `undefined` when the options do not allow them. */
const portAndPath = (uri: string, { path, port }: Options) => {
  if (!URL.canParse(uri)) return undefined
  const url = new URL(uri)
  return url.protocol === "http:" && url.hostname === "127.0.0.1" && url.port !== "" && url.search === "" &&
      (path === undefined || path === url.pathname) && (port === undefined || port === Number(url.port))
    ? { path: url.pathname, port: Number(url.port) }
    : undefined
}

/** A login that waits for the response with its state. */
interface Waiting {
  readonly state: string
  readonly response: Deferred.Deferred<URLSearchParams, AuthorizationError>
}

const login = (
  path: string,
  wantedPort: number,
  options: Options
): Effect.Effect<Login, AuthorizationError, Scope.Scope> =>
  Effect.gen(function*() {
    let waiting: Waiting | undefined
    const server = yield* Effect.acquireRelease(
      listen(wantedPort, (request, response) => {
        const target = request.url ?? "/"
        if (target.length > MAX_TARGET) return page(response, 431, "The response is too long.")
        // `//` alone is not a URL.
        if (!URL.canParse(target, origin)) return page(response, 404, NOTHING)
        const url = new URL(target, origin)
        const { host } = request.headers
        // A page of another site could send requests here under a host name that resolves to 127.0.0.1, so the host is checked.
        if (request.method !== "GET" || url.pathname !== path || (host !== at && host !== `localhost:${port}`)) {
          return page(response, 404, NOTHING)
        }
        if (waiting === undefined || !isSame(url.searchParams.getAll("state"), waiting.state)) {
          return page(response, 400, "This address belongs to another login. Go back to the program and log in again.")
        }
        EffectInternals.done(waiting.response, Effect.succeed(url.searchParams))
        waiting = undefined
        page(response, 200, "The response has arrived. You can close this window and go back to the program.")
      }),
      close
    )
    const { port } = server.address() as AddressInfo
    const at = `127.0.0.1:${port}`
    const origin = `http://${at}`
    return {
      redirectUri: `${origin}${path}`,
      open: (url, state) =>
        Effect.flatMap(Deferred.make<URLSearchParams, AuthorizationError>(), (response) => {
          waiting = { state, response }
          const opening = options.open === undefined ? OpenUrl.open(url) : Effect.mapError(
            options.open(url),
            (cause) =>
              new AuthorizationError({ reason: "Browser", message: "`open` could not open the address", cause })
          )
          return raceFirst(Deferred.await(response), Effect.zipRight(opening, Effect.never))
        })
    }
  })

/** How many connections may be open. When there are more, the oldest connection is closed. */
const MAX_CONNECTIONS = 16

/** How many characters a response may have. */
const MAX_TARGET = 16 * 1024

/**
 * The largest size of the headers, in bytes. A browser sends the cookies of every program that has ever listened at this address, on any
 * port, so the headers may be very large.
 */
const MAX_HEADERS = 1024 * 1024

const listen = (
  port: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void
): Effect.Effect<Server, AuthorizationError> =>
  Effect.async((resume) => {
    const server = createServer(
      { requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: MAX_HEADERS },
      onRequest
    )
    // A browser opens connections in advance, and any page can open connections that send nothing. Therefore the newest connection is kept,
    // because it may bring the response.
    const open = new Set<Socket>()
    server.on("connection", (socket) => {
      open.add(socket)
      socket.once("close", () => open.delete(socket))
      const [oldest] = open
      if (open.size > MAX_CONNECTIONS) oldest?.destroy()
    })
    // The event also reports a later connection that cannot be accepted. Without a listener, the event would end the process.
    server.on("error", (cause) =>
      resume(
        Effect.fail(
          new AuthorizationError({
            reason: "Browser",
            message:
              `The program could not listen on 127.0.0.1:${port} for the response to the login: free the port, or ` +
              "pass another `port`",
            cause
          })
        )
      ))
    server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
  })

/** Waits until the page is written, for at most one second. */
const close = (server: Server): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
  }).pipe(
    TimeLimit.end("1 second"),
    Effect.ensuring(Effect.sync(() => server.closeAllConnections())),
    Effect.asVoid
  )

const isSame = ([given, ...more]: ReadonlyArray<string>, state: string): boolean => {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(state)]
  return more.length === 0 && a.length === b.length && timingSafeEqual(a, b)
}

const NOTHING = "There is nothing here."

/** Answers with a page that has a fixed text and nothing from the request. */
const page = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close"
  }).end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Login</title><p>${text}</p></html>`)
}
