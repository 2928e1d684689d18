/**
 * Bundles the page, serves it, and opens it in Chromium: its client calls the restaurant, which listens on another port, so
 * that the browser checks the origin of each request. Prints what the page has seen, and which requests the server got.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Features } from "../worker/features.js"

const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close().closeAllConnections())
  ).pipe(Effect.map((server) => `http://localhost:${(server.address() as AddressInfo).port}`))

interface Request {
  readonly method: string
  readonly status: number
  readonly url: string
  readonly traces: ReadonlyArray<string>
}

/** The restaurant, and the requests that it has got. */
const restaurant = Effect.gen(function*() {
  const requests: Array<Request> = []
  const { handler } = yield* NodeHandler.NodeHandler
  const origin = yield* listening((request, response) => {
    const traces = ["traceparent", "b3"].filter((name) => name in request.headers)
    response.once(
      "close",
      () => requests.push({ method: request.method!, status: response.statusCode, url: request.url!, traces })
    )
    handler(request, response)
  })
  return { url: `${origin}/mcp`, requests }
})

/** Serves the page until it has sent what it has seen. */
const page = Effect.gen(function*() {
  const { metafile, outputFiles } = yield* Effect.promise(() =>
    build({
      entryPoints: [fileURLToPath(new URL("page.js", import.meta.url))],
      bundle: true,
      minify: true,
      // No platform: an import of a module of Node fails the build.
      platform: "neutral",
      mainFields: ["module", "main"],
      write: false,
      metafile: true
    })
  )
  const script = outputFiles[0]!.text
  yield* Console.log(
    `the page has ${Math.round(script.length / 1000)} kB from ${Object.keys(metafile.inputs).length} modules`
  )
  let seen: (text: string) => void
  const done = new Promise<string>((resolve) => seen = resolve)
  const origin = yield* listening((request, response) => {
    if (request.method === "POST") void text(request).then(seen).then(() => response.end())
    else if (request.url === "/page.js") response.end(script)
    else response.setHeader("content-type", "text/html").end(`<!doctype html><script src="/page.js"></script>`)
  })
  return { origin, done }
})

const profile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "effect-mcp-browser-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
)

const open = (url: string) =>
  Effect.flatMap(profile, (folder) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.env["CHROMIUM"] ?? "chromium", [
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          `--user-data-dir=${folder}`,
          url
        ], { stdio: "ignore" }).on("error", () => {})
      ),
      (browser) =>
        Effect.async<void>((resume) => {
          const hasEnded = browser.pid === undefined || browser.exitCode !== null || browser.signalCode !== null
          if (hasEnded) return resume(Effect.void)
          browser.once("exit", () => resume(Effect.void))
          browser.kill()
        })
    ))

/** Fails when the browser fails before the page has sent anything. */
const failing = (browser: ChildProcess) =>
  Effect.async<never, Error>((resume) => {
    const check = () => {
      const { exitCode, signalCode } = browser
      if (signalCode !== null || (exitCode !== null && exitCode !== 0)) {
        resume(Effect.fail(new Error(`The browser has ended with ${signalCode ?? exitCode}`)))
      }
    }
    browser.once("exit", check)
    check()
  })

const program = Effect.gen(function*() {
  const { requests, url } = yield* restaurant
  const { done, origin } = yield* page
  const browser = yield* open(`${origin}/?server=${encodeURIComponent(url)}`)
  yield* Console.log(yield* Effect.raceFirst(Effect.promise(() => done), failing(browser)))
  const count = (wanted: (request: Request) => boolean) => requests.filter(wanted).length
  yield* Console.log(`sessions deleted: ${count(({ method, status }) => method === "DELETE" && status === 200)}`)
  yield* Console.log(`requests refused: ${count(({ status }) => status >= 400)}`)
  yield* Console.log(
    `trace headers where tracing is off: ${count(({ traces, url }) => !url.includes("traced") && traces.length > 0)}`
  )
  // A notification and an answer have status 202.
  const isCall = ({ method, status }: Request) => method === "POST" && status === 200
  yield* Console.log(
    `calls without them where it is on: ${
      count((request) => isCall(request) && request.url.includes("traced") && request.traces.length === 0)
    }`
  )
})

const Server = McpServer.layer({ name: "restaurant", version: "1.0.0" }, Features)

program.pipe(
  Effect.scoped,
  Effect.provide(Layer.provide(NodeHandler.layer, Server)),
  NodeRuntime.runMain
)
