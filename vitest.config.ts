import { defineConfig } from "vitest/config"
import projects from "./vitest.workspace.js"

export default defineConfig({
  test: {
    // Tests allocate much that is garbage soon: with more room for it, V8 collects less often.
    poolOptions: { forks: { execArgv: ["--max-semi-space-size=64"] } },
    projects: [...projects]
  }
})
