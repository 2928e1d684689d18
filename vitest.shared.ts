import type { ViteUserConfig } from "vitest/config"

/** Tests run the sources: the custom condition picks `src` where a published package would pick `dist`. */
const conditions = ["@effect-mcp/source", "node", "import", "module", "default"]

const config: ViteUserConfig = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    fakeTimers: { toFake: [] },
    sequence: { concurrent: true },
    passWithNoTests: false
  }
}

export default config
