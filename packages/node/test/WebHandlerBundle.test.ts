/**
 * A bundled web handler runs where there is the Fetch API, and neither Node's modules and globals nor code from strings.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Layer } from "effect"
import { build } from "esbuild"
import { createContext, runInContext } from "node:vm"
import { fixture } from "./Fixture.js"

const bundled = Effect.promise(() =>
  build({
    entryPoints: [fixture("webServer.ts")],
    bundle: true,
    // No platform: an import of a module of Node fails the build.
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["@effect-mcp/source"],
    format: "iife",
    globalName: "server",
    write: false,
    metafile: true,
    logLevel: "silent"
  })
)

/** The globals that the platforms of web handlers share, https://min-common-api.proposal.wintertc.org. */
const globals = {
  AbortController,
  AbortSignal,
  Headers,
  ReadableStream,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  clearTimeout,
  console,
  crypto,
  performance,
  queueMicrotask,
  setTimeout
}

interface Server {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
}

describe("A bundled web handler", () => {
  it.live("imports nothing but this library and Effect", () =>
    Effect.gen(function*() {
      const { metafile } = yield* bundled
      const packages = Object.keys(metafile.inputs).map((path) =>
        /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.replace(/^(.*packages\/[^/]+)\/src\/.*$/, "$1")
      )
      // Effect's `Arbitrary` imports the property tests.
      const allowed = ["effect", "fast-check", "pure-rand", "@standard-schema"]
      const others = [...new Set(packages)].filter((name) => !allowed.includes(name) && !/packages\/[a-z]+$/.test(name))
      assert.deepStrictEqual(others.filter((name) => !name.endsWith("webServer.ts")), [])
    }))

  it.scopedLive("serves clients of both eras with web globals only, and without code from strings", () =>
    Effect.gen(function*() {
      const { outputFiles } = yield* bundled
      const context = createContext({ ...globals }, { codeGeneration: { strings: false, wasm: false } })
      const server = runInContext(`${outputFiles[0]!.text}; server`, context) as Server
      yield* Effect.addFinalizer(() => Effect.promise(() => server.dispose()))
      const fetch = (input: RequestInfo | URL, init?: RequestInit) => server.handler(new Request(input, init))
      const http = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        const connector = Remote.connector("https://mcp.example.com/mcp")
        const client = yield* Effect.provide(Client.make(connector, { versions: [version] }), http)
        const progress: Array<number> = []
        const result = yield* client.callTool("add", { a: 2, b: 3 }, {
          onProgress: (one) => Effect.sync(() => progress.push(one.progress))
        })
        assert.deepStrictEqual(result.structuredContent, { sum: 5 })
        assert.deepStrictEqual(progress, [1])
      }
    }))
})
