/**
 * The programs of the tests: the command line as it is published, and the servers of the templates.
 */
import { execFileSync } from "node:child_process"
import { buildSync } from "esbuild"
import { fileURLToPath } from "node:url"

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default (): void => {
  execFileSync(process.execPath, [at("../bundle.mjs")])
  for (const template of ["stdio", "http"]) {
    buildSync({
      entryPoints: [at(`../templates/${template}/src/main.ts`)],
      outfile: at(`../build/${template}.mjs`),
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@effect-mcp/source"],
      banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
      logLevel: "error"
    })
  }
}
