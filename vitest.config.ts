import { existsSync, readdirSync } from "node:fs"
import { configDefaults, defineConfig } from "vitest/config"
import shared from "./vitest.shared.js"

// Tests that start no engine and no process are one project: a process that runs them loads each module once, for all packages.
// A package with a configuration of its own is a project of its own.
const packages = new URL("packages/", import.meta.url)
const own = readdirSync(packages).filter((name) => existsSync(new URL(`${name}/vitest.config.ts`, packages)))

export default defineConfig({
  test: {
    // Tests allocate much that is garbage soon: with more room for it, V8 collects less often.
    poolOptions: { forks: { execArgv: ["--max-semi-space-size=64"] } },
    projects: [
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
    ]
  }
})
