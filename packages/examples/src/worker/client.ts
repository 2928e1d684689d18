/**
 * Bundles the server and the agent, runs both in workerd, the runtime of Cloudflare Workers, and drives them: a client on Node
 * calls the server in both eras, and the agent calls it from inside of the runtime.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { Restaurant } from "./contract.js"

/** The path of the program. */
const workerd: string = createRequire(import.meta.url)("workerd").default

/** The platform allows no code from text: `unsafeEval` is not bound. */
const config = `using Workerd = import "/workerd/workerd.capnp";
const worker :Workerd.Config = (
  services = [
    (name = "server", worker = (modules = [(name = "server.js", esModule = embed "server.js")],
      compatibilityDate = "2026-07-01")),
    (name = "agent", worker = (modules = [(name = "agent.js", esModule = embed "agent.js")],
      compatibilityDate = "2026-07-01", globalOutbound = "server")),
  ],
  sockets = [
    (name = "server", address = "127.0.0.1:0", http = (), service = "server"),
    (name = "agent", address = "127.0.0.1:0", http = (), service = "agent"),
  ]
);`

const bundle = (folder: string) =>
  build({
    entryPoints: ["server", "agent"].map((name) => fileURLToPath(new URL(`${name}.js`, import.meta.url))),
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    // No platform: an import of a module of Node fails the build.
    platform: "neutral",
    mainFields: ["module", "main"],
    metafile: true
  })

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "effect-mcp-worker-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Runs workerd until the scope closes, and gives the ports of its sockets and what it has written to stderr. */
const serve = (path: string) =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(workerd, ["serve", path, "--control-fd=3"], { stdio: ["ignore", "inherit", "pipe", "pipe"] })
      ),
      (child) =>
        Effect.async<void>((resume) => {
          const hasEnded = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
          if (hasEnded) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill()
        })
    )
    let errors = ""
    child.stderr!.setEncoding("utf8").on("data", (text) => errors += text)
    const ports = yield* Effect.async<Record<string, number>, Error>((resume) => {
      const ports: Record<string, number> = {}
      child.once("error", (error) => resume(Effect.fail(error)))
      child.once("exit", (code) => resume(Effect.fail(new Error(`workerd has ended with ${code}: ${errors}`))))
      createInterface(child.stdio[3] as Readable).on("line", (line) => {
        const { event, port, socket } = JSON.parse(line)
        if (event === "listen") ports[socket] = port
        if (Object.keys(ports).length === 2) resume(Effect.succeed(ports))
      })
    })
    return { ports, errors: () => errors }
  })

const drive = (url: string, version: Version.Version) =>
  Effect.gen(function*() {
    const client = yield* Client.Client
    yield* Console.log(`\n${client.serverInfo.name} in a Worker, protocol ${client.version}`)
    const restaurant = Client.of(yield* Client.Client, Restaurant)
    const steps: Array<number> = []
    const { counted } = yield* restaurant.count({ to: 3 }, {
      onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
    })
    yield* Console.log(`  counted to ${counted}, in steps ${steps.join(", ")}`)
    yield* Console.log(
      `  booked: ${JSON.stringify(yield* restaurant.book({ at: "2026-07-28T19:00:00Z", name: "Ada" }))}`
    )
    const refused = yield* Effect.either(restaurant.book({ at: "tonight", name: "ada" }))
    yield* Console.log(`  refused: ${Either.isLeft(refused) ? refused.left.message : "nothing"}`)
    const { contents } = yield* client.readResource("menu://today")
    yield* Console.log(`  read: ${JSON.stringify(contents[0])}`)
    // Up to 2025-11-25 a question needs a session, which a Worker does not keep.
    yield* restaurant.cancel().pipe(
      Effect.flatMap(({ cancelled }) => Console.log(`  asked, and cancelled: ${cancelled}`)),
      Effect.catchAll(({ message }) => Console.log(`  not asked: ${message}`))
    )
  }).pipe(Effect.provide(Client.layer(Remote.connector(url), {
    versions: [version],
    features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
  })))

const program = Effect.gen(function*() {
  const path = yield* folder
  const { metafile } = yield* Effect.promise(() => bundle(path))
  for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
    yield* Console.log(`${file.replace(/^.*\//, "")}: ${Math.round(bytes / 1000)} kB`)
  }
  yield* Effect.promise(() => writeFile(join(path, "worker.capnp"), config))
  const { errors, ports: { agent, server } } = yield* serve(join(path, "worker.capnp"))
  for (const version of ["2025-11-25", "2026-07-28"] as const) yield* drive(`http://127.0.0.1:${server}/mcp`, version)
  const bookings = yield* Effect.promise(() => fetch(`http://127.0.0.1:${agent}/`).then((response) => response.text()))
  yield* Console.log(`\nthe agent in a Worker has booked ${bookings}`)
  yield* Console.log(`the runtime has reported ${errors() || "no error"}`)
})

program.pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), NodeRuntime.runMain)
