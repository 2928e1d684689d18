import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// Property tests keep the worker busy for seconds; the setup file lets it report to vitest between two tests.
export default mergeConfig(shared, {
  test: { name: "protocol", testTimeout: 120_000, setupFiles: ["test/EventLoop.ts"] }
})
