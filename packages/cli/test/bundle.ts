/**
 * The programs of the tests: the command line as it is published, the servers of the templates, and the server of the examples that
 * has every kind of feature, over stdio or, with `--http`, over HTTP.
 */
import { buildSync } from "esbuild"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const everything = `
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import { Console, Effect, Layer } from "effect"
import * as Everything from "../examples/src/everything/Everything.js"

const Http = Layer.provide(
  Layer.effectDiscard(Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log("at " + url))),
  HttpServer.layer({ port: 0 })
)
const Transport = process.argv[2] === "--http" ? Http : StdioServer.layer
Transport.pipe(
  Layer.provide(Everything.layer()),
  Layer.provide(Layer.merge(EventStore.layerMemory, TaskStore.layerMemory)),
  Layer.launch,
  StdioServer.runMain
)
`

const require =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const bundle = (name: string, entry: string | undefined) =>
  buildSync({
    ...(entry === undefined
      ? { stdin: { contents: everything, resolveDir: at("..") } }
      : { entryPoints: [at(entry)] }),
    outfile: at(`../build/${name}.mjs`),
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@effect-mcp/source", "module"],
    banner: { js: require },
    logLevel: "error"
  })

export default (): void => {
  execFileSync(process.execPath, [at("../bundle.mjs")])
  bundle("stdio", "../templates/stdio/src/main.ts")
  bundle("http", "../templates/http/src/main.ts")
  bundle("everything", undefined)
}
