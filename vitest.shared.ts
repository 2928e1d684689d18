import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { ViteUserConfig } from "vitest/config"

/** Tests run the sources: the custom condition picks `src` where a published package would pick `dist`. */
const conditions = ["@effect-mcp/source", "node", "import", "module", "default"]

/** How many commits there are; a tarball of the sources has none. */
const commits = (): number => {
  try {
    const git = { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" } as const
    return Number(execFileSync("git", ["rev-list", "--count", "HEAD"], git))
  } catch {
    return 0
  }
}

// Of each large matrix a run takes a third, which the commit chooses (packages/node/test/Third.ts).
process.env.EFFECT_MCP_TEST_THIRD ??= String(commits() % 3)

const config: ViteUserConfig = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: fileURLToPath(new URL("./vitest.setup.ts", import.meta.url)),
    fakeTimers: { toFake: [] },
    // Generous, because machines are busy with other things: a limit ends a test that hangs, it measures nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // In continuous integration a test may run twice: one run has ten thousand tests, with real processes and databases on a machine
    // that is busy with other things. `scripts/slowest.mjs` prints which tests did.
    retry: process.env.CI === "true" ? 1 : 0,
    passWithNoTests: false
  }
}

export default config
