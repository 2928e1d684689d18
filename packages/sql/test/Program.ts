/**
 * Programs of the folder `fixtures` as files that Node runs, for tests that kill a process.
 */
import { Effect } from "effect"
import { build } from "esbuild"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const own = fileURLToPath(new URL("../build", import.meta.url))

/** The path of a program. It is beside the packages, where it finds the driver; it is removed with the scope. */
export const bundled = Effect.fnUntraced(function*(name: string) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => {
      mkdirSync(own, { recursive: true })
      return mkdtempSync(join(own, `${name}-`))
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const outfile = join(folder, `${name}.mjs`)
  yield* Effect.promise(() =>
    build({
      entryPoints: [join(dirname(own), `test/fixtures/${name}.ts`)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      conditions: ["@effect-mcp/source"],
      external: ["@libsql/client", "pg", "pg-cursor", "pg-pool"],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: "error"
    })
  )
  return outfile
})
