import { existsSync, readdirSync } from "node:fs"
import { configDefaults, defineWorkspace } from "vitest/config"
import shared from "./vitest.shared.js"

// Tests that start no engine and no process are one project: a process that runs them loads each module once, for all packages.
// A package with a configuration of its own is a project of its own.
const own = readdirSync("packages").filter((name) => existsSync(`packages/${name}/vitest.config.ts`))

export default defineWorkspace([
  {
    ...shared,
    test: {
      ...shared.test,
      name: "packages",
      // Property tests keep a worker busy for seconds.
      testTimeout: 120_000,
      include: ["packages/*/test/**/*.test.ts"],
      exclude: [...configDefaults.exclude, ...own.map((name) => `packages/${name}/**`)]
    }
  },
  "packages/*/vitest.config.ts",
  "packages/*/vitest.*.config.ts"
])
