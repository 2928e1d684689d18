import { fileURLToPath } from "node:url"
import type { ViteUserConfig } from "vitest/config"

/** Tests run the sources: the custom condition picks `src` where a published package would pick `dist`. */
const conditions = ["@effect-mcp/source", "node", "import", "module", "default"]

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
    passWithNoTests: false
  }
}

export default config
