import { existsSync, readdirSync } from "node:fs"
import type { TestProjectConfiguration } from "vitest/config"
import { configDefaults } from "vitest/config"
import shared from "./vitest.shared.js"

const packages = new URL("packages/", import.meta.url)
const own = readdirSync(packages).filter((name) => existsSync(new URL(`${name}/vitest.config.ts`, packages)))

// Tests that start no engine and no process are one project: a process that runs them loads each module once, for all packages.
// A package with a configuration of its own is a project of its own.
const projects: ReadonlyArray<TestProjectConfiguration> = [
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

export default projects
