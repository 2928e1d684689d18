// `npm run quickstart`: runs the example of the notes, from the sources, and says what it does. The client and the server are bundled, which
// takes a second; building all packages takes minutes.
import { build } from "esbuild"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const from = "packages/examples/src/notes"
const to = join(root, "packages/examples/build/quickstart")

const began = performance.now()
console.log(`Bundling ${from}/client.ts and ${from}/server.ts with the sources of core and node`)
await build({
  absWorkingDir: root,
  entryPoints: ["client", "server"].map((name) => `${from}/${name}.ts`),
  outdir: to,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["@effect-mcp/source"],
  external: ["effect", "effect/*", "@effect/*", "ajv", "ajv/*", "ajv-formats"],
  logLevel: "error"
})
console.log(`  done in ${Math.round(performance.now() - began)} ms. All packages are built by \`npm run build\``)

const program = join(to, "client.js")
console.log("Running the client, which launches the server and searches the guides in docs/\n")
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { cwd: root, stdio: "inherit" })
process.exitCode = status ?? 1
if (status === 0) {
  console.log(`
Next: read ${from}/contract.ts, server.ts and client.ts, a page each, or ask the server yourself:
  npx effect-mcp inspect -- node packages/examples/build/quickstart/server.js`)
}
