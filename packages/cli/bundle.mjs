// Writes the program as one file without dependencies, which is what the package publishes: `npx` has nothing else to install.
// `bin/effect-mcp.js` starts the program.
import { build } from "esbuild"

await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["src/main.ts"],
  outfile: "bin/program.js",
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["@effect-mcp/source", "module"],
  // Undici is a CommonJS package.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
  },
  legalComments: "linked",
  logLevel: "error"
})
